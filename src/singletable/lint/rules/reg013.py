"""REG013: a global table without what its replicas need."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_STREAM = "NEW_AND_OLD_IMAGES"


def check(view: View) -> Iterator[Finding]:
    """Look at the stream and the capacity of tables with replicas."""
    table = view.blueprint.table
    replicas = [region.code for region in table.regions if region.is_replica]
    if not replicas:
        return
    if table.stream not in (None, "unsaid", _STREAM):
        yield finding(
            RULE,
            ("table",),
            message=f"the table has replicas in {', '.join(replicas)}, and a stream of {table.stream}",
            because=f"replicas are kept by the stream, which has to hold {_STREAM}: the replica is refused",
            repair=f"set the view type of the stream to {_STREAM}",
        )
    if table.billing == "PROVISIONED" and "write" not in table.scaling:
        yield finding(
            RULE,
            ("table",),
            message=f"the table has replicas in {', '.join(replicas)}, and a fixed capacity for writes",
            because="every replica writes all that the others write; with provisioned capacity a replica is only "
            "added where writes scale by themselves",
            repair="scale the write capacity, or choose on-demand capacity",
        )


RULE = Rule("REG013", Severity.ERROR, "A global table lacks what its replicas need", check)
