"""PAT317: a consistent read of a global index."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for consistent queries and scans of global indexes."""
    for read in view.reads:
        source = read.source
        if source is None or not source.is_global or not read.read.is_consistent:
            continue
        if read.read.operation in ("Query", "Scan"):
            yield finding(
                RULE,
                read.path,
                view.index_path(source.name),
                message=f"a consistent read (ConsistentRead) is asked of {source.title}, a global index",
                because="global indexes are brought up to date after the table is, and answer eventually "
                "consistent reads only: the request is refused",
                repair="read the table by its key, or do without ConsistentRead and live with what "
                f"{source.title} has not got yet",
                facts={"index": source.name},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Scan the index with a consistent read."""
    refusal = bench.refusal("scan", IndexName=found.facts["index"], ConsistentRead=True)
    return f"the read is refused: {refusal}" if refusal is not None else None


RULE = Rule("PAT317", Severity.ERROR, "A global index is asked for a consistent read", check, prove)
