"""Delivers a batch to the handler until every record is handled, or is a dead letter.

A batch that fails is retried, with back-off. Then it is bisected: each half is tried, in their order. So the
failing records are found, and become dead letters one by one. As with AWS Lambda, a handler may name the first
record that failed: then the records before it are done, and no bisection is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from singletable.clock import backoff_s
from singletable.consumers.events import LoggedRecord
from singletable.consumers.handlers import CheckedHandler, HandlerFailedError, error_text
from singletable.consumers.options import ConsumerOptions
from singletable.consumers.writes import Writes
from singletable.errors import ApiError
from singletable.storage.consumers import Mark


class Batch(NamedTuple):
    """Records for the handler, and the position in the log after they are handled."""

    records: list[LoggedRecord]
    end: Mark


class Dead(NamedTuple):
    """A record that becomes a dead letter."""

    record: LoggedRecord
    error: str
    tries: int


class Commit(Protocol):
    """Stores a position, and in the same transaction the dead letters and writes that belong to it."""

    def __call__(self, mark: Mark, *, writes: Writes | None = None, dead: Dead | None = None) -> None: ...


class StoppedError(Exception):
    """The consumer is to stop. The rest of the batch stays for the next run."""


@dataclass(slots=True)
class _Part:
    """Records that are tried together."""

    records: Sequence[LoggedRecord]
    tries: int = 0  # how often they were given to the handler
    failures: int = 0  # the tries that count against the retries


class Delivery:
    """How a consumer hands its batches to its handler."""

    def __init__(
        self,
        handler: CheckedHandler,
        new_writes: Callable[[], Writes],
        commit: Commit,
        options: ConsumerOptions,
        *,
        wait: Callable[[float], object],
        random: Callable[[], float],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._handler = handler
        self._new_writes = new_writes
        self._commit = commit
        self._options = options
        self._wait = wait
        self._random = random
        self._is_stopping = is_stopping

    def deliver(self, batch: Batch) -> None:
        """Deliver all records, in their order. Records that keep failing become dead letters."""
        waiting = [_Part(batch.records)]  # the next one last
        while waiting:
            part = waiting.pop()
            end = part.records[-1].mark if waiting else batch.end
            part.tries += 1
            try:
                self._try(part.records, end)
            except HandlerFailedError as failed:
                waiting += self._after_failure(part, failed, end)

    def _try(self, records: Sequence[LoggedRecord], end: Mark) -> None:
        """Give records to the handler. If it returns, they are done; if it names one, those before it are."""
        writes = self._new_writes()
        try:
            self._handler.hand_over(records, writes)
        except HandlerFailedError as failed:
            # The writes for records before and after it cannot be told apart, so then no record is done.
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
        """Return the parts to try next, the first of them last."""
        if failed.first:
            front, rest = part.records[: failed.first], part.records[failed.first :]
            self._pause(1)
            parts = [_Part(rest, part.tries, failures=1)]
            return parts if failed.is_front_done else [*parts, _Part(front, part.tries)]
        part.failures += 1
        if self._goes_on(part.failures):
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

    def _half(self, part: _Part, records: Sequence[LoggedRecord]) -> _Part:
        # One try shows which half fails. A single record gets all its retries again.
        return _Part(records, part.tries, failures=0 if len(records) == 1 else self._options.retries or 0)

    def _pause(self, failures: int) -> None:
        if self._is_stopping():
            raise StoppedError
        self._wait(self._wait_s(failures))
        if self._is_stopping():
            raise StoppedError

    def _goes_on(self, failures: int) -> bool:
        """Tell whether a batch that has failed this often is retried."""
        return self._options.retries is None or failures <= self._options.retries

    def _wait_s(self, failures: int) -> float:
        """Return the back-off after this many failures: exponential, with jitter."""
        first_s = self._options.backoff_s
        longest_s = backoff_s(failures, first_s, max(first_s, self._options.backoff_s_max))
        return longest_s / 2 * (1 + self._random())
