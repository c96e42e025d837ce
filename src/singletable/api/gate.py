"""What every request passes, of designs and services alike: who may knock, how much, what browsers are told."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from singletable.api.context import Limits
from singletable.api.problems import (
    BUSY,
    FOREIGN_ORIGIN,
    STRANGE_HOST,
    TOO_LARGE,
    URI_TOO_LONG,
    Problem,
)
from singletable.server.callers import Callers

_EXPOSED: Final = ", ".join(
    (
        "ETag",
        "Idempotency-Replayed",
        "Link",
        "Location",
        "Preference-Applied",
        "Retry-After",
        "Singletable-Units",
    )
)
_REQUESTS: Final = "singletable_api_requests_total"
_METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"
_FREE_PATHS: Final = ("/healthz",)  # a watchdog must hear of a busy process that it is alive


class Counts:
    """What was counted of requests, for Prometheus."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.under_way = 0

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        self.seconds[method, route] += seconds

    def text(self) -> str:
        """Return the counters in Prometheus's text format."""
        lines = [
            f"# HELP {_REQUESTS} Requests that were answered",
            f"# TYPE {_REQUESTS} counter",
        ]
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"{_REQUESTS}{{{labels}}} {count}")
        lines += [
            "# HELP singletable_api_seconds_total Seconds that answers took",
            "# TYPE singletable_api_seconds_total counter",
        ]
        for (method, route), seconds in sorted(self.seconds.items()):
            lines.append(f'singletable_api_seconds_total{{method="{method}",route="{route}"}} {seconds:.6f}')
        lines += [
            "# HELP singletable_api_requests_under_way Requests that are not answered yet",
            "# TYPE singletable_api_requests_under_way gauge",
            f"singletable_api_requests_under_way {self.under_way}",
        ]
        return "\n".join(lines) + "\n"


class Gate:
    """An ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        counts: Counts,
        allow_hosts: Sequence[str],
        cors_origins: Sequence[str],
    ) -> None:
        self._app = app
        self._limits = limits
        self._counts = counts
        self._callers = Callers(
            allow_hosts=allow_hosts, cors_origins=cors_origins, settings="singletable.api.app"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        send = self._sending(scope, origin, send)
        problem = self._refusal(scope, headers)
        if problem is not None:
            await problem.response()(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and origin is not None and "access-control-request-method" in headers:
            await self._preflight(headers)(scope, receive, send)
            return
        self._counts.under_way += 1
        started = time.perf_counter()
        answered = _Answered(send)
        try:
            await self._app(scope, self._receiving(receive), answered)
        finally:
            self._counts.under_way -= 1
            route = scope.get("route_path") or getattr(scope.get("route"), "path", None) or "other"
            seconds = time.perf_counter() - started
            self._counts.add(
                scope["method"] if scope["method"].isalpha() else "other", route, answered.status, seconds
            )

    # --- who may knock -------------------------------------------------------------------------------------

    def _refusal(self, scope: Scope, headers: Headers) -> Problem | None:
        found: dict[bytes, bytes] = dict(scope["headers"])
        if len(headers.getlist("host")) > 1:
            return Problem(STRANGE_HOST, "A request names one Host")
        said = self._callers.foreign_host(found)
        if said is not None:
            return Problem(STRANGE_HOST, said)
        said = self._callers.foreign_origin(found)
        if said is not None:
            return Problem(FOREIGN_ORIGIN, said)
        if len(scope.get("query_string", b"")) + len(scope["path"]) > self._limits.query_bytes_max:
            return Problem(URI_TOO_LONG)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._limits.body_bytes_max:
            return self._too_large()
        if self._counts.under_way >= self._limits.requests_max and scope["path"] not in _FREE_PATHS:
            return Problem(BUSY)
        return None

    def _too_large(self) -> Problem:
        return Problem(TOO_LARGE, f"A body has at most {self._limits.body_bytes_max} bytes")

    def _receiving(self, receive: Receive) -> Receive:
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limits.body_bytes_max:
                raise self._too_large()
            return message

        return bounded

    # --- what browsers are told ----------------------------------------------------------------------------

    def _preflight(self, headers: Headers) -> Response:
        allowed = {
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": headers.get("access-control-request-headers", ""),
            "Access-Control-Max-Age": "7200",
        }
        return Response(None, 204, allowed)

    def _sending(self, scope: Scope, origin: str | None, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                found.setdefault("X-Content-Type-Options", "nosniff")
                if origin is not None and self._callers.allows(origin.encode("latin-1")):
                    found["Access-Control-Allow-Origin"] = origin
                    found["Access-Control-Expose-Headers"] = _EXPOSED
                    found.add_vary_header("Origin")
            await send(message)

        return sending


class _Answered:
    """Sends, and remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
