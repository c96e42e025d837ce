"""Pages of Query and Scan: reading rows into a page, and the keys at which pages begin and end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import orjson

from singletable import limits
from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units, rounded_read_bytes
from singletable.engine.charges import read_charge
from singletable.engine.keys import (
    EmptyKeyError,
    empty_index_key,
    index_key_mismatch,
    key_of_request,
    require_table,
)
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.requests import Query, Scan
from singletable.engine.results import ResultPage, StoredItem
from singletable.engine.throttling import Throttle
from singletable.errors import INVALID, ValidationError
from singletable.expressions.conditions import Condition
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.definitions import KeySchema
from singletable.storage.reading import (
    UNREADABLE,
    PartitionRange,
    Position,
    Reads,
    SegmentRange,
    StoredRows,
    name_place,
)
from singletable.storage.tables import Index, Table
from singletable.values.sizes import item_bytes, stored_item_bytes
from singletable.values.types import Item, Value

INVALID_START = "The provided starting key is invalid"


@dataclass(slots=True, kw_only=True)
class ReadTarget:
    """The target of a read: a table, or one of its indexes."""

    table: Table
    index: Index | None

    @property
    def key(self) -> KeySchema:
        return self.table.definition.key if self.index is None else self.index.definition.key

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes of a cursor: the index's key, then the further attributes of the table's key."""
        if self.index is None:
            return self.table.key_names
        own = self.index.definition.key.names
        return own + tuple(name for name in self.table.key_names if name not in own)


def target_of(table: Table, request: Query | Scan) -> ReadTarget:
    """Return the table or index that a request reads. Refuse a read that it does not allow."""
    if request.index is None:
        return ReadTarget(table=table, index=None)
    index = table.index_by_name.get(request.index)
    if index is None:
        raise ValidationError(f"The table does not have the specified index: {request.index}")
    if not index.is_ready:
        raise ValidationError(f"Cannot read from backfilling global secondary index: {index.name}")
    if request.consistent and index.definition.is_global:
        raise ValidationError("Consistent reads are not supported on global secondary indexes")
    return ReadTarget(table=table, index=index)


def check_select(target: ReadTarget, request: Query | Scan) -> None:
    """Refuse to give more of a global index than it holds."""
    index = target.index
    if index is None or index.projected_names is None or not index.definition.is_global:
        return
    if request.select == "ALL_ATTRIBUTES":
        raise ValidationError(
            f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index {index.name} "
            "because its projection type is not ALL"
        )
    if request.projection is not None:
        missing = sorted(request.projection.attributes - index.projected_names)
        if missing:
            raise ValidationError(
                f"{INVALID}Global secondary index {index.name} does not project [{', '.join(missing)}]"
            )


def read_page(
    store: Reads,
    request: Query | Scan,
    plan: Callable[[ReadTarget], PartitionRange | SegmentRange],
    patience: Patience | None,
    throttle: Throttle | None,
) -> ResultPage:
    """Read the page that a request asks for; `plan` turns its target into the range of rows."""

    def work(execute: Execute, catalog: Catalog) -> _PageRows:
        target = target_of(require_table(catalog, request.table), request)
        wanted = plan(target)
        # A scan goes through all partitions, and is charged to none of them.
        partition = wanted.partition if isinstance(wanted, PartitionRange) else None
        if throttle is not None:
            throttle.admit("Read", read_charge(target.table, target.index, partition))
        try:
            found = _read_rows(store.select_rows(execute, wanted), target, request, patience)
        except UNREADABLE as error:
            name_place(error, target.table, index=target.index)
            raise
        if found.last is not None and isinstance(request, Query) and target.index is None:
            sort = target.table.definition.key.sort
            if not sort or (
                len(request.key_condition.clauses) > 1 and _is_final(target, request, found.last)
            ):
                # A table without a sort key has one item under a key. A Limit of 1 that finds it has no
                # LastEvaluatedKey (DynamoDB Local; of the service, aws/aws-sdk-js, issue 3290).
                found = found._replace(last=None)
        if throttle is not None:
            units = _consumed(found, request).total
            throttle.charge("Read", [read_charge(target.table, target.index, partition, units)])
        return found

    return _page_of(store.read(work), request)


def final_operand(target: ReadTarget, request: Query) -> Value | None:
    """Return the last sort key that the condition itself allows, in the direction of the query.

    It is the end that `<=`, `>=` or BETWEEN names. Items of an index can share a sort key. DynamoDB Local, AWS's
    own build, has no LastEvaluatedKey there. The service refuses to start there: so it was with `>=` and
    ScanIndexForward false in May 2020 (note.kiriukun.com/entry/20200530-…) and in December 2020 (aws/aws-sdk-ruby,
    issue 2456).
    """
    clauses = request.key_condition.clauses
    if target.index is not None or len(clauses) == 1:
        return None
    sort = target.table.definition.key.sort[0].name
    clause = clauses[0] if clauses[0].attribute == sort else clauses[1]
    if clause.operator == "BETWEEN":
        return clause.operands[1 if request.forward else 0]
    return clause.operands[0] if clause.operator == ("<=" if request.forward else ">=") else None


