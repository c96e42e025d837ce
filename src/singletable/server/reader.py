"""From bytes to HTTP requests, with a bound on everything that a client can make us keep.

Knows nothing of sockets: bytes go in, complete requests and at most one final refusal come out.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import httptools

from singletable.limits import KIB, REQUEST_BYTES_MAX
from singletable.server.budget import Budget, Cut
from singletable.server.replies import TOO_MANY_REQUESTS, Reply, error_reply

# The service takes 16 KB of path and headers together, and answers 400 to more (ScyllaDB's issue 23438 and pull
# request 23442 of 2025, whose tests were run against it; what the body of that answer says they do not tell, nor
# whether line ends count: here a header counts as it is sent).
HEAD_BYTES_MAX: Final = 16 * KIB
# Bytes that may arrive without progress: a head with its method, trailers, chunk extensions, blank lines.
_STUCK_BYTES_MAX: Final = HEAD_BYTES_MAX + 1 * KIB
# Every connection may hold a body of this size; larger bodies are counted over all connections.
UNCOUNTED_BODY_BYTES: Final = 64 * KIB
_TOO_LARGE_DIGITS_MIN: Final = len(str(REQUEST_BYTES_MAX))
_WAITING_REQUEST_BYTES: Final = 1 * KIB  # memory of a request beside its body, about
_HEADER_EXTRA_BYTES: Final = len(b": \r\n")

_KEPT_HEADERS: Final = (
    *(
        b"Host",
        b"X-Amz-Target",
        b"X-Amz-Date",
        b"Authorization",
        b"Date",
        b"Content-Type",
        b"Content-Encoding",
    ),
    *(b"Content-Length", b"Accept-Encoding", b"Transfer-Encoding", b"Expect", b"Origin"),
    *(b"Access-Control-Request-Headers", b"Access-Control-Request-Method"),
    b"Access-Control-Request-Private-Network",
)
_USUAL_HEADERS: Final = (
    b"User-Agent",
    b"Accept",
    b"Connection",
    b"amz-sdk-invocation-id",
    b"amz-sdk-request",
)
# By the two ways in which nearly all clients write them; others are lowered first. Empty: it is not kept.
_KNOWN_HEADERS: Final = {
    **dict.fromkeys(_USUAL_HEADERS, b""),
    **{name.lower(): b"" for name in _USUAL_HEADERS},
    **{name: name.lower() for name in _KEPT_HEADERS},
    **{name.lower(): name.lower() for name in _KEPT_HEADERS},
}


_ABSOLUTE_URL: Final = re.compile(rb"https?://(?:[^/?#@]*@)?([^/?#]*)", re.IGNORECASE).match


@dataclass(slots=True)
class Request:
    """One complete HTTP request; of its headers only those that change the answer, names in lower case."""

    method: bytes
    url: bytes
    headers: dict[bytes, bytes]
    body: bytes
    keep_alive: bool
    held_bytes: int = 0  # that are to be given back to the budget when it has been answered


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to bytes that make further reading impossible: the last one of the connection."""

    reply: Reply


MALFORMED: Final = Refusal(
    error_reply(400, "MalformedHttpRequestException", "The request could not be read as HTTP/1.1")
)
# RFC 9112, 3.2. A proxy in front of the server might use the other one.
NOT_ONE_HOST: Final = Refusal(
    error_reply(400, "MalformedHttpRequestException", "A request of HTTP/1.1 has one Host header")
)
HEAD_TOO_LARGE: Final = Refusal(
    error_reply(400, "MalformedHttpRequestException", f"The request head exceeds {HEAD_BYTES_MAX} bytes")
)
# Verified against the service by the authors of dynalite and Alternator: 413 above 16 MB, whether the length
# is announced or the body chunked. The type is that of "Common Errors" in the AWS reference.
BODY_TOO_LARGE: Final = Refusal(
    error_reply(413, "RequestEntityTooLargeException", f"The request exceeds {REQUEST_BYTES_MAX} bytes")
)
TOO_MANY_BODIES: Final = Refusal(TOO_MANY_REQUESTS)


