"""When items expire: the attribute that says it, and the table that orders the items of a table by it."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from singletable.storage import schema
from singletable.storage.definitions import TtlDefinition
from singletable.values.types import Item

_SECONDS_END: Final = 1 << 62  # beyond that, no integer column of SQLite can hold it


class Expiry:
    """How a table knows when its items expire."""

    __slots__ = ("attribute", "delete_entry", "id", "insert_entry", "is_ready")

    def __init__(self, definition: TtlDefinition) -> None:
        self.id = definition.id
        self.attribute = definition.attribute
        self.is_ready = definition.is_ready
        self.insert_entry = schema.insert_expiry(self.id)
        self.delete_entry = schema.delete_expiry(self.id)

    def time_of(self, item: Item) -> int | None:
        """Return the second at which an item expires; None when it does not.

        An attribute of any type but Number is ignored, not an error (AWS guide, "Using time to live").
        """
        value = item.get(self.attribute)
        number = None if value is None else value.get("N")
        if number is None:
            return None
        seconds = int(number) if number.isdigit() and len(number) < 19 else _whole(number)
        return seconds if -_SECONDS_END < seconds < _SECONDS_END else None


def _whole(number: str) -> int:
    value = Decimal(number)
    return int(value) if abs(value) < _SECONDS_END else _SECONDS_END
