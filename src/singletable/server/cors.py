"""Requests from pages of other origins: what a browser asks for before it lets a page call the server.

The service allows every origin, and echoes the headers and the method that a page asks for (recorded by dynalite,
"should set CORS if OPTIONS and Origin …"). The list of exposed headers is the service's own too (ScyllaDB's
alternator/server.cc and test_cors.py, which was run against it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from singletable.server.replies import Reply

if TYPE_CHECKING:
    from singletable.server.reader import Request

_ANY_ORIGIN: Final = (
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date\r\n"
)
_MAX_AGE: Final = b"Access-Control-Max-Age: 172800\r\n"
_ECHOED: Final = (
    (b"access-control-request-headers", b"Access-Control-Allow-Headers"),
    (b"access-control-request-method", b"Access-Control-Allow-Methods"),
)


def allow_origin(reply: Reply) -> Reply:
    """Return an answer that a page of another origin may read."""
    return Reply(reply.status, reply.body, reply.content_type, reply.headers + _ANY_ORIGIN)


def preflight(request: Request) -> Reply:
    """Answer the OPTIONS request that a browser sends ahead; its Origin is known to be there."""
    lines = [
        b"%b: %b\r\n" % (allowed, request.headers[asked])
        for asked, allowed in _ECHOED
        if request.headers.get(asked)
    ]
    return Reply(200, b"", None, b"".join([*lines, _MAX_AGE]))
