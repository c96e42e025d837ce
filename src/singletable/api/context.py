"""What all endpoints of an API share: the open design, who calls, what is open to them, bodies, and the bounds.

Routers of services use it too: `context_of(request)` has the open design, and `await context.principal(request)`
says who calls.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
from starlette.requests import Request

from singletable.api.access import EVERYTHING, SIGNED_IN, Access, Principal, Scope, guards_of, scope_at_once
from singletable.api.authentication import Authenticator
from singletable.api.declaration import READ_ONLY, Api, EntityApi
from singletable.api.fields import EntityFields
from singletable.api.idempotency import IdempotencyStore
from singletable.api.problems import FORBIDDEN, FOREIGN_ORIGIN, UNAUTHENTICATED, WRONG_TYPE, Problem
from singletable.design import Design, Entity
from singletable.design.plans.reader import Reader

_PRINCIPAL: Final = "singletable.principal"
_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of an API."""

    body_bytes_max: int = 1_048_576
    query_bytes_max: int = 8_192
    page_items: int = 50
    page_items_max: int = 250
    rows_max: int = 10_000
    """How many items a list as JSON lines or CSV has at most."""
    requests_max: int = 512
    """How many requests may be under way at once, in this process."""
    followers_max: int = 100
    """How many may follow changes at once, in this process."""
    heartbeat_s: float = 15.0


class Context:
    """An API at work."""

    def __init__(
        self,
        db: Design,
        api: Api,
        auth: Authenticator,
        cursor_secret: str | bytes,
        store: IdempotencyStore,
        limits: Limits,
        *,
        is_read_only: bool,
    ) -> None:
        self.db = db
        self.api = api
        self.auth = auth
        self.store = store
        self.limits = limits
        self.is_read_only = is_read_only
        self.is_embedded = db.session.client.database is not None
        secret = cursor_secret.encode() if isinstance(cursor_secret, str) else cursor_secret
        self._cursor_key = hashlib.sha256(b"singletable api cursor " + secret).digest()
        self.fields: dict[type[Entity], EntityFields] = {
            each.entity: EntityFields(api, each) for each in api.entities.values()
        }
        for entity in _met_entities(api):
            if entity not in self.fields:
                self.fields[entity] = EntityFields(api, EntityApi(entity, READ_ONLY, access=SIGNED_IN))

    # --- who calls -----------------------------------------------------------------------------------------

    async def principal(self, request: Request) -> Principal | None:
        """Return who sends a request; None for nobody. The authenticator is asked once."""
        scope = request.scope
        if _PRINCIPAL not in scope:
            found = await self.auth.principal(request)
            writes_by_cookie = found is not None and found.by_cookie and request.method not in _SAFE
            # A form of another page sends the cookie too; it cannot send an Origin of its choice.
            if writes_by_cookie and "origin" not in request.headers:
                raise Problem(FOREIGN_ORIGIN, "A write that is signed in by a cookie names its Origin")
            scope[_PRINCIPAL] = found
        principal: Principal | None = scope[_PRINCIPAL]
        return principal

    async def signed_in(self, request: Request) -> Principal:
        """Return who sends a request; refuse nobody."""
        found = await self.principal(request)
        if found is None:
            raise self.unauthenticated()
        return found

    async def scope(
        self, access: tuple[Access, ...], principal: Principal | None, values: Mapping[str, Any]
    ) -> Scope:
        """Return what is open to a principal; refuse the request if nothing is."""
        found = scope_at_once(access, principal)
        if found is not None and found.is_all:
            return found
        if principal is not None:
            for guard in guards_of(access):
                if await asyncio.to_thread(guard.function, self.db, principal, values):
                    return EVERYTHING
        if found is not None:
            return found
        raise self.unauthenticated() if principal is None else Problem(FORBIDDEN)

    def unauthenticated(self) -> Problem:
        """Return the problem of a request by nobody."""
        challenge = self.auth.challenge
        return Problem(UNAUTHENTICATED, headers={} if challenge is None else {"WWW-Authenticate": challenge})

    # --- reading -------------------------------------------------------------------------------------------

    def reader(self, question: list[Any], principal: Principal | None) -> Reader:
        """Return what runs a plan with cursors that only this question and this principal can use."""
        asked = orjson.dumps([question, None if principal is None else principal.id])
        key = hmac.digest(self._cursor_key, asked, "sha256")
        return Reader(replace(self.db.session, cursor_key=key))

    # --- bodies --------------------------------------------------------------------------------------------

    async def body(self, request: Request, kinds: tuple[str, ...] = ("application/json",)) -> bytes:
        """Return the body of a request that is JSON; refuse any other type."""
        kind, _, parameters = request.headers.get("content-type", "").partition(";")
        charset = parameters.strip().lower().replace('"', "")
        if kind.strip().lower() not in kinds or charset not in ("", "charset=utf-8"):
            raise Problem(WRONG_TYPE, f"Send {' or '.join(kinds)}")
        return await request.body()


def _met_entities(api: Api) -> Iterator[type[Entity]]:
    """Return the entities that patterns answer with, or take."""
    for answered in api.answers.values():
        yield from answered.entities
    for parameters in api.parameters.values():
        for parameter in parameters:
            kind = parameter.shape.of
            if isinstance(kind, type) and issubclass(kind, Entity):
                yield kind


def context_of(request: Request) -> Context:
    """Return the API that a request has come to."""
    found: Context = request.app.state.singletable
    return found
