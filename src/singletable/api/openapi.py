"""The OpenAPI document (3.1) of an API: paths, types and examples of what is exposed, beside those of services."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from singletable.api.access import PUBLIC, Access, as_tuple
from singletable.api.answers import CSV, JSON, JSON_LINES
from singletable.api.context import Context
from singletable.api.declaration import Answered, EntityApi, PatternApi, Verb, snake
from singletable.api.fields import EntityFields
from singletable.api.idempotency import HEADER, KEPT_S
from singletable.api.patterns import PatternEndpoints
from singletable.api.problems import PROBLEM_TYPE
from singletable.api.routing import DesignRoute
from singletable.design import Entity
from singletable.pattern_texts.parameters import Parameter

Part: TypeAlias = dict[str, Any]
_REF: Final = "#/components/schemas/{model}"
_PROBLEM: Final = {"$ref": "#/components/responses/Problem"}
_READ_REFUSALS: Final = (400, 401, 403, 404, 405, 406, 414, 422, 429, 503)
_WRITE_REFUSALS: Final = (400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 422, 428, 429, 501, 503)


def openapi_of(app: FastAPI, context: Context, patterns: Mapping[str, PatternEndpoints]) -> Part:
    """Return the whole document: what a design exposes, and the routers of services."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version="3.1.0",
        description=app.description,
        routes=[route for route in app.routes if not isinstance(route, DesignRoute)],
    )
    types = _Types()
    maker = _Document(context, patterns, types)
    builders = list(maker.paths())
    schemas = types.compile()
    paths: dict[str, Part] = {}
    for path, method, build in builders:
        paths.setdefault(path, {})[method] = build()
    found["paths"] = paths | found.get("paths", {})
    components = found.setdefault("components", {})
    components["schemas"] = {
        **schemas,
        **maker.examples(schemas),
        "Problem": _PROBLEM_SCHEMA,
    } | components.get("schemas", {})
    components.setdefault("responses", {})["Problem"] = {
        "description": "What went wrong, and what to do",
        "content": {PROBLEM_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}},
    }
    if context.auth.challenge is not None and context.auth.challenge.startswith("Bearer"):
        components.setdefault("securitySchemes", {})["bearer"] = {"type": "http", "scheme": "bearer"}
    return found


