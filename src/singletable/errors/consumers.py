"""Consumers of changes, where no request is at fault."""

from __future__ import annotations

from singletable.errors.base import SingleTableError


class ConsumerError(SingleTableError):
    """A consumer cannot do what it was asked to."""

    number = "ST701"


class NotLoggedError(ConsumerError):
    """The changes of the table are not logged, so nothing can follow them."""

    number = "ST702"


class ConsumerBusyError(ConsumerError):
    """Another process or thread runs the handler of this consumer."""

    number = "ST703"


class ConsumerEndedError(ConsumerError):
    """The consumer was stopped, or what it reads is gone."""

    number = "ST704"
