"""Handing a batch to the handler until all of it is done: taken, or put aside.

A batch that fails is tried again, and again. Then it is halved, and each half is tried, in their order: so the
records that fail are found, and put aside one by one. A handler may name the first record that it could not take,
as it may to AWS Lambda: then the records before it are done, and nothing needs to be halved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from singletable.consumers.context import Context
from singletable.consumers.events import Event
from singletable.consumers.handlers import CheckedHandler, HandlerFailedError, error_text
from singletable.consumers.retrying import RetryPolicy
from singletable.consumers.writes import Writes
from singletable.errors import ApiError
from singletable.storage.consumers import Mark


class Record(NamedTuple):
    """A change, where it stands in the log, and as the handler is given it."""

    mark: Mark
    shown: Event


class Batch(NamedTuple):
    """Records for the handler, and how far the log is done with when they are."""

    records: list[Record]
    end: Mark


class Dead(NamedTuple):
    """A record that is put aside."""

    record: Record
    error: str
    tries: int


class Commit(Protocol):
    """Stores a position, and in the same transaction what belongs to it."""

    def __call__(self, mark: Mark, *, writes: Writes | None = None, dead: Dead | None = None) -> None: ...


class StoppedError(Exception):
    """The consumer is to stop; what is not done of the batch stays for the next time."""


@dataclass(slots=True)
class _Part:
    """Records that are tried together."""

    records: Sequence[Record]
    tries: int = 0  # how often they were given to the handler
    failures: int = 0  # of these tries, those that count for what is left of the retries


class Delivery:
    """How a consumer hands its batches to its handler."""

    def __init__(
        self,
        handler: CheckedHandler,
        new_context: Callable[[], Context],
        commit: Commit,
        policy: RetryPolicy,
        wait: Callable[[float], object],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._handler = handler
        self._new_context = new_context
        self._commit = commit
        self._policy = policy
        self._wait = wait
        self._is_stopping = is_stopping

    def deliver(self, batch: Batch) -> None:
        """Hand all records over, in their order. Those that cannot be taken are put aside."""
        waiting = [_Part(batch.records)]  # the next one last
        while waiting:
            part = waiting.pop()
            end = part.records[-1].mark if waiting else batch.end
            part.tries += 1
            try:
                self._try(part.records, end)
            except HandlerFailedError as failed:
                waiting += self._after_failure(part, failed, end)

    def _try(self, records: Sequence[Record], end: Mark) -> None:
        """Give records to the handler; when it returns, they are done. Those before one that it names are too."""
        context = self._new_context()
        writes = context.transaction
        try:
            self._handler.call([record.shown for record in records], context)
        except HandlerFailedError as failed:
            # Writes of records before and behind it cannot be told apart: then none of them is done.
            if failed.first and not writes:
                self._commit(records[failed.first - 1].mark)
                failed.is_front_done = True
            raise
        finally:
            writes.close()
        try:
            self._commit(end, writes=writes)
        except ApiError as error:  # of one of the handler's writes
            raise HandlerFailedError(error_text(error)) from error

    def _after_failure(self, part: _Part, failed: HandlerFailedError, end: Mark) -> list[_Part]:
        """Return what is to be tried next, the next one last."""
        if failed.first:
            front, rest = part.records[: failed.first], part.records[failed.first :]
            self._pause(1)
            parts = [_Part(rest, part.tries, failures=1)]
            return parts if failed.is_front_done else [*parts, _Part(front, part.tries)]
        part.failures += 1
        if self._policy.goes_on(part.failures):
            self._pause(part.failures)
            return [part]
        if failed.first == 0 or len(part.records) == 1:
            first, rest = part.records[0], part.records[1:]
            self._commit(first.mark if rest else end, dead=Dead(first, failed.text, part.tries))
            return [_Part(rest, part.tries)] if rest else []
        if self._is_stopping():
            raise StoppedError
        middle = (len(part.records) + 1) // 2
        return [self._half(part, part.records[middle:]), self._half(part, part.records[:middle])]

    def _half(self, part: _Part, records: Sequence[Record]) -> _Part:
        # One try, to find out which half fails; a record that is alone gets all of them once more.
        return _Part(records, part.tries, failures=0 if len(records) == 1 else self._policy.retries or 0)

    def _pause(self, failures: int) -> None:
        if self._is_stopping():
            raise StoppedError
        self._wait(self._policy.wait_s(failures))
        if self._is_stopping():
            raise StoppedError
