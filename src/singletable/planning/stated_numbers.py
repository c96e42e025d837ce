"""Numbers that a document states: how exact they are, what agrees with them, and how they are written."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from singletable.blueprint import FigureBlueprint

RATE: Final = re.compile(r"(reads|writes|requests)/(second|hour|day|week|month|year)")
_LISTED: Final = 3


def said_at_first(figure: FigureBlueprint) -> str:
    """Return the first line that states a figure."""
    return figure.said[0].at if figure.said else ""


def period_of(figure: FigureBlueprint) -> str:
    """Return the period of a rate: day, month."""
    return figure.unit.rpartition("/")[2]


def units_label(figure: FigureBlueprint) -> str:
    """Return the unit of a figure, with units in the place of requests."""
    rate = RATE.fullmatch(figure.unit)
    if rate is None:
        return figure.unit
    kind = rate[1].removesuffix("s") + " " if rate[1] != "requests" else ""
    return f"{kind}units/{rate[2]}"


def difference_from(figure: FigureBlueprint, computed: float) -> float:
    """Return how far a number is from the stated one, or from the nearer end of its range."""
    if figure.upto is None:
        return computed - figure.value
    low, high = sorted((figure.value, figure.upto))
    return computed - min(max(computed, low), high)


def agrees_with(figure: FigureBlueprint, computed: float) -> bool:
    """Tell whether a number rounds to the stated one, by the digits that it has; two, of a whole number."""
    if figure.upto is not None and difference_from(figure, computed) == 0:
        return True
    return any(
        abs(computed - end) <= _half_digit(end) * (1 + 1e-9)
        for end in (figure.value, figure.upto)
        if end is not None
    )


def _half_digit(stated: float) -> float:
    digits = Decimal(repr(stated)).normalize()
    exponent = digits.as_tuple().exponent
    if stated == 0 or not isinstance(exponent, int):
        return 0.0
    # 12,000 is exact to 1,000, and 20 to 1.
    place = exponent if exponent < 0 else min(exponent, max(0, digits.adjusted() - 1))
    return 0.5 * math.pow(10.0, place)


def is_close(one: float, other: float) -> bool:
    """Tell whether two numbers are the same but for the arithmetic of machines."""
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-12)


def number(value: float) -> str:
    """Write a number as people do: whole, or to four digits."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def usd(value: float) -> str:
    """Write an amount of money."""
    return f"${number(value)}"


def shown_range(figure: FigureBlueprint) -> str:
    """Write what a figure states."""
    return number(figure.value) + (f" to {number(figure.upto)}" if figure.upto is not None else "")


def listed(names: list[str]) -> str:
    """Write the first few of many names."""
    more = f" and {len(names) - _LISTED} others" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
