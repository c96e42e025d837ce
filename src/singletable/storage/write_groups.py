"""Group commit: the requests that share a transaction, and the result of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from singletable.storage.transaction import Transaction

T = TypeVar("T")


class GroupedWrite(Generic[T]):
    """One request of a write group, and its result."""

    __slots__ = ("error", "is_done", "is_postponed", "result", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
        self.result: T
        self.error: Exception | None = None
        self.is_done = False
        self.is_postponed = False  # it is to be run by a caller that can wait for it

    def fail(self, error: Exception) -> None:
        self.error = error
        self.is_done = True

    def get(self) -> T:
        """Return the result of a request that is done, or raise its error."""
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = (
                    None  # which knows this frame, and so this object: nothing is to wait for a collection
                )
        return self.result


class OpenGroup(Generic[T]):
    """Requests that were carried out, and are not committed yet."""

    __slots__ = ("jobs", "left_out", "transaction")

    def __init__(self, jobs: list[GroupedWrite[T]]) -> None:
        self.jobs = jobs
        self.left_out: list[int] = []  # the positions of those that were not carried out: they read too much
        self.transaction: Transaction | None = None  # None: there is nothing to commit, or it has failed

    def leave_out_postponed(self) -> None:
        self.left_out = [position for position, job in enumerate(self.jobs) if job.is_postponed]
        if self.left_out:
            self.jobs = [job for job in self.jobs if not job.is_postponed]


class JobFailedError(Exception):
    """A request failed by itself after it had begun to write: its group is undone, and tried without it."""

    def __init__(self, job: GroupedWrite[Any], error: Exception) -> None:
        super().__init__()
        self.job = job
        self.error = error


def finish(group: Sequence[GroupedWrite[Any]]) -> None:
    """Let the requests of a group be done, now that it is committed."""
    for job in group:
        job.is_done = not job.is_postponed
