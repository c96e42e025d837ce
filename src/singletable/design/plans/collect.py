"""Several entity types from one question: an item collection in one query, or plans that are read together.

class UserExport(Collection):
    user: User
    batches: list[Batch]

collect(UserExport, UserPK(user_id=user_id))
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import UnionType
from typing import Any, Generic, Self, TypeAlias, TypeGuard, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from singletable.blueprint import ReadBlueprint, SortBlueprint
from singletable.client.calls import Call, Params, Steps, read_units, side_by_side
from singletable.design.keys.key import Key, Prefix, SortKey
from singletable.design.keys.ranges import SortCondition, SortRange, is_within, sort_range, text_condition
from singletable.design.keys.template import next_prefix
from singletable.design.keys.texts import template_of
from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import Entity, entity_type, key_values
from singletable.design.model.places import Binding, EntityView
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.batch_get import read_whole, whole_item
from singletable.design.plans.bound import Index
from singletable.design.plans.get import Get
from singletable.design.plans.lookup import Lookup
from singletable.design.plans.plan import (
    AsyncRows,
    Found,
    Many,
    PlanRunner,
    Positions,
    Reading,
    Requests,
    Rows,
    Run,
    Single,
    Usage,
    inherited,
    one_or_all,
)
from singletable.design.plans.query import PAGE_ITEMS_MAX, Order, Query, add_place, query_requests
from singletable.design.plans.shape import PatternCalls, ReadsOf, named_read, sort_of
from singletable.design.session.expressions import Placeholders, is_in_place, key_condition, text_term
from singletable.design.session.session import Session, ask
from singletable.design.session.stored_items import entity_of
from singletable.design.values.arguments import require_count, require_kind
from singletable.design.values.items import Item, sortable
from singletable.errors import ConsistencyError, DeclarationError, KeyValueError, SeveralFoundError


def _with_partials(schema: Any) -> Any:
    """Let fields take partial entities as they are: the validators of a whole one would miss the rest."""
    if schema["type"] != "model-fields":
        return {**schema, "schema": _with_partials(schema["schema"])}
    fields = {
        name: {**field, "schema": _taking_partials(field["schema"])}
        for name, field in schema["fields"].items()
    }
    return {**schema, "fields": fields}


def _taking_partials(schema: Any) -> Any:
    if schema["type"] == "default":  # it stays outside: Pydantic does not look for one inside
        return {**schema, "schema": _taking_partials(schema["schema"])}
    return core_schema.no_info_wrap_validator_function(_taken, schema)


def _taken(value: Any, validate: Any) -> Any:
    kinds = set(map(type, value)) if isinstance(value, list) else {type(value)}
    is_partial = any(getattr(kind, "__partial_of__", None) is not None for kind in kinds)
    return value if is_partial else validate(value)


class Collection(BaseModel):
    """A result with several entity types: a field is an entity, an entity or None, or a list of entities."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema: CoreSchema = _with_partials(handler(source))
        return schema


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a collection."""

    name: str
    entity: type[Entity]
    is_list: bool
    is_required: bool


def members_of(into: type[Collection]) -> tuple[Member, ...]:
    """Return the fields of a collection class."""
    return tuple(_member(into, name, field.annotation) for name, field in into.model_fields.items())


def _member(into: type[Collection], name: str, annotation: object) -> Member:
    arguments = get_args(annotation)
    if get_origin(annotation) is list and _is_entity(arguments[0]):
        return Member(name, arguments[0], is_list=True, is_required=False)
    if get_origin(annotation) in (Union, UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        if len(inner) == 1 and _is_entity(inner[0]):
            return Member(name, inner[0], is_list=False, is_required=False)
    if _is_entity(annotation):
        return Member(name, annotation, is_list=False, is_required=True)
    raise DeclarationError(
        f"{into.__name__}.{name} is {annotation}, and a collection holds entities",
        hint="an Entity, an Entity | None, or a list[Entity]",
    )


def _is_entity(kind: object) -> TypeGuard[type[Entity]]:
    return isinstance(kind, type) and issubclass(kind, Entity)


C = TypeVar("C", bound=Collection)

Values: TypeAlias = dict[str, Any]  # of the fields of a collection
# An item that was read, its entity, and the view that makes a partial entity from it.
_Read: TypeAlias = tuple[EntitySchema, Item, EntityView | None]


class Collect(Single[C]):
    """Reads a collection: a partition with its `pk`, all of it or within `bounds`, or plans for each field."""

    limited: int | None = None

    def __init__(
        self,
        into: type[C],
        pk: Key | None,
        index: Index | None,
        parts: dict[str, Get[Any] | Lookup[Any] | Many[Any]],
        bounds: SortRange | None = None,
    ) -> None:
        self.into = into
        self.pk = pk
        self.index = index
        self.parts = parts
        self.bounds = bounds

    def __repr__(self) -> str:
        return f"{self.into.__name__} of {self.pk!r}" if self.pk is not None else self.into.__name__

    def limit(self, count: int) -> Self:
        """Read at most this many items of the partition, of all kinds together, in the order of the sort key."""
        require_count(count, "a limit")
        self._partition()
        return self.with_(limited=count)

    def all(self) -> Rows[Entity]:
        """Read the items of the partition one by one, of any kind, as they are iterated over."""
        return Rows(self._partition())

    def aall(self) -> AsyncRows[Entity]:
        """Read the items of the partition one by one, as they are iterated over with `async for`."""
        return AsyncRows(self._partition())

    def _partition(self) -> Self:
        if self.pk is None:
            raise DeclarationError(
                f"{self.into.__name__} is gathered from several plans, and not the items of one partition",
                hint="collect(...), or all() of each of the plans",
            )
        return self

    def refuse_consistent_index(self) -> None:
        if self.index is not None:
            raise ConsistencyError(f"index {self.index.name} is eventually consistent")
        for plan in self.parts.values():
            plan.refuse_consistent_index()


def collect(
    into: type[C], pk: Key, sk: Prefix[Any] | SortKey | None = None, *, index: Index | None = None
) -> Collect[C]:
    """Plan to read an item collection, of the table or of an index, in one query.

    A prefix narrows it to the items whose sort keys begin with it, of any field and any key class.
    """
    entities = [member.entity for member in members_of(into)]
    if len(set(entities)) < len(entities):
        raise DeclarationError(
            f"{into.__name__} has two fields of one entity, and an item goes to the field of its entity",
            hint="gather(...), with a plan for each field",
        )
    return Collect(into, pk, index, {}, None if sk is None else _narrowed(into, sk))


def _narrowed(into: type[C], sk: Prefix[Any] | SortKey) -> SortRange:
    require_kind(sk, (Prefix, SortKey), "a collection is narrowed by a prefix of a sort key")
    of = sk.of if isinstance(sk, Prefix) else type(sk)
    if of.compiled is None:
        raise KeyValueError(
            f"{into.__name__} cannot be narrowed by {of.shown()}: without a template, a key has no text",
            hint="gather(...), with a query for each field",
        )
    return sort_range(of, sk, gt=None, ge=None, lt=None, le=None)


def gather(into: type[C], **parts: Get[Any] | Lookup[Any] | Many[Any]) -> Collect[C]:
    """Plan to read a collection whose fields have a plan each."""
    members = {member.name for member in members_of(into)}
    if set(parts) != members:
        wrong = sorted(set(parts) ^ members)
        raise DeclarationError(
            f"{into.__name__} has {', '.join(sorted(members))}: {', '.join(wrong)} is missing or unknown"
        )
    return Collect(into, None, None, dict(parts))


# --- requests ---------------------------------------------------------------------------------------------


def _collect_params(session: Session, plan: Collect[C], limit: int | None, start: Item | None) -> Params:
    """Return the request that reads an item collection."""
    assert plan.pk is not None
    into = Placeholders()
    bindings = _member_bindings(session.catalog, plan)
    condition = key_condition(bindings[0], plan.pk, None, into)
    sort = _sort_condition(session.catalog, bindings, plan)
    if sort is not None:
        condition += f" AND {text_term(bindings[0], sort, into)}"
    params: Params = {"TableName": session.table, "KeyConditionExpression": condition}
    if limit is not None:
        params["Limit"] = limit
    add_place(params, plan.index.name if plan.index else None, start, consistent=plan.is_consistent)
    return into.add_to(params)


def _sort_condition(catalog: Catalog, bindings: list[Binding], plan: Collect[C]) -> SortCondition | None:
    if plan.bounds is not None:
        return text_condition(plan.bounds)
    span = _span(catalog, bindings, plan)
    return None if span is None else SortCondition("BETWEEN", span)


def _dual_queries(catalog: Catalog, plan: Collect[C]) -> dict[str, Query[Entity]]:
    """Return the dual read: a query for each member whose items may be under old keys, in other partitions."""
    found: dict[str, Query[Entity]] = {}
    for member, binding in zip(members_of(plan.into), _member_bindings(catalog, plan), strict=True):
        if binding.keys.was is not None:
            assert plan.pk is not None
            index = None if plan.index is None else plan.index.name
            bounds = _own_bounds(binding, plan)
            query = Query(member.entity, binding.name, index, plan.pk, bounds)
            is_filtered = plan.bounds is not None and plan.bounds is not bounds
            limit = None if is_filtered else plan.limited
            found[member.name] = inherited(plan, query.with_(limited=limit))
    return found


def _own_bounds(binding: Binding, plan: Collect[C]) -> SortRange:
    """Return the bounds of a collection, if they are of the sort key of an entity; else all keys of the entity."""
    own = binding.keys.sk
    if plan.bounds is not None and plan.bounds.of is own:
        return plan.bounds
    return SortRange(own)


def _member_bindings(catalog: Catalog, plan: Collect[C]) -> list[Binding]:
    bindings = []
    for member in members_of(plan.into):
        binding = _place_of(catalog.resolve(member.entity), plan)
        if binding is None:
            raise DeclarationError(
                f"{plan.into.__name__}.{member.name}: {member.entity.__name__} is not under "
                f"{type(plan.pk).__name__} in {plan.index.name if plan.index else 'the table'}"
            )
        bindings.append(binding)
    of = None if plan.bounds is None else plan.bounds.of
    if of is not None and all(binding.keys.sk is not of for binding in bindings):
        raise DeclarationError(
            f"{plan.into.__name__} is narrowed by {of.shown()}, and none of its entities has this sort key in "
            f"{plan.index.name if plan.index else 'the table'}",
            hint=f"they have {', '.join(dict.fromkeys(binding.keys.sk.shown() for binding in bindings))}",
        )
    return bindings


def _place_of(schema: EntitySchema, plan: Collect[C]) -> Binding | None:
    """Return the place of an entity that a collection reads it from; None if it is not there."""
    index = None if plan.index is None else schema.table.own_index(plan.index)
    if index is None and plan.index is not None:
        return None
    for binding in schema.bindings.values():
        if binding.index is index and binding.keys.pk is type(plan.pk):
            return binding
    return None


def _span(catalog: Catalog, bindings: list[Binding], plan: Collect[C]) -> tuple[str, str] | None:
    """Return the narrowest range of sort keys that holds a collection; None where it is the whole partition."""
    members = {member.entity for member in members_of(plan.into)}
    neighbours = {entity for entity, schema in catalog.schemas.items() if _place_of(schema, plan) is not None}
    sort_keys = [binding.keys.sk for binding in bindings]
    if neighbours <= members or not all(key.compiled and key.compiled.prefix({}) for key in sort_keys):
        return None
    return min(_first(key) for key in sort_keys), max(_last(key) for key in sort_keys)


def _first(key: type[SortKey]) -> str:
    assert key.compiled is not None
    return key.compiled.prefix({})


def _last(key: type[SortKey]) -> str:
    """Return the greatest text of a sort key, or the one that follows it."""
    return next_prefix(_first(key)) if key.parts else _first(key)


# --- reading ----------------------------------------------------------------------------------------------


class CollectRun(Run[Collect[C]]):
    """Carries out the plan of a collection."""

    def request(self) -> Requests:
        plan, runner = self.plan, self.runner
        if plan.pk is None:
            return {name: runner.request(inherited(plan, part)) for name, part in plan.parts.items()}
        session = runner.session
        duals = _dual_queries(session.catalog, plan).values()
        others = [query_requests(session, query, query.limited) for query in duals]
        return one_or_all([_collect_params(session, plan, plan.limited, None), *chain.from_iterable(others)])

    def reading(self, at_once: int | None) -> CollectReading[C]:
        return CollectReading(self.runner, self.plan, at_once)

    def found(self) -> Steps[Found[C | None]]:
        plan, usage = self.plan, Usage()
        members = {member.name: member for member in members_of(plan.into)}
        reads = self._gathered if plan.pk is None else self._collected
        values = yield from reads(members, usage)
        if any(member.is_required and values.get(name) is None for name, member in members.items()):
            return Found(None, usage)
        return Found(plan.into(**values), usage)

    def _collected(self, members: Mapping[str, Member], usage: Usage) -> Steps[Values]:
        by_entity = {member.entity: member for member in members.values()}
        values: Values = {name: [] if member.is_list else None for name, member in members.items()}
        for entity in (yield from self.reading(None).take(None, usage)):
            member = by_entity.get(type(entity)) or by_entity[entity_type(entity)]
            if member.is_list:
                values[member.name].append(entity)
            elif values[member.name] is None:
                values[member.name] = entity
            else:
                raise SeveralFoundError(
                    f"{self.plan!r} finds several items of {member.entity.__name__}",
                    hint=f"{member.name}: list[{member.entity.__name__}]",
                )
        return values

    def _gathered(self, members: Mapping[str, Member], usage: Usage) -> Steps[Values]:
        parts = self.plan.parts
        reads = [self._gathered_part(part, members[name], usage) for name, part in parts.items()]
        return dict(zip(parts, (yield from side_by_side(reads)), strict=True))

    def _gathered_part(
        self, part: Get[Any] | Lookup[Any] | Many[Any], member: Member, usage: Usage
    ) -> Steps[Any]:
        part, runner = inherited(self.plan, part), self.runner
        if isinstance(part, Get | Lookup):
            found = yield from runner.found(part)
            usage.add(found.usage)
            return [found.item] if member.is_list and found.item is not None else found.item
        if member.is_list:
            return (yield from runner.reading(part).take(None, usage))
        return next(iter((yield from runner.reading(part, at_once=1).take(1, usage))), None)


class CollectReading(Generic[C]):
    """Reads the items of a partition that a collection has a field for, in the order of the sort key.

    Items that may be under old keys (`was=`) are read by queries of their own, after the partition. A limit is
    about all of them together, so with one they are read first, and sorted.
    """

    def __init__(self, runner: PlanRunner, plan: Collect[C], at_once: int | None) -> None:
        session = runner.session
        duals = _dual_queries(session.catalog, plan)
        members = members_of(plan.into)
        self._session = session
        self._plan = plan
        self._wanted = frozenset(member.entity for member in members if member.name not in duals)
        places = [_place_of(session.catalog.resolve(each.entity), plan) for each in members]
        self._has_parts = any(place is not None and place.held is not None for place in places)
        self._buffer: deque[Entity] = deque()
        self._start: Item | None = None
        self._is_read = False
        self._left = plan.limited
        self._at_once = plan.limited
        self._others = deque(partial(runner.reading, query, at_once=at_once) for query in duals.values())
        self._other: Reading[Entity] | None = None

    @property
    def positions(self) -> Positions | None:
        """Whether there may be more: an empty list, or None at the end. A collection has no cursors."""
        return None if self._is_over else []

    @property
    def _is_over(self) -> bool:
        is_read = self._is_read and not self._others and self._other is None
        return self._left == 0 or (is_read and not self._buffer)

    def take(self, count: int | None, usage: Usage) -> Steps[list[Entity]]:
        """Read all entities; or at most this many more, and fewer rather than hold the items of two requests."""
        entities: list[Entity] = []
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

    def _give_out(self, count: int | None) -> list[Entity]:
        sizes = [size for size in (count, self._left, len(self._buffer)) if size is not None]
        entities = [self._buffer.popleft() for _ in range(min(sizes))]
        if self._left is not None:
            self._left -= len(entities)
        return entities

    def _fill(self, usage: Usage) -> Steps[None]:
        session = self._session
        call = Call("Query", _collect_params(session, self._plan, self._at_once, self._start))
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
        plan, session = self._plan, self._session
        placed = [(schema, item, self._place(schema)) for schema, item, _ in wanted]
        named = [item for _, item, place in placed if place.fetches]
        whole = (yield from read_whole(session, named, plan.cache_s, usage)) if named else {}
        found: list[_Read] = []
        assert plan.pk is not None
        for schema, item, place in placed:
            if not place.fetches:
                found.append((schema, item, place.view))
                continue
            stored = whole_item(session, item, whole)
            if stored is not None and is_in_place(place, plan.pk, plan.bounds, stored):
                found.append((schema, stored, None))
        return found

    def _place(self, schema: EntitySchema) -> Binding:
        binding = _place_of(schema, self._plan)
        assert binding is not None  # the request was made of it
        return binding

    def _next_limit(self, missing: int, is_wasteful: bool) -> int:
        """Return the limit of the next request: twice as many items if most are thrown away."""
        assert self._at_once is not None
        return max(missing, 1, min(self._at_once * 2, PAGE_ITEMS_MAX) if is_wasteful else 1)

    def _take_elsewhere(self, count: int | None, usage: Usage) -> Steps[list[Entity]]:
        if self._other is None:
            self._other = self._others.popleft()()
        entities = yield from self._other.take(count, usage)
        if self._other.positions is None:
            self._other = None
        within = [entity for entity in entities if self._is_within(entity)]
        usage.thrown_away += len(entities) - len(within)
        return within

    def _fill_with_all(self, limit: int, usage: Usage) -> Steps[None]:
        """Read the first items of the partition and of the other queries; keep the first of all."""
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
        """Tell whether an item under old keys belongs into the range of the collection."""
        bounds = self._plan.bounds
        return bounds is None or is_within(bounds, self._order(entity)[0])

    def _order(self, entity: Entity) -> Order:
        """Return the sort value of an item of the collection."""
        binding = self._place(self._session.catalog.schema_for(entity_type(entity)))
        is_partial = entity_type(entity) is not type(entity)
        if is_partial:  # it knows its keys, but not all fields that they are made of
            rendered = binding.item_of(*getattr(entity, binding.name))
        else:
            rendered = binding.render(key_values(entity))
        return tuple(sortable(rendered[attribute.name]) for attribute in binding.sk)


# --- shape ------------------------------------------------------------------------------------------------


def collect_reads(
    calls: PatternCalls[Collect[C]], name: str | None, reads_of: ReadsOf
) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a collection: its partition, or the plans of its fields."""
    plan, *_ = plans = calls.plans
    if plan.pk is None:
        members = (
            reads_of(calls.of([inherited(each, each.parts[field]) for each in plans]), field)
            for field in plan.parts
        )
        return tuple(read for reads in members for read in reads)
    read = ReadBlueprint(
        "Query",
        tuple(member.entity.__name__ for member in members_of(plan.into)),
        template_of([each.pk for each in plans if each.pk is not None], calls.same),
        index=None if plan.index is None else plan.index.name,
        sort=_sort_shape(calls, plan),
        limit=plan.limited,
        is_consistent=plan.is_consistent,
    )
    return (read, *_fetch_reads(calls, plan))


def _fetch_reads(calls: PatternCalls[Collect[C]], plan: Collect[C]) -> Iterator[ReadBlueprint]:
    for member in members_of(plan.into):
        place = _place_of(calls.catalog.schema_for(member.entity), plan)
        if place is not None and place.fetches:
            yield named_read(calls.catalog, member.entity, None, by=member.entity.__name__)


def _sort_shape(calls: PatternCalls[Collect[C]], plan: Collect[C]) -> SortBlueprint | None:
    if plan.bounds is None:
        span = _span(calls.catalog, _member_bindings(calls.catalog, plan), plan)
        return None if span is None else SortBlueprint("BETWEEN", span)
    # With other values, a pattern may narrow its collection by another key, or not at all.
    narrowed = [each.bounds for each in calls.plans if each.bounds is not None]
    return sort_of([bounds for bounds in narrowed if bounds.of is plan.bounds.of], calls)