class _Types:
    """Collects the types of a document, so that each is described once and under a name of its own."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, str], TypeAdapter[Any]] = {}
        self._found: dict[Any, Part] = {}

    def want(self, key: str, adapter: TypeAdapter[Any], *, shows: bool = False) -> Callable[[], Part]:
        mode = "serialization" if shows else "validation"
        self._wanted.setdefault((key, mode), adapter)
        return lambda: self._found[key, mode]

    def compile(self) -> dict[str, Part]:
        inputs: Any = [(key, mode, adapter) for (key, mode), adapter in self._wanted.items()]
        self._found, whole = TypeAdapter.json_schemas(inputs, ref_template=_REF)
        definitions: dict[str, Part] = whole.get("$defs", {})
        return definitions


class _Document:
    """Describes the paths of a design."""

    def __init__(self, context: Context, patterns: Mapping[str, PatternEndpoints], types: _Types) -> None:
        self._context = context
        self._patterns = patterns
        self._types = types
        self._has_bearer = (context.auth.challenge or "").startswith("Bearer")

    def paths(self) -> Iterator[tuple[str, str, Callable[[], Part]]]:
        for exposed in self._context.api.entities.values():
            yield from self._of_entity(exposed)
        for pattern in self._context.api.patterns.values():
            yield from self._of_pattern(pattern)
        if self._context.api.changes:
            yield "/changes", "get", self._changes

    def examples(self, schemas: Mapping[str, Part]) -> dict[str, Part]:
        """Return the schemas of entities, with an example each."""
        found = {}
        for fields in self._context.fields.values():
            example = fields.example()
            if fields.name in schemas and example is not None:
                found[fields.name] = {**schemas[fields.name], "examples": [example]}
        return found

    # --- entities ------------------------------------------------------------------------------------------

    def _of_entity(self, exposed: EntityApi) -> Iterator[tuple[str, str, Callable[[], Part]]]:
        fields = self._context.fields[exposed.entity]
        name, whole = snake(fields.name), f"/{exposed.segment}"
        item = "/".join([whole, *(f"{{{each}}}" for each in fields.key_names)])
        shown = self._types.want(fields.name, fields.output, shows=True)
        keys = [
            (each, self._types.want(f"{fields.name}.{each}", fields.key_adapter(each)))
            for each in fields.key_names
        ]

        def operation(verb: Verb, about: str, responses: Part, body: Part | None = None, **more: Any) -> Part:
            parameters = [] if verb == "create" else [_path_parameter(each, make()) for each, make in keys]
            parameters += _HEADERS[verb]
            made: Part = {
                "operationId": f"{_WORDS[verb]}_{name}",
                "tags": [fields.name],
                "summary": about,
                "parameters": parameters,
                "responses": responses | _refusals(_READ_REFUSALS if verb == "read" else _WRITE_REFUSALS),
                **self._security(exposed.access_for(verb)),
                **more,
            }
            return made if body is None else made | {"requestBody": {"required": True, "content": body}}

        def answer(status: int, *headers: str) -> Part:
            return {str(status): _response(f"The {fields.name}", {JSON: {"schema": shown()}}, headers)}

        is_writable = not self._context.is_read_only
        if "create" in exposed.verbs and is_writable:
            create = self._types.want(f"{fields.name}Create", fields.create_input)
            yield (
                whole,
                "post",
                lambda: operation(
                    "create",
                    f"Create a {fields.name}",
                    answer(201, "ETag", "Location"),
                    {JSON: {"schema": create()}},
                ),
            )
        if "read" in exposed.verbs:
            yield (
                item,
                "get",
                lambda: operation(
                    "read",
                    f"Read a {fields.name}",
                    answer(200, "ETag") | {"304": {"description": "It is as the reader has it"}},
                ),
            )
        if "replace" in exposed.verbs and is_writable:
            replace = self._types.want(f"{fields.name}Replace", fields.replace_input)
            yield (
                item,
                "put",
                lambda: operation(
                    "replace",
                    f"Replace a {fields.name}: what is left out becomes its default",
                    answer(200, "ETag"),
                    {JSON: {"schema": replace()}},
                ),
            )
        if "patch" in exposed.verbs and is_writable:
            change = self._types.want(f"{fields.name}Change", fields.change_input)
            yield (
                item,
                "patch",
                lambda: operation(
                    "patch",
                    f"Change fields of a {fields.name}: a merge patch, of which only what changes is written",
                    answer(200, "ETag"),
                    {"application/merge-patch+json": {"schema": change()}},
                ),
            )
        if "delete" in exposed.verbs and is_writable:
            yield (
                item,
                "delete",
                lambda: operation(
                    "delete",
                    f"Delete a {fields.name}, with all that it owns",
                    {"204": {"description": "It is deleted"}},
                ),
            )

    # --- patterns ------------------------------------------------------------------------------------------

    def _of_pattern(self, exposed: PatternApi) -> Iterator[tuple[str, str, Callable[[], Part]]]:
        answered = self._context.api.answers[exposed.name]
        if answered.writes and self._context.is_read_only:
            return
        endpoints = self._patterns[exposed.name]
        shown = self._shown(answered)
        wanted = {
            name: self._parameter_type(exposed.name, name, parameter)
            for name, parameter in endpoints.parameters.items()
        }
        in_path = {each[1:-1] for each in exposed.segments if each[0] == "{"}
        free = endpoints.filled_names
        path = "/" + "/".join(exposed.segments)
        info = self._context.api.design.patterns()[exposed.name]
        method = getattr(self._context.api.design, exposed.name)

        def build() -> Part:
            parameters: list[Part] = []
            body: Part = {}
            required: list[str] = []
            for name, parameter in endpoints.parameters.items():
                schema = _without_null(wanted[name]())
                if name in in_path:
                    parameters.append(_path_parameter(name, schema))
                elif answered.writes:
                    body[name] = schema
                    required += [name] if parameter.is_required and name not in free else []
                else:
                    is_required = parameter.is_required and name not in free
                    parameters.append(
                        {"name": name, "in": "query", "required": is_required, "schema": schema}
                    )
            parameters += self._paging(answered) + _HEADERS["create" if answered.writes else "read"]
            made: Part = {
                "operationId": exposed.name,
                "tags": ["Patterns"],
                "summary": info.title,
                "description": (method.__doc__ or "").strip(),
                "parameters": parameters,
                "responses": self._answers(answered, shown)
                | _refusals(_WRITE_REFUSALS if answered.writes else _READ_REFUSALS),
                **self._security(as_tuple(exposed.access)),
            }
            if answered.writes:
                schema = {
                    "type": "object",
                    "properties": body,
                    "required": required,
                    "additionalProperties": False,
                }
                made["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
            return made

        yield path, "post" if answered.writes else "get", build

    def _shown(self, answered: Answered) -> dict[type[Entity], Callable[[], Part]]:
        found = {}
        for entity in answered.entities:
            fields = self._context.fields[entity]
            adapter = fields.output if answered.writes else fields.partial_output
            is_part = adapter is not fields.output
            found[entity] = self._types.want(f"{fields.name}{'Part' if is_part else ''}", adapter, shows=True)
        return found

    def _parameter_type(self, pattern: str, name: str, parameter: Parameter) -> Callable[[], Part]:
        kind = parameter.shape.of
        if isinstance(kind, type) and issubclass(kind, Entity):
            fields: EntityFields = self._context.fields[kind]
            return self._types.want(f"{fields.name}Create", fields.create_input)
        if parameter.shape.kind == "key":
            return lambda: {"type": "string"}
        return self._types.want(f"{pattern}({name})", TypeAdapter(parameter.annotation))

    def _paging(self, answered: Answered) -> list[Part]:
        if answered.kind != "many":
            return []
        limits = self._context.limits
        limit = {
            "type": "integer",
            "minimum": 1,
            "maximum": limits.page_items_max,
            "default": limits.page_items,
        }
        return [
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "description": "How many items a page has at most",
                "schema": limit,
            },
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "Where the page begins, as the one before says",
                "schema": {"type": "string", "minLength": 1},
            },
        ]

    def _answers(self, answered: Answered, shown: Mapping[type[Entity], Callable[[], Part]]) -> Part:
        unmodified: Part = {"304": {"description": "It is as the reader has it"}}
        if answered.entity is not None:
            one = shown[answered.entity]()
        match answered.kind:
            case "many":
                page = _object(
                    items={"type": "array", "items": one},
                    cursor={"anyOf": [{"type": "string"}, {"type": "null"}]},
                )
                # The other forms are only told: with them, typed clients would get a text or a page.
                about = f"A page; by Accept the whole list as {JSON_LINES} or {CSV}"
                return {"200": _response(about, {JSON: {"schema": page}}, ("ETag", "Link"))} | unmodified
            case "batch":
                found = _object(items={"type": "array", "items": {"anyOf": [one, {"type": "null"}]}})
                return {
                    "200": _response("The items, in order", {JSON: {"schema": found}}, ("ETag",))
                } | unmodified
            case "collection":
                members: dict[str, Part] = {}
                for name, (entity, is_list, is_required) in answered.members.items():
                    schema = shown[entity]()
                    if is_list:
                        members[name] = {"type": "array", "items": schema}
                    else:
                        members[name] = schema if is_required else {"anyOf": [schema, {"type": "null"}]}
                return {
                    "200": _response("It", {JSON: {"schema": _object(**members)}}, ("ETag",))
                } | unmodified
            case "one":
                return {"200": _response("It", {JSON: {"schema": one}}, ("ETag",))} | unmodified
            case "delete":
                return {"204": {"description": "It is deleted"}}
            case "create":
                return {"201": _response("It is created", {JSON: {"schema": one}}, ("ETag", "Location"))}
            case _:
                return {"200": _response("It is written", {JSON: {"schema": one}}, ("ETag",))}

    def _changes(self) -> Part:
        header = {
            "name": "Last-Event-ID",
            "in": "header",
            "required": False,
            "description": "The id of the last event that was seen",
            "schema": {"type": "string"},
        }
        content = {"text/event-stream": {"schema": {"type": "string"}}}
        return {
            "operationId": "follow_changes",
            "tags": ["Changes"],
            "summary": "Changes as server-sent events",
            "parameters": [header],
            "responses": {"200": _response("Events", content)} | _refusals((*_READ_REFUSALS, 501)),
        }

    def _security(self, access: tuple[Access, ...]) -> Part:
        if not self._has_bearer:
            return {}
        needed: list[Part] = [{"bearer": []}]
        return {"security": needed + [{}] * (PUBLIC in access)}


_WORDS: Final[Mapping[Verb, str]] = {
    "create": "create",
    "read": "get",
    "replace": "replace",
    "patch": "update",
    "delete": "delete",
}


def _header(name: str, about: str) -> Part:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": about,
        "schema": {"type": "string"},
    }


_IF_MATCH: Final = _header("If-Match", "The ETag that was read: the write is refused if it was changed since")
_KEY: Final = _header(
    HEADER, f"The same for each try of one write: it is carried out once in {KEPT_S // 3600} hours"
)
_HEADERS: Final[Mapping[Verb, list[Part]]] = {
    "create": [_KEY],
    "read": [_header("If-None-Match", "The ETag that the reader has")],
    "replace": [_IF_MATCH, _KEY],
    "patch": [_IF_MATCH, _KEY],
    "delete": [_IF_MATCH, _KEY],
}
_PROBLEM_SCHEMA: Final = {
    "title": "Problem",
    "description": "Problem details (RFC 9457)",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "st": {"type": "string", "description": "The number of the error"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "A JSON pointer into the body"},
                    "parameter": {"type": "string", "description": "A parameter of the query"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}


def _object(**members: Part) -> Part:
    return {"type": "object", "properties": members, "required": list(members)}


def _response(about: str, content: Part, headers: tuple[str, ...] = ()) -> Part:
    made: Part = {"description": about, "content": content}
    if headers:
        made["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    return made


def _refusals(statuses: tuple[int, ...]) -> Part:
    return {str(status): _PROBLEM for status in statuses}


def _path_parameter(name: str, schema: Part) -> Part:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _without_null(schema: Part) -> Part:
    """Return the type of a parameter that can be left out: nobody writes null into a query."""
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if not choices or len(choices) == len(schema["anyOf"]):
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return rest | (choices[0] if len(choices) == 1 else {"anyOf": choices})
