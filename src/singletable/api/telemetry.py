"""A span for each request, where OpenTelemetry is installed and asked for."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from singletable.errors import DeclarationError


class Traced:
    """An ASGI middleware that makes a span of each request, by OpenTelemetry's conventions for HTTP."""

    def __init__(self, app: ASGIApp, *, provider: Any = None) -> None:
        try:
            from opentelemetry import propagate, trace
        except ModuleNotFoundError as error:
            raise DeclarationError(
                "telemetry needs OpenTelemetry, which is not installed", hint="pip install opentelemetry-sdk"
            ) from error
        self._app = app
        self._extract: Any = propagate.extract
        self._server = trace.SpanKind.SERVER
        self._error = trace.StatusCode.ERROR
        self._tracer = trace.get_tracer("singletable.api", tracer_provider=provider)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context = self._extract(dict(Headers(scope=scope)))
        method = scope["method"]
        with self._tracer.start_as_current_span(method, context, kind=self._server) as span:
            span.set_attribute("http.request.method", method)

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    route = scope.get("route_path") or getattr(scope.get("route"), "path", None)
                    if route is not None:
                        span.set_attribute("http.route", route)
                        span.update_name(f"{method} {route}")
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(self._error)
                await send(message)

            await self._app(scope, receive, sending)
