"""REC022: two statements of how far recovery reaches back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Compare the windows that are stated for the same environments."""
    table = view.blueprint.table
    stated: list[tuple[float, tuple[str, ...], Path]] = [
        (backup.keep_days, backup.environments, ("table", "backups", at))
        for at, backup in enumerate(table.backups)
        if backup.kind == "pitr" and backup.keep_days is not None
    ]
    if table.pitr_days is not None:
        # The setting of the table is what is built where no statement is for some environments alone.
        stated.insert(0, (float(table.pitr_days), (), ("table",)))
    if any(environments for _, environments, _ in stated):
        return
    windows = sorted({days for days, _, _ in stated})
    if len(windows) > 1:
        yield finding(
            RULE,
            *(path for _, _, path in stated),
            message="recovery is to reach back " + " and ".join(f"{days:g} days" for days in windows),
            because=f"a table has one window: what was lost {windows[-1]:g} days ago cannot be restored from "
            f"one of {windows[0]:g} days",
            repair="decide for one window, and state it once",
        )


RULE = Rule("REC022", Severity.DISAGREEMENT, "Recovery has two windows", check)
