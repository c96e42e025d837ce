"""Which operation a request asks for, or the answer it gets without one. Pure: no socket, no database.

The order of the checks and the bodies of the answers are those of the service, as the tests of dynalite
recorded them from it ("dynalite connections"): the content type, then the JSON, the target, the signature. Before
them comes the check of the caller (callers.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from singletable.limits import KIB
from singletable.operations import OPERATIONS
from singletable.server.callers import Callers, preflight
from singletable.server.encoding import decode, encode, is_long_to_decode, wants_encoding
from singletable.server.replies import AMZ_JSON, PLAIN_JSON, Reply
from singletable.server.signing import check_signed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from singletable.server.reader import Request

NOT_FOUND: Final = Reply(404, b"<UnknownOperationException/>\n", None)
# A client of the server must not learn the path of its file.
UNHEALTHY: Final = Reply(
    503, b"unhealthy: the file was removed, renamed or replaced; the log of the server names it ", None
)
_UNKNOWN_OPERATION: Final = b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'
_NO_JSON: Final = b'{"__type":"com.amazon.coral.service#SerializationException"}'
# Refusing a request means to read its JSON; this much of it takes a fifth of a millisecond.
_READ_AT_ONCE_BYTES_MAX: Final = 64 * KIB
_PREFIXES: Final = {"dynamodb": "DynamoDB_20120810", "dynamodbstreams": "DynamoDBStreams_20120810"}
# By the whole X-Amz-Target, so that a request is found with one look-up.
TARGETS: Final[Mapping[bytes, str]] = {
    f"{_PREFIXES[row.service]}.{row.name}".encode(): row.name for row in OPERATIONS.values()
}


class RoutedCall(NamedTuple):
    """An operation to be answered by the database."""

    operation: str
    body: bytes
    content_type: bytes


class MetricsCall(NamedTuple):
    """The figures of the server are asked for."""


METRICS: Final = MetricsCall()


class Deferred:
    """A request that takes long to be understood: `finish` it where nobody waits for it."""

    __slots__ = ("_request", "_router")

    def __init__(self, router: Router, request: Request) -> None:
        self._router = router
        self._request = request

    def finish(self) -> RoutedCall | Reply:
        """Find the operation of the request."""
        return self._router.understand(self._request)


class Router:
    """Finds the operations of requests. One router serves all connections of a server."""

    __slots__ = ("_callers", "_checks_signatures", "_has_trouble", "_healthy", "_known_hosts")

    def __init__(
        self,
        *,
        region: str = "us-east-1",
        checks_signatures: bool = True,
        callers: Callers | None = None,
        has_trouble: Callable[[], object] = lambda: None,
    ) -> None:
        """`has_trouble` tells whether the database cannot be written any more. It is asked when health is."""
        self._has_trouble = has_trouble
        self._checks_signatures = checks_signatures
        self._callers = callers or Callers()
        self._known_hosts = self._callers.known_hosts
        # The trailing space is the service's own.
        self._healthy = Reply(200, f"healthy: dynamodb.{region}.amazonaws.com ".encode(), None)

    def route(self, request: Request) -> RoutedCall | MetricsCall | Deferred | Reply:
        """Find the operation of a request; never takes long."""
        headers = request.headers
        if headers.get(b"host") not in self._known_hosts or b"origin" in headers:
            refusal = self._callers.refuse(headers)
            if refusal is not None:
                return refusal
        if request.method != b"POST":
            return self._route_other(request)
        operation = TARGETS.get(headers.get(b"x-amz-target", b""))
        if (
            operation is not None
            and headers.get(b"content-type") == AMZ_JSON
            and b"content-encoding" not in headers
            and not (self._checks_signatures and check_signed(request))
        ):
            return RoutedCall(operation, request.body, AMZ_JSON)
        return Deferred(self, request) if _is_long(request) else self.understand(request)

    def understand(self, request: Request) -> RoutedCall | Reply:
        """Find the operation of a POST, however long that takes."""
        headers = request.headers
        declared = headers.get(b"content-type", b"").partition(b";")[0].strip()
        if request.body and declared not in (AMZ_JSON, PLAIN_JSON):
            return NOT_FOUND
        content_type = AMZ_JSON if declared == AMZ_JSON else PLAIN_JSON
        encoding = headers.get(b"content-encoding")
        body = request.body if encoding is None else decode(request.body, encoding)
        if isinstance(body, Reply):
            return body
        operation = TARGETS.get(headers.get(b"x-amz-target", b""))
        unsigned = check_signed(request, content_type) if self._checks_signatures else None
        if operation is not None and unsigned is None:
            return RoutedCall(operation, body, content_type)
        if body and not _is_json(body):
            return Reply(400, _NO_JSON, content_type)
        if operation is None or unsigned is None:
            return Reply(400, _UNKNOWN_OPERATION, content_type)
        return unsigned

    def changes(self, request: Request, reply: Reply) -> bool:
        """Whether an answer is to be dressed; most are not."""
        headers = request.headers
        return b"origin" in headers or wants_encoding(reply, headers.get(b"accept-encoding"))

    def dress(self, request: Request, reply: Reply, *, encodes: bool = True) -> Reply:
        """Return an answer as the headers of its request ask for it: for an origin (CORS), in an encoding."""
        headers = request.headers
        origin = headers.get(b"origin")
        if origin is not None and self._callers.allows(origin):
            reply = self._callers.allow(reply, origin)
        accept_encoding = headers.get(b"accept-encoding")
        return encode(reply, accept_encoding) if encodes else reply

    def _route_other(self, request: Request) -> MetricsCall | Reply:
        path = _path(request.url)
        if request.method in (b"GET", b"HEAD"):
            # Only here is it the service that is healthy (ScyllaDB's test_health.py, run against it).
            if path == b"/":
                return UNHEALTHY if self._has_trouble() else self._healthy
            return METRICS if path == b"/metrics" else NOT_FOUND
        origin = request.headers.get(b"origin")
        if request.method == b"OPTIONS" and origin is not None and self._callers.allows(origin):
            return preflight(request)
        return NOT_FOUND


def _path(url: bytes) -> bytes:
    _, is_whole, rest = url.partition(b"://")
    if is_whole and not url.startswith(b"/"):  # as it is sent through a proxy (RFC 9112, 3.2.2)
        url = b"/" + rest.partition(b"?")[0].partition(b"/")[2]
    return url.partition(b"?")[0]


def _is_long(request: Request) -> bool:
    if b"content-encoding" in request.headers and is_long_to_decode(request.body):
        return True
    return len(request.body) > _READ_AT_ONCE_BYTES_MAX


def _is_json(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True
