"""COS803: prices of before November 2024."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.prices import packaged_prices

if TYPE_CHECKING:
    from singletable.blueprint import FigureBlueprint

_REQUESTS: Final = {"write": "write_request", "read": "read_request"}
_PRICE: Final = re.compile(r"price|usd|cost", re.IGNORECASE)
_USUAL: Final = "us-east-1"
_NEAR: Final = 0.01  # what was halved was rounded


def check(view: View) -> Iterator[Finding]:
    """Look for prices of a million units on demand that are twice those of today."""
    codes = [region.code for region in view.blueprint.table.regions] or [_USUAL]
    known = packaged_prices().regions

    def price_of(kind: str, code: str) -> float | None:
        price = known[code].find(_REQUESTS[kind]) if code in known else None
        return price.usd if price is not None else None

    seen: set[tuple[str, float]] = set()
    for at, figure in enumerate(view.blueprint.figures):
        for name, kind, value in _priced(figure):
            here = price_of(kind, codes[0])
            if (name, value) in seen or here is None or abs(value / here - 1) <= _NEAR:
                continue
            code = next((code for code in (codes[0], _USUAL) if _is_twice(value, price_of(kind, code))), None)
            if code is None:
                continue
            seen.add((name, value))
            yield finding(
                RULE,
                ("figures", at),
                message=f"{figure.name} takes ${value:g} for a million {kind} units, a price of before November "
                "2024",
                because=f"on demand, a million {kind} units have cost ${price_of(kind, code):g} in {code} since "
                "then, half of that",
                repair=f"work it out with ${here:g}, the price of {codes[0]}, and say of which day it is",
            )


def _is_twice(value: float, price: float | None) -> bool:
    return price is not None and abs(value / price - 2) <= 2 * _NEAR


def _priced(figure: FigureBlueprint) -> Iterator[tuple[str, str, float]]:
    """Yield the prices of a million units: how they are called, of writing or reading, and how much."""
    for name, value in ((figure.name, figure.value), *figure.terms.items()):
        of_million = name in ("write_price", "read_price") or "million" in name.lower()
        if name == figure.name and "million" in figure.unit.lower():
            of_million = True
        text = f"{name} {figure.unit}".lower() if name == figure.name else name.lower()
        kinds = [kind for kind in _REQUESTS if kind in text]
        if of_million and len(kinds) == 1 and _PRICE.search(text) and not isinstance(value, str):
            yield name, kinds[0], value


RULE = Rule("COS803", Severity.DISAGREEMENT, "A price is out of date", check)
