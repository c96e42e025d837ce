"""REC025: recovery is paid for data that is said to be made again at will."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path

_MADE_AGAIN = re.compile(
    r"\bre-?(?:generat|creat|comput|build|buil|fetch|cach|deriv)\w*|\b(?:cached|made|built|fetched) again\b",
    re.IGNORECASE,
)


def check(view: View) -> Iterator[Finding]:
    """Look for point-in-time recovery beside a statement that the data can be made again."""
    backups = view.blueprint.table.backups
    paid: list[Path] = [
        ("table", "backups", at) for at, backup in enumerate(backups) if backup.kind == "pitr"
    ]
    if not paid and view.blueprint.table.pitr_days is None:
        return
    for at, backup in enumerate(backups):
        said = " ".join((backup.about, *(each.words for each in backup.said)))
        if backup.kind == "none" and (found := _MADE_AGAIN.search(said)):
            yield finding(
                RULE,
                ("table", "backups", at),
                *(paid or [("table",)]),
                message="no backup is needed, since the data can be made again, and point-in-time recovery is on",
                because=f"{found[0]!r} is the reason against backups; recovery is a backup all the same, paid "
                "by the GB for every month",
                repair="turn recovery off, or say what it protects",
            )


RULE = Rule("REC025", Severity.DISAGREEMENT, "Data that can be made again is backed up", check)
