"""What Query and Scan share: reading rows into a page, and the keys at which pages begin and end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from singletable import limits
from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.engine.keys import NO_MATCH, key_of_request
from singletable.engine.requests import Query, Scan
from singletable.engine.results import Page, StoredItem
from singletable.errors import ValidationError
from singletable.storage.reading import Position, Rows
from singletable.storage.tables import Index, Table
from singletable.values.sizes import item_bytes
from singletable.values.types import Item


@dataclass(slots=True, kw_only=True)
class Target:
    """What is read: a table, or one of its indexes."""

    table: Table
    index: Index | None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes of a cursor: the index's key, then what the table's key adds."""
        if self.index is None:
            return self.table.key_names
        own = self.index.definition.key.names
        return own + tuple(name for name in self.table.key_names if name not in own)


def target_of(table: Table, request: Query | Scan) -> Target:
    """Return what a request reads, after checking that it may be read so."""
    if request.index is None:
        _check_select(request, None)
        return Target(table=table, index=None)
    index = table.index_by_name.get(request.index)
    if index is None:
        raise ValidationError(f"The table does not have the specified index: {request.index}")
    if not index.is_ready:
        raise ValidationError(f"Cannot read from backfilling global secondary index: {index.name}")
    if request.consistent and index.definition.is_global:
        raise ValidationError("Consistent reads are not supported on global secondary indexes")
    _check_select(request, index)
    return Target(table=table, index=index)


def _check_select(request: Query | Scan, index: Index | None) -> None:
    if index is None:
        if request.select == "ALL_PROJECTED_ATTRIBUTES":
            raise ValidationError(
                "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
            )
        return
    if index.projected_names is None or not index.definition.is_global:
        return
    if request.select == "ALL_ATTRIBUTES":
        raise ValidationError(
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
            f"secondary index {index.name} because its projection type is not ALL"
        )
    if request.projection is not None:
        missing = sorted(request.projection.attributes - index.projected_names)
        if missing:
            raise ValidationError(
                "One or more parameter values were invalid: Global secondary index "
                f"{index.name} does not project [{', '.join(missing)}]"
            )


def read_page(rows: Rows, target: Target, request: Query | Scan) -> Page:
    """Read rows until the page is full: by its Limit, or by 1 MB of what was read."""
    fetches = _fetches(target.index, request) if request.report != "NONE" else None
    try:
        found = _collect(rows, _narrowing(target.index, request), request, fetches)
    finally:
        rows.close()  # an open cursor would hold its connection to this state of the database
    return Page(
        items=None if request.select == "COUNT" else _projected(found.items, request),
        count=len(found.items),
        scanned=found.scanned,
        last=found.last,
        key_names=target.key_names if found.last is not None else (),
        consumed=None if request.report == "NONE" else _consumed(target, request, found.page_bytes, fetches),
    )


# Pages of whole items up to this Limit are fetched at once: in the common case they are far from 1 MB.
_SHORT_PAGE_ITEMS = 64


class _Found(NamedTuple):
    items: list[StoredItem]
    scanned: int
    page_bytes: int
    last: bytes | None
    """The last row of a page that is full; None when the rows ended."""


def _collect(rows: Rows, narrow: Index | None, request: Query | Scan, fetches: _Fetches | None) -> _Found:
    holds = request.filter.holds if request.filter is not None else None
    if fetches is not None:
        return _fill(fetches.metered(rows), None, holds, request.limit)
    if narrow is None and holds is None and request.limit is not None and request.limit <= _SHORT_PAGE_ITEMS:
        fetched: list[Any] = rows.fetchall()
        page_bytes = sum([size for size, _ in fetched])
        if page_bytes < limits.PAGE_BYTES_MAX:
            is_full = len(fetched) == request.limit
            last: bytes | None = fetched[-1][1] if is_full else None
            return _Found([raw for _, raw in fetched], len(fetched), page_bytes, last)
        return _fill(fetched, None, None, request.limit)
    return _fill(rows, narrow, holds, request.limit)


