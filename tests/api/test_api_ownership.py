"""Whose it is: every path of every system's design, asked by owners, by others, by nobody, with stolen cursors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any
from urllib.parse import quote

import pytest

from designs.studio import Comment, Room, Studio
from singletable.api import OWNER, Api, BearerAuthentication, EntityApi, PatternApi, Principal, Role
from singletable.api.declaration import VERBS
from singletable.design import Entity
from singletable.errors import DeclarationError
from singletable.systems import System, installed_systems
from support.asking_api import ADA, BOB, ApiClient, as_, asked, client_of, problem, studio_api
from support.opened_designs import stored_items

DAY = date(2026, 1, 20)
EDITORS = Role("editor")


def owned_api(design: Any) -> Api:
    """Expose everything: to owners where there are any, to editors otherwise."""

    def access(*entities: type[Entity]) -> Any:
        return OWNER if all(each.entity_options.owner is not None for each in entities) else EDITORS

    whole = Api.all(design)
    entities = [
        EntityApi(each.entity, each.verbs, access=access(each.entity)) for each in whole.entities.values()
    ]
    patterns = [PatternApi(name, access(*answered.entities)) for name, answered in whole.answers.items()]
    return Api(design, entities=entities, patterns=patterns, changes=True)


class Asked:
    """A system with its data, and clients of its API."""

    def __init__(self, system: System, client: ApiClient, db: Any, api: Api, entities: list[Entity]) -> None:
        self.system, self.client, self.db, self.api, self.entities = system, client, db, api, entities


@pytest.fixture(scope="module", params=sorted(installed_systems()))
def asked_system(request: pytest.FixtureRequest) -> Iterator[Asked]:
    system = installed_systems()[request.param]
    seed = system.seed("small", DAY)
    entities = [each.model_copy() for each in seed.entities]
    api = owned_api(system.design)
    # A token is the id of who sends it.
    auth = BearerAuthentication(lambda token: Principal(token.removeprefix("id-")))
    environment: dict[str, Any] = dict(system.environment)
    with system.design.open(":memory:", **environment) as db:
        db.load(entities, settled=True)
        with client_of(db, api, auth=auth) as client:
            yield Asked(system, client, db, api, entities)


def _some(found: Asked) -> Iterator[tuple[Entity, str | None, str]]:
    """Yield two entities of each kind that can be named, their owners, and their paths."""
    fields = found.client.application.state.singletable.fields
    seen: dict[type[Entity], int] = {}
    for entity in found.entities:
        exposed = found.api.entities[type(entity).__name__]
        if "read" not in exposed.verbs or seen.setdefault(type(entity), 0) == 2:
            continue
        seen[type(entity)] += 1
        owner = type(entity).entity_options.owner
        texts = fields[type(entity)].path_texts(entity)
        path = "/".join(("", exposed.segment, *(quote(each, safe="") for each in texts)))
        yield entity, None if owner is None else str(getattr(entity, owner)), path


def test_every_item_is_closed_to_others_and_open_to_its_owner(asked_system: Asked) -> None:
    client, before = asked_system.client, sorted(map(str, stored_items(asked_system.db)))
    read = 0
    for entity, owner, path in _some(asked_system):
        verbs = asked_system.api.entities[type(entity).__name__].verbs
        for method in ["GET", *(["PUT", "PATCH", "DELETE"] if verbs == VERBS else [])]:
            body = {"headers": as_("id-a stranger")} | ({"json": {}} if method != "GET" else {})
            problem(client.request(method, path, **body), 403, "forbidden")
            problem(client.request(method, path, json={}), 401, "unauthenticated")
        if owner is not None:
            answer = client.get(path, headers=as_(f"id-{owner}"))
            # What has expired is gone for its owner too.
            assert answer.status_code in (200, 404), answer.text
            read += answer.status_code == 200
            if verbs == VERBS:
                segment = path.split("/")[1]
                shown = client.application.state.singletable.fields[type(entity)].shown_data(entity)
                taken = client.application.state.singletable.fields[type(entity)].taken
                mine = {name: shown[name] for name in taken}
                problem(client.post(f"/{segment}", json=mine, headers=as_("id-a stranger")), 403, "forbidden")
    owned = [each for each in asked_system.api.entities.values() if each.entity.entity_options.owner]
    assert read > 0 or not owned
    assert sorted(map(str, stored_items(asked_system.db))) == before


def _query(values: Any) -> list[tuple[str, str]]:
    found = []
    for name, value in values.items():
        for each in value if isinstance(value, list | tuple | set) else [value]:
            text = each.isoformat() if isinstance(each, date | datetime) else str(each)
            found.append((name, text))
    return found


def test_every_pattern_shows_owners_their_own_and_others_nothing(asked_system: Asked) -> None:
    client, api = asked_system.client, asked_system.api
    samples, shown = asked_system.system.samples(DAY), 0
    for name, values in samples.items():
        exposed, answered = api.patterns[name], api.answers[name]
        if answered.writes or any(hasattr(each, "model_fields") for each in values.values()):
            continue
        path = "/" + "/".join(exposed.segments)
        query = _query(values)
        problem(client.get(path, params=query), 401, "unauthenticated")
        answer = client.get(path, params=query, headers=as_("id-a stranger"))
        if exposed.access is EDITORS:
            problem(answer, 403, "forbidden")
            continue
        owners = {entity.entity_options.owner for entity in answered.entities}
        if answer.status_code == 200:
            assert _nothing_of(answer.json()), (name, answer.text[:200])
        else:
            assert answer.status_code in (403, 404), (name, answer.text[:200])
        mine = next((str(value) for each, value in values.items() if each in owners), None)
        if mine is not None:
            answer = client.get(path, params=query, headers=as_(f"id-{mine}"))
            assert answer.status_code in (200, 404), (name, answer.text[:200])
            shown += answer.status_code == 200 and not _nothing_of(answer.json())
    assert shown > 0 or asked_system.system.name == "lunch_cache"  # where nothing has an owner


def _nothing_of(data: Any) -> bool:
    """Tell whether an answer shows no item."""
    if "items" in data:
        return not any(data["items"])
    return not any(data.values())


# --- in the studio ---------------------------------------------------------------------------------------------


def test_cursor_of_somebody_else_or_another_question_is_refused() -> None:
    api = studio_api()
    with asked(api) as (client, _):
        for who in (ADA, BOB):
            for number in range(3):
                title = f"{who} {number}"
                client.post(
                    "/paintings", json={"painting_id": f"p{number}", "title": title}, headers=as_(who)
                )
        cursor = client.get("/patterns/paintings?limit=1", headers=as_(ADA)).json()["cursor"]
        following = client.get("/patterns/paintings", params={"cursor": cursor}, headers=as_(ADA))
        assert [each["painting_id"] for each in following.json()["items"]] == ["p1", "p2"]
        for who, query in (
            (BOB, {"cursor": cursor}),
            (ADA, {"cursor": cursor, "status": "wet"}),
            (ADA, {"cursor": cursor[:-2]}),
            (ADA, {"cursor": "x" + cursor[1:]}),
            (ADA, {"cursor": ""}),
        ):
            problem(client.get("/patterns/paintings", params=query, headers=as_(who)), 400, "bad-cursor")
        room = client.get("/rooms/r/paintings", params={"cursor": cursor}, headers=as_(ADA))
        problem(room, 400, "bad-cursor")


def test_writes_of_patterns_are_the_owners_own() -> None:
    with asked(studio_api()) as (client, db):
        client.post("/sketches", json={"number": 1}, headers=as_(ADA))
        for body in ({"user_id": ADA, "number": 1}, {"number": 1, "user_id": ADA}):
            problem(client.post("/patterns/burn", json=body, headers=as_(BOB)), 403, "forbidden")
        painting = {"painting": {"user_id": ADA, "painting_id": "p", "title": "t"}}
        problem(client.post("/patterns/hang", json=painting, headers=as_(BOB)), 403, "forbidden")
        problem(client.post("/patterns/hang", json=painting), 401, "unauthenticated")
        del painting["painting"]["user_id"]
        assert client.post("/patterns/hang", json=painting, headers=as_(BOB)).json()["user_id"] == BOB
        assert client.post("/patterns/burn", json={"number": 1}, headers=as_(ADA)).status_code == 204
        stored = {item["PK"]["S"] for item in stored_items(db)}
        assert "USER#bob" in stored
        assert "USER#ada" not in stored


def test_role_opens_what_an_owner_closes() -> None:
    with asked(studio_api()) as (client, _):
        made = client.post("/paintings", json={"painting_id": "p", "title": "t"}, headers=as_(ADA))
        path = made.headers["location"]
        assert client.get(path, headers=as_("operator")).json() == made.json()
        room = {"room_id": "r", "name": "Hall"}
        problem(client.post("/rooms", json=room, headers=as_(ADA)), 403, "forbidden")
        assert client.post("/rooms", json=room, headers=as_("operator")).status_code == 201
        assert client.get("/rooms/r").json() == room


def test_owned_things_are_told_of_at_declaration() -> None:
    with pytest.raises(DeclarationError, match="Comment has no owner="):
        Api(Studio, entities=[EntityApi(Comment)])
    with pytest.raises(DeclarationError, match="Room has no owner="):
        Api(Studio, patterns=[PatternApi("room")])
    with pytest.raises(DeclarationError, match="no pattern 'paintigns'") as caught:
        Api(Studio, patterns=[PatternApi("paintigns")])
    assert caught.value.hint == "did you mean paintings?"
    assert Api(Studio, entities=[EntityApi(Room, access=EDITORS)]).entities.keys() == {"Room"}
