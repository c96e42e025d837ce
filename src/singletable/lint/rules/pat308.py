"""PAT308: a read of an index that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for reads of an index that the table does not have."""
    known = ", ".join(index.name for index in view.blueprint.indexes)
    for read in view.reads:
        if read.source is None:
            yield finding(
                RULE,
                read.path,
                ("table",),
                message=f"there is no index {read.read.index}",
                because=f"the table has {known or 'no index'}: the {read.read.operation} is refused",
                repair=f"define {read.read.index} with its keys, or read one of those that there are",
                facts={"index": read.read.index},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Scan the index that does not exist."""
    refusal = bench.refusal("scan", IndexName=found.facts["index"])
    return f"the read is refused: {refusal}" if refusal is not None else None


RULE = Rule("PAT308", Severity.ERROR, "An index that is read does not exist", check, prove)
