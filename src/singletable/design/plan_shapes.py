"""What plans would ask for, as data: the requests of an access pattern, read off plans for sample values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from singletable.blueprint import ReadBlueprint, SortBlueprint, WriteBlueprint
from singletable.design.annotations import plain_value
from singletable.design.catalog import Catalog
from singletable.design.collections import Collect, members_of
from singletable.design.condition_data import condition_data
from singletable.design.conditions import Condition, all_of
from singletable.design.following import Followed
from singletable.design.key_texts import template_of, template_of_all
from singletable.design.keys import NoSortKey
from singletable.design.many import Composed
from singletable.design.places import Binding
from singletable.design.plans import BatchGet, Get, Lookup
from singletable.design.queries import Merged, Query, Walk
from singletable.design.ranges import SortRange
from singletable.design.requests import collection_binding, collection_span, is_filtered_later
from singletable.design.writes import Create, Delete, Put, Update
from singletable.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Calls:
    """The plans that calls of one pattern returned, each with the values that it was called with."""

    catalog: Catalog
    plans: Sequence[Any]  # that read, or that write
    arguments: Sequence[dict[str, Any]]

    @property
    def same(self) -> list[Any]:
        """Return the values that were the same in all calls, though they are the caller's."""
        first, *others = self.arguments
        return [
            value
            for name, value in first.items()
            if value is not None and all(other[name] == value for other in others)
        ]

    def of(self, plans: Sequence[Any]) -> Calls:
        """Return the calls with these plans, as far as they are of the kind of the first."""
        return replace(self, plans=[plan for plan in plans if type(plan) is type(plans[0])])


def reads_of(calls: Calls, name: str | None = None) -> tuple[ReadBlueprint, ...]:
    """Return the kinds of requests that a pattern sends."""
    calls = calls.of(calls.plans)
    plans: Any = calls.plans
    match calls.plans[0]:
        case Get() as plan:
            return (_get(calls, plan, name),)
        case Lookup() as plan:
            return _lookup(calls, plan, name)
        case BatchGet() as plan:
            return _batch_get(calls, plan, name)
        case Query() | Merged() | Walk():
            return _queries(calls, name)
        case Followed() as plan:
            return _followed(calls, plan, name)
        case Composed() as plan:
            steps = (calls.of([each.reads[number] for each in plans]) for number in range(len(plan.reads)))
            return tuple(read for step in steps for read in reads_of(step, name))
        case Collect(pk=None) as plan:
            members = (
                reads_of(calls.of([_as_fresh(each.parts[field], each) for each in plans]), field)
                for field in plan.parts
            )
            return tuple(read for reads in members for read in reads)
        case Collect() as plan:
            return (_collection(calls, plan), *_collection_fetches(calls, plan))
        case plan:
            raise DeclarationError(f"{type(plan).__name__} is no plan that reads")


def _as_fresh(part: Any, plan: Collect[Any]) -> Any:
    return part.with_(is_consistent=True) if plan.is_consistent else part


def _get(calls: Calls, plan: Get[Any], name: str | None) -> ReadBlueprint:
    plans: Any = calls.plans
    return ReadBlueprint(
        "GetItem",
        (plan.entity.__name__,),
        template_of([each.pk for each in plans], calls.same),
        sort=_equal([each.sk for each in plans], calls),
        is_consistent=plan.is_consistent,
        name=name,
    )


def _lookup(calls: Calls, plan: Lookup[Any], name: str | None) -> tuple[ReadBlueprint, ...]:
    plans: Any = calls.plans
    schema = calls.catalog.schema_for(plan.entity)
    keys, sort = schema.key.keys, schema.locks[plan.unique].sort
    lock = ReadBlueprint(
        "GetItem",
        (plan.entity.__name__,),
        template_of([each.key for each in plans], calls.same),
        sort=None if calls.catalog.table.sk is None else SortBlueprint("=", (sort,)),
        is_consistent=plan.is_consistent,
        name=name,
        lock=plan.unique,
    )
    owner = replace(
        lock,
        pk=template_of_all(keys.pk),
        sort=None if keys.sk is NoSortKey else SortBlueprint("=", (template_of_all(keys.sk),)),
        lock=None,
        owner_of=plan.unique,
    )
    return lock, owner


