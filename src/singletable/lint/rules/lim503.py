"""LIM503: a transaction, or the answer of a batch, that is too large."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.limits import BATCH_GET_BYTES_MAX, TRANSACTION_BYTES_MAX
from singletable.lint.batches import Together, requests_together
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Compare the sizes of all items of a request with what one takes."""
    for each in requests_together(view):
        most, outcome = _limit(each)
        if each.kb is None or each.kb * 1024 <= most:
            continue
        yield finding(
            RULE,
            *each.paths(view),
            *(
                ("volumes", at)
                for at, volume in enumerate(view.blueprint.volumes)
                if volume.entity in each.entities
            ),
            message=f"{each.name} has {each.actions:g} items of {each.kb / 1024:.1f} MB in one {each.operation}",
            because=f"the items of one {each.operation} have at most {most / 1024**2:g} MB together: {outcome}",
            repair="take fewer items at once, or keep what is large outside of them",
        )


def _limit(each: Together) -> tuple[float, str]:
    """Return the most bytes, and what happens beyond."""
    if each.is_transaction:
        return TRANSACTION_BYTES_MAX, "it is refused, and nothing is done"
    if each.read is not None and each.read.is_paged is False:
        return (
            BATCH_GET_BYTES_MAX,
            "the keys of the rest come back as UnprocessedKeys, which nobody asks for again",
        )
    return float("inf"), ""


RULE = Rule("LIM503", Severity.ERROR, "A transaction or batch is too large", check)
