"""How one query is read: forward from a position, a request at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.answers import read_units, reporting
from singletable.design.batch_reading import hashable, read_whole
from singletable.design.conditions import holds
from singletable.design.entity import key_values
from singletable.design.pages import Usage
from singletable.design.queries import Query
from singletable.design.ranges import is_empty, is_wider, is_within
from singletable.design.requests import is_in_place, is_text_key, query_params
from singletable.design.schema import Binding
from singletable.design.session import Session, ask
from singletable.design.stored_values import Item, sortable

PAGE_ITEMS_MAX: Final = 1000

# A position is the key of the last item that is done with; False before the first, None behind the last.
Position = dict[str, Any] | None | bool
START: Final = False
OLD: Final = "$old"  # around the key of an item that was found under keys which it was stored by before


# The whole items that those of an index name, by their keys; None where nothing is fetched.
Whole = Mapping[tuple[Any, ...], Item] | None


def fetched(
    session: Session, query: Query[Any], answers: Iterable[dict[str, Any]], usage: Usage
) -> Steps[Whole]:
    """Read the whole items that the answers to a query name, where its binding says so.

    They count as read. An item of the index that leads to nothing counts as thrown away.
    """
    schema = session.catalog.schema_for(query.entity)
    if not schema.bindings[query.place].fetches:
        return None
    items = [item for answer in answers for item in answer["Items"]]
    # What an item of keys only is, its whole will say.
    name = session.catalog.discriminator
    named = [item for item in items if name not in item or item[name].get("S") in schema.names]
    return (yield from read_whole(session, named, query.cache_s, usage))


def plain_position(position: Position) -> Position:
    """Return a position without what says that it is of an old key."""
    return position[OLD] if isinstance(position, dict) and OLD in position else position


class PartReader:
    """Reads one query forward from a position."""

    def __init__(self, session: Session, query: Query[Any], position: Position, limit: int | None) -> None:
        self.query = query
        self.buffer: deque[tuple[Item, Any]] = deque()
        self.schema = session.catalog.schema_for(query.entity)
        self.binding: Binding = self.schema.bindings[query.place]
        self._session = session
        self._entity_of = reporting(query.report)
        self._view = self.binding.view
        self._limit = limit
        self._start = plain_position(position)
        self._given: Item | None = None  # the last that was given out
        is_text = is_text_key(self.binding)
        is_over = is_empty(query.bounds, is_text=is_text)
        self._is_wider = is_text and is_wider(query.bounds)
        self._read = None if is_over else self._start  # the last that was read

    @property
    def is_read(self) -> bool:
        """Whether the target has no more."""
        return self._read is None

    @property
    def position(self) -> Position:
        """Where to go on: behind what was given out, and behind what was thrown away after it."""
        if not self.buffer:
            return self._read
        return self._start if self._given is None else self._key_of(self._given)

    def call(self) -> Call:
        """Return the next request."""
        return Call("Query", self._params(self._session.now_s()))

    def take(self, answer: dict[str, Any], usage: Usage, whole: Whole = None) -> None:
        """Take the answer of a request, with the whole items that it names where those are fetched."""
        entities = 0
        entity_of, view = self._entity_of, self._view
        for item in answer["Items"]:
            if self._is_wider and not is_within(self.query.bounds, item[self.binding.sk[0].name]["S"]):
                continue
            if whole is None:
                entity = entity_of(self.schema, self._session, item, view)
            else:
                entity = self._fetched_entity(item, whole)
            if entity is not None:
                self.buffer.append((item, entity))
                entities += 1
        scanned = answer.get("ScannedCount", len(answer["Items"]))
        usage.add(Usage(read_units(answer), scanned, scanned - entities))
        self._read = answer.get("LastEvaluatedKey")
        if self._limit is not None and entities * 2 < self._limit:
            # A filter that throws much away is not asked about a few items at a time.
            self._limit = max(self._limit, min(self._limit * 2, PAGE_ITEMS_MAX))

    def fill(self, usage: Usage) -> Steps[None]:
        """Read until there is an item, or the end."""
        while not self.buffer and not self.is_read:
            # The time is no part of what a cached answer is kept under.
            answer = yield from ask(
                self._session, self.call(), self.query.cache_s, kept_as=lambda: self._params(0)
            )
            whole = (
                (yield from fetched(self._session, self.query, [answer], usage))
                if self.binding.fetches
                else None
            )
            self.take(answer, usage, whole)

    def whole_item(self, item: Item, whole: Mapping[tuple[Any, ...], Item]) -> Item | None:
        """Return the whole item that one of the index names; None if it is gone."""
        return whole.get(hashable({name: item[name] for name in self.schema.table.key_attributes()}))

    def whole_entity(self, stored: Item) -> Any:
        """Return the entity of a whole item; None for one that the query does not want."""
        entity = self._entity_of(self.schema, self._session, stored, None)
        if entity is None or not self.query.conditions:
            return entity
        # All of them: the index may be older than the item.
        values = key_values(entity)
        return entity if all(holds(condition, values) for condition in self.query.conditions) else None

    def _fetched_entity(self, item: Item, whole: Mapping[tuple[Any, ...], Item]) -> Any:
        stored = self.whole_item(item, whole)
        if stored is None:
            return None
        # It comes where the index says, as long as it is anywhere in what the query reads.
        is_there = all(stored.get(each.name) == item[each.name] for each in self.binding.attributes())
        if not is_there and not is_in_place(self.binding, self.query.pk, self.query.bounds, stored):
            return None
        return self.whole_entity(stored)

    def pop(self) -> Any:
        """Give out the next entity."""
        self._given, entity = self.buffer.popleft()
        return entity

    def order(self) -> tuple[Any, ...]:
        """Return what the next item is sorted by."""
        item, _ = self.buffer[0]
        return tuple(sortable(item[attribute.name]) for attribute in self.binding.sk)

    def _params(self, now_s: int) -> dict[str, Any]:
        start = self._read if isinstance(self._read, dict) else None
        return query_params(self._session, self.query, self._limit, start, now_s=now_s)

    def _key_of(self, item: Item) -> dict[str, Any]:
        names = [*self.schema.table.key_attributes(), *(a.name for a in self.binding.attributes())]
        return {name: item[name] for name in dict.fromkeys(names)}
