"""PAT310: GetItem without the full primary key."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import SINGLE_READS, is_equality
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for reads of one item that lack a key attribute, or give it by a range."""
    keys = (*view.table.pk, *view.table.sk)
    for read in view.reads:
        if read.read.operation not in SINGLE_READS or read.read.index is not None or not read.asked:
            continue
        if any(not each.role for each in read.asked):
            continue  # it asks for something that is no key
        given = {each.attribute for each in read.asked if is_equality(each)}
        if missing := [name for name in keys if name not in given]:
            yield finding(
                RULE,
                read.path,
                message=f"{read.read.operation} is given no single value of {', '.join(missing)}",
                because=f"the primary key is {' and '.join(keys)}; a read of one item needs each of them in full, "
                "else it is refused",
                repair=f"give {', '.join(missing)} as well, or send a Query and take what it finds",
                facts={"given": sorted(given)},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Get an item by what is given of its key."""
    types = bench.blueprint.table.types
    kinds = {name: types.get(name, "S") for name in found.facts["given"]}
    refusal = bench.refusal("get_item", Key={name: {kind: "1"} for name, kind in kinds.items()})
    return f"GetItem is refused: {refusal}" if refusal is not None else None


RULE = Rule("PAT310", Severity.ERROR, "GetItem lacks a part of the primary key", check, prove)
