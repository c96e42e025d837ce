"""Changes as server-sent events: whose they are, where they go on, where there are none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from designs.studio import Painting, Room, Sketch, Studio
from singletable.api import Api, EntityApi, Limits, PatternApi
from support.asking_api import ADA, BOB, ApiClient, as_, asked, problem, studio_api

Event = dict[str, Any]


def follow(
    client: ApiClient, headers: dict[str, str], count: int, act: Callable[[], object] = lambda: None
) -> list[Event]:
    """Follow changes until so many events came; act when the first bytes are there."""
    received: list[bytes] = []

    async def listen() -> None:
        enough = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await enough.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                assert message["status"] == 200
            elif not received:
                received.append(message["body"])
                act()
            else:
                received.append(message["body"])
            if len(_events(received)) >= count:
                enough.set()

        sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "method": "GET", "path": "/changes", "raw_path": b"/changes", "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"accept", b"text/event-stream"), *sent],
            "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 80), "scheme": "http", "root_path": "",
            "http_version": "1.1", "asgi": {"version": "3.0", "spec_version": "2.3"},
        }  # fmt: skip
        await asyncio.wait_for(client.application(scope, receive, send), 20)

    asyncio.run(listen())
    return _events(received)


def _events(received: list[bytes]) -> list[Event]:
    events = []
    for block in b"".join(received).decode().split("\n\n")[1:]:
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in lines:
            events.append({**lines, "data": json.loads(lines["data"])})
    return events


def test_events_are_of_what_a_principal_may_read(studio: tuple[ApiClient, Any]) -> None:
    client, db = studio

    def act() -> None:
        db.create(Painting(user_id=BOB, painting_id="b", title="Bob's"))
        db.create(Sketch(user_id=ADA, number=1))
        mine = db.create(Painting(user_id=ADA, painting_id="p", title="Sea", secret_note="fake")).entity
        db.create(Room(room_id="hall", name="Hall"))
        db.update(mine, title="Lake")
        db.delete(mine)

    events = follow(client, as_(ADA), 5, act)
    assert [(each["event"], each["data"]["entity"], each["data"]["key"]) for each in events] == [
        ("created", "Sketch", {"user_id": ADA, "number": 1}),
        ("created", "Painting", {"user_id": ADA, "painting_id": "p"}),
        ("created", "Room", {"room_id": "hall"}),
        ("changed", "Painting", {"user_id": ADA, "painting_id": "p"}),
        ("deleted", "Painting", {"user_id": ADA, "painting_id": "p"}),
    ]
    assert events[3]["data"]["item"] == {**events[1]["data"]["item"], **events[3]["data"]["item"]}
    assert (events[3]["data"]["item"]["title"], events[4]["data"]["item"]) == ("Lake", None)
    assert "fake" not in str(events)
    # It goes on behind the event that was seen last.
    again = follow(client, as_(ADA, Last_Event_ID=events[1]["id"]), 3)
    assert [each["id"] for each in again] == [each["id"] for each in events[2:]]
    everybody = follow(client, {"Last-Event-ID": events[0]["id"]}, 1)
    assert [each["data"]["entity"] for each in everybody] == ["Room"]


def test_heartbeat_says_how_far_it_has_come() -> None:
    with asked(studio_api(), limits=Limits(heartbeat_s=0.0)) as (client, db):
        (beat,) = follow(
            client, as_(ADA), 1, lambda: db.create(Painting(user_id=BOB, painting_id="b", title="t"))
        )[:1]
        assert (beat["event"], beat["data"]) == ("heartbeat", {})


def test_where_nothing_can_be_followed_that_is_said() -> None:
    with asked(studio_api(), "http") as (client, _):
        found = problem(client.get("/changes", headers=as_(ADA)), 501, "not-here")
        assert "streams of other targets" in found["detail"]
    api = Api(Studio, entities=[EntityApi(Painting)], patterns=[PatternApi("paintings")], changes=True)
    with asked(api) as (client, _):
        problem(client.get("/changes"), 401, "unauthenticated")
    with asked(Api(Studio, entities=[EntityApi(Painting)])) as (client, _):
        problem(client.get("/changes", headers=as_(ADA)), 404, "no-such-path")
    with asked(api, limits=Limits(followers_max=0)) as (client, _):
        problem(client.get("/changes", headers=as_(ADA)), 503, "busy")


@pytest.mark.parametrize("number", ["0", "not-a-number", "100000000000000009999"])
def test_id_of_no_event_is_refused(client: ApiClient, number: str) -> None:
    problem(client.get("/changes", headers=as_(ADA, Last_Event_ID=number)), 400, "bad-request")