class _StoppedError(Exception):
    """Tells the parser not to read the rest."""


class RequestReader:
    """Reads the requests of one connection, pipelined ones too."""

    __slots__ = (
        "_body",
        "_budget",
        "_counted_bytes",
        "_cut",
        "_head_bytes",
        "_headers",
        "_in_body",
        "_parser",
        "_steps",
        "_stuck_bytes",
        "_upgrading",
        "_url",
        "awaits_continue",
        "begun",
        "body_bytes",
        "finished",
        "is_midway",
        "ready",
        "ready_bytes",
    )

    def __init__(self, budget: Budget, cut: Cut) -> None:
        self.ready: deque[Request | Refusal] = deque()
        self.ready_bytes = 0
        self.is_midway = False  # in a request that has begun to arrive
        self.begun = 0  # so many requests have begun to arrive
        self.body_bytes = 0  # so much has arrived of the body of the last of them
        self._budget = budget
        self._cut = cut
        self._counted_bytes = 0
        # The client holds its body back until it is told to go on.
        self.awaits_continue = False
        # Nothing that arrives from now on will be read.
        self.finished = False
        self._parser: Any = httptools.HttpRequestParser(self)
        self._steps = 0
        self._stuck_bytes = 0
        self._url = b""
        self._head_bytes = 0
        self._headers: dict[bytes, bytes] = {}
        self._body: bytes | bytearray = b""
        self._in_body = False
        self._upgrading = False

    def feed(self, data: bytes) -> None:
        """Take in bytes that arrived; complete requests are then in `ready`."""
        steps_before = self._steps
        try:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                self._decline_upgrades(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            # Also raised for bytes behind a refusal, or a request with "Connection: close": those are dropped.
            self._refuse(MALFORMED)
            return
        if self._steps != steps_before:
            self._stuck_bytes = 0
            return
        self._stuck_bytes += len(data)
        if self._stuck_bytes > _STUCK_BYTES_MAX:
            self._refuse(HEAD_TOO_LARGE)

    def take(self) -> Request | Refusal:
        """Remove the oldest request from `ready`."""
        taken = self.ready.popleft()
        if isinstance(taken, Request):
            self.ready_bytes -= len(taken.body)
        return taken

    def close(self) -> None:
        """Read no more, drop the bytes that have arrived, and give their room back."""
        self._budget.release(self._cut)
        for arrived in self.ready:
            if isinstance(arrived, Request):
                self._budget.give(arrived.held_bytes)
        self.ready.clear()
        self.finished = True
        # The parser knows this reader, and this reader the parser: without that, both go at once, with the body.
        self._body = b""
        self._headers = {}
        self._url = b""
        self._parser = None
        self._cut = _nothing

    # --- a protocol upgrade is not accepted, and must not lose the request ------------------

    def _decline_upgrades(self, rest: bytes) -> None:
        while self._decline_upgrade():
            try:
                self._parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]

    def _decline_upgrade(self) -> bool:
        """Read the head again without its offer; return whether more is to be read."""
        # Java's own HTTP client and `curl --http2` offer "Upgrade: h2c" with every request. A server may
        # ignore the offer (RFC 9110, 7.8), but the parser stops at the end of the head and takes the body
        # for the new protocol. So the head is given, without the offer, to a new parser.
        method = self._parser.get_method()
        if method == b"CONNECT":
            self._refuse(MALFORMED)
        if self.finished:
            return False
        head = [b"%b %b HTTP/1.1\r\n" % (method, self._url)]
        head += [b"%b: %b\r\n" % header for header in self._headers.items()]
        if not self._parser.should_keep_alive():
            head.append(b"Connection: close\r\n")
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"".join([*head, b"\r\n"]))
        return not self.finished

    # --- callbacks of the parser -------------------------------------------------------------

    def on_message_begin(self) -> None:
        self.is_midway = True
        self.begun += 1
        self._counted_bytes = 0
        self._url = b""
        self._head_bytes = 0
        self._headers = {}
        self.body_bytes = 0
        self._upgrading = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        # A trailer behind a chunked body is no header: it may not name the operation.
        if self._in_body:
            return
        self._head_bytes += len(name) + len(value) + _HEADER_EXTRA_BYTES
        known = _KNOWN_HEADERS.get(name)
        if known is None:
            known = _KNOWN_HEADERS.get(name.lower())
        if known and self._headers.setdefault(known, value) is not value:
            self._repeat_header(known, value)

    def _repeat_header(self, name: bytes, value: bytes) -> None:
        if name == b"host":
            self._stop(NOT_ONE_HOST)
        # Of several Accept-Encoding headers the service looks at the first (ScyllaDB's test_compressed_response.py
        # of 2026; a note of 2025 in the same file says the last).
        elif name != b"accept-encoding":
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        self._steps += 1
        if self._head_bytes + len(self._url) > HEAD_BYTES_MAX:
            self._stop(HEAD_TOO_LARGE)
        if self._parser.should_upgrade():
            self._upgrading = True
            return
        if self._url != b"/" and not self._url.startswith(b"/"):
            self._take_authority()
        if b"host" not in self._headers and self._parser.get_http_version() != "1.0":
            self._stop(NOT_ONE_HOST)
        self._in_body = True
        length = self._headers.get(b"content-length", b"")
        if len(length) >= _TOO_LARGE_DIGITS_MIN and int(length) > REQUEST_BYTES_MAX:
            self._stop(BODY_TOO_LARGE)
        elif b"expect" in self._headers and self._headers[b"expect"].lower() == b"100-continue":
            self.awaits_continue = self._parser.get_http_version() != "1.0"

    def _take_authority(self) -> None:
        # A whole URL, as it is sent through a proxy: its host counts, not that of the header (RFC 9112, 3.2.2).
        absolute = _ABSOLUTE_URL(self._url)
        if absolute is not None:
            self._headers[b"host"] = absolute[1]

    def on_body(self, data: bytes) -> None:
        self._steps += 1
        self.awaits_continue = False
        self.body_bytes += len(data)
        if self.body_bytes > REQUEST_BYTES_MAX:
            self._stop(BODY_TOO_LARGE)
        elif self.body_bytes > UNCOUNTED_BODY_BYTES and not self._hold():
            self._stop(TOO_MANY_BODIES)
        elif self._body:
            # One buffer, not a list: a body may come in sixteen million chunks of one byte.
            self._body = self._body if isinstance(self._body, bytearray) else bytearray(self._body)
            self._body += data
        else:
            self._body = data

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._steps += 1
        self._in_body = False
        self.awaits_continue = False
        body = bytes(self._body)
        keep_alive = self._parser.should_keep_alive()
        if self.ready:  # it waits behind another, and is counted, however small it is
            self._counted_bytes = max(self._counted_bytes, 1)
            if not self._budget.take(len(body) + self._head_bytes + _WAITING_REQUEST_BYTES, self._cut):
                self._stop(TOO_MANY_BODIES)
        held_bytes = self._budget.settle(self._cut) if self._counted_bytes else 0
        self.ready.append(
            Request(self._parser.get_method(), self._url, self._headers, body, keep_alive, held_bytes)
        )
        self.ready_bytes += len(body)
        self.finished = not keep_alive
        self.is_midway = False
        self._body = b""

    def _hold(self) -> bool:
        wanted = self.body_bytes - self._counted_bytes
        self._counted_bytes = self.body_bytes
        return self._budget.take(wanted, self._cut)

    def _stop(self, refusal: Refusal) -> NoReturn:
        """Refuse, and stop the parser in the middle of its input; `feed` catches the error that this raises."""
        self._refuse(refusal)
        raise _StoppedError

    def _refuse(self, refusal: Refusal) -> None:
        if not self.finished:
            self.ready.append(refusal)
        self.finished = True
        self.is_midway = False
        self.awaits_continue = False
        self._budget.release(self._cut)
        self._body = b""


def _nothing() -> None:
    pass