def _fill(
    rows: Iterable[Any], narrow: Index | None, holds: Callable[[Item], bool] | None, limit: int | None
) -> _Found:
    items: list[StoredItem] = []
    scanned = page_bytes = 0
    for size, raw in rows:
        item: Item | None = None
        if narrow is not None:
            item = narrow.project(orjson.loads(raw))
            size = item_bytes(item)
        page_bytes += size
        scanned += 1
        if holds is None:
            items.append(raw if item is None else item)
        else:
            item = item or orjson.loads(raw)
            if holds(item):
                items.append(item)
        # The item that reaches 1 MB is still part of the page, and it is the cursor also where nothing follows
        # (dynalite's tests of the service, "should return LastEvaluatedKey if just over limit").
        if scanned == limit or page_bytes >= limits.PAGE_BYTES_MAX:
            return _Found(items, scanned, page_bytes, raw)
    return _Found(items, scanned, page_bytes, None)


def _narrowing(index: Index | None, request: Query | Scan) -> Index | None:
    """Return the index whose projection limits what is read; None where whole items are."""
    if index is None or index.projected_names is None:
        return None
    if index.definition.is_global:
        return index
    # A local index fetches what it does not project from its table (AWS guide, "Local secondary indexes").
    if request.select == "ALL_ATTRIBUTES":
        return None
    if request.projection is not None and request.projection.attributes - index.projected_names:
        return None
    return index


class _Fetches:
    """What reading through a local index costs where every item is fetched from the table as well.

    The index is read like any page; of the table, each item counts for itself (AWS guide, "Local secondary
    indexes", "Read capacity units").
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.index_bytes = 0
        self.table_bytes: list[int] = []

    def metered(self, rows: Iterable[Any]) -> Iterator[Any]:
        for size, raw in rows:
            self.index_bytes += item_bytes(self._index.project(orjson.loads(raw)))
            self.table_bytes.append(size)
            yield size, raw


def _fetches(index: Index | None, request: Query | Scan) -> _Fetches | None:
    if index is None or index.projected_names is None or _narrowing(index, request) is not None:
        return None
    return _Fetches(index)


def _projected(items: list[StoredItem], request: Query | Scan) -> list[StoredItem]:
    if request.projection is None:
        return items
    apply = request.projection.apply
    return [apply(orjson.loads(item) if isinstance(item, bytes) else item) for item in items]


def _consumed(target: Target, request: Query | Scan, page_bytes: int, fetches: _Fetches | None) -> Consumed:
    consumed = Consumed(table=target.table.name)
    if fetches is not None:
        page_bytes = fetches.index_bytes
        consumed.table_units = sum(
            read_units(size, consistent=request.consistent) for size in fetches.table_bytes
        )
    units = read_units(page_bytes, consistent=request.consistent)
    if target.index is None:
        consumed.table_units = units
    else:
        consumed.add_index(target.index.name, units, is_global=target.index.definition.is_global)
    return consumed


_INVALID_START = "The provided starting key is invalid"


def position_of(target: Target, request: Query | Scan, start: Item) -> Position:
    """Return the place that an ExclusiveStartKey names. The item itself need not exist any more.

    What is said of a wrong one, and when, is as dynalite's tests found it in the service.
    """
    if isinstance(request, Query) or target.index is not None:
        _check_start_names(target, start)
    elif len(start) != len(target.key_names):
        raise ValidationError(f"{_INVALID_START}: {NO_MATCH}")
    table_key = {name: start[name] for name in target.table.key_names if name in start}
    try:
        key = key_of_request(target.table, table_key)
    except ValidationError as error:
        raise ValidationError(f"{_INVALID_START}: {error.message}") from None
    if target.index is None:
        return Position(pk=key.partition, sk=key.sort)
    entry = target.index.entry_key(start)
    if entry is None:
        raise ValidationError(_INVALID_START)
    return Position(pk=key.partition, sk=key.sort, index_key=entry)


def _check_start_names(target: Target, start: Item) -> None:
    schema = target.table.definition.key if target.index is None else target.index.definition.key
    if len(start) != len(target.key_names) or any(name not in start for name in schema.names):
        raise ValidationError(_INVALID_START)
    if any(attribute.type not in start[attribute.name] for attribute in schema.attributes):
        raise ValidationError(NO_MATCH)
