"""Paths that every API has: its document and docs page, its health, its metrics, and what problems mean."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from singletable.api.answers import JSON, answered, digest
from singletable.api.context import Context
from singletable.api.gate import Counts
from singletable.api.openapi import openapi_of
from singletable.api.patterns import PatternEndpoints
from singletable.api.problems import KINDS, NO_PATH, PROBLEMS_PATH, UNAVAILABLE, Problem
from singletable.errors import SingleTableError
from singletable.metrics.prometheus import PROMETHEUS_CONTENT_TYPE, to_prometheus

_ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_WELL_US: Final = 5_000_000
_DOCS_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'"
)


class OwnPaths:
    """The endpoints of an API itself."""

    def __init__(
        self, made: FastAPI, context: Context, counts: Counts, patterns: Mapping[str, PatternEndpoints]
    ) -> None:
        self._app = made
        self._context = context
        self._counts = counts
        self._patterns = patterns
        self._document: bytes | None = None
        self._well_until_us = 0

    def add(self) -> None:
        """Add them to the application."""
        self._app.openapi = self.openapi  # type: ignore[method-assign]
        self._app.router.routes += [
            Route("/openapi.json", self._openapi, include_in_schema=False),
            Route("/docs", self._docs, include_in_schema=False),
            Route("/docs/assets/{name}", self._asset, include_in_schema=False),
            Route("/healthz", self._health, include_in_schema=False),
            Route("/metrics", self._metrics, include_in_schema=False),
            Route(f"{PROBLEMS_PATH}/{{name}}", self._problem, include_in_schema=False),
        ]

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        return openapi_of(self._app, self._context, self._patterns)

    async def _openapi(self, request: Request) -> Response:
        if self._document is None:
            self._document = orjson.dumps(self.openapi())
        tag = f'"{digest(self._document)}"'
        return answered(request, self._document, tag, {"Cache-Control": "no-cache"})

    async def _docs(self, request: Request) -> Response:
        root = request.scope.get("root_path", "")
        page = get_swagger_ui_html(
            openapi_url=f"{root}/openapi.json",
            title=self._app.title,
            swagger_js_url=f"{root}/docs/assets/swagger-ui-bundle.js",
            swagger_css_url=f"{root}/docs/assets/swagger-ui.css",
            swagger_favicon_url=f"{root}/docs/assets/favicon.png",
        )
        page.headers["Content-Security-Policy"] = _DOCS_POLICY
        return page

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        folder = _assets_folder()
        if name not in _ASSETS or folder is None:
            raise Problem(NO_PATH)
        headers = {"Cache-Control": "public, max-age=86400"}
        return FileResponse(folder / name, media_type=_ASSETS[name], headers=headers)

    async def _health(self, request: Request) -> Response:
        session = self._context.db.session
        database = session.client.database
        clock = session.client.clock
        trouble: SingleTableError | None = None if database is None else database.trouble()
        if trouble is None and clock.elapsed_us() >= self._well_until_us:
            try:
                await session.client.acall("DescribeTable", {"TableName": session.table})
            except SingleTableError as error:
                trouble = error
            else:
                # AWS allows few of these a second, and anybody may ask for health.
                self._well_until_us = clock.elapsed_us() + (_WELL_US if database is None else 0)
        if trouble is not None:
            # By what it is: its sentence may name a file.
            reason = (type(trouble).__doc__ or "").partition("\n")[0]
            raise Problem(UNAVAILABLE, reason, number=trouble.number or "")
        return Response(b'{"status":"ok"}', 200, {"Cache-Control": "no-store"}, JSON)

    async def _metrics(self, request: Request) -> Response:
        context = self._context
        await context.scope(context.api.metrics, await context.principal(request), {})
        database = context.db.session.client.database
        text = b"" if database is None else to_prometheus(database.metrics())
        content = text + self._counts.text().encode()
        return Response(content, 200, {"Cache-Control": "no-store"}, PROMETHEUS_CONTENT_TYPE)

    async def _problem(self, request: Request) -> Response:
        kind = KINDS.get(request.path_params["name"])
        if kind is None:
            raise Problem(NO_PATH)
        lines = [f"{kind.status} {kind.title}", "", kind.help]
        if kind.number:
            lines += ["", f"{kind.number}: docs/errors/{kind.number}.md"]
        headers = {"Cache-Control": "public, max-age=86400"}
        return Response("\n".join(lines) + "\n", 200, headers, "text/plain")


def _assets_folder() -> Path | None:
    """Return the folder of the docs page's assets. They come from a package, and no network is asked."""
    found = importlib.util.find_spec("fastapi_offline")
    return None if found is None or found.origin is None else Path(found.origin).parent / "static"
