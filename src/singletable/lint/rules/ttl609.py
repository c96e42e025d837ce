"""TTL609: more is counted as stored than lives so long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.expiry import expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_DAYS: Final = {"week": 7.0, "month": 30.0, "quarter": 91.0, "year": 365.0}
_NEAR: Final = 1.25


def check(view: View) -> Iterator[Finding]:
    """Compare the time of a figure of storage with the time that its items live."""
    for each in expiries(view):
        if each.rule.seconds is None or each.rule.when is not None or each.rule.is_optional:
            continue
        days = each.rule.seconds / 86_400
        for at, figure in enumerate(view.blueprint.figures):
            period = figure.unit.rpartition("/")[2]
            is_stored = figure.measures == f"storage of {each.entity.name}"
            if is_stored and _DAYS.get(period, 0.0) > days * _NEAR:
                yield finding(
                    RULE,
                    *each.paths,
                    ("figures", at),
                    message=f"{figure.name} counts what a {period} of {each.entity.name} takes, and items live "
                    f"{days:.4g} days",
                    because=f"TTL deletes what is older than {days:.4g} days: no more than that is stored at a "
                    f"time, nor found by who looks for a {period}",
                    repair="let items live as long as they are needed, or count what lives at a time",
                )


RULE = Rule("TTL609", Severity.DISAGREEMENT, "More is counted as stored than lives", check)
