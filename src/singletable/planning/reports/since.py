"""The difference of a plan to an earlier one, which its JSON has kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from singletable.errors import SingleTableError
from singletable.planning.plan import FORMAT, Plan

_CENT: Final = 0.005
_SAID: Final = ("design", "users", "region", "billing", "table_class")


class EarlierPlanError(SingleTableError):
    """A file is no plan that can be compared."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="`singletable plan TARGET --json --out plan.json` writes one")


@dataclass(frozen=True, slots=True)
class Changed:
    """A line that costs more or less than before; None where it is new, or gone."""

    name: str
    was: float | None
    now: float | None

    @property
    def usd(self) -> float:
        """How much more it is."""
        return (self.now or 0.0) - (self.was or 0.0)


@dataclass(frozen=True, slots=True)
class Since:
    """What differs: the whole, line by line (the largest first), and what else the plans were made for."""

    was: float
    now: float
    lines: tuple[Changed, ...]
    terms: tuple[str, ...]  # "users: 1,000, now 10,000"
    left_out: tuple[str, ...]  # what only the new plan leaves out

    def data(self) -> dict[str, Any]:
        """Return the difference as JSON has it."""
        return {
            "usd_month_was": self.was,
            "usd_month_change": round(self.now - self.was, 6),
            "lines": [{"name": each.name, "was": each.was, "now": each.now} for each in self.lines],
            "terms": list(self.terms),
            "left_out": list(self.left_out),
        }


def read_earlier(text: str, name: str) -> Mapping[str, Any]:
    """Read the JSON of an earlier plan."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("plan") != FORMAT:
            raise EarlierPlanError(f"{name} is no plan of this release")
        [(line["name"] + "", line["usd_month"] + 0.0) for line in data["lines"]]
        data["usd_month"] + 0.0
    except (ValueError, RecursionError):
        raise EarlierPlanError(f"{name} is no JSON") from None
    except (KeyError, TypeError):
        raise EarlierPlanError(f"{name} is no whole plan") from None
    return data


def since(plan: Plan, earlier: Mapping[str, Any]) -> Since:
    """Return what a plan differs in from an earlier one. A difference below a cent is none."""
    before: dict[str, float] = {}  # a name may have several lines
    for line in earlier["lines"]:
        before[line["name"]] = before.get(line["name"], 0.0) + line["usd_month"]
    after: dict[str, float] = {}
    for each in plan.lines:
        after[each.name] = round(after.get(each.name, 0.0) + each.usd.mean, 6)
    found = []
    for name in dict.fromkeys([*after, *before]):
        was, now = before.get(name), after.get(name)
        if was is None or now is None or abs(now - was) >= _CENT:
            found.append(Changed(name, was, now))
    data = plan.data()
    terms = [
        f"{name.replace('_', ' ')}: {_said(earlier.get(name))}, now {_said(data[name])}"
        for name in _SAID
        if earlier.get(name) != data[name]
    ]
    known = earlier.get("left_out") or ()
    return Since(
        was=earlier["usd_month"],
        now=data["usd_month"],
        lines=tuple(sorted(found, key=lambda each: (-abs(each.usd), each.name))),
        terms=tuple(terms),
        left_out=tuple(each for each in plan.left_out if each not in known),
    )


def _said(value: Any) -> str:
    return "not said" if value is None else f"{value:,.0f}" if isinstance(value, int | float) else str(value)
