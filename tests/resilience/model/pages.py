"""Reading page by page, and what must hold of the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from resilience.model.endpoints import Endpoint
from resilience.model.tables import Index, Table
from resilience.model.values import Item, frozen_items

PAGES_MAX = 500  # a cursor that does not move must not hang the run


@dataclass
class Reading:
    """All pages of one query or scan."""

    items: list[Item] = field(default_factory=list)
    count: int = 0
    scanned: int = 0
    pages: list[dict[str, Any]] = field(default_factory=list)


def read_all(
    endpoint: Endpoint,
    operation: str,
    parameters: dict[str, Any],
    between: Callable[[dict[str, Any]], None] | None = None,
    *,
    unique: bool = False,
) -> Reading:
    """Follow LastEvaluatedKey to the end; `between` runs after each page that has one.

    `unique` says that a page can end with an item behind which the request can find nothing.
    """
    reading = Reading()
    cursor: dict[str, Any] = {}
    for _ in range(PAGES_MAX):
        page = endpoint.call(operation, **parameters, **cursor)
        reading.pages.append(page)
        check_page(page, parameters, strict=endpoint.dialect.cursor_at_end and not unique)
        reading.items += [endpoint.item(wire) or {} for wire in page.get("Items", ())]
        reading.count += page["Count"]
        reading.scanned += page["ScannedCount"]
        if "LastEvaluatedKey" not in page:
            return reading
        if between is not None:
            between(page["LastEvaluatedKey"])
        cursor = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    raise AssertionError(f"{operation} {parameters} does not end")


def check_page(page: dict[str, Any], parameters: dict[str, Any], *, strict: bool) -> None:
    """A page is full when it has a cursor, and never more than full."""
    assert page["Count"] <= page["ScannedCount"]
    if parameters.get("Select") == "COUNT":
        assert "Items" not in page
    else:
        assert len(page["Items"]) == page["Count"]
    limit = parameters.get("Limit")
    if limit is None:
        assert "LastEvaluatedKey" not in page  # these tables are far below one megabyte
    else:
        # A page that reached its limit has a cursor, also where nothing follows (API reference, Query: "If
        # LastEvaluatedKey is not empty, it does not necessarily mean that there is more data"). That does not
        # hold where nothing can follow: the key condition names the item, or the sort key that it has at last.
        full = page["ScannedCount"] == limit
        assert full or "LastEvaluatedKey" not in page, f"{page} of {parameters}"
        assert not full or not strict or "LastEvaluatedKey" in page, f"{page} of {parameters}"
        assert page["ScannedCount"] <= limit


def check_cursors(reading: Reading, table: Table, index: Index | None) -> None:
    """A cursor holds exactly the keys of the table and of the index."""
    names = set(table.definition.key_names()) | set(index.key_names() if index else ())
    for page in reading.pages:
        if "LastEvaluatedKey" in page:
            assert set(page["LastEvaluatedKey"]) == names


def check_groups(actual: list[Item], wanted: list[list[Item]]) -> None:
    """The groups come in their order; inside a group (equal sort keys) the order is open."""
    start = 0
    for group in wanted:
        part = actual[start : start + len(group)]
        assert Counter(frozen_items(part)) == Counter(frozen_items(group)), f"{part} is not {group}"
        start += len(group)
    assert len(actual) == start, f"too many items: {actual[start:]}"


def check_same_items(actual: list[Item], wanted: list[Item]) -> None:
    extra = Counter(frozen_items(actual)) - Counter(frozen_items(wanted))
    lacking = Counter(frozen_items(wanted)) - Counter(frozen_items(actual))
    assert not extra, f"too many items: {extra}"
    assert not lacking, f"missing items: {lacking}"