def _is_final(target: ReadTarget, request: Query, last: bytes) -> bool:
    """Tell whether no item can ever sort behind this one: a page that ends with it has no cursor."""
    operand = final_operand(target, request)
    # Most pages end elsewhere: that shows before the item is decoded.
    if operand is None or orjson.dumps(operand) not in last:
        return False
    ended: bool = orjson.loads(last)[target.table.definition.key.sort[0].name] == operand
    return ended


class _PageRows(NamedTuple):
    """The rows that a page reads, before any filter: as they are stored, or as a narrower index holds them."""

    items: list[StoredItem]
    page_bytes: int
    last: bytes | None
    """The last row of a page that is full; None when the rows ended."""
    target: ReadTarget
    fetches: _Fetches | None


def _read_rows(
    rows: StoredRows, target: ReadTarget, request: Query | Scan, patience: Patience | None = None
) -> _PageRows:
    """Read rows until the page is full: by its Limit, or by 1 MB of rows.

    `_page_of` filters and projects later, when the connection is free again.
    """
    narrow = _narrowing(target.index, request)
    fetches = _fetches(target.index, narrow)
    decodes = narrow is not None or request.filter is not None or request.projection is not None
    rows_max = None if patience is None else patience.rows_max(decodes=decodes)
    try:
        if fetches is not None:
            found = _fill(fetches.metered(rows), None, request.limit, rows_max, patience, None)
        elif narrow is None and request.limit is not None and request.limit <= _SHORT_PAGE_ITEMS:
            found = _fetch(rows, request.limit, target)
        else:
            found = _fill(rows, narrow, request.limit, rows_max, patience, target)
    finally:
        rows.close()  # an open cursor would hold its connection to this state of the database
    if patience is not None:
        patience.check(found[1], decodes=decodes)
    return _PageRows(*found, target, fetches)


# Pages of whole items up to this Limit are fetched at once: in the common case they are far from 1 MB.
_SHORT_PAGE_ITEMS = 64

_Found = tuple[list[StoredItem], int, bytes | None]


class _PageMeasure:
    """Measures where a page of 1 MB ends.

    Few large items count as they are stored: so dynalite's tests recorded it, to the byte, with 13 and 25 of them.
    Many small items count as their sizes. To look at each would cost several times what it takes to read it; and a
    page of items of 1,042 bytes cost 128.5 units in December 2020 (F. Pachot, "DynamoDB Scan (and why 128.5
    RCU?)"). By their sizes these are 1,007 items. As they are stored it would be 1,019, for 130 units.
    """

    __slots__ = ("_items", "_sort_names", "_stored_bytes")

    # No more than two fifths are stored beside large items, however long their sort keys are.
    BEGINS_BYTES = limits.PAGE_BYTES_MAX * 5 // 7
    ITEMS_MAX = 32

    def __init__(self, target: ReadTarget) -> None:
        self._sort_names = {attribute.name for attribute in target.key.sort}
        self._items = self._stored_bytes = 0

    def full_bytes(self, items: Sequence[StoredItem], page_bytes: int) -> int:
        """Return the size at which the page is full, or must be measured again."""
        if len(items) > self.ITEMS_MAX:
            return limits.PAGE_BYTES_MAX
        for item in items[self._items :]:
            decoded = orjson.loads(item) if isinstance(item, bytes) else item
            self._stored_bytes += stored_item_bytes(decoded, self._sort_names)
        self._items = len(items)
        return page_bytes if self._stored_bytes >= limits.PAGE_BYTES_MAX else page_bytes + 1


def _fetch(rows: StoredRows, limit: int, target: ReadTarget) -> _Found:
    fetched: list[Any] = rows.fetchall()
    page_bytes = sum([size for size, _ in fetched])
    if page_bytes >= _PageMeasure.BEGINS_BYTES:
        return _fill(fetched, None, limit, None, None, target)
    return [raw for _, raw in fetched], page_bytes, fetched[-1][1] if len(fetched) == limit else None


def _fill(
    rows: Iterable[Any],
    narrow: Index | None,
    limit: int | None,
    rows_max: int | None,
    patience: Patience | None,
    target: ReadTarget | None,
) -> _Found:
    """Read rows until the page is full. Without a target, the page is filled with the sizes of the rows alone."""
    items: list[StoredItem] = []
    page_bytes = decoded_bytes = 0
    measure: _PageMeasure | None = None
    full_bytes = limits.PAGE_BYTES_MAX if target is None else _PageMeasure.BEGINS_BYTES
    for scanned, (size, raw) in enumerate(rows, 1):
        if narrow is None:
            items.append(raw)
        else:
            decoded_bytes += len(raw)
            if patience is not None:
                patience.check(decoded_bytes, decodes=True)
            item = narrow.project(orjson.loads(raw))
            items.append(item)
            size = item_bytes(item)
        page_bytes += size
        # The item that reaches 1 MB is still part of the page, and it is the cursor also where nothing follows
        # (dynalite's tests of the service, "should return LastEvaluatedKey if just over limit").
        if page_bytes >= full_bytes:
            if target is not None:
                measure = measure or _PageMeasure(target)
                full_bytes = measure.full_bytes(items, page_bytes)
            if page_bytes >= full_bytes:
                return items, page_bytes, raw
        if scanned == limit:
            return items, page_bytes, raw
        if scanned == rows_max:
            raise OutOfPatienceError
    return items, page_bytes, None


