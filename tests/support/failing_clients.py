"""A client that fails once, at a call of the test's choice: before the target is asked, or the answer is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from singletable.client import Client
from singletable.client.calls import Answer
from support.design_clients import Between


class FailingClient(Between):
    """Stands before another client. `fail_at` says which of the next calls fails, and how."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner)
        self._left = 0
        self._error: Callable[[], Exception] = RuntimeError
        self._loses_answer = False

    def fail_at(self, number: int, error: Callable[[], Exception], *, loses_answer: bool) -> None:
        """Let the call of this number fail, counted from 1; with `loses_answer` it is carried out all the same."""
        self._left, self._error, self._loses_answer = number, error, loses_answer

    def stop_failing(self) -> bool:
        """Fail no more; tell whether a call has failed."""
        has_failed = self._left == 0
        self._left = 0
        return has_failed

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        if self._left != 1:
            self._left = max(0, self._left - 1)
            return super().call(operation, params)
        self._left = 0
        if self._loses_answer:
            super().call(
                operation, params
            )  # what it refuses is refused: only answers to what was done are lost
        raise self._error()
