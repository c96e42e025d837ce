"""COS803: prices of before November 2024."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_OLD = {"write_price": (1.25, 0.625), "read_price": (0.25, 0.125)}
_REGIONS = ("us-east-1", "us-east-2", "us-west-2")


def check(view: View) -> Iterator[Finding]:
    """Look for the prices of a million units on demand that were halved."""
    regions = {region.code for region in view.blueprint.table.regions}
    if regions and not regions & {*_REGIONS}:
        return
    seen: set[tuple[str, float]] = set()
    for at, figure in enumerate(view.blueprint.figures):
        for name, value in ((figure.name, figure.value), *figure.terms.items()):
            old, new = _OLD.get(name, (None, 0.0))
            if value == old and (name, value) not in seen:
                seen.add((name, value))
                kind = name.removesuffix("_price")
                yield finding(
                    RULE,
                    ("figures", at),
                    message=f"{figure.name} takes ${value} for a million {kind} units, a price of before November "
                    "2024",
                    because=f"on demand, a million {kind} units have cost ${new} in us-east-1 since then, half of "
                    "that",
                    repair=f"work it out with ${new}, or with the price of the region, and say of which day it is",
                )


RULE = Rule("COS803", Severity.DISAGREEMENT, "A price is out of date", check)
