"""A log that holds up nobody: lines are written by a thread of their own, and left out when nobody reads them."""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from typing import Any, Final

_WAITING_LINES_MAX: Final = 1_000


class _Dropping(QueueHandler):
    """Puts lines into a queue; what comes when that is full is counted, and told with the next line."""

    def __init__(self, waiting: queue.Queue[Any]) -> None:
        super().__init__(waiting)
        self._dropped = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record  # it stays in this process: the handler formats it

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            if self._dropped:
                record.msg = f"{record.getMessage()} ({self._dropped} lines before this one were left out)"
                record.args = None
            self.queue.put_nowait(record)
            self._dropped = 0
        except queue.Full:
            self._dropped += 1


@contextmanager
def background_log(handler: logging.Handler, level: int) -> Iterator[None]:
    """Give all lines of the log to a handler, in a thread, for as long as the block lasts."""
    waiting: queue.Queue[Any] = queue.Queue(_WAITING_LINES_MAX)
    listener = QueueListener(waiting, handler)
    logging.basicConfig(level=level, handlers=[_Dropping(waiting)])
    listener.start()
    try:
        yield
    finally:
        _stop(listener, waiting)


def _stop(listener: QueueListener, waiting: queue.Queue[Any]) -> None:
    """Write what still waits; a reader that does not read is not waited for."""
    thread: Any = listener._thread
    try:
        waiting.put_nowait(None)  # how a listener is told to end
    except queue.Full:
        return
    thread.join(2.0)
