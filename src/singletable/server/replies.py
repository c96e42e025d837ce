"""HTTP answers as bytes: the status line, the headers that AWS sends, the body.

Knows nothing of sockets or of the database.
"""

from __future__ import annotations

import http
import time
import zlib
from base64 import b32hexencode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from singletable.clock import Clock

AMZ_JSON: Final = b"application/x-amz-json-1.0"
PLAIN_JSON: Final = b"application/json"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in http.HTTPStatus
}
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
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


class ReplyWriter:
    """Turns replies into bytes. One serves all connections of a server."""

    __slots__ = ("_clock", "_date_line", "_date_s", "_random_bytes")

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._date_s = -1
        self._date_line = b""

    def render(self, reply: Reply, *, keep_alive: bool, head_only: bool = False) -> bytes:
        """Return the complete answer, ready to be sent."""
        # 52 characters of 0-9 and A-V, like "LDM6CJP8RMQ1FHKSC1RBVJFPNVV4KQNSO5AEMF66Q9ASUAAJG…" of the
        # developer guide's "Error handling". x-amz-crc32 is what SDKs check the body with.
        request_id = b32hexencode(self._random_bytes(32))[:52]
        parts = [
            _STATUS_LINES[reply.status],
            b"Server: singletable\r\n",
            self._date(),
            b"Connection: keep-alive\r\n" if keep_alive else b"Connection: close\r\n",
            b"x-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n" % (request_id, zlib.crc32(reply.body)),
            b"Content-Length: %d\r\n" % len(reply.body),
        ]
        if reply.content_type is not None:
            parts.append(b"Content-Type: %b\r\n" % reply.content_type)
        parts.append(reply.headers)
        parts.append(b"\r\n")
        if not head_only:
            parts.append(reply.body)
        return b"".join(parts)

    def _date(self) -> bytes:
        now_s = self._clock.now_us() // 1_000_000
        if now_s != self._date_s:
            self._date_s = now_s
            self._date_line = _date_header(now_s)
        return self._date_line


def _date_header(at_s: int) -> bytes:
    # Not strftime: its names of days and months follow the locale, HTTP's do not.
    at = time.gmtime(at_s)
    weekday, month = _WEEKDAYS[at.tm_wday], _MONTHS[at.tm_mon - 1]
    clock_time = f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
    return f"Date: {weekday}, {at.tm_mday:02} {month} {at.tm_year} {clock_time} GMT\r\n".encode()
