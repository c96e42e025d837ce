"""One change of an item, as handlers in this process are given it, and how a handler says that it takes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple


class ChangeRecord(NamedTuple):
    """A record of a stream with its items as Python values: binary ones are bytes."""

    table: str | None
    """The name of the table; None where the record does not say."""
    view: str
    """What the stream shows of a change, as StreamViewType has it."""
    old: dict[str, dict[str, Any]] | None
    new: dict[str, dict[str, Any]] | None
    is_expired: bool
    """Whether the item was deleted because its time to live was over."""
    at: datetime
    """When it was made, rounded down to a second."""
    sequence_number: str
    event_id: str
    """The same for everybody who reads the change, however often."""


class TakesChanges(ABC):
    """A handler that is given changes and no event.

    It says so by its class: a handler of somebody else may have a method of any name.
    """

    @abstractmethod
    def take_changes(self, changes: Sequence[ChangeRecord]) -> object:
        """Handle changes, and answer as a handler of an event does."""

    @abstractmethod
    def __call__(self, event: Any, context: Any) -> object:
        """Handle an event: records that were put aside are kept as events."""
