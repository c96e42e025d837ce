"""What may be said of a batch: a name, and amounts of things, of which nobody has less than nothing."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

from singletable_systems.kefir.errors import InvalidInputError


def require_name(name: str) -> None:
    """Refuse a name that nobody sees."""
    if not name.strip():
        raise InvalidInputError("a batch has a name")


def require_amounts(*, least: int = 0, **amounts: Decimal | int | None) -> None:
    """Refuse amounts that are less than the least, or no numbers. A temperature is no amount."""
    for name, amount in amounts.items():
        if amount is not None and not (isfinite(amount) and amount >= least):
            raise InvalidInputError(f"{name} is {amount}, and not a number from {least}")
