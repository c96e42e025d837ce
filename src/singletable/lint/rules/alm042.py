"""ALM042: an alarm on a metric under dimensions that the metric is not counted by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.permissions import same_name
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.lint.watching import OPERATIONS, Watched, shown, watched

if TYPE_CHECKING:
    from collections.abc import Mapping


def check(view: View) -> Iterator[Finding]:
    """Look for dimensions that a metric lacks, and for values that nothing of the design has."""
    for each in watched(view):
        if not each.is_of_dynamodb or each.metric is None:
            continue
        if (wrong := _wrong(each)) is not None:
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.title} watches {each.name} by {wrong}",
                because=f"{each.name} is counted by {_known(each)}: under other dimensions it has no data, and "
                "an alarm on it is never in alarm",
                repair=_repair(each),
            )
        for name, value in _unknown(view, each.values):
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.title} watches {each.name} where {name} is {value}, and there is no such thing",
                because="the metric has no data under that value, and the alarm is never in alarm",
                repair=f"name {_named(view, name)}",
            )


def _wrong(each: Watched) -> str | None:
    """Say which dimensions are given that the metric lacks; None where they are right, or not given at all."""
    assert each.metric is not None
    known = each.metric.dimensions
    if each.by_table and known == frozenset({frozenset()}):
        return "its table"
    if not each.dimensions or each.dimensions in known:
        return None
    if not each.is_whole and any(each.dimensions <= possible for possible in known):
        return None  # some of its dimensions are said
    return shown(each.dimensions)


def _known(each: Watched) -> str:
    assert each.metric is not None
    return joined(sorted(shown(possible) for possible in each.metric.dimensions), "or")


def _repair(each: Watched) -> str:
    if each.name == "UserErrors":
        return (
            "count refused requests in the client; for the table there are SystemErrors, ThrottledRequests, by "
            "operation, and ConditionalCheckFailedRequests"
        )
    return f"give the dimensions {_known(each)}"


def _unknown(view: View, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    blueprint = view.blueprint
    table, index, operation = (
        values.get(name) for name in ("TableName", "GlobalSecondaryIndexName", "Operation")
    )
    if table is not None and not same_name(table, blueprint.table.name):
        yield "TableName", table
    indexes = [each.name for each in blueprint.indexes]
    if index is not None and not any(same_name(index, name) for name in indexes):
        yield "GlobalSecondaryIndexName", index
    if operation is not None and operation not in OPERATIONS and operation.isalpha():
        yield "Operation", operation


def _named(view: View, dimension: str) -> str:
    if dimension == "TableName":
        return view.blueprint.table.name
    if dimension == "GlobalSecondaryIndexName":
        return joined([index.name for index in view.blueprint.indexes] or ["no index: there is none"], "or")
    return "an operation as the API calls it: GetItem, Query, PutItem"


RULE = Rule("ALM042", Severity.ERROR, "A metric is not counted by these dimensions", check)
