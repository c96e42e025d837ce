"""Consumers of changes, where no request is at fault."""

from __future__ import annotations

from singletable.errors.base import SingleTableError


class ConsumerError(SingleTableError):
    """A consumer cannot do what it was asked to. It is said in one sentence, and most often with a hint."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotLoggedError(ConsumerError):
    """The changes of the table are not logged, so nothing can follow them."""


class ConsumerBusyError(ConsumerError):
    """Another process or thread runs the handler of this consumer."""


class ConsumerEndedError(ConsumerError):
    """The consumer was stopped, or what it reads is gone."""
