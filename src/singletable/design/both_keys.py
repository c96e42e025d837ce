"""How a query is read while the keys of its place change: under the old keys and under the new, in one order.

The old keys have an order of their own, so what is still under them is read whole, and sorted as it will be. It is
read first: an item that moves meanwhile is then found twice, and given out once. Positions are those of the new
keys, so a cursor stays valid when an item moves, and when the old keys are dropped from the code.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from singletable.client.calls import Call, Steps
from singletable.design.answers import read_units, reporting
from singletable.design.entity import Entity, key_values
from singletable.design.pages import Usage
from singletable.design.part_reading import OLD, PartReader, Position, Whole, fetched, plain_position
from singletable.design.places import Binding, key_item
from singletable.design.queries import Query
from singletable.design.ranges import is_within
from singletable.design.requests import old_queries, query_params
from singletable.design.schema import EntitySchema
from singletable.design.session import Session, ask
from singletable.design.stored_values import Item, sortable


def part_reader(
    session: Session, query: Query[Any], position: Position, limit: int | None
) -> PartReader | BothKeysReader:
    """Return what reads one query: under its keys, or under those before too."""
    schema = session.catalog.schema_for(query.entity)
    if schema.bindings[query.place].keys.was is None:
        return PartReader(session, query, position, limit)
    return BothKeysReader(session, query, position, limit)


@dataclass(frozen=True, slots=True)
class _Row:
    """An item that is given out: what it is sorted by, its key where it belongs, and whether it is there."""

    order: tuple[Any, ...]
    key: Item
    entity: Any
    is_old: bool


class BothKeysReader:
    """Reads one query forward from a position, under old keys and new ones."""

    def __init__(self, session: Session, query: Query[Any], position: Position, limit: int | None) -> None:
        self.query = query
        self.buffer: deque[_Row] = deque()
        self.schema: EntitySchema[Any] = session.catalog.schema_for(query.entity)
        self.binding: Binding = self.schema.bindings[query.place]
        self._session = session
        self._entity_of = reporting(query.report)
        self._new = PartReader(session, query, position, limit)
        self._fresh: deque[_Row] = deque()
        self._old: deque[_Row] = deque()
        self._waiting = deque(() if self._new.is_read else old_queries(session, query))
        self._start: Item | None = None  # within the first that waits
        self._given = position
        self._after = self._place_of(position)
        self._seen: set[tuple[Any, ...]] = set()

    @property
    def is_read(self) -> bool:
        """Whether the target has no more."""
        return not self._waiting and self._new.is_read

    @property
    def position(self) -> Position:
        """Where to go on: behind what was given out."""
        return None if self.is_read and not self.buffer else self._given

    def call(self) -> Call:
        """Return the next request."""
        if not self._waiting:
            return self._new.call()
        return Call("Query", query_params(self._session, self._waiting[0], None, self._start))

    def take(self, answer: dict[str, Any], usage: Usage, whole: Whole = None) -> None:
        """Take the answer of a request, with the whole items that it names where those are fetched."""
        if self._waiting:
            self._take_old(answer, usage, whole)
        else:
            self._new.take(answer, usage, whole)
            while self._new.buffer:
                self._add_new(*self._new.buffer.popleft())
        if not self._waiting:
            self._release()

    def fill(self, usage: Usage) -> Steps[None]:
        """Read until there is an item, or the end."""
        while not self.buffer and not self.is_read:
            answer = yield from ask(self._session, self.call(), self.query.cache_s)
            whole = yield from fetched(self._session, self.query, [answer], usage)
            self.take(answer, usage, whole)

    def pop(self) -> Any:
        """Give out the next entity."""
        row = self.buffer.popleft()
        self._given = {OLD: row.key} if row.is_old else row.key
        return row.entity

    def order(self) -> tuple[Any, ...]:
        """Return what the next item is sorted by."""
        return self.buffer[0].order

    # --- under the old keys ---------------------------------------------------------------------------

    def _take_old(self, answer: dict[str, Any], usage: Usage, whole: Whole) -> None:
        found = [row for item in answer["Items"] if (row := self._old_row(item, whole)) is not None]
        self._old.extend(found)
        scanned = answer.get("ScannedCount", len(answer["Items"]))
        usage.add(Usage(read_units(answer), scanned, scanned - len(found)))
        self._start = answer.get("LastEvaluatedKey")
        if self._start is None:
            self._waiting.popleft()
        if not self._waiting:
            rows = sorted(
                self._old, key=lambda row: (row.order, _identity(row)), reverse=not self.query.forward
            )
            self._old = deque(rows)

    def _old_row(self, named: Item, whole: Whole) -> _Row | None:
        """Return an item that is under its old keys, and will be where the query reads."""
        item = named if whole is None else self._new.whole_item(named, whole)
        if item is None:
            return None
        if whole is None:
            entity = self._entity_of(self.schema, self._session, item, None)
        else:
            entity = self._new.whole_entity(item)
        if entity is None or not self._is_old(item, entity):
            return None
        rendered = self.binding.render(key_values(entity))
        if any(
            rendered.get(name) != value for name, value in key_item(self.query.pk, self.binding.pk).items()
        ):
            return None
        sk = self.binding.sk
        if sk and not is_within(self.query.bounds, rendered[sk[0].name]["S"]):
            return None
        row = _Row(
            tuple(sortable(rendered[attribute.name]) for attribute in self.binding.sk),
            {**self.schema.primary_key(entity), **rendered},
            entity,
            is_old=True,
        )
        return row if self._is_after(row) else None

    def _is_old(self, item: Item, entity: Entity) -> bool:
        was = self.binding.keys.was
        assert was is not None
        values = key_values(entity)
        for key, attributes in zip(was, (self.binding.pk, self.binding.sk), strict=True):
            old = key.from_values(values)
            if old is None or (attributes and key_item(old, attributes) != _part(item, attributes)):
                return False
        return True

    def _place_of(self, position: Position) -> tuple[tuple[Any, ...], Any, bool] | None:
        key = plain_position(position)
        if not isinstance(key, dict) or not isinstance(position, dict):
            return None
        order = tuple(sortable(key[attribute.name]) for attribute in self.binding.sk)
        return order, _texts(key), OLD in position

    def _is_after(self, row: _Row) -> bool:
        """Tell whether an old item comes behind the position. Among equals, new items come first."""
        if self._after is None:
            return True
        order, key, was_old = self._after
        if row.order != order:
            return (row.order > order) is self.query.forward
        return not was_old or ((_identity(row) > key) is self.query.forward and _identity(row) != key)

    # --- in one order ---------------------------------------------------------------------------------

    def _add_new(self, item: Item, entity: Entity) -> None:
        if self._is_old(item, entity):
            return  # it was read before, and is sorted by the key that it will have
        order = tuple(sortable(item[attribute.name]) for attribute in self.binding.sk)
        self._fresh.append(_Row(order, self._new._key_of(item), entity, is_old=False))

    def _release(self) -> None:
        """Give out what nothing can come before any more."""
        while self._fresh or (self._old and self._new.is_read):
            if self._old and (not self._fresh or self._comes_first(self._old[0], self._fresh[0])):
                row = self._old.popleft()
                if _identity(row) not in self._seen:
                    self.buffer.append(row)
            else:
                row = self._fresh.popleft()
                self._seen.add(_identity(row))
                self.buffer.append(row)

    def _comes_first(self, old: _Row, new: _Row) -> bool:
        return old.order != new.order and (old.order < new.order) is self.query.forward


def _part(item: Item, attributes: Any) -> Item:
    return {attribute.name: item[attribute.name] for attribute in attributes if attribute.name in item}


def _identity(row: _Row) -> tuple[Any, ...]:
    return _texts(row.key)


def _texts(key: Item) -> tuple[Any, ...]:
    return tuple(sorted((name, *map(str, value.values())) for name, value in key.items()))
