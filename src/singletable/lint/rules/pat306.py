"""PAT306: a key condition on an attribute that is no key of what is read."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import SINGLE_READS, is_equality, prove_refused, query_members
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Read, Source, View


def check(view: View) -> Iterator[Finding]:
    """Look for conditions on attributes that are no keys of the table or index that is read."""
    for read in view.reads:
        if read.source is None or read.read.operation not in ("Query", *SINGLE_READS):
            continue
        if read.read.operation != "Query" and read.read.index is not None:
            continue  # it takes no index at all
        for asked in read.asked:
            if not asked.role:
                yield _found(view, read, read.source, asked)


def _found(view: View, read: Read, source: Source, asked: Asked) -> Finding:
    keys = " and ".join((*source.pk, *source.sk))
    is_query = read.read.operation == "Query"
    return finding(
        RULE,
        read.path,
        view.index_path(source.name),
        message=f"{asked.attribute} is no key of {source.title}, so it cannot stand in the key condition",
        because=f"the keys of {source.title} are {keys}: {read.read.operation} is refused"
        f"{_within(view, source, asked)}",
        repair=_repair(view, source, asked),
        facts={"query": query_members(view, read) if is_query else {}},
    )


def _within(view: View, source: Source, asked: Asked) -> str:
    """Say in which key the value stands, if in one."""
    for place in view.places_in(source.name):
        for _, attribute, template in place.templates():
            if any(slot.name == asked.attribute for slot in template.slots):
                return f"; {asked.attribute} stands within {attribute}, {template.text}"
    return ""


def _repair(view: View, source: Source, asked: Asked) -> str:
    others = [each.title for each in view.sources.values() if asked.attribute in each.pk and each != source]
    if others and is_equality(asked) and not source.sk:
        return f"read {others[0]}, which has {asked.attribute} as its partition key"
    if source.sk:
        return (
            f"ask for {source.sk[0]}, the sort key of {source.title}; or filter by {asked.attribute} "
            "if few items are read for it"
        )
    return f"filter by {asked.attribute} after the read, or make an index that has it as a key"


RULE = Rule(
    "PAT306", Severity.ERROR, "A condition is on an attribute that is no key here", check, prove_refused
)
