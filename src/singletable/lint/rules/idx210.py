"""IDX210: an index that DynamoDB refuses to create: local ones of another shape, or too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.tables import IndexBlueprint

_LOCAL_MAX: Final = 5
_GLOBAL_MAX: Final = 20
_INCLUDED_MAX: Final = 100


def check(view: View) -> Iterator[Finding]:
    """Look for what local indexes cannot be, and for too many indexes or included attributes."""
    local = [index for index in view.blueprint.indexes if index.is_local]
    for index in local:
        yield from _shape(view, index)
    indexes = view.blueprint.indexes
    for kind, found, most in (
        ("local", local, _LOCAL_MAX),
        ("global", [index for index in indexes if not index.is_local], _GLOBAL_MAX),
    ):
        if len(found) > most:
            yield _refused(
                view,
                found[-1],
                f"there are {len(found)} {kind} indexes",
                f"a table has {most} {kind} indexes at most"
                + (", which no quota raises" if kind == "local" else ", unless AWS raises the quota"),
                "remove those that few reads need, or let entities share an index by general key attributes",
            )
    if (
        count := sum(len(index.included) for index in indexes if index.projection == "INCLUDE")
    ) > _INCLUDED_MAX:
        last = [index for index in indexes if index.projection == "INCLUDE"][-1]
        yield _refused(
            view,
            last,
            f"the indexes include {count} attributes",
            f"all indexes of a table include {_INCLUDED_MAX} attributes together at most",
            "project ALL where nearly all is included",
        )


def prove(found: Finding, bench: Bench) -> str | None:
    """Create the table."""
    refusal = bench.create_table() if found.facts.get("is_refused") else None
    return f"the table is refused: {refusal}" if refusal is not None else None


def _shape(view: View, index: IndexBlueprint) -> Iterator[Finding]:
    table = view.blueprint.table
    if table.sk is None:
        yield _refused(
            view,
            index,
            f"{index.name} is local, and the table has no sort key",
            "a local index sorts the items of a partition in another way, and such a table has one item in each",
            "make it a global index",
        )
    elif index.pk != (table.pk,):
        yield _refused(
            view,
            index,
            f"{index.name} is local, and has {', '.join(index.pk)} as its partition key and not {table.pk}",
            f"a local index has the partitions of the table: its partition key is {table.pk}",
            f"make it a global index, or give it the partition key {table.pk}",
        )
    elif not index.sk:
        yield _refused(
            view,
            index,
            f"{index.name} is local and has no sort key",
            "a local index sorts the items of a partition by another attribute, which is its sort key",
            "give it a sort key",
        )


def _refused(view: View, index: IndexBlueprint, message: str, because: str, repair: str) -> Finding:
    return finding(
        RULE,
        view.index_path(index.name),
        ("table",),
        message=message,
        because=f"{because}: CreateTable is refused",
        repair=repair,
        facts={"is_refused": True},
    )


RULE = Rule("IDX210", Severity.ERROR, "An index is one that DynamoDB refuses", check, prove)
