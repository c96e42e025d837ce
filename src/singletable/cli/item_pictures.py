"""A picture of what a table holds: how many items of each entity, and one or two of its item collections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.picture import Painter, Row, Style
from singletable.drawing.texts import shown

if TYPE_CHECKING:
    from singletable.design import Design, Entity

_COLLECTIONS_MAX: Final = 2
_ROWS_MAX: Final = 8
_DETAILS_MAX: Final = 4
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT")
_LOCK: Final = "lock"

Item = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _View:
    """Where collections are: the table, or where that has no sort key, its first index."""

    index: str | None
    partition: tuple[str, ...]
    sort: tuple[str, ...]


def picture_of(db: Design, entities: Iterable[Entity], style: Style) -> list[str]:
    """Draw the table of an open design: all of it counted, and the first collections of these entities."""
    view = _view(db)
    counts = Counter(_entity(db, item) for item in _asked(db, "Scan"))
    painter = Painter(style, counts)
    where = f"table {db.session.table}: {counts.total():,} items"
    by = "" if view.index is None else f"; by its index {view.index}:"
    rows = [row for key in _partitions(db, entities, view) for row in _rows(db, key, view)]
    return [
        where + by,
        painter.legend(counts),
        "",
        *painter.collections(rows, rows_max=_ROWS_MAX),
    ]


def _view(db: Design) -> _View:
    table = db.table
    if table.sk is None and db.catalog.table.indexes:
        index = db.catalog.table.indexes[0]
        return _View(index.name, tuple(index.pk), tuple(index.sk))
    return _View(None, (table.pk,), () if table.sk is None else (table.sk,))


def _partitions(db: Design, entities: Iterable[Entity], view: _View) -> list[Item]:
    found: dict[str, Item] = {}
    for entity in entities:
        item = db.catalog.schema_for(type(entity)).to_item(entity)
        if all(name in item for name in view.partition):
            key = {name: item[name] for name in view.partition}
            found.setdefault(str(key), key)
        if len(found) == _COLLECTIONS_MAX:
            break
    return list(found.values())


def _rows(db: Design, key: Item, view: _View) -> Iterator[Row]:
    names = {f"#k{number}": name for number, name in enumerate(key)}
    values = {f":v{number}": value for number, value in enumerate(key.values())}
    equal = " AND ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    params: dict[str, Any] = {} if view.index is None else {"IndexName": view.index}
    for item in _asked(
        db,
        "Query",
        KeyConditionExpression=equal,
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
        **params,
    ):
        yield Row(_text(item, view.partition), _text(item, view.sort), _entity(db, item), _detail(db, item))


def _asked(db: Design, operation: str, **params: Any) -> Iterator[Item]:
    """Return all items that a query or a scan finds."""
    start: dict[str, Any] = {}
    while True:
        answer = db.session.client.call(operation, {"TableName": db.session.table, **params, **start})
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _entity(db: Design, item: Item) -> str:
    schema = db.catalog.schema_of(item)
    return _LOCK if schema is None else schema.entity.__name__


def _text(item: Item, names: tuple[str, ...]) -> str:
    return shown(", ".join(str(next(iter(item[name].values()))) for name in names))


def _detail(db: Design, item: Item) -> str:
    """Say what an item holds: its first texts that are neither ids nor times, and how long its lists are."""
    schema = db.catalog.schema_of(item)
    if schema is None:
        return ""
    keys = schema.key.keys.reads()
    details: list[str] = []
    for name, codec in schema.fields.items():
        value = item.get(codec.stored, {})
        if "L" in value:
            details.append(f"{len(value['L'])} {codec.stored}")
        elif "S" in value and not (name in keys or name.endswith("_id") or _TIME.match(value["S"])):
            details.append(value["S"])
    # What people have stored must not steer the terminal.
    return shown("  ".join(details[:_DETAILS_MAX]))
