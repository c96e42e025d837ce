"""The items of one partition, in the order of the sort key.

A reading keeps items that it has read and not yet given out, so it reads nothing twice. A cursor holds its
positions, from which another process can continue. While the keys of a place change (`was=`), a query is a dual
read of the old keys and the new ones, merged into one order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Self, TypeAlias

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Answer, Call, Params, Steps, read_units
from singletable.design.keys.key import Key, Prefix
from singletable.design.keys.old_keys import old_keys
from singletable.design.keys.ranges import Bound, SortRange, is_empty, is_wider, is_within, leading
from singletable.design.keys.texts import template_of
from singletable.design.model.entity import key_values
from singletable.design.model.places import Binding, key_item
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.batch_get import Whole, read_whole, whole_item
from singletable.design.plans.followed import Followable, meets
from singletable.design.plans.plan import E, Identity, P, Positions, Requests, Run, Usage, one_or_all
from singletable.design.plans.shape import PatternCalls, bounds_of, filter_of, named_read, sort_of
from singletable.design.session.expressions import (
    Placeholders,
    condition_identity,
    condition_text,
    is_in_place,
    is_text_key,
    key_condition,
    not_expired,
)
from singletable.design.session.session import Session, ask
from singletable.design.session.stored_items import reporting
from singletable.design.values.condition_values import conditions_on
from singletable.design.values.conditions import Condition, describe, fields_of
from singletable.design.values.items import Item, sortable
from singletable.errors import ConsistencyError, KeyValueError, NotProjectedError

PAGE_ITEMS_MAX: Final = 1000

# A position is the key of the last finished item; False before the first item, None after the last.
Position: TypeAlias = Item | bool | None
START: Final = False
OLD: Final = "$old"  # wraps the key of an item that was found under its old keys

Order: TypeAlias = tuple[Any, ...]  # the sort value of an item: the values of its sort key


class Query(Followable[E]):
    """Reads the items of one partition, in the order of the sort key.

    `place` is the name under which the entity has bound its keys; `index` that of the index, None for the table.
    """

    def __init__(self, entity: type[E], place: str, index: str | None, pk: Key, bounds: SortRange) -> None:
        self.entity = entity
        self.place = place
        self.index = index
        self.pk = pk
        self.bounds = bounds
        self.forward = True
        self.conditions: tuple[Condition, ...] = ()

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.place}.query({self.pk!r})"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(forward=False)

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. This is the default."""
        return self.with_(forward=True)

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Leave out items that do not meet conditions. They are still read, and paid for."""
        more = conditions_on(self.entity, conditions, equal)
        return self.with_(conditions=(*self.conditions, *more))

    def refuse_consistent_index(self) -> None:
        if self.index is not None:
            raise ConsistencyError(
                f"{self.entity.__name__}.{self.place} is in index {self.index}, which is eventually consistent",
                hint="read the table by its key where the last write must be seen",
            )


# --- requests ---------------------------------------------------------------------------------------------


def is_filtered_later(binding: Binding, condition: Condition) -> bool:
    """Tell whether a condition is checked on the fetched whole items, since the index does not hold its fields."""
    return binding.fetches and binding.held is not None and not binding.held.issuperset(fields_of(condition))


def _refuse_unprojected(query: Query[E], binding: Binding, condition: Condition) -> None:
    """Refuse a filter by fields that an index does not hold, as DynamoDB does; other targets find nothing."""
    missing = (
        [] if binding.held is None else [each for each in fields_of(condition) if each not in binding.held]
    )
    if missing:
        raise NotProjectedError(
            f"{query!r} cannot filter by {describe(condition)}: index {query.index} does not hold "
            f"{' and '.join(missing)}",
            hint=f'Index("{query.index}", ..., projection=("{missing[0]}",)) holds it; or bind '
            f"{query.entity.__name__}.{query.place} with fetch=True, which filters whole items",
        )


def filter_text(schema: EntitySchema, query: Query[E], now_s: int, into: Placeholders) -> str | None:
    """Write the filter of a query: its conditions, and that an item has not expired."""
    terms = []
    binding = schema.bindings[query.place]
    keys = {attribute.field for attribute in binding.attributes()}
    for condition in query.conditions:
        if keys.intersection(fields_of(condition)):
            raise KeyValueError(
                f"{query!r} cannot filter by {describe(condition)}: the field is a key of what is read",
                hint="give it as a bound of the query: eq, gt=, ge=, lt=, le=, between=",
            )
        if is_filtered_later(binding, condition):
            continue
        _refuse_unprojected(query, binding, condition)
        terms.append(condition_text(condition, schema, into))
    # For fetched items it is checked after the fetch: DynamoDB refuses a filter by unprojected attributes.
    is_held = schema.ttl is not None and (binding.held is None or schema.ttl.name in binding.held)
    alive = not_expired(schema, now_s, into) if is_held else None
    if alive is not None:
        terms.append(alive)
    return " AND ".join(terms) or None


def query_params(
    session: Session, query: Query[E], limit: int | None, start: Item | None, *, now_s: int | None = None
) -> Params:
    """Return the request of a query that continues after a key."""
    schema = session.catalog.schema_for(query.entity)
    into = Placeholders()
    condition = key_condition(schema.bindings[query.place], query.pk, query.bounds, into)
    params: Params = {"TableName": session.table, "KeyConditionExpression": condition}
    text = filter_text(schema, query, session.now_s() if now_s is None else now_s, into)
    if text is not None:
        params["FilterExpression"] = text
    if not query.forward:
        params["ScanIndexForward"] = False
    if limit is not None:
        params["Limit"] = limit
    add_place(params, query.index, start, consistent=query.is_consistent)
    return into.add_to(params)


def add_place(params: Params, index: str | None, start: Item | None, *, consistent: bool) -> None:
    """Add the index and the start key to a request."""
    if index is not None:
        params["IndexName"] = index
    if consistent:
        params["ConsistentRead"] = True
    if start is not None:
        params["ExclusiveStartKey"] = start
    params["ReturnConsumedCapacity"] = "TOTAL"


def query_identity(session: Session, query: Query[E]) -> Identity:
    """Return the identity of a query, for its cursors. Time and limit are not part of it.

    It is made from stored names and values, not from expressions: a later release may write expressions
    differently, and cursors must stay valid.
    """
    schema = session.catalog.schema_for(query.entity)
    binding, bounds = schema.bindings[query.place], query.bounds
    given = {"begins": bounds.begins, "eq": bounds.eq}
    given |= {"gt": bounds.gt, "ge": bounds.ge, "lt": bounds.lt, "le": bounds.le}
    texts = {sign: _texts(bound) for sign, bound in given.items() if bound is not None}
    conditions = [condition_identity(condition, schema) for condition in query.conditions]
    kind = [schema.name, query.index or "", query.forward]
    return [kind, key_item(query.pk, binding.pk), texts, conditions, query.limited]


def _texts(bound: Bound) -> list[str]:
    kind = bound.of if isinstance(bound, Prefix) else type(bound)
    codecs = {part.name: part.codec for part in kind.parts}
    return [codecs[name].render(value) for name, value in leading(bound)]


def query_requests(session: Session, query: Query[E], limit: int | None) -> list[Params]:
    """Return the requests of a query; while keys change (`was=`), those under the old keys first."""
    olds = [query_params(session, old, None, None) for old in _old_queries(session, query)]
    return [*olds, query_params(session, query, limit, None)]


def _old_queries(session: Session, query: Query[E]) -> list[Query[E]]:
    """Return the queries that find items under old keys. Each reads a whole partition."""
    was = session.catalog.schema_for(query.entity).bindings[query.place].keys.was
    if was is None:
        return []
    return [query.with_(pk=pk, bounds=SortRange(was[1])) for pk in old_keys(was[0], (query.pk,))]


# --- reading one query ------------------------------------------------------------------------------------


def fetched(
    session: Session, query: Query[E], answers: Iterable[Answer], usage: Usage
) -> Steps[Whole | None]:
    """Fetch the whole items for the answers to a query, if its binding says so; None if it does not.

    They count as read. An item of the index without a whole item counts as thrown away.
    """
    schema = session.catalog.schema_for(query.entity)
    if not schema.bindings[query.place].fetches:
        return None
    items = [item for answer in answers for item in answer["Items"]]
    # The entity of an item of keys only is known after the fetch.
    name = session.catalog.discriminator
    named = [item for item in items if name not in item or item[name].get("S") in schema.names]
    return (yield from read_whole(session, named, query.cache_s, usage))


def _plain_position(position: Position) -> Position:
    """Return a position without the wrapper of an old key."""
    return position[OLD] if isinstance(position, dict) and OLD in position else position


class QueryPart(Generic[E]):
    """Reads one query forward from a position, by itself or merged with others."""

    def __init__(self, session: Session, query: Query[E], position: Position, limit: int | None) -> None:
        self.query = query
        self.buffer: deque[tuple[Item, E]] = deque()
        self.schema = session.catalog.schema_for(query.entity)
        self.binding: Binding = self.schema.bindings[query.place]
        self._session = session
        self._entity_of = reporting(query.report)
        self._view = self.binding.view
        self._limit = limit
        self._start = _plain_position(position)
        self._given: Item | None = None  # the last item given out
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
        """Where to continue: after the items given out, and those thrown away after them."""
        if not self.buffer:
            return self._read
        return self._start if self._given is None else self.key_of(self._given)

    def call(self) -> Call:
        """Return the next request."""
        return Call("Query", self._params(self._session.now_s()))

    def take(self, answer: Answer, usage: Usage, whole: Whole | None = None) -> None:
        """Take the answer of a request, with the whole items that it names where those are fetched."""
        items = answer["Items"]
        scanned = answer.get("ScannedCount", len(items))
        if self._is_wider:
            bounds, name = self.query.bounds, self.binding.sk[0].name
            items = [item for item in items if is_within(bounds, item[name]["S"])]
        if whole is None:
            entity_of, schema, session, view = self._entity_of, self.schema, self._session, self._view
            read = [(item, entity_of(schema, session, item, view)) for item in items]
        else:
            read = [(item, self._fetched_entity(item, whole)) for item in items]
        found = [each for each in read if each[1] is not None]
        self.buffer.extend(found)
        usage.add(Usage(read_units(answer), scanned, scanned - len(found)))
        self._read = answer.get("LastEvaluatedKey")
        if self._limit is not None and len(found) * 2 < self._limit:
            # If a filter throws many items away, the next requests are larger.
            self._limit = max(self._limit, min(self._limit * 2, PAGE_ITEMS_MAX))

    def fill(self, usage: Usage) -> Steps[None]:
        """Read until there is an item, or the end."""
        session, query, fetches = self._session, self.query, self.binding.fetches
        while not self.buffer and not self.is_read:
            # The current time is not part of the cache key.
            answer = yield from ask(session, self.call(), query.cache_s, kept_as=lambda: self._params(0))
            whole = (yield from fetched(session, query, [answer], usage)) if fetches else None
            self.take(answer, usage, whole)

    def whole_entity(self, stored: Item) -> E | None:
        """Return the entity of a whole item; None if it does not meet the query."""
        entity: E | None = self._entity_of(self.schema, self._session, stored, None)
        # All conditions are checked again: the index may be older than the item.
        return entity if entity is not None and meets(entity, self.query.conditions) else None

    def _fetched_entity(self, item: Item, whole: Whole) -> E | None:
        stored = whole_item(self._session, item, whole)
        if stored is None:
            return None
        # The item keeps its place in the order of the index, if it is still in the range of the query.
        is_there = all(stored.get(each.name) == item[each.name] for each in self.binding.attributes())
        if not is_there and not is_in_place(self.binding, self.query.pk, self.query.bounds, stored):
            return None
        return self.whole_entity(stored)

    def pop(self) -> E:
        """Give out the next entity."""
        self._given, entity = self.buffer.popleft()
        return entity

    def pop_all(self) -> list[E]:
        """Give out what is read."""
        entities = [entity for _, entity in self.buffer]
        self._given = self.buffer[-1][0]
        self.buffer.clear()
        return entities

    def order(self) -> Order:
        """Return what the next item is sorted by."""
        item, _ = self.buffer[0]
        return tuple(sortable(item[attribute.name]) for attribute in self.binding.sk)

    def _params(self, now_s: int) -> Params:
        start = self._read if isinstance(self._read, dict) else None
        return query_params(self._session, self.query, self._limit, start, now_s=now_s)

    def key_of(self, item: Item) -> Item:
        """Return the key of an item in the table and in the place that is read."""
        names = [*self.schema.key_names, *(a.name for a in self.binding.attributes())]
        return {name: item[name] for name in dict.fromkeys(names)}


# --- dual read --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row(Generic[E]):
    """An item to give out: its sort value, its new key, and whether it is stored under that."""

    order: Order
    key: Item
    entity: E
    is_old: bool

    @property
    def identity(self) -> Order:
        return _texts_of(self.key)


class DualQueryPart(Generic[E]):
    """Reads one query forward from a position, under old keys and new ones.

    The old keys have another order, so the items under them are read whole, and sorted by their new keys. They are
    read first: an item that moves meanwhile is then found twice, and given out once. Positions are those of the
    new keys, so a cursor stays valid when an item moves, and when the code drops the old keys.
    """

    def __init__(self, session: Session, query: Query[E], position: Position, limit: int | None) -> None:
        self.query = query
        self.buffer: deque[_Row[E]] = deque()
        self.schema = session.catalog.schema_for(query.entity)
        self.binding: Binding = self.schema.bindings[query.place]
        self._session = session
        self._entity_of = reporting(query.report)
        self._new = QueryPart(session, query, position, limit)
        self._fresh: deque[_Row[E]] = deque()
        self._old: deque[_Row[E]] = deque()
        self._waiting = deque(() if self._new.is_read else _old_queries(session, query))
        self._start: Item | None = None  # within the first that waits
        self._given = position
        self._after = self._place_of(position)
        self._seen: set[Order] = set()

    @property
    def is_read(self) -> bool:
        """Whether the target has no more."""
        return not self._waiting and self._new.is_read

    @property
    def position(self) -> Position:
        """Where to continue: after the items given out."""
        return None if self.is_read and not self.buffer else self._given

    def call(self) -> Call:
        """Return the next request."""
        if not self._waiting:
            return self._new.call()
        return Call("Query", query_params(self._session, self._waiting[0], None, self._start))

    def take(self, answer: Answer, usage: Usage, whole: Whole | None = None) -> None:
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

    def pop(self) -> E:
        """Give out the next entity."""
        row = self.buffer.popleft()
        self._given = {OLD: row.key} if row.is_old else row.key
        return row.entity

    def pop_all(self) -> list[E]:
        """Give out what is read."""
        return [self.pop() for _ in range(len(self.buffer))]

    def order(self) -> Order:
        """Return what the next item is sorted by."""
        return self.buffer[0].order

    # --- under the old keys ---------------------------------------------------------------------------

    def _take_old(self, answer: Answer, usage: Usage, whole: Whole | None) -> None:
        found = [row for item in answer["Items"] if (row := self._old_row(item, whole)) is not None]
        self._old.extend(found)
        scanned = answer.get("ScannedCount", len(answer["Items"]))
        usage.add(Usage(read_units(answer), scanned, scanned - len(found)))
        self._start = answer.get("LastEvaluatedKey")
        if self._start is None:
            self._waiting.popleft()
        if not self._waiting:
            forward = self.query.forward
            self._old = deque(
                sorted(self._old, key=lambda row: (row.order, row.identity), reverse=not forward)
            )

    def _old_row(self, named: Item, whole: Whole | None) -> _Row[E] | None:
        """Return an item that is under its old keys, and belongs into the range of the query."""
        item = named if whole is None else whole_item(self._session, named, whole)
        if item is None:
            return None
        if whole is None:
            entity = self._entity_of(self.schema, self._session, item, None)
        else:
            entity = self._new.whole_entity(item)
        if entity is None or not self._is_old(item, entity):
            return None
        rendered = self.binding.render(key_values(entity))
        if not _has(rendered, key_item(self.query.pk, self.binding.pk)):
            return None
        sk = self.binding.sk
        if sk and not is_within(self.query.bounds, rendered[sk[0].name]["S"]):
            return None
        key = {**self.schema.primary_key(entity), **rendered}
        row = _Row(self._order_of(rendered), key, entity, is_old=True)
        return row if self._is_after(row) else None

    def _is_old(self, item: Item, entity: Any) -> bool:
        was = self.binding.keys.was
        assert was is not None
        values = key_values(entity)
        for key, attributes in zip(was, (self.binding.pk, self.binding.sk), strict=True):
            old = key.from_values(values)
            if old is None or (attributes and not _has(item, key_item(old, attributes))):
                return False
        return True

    def _order_of(self, item: Item) -> Order:
        return tuple(sortable(item[attribute.name]) for attribute in self.binding.sk)

    def _place_of(self, position: Position) -> tuple[Order, Order, bool] | None:
        key = _plain_position(position)
        if not isinstance(key, dict) or not isinstance(position, dict):
            return None
        return self._order_of(key), _texts_of(key), OLD in position

    def _is_after(self, row: _Row[E]) -> bool:
        """Tell whether an old item comes after the position. Among equals, new items come first."""
        if self._after is None:
            return True
        order, key, was_old = self._after
        if row.order != order:
            return (row.order > order) is self.query.forward
        return not was_old or ((row.identity > key) is self.query.forward and row.identity != key)

    # --- in one order ---------------------------------------------------------------------------------

    def _add_new(self, item: Item, entity: E) -> None:
        if self._is_old(item, entity):
            return  # it was read before, under its old key, and is sorted by its new key
        self._fresh.append(_Row(self._order_of(item), self._new.key_of(item), entity, is_old=False))

    def _release(self) -> None:
        """Give out the items that no unread item can precede."""
        while self._fresh or (self._old and self._new.is_read):
            if self._old and (not self._fresh or self._comes_first(self._old[0], self._fresh[0])):
                row = self._old.popleft()
                if row.identity not in self._seen:
                    self.buffer.append(row)
            else:
                row = self._fresh.popleft()
                self._seen.add(row.identity)
                self.buffer.append(row)

    def _comes_first(self, old: _Row[E], new: _Row[E]) -> bool:
        return old.order != new.order and (old.order < new.order) is self.query.forward


def _has(item: Item, key: Item) -> bool:
    return all(item.get(name) == value for name, value in key.items())


def _texts_of(key: Item) -> Order:
    return tuple(sorted((name, *map(str, value.values())) for name, value in key.items()))


def part_of(
    session: Session, query: Query[E], position: Position, limit: int | None
) -> QueryPart[E] | DualQueryPart[E]:
    """Return the reader of one query: of its keys, or a dual read of old and new keys."""
    schema = session.catalog.schema_for(query.entity)
    if schema.bindings[query.place].keys.was is None:
        return QueryPart(session, query, position, limit)
    return DualQueryPart(session, query, position, limit)


class QueryRun(Run[Query[E]]):
    """Carries out a query."""

    def request(self, limit: int | None) -> Requests:
        return one_or_all(query_requests(self.session, self.plan, limit))

    def identity(self) -> Identity:
        return query_identity(self.session, self.plan)

    def reading(self, positions: Positions | None, at_once: int | None) -> QueryReading[E]:
        position = START if positions is None else positions[0]
        return QueryReading(part_of(self.session, self.plan, position, at_once))


class QueryReading(Generic[E]):
    """Reads one query."""

    def __init__(self, part: QueryPart[E] | DualQueryPart[E]) -> None:
        self._part = part

    @property
    def positions(self) -> Positions | None:
        position = self._part.position
        return None if position is None else [position]

    def take(self, count: int | None, usage: Usage) -> Steps[list[E]]:
        """Read the next entities, this many or all."""
        part = self._part
        entities: list[E] = []
        while count is None or len(entities) < count:
            if not part.buffer:
                if part.is_read:
                    break
                yield from part.fill(usage)
            elif count is None or len(part.buffer) <= count - len(entities):
                entities += part.pop_all()
            else:
                entities.append(part.pop())
        return entities


# --- shape ------------------------------------------------------------------------------------------------


def query_reads(calls: PatternCalls[Query[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a query."""
    return query_reads_of(calls, [[plan] for plan in calls.plans], name)


