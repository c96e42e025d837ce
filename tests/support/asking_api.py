"""APIs in this process, and clients that ask them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx

from designs.studio import Painting, Room, Sketch, Studio
from singletable.api import (
    OWNER,
    PUBLIC,
    SIGNED_IN,
    Api,
    BearerAuthentication,
    Cache,
    EntityApi,
    Guard,
    PatternApi,
    Principal,
    Role,
    app,
)
from singletable.clock import Clock
from singletable.design import Design
from support.opened_designs import opened_design

SECRET = "a secret of the tests"
ADA, BOB, OPERATOR = "ada", "bob", "operator"
PEOPLE = {
    ADA: Principal(ADA),
    BOB: Principal(BOB),
    OPERATOR: Principal(OPERATOR, frozenset(("operator", "editor"))),
}


def as_(name: str, **headers: str) -> dict[str, str]:
    """Return the headers of somebody's request; names of headers have _ for -."""
    return {"Authorization": f"Bearer {name}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }


@contextmanager
def asked(
    api: Api,
    target: str = "embedded",
    clock: Clock | None = None,
    *,
    environment: Any = None,
    **settings: Any,
) -> Iterator[tuple[ApiClient, Any]]:
    """Open a design on a fresh target; yield a client of its API, and the design."""
    with (
        opened_design(api.design, target, clock, **(environment or {})) as db,
        client_of(db, api, **settings) as client,
    ):
        yield client, db


class ApiClient:
    """Asks an application in this process, without a network. Each thread needs one of its own."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(application, raise_app_exceptions=False, client=("127.0.0.1", 5000))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request; return its answer."""
        return self._runner.run(self._client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@contextmanager
def client_of(db: Design, api: Api, **settings: Any) -> Iterator[ApiClient]:
    """Yield a client of the API of an open design."""
    chosen = {"auth": BearerAuthentication(PEOPLE.get), "cursor_secret": SECRET, **settings}
    with ApiClient(app(db, api, **chosen)) as client:
        yield client


def links(header: str) -> str:
    """Return the address of a Link header."""
    address, _, relation = header.partition(";")
    assert relation.strip() == 'rel="next"'
    return address.strip("<>")


def problem(answer: Any, status: int, name: str) -> dict[str, Any]:
    """Return the problem that an answer is; fail if it is another."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found: dict[str, Any] = answer.json()
    assert (answer.status_code, found["status"], found["type"]) == (status, status, f"/problems/{name}"), (
        found
    )
    return found


# --- the studio ----------------------------------------------------------------------------------------------


def may_comment(db: Studio, who: Any, values: Any) -> bool:
    """Comments are made on paintings that hang in a room."""
    comment = values["comment"]
    found = db.painting(comment.painter_id, comment.painting_id).maybe()
    return found is not None and found.room_id is not None


def studio_api() -> Api:
    return Api(
        Studio,
        entities=[
            EntityApi(Painting, access=(OWNER, Role("operator")), hidden=("secret_note",)),
            EntityApi(Sketch, requires_match=False),
            EntityApi(Room, access=PUBLIC, write_access=Role("editor"), cache=Cache(60, public=True)),
        ],
        patterns=[
            PatternApi("paintings"),
            PatternApi("painting"),
            PatternApi("shown", access=PUBLIC, path="rooms/{room_id}/paintings"),
            PatternApi("room", access=PUBLIC, cache=Cache(60, public=True)),
            PatternApi("walls"),
            PatternApi("sketches"),
            PatternApi("hang"),
            PatternApi("comment", access=Guard(may_comment)),
            PatternApi("burn", access=(OWNER, Role("operator"))),
        ],
        changes=True,
        metrics=SIGNED_IN,
    )
