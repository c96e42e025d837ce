"""REC023: backups that are deleted before the next one is made."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Compare how long a backup is kept with the time between two."""
    for at, backup in enumerate(view.blueprint.table.backups):
        kept, every = backup.keep_days, backup.every_days
        if backup.kind != "pitr" and kept is not None and every is not None and kept < every:
            yield finding(
                RULE,
                ("table", "backups", at),
                message=f"a backup is made every {every:g} days and kept for {kept:g}",
                because=f"for {every - kept:g} of every {every:g} days there is no backup at all",
                repair=f"keep each backup for more than {every:g} days, or make them more often",
            )


RULE = Rule("REC023", Severity.WARNING, "Backups are deleted before the next one is made", check)
