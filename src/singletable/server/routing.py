"""Which operation a request asks for, or the answer it gets without one. Pure: no socket, no database.

The order of the checks and the bodies of the answers are those of the service, as the tests of dynalite
recorded them from it ("dynalite connections"). Signatures are not looked at: any credentials do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from singletable.server.encoding import decode
from singletable.server.replies import AMZ_JSON, PLAIN_JSON, Reply

if TYPE_CHECKING:
    from singletable.server.reader import Request

# The trailing space is the service's own.
HEALTHY: Final = Reply(200, b"healthy: dynamodb.us-east-1.amazonaws.com ", None)
NOT_FOUND: Final = Reply(404, b"<UnknownOperationException/>\n", None)

_DYNAMODB: Final = b"DynamoDB_20120810"
# The names of DynamoDB Streams are other names than those of DynamoDB: one table of operations serves both.
_STREAMS: Final = b"DynamoDBStreams_20120810"
_STREAMS_OPERATIONS: Final = frozenset(
    (b"DescribeStream", b"GetRecords", b"GetShardIterator", b"ListStreams")
)
_UNKNOWN_OPERATION: Final = b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'
_NO_JSON: Final = b'{"__type":"com.amazon.coral.service#SerializationException"}'


@dataclass(frozen=True, slots=True)
class Call:
    """An operation to be answered by the database."""

    operation: str
    body: bytes
    content_type: bytes


def route(request: Request) -> Call | Reply:
    """Decide what a request asks for."""
    if request.method == b"POST":
        return _route_post(request)
    if request.method in (b"GET", b"HEAD"):
        return HEALTHY
    return NOT_FOUND


def _route_post(request: Request) -> Call | Reply:
    declared = request.headers.get(b"content-type", b"").partition(b";")[0].strip()
    if request.body and declared not in (AMZ_JSON, PLAIN_JSON):
        return NOT_FOUND
    content_type = AMZ_JSON if declared == AMZ_JSON else PLAIN_JSON
    encoding = request.headers.get(b"content-encoding")
    body = request.body if encoding is None else decode(request.body, encoding)
    if isinstance(body, Reply):
        return body
    service, _, operation = request.headers.get(b"x-amz-target", b"").partition(b".")
    # An operation is looked up by a name of letters; anything else cannot be one.
    if (service == _DYNAMODB and operation.isalpha()) or (
        service == _STREAMS and operation in _STREAMS_OPERATIONS
    ):
        return Call(operation.decode(), body, content_type)
    return _unknown(body, content_type)


def _unknown(body: bytes, content_type: bytes) -> Reply:
    if body:
        try:
            orjson.loads(body)
        except orjson.JSONDecodeError:
            return Reply(400, _NO_JSON, content_type)
    return Reply(400, _UNKNOWN_OPERATION, content_type)
