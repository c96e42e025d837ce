"""HTTP that went wrong, or that is right in a way nobody expects. A stream is cut into pieces anywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from resilience.torture.operations import EXAMPLES
from support.serving import SIGNATURE, call, post

HEALTH: Final = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIST_TABLES: Final = call("ListTables", {"Limit": 1})
_AMZ: Final = (
    "X-Amz-Target: DynamoDB_20120810.ListTables",
    "Content-Type: application/x-amz-json-1.0",
    *SIGNATURE,
)

# What HTTP is made of, and what is nearly that.
TOKENS: Final = (
    *(
        b"GET",
        b"POST",
        b"HEAD",
        b"OPTIONS",
        b"CONNECT",
        b"PRI",
        b"get",
        b"TRACE",
        b"M-SEARCH",
        b"\x16\x03\x01",
    ),
    *(b" / ", b" ", b"  ", b"\t", b" * ", b" http://test/ ", b"/%00", b"/" + b"a" * 3000),
    *(b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.11", b"http/1.1", b"ICE/1.0"),
    *(b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b"\r\r\n", b"\x00", b"\xff", b":", b": "),
    *(b"Host: localhost\r\n", b"Content-Length: 2\r\n", b"Content-Length: 99999999999999999999\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n"),
    *(b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Upgrade: websocket\r\n", b"Content-Encoding: gzip\r\n"),
    *(b"X-Amz-Target: DynamoDB_20120810.ListTables\r\n", b"Content-Type: application/x-amz-json-1.0\r\n"),
    *(
        SIGNATURE[0].encode() + b"\r\n",
        b"X-Amz-Date: 20261115T120000Z\r\n",
        b"{}",
        b"0\r\n\r\n",
        b"2\r\n{}\r\n",
    ),
    *(b"ffffffffffffffff\r\n", b"-1\r\n", b"2;a=b\r\n", HEALTH, LIST_TABLES),
)


@st.composite
def noise(draw: DrawFn) -> bytes:
    """Bytes of any kind, and the words of HTTP in any order."""
    pieces = draw(st.lists(st.sampled_from(TOKENS) | st.binary(max_size=30), max_size=12))
    return b"".join(pieces)


HEADER_LINES: Final = (
    *(
        "Content-Length: 0",
        "Content-Length: 3",
        "Content-Length: -1",
        "Content-Length: +2",
        "Content-Length: 2, 2",
    ),
    *(
        "Content-Length: 0x2",
        "Content-Length: 2 2",
        "Content-Length:",
        "Content-Length : 2",
        " Content-Length: 2",
    ),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Transfer-Encoding: xchunked"),
    *(
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding : chunked",
    ),
    *("Transfer-Encoding:\tchunked", "transfer-encoding: CHUNKED", "Transfer-Encoding: chunked\r\n identity"),
    *("Expect: 100-continue", "Expect: the unexpected", "Connection: close", "Connection: keep-alive, close"),
    *("Connection: Upgrade\r\nUpgrade: h2c", "Upgrade: websocket", "Connection: \xff", "Host: other"),
    *(
        "X-Amz-Target: DynamoDB_20120810.GetItem",
        "X-Amz-Target:",
        "x-amz-target: \xff",
        "Content-Type: text/html",
    ),
    *("Content-Type: application/json; charset=latin-1", "Content-Encoding: gzip", "Content-Encoding: br"),
    *(
        "Authorization: Basic YTpi",
        "Authorization:",
        "X-Amz-Date: yesterday",
        "Date: \x80",
        "Origin: http://x",
    ),
    *(
        "Access-Control-Request-Headers: x-amz-target",
        "X: " + "y" * 9000,
        "X" * 9000 + ": y",
        "no colon",
        ": no name",
    ),
    *(
        "X: a\r\n\tb",
        "X: a\x00b",
        "X\x00: a",
        "X: \x7f",
        "Range: bytes=0-1",
        "Accept-Encoding: gzip;q=0, *",
        "Accept-Encoding: gzip",
        "Access-Control-Request-Method: \xff",
    ),
)


@st.composite
def wrong_requests(draw: DrawFn) -> bytes:
    """One to three requests, once valid, with lines put in, taken out and moved, and bytes changed."""
    return b"".join(draw(st.lists(_wrong_request(), min_size=1, max_size=3)))


@st.composite
def _wrong_request(draw: DrawFn) -> bytes:
    operation, value = draw(st.sampled_from(EXAMPLES))
    request = call(operation, value) if draw(st.booleans()) else LIST_TABLES
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    lines = lines[draw(st.sampled_from((0, 0, 0, 1))) :]
    odd = draw(st.lists(st.sampled_from(HEADER_LINES), max_size=3))
    lines = [*lines, *(line.encode("latin-1") for line in odd)]
    line_end = draw(st.sampled_from((b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r")))
    data = line_end.join([first, *lines, b"", b""]) + body
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 3)))
        data = data[:at] + draw(st.binary(max_size=3) | st.sampled_from(TOKENS)) + data[end:]
    return data


@st.composite
def pieces_of(draw: DrawFn, data: bytes) -> list[bytes]:
    """Cut a stream in up to six places."""
    cuts = sorted(draw(st.sets(st.integers(0, len(data)), max_size=6)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


# --- right in a way nobody expects ------------------------------------------------------------------


@st.composite
def odd_chunks(draw: DrawFn, payload: bytes, *headers: str) -> bytes:
    """Send a body in chunks of any size, their sizes written in any way, with extensions and trailers."""
    head = post(b"", *headers).replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(payload) - 1)), max_size=5)))
    chunks = [payload[start:end] for start, end in zip([0, *cuts], [*cuts, len(payload)], strict=True)]
    parts = [head]
    for chunk in filter(None, chunks):
        size = draw(st.sampled_from((b"%x", b"%X", b"000%x"))) % len(chunk)
        extension = draw(st.sampled_from((b"", b";a", b";a=b", b';a="b"')))
        parts.append(size + extension + b"\r\n" + chunk + b"\r\n")
    trailers = draw(st.sampled_from((b"", b"X: y\r\n", b"X-Amz-Target: DynamoDB_20120810.DeleteTable\r\n")))
    return b"".join([*parts, b"0\r\n", trailers, b"\r\n"])


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose status is known before it is sent, and whether the connection ends with it."""

    data: bytes
    status: int
    closes: bool = False


