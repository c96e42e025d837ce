"""REC021: a window of point-in-time recovery that AWS does not offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path

DAYS_MIN, DAYS_MAX = 1, 35


def check(view: View) -> Iterator[Finding]:
    """Look for windows outside of 1 to 35 whole days."""
    for days, path in windows(view):
        if not DAYS_MIN <= days <= DAYS_MAX or days != int(days):
            yield finding(
                RULE,
                path,
                message=f"point-in-time recovery is to reach {days:g} days back",
                because=f"its window is {DAYS_MIN} to {DAYS_MAX} days: RecoveryPeriodInDays {days:g} is refused",
                repair=f"take at most {DAYS_MAX} days, and keep backups, on demand or by AWS Backup, for what is "
                "older"
                if days > DAYS_MAX
                else f"take {DAYS_MIN} to {DAYS_MAX} whole days",
                facts={"days": days},
            )


def windows(view: View) -> Iterator[tuple[float, Path]]:
    """Yield each statement of how many days recovery reaches back."""
    table = view.blueprint.table
    if table.pitr_days is not None:
        yield table.pitr_days, ("table",)
    for at, backup in enumerate(table.backups):
        if backup.kind == "pitr" and backup.keep_days is not None:
            yield backup.keep_days, ("table", "backups", at)


def prove(found: Finding, bench: Bench) -> str | None:
    """Ask for the window."""
    days = int(found.facts["days"])
    refusal = bench.refusal(
        "update_continuous_backups",
        PointInTimeRecoverySpecification={
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": days,
        },
    )
    return f"UpdateContinuousBackups is refused: {refusal}" if refusal is not None else None


RULE = Rule("REC021", Severity.ERROR, "Point-in-time recovery does not reach so far back", check, prove)
