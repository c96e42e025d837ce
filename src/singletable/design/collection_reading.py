"""How an item collection is read: a partition from its beginning, a request at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from singletable.client.calls import Call, Steps
from singletable.design.answers import entity_of, read_units
from singletable.design.batch_reading import hashable, read_whole
from singletable.design.collections import Collect, members_of
from singletable.design.entity import Entity, entity_type, key_values
from singletable.design.pages import Usage
from singletable.design.part_reading import PAGE_ITEMS_MAX
from singletable.design.places import Binding, View
from singletable.design.plans import Reading
from singletable.design.ranges import is_within
from singletable.design.requests import collection_binding, collection_params, is_in_place
from singletable.design.schema import EntitySchema
from singletable.design.session import Session, ask
from singletable.design.stored_values import Item, sortable

Begin = Callable[[], Reading]
_Read = tuple[EntitySchema[Any], Item, View | None]  # an item, and what makes an entity of it if it is a part


class CollectionReading:
    """Reads the items of a partition that a collection has a field for, in the order of the sort key.

    `without` names fields whose items are not read here; `others` read what lies elsewhere, after the partition.
    A limit is about all of them together, so with one they are read first, and sorted.
    """

    def __init__(
        self,
        session: Session,
        plan: Collect[Any],
        *,
        without: Sequence[str] = (),
        others: Sequence[Begin] = (),
    ) -> None:
        members = members_of(plan.into)
        self._session = session
        self._plan = plan
        self._wanted = frozenset(member.entity for member in members if member.name not in without)
        places = [collection_binding(session.catalog.resolve(each.entity), plan) for each in members]
        self._has_parts = any(place is not None and place.held is not None for place in places)
        self._buffer: deque[Entity] = deque()
        self._start: Any = None
        self._is_read = False
        self._left = plan.limited
        self._at_once = plan.limited
        self._others = deque(others)
        self._other: Reading | None = None

    @property
    def positions(self) -> Any:
        """Whether there may be more: True, or None at the end. A collection has no cursors."""
        return None if self._is_over else True

    @property
    def _is_over(self) -> bool:
        is_read = self._is_read and not self._others and self._other is None
        return self._left == 0 or (is_read and not self._buffer)

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read all entities; or so many more, and fewer rather than to hold what two requests have found."""
        entities: list[Any] = []
        if self._left is not None and self._others:
            yield from self._fill_with_all(self._left, usage)
        while not self._is_over and (count is None or len(entities) < count):
            if self._buffer:
                entities += self._give_out(None if count is None else count - len(entities))
            elif entities and count is not None:
                break
            elif not self._is_read:
                yield from self._fill(usage)
            else:
                left = None if count is None else count - len(entities)
                entities += yield from self._take_elsewhere(left, usage)
        return entities

    def _give_out(self, count: int | None) -> list[Any]:
        sizes = [size for size in (count, self._left, len(self._buffer)) if size is not None]
        entities = [self._buffer.popleft() for _ in range(min(sizes))]
        if self._left is not None:
            self._left -= len(entities)
        return entities

    def _fill(self, usage: Usage) -> Steps[None]:
        session = self._session
        call = Call("Query", collection_params(session, self._plan, self._at_once, self._start))
        answer = yield from ask(session, call, self._plan.cache_s)
        items = answer["Items"]
        before = len(self._buffer)
        read = self._wanted_of(items)
        if self._has_parts:
            read = yield from self._of_parts(read, usage)
        for schema, item, view in read:
            entity = entity_of(schema, session, item, view)
            if entity is not None:
                self._buffer.append(entity)
        found = len(self._buffer) - before
        usage.add(Usage(read_units(answer), len(items), len(items) - found))
        self._start = answer.get("LastEvaluatedKey")
        self._is_read = self._start is None
        if self._left is not None:
            self._at_once = self._next_limit(self._left - len(self._buffer), found * 2 < len(items))

    def _wanted_of(self, items: Sequence[Item]) -> list[_Read]:
        schema_of, wanted = self._session.catalog.schema_of, self._wanted
        return [
            (schema, item, None)
            for item in items
            if (schema := schema_of(item)) is not None and schema.entity in wanted
        ]

    def _of_parts(self, wanted: list[_Read], usage: Usage) -> Steps[list[_Read]]:
        """Return what items of an index are read as: by views, or whole items from the table in their order."""
        plan, names = self._plan, self._session.catalog.table.key_attributes()
        placed = [(schema, item, self._place(schema)) for schema, item, _ in wanted]
        named = [item for _, item, place in placed if place.fetches]
        whole = (yield from read_whole(self._session, named, plan.cache_s, usage)) if named else {}
        found: list[_Read] = []
        assert plan.pk is not None
        for schema, item, place in placed:
            if not place.fetches:
                found.append((schema, item, place.view))
                continue
            stored = whole.get(hashable({name: item[name] for name in names}))
            if stored is not None and is_in_place(place, plan.pk, plan.bounds, stored):
                found.append((schema, stored, None))
        return found

    def _place(self, schema: EntitySchema[Any]) -> Binding:
        binding = collection_binding(schema, self._plan)
        assert binding is not None  # the request was made of it
        return binding

    def _next_limit(self, missing: int, is_wasteful: bool) -> int:
        """Return how many items the next request is for: twice as many where most are thrown away."""
        assert self._at_once is not None
        return max(missing, 1, min(self._at_once * 2, PAGE_ITEMS_MAX) if is_wasteful else 1)

    def _take_elsewhere(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        if self._other is None:
            self._other = self._others.popleft()()
        entities = yield from self._other.take(count, usage)
        if self._other.positions is None:
            self._other = None
        within = [entity for entity in entities if self._is_within(entity)]
        usage.thrown_away += len(entities) - len(within)
        return within

    def _fill_with_all(self, limit: int, usage: Usage) -> Steps[None]:
        """Read the first items of the partition and of what lies elsewhere; keep the first of them all."""
        while not self._is_read and len(self._buffer) < limit:
            yield from self._fill(usage)
        while self._others:
            while True:
                self._buffer.extend((yield from self._take_elsewhere(None, usage)))
                if self._other is None:
                    break
        self._buffer = deque(sorted(self._buffer, key=self._order)[:limit])
        self._is_read = True

    def _is_within(self, entity: Entity) -> bool:
        """Tell whether an item from elsewhere will be where the collection reads."""
        bounds = self._plan.bounds
        return bounds is None or is_within(bounds, self._order(entity)[0])

    def _order(self, entity: Entity) -> tuple[Any, ...]:
        """Return what an item of the collection is sorted by."""
        binding = self._place(self._session.catalog.schema_for(entity_type(entity)))
        is_partial = entity_type(entity) is not type(entity)
        if is_partial:  # it knows its keys, but not all fields that they are made of
            rendered = binding.item_of(*getattr(entity, binding.name))
        else:
            rendered = binding.render(key_values(entity))
        return tuple(sortable(rendered[attribute.name]) for attribute in binding.sk)
