"""HTTP answers as bytes: the status line, the headers that AWS sends, the body.

Knows nothing of sockets or of the database.
"""

from __future__ import annotations

import http
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

try:
    from isal.isal_zlib import crc32  # ten times as fast: it counts for a page of items
except ImportError:
    from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable

    from singletable.clock import Clock

AMZ_JSON: Final = b"application/x-amz-json-1.0"
PLAIN_JSON: Final = b"application/json"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in http.HTTPStatus
}
_ID_LENGTH: Final = 52
_IDS_AT_ONCE: Final = 256
_ID_LETTERS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUV" * 8  # one for every byte
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(slots=True)
class Reply:
    """An answer before it is written: no connection, no request id yet."""

    status: int
    body: bytes
    content_type: bytes | None = AMZ_JSON
    headers: bytes = b""  # more header lines, each with its line end


def error_reply(status: int, code: str, message: str, *, content_type: bytes = AMZ_JSON) -> Reply:
    """Shape an error below the operations the way the service shapes those (AWS reference, "Common Errors").

    The code and message are our own constants: nothing in them needs escaping.
    """
    text = f'{{"__type":"com.amazon.coral.service#{code}","message":"{message}"}}'
    return Reply(status, text.encode(), content_type)


# The answer of the service when it sheds load in front of its tables: the type as dynalite's test helpers match
# it, the message of the developer guide ("Error handling"). Of the errors for this it is the one that every retry
# mode of every SDK repeats; botocore's legacy mode, the default, does not repeat a RequestLimitExceeded of 400.
TOO_MANY_REQUESTS: Final = Reply(
    400,
    b'{"__type":"com.amazon.coral.availability#ThrottlingException",'
    b'"message":"Rate of requests exceeds the allowed throughput."}',
)


class ReplyWriter:
    """Turns replies into bytes. One serves all connections of a server."""

    __slots__ = ("_clock", "_date_line", "_date_s", "_ids", "_random_bytes")

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._ids: list[bytes] = []
        self._date_s = -1
        self._date_line = b""

    def head(self, reply: Reply, request_id: bytes, *, keep_alive: bool) -> bytes:
        """Return everything of an answer that comes before its body."""
        body = reply.body
        # SDKs check the body with x-amz-crc32.
        return b"%b%bx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\nContent-Length: %d\r\n%b\r\n" % (
            _first_lines(reply.status, reply.content_type, keep_alive),
            self._date(),
            request_id,
            crc32(body),
            len(body),
            reply.headers,
        )

    def new_id(self) -> bytes:
        """Return 52 characters of 0-9 and A-V, as in the developer guide's "Error handling"."""
        if not self._ids:
            # Many at once: to ask the system for randomness costs more than all else that an answer needs.
            random = self._random_bytes(_IDS_AT_ONCE * _ID_LENGTH).translate(_ID_LETTERS)
            self._ids = [random[at : at + _ID_LENGTH] for at in range(0, len(random), _ID_LENGTH)]
        return self._ids.pop()

    def _date(self) -> bytes:
        now_s = self._clock.now_us() // 1_000_000
        if now_s != self._date_s:
            self._date_s = now_s
            self._date_line = _date_header(now_s)
        return self._date_line


@lru_cache(maxsize=256)
def _first_lines(status: int, content_type: bytes | None, keep_alive: bool) -> bytes:
    lines = [_STATUS_LINES[status], b"Server: singletable\r\n"]
    lines.append(b"Connection: keep-alive\r\n" if keep_alive else b"Connection: close\r\n")
    if content_type is not None:
        lines.append(b"Content-Type: %b\r\n" % content_type)
    return b"".join(lines)


def _date_header(at_s: int) -> bytes:
    # Not strftime: its names of days and months follow the locale, HTTP's do not.
    at = time.gmtime(at_s)
    weekday, month = _WEEKDAYS[at.tm_wday], _MONTHS[at.tm_mon - 1]
    clock_time = f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
    return f"Date: {weekday}, {at.tm_mday:02} {month} {at.tm_year} {clock_time} GMT\r\n".encode()