def _page_of(found: _PageRows, request: Query | Scan) -> ResultPage:
    """Make the page of the rows that were read for it. Pure: no database."""
    items = found.items if request.filter is None else _filtered(found.items, request.filter)
    return ResultPage(
        items=None if request.select == "COUNT" else _projected(items, request),
        count=len(items),
        scanned=len(found.items),
        last=found.last,
        key_names=found.target.key_names if found.last is not None else (),
        consumed=_consumed(found, request),
    )


def _filtered(items: list[StoredItem], chosen: Condition) -> list[StoredItem]:
    """Return the items for which a filter holds; those that are stored bytes stay so."""
    holds = chosen.holds
    return [item for item in items if holds(orjson.loads(item) if isinstance(item, bytes) else item)]


def _narrowing(index: Index | None, request: Query | Scan) -> Index | None:
    """Return the index that narrows the items read to its projection; None where whole items are read."""
    if index is None or index.projected_names is None:
        return None
    if index.definition.is_global:
        return index
    # A local index fetches unprojected attributes from its table (AWS guide, "Local secondary indexes").
    if request.select == "ALL_ATTRIBUTES":
        return None
    if request.projection is not None and request.projection.attributes - index.projected_names:
        return None
    return index


class _Fetches:
    """The cost of reading through a local index where every item is also fetched from the table.

    The index is read like any page; of the table, each item counts for itself, "individually rounded up to the
    next 4 KB". A page holds 1 MB of that, so some 250 small items fill it (AWS guide, "Local secondary indexes",
    "Read capacity units").
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.index_bytes = 0
        self.table_bytes: list[int] = []

    def metered(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows, each with the bytes that it adds to the page in place of its size."""
        index_read_bytes = 0
        for size, raw in rows:
            self.index_bytes += item_bytes(self._index.project(orjson.loads(raw)))
            self.table_bytes.append(size)
            before, index_read_bytes = index_read_bytes, rounded_read_bytes(self.index_bytes)
            yield rounded_read_bytes(size) + index_read_bytes - before, raw


def _fetches(index: Index | None, narrow: Index | None) -> _Fetches | None:
    if index is None or index.projected_names is None or narrow is not None:
        return None
    return _Fetches(index)


def _projected(items: list[StoredItem], request: Query | Scan) -> list[StoredItem]:
    if request.projection is None:
        return items
    apply = request.projection.apply
    return [apply(orjson.loads(item) if isinstance(item, bytes) else item) for item in items]


def _consumed(found: _PageRows, request: Query | Scan) -> Consumed:
    """Return the units of a page: of all rows read, also of those that a filter drops."""
    target, page_bytes, fetches = found.target, found.page_bytes, found.fetches
    consumed = Consumed(target.table.name)
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


def position_of(target: ReadTarget, request: Query | Scan, start: Item) -> Position:
    """Return the place that an ExclusiveStartKey names. The item itself need not exist any more.

    A key that does not fit the schema has one message, which AWS uses in most regions since October 2026 (recorded
    in the tests of dynoxide 1.4); only a value that no key can have has its own.
    """
    if isinstance(request, Scan):
        _check_scan_types(target, start)
    names = target.key_names
    if len(start) != len(names) or any(name not in start for name in names):
        raise ValidationError(INVALID_START)
    table = target.table
    for attribute in (*target.key.attributes, *table.definition.key.attributes):
        if attribute.type not in start[attribute.name]:
            raise ValidationError(INVALID_START)
    try:
        key = key_of_request(table, {name: start[name] for name in table.key_names})
    except EmptyKeyError:
        raise
    except ValidationError as error:
        raise ValidationError(f"{INVALID_START}: {error.message}") from None
    if target.index is None:
        return Position(pk=key.partition, sk=key.sort)
    entry = target.index.entry_key(start)
    if entry is None:
        _refuse_index_key(target.index, start)
    return Position(pk=key.partition, sk=key.sort, index_key=entry)


def _check_scan_types(target: ReadTarget, start: Item) -> None:
    """Refuse values of another type as a put would, where there is an index to speak of.

    AWS names the index that is read, or else the first of the table (dynoxide 1.4, captured in October 2026).
    """
    table = target.table
    if not table.indexes:
        return
    index = target.index or min(table.indexes, key=lambda index: index.name)
    for attribute in table.definition.attributes:
        value = start.get(attribute.name)
        if value is not None and attribute.type not in value:
            raise index_key_mismatch(index.name, attribute, next(iter(value)))


def _refuse_index_key(index: Index, start: Item) -> NoReturn:
    for name, key_type in index.key_types:
        if not start[name][key_type]:
            raise empty_index_key(index.name, name, key_type)
    raise ValidationError(INVALID_START)
