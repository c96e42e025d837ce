"""PAT318: what was just written is read eventually consistently."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for eventually consistent reads in patterns that have to see the last write."""
    for read in view.reads:
        if "read-your-writes" not in read.pattern.requires or read.read.is_consistent or read.source is None:
            continue
        name = read.read.operation
        if read.source.is_global:
            yield finding(
                RULE,
                read.path,
                view.index_path(read.source.name),
                message=f"the pattern has to see what was just written, but reads {read.source.title}",
                because=f"{read.source.title} is a global index, which follows the table eventually: a new item "
                "may be missing, and an old value may be shown",
                repair="read the table with ConsistentRead, or show what the write returned",
            )
        elif not name.startswith("Transact"):
            yield finding(
                RULE,
                read.path,
                message=f"the pattern has to see what was just written, but its {name} is eventually consistent",
                because=f"without ConsistentRead, a {name} may answer from a copy that lacks the last write: the "
                "new item is missing, or the old value is shown",
                repair="read with ConsistentRead, or show what the write returned",
            )


RULE = Rule("PAT318", Severity.WARNING, "What was just written may not be read", check)
