"""Group commit: all waiting writes are carried out together, with one COMMIT.

In memory a group is the writes of one turn of the event loop. On a disk it is the writes that arrived while the
group before was committed. Carrying out a group takes microseconds, and is done on the loop: in a thread it would
compete with the loop for the interpreter at every statement. The COMMIT waits for the disk, and is done in a
thread.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from singletable.limits import WRITE_GROUP_MAX

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from singletable.server.answering import Answering
    from singletable.storage.write_groups import OpenGroup
    from singletable.wire.answers import WireAnswer
    from singletable.wire.execution import Execution

_log = logging.getLogger("singletable.server")


class WriteQueue(Protocol):
    """Carries out writes, and tells each on the event loop when it is committed."""

    def add(self, write: Execution) -> None:
        """Carry out a write soon, and tell its answer. Called on the event loop."""
        ...

    def end(self) -> None:
        """Begin no more groups. Called on the event loop."""
        ...

    def close(self) -> None:
        """Wait for the group that was begun. Not called on the event loop."""
        ...


class WriterOnLoop:
    """Writes at the end of a turn of the event loop, on the loop itself."""

    def __init__(self, database: Answering, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop
        self._waiting: list[Execution] = []

    def add(self, write: Execution) -> None:
        if not self._waiting:
            self._loop.call_soon(self._write)
        self._waiting.append(write)

    def end(self) -> None:
        pass  # waiting writes are carried out before the loop does anything else

    def close(self) -> None:
        pass

    def _write(self) -> None:
        group, self._waiting = self._waiting, []
        _deliver(group, _answers(group, self._database.answer_writes))


class WriterToDisk:
    """Carries groups out on the event loop, one after the other, and commits them in a thread."""

    def __init__(self, database: Answering, loop: asyncio.AbstractEventLoop, threads: Executor) -> None:
        self._database = database
        self._loop = loop
        self._threads = threads
        self._waiting: list[Execution] = []
        self._gathered = 0
        self._is_at_work = False  # a group is being written, or about to be
        self._is_ending = False
        self._to_commit: queue.SimpleQueue[tuple[list[Execution], OpenGroup[Any] | None] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._commit_all, name="singletable-commit", daemon=True)
        self._thread.start()

    def add(self, write: Execution) -> None:
        self._waiting.append(write)
        if not self._is_at_work:
            self._is_at_work = True
            self._gathered = 0
            self._loop.call_soon(self._gather)

    def end(self) -> None:
        self._is_ending = True

    def close(self) -> None:
        self._to_commit.put(None)
        self._thread.join()

    def _gather(self) -> None:
        """Begin a group when a turn of the loop has brought no more of it: clients that were answered together
        ask again together, and a COMMIT for the first of them would let all others wait."""
        if self._gathered < len(self._waiting) < WRITE_GROUP_MAX:
            self._gathered = len(self._waiting)
            self._loop.call_soon(self._gather)
        else:
            self._write()

    def _write(self) -> None:
        """Carry out the waiting writes, and have them committed. If others hold the lock, the thread does both."""
        if self._is_ending or not self._waiting:
            self._is_at_work = False
            return
        group, self._waiting = self._waiting[:WRITE_GROUP_MAX], self._waiting[WRITE_GROUP_MAX:]
        try:
            opened = self._database.apply_writes(group)
        except Exception as failure:
            self._loop.call_soon(self._write)
            _deliver(group, [failure] * len(group))
            return
        if opened is not None and opened.left_out:
            left_out = set(opened.left_out)
            self._write_in_thread([write for position, write in enumerate(group) if position in left_out])
            group = [write for position, write in enumerate(group) if position not in left_out]
        self._to_commit.put((group, opened))

    def _write_in_thread(self, group: Sequence[Execution]) -> None:
        """Carry out writes of large items in a thread, where they hold up no other request."""
        answering = self._loop.run_in_executor(self._threads, _answers, group, self._database.answer_writes)
        answering.add_done_callback(
            lambda answered: None if answered.cancelled() else _deliver(group, answered.result())
        )

    def _commit_all(self) -> None:
        while (taken := self._to_commit.get()) is not None:
            group, opened = taken
            self._loop.call_soon_threadsafe(self._committed, group, self._commit(group, opened))

    def _commit(
        self, group: Sequence[Execution], opened: OpenGroup[Any] | None
    ) -> Sequence[WireAnswer | Exception]:
        if opened is None:
            return _answers(group, self._database.answer_writes)
        return _answers(group, lambda writes: self._database.commit_writes(writes, opened))

    def _committed(self, group: Sequence[Execution], answers: Sequence[WireAnswer | Exception]) -> None:
        self._write()  # the next group: while that is committed, these are answered
        _deliver(group, answers)


def _answers(
    group: Sequence[Execution], carry_out: Callable[[Sequence[Execution]], list[WireAnswer]]
) -> Sequence[WireAnswer | Exception]:
    try:
        return carry_out(group)
    except Exception as failure:
        return [failure] * len(group)


def _deliver(group: Sequence[Execution], answers: Sequence[WireAnswer | Exception]) -> None:
    for write, answer in zip(group, answers, strict=True):
        try:
            write.tell(answer)
        except Exception as failure:  # of one client: the others are to have their answers
            _log.error("an answer was not sent: %s: %s", type(failure).__name__, failure)
