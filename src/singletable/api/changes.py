"""Changes as server-sent events: what a principal may read, as it happens, from where it left off.

Each event names its entity, what happened and the key, and has the item as it is now. Its id is the number of the
change in the log, which Last-Event-ID names to go on. Only files and memory have a log that can be read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from singletable.api.access import Principal, Scope, guards_of, scope_at_once
from singletable.api.answers import negotiate
from singletable.api.context import Context
from singletable.api.problems import BAD_REQUEST, BUSY, FORBIDDEN, NOT_HERE, Problem
from singletable.consumers.following import TableChanges
from singletable.design import Entity
from singletable.design.streams.change import item_changes
from singletable.errors import ConsumerError, InvalidItemError, NotLoggedError
from singletable.values.change_records import ChangeRecord

EVENT_STREAM: Final = "text/event-stream"
_POLL_S: Final = 0.2
_KINDS: Final = {"create": "created", "update": "changed", "delete": "deleted"}


class ChangesEndpoint:
    """GET /changes."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._followers = 0
        self._exposed = {
            each.entity: each.access_for("read")
            for each in context.api.entities.values()
            if "read" in each.verbs
        }

    async def get(self, request: Request) -> Response:
        """Answer with events, for as long as the client listens."""
        context = self._context
        principal = await context.principal(request)
        negotiate(request.headers.get("accept"), (EVENT_STREAM,))
        scopes = self._scopes(principal)
        if not scopes:
            raise context.unauthenticated() if principal is None else Problem(FORBIDDEN)
        database = context.db.session.client.database
        if database is None:
            raise Problem(
                NOT_HERE, "Changes are told of files and memory; the streams of other targets are not read"
            )
        changes = database.changes(context.db.session.table)
        try:
            position = self._begin(request, changes)
        except NotLoggedError:
            raise Problem(NOT_HERE, "The table has no stream, so nothing says what has changed") from None
        if self._followers >= context.limits.followers_max:
            raise Problem(BUSY, "Too many follow the changes already")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(changes, position, scopes), 200, headers, EVENT_STREAM)

    def _begin(self, request: Request, changes: TableChanges) -> int:
        last = request.headers.get("last-event-id")
        newest = changes.newest()
        if last is None or not last.strip():
            return newest
        try:
            return changes.behind(last)
        except NotLoggedError:
            raise
        except ConsumerError:
            raise Problem(BAD_REQUEST, "Last-Event-ID is no id of an event of this API") from None

    def _scopes(self, principal: Principal | None) -> dict[type[Entity], Scope]:
        """Return what of each entity a principal may follow. Guards open nothing here."""
        found = {}
        for entity, access in self._exposed.items():
            plain = tuple(each for each in access if each not in guards_of(access))
            scope = scope_at_once(plain, principal)
            if scope is not None:
                found[entity] = scope
        return found

    async def _events(
        self, changes: TableChanges, position: int, scopes: dict[type[Entity], Scope]
    ) -> AsyncIterator[bytes]:
        self._followers += 1
        quiet_s = 0.0
        try:
            yield b": these are the changes from now on\nretry: 2000\n\n"
            while True:
                stretch = changes.read(position)
                if stretch.has_missed:
                    # Read everything again: what is between is not known any more.
                    yield b"event: missed\ndata: {}\n\n"
                for event in self._told(stretch.records, scopes):
                    quiet_s = 0.0
                    yield event
                is_at_end = stretch.position == position
                position = stretch.position
                if is_at_end:
                    await asyncio.sleep(_POLL_S)
                    quiet_s += _POLL_S
                if quiet_s >= self._context.limits.heartbeat_s:
                    quiet_s = 0.0
                    # With its id, what was nothing for this one is not looked through again.
                    yield f"id: {changes.number(position)}\nevent: heartbeat\ndata: {{}}\n\n".encode()
        finally:
            self._followers -= 1

    def _told(self, records: Iterable[ChangeRecord], scopes: dict[type[Entity], Scope]) -> Iterable[bytes]:
        for record in records:
            for change in item_changes(self._context.api.design.catalog, record):
                scope = scopes.get(change.schema.entity)
                if scope is None:
                    continue
                try:
                    typed = change.typed()
                except InvalidItemError:
                    continue  # a stored item that does not fit is told by nobody
                fields = self._context.fields[change.schema.entity]
                entity = typed.entity
                if scope.owner_id is not None and not fields.is_owned_by(entity, scope.owner_id):
                    continue
                shown = fields.shown_data(entity)
                data: dict[str, Any] = {
                    "entity": fields.name,
                    "change": _KINDS[typed.kind],
                    "key": {name: shown[name] for name in fields.key_names if name in shown},
                    "item": None if typed.new is None else shown,
                    "expired": typed.is_expired,
                }
                head = f"id: {record.sequence_number}\nevent: {data['change']}\ndata: "
                yield head.encode() + orjson.dumps(data) + b"\n\n"
