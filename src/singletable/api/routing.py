"""The paths of a design's API. A segment is decoded by itself, so that a value may hold a slash: /notes/a%2Fb."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from singletable.api.entities import Endpoint
from singletable.api.problems import BAD_REQUEST, WRONG_METHOD, Problem


class Path:
    """One path: its segments, and the endpoints by method."""

    def __init__(self, segments: tuple[str, ...], endpoints: Mapping[str, Endpoint]) -> None:
        self.segments = segments
        self.endpoints = dict(endpoints)
        if "GET" in self.endpoints:
            self.endpoints.setdefault("HEAD", self.endpoints["GET"])

    @property
    def template(self) -> str:
        """Return the path as OpenAPI writes it."""
        return "/" + "/".join(self.segments)

    def match(self, given: list[str]) -> dict[str, str] | None:
        """Return the parameters that a path has; None if it is another path."""
        if len(given) != len(self.segments):
            return None
        found = {}
        for segment, text in zip(self.segments, given, strict=True):
            if segment[0] == "{":
                if not text:
                    return None
                found[segment[1:-1]] = text
            elif segment != text:
                return None
        return found


class DesignRoute(BaseRoute):
    """All paths of a design, found by their first segment and their length."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self._fixed: dict[tuple[str, int], list[Path]] = {}
        # Literal segments before parameters: /orders/new is not the order "new".
        for path in sorted(paths, key=lambda each: [segment[0] == "{" for segment in each.segments]):
            self._fixed.setdefault((path.segments[0], len(path.segments)), []).append(path)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Find the path of a request."""
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope.get("raw_path") or scope["path"].encode()
        root = scope.get("root_path", "")
        if root and raw.startswith(root.encode()):
            raw = raw[len(root.encode()) :]
        given = [_decoded(each) for each in raw[1:].split(b"/")]
        for path in self._fixed.get((given[0], len(given)), ()):
            parameters = path.match(given)
            if parameters is not None:
                return Match.FULL, {"endpoint": path, "path_params": parameters, "route_path": path.template}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matches."""
        request = Request(scope, receive, send)
        path: Path = scope["endpoint"]
        endpoint = path.endpoints.get(request.method)
        if endpoint is None:
            raise Problem(WRONG_METHOD, headers={"Allow": ", ".join(sorted(path.endpoints))})
        if any("\udc80" <= letter <= "\udcff" for text in scope["path_params"].values() for letter in text):
            raise Problem(BAD_REQUEST, "The path is no UTF-8")
        response = await endpoint(request)
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> NoReturn:
        raise NoMatchFound(name, path_params)


def _decoded(segment: bytes) -> str:
    if b"%" not in segment and segment.isascii():
        return segment.decode("ascii")
    return unquote(segment.decode("latin-1"), "utf-8", "surrogateescape")