def _batch_get(calls: Calls, plan: BatchGet[Any], name: str | None) -> tuple[ReadBlueprint, ...]:
    plans: Any = calls.plans
    keys = [key for each in plans for key in each.keys]
    if not keys:
        raise DeclarationError("its sample values ask for no keys")
    read = ReadBlueprint(
        "BatchGetItem",
        (plan.entity.__name__,),
        template_of([pk for pk, _ in keys], calls.same),
        sort=_equal([sk for _, sk in keys], calls),
        is_consistent=plan.is_consistent,
        count=len(plan.keys),
        name=name,
    )
    return (read,)


def _followed(calls: Calls, plan: Followed[Any], name: str | None) -> tuple[ReadBlueprint, ...]:
    plans: Any = calls.plans
    naming = reads_of(calls.of([each.source for each in plans]), name)
    keys = calls.catalog.schema_for(plan.entity).key.keys
    named = ReadBlueprint(
        "BatchGetItem",
        (plan.entity.__name__,),
        template_of_all(keys.pk),
        sort=None if keys.sk is NoSortKey else SortBlueprint("=", (template_of_all(keys.sk),)),
        filter=_filter([all_of(list(each.conditions)) for each in plans], calls),
        limit=plan.limited,
        is_consistent=plan.is_consistent,
        name=name,
        named_by=naming[0].entities[0],
    )
    return (*naming, named)


def _equal(keys: Sequence[Any], calls: Calls) -> SortBlueprint | None:
    if keys[0] is None or type(keys[0]) is NoSortKey:
        return None
    return SortBlueprint("=", (template_of(keys, calls.same),))


def _collection(calls: Calls, plan: Collect[Any]) -> ReadBlueprint:
    plans: Any = calls.plans
    return ReadBlueprint(
        "Query",
        tuple(member.entity.__name__ for member in members_of(plan.into)),
        template_of([each.pk for each in plans], calls.same),
        index=None if plan.index is None else plan.index.name,
        sort=_collection_sort(calls, plan),
        limit=plan.limited,
        is_consistent=plan.is_consistent,
    )


def _collection_fetches(calls: Calls, plan: Collect[Any]) -> Iterable[ReadBlueprint]:
    for member in members_of(plan.into):
        place = collection_binding(calls.catalog.schema_for(member.entity), plan)
        if place is not None and place.fetches:
            yield _named(calls.catalog, member.entity, None)


def _collection_sort(calls: Calls, plan: Collect[Any]) -> SortBlueprint | None:
    if plan.bounds is None:
        span = collection_span(calls.catalog, plan)
        return None if span is None else SortBlueprint("BETWEEN", span)
    # With other values, a pattern may narrow its collection by another key, or not at all.
    narrowed = [each.bounds for each in calls.plans if each.bounds is not None]
    return _sort([bounds for bounds in narrowed if bounds.of is plan.bounds.of], calls)


# --- queries --------------------------------------------------------------------------------------------


