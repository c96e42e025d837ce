"""Patterns over HTTP: those that read answer a GET with typed parameters, those that write a POST.

Lists come in pages with a cursor, as JSON; whole, as JSON lines or CSV. Whose items they are is enforced twice:
the parameter that names an owner is the principal's own id, and what is found of anybody else is left out.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from inspect import BoundArguments, signature
from typing import Any, Final, NoReturn

import orjson
from pydantic import TypeAdapter
from pydantic import ValidationError as InvalidValueError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from singletable.api.access import EVERYTHING, OWNER, PUBLIC, Principal, Scope, as_tuple, guards_of
from singletable.api.answers import (
    CSV,
    JSON,
    JSON_LINES,
    add_units,
    answered,
    csv_text,
    digest,
    entity_tag,
    headers_for,
    link_next,
    negotiate,
)
from singletable.api.context import Context
from singletable.api.declaration import PatternApi
from singletable.api.entities import Endpoint, EntityEndpoints
from singletable.api.fields import EntityFields, fields_of, read_object
from singletable.api.idempotency import once
from singletable.api.problems import (
    CONFLICT,
    FORBIDDEN,
    INVALID,
    NOT_FOUND,
    Problem,
    invalid,
    pointer,
    problem_of,
)
from singletable.design import Create, Entity, Get, Put
from singletable.errors import ConditionNotMetError, SingleTableError
from singletable.pattern_texts.parameters import Parameter
from singletable.pattern_texts.values import ParameterError, fixed_texts, read_values

PAGING: Final = ("limit", "cursor")
_ROWS_AT_ONCE: Final = 250


def query_name(name: str) -> str:
    """Return how a query calls a parameter: by its name, unless pages are asked for by it."""
    return f"param_{name}" if name in PAGING else name


class PatternEndpoints:
    """The endpoint of one exposed pattern."""

    def __init__(
        self, context: Context, exposed: PatternApi, entities: Mapping[type[Entity], EntityEndpoints]
    ) -> None:
        self._context = context
        self._exposed = exposed
        self._entities = entities
        self._access = as_tuple(exposed.access)
        self.parameters = {query_name(each.name): each for each in context.api.parameters[exposed.name]}
        self._answered = context.api.answers[exposed.name]
        self._method = getattr(context.db, exposed.name)
        self._signature = signature(self._method)
        # The parameters that name an owner of what is found.
        owners = {entity.entity_options.owner for entity in self._answered.entities}
        self._owner_names = [name for name, each in self.parameters.items() if each.name in owners]

    def of_path(self) -> dict[str, Endpoint]:
        """Return the endpoint, by its method."""
        if not self._answered.writes:
            return {"GET": self._read}
        return {} if self._context.is_read_only else {"POST": self._write}

    @property
    def filled_names(self) -> list[str]:
        """Name the parameters that need not be given, since they are who asks."""
        return self._owner_names if self._access == (OWNER,) else []

    # --- what is asked ---------------------------------------------------------------------------------------

    def _texts(self, request: Request, scope: Scope) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
        """Return the texts of the parameters, and the query that asks the same at any time."""
        texts: dict[str, list[str]] = {name: [text] for name, text in request.path_params.items()}
        for name, text in request.query_params.multi_items():
            if name in PAGING:
                continue
            if name not in self.parameters or name in request.path_params:
                _refuse(name, "is no parameter of this")
            texts.setdefault(name, []).append(text)
        self._fill_owner(texts, scope)
        now = _now(self._context)
        for name, parameter in self.parameters.items():
            given = texts.get(name, ["now"] if parameter.is_now else [])
            if len(given) > 1 and not parameter.is_list:
                _refuse(name, "is given twice")
            if given:
                try:
                    texts[name] = fixed_texts(parameter, given, now)
                except ParameterError as error:
                    _refuse(name, error.problem)
            elif parameter.is_required:
                _refuse(name, "is required")
        asked = request.path_params
        query = [(name, text) for name, several in texts.items() if name not in asked for text in several]
        return texts, query

    def _fill_owner(self, texts: dict[str, list[str]], scope: Scope) -> None:
        """Let the parameter that names an owner be who asks; refuse another."""
        if scope.owner_id is None:
            return
        for name in self._owner_names:
            if any(text != scope.owner_id for text in texts.setdefault(name, [scope.owner_id])):
                raise Problem(FORBIDDEN, f"{name} is somebody else")

    def _values(self, texts: Mapping[str, list[str]]) -> dict[str, Any]:
        catalog = self._context.api.design.catalog
        by_name = {self.parameters[name].name: several for name, several in texts.items()}
        try:
            return read_values(list(self.parameters.values()), by_name, catalog)
        except ParameterError as error:
            _refuse(query_name(error.parameter.name), error.problem)

    async def _plan(self, values: Mapping[str, Any]) -> Any:
        bound = BoundArguments(self._signature, OrderedDict(values))
        if self._context.is_embedded:
            return self._method(*bound.args, **bound.kwargs)
        # A pattern may read before it has a plan, which would hold up the event loop.
        return await asyncio.to_thread(self._method, *bound.args, **bound.kwargs)

    # --- reading -------------------------------------------------------------------------------------------

    async def _read(self, request: Request) -> Response:
        context, kind = self._context, self._answered.kind
        principal = await context.principal(request)
        form = negotiate(request.headers.get("accept"), self.forms)
        first = await self._scope_at_first(principal)
        texts, query = self._texts(request, first)
        values = self._values(texts)
        scope = await self._scope_of(principal, values, first)
        plan = await self._plan(values)
        headers = headers_for(self._exposed.cache, principal)
        if kind == "many":
            reader = context.reader([self._exposed.name, sorted(texts.items())], principal)
            return await self._list(request, _List(self, plan.on(reader), scope, form, query, headers))
        for name in PAGING:
            if name in request.query_params:
                _refuse(name, "is for lists in pages, and this has none")
        found = await plan.afound()
        add_units(request, headers, found.units)
        if kind == "batch":
            shown = [
                b"null" if each is None or not self.is_open(scope, each) else self.json(each)
                for each in found.item
            ]
            content = b'{"items":[' + b",".join(shown) + b"]}"
            return answered(request, content, f'"{digest(content)}"', headers)
        if found.item is None:
            raise Problem(NOT_FOUND)
        if kind == "collection":
            content = self._collection(found.item, scope)
            return answered(request, content, f'"{digest(content)}"', headers)
        if not self.is_open(scope, found.item):
            raise Problem(NOT_FOUND)
        content = self.json(found.item)
        fields = fields_of(context.fields, found.item)
        is_whole = type(found.item) is fields.entity
        tag = entity_tag(fields, found.item) if is_whole else f'"{digest(content)}"'
        return answered(request, content, tag, headers)

    @property
    def forms(self) -> tuple[str, ...]:
        """Return the forms that its answer has."""
        return (JSON, JSON_LINES, CSV) if self._answered.kind == "many" else (JSON,)

    async def _scope_at_first(self, principal: Principal | None) -> Scope:
        """Return what is open as far as it is known without the values, which guards are given."""
        if guards_of(self._access):
            if principal is None and PUBLIC not in self._access:
                raise self._context.unauthenticated()
            return EVERYTHING
        return await self._context.scope(self._access, principal, {})

    async def _scope_of(self, principal: Principal | None, values: Mapping[str, Any], first: Scope) -> Scope:
        """Return what is open, with the guards asked."""
        if not guards_of(self._access):
            return first
        scope = await self._context.scope(self._access, principal, values)
        names = {self.parameters[name].name for name in self._owner_names}
        if scope.owner_id is not None and any(str(values.get(name)) != scope.owner_id for name in names):
            raise Problem(FORBIDDEN)
        return scope

    def is_open(self, scope: Scope, entity: Entity) -> bool:
        """Tell whether an entity may be shown."""
        return scope.owner_id is None or fields_of(self._context.fields, entity).is_owned_by(
            entity, scope.owner_id
        )

    def json(self, entity: Entity) -> bytes:
        """Return an entity as JSON."""
        return fields_of(self._context.fields, entity).shown_json(entity)

    def columns(self) -> list[str]:
        """Return the names that the lines of a CSV have."""
        assert self._answered.entity is not None
        return self._context.fields[self._answered.entity].shown

    def _collection(self, found: Any, scope: Scope) -> bytes:
        members = []
        for name, (_, is_list, is_required) in self._answered.members.items():
            value = getattr(found, name)
            if is_list:
                shown = [self.json(each) for each in value if self.is_open(scope, each)]
                text = b"[" + b",".join(shown) + b"]"
            elif value is None or not self.is_open(scope, value):
                if is_required:
                    raise Problem(NOT_FOUND)
                text = b"null"
            else:
                text = self.json(value)
            members.append(orjson.dumps(name) + b":" + text)
        return b"{" + b",".join(members) + b"}"

    # --- lists ---------------------------------------------------------------------------------------------

    async def _list(self, request: Request, wanted: _List) -> Response:
        limits = self._context.limits
        is_page = wanted.form == JSON
        limit = _limit(
            request,
            limits.page_items if is_page else limits.rows_max,
            limits.page_items_max if is_page else limits.rows_max,
        )
        cursor = request.query_params.get("cursor")
        headers = wanted.headers
        if wanted.form == JSON_LINES:
            return StreamingResponse(self._lines(request, wanted, limit, cursor), 200, headers, JSON_LINES)
        if is_page:
            page = await wanted.plan.apage(limit, cursor)
            shown = [self.json(each) for each in page.items if self.is_open(wanted.scope, each)]
            following = orjson.dumps(page.cursor)
            content = b'{"items":[' + b",".join(shown) + b'],"cursor":' + following + b"}"
            add_units(request, headers, page.units)
            left = page.cursor
            media_type = JSON
        else:
            rows: list[dict[str, Any]] = []
            units, left = 0.0, cursor
            async for page in self._pages(wanted, limit, cursor):
                rows += [
                    orjson.loads(self.json(each)) for each in page.items if self.is_open(wanted.scope, each)
                ]
                units, left = units + page.units, page.cursor
            content, media_type = csv_text(rows, self.columns()), f"{CSV}; charset=utf-8; header=present"
            add_units(request, headers, units)
        if left is not None:
            headers["Link"] = f'<{link_next(request, left, wanted.asked(request))}>; rel="next"'
        return answered(request, content, f'"{digest(content)}"', headers, media_type)

    async def _pages(self, wanted: _List, limit: int, cursor: str | None) -> AsyncIterator[Any]:
        """Read pages until there is nothing more, or so many items were read."""
        while limit:
            page = await wanted.plan.apage(min(limit, _ROWS_AT_ONCE), cursor)
            yield page
            limit, cursor = limit - len(page.items), page.cursor
            if cursor is None:
                return

    async def _lines(
        self, request: Request, wanted: _List, limit: int, cursor: str | None
    ) -> AsyncIterator[bytes]:
        """Return an entity a line; behind them where to go on, or what went wrong in the middle."""
        left = cursor
        try:
            async for page in self._pages(wanted, limit, cursor):
                shown = [self.json(each) for each in page.items if self.is_open(wanted.scope, each)]
                if shown:
                    yield b"\n".join(shown) + b"\n"
                left = page.cursor
        except SingleTableError as error:
            yield orjson.dumps({"problem": problem_of(error).data()}) + b"\n"
            return
        if left is not None:
            yield orjson.dumps({"next": link_next(request, left, wanted.asked(request))}) + b"\n"

    # --- writing -------------------------------------------------------------------------------------------

    async def _write(self, request: Request) -> Response:
        context = self._context
        principal = await context.principal(request)
        negotiate(request.headers.get("accept"), (JSON,))
        body = await context.body(request)
        first = await self._scope_at_first(principal)
        values = self._values_of_body(request, body, first)
        scope = await self._scope_of(principal, values, first)
        plan = await self._plan(values)
        self._refuse_others(plan, scope)
        return await once(context.store, request, principal, body, lambda: self._written(request, plan))

    async def _written(self, request: Request, plan: Any) -> Response:
        try:
            written = await plan.arun()
        except ConditionNotMetError as error:
            raise Problem(CONFLICT, "what is stored does not allow it", number=error.number) from error
        headers = headers_for(None, None, writes=True)
        add_units(request, headers, written.units)
        entity = written.entity
        if entity is None or self._answered.kind == "delete":
            return Response(None, 204, headers)
        fields = fields_of(self._context.fields, entity)
        headers["ETag"] = entity_tag(fields, entity)
        status = 200
        if isinstance(plan, Create):
            status = 201
            endpoints = self._entities.get(fields.entity)
            if endpoints is not None and "read" in fields.exposed.verbs:
                headers["Location"] = endpoints.path_of(request, entity)
        return Response(fields.written_json(entity), status, headers, JSON)

    def _values_of_body(self, request: Request, body: bytes, scope: Scope) -> dict[str, Any]:
        given = read_object(body)
        values = {}
        for name, parameter in ((each.name, each) for each in self.parameters.values()):
            if name in request.path_params:
                given.setdefault(name, request.path_params[name])
            if name in self._owner_names and scope.owner_id is not None:
                given.setdefault(name, scope.owner_id)
            if name in given:
                values[name] = self._value(parameter, given[name], scope)
            elif parameter.is_now:
                values[name] = _now(self._context)
            elif parameter.is_required:
                raise Problem(INVALID, errors=[{"pointer": pointer((name,)), "detail": "is required"}])
            elif parameter.shown_default == "none":
                values[name] = None
        unknown = [name for name in given if name not in values]
        if unknown:
            raise Problem(
                INVALID,
                errors=[
                    {"pointer": pointer((name,)), "detail": "is no parameter of this"} for name in unknown
                ],
            )
        return values

    def _value(self, parameter: Parameter, data: Any, scope: Scope) -> Any:
        kind = parameter.shape.of
        if isinstance(kind, type) and issubclass(kind, Entity):
            return self._entity(self._context.fields[kind], parameter.name, data, scope)
        if parameter.shape.kind == "key":
            if not isinstance(data, str):
                raise Problem(
                    INVALID, errors=[{"pointer": pointer((parameter.name,)), "detail": "is a text"}]
                )
            return kind.parse(data)
        try:
            return TypeAdapter(parameter.annotation).validate_python(data)
        except InvalidValueError as error:
            raise invalid(error, (parameter.name,)) from None

    def _entity(self, fields: EntityFields, name: str, data: Any, scope: Scope) -> Entity:
        """Return the entity that a member of the body describes."""
        try:
            if not isinstance(data, dict):
                raise Problem(INVALID, errors=[{"pointer": "#", "detail": "is an object"}])
            if fields.owner is not None and scope.owner_id is not None:
                data.setdefault(fields.owner, scope.owner_id)
            fields.refuse_names(data)
            return fields.make(fields.read(fields.create_input, data))
        except Problem as problem:
            before = pointer((name,))
            problem.errors = [
                {**each, "pointer": f"{before}{each['pointer'].removeprefix('#')}"} for each in problem.errors
            ]
            raise

    def _refuse_others(self, plan: Any, scope: Scope) -> None:
        """Refuse a write of what somebody else owns."""
        if scope.owner_id is None:
            return
        target = plan.entity if isinstance(plan, Create | Put) else plan.target
        if isinstance(target, Get):
            fields = self._context.fields[target.entity]
            is_mine = fields.owner is not None and getattr(
                target.pk, fields.owner, None
            ) == fields.owner_value(scope.owner_id)
        else:
            is_mine = self.is_open(scope, target)
        if not is_mine:
            raise Problem(FORBIDDEN)


class _List:
    """A list that is being answered."""

    def __init__(
        self,
        endpoints: PatternEndpoints,
        plan: Any,
        scope: Scope,
        form: str,
        query: Sequence[tuple[str, str]],
        headers: dict[str, str],
    ) -> None:
        self.endpoints = endpoints
        self.plan = plan
        self.scope = scope
        self.form = form
        self.headers = headers
        self._query = query

    def asked(self, request: Request) -> list[tuple[str, str]]:
        """Return the query of the next page, without its cursor."""
        limit = request.query_params.get("limit")
        return [*self._query, *([] if limit is None else [("limit", limit)])]


def _limit(request: Request, otherwise: int, most: int) -> int:
    given = request.query_params.getlist("limit")
    if not given:
        return otherwise
    text = given[0]
    if len(given) > 1 or not (
        text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most
    ):
        _refuse("limit", f"is a number from 1 to {most}")
    return int(text)


def _now(context: Context) -> datetime:
    now: datetime = context.db.now()
    return now.astimezone(UTC) - timedelta(microseconds=now.microsecond % 1000)


def _refuse(name: str, why: str) -> NoReturn:
    raise Problem(INVALID, f"{name} {why}", errors=[{"parameter": name, "detail": why}])
