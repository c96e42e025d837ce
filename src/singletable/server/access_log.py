"""One line for each answered request, as text for people or as JSON for programs.

A line names the request and its outcome, without values of items and without signatures; the id of the access key
is no secret. A thread of its own writes whole lines in order, so that a slow reader holds up no request. Lines
that are too many for the reader are dropped, and the log says how many. When the reader has gone, the log ends,
and the server goes on.
"""

from __future__ import annotations

import os
import re
import select
import threading
import time
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import orjson

from singletable.limits import KIB
from singletable.server.routing import TARGETS
from singletable.server.signing import access_key_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from singletable.clock import Clock
    from singletable.server.reader import Request
    from singletable.server.replies import Reply

LogStyle = Literal["text", "json"]

WAITING_LINES_MAX: Final = 10_000
_LINES_PER_WRITE_MAX: Final = 200
_CLOSE_S_MAX: Final = 2.0  # how long a reader that does not read can hold up the end of the server

# A request that names one table names it near its beginning, or it goes without.
_LOOKED_AT_BYTES_MAX: Final = 4 * KIB
_TABLE: Final = re.compile(rb'"TableName"\s*:\s*"([A-Za-z0-9_.:/-]{1,1024})"').search
_OF_SEVERAL_TABLES: Final = ("Batch", "Transact", "Execute")
_ERROR: Final = re.compile(rb'\{"__type":"(?:[^"#]*#)?(\w+)"').match


class Line(NamedTuple):
    """One request as the log shows it."""

    time: str
    request_id: str
    remote: str
    access_key: str | None
    method: str | None  # None: the bytes were no HTTP
    path: str | None
    operation: str | None
    table: str | None
    status: int
    error: str | None
    bytes_in: int
    bytes_out: int
    duration_ms: float


class AccessLog:
    """Writes the lines of one server to a file descriptor, usually that of stderr.

    Start it before the first `record`; close it after the last: that writes the waiting lines.
    """

    def __init__(self, file_number: int, style: LogStyle, clock: Clock) -> None:
        self._file_number = file_number
        self._render: Callable[[Line], bytes] = _as_json if style == "json" else _as_text
        self._style = style
        self._clock = clock
        self._waiting: deque[Line] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._closing = False
        self._is_read = True  # until writing fails
        self._thread = threading.Thread(target=self._write_all, name="singletable-log", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write the waiting lines, then end; do not wait long for a reader that does not read."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_S_MAX)

    def record(
        self,
        request: Request | None,
        reply: Reply,
        *,
        request_id: str,
        remote: str,
        bytes_out: int,
        duration_s: float,
    ) -> None:
        """Note one answer; the reply is the one before it was compressed. Never blocks, never raises."""
        line = _line(
            request, reply, time_text(self._clock.now_us()), request_id, remote, bytes_out, duration_s
        )
        with self._changed:
            if len(self._waiting) >= WAITING_LINES_MAX or not self._is_read:
                self._dropped += 1
                return
            self._waiting.append(line)
            self._changed.notify()

    def _write_all(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                count = min(len(self._waiting), _LINES_PER_WRITE_MAX)
                lines = [self._waiting.popleft() for _ in range(count)]
                dropped, self._dropped = self._dropped, 0
            rendered = b"".join(map(self._render, lines))
            if dropped:
                rendered += self._render_dropped(dropped)
            try:
                _write(self._file_number, rendered)
            except OSError:
                with self._changed:
                    self._is_read = False
                    self._waiting.clear()
                return

    def _render_dropped(self, count: int) -> bytes:
        at = time_text(self._clock.now_us())
        if self._style == "json":
            return orjson.dumps({"time": at, "dropped_lines": count}) + b"\n"
        return f"{at} {count} lines were left out: they came faster than they were read\n".encode()


def _write(file_number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(file_number, rest) :]
        except BlockingIOError:  # a terminal that another program has set so
            select.select((), (file_number,), ())


# --- a line ----------------------------------------------------------------------------------------------


def _line(
    request: Request | None,
    reply: Reply,
    at: str,
    request_id: str,
    remote: str,
    bytes_out: int,
    duration_s: float,
) -> Line:
    error = _ERROR(reply.body) if reply.status >= 400 else None
    operation = None if request is None else TARGETS.get(request.headers.get(b"x-amz-target", b""))
    return Line(
        time=at,
        request_id=request_id,
        remote=remote,
        access_key=None if request is None else access_key_id(request),
        method=None if request is None else _visible(request.method),
        # Without the query, which may hold a signature.
        path=None if request is None else _visible(request.url.partition(b"?")[0]),
        operation=operation,
        table=None if request is None or operation is None else _table(operation, request.body),
        status=reply.status,
        error=error[1].decode() if error else None,
        bytes_in=0 if request is None else len(request.body),
        bytes_out=bytes_out,
        duration_ms=round(duration_s * 1000, 3),
    )


def _table(operation: str, body: bytes) -> str | None:
    if operation.startswith(_OF_SEVERAL_TABLES):
        return None
    named = _TABLE(body, 0, _LOOKED_AT_BYTES_MAX)
    return named[1].decode().rpartition("table/")[2] if named else None


def time_text(at_us: int) -> str:
    """Write a time as the log writes it: UTC, to the millisecond."""
    at_s, rest_us = divmod(at_us, 1_000_000)
    return f"{_second(at_s)}.{rest_us // 1000:03}Z"


@lru_cache(maxsize=4)
def _second(at_s: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))


def _as_json(line: Line) -> bytes:
    return orjson.dumps(line._asdict()) + b"\n"


def _as_text(line: Line) -> bytes:
    asked = line.operation or f"{line.method or '-'} {line.path or '-'}"
    words = [
        line.time,
        line.remote,
        asked,
        line.table or "-",
        str(line.status),
        line.error or "-",
        f"{line.bytes_in}/{line.bytes_out} bytes",
        f"{line.duration_ms} ms",
        line.request_id,
    ]
    return " ".join(words).encode() + b"\n"


def _visible(sent: bytes) -> str:
    # Bytes from a client must not end the line, nor control the terminal that shows it.
    return sent.translate(_VISIBLE).decode("ascii")


_VISIBLE: Final = bytes(code if 32 <= code < 127 else ord("?") for code in range(256))