def _queries(calls: Calls, name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return one request for all queries of a kind: those of the shards of a partition are one."""
    first, *others = ([*_leaves(plan)] for plan in calls.plans)
    kinds: dict[Any, list[Query[Any]]] = {}
    for query in first:
        kinds.setdefault(_kind(query), []).append(query)
    reads = []
    for kind, queries in kinds.items():
        alike = [query for plan in others for query in plan if _kind(query) == kind]
        read = _query(calls, [*queries, *alike], name)
        reads.append(replace(read, count=len(queries), is_consistent=calls.plans[0].is_consistent))
        if _place(calls, queries[0]).fetches:
            reads.append(_fetch(calls, [*queries, *alike], name))
    return tuple(reads)


def _place(calls: Calls, query: Query[Any]) -> Binding:
    return calls.catalog.schema_for(query.entity).bindings[query.place]


def _fetch(calls: Calls, queries: Sequence[Query[Any]], name: str | None) -> ReadBlueprint:
    """Return the request for the whole items that a query of an index names."""
    query, place = queries[0], _place(calls, queries[0])
    later = [[each for each in query.conditions if is_filtered_later(place, each)] for query in queries]
    return replace(
        _named(calls.catalog, query.entity, name),
        filter=_filter([all_of(conditions) for conditions in later], calls),
    )


def _named(catalog: Catalog, entity: type[Any], name: str | None) -> ReadBlueprint:
    """Return the request for items of an entity that those of an index name."""
    keys = catalog.schema_for(entity).key.keys
    return ReadBlueprint(
        "BatchGetItem",
        (entity.__name__,),
        template_of_all(keys.pk),
        sort=None if keys.sk is NoSortKey else SortBlueprint("=", (template_of_all(keys.sk),)),
        name=name,
        named_by=entity.__name__,
    )


def _leaves(plan: Any) -> Iterable[Query[Any]]:
    if isinstance(plan, Query):
        yield plan
        return
    for part in plan.parts:
        yield from _leaves(part)


def _kind(query: Query[Any]) -> Any:
    operators = tuple(operator for operator, _ in _bounds(query.bounds))
    fields = tuple(type(condition) for condition in query.conditions)
    return query.entity, query.place, type(query.pk), operators, fields, query.forward, query.limited


def _query(calls: Calls, queries: Sequence[Query[Any]], name: str | None) -> ReadBlueprint:
    query, place = queries[0], _place(calls, queries[0])
    at_once = [[each for each in query.conditions if not is_filtered_later(place, each)] for query in queries]
    return ReadBlueprint(
        "Query",
        (query.entity.__name__,),
        template_of([each.pk for each in queries], calls.same),
        index=query.index,
        sort=_sort([each.bounds for each in queries], calls),
        filter=_filter([all_of(conditions) for conditions in at_once], calls),
        order="forward" if query.forward else "backward",
        limit=query.limited,
        is_consistent=query.is_consistent,
        name=name,
    )


def _sort(ranges: Sequence[SortRange], calls: Calls) -> SortBlueprint | None:
    of = ranges[0].of
    bounds = [_bounds(each) for each in ranges]
    own = of.compiled.prefix({}) if of.compiled is not None else ""
    if bounds[0]:
        operators = [operator for operator, _ in bounds[0]]
        templates = [
            template_of([each[number][1] for each in bounds], calls.same) for number in range(len(operators))
        ]
        operator = "BETWEEN" if operators == [">=", "<="] else " AND ".join(operators)
        return SortBlueprint(operator, tuple(templates), own or None)
    if not own:
        return None
    return SortBlueprint("begins_with" if of.parts else "=", (own,), own)


def _bounds(bounds: SortRange) -> list[tuple[str, Any]]:
    given = [
        ("=", bounds.eq),
        ("begins_with", bounds.begins),
        (">", bounds.gt),
        (">=", bounds.ge),
        ("<", bounds.lt),
        ("<=", bounds.le),
    ]
    return [(operator, bound) for operator, bound in given if bound is not None]


# --- filters --------------------------------------------------------------------------------------------


def _filter(conditions: Sequence[Condition | None], calls: Calls) -> dict[str, Any] | None:
    """Return a condition. A value of the caller is the name of a parameter: {"field": ..., "parameter": ...}."""
    given = [condition_data(condition) for condition in conditions if condition is not None]
    return _with_parameters(given, calls) if given else None


def _with_parameters(given: Sequence[dict[str, Any]], calls: Calls) -> dict[str, Any]:
    first = given[0]
    data: dict[str, Any] = {}
    for key, value in first.items():
        others = [each.get(key) for each in given]
        match key:
            case "conditions":
                data[key] = [_with_parameters(members, calls) for members in zip(*others, strict=True)]
            case "condition":
                data[key] = _with_parameters(others, calls)  # type: ignore[arg-type]
            case "value" | "values" if _is_given(others, calls):
                data["parameter"] = _parameter(value, calls) or first["field"]
            case _:
                data[key] = value
    return data


def _is_given(values: Sequence[Any], calls: Calls) -> bool:
    same = [plain_value(value) for value in calls.same]
    return any(value != values[0] for value in values) or values[0] in same


def _parameter(value: Any, calls: Calls) -> str | None:
    """Name the parameter that has a value in the first call."""
    return next((name for name, each in calls.arguments[0].items() if plain_value(each) == value), None)


# --- writes ---------------------------------------------------------------------------------------------


def write_of(calls: Calls) -> WriteBlueprint:
    """Return what a pattern writes."""
    plans: Any = calls.of(calls.plans).plans
    condition = _filter([getattr(plan, "when", None) for plan in plans], calls)
    plan = plans[0]
    match plan:
        case Create(entity) | Put(entity):
            return WriteBlueprint("PutItem", type(entity).__name__, condition=condition)
        case Update(target):
            fields = tuple(sorted(plan.changes))
            return WriteBlueprint("UpdateItem", _written(target), fields, condition)
        case Delete(target):
            return WriteBlueprint("DeleteItem", _written(target), condition=condition)
        case _:
            raise DeclarationError(f"{type(plan).__name__} is no write by itself")


def _written(target: Any) -> str:
    entity = target.entity if isinstance(target, Get) else type(target)
    return str(entity.__name__)
