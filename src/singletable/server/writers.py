"""Writes in groups: all that wait are carried out together, with one COMMIT.

In memory a group is what arrived in one turn of the event loop. On a disk it is what arrived while the group
before it was written: a COMMIT waits for the disk, so that is done in a thread, and the loop goes on reading.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from singletable.limits import WRITE_GROUP_MAX

if TYPE_CHECKING:
    from singletable.server.answering import Answering
    from singletable.wire.answers import WaitingWrite, WireAnswer

Written = Callable[["WireAnswer | Exception"], None]


class _Entry(NamedTuple):
    write: WaitingWrite
    written: Written


class Writer(Protocol):
    """Carries out writes, and tells each on the event loop when it is committed."""

    def add(self, write: WaitingWrite, written: Written) -> None: ...

    def close(self) -> None:
        """Carry out everything that was added, and end. Not called on the event loop."""
        ...


class WriterOnLoop:
    """Writes at the end of a turn of the event loop, on the loop itself."""

    def __init__(self, database: Answering, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop
        self._waiting: list[_Entry] = []

    def add(self, write: WaitingWrite, written: Written) -> None:
        if not self._waiting:
            self._loop.call_soon(self._write)
        self._waiting.append(_Entry(write, written))

    def close(self) -> None:
        pass  # what was added is written before the loop does anything else

    def _write(self) -> None:
        group, self._waiting = self._waiting, []
        _deliver(group, _answers(self._database, group))


class WriterThread:
    """Writes in a thread of its own."""

    def __init__(self, database: Answering, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="singletable-writer", daemon=True)
        self._thread.start()

    def add(self, write: WaitingWrite, written: Written) -> None:
        self._queue.put(_Entry(write, written))

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first]
            while len(group) < WRITE_GROUP_MAX and not self._queue.empty():
                entry = self._queue.get_nowait()
                if entry is None:
                    self._queue.put(None)
                    break
                group.append(entry)
            answers = _answers(self._database, group)
            self._loop.call_soon_threadsafe(_deliver, group, answers)


def _answers(database: Answering, group: Sequence[_Entry]) -> Sequence[WireAnswer | Exception]:
    try:
        return database.answer_writes([entry.write for entry in group])
    except Exception as failure:
        return [failure] * len(group)


def _deliver(group: Sequence[_Entry], answers: Sequence[WireAnswer | Exception]) -> None:
    for entry, answer in zip(group, answers, strict=True):
        entry.written(answer)
