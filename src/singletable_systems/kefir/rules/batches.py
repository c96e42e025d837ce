"""Batches: where one may go from each status, and which names and amounts are refused."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Final

from singletable_systems.kefir.errors import InvalidInputError
from singletable_systems.kefir.model.keys import Status

# Where a batch may go from each status. A batch that was archived by mistake can be resumed.
ALLOWED: Final[Mapping[Status, frozenset[Status]]] = {
    "active": frozenset({"in_fridge", "ready", "archived"}),
    "in_fridge": frozenset({"active", "ready", "archived"}),
    "ready": frozenset({"active", "in_fridge", "archived"}),
    "archived": frozenset({"active"}),
}


def require_name(name: str) -> None:
    """Refuse a name that nobody sees."""
    if not name.strip():
        raise InvalidInputError("a batch has a name")


def require_amounts(*, least: int = 0, **amounts: Decimal | int | None) -> None:
    """Refuse amounts that are less than the least, or no numbers. A temperature is no amount."""
    for name, amount in amounts.items():
        if amount is not None and not (isfinite(amount) and amount >= least):
            raise InvalidInputError(f"{name} is {amount}, and not a number from {least}")
