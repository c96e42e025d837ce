"""The FastAPI application of an API: a design's paths, those of services, its health, metrics and docs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError as InvalidValueError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from singletable.api.authentication import Authenticator
from singletable.api.changes import ChangesEndpoint
from singletable.api.context import Context, Limits
from singletable.api.declaration import Api
from singletable.api.entities import EntityEndpoints
from singletable.api.gate import Counts, Gate
from singletable.api.idempotency import IdempotencyStore, TableStore
from singletable.api.own_paths import OwnPaths
from singletable.api.patterns import PatternEndpoints
from singletable.api.problems import (
    BAD_REQUEST,
    INTERNAL,
    INVALID,
    NO_PATH,
    TOO_LARGE,
    WRONG_METHOD,
    WRONG_TYPE,
    Problem,
    pointer,
    problem_of,
)
from singletable.api.routing import DesignRoute, Path
from singletable.api.telemetry import Traced
from singletable.design import Design
from singletable.errors import DeclarationError, SingleTableError

_SECRET_BYTES_MIN: Final = 16
_RESERVED: Final = ("changes", "docs", "healthz", "metrics", "openapi.json", "patterns", "problems")


def app(
    db: Design,
    api: Api,
    *,
    auth: Authenticator,
    cursor_secret: str | bytes,
    limits: Limits | None = None,
    allow_hosts: Sequence[str] = (),
    cors_origins: Sequence[str] = (),
    routers: Sequence[APIRouter] = (),
    store: IdempotencyStore | None = None,
    read_only: bool = False,
    telemetry: bool = False,
) -> FastAPI:
    """Return the application of an open design: what `api` declares, and nothing else.

    `cursor_secret`, of 16 bytes or more, is shared by all processes of the API: it hides and signs cursors.
    `routers` are those of services; they are behind the same gate, and `context_of(request)` is theirs too.
    """
    if not isinstance(db, api.design):
        raise DeclarationError(f"the API is of {api.design.__name__}, and the design is {type(db).__name__}")
    if len(cursor_secret if isinstance(cursor_secret, bytes) else cursor_secret.encode()) < _SECRET_BYTES_MIN:
        raise DeclarationError(
            f"the cursor_secret is shorter than {_SECRET_BYTES_MIN} bytes, so it could be guessed",
            hint="python -c 'import secrets; print(secrets.token_urlsafe())' makes one",
        )
    if api.is_everything and not auth.is_local:
        raise DeclarationError(
            "Api.all(...) exposes everything, which is for the developer's own machine",
            hint="list what is exposed: Api(design, entities=[...], patterns=[...])",
        )
    for exposed in api.entities.values():
        if exposed.segment in _RESERVED:
            raise DeclarationError(f"{exposed.entity.__name__} cannot be at /{exposed.segment}", hint="path=")
    bounds = limits or Limits()
    context = Context(
        db,
        api,
        auth,
        cursor_secret,
        store or TableStore(db.session),
        bounds,
        is_read_only=read_only,
    )
    counts = Counts()
    made = FastAPI(
        title=api.title,
        version=api.version,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers=_HANDLERS,
    )
    made.state.singletable = context
    made.add_middleware(
        Gate, limits=bounds, counts=counts, allow_hosts=allow_hosts, cors_origins=cors_origins
    )
    if telemetry:
        made.add_middleware(Traced)
    patterns = _add_design(made, context)
    for router in routers:
        made.include_router(router)
    OwnPaths(made, context, counts, patterns).add()
    return made


def _add_design(made: FastAPI, context: Context) -> dict[str, PatternEndpoints]:
    entities = {
        each.entity: EntityEndpoints(context, context.fields[each.entity])
        for each in context.api.entities.values()
    }
    patterns = {
        each.name: PatternEndpoints(context, each, entities) for each in context.api.patterns.values()
    }
    paths: dict[tuple[str, ...], dict[str, Any]] = {}
    for exposed in context.api.entities.values():
        endpoints = entities[exposed.entity]
        keys = tuple(f"{{{name}}}" for name in context.fields[exposed.entity].key_names)
        paths.setdefault((exposed.segment,), {}).update(endpoints.of_collection())
        paths.setdefault((exposed.segment, *keys), {}).update(endpoints.of_item())
    for pattern in context.api.patterns.values():
        paths.setdefault(pattern.segments, {}).update(patterns[pattern.name].of_path())
    if context.api.changes:
        paths["changes",] = {"GET": ChangesEndpoint(context).get}
    found = [Path(segments, endpoints) for segments, endpoints in paths.items() if endpoints]
    made.router.routes.insert(0, DesignRoute(found))
    return patterns


# --- problems -----------------------------------------------------------------------------------------------


async def _of_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _of_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, SingleTableError)
    return problem_of(error).response()


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kinds = {404: NO_PATH, 405: WRONG_METHOD, 413: TOO_LARGE, 415: WRONG_TYPE, 422: INVALID}
    kind = kinds.get(error.status_code, BAD_REQUEST)
    answer = Problem(kind, headers=error.headers).response()
    if kind is BAD_REQUEST:
        answer.status_code = error.status_code
    return answer


async def _of_values(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    shown = [{"pointer": pointer(each["loc"]), "detail": str(each["msg"])} for each in error.errors()[:20]]
    return Problem(INVALID, errors=shown).response()


async def _of_mistake(request: Request, error: Exception) -> Response:
    return Problem(INTERNAL).response()


_HANDLERS: Final[dict[Any, Any]] = {
    Problem: _of_problem,
    SingleTableError: _of_error,
    HTTPException: _of_http,
    RequestValidationError: _of_values,
    InvalidValueError: _of_mistake,
    Exception: _of_mistake,
}