def _api(body: bytes, status: int, *headers: str) -> Asked:
    return Asked(post(body, *headers, *SIGNATURE), status)


ASKED: Final = (
    Asked(HEALTH, 200),
    Asked(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
    Asked(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    Asked(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 400),
    Asked(LIST_TABLES, 200),
    Asked(call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "p"}, "SK": {"N": "1"}}}), 200),
    Asked(call("PutItem", {"TableName": "things", "Item": {"PK": {"S": "p"}, "SK": {"N": "1"}}}), 200),
    Asked(call("Query", {"TableName": "things"}), 400),
    Asked(call("GetItem", {"TableName": "missing", "Key": {"PK": {"S": "p"}}}), 400),
    Asked(call("GetItem", b"{"), 400),
    Asked(call("GetItem", b"\xff"), 400),
    Asked(call("NoSuchOperation", {}), 400),
    Asked(call("ListTables", b"not gzip", "Content-Encoding: gzip"), 400),
    _api(b"{}", 404, "X-Amz-Target: DynamoDB_20120810.ListTables", "Content-Type: text/plain"),
    _api(b"a=b", 404, "Content-Type: application/x-www-form-urlencoded"),
    Asked(b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    Asked(call("ListTables", {}, "Expect: 100-continue"), 200),
    Asked(call("ListTables", {}, "Connection: Upgrade", "Upgrade: h2c"), 200),
    Asked(call("ListTables", {}, "Connection: close"), 200, closes=True),
    Asked(LIST_TABLES.replace(b"HTTP/1.1", b"HTTP/1.0"), 200, closes=True),
    Asked(b"nonsense\r\n\r\n", 400, closes=True),
    Asked(call("ListTables", {}).replace(b"Content-Length: 2", b"Content-Length: -2"), 400, closes=True),
    Asked(post(b"", *_AMZ).replace(b"Length: 0", b"Length: 99999999"), 413, closes=True),
)

# --- two requests in one, for whoever stands in front of the server ----------------------------------

SMUGGLED: Final = call(
    "PutItem", {"TableName": "things", "Item": {"PK": {"S": "smuggled"}, "SK": {"N": "1"}}}
)
IS_SMUGGLED: Final = call(
    "GetItem", {"TableName": "things", "Key": {"PK": {"S": "smuggled"}, "SK": {"N": "1"}}}
)

# Each may be read in two ways (RFC 9112, 6.1 and 6.3): so it must not be read at all.
AMBIGUOUS: Final = {
    "two lengths": ("Content-Length: {length}", "Content-Length: 2"),
    "two lengths, the short one first": ("Content-Length: 2", "Content-Length: {length}"),
    "a list of lengths": ("Content-Length: 2, {length}",),
    "length and chunks": ("Content-Length: {length}", "Transfer-Encoding: chunked"),
    "chunks and length": ("Transfer-Encoding: chunked", "Content-Length: {length}"),
    "length with a sign": ("Content-Length: +2",),
    "length in hexadecimal": ("Content-Length: 0x2",),
    "length with a space": ("Content-Length: 2 2",),
    "space before the colon": ("Content-Length : 2",),
    "space before the colon of chunks": ("Transfer-Encoding : chunked", "Content-Length: 2"),
    "chunked twice": ("Transfer-Encoding: chunked, chunked",),
    "chunked not last": ("Transfer-Encoding: chunked, identity",),
    "nearly chunked": ("Transfer-Encoding: xchunked", "Content-Length: 2"),
    "chunked in two headers": (
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked",
        "Content-Length: 2",
    ),
    "chunked on the next line": ("Transfer-Encoding:\r\n chunked", "Content-Length: 2"),
    "tab in chunked": ("Transfer-Encoding: \x0bchunked", "Content-Length: 2"),
    "no length that an integer holds": ("Content-Length: 18446744073709551618",),
}


def ambiguous(name: str) -> bytes:
    """Return a request with another one in its body, framed in a way that has two readings."""
    inner = b"{}" + SMUGGLED
    chunked = b"0\r\n\r\n" + SMUGGLED
    lines = [line.format(length=len(inner)) for line in AMBIGUOUS[name]]
    head = post(b"", *_AMZ).replace(b"Content-Length: 0", "\r\n".join(lines).encode("latin-1"))
    return head + (chunked if "hunk" in name else inner)


def encoded(operation: str, value: object) -> bytes:
    """The body of an operation as it is chunked."""
    return json.dumps(value).encode()
