"""Entities over HTTP: create, read, replace, patch and delete, each by the design's own writes.

A write with If-Match is an optimistic lock: on the version, or, without one, on every stored value that was read.
A write without it takes the newest state, and is tried again when somebody else was faster.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from singletable.api.access import Principal, Scope
from singletable.api.answers import (
    JSON,
    add_units,
    answered,
    entity_tag,
    headers_for,
    negotiate,
    refuse_unmatched,
)
from singletable.api.context import Context
from singletable.api.declaration import Verb
from singletable.api.fields import EntityFields, read_object
from singletable.api.idempotency import once
from singletable.api.problems import (
    CHANGED,
    FORBIDDEN,
    MATCH_REQUIRED,
    NOT_FOUND,
    Problem,
    refused_field,
)
from singletable.design import Create, Delete, Entity, Update
from singletable.design.design import Writer
from singletable.design.plans.reader import Reader
from singletable.errors import ConditionNotMetError, NotFoundError, VersionConflictError

Endpoint = Callable[[Request], Awaitable[Response]]
_MERGE_PATCH: Final = ("application/merge-patch+json", "application/json")
_TRIES_MAX: Final = 5
_METHODS: Final[Mapping[Verb, str]] = {"read": "GET", "replace": "PUT", "patch": "PATCH", "delete": "DELETE"}


class EntityEndpoints:
    """The endpoints of one exposed entity."""

    def __init__(self, context: Context, fields: EntityFields) -> None:
        self._context = context
        self._fields = fields
        self._exposed = fields.exposed
        session = context.db.session
        self._reader, self._writer = Reader(session), Writer(session)

    def of_collection(self) -> dict[str, Endpoint]:
        """Return the endpoints at /orders, by method."""
        if "create" not in self._exposed.verbs or self._context.is_read_only:
            return {}
        return {"POST": self._create}

    def of_item(self) -> dict[str, Endpoint]:
        """Return the endpoints at /orders/{key}, by method."""
        found: dict[Verb, Endpoint] = {
            "read": self._read,
            "replace": self._replace,
            "patch": self._patch,
            "delete": self._delete,
        }
        return {
            _METHODS[verb]: endpoint
            for verb, endpoint in found.items()
            if verb in self._exposed.verbs and (verb == "read" or not self._context.is_read_only)
        }

    # --- create --------------------------------------------------------------------------------------------

    async def _create(self, request: Request) -> Response:
        principal = await self._context.principal(request)
        negotiate(request.headers.get("accept"), (JSON,))
        body = await self._context.body(request)
        fields = self._fields
        given = read_object(body)
        fields.refuse_names(given)
        values = fields.read(fields.create_input, given)
        scope = await self._scope("create", principal, values)
        if not scope.is_all:
            assert fields.owner is not None
            assert scope.owner_id is not None
            mine = fields.owner_value(scope.owner_id)
            if values.setdefault(fields.owner, mine) != mine:
                raise Problem(FORBIDDEN, f"{fields.owner} is somebody else")
        entity = fields.make(values)
        return await once(
            self._context.store, request, principal, body, lambda: self._created(request, entity)
        )

    async def _created(self, request: Request, entity: Entity) -> Response:
        written = await self._writer.awrite(Create(entity))
        headers = headers_for(None, None, writes=True)
        headers["Location"] = self.path_of(request, written.entity)
        headers["ETag"] = entity_tag(self._fields, written.entity)
        add_units(request, headers, written.units)
        return Response(self._fields.written_json(written.entity), 201, headers, JSON)

    def path_of(self, request: Request, entity: Entity) -> str:
        """Return the path of an item."""
        texts = [self._exposed.segment, *self._fields.path_texts(entity)]
        return f"{request.scope.get('root_path', '')}/{'/'.join(quote(each, safe='') for each in texts)}"

    # --- read ----------------------------------------------------------------------------------------------

    async def _read(self, request: Request) -> Response:
        principal = await self._context.principal(request)
        negotiate(request.headers.get("accept"), (JSON,))
        values = self._fields.key_values(request.path_params)
        await self._open("read", principal, values)
        entity, units = await self._current(values)
        headers = headers_for(self._exposed.cache, principal)
        add_units(request, headers, units)
        return answered(request, self._fields.shown_json(entity), entity_tag(self._fields, entity), headers)

    async def _current(self, values: Mapping[str, Any]) -> tuple[Any, float]:
        found = await self._reader.arun(self._reader.found(self._fields.get(values)))
        if found.item is None:
            raise Problem(NOT_FOUND)
        return found.item, found.units

    async def _scope(self, verb: Verb, principal: Principal | None, values: Mapping[str, Any]) -> Scope:
        return await self._context.scope(self._exposed.access_for(verb), principal, values)

    async def _open(self, verb: Verb, principal: Principal | None, values: Mapping[str, Any]) -> None:
        """Refuse what is not open, before anything is read: nobody learns what there is."""
        scope = await self._scope(verb, principal, values)
        if not scope.is_all:
            assert self._fields.owner is not None
            assert scope.owner_id is not None
            if values[self._fields.owner] != self._fields.owner_value(scope.owner_id):
                raise Problem(FORBIDDEN)

    # --- replace and patch ---------------------------------------------------------------------------------

    async def _replace(self, request: Request) -> Response:
        fields = self._fields
        values, principal = await self._begin_change("replace", request)
        body = await self._context.body(request)
        given = fields.read(fields.replace_input, read_object(body))

        def changes(current: Entity) -> dict[str, Any]:
            stored = current.__dict__
            for name in given:
                if (name in fields.key_names or name in fields.read_only) and given[name] != stored[name]:
                    raise refused_field(name, "is read-only")
            names = [name for name in fields.taken if name not in fields.key_names]
            wanted = {name: given[name] if name in given else fields.default(name, given) for name in names}
            return {name: value for name, value in wanted.items() if value != stored[name]}

        return await once(
            self._context.store,
            request,
            principal,
            body,
            lambda: self._change(request, values, changes),
        )

    async def _patch(self, request: Request) -> Response:
        fields = self._fields
        values, principal = await self._begin_change("patch", request)
        body = await self._context.body(request, _MERGE_PATCH)
        given = read_object(body)
        fields.refuse_names(given)
        for name in given.keys() & set(fields.key_names):
            raise refused_field(name, "is part of the key, which never changes")

        def changes(current: Entity) -> dict[str, Any]:
            shown = fields.shown_data(current)
            merged = {name: merge(shown.get(name), value) for name, value in given.items()}
            wanted = fields.read(fields.change_input, merged)
            return {name: value for name, value in wanted.items() if value != current.__dict__[name]}

        return await once(
            self._context.store,
            request,
            principal,
            body,
            lambda: self._change(request, values, changes),
        )

    async def _begin_change(self, verb: Verb, request: Request) -> tuple[dict[str, Any], Principal | None]:
        principal = await self._context.principal(request)
        negotiate(request.headers.get("accept"), (JSON,))
        values = self._fields.key_values(request.path_params)
        await self._open(verb, principal, values)
        if self._exposed.requires_match and "if-match" not in request.headers:
            raise Problem(MATCH_REQUIRED)
        return values, principal

    async def _change(
        self, request: Request, values: Mapping[str, Any], changes: Callable[[Entity], dict[str, Any]]
    ) -> Response:
        is_matched = "if-match" in request.headers
        for tries_left in reversed(range(_TRIES_MAX)):
            current, units = await self._current_for_write(request, values)
            changed = changes(current)
            headers = headers_for(None, None, writes=True)
            if not changed:
                add_units(request, headers, units)
                return self._written(current, headers)
            update: Update[Any] = Update(current, changed)
            if is_matched and self._fields.schema.version is None:
                update = update.if_unchanged()
            try:
                written = await self._writer.awrite(update)
            except (ConditionNotMetError, VersionConflictError, NotFoundError) as error:
                if is_matched:
                    raise Problem(CHANGED) from error
                if not tries_left or not isinstance(error, VersionConflictError):
                    raise
            else:
                add_units(request, headers, units + written.units)
                return self._written(written.entity, headers)
        raise AssertionError("the last try has an end")

    async def _current_for_write(self, request: Request, values: Mapping[str, Any]) -> tuple[Any, float]:
        """Read the item that is to be written; refuse if it is not as the request demands."""
        try:
            current, units = await self._current(values)
        except Problem:
            refuse_unmatched(request, None)
            raise
        refuse_unmatched(request, entity_tag(self._fields, current))
        return current, units

    def _written(self, entity: Entity, headers: dict[str, str]) -> Response:
        headers["ETag"] = entity_tag(self._fields, entity)
        return Response(self._fields.written_json(entity), 200, headers, JSON)

    # --- delete --------------------------------------------------------------------------------------------

    async def _delete(self, request: Request) -> Response:
        values, principal = await self._begin_change("delete", request)
        return await once(
            self._context.store, request, principal, b"", lambda: self._deleted(request, values)
        )

    async def _deleted(self, request: Request, values: Mapping[str, Any]) -> Response:
        current, units = await self._current_for_write(request, values)
        wanted: Delete[Any] = Delete(self._fields.get(values))
        is_matched = "if-match" in request.headers
        if is_matched:
            wanted = Delete(current)
            if self._fields.schema.version is None:
                wanted = wanted.if_unchanged()
        try:
            written = await self._writer.awrite(wanted)
        except (ConditionNotMetError, VersionConflictError, NotFoundError) as error:
            if is_matched:
                raise Problem(CHANGED) from error
            raise
        headers = headers_for(None, None, writes=True)
        add_units(request, headers, units + written.units)
        return Response(None, 204, headers)


def merge(target: Any, patch: Any) -> Any:
    """Return a JSON value after a merge patch (RFC 7396, section 2)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
