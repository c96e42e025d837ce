"""The log of a server: written behind its back, and left out where nobody reads it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from singletable.cli.serving import background_log
from support.serving import TIMEOUT_S


class Reader(logging.Handler):
    """Takes lines as somebody does who may not be reading."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = threading.Event()
        self.is_asked = threading.Event()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.is_asked.set()
        assert self.reads.wait(TIMEOUT_S)
        self.lines.append(record.getMessage())


@contextmanager
def new_log() -> Iterator[logging.Logger]:
    """Give the log as it is in a new process, without the handlers of the tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield root
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_lines_are_written_in_their_order_and_before_the_end() -> None:
    reader = Reader()
    reader.reads.set()
    with new_log() as log, background_log(reader, logging.WARNING):
        log.warning("first %s", 1)
        log.info("nobody wants this")
        log.error("second")
    assert reader.lines == ["first 1", "second"]


def test_lines_that_nobody_reads_hold_up_nobody_and_are_counted() -> None:
    reader = Reader()
    with new_log() as log, background_log(reader, logging.WARNING):
        log.warning("line")
        assert reader.is_asked.wait(TIMEOUT_S)
        for _ in range(1500):  # the queue holds a thousand
            log.warning("line")
        reader.reads.set()
        while len(reader.lines) < 1001:
            pass
        log.warning("last")
    assert reader.lines[:1001] == ["line"] * 1001
    assert reader.lines[1001:] == ["last (500 lines before this one were left out)"]