def query_reads_of(
    calls: PatternCalls[P], queries: Sequence[Sequence[Query[E]]], name: str | None
) -> tuple[ReadBlueprint, ...]:
    """Return one request for all queries of a kind: the write shards of a partition count as one.

    `queries` are those that each of the plans is made of.
    """
    first, *others = queries
    kinds: dict[Hashable, list[Query[E]]] = {}
    for query in first:
        kinds.setdefault(_kind(query), []).append(query)
    reads = []
    for kind, own in kinds.items():
        alike = [*own, *(query for plan in others for query in plan if _kind(query) == kind)]
        read = _query_read(calls, alike, name)
        reads.append(replace(read, count=len(own), is_consistent=calls.plans[0].is_consistent))
        if _place(calls, own[0]).fetches:
            reads.append(_fetch_read(calls, alike, name))
    return tuple(reads)


def _place(calls: PatternCalls[P], query: Query[E]) -> Binding:
    return calls.catalog.schema_for(query.entity).bindings[query.place]


def _fetch_read(calls: PatternCalls[P], queries: Sequence[Query[E]], name: str | None) -> ReadBlueprint:
    """Return the request for the whole items that a query of an index names."""
    entity, place = queries[0].entity, _place(calls, queries[0])
    later = [[each for each in query.conditions if is_filtered_later(place, each)] for query in queries]
    read = named_read(calls.catalog, entity, name, by=entity.__name__)
    return replace(read, filter=filter_of(later, calls))


def _kind(query: Query[E]) -> Hashable:
    operators = tuple(operator for operator, _ in bounds_of(query.bounds))
    fields = tuple(type(condition) for condition in query.conditions)
    return query.entity, query.place, type(query.pk), operators, fields, query.forward, query.limited


def _query_read(calls: PatternCalls[P], queries: Sequence[Query[E]], name: str | None) -> ReadBlueprint:
    query, place = queries[0], _place(calls, queries[0])
    at_once = [[each for each in query.conditions if not is_filtered_later(place, each)] for query in queries]
    return ReadBlueprint(
        "Query",
        (query.entity.__name__,),
        template_of([each.pk for each in queries], calls.same),
        index=query.index,
        sort=sort_of([each.bounds for each in queries], calls),
        filter=filter_of(at_once, calls),
        order="forward" if query.forward else "backward",
        limit=query.limited,
        is_consistent=query.is_consistent,
        name=name,
    )
