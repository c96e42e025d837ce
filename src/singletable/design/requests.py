"""The exact requests that plans stand for. Pure: nothing here asks anybody."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Final

from singletable.design.catalog import Catalog
from singletable.design.collections import Collect, members_of
from singletable.design.conditions import Condition, describe, fields_of
from singletable.design.expressions import Placeholders, condition_data, condition_text, not_expired
from singletable.design.keys import Key, Prefix, SortKey
from singletable.design.old_keys import old_keys
from singletable.design.queries import Query
from singletable.design.ranges import (
    Bound,
    SortCondition,
    SortRange,
    is_within,
    leading,
    sort_range,
    text_condition,
)
from singletable.design.schema import Binding, EntitySchema, key_item
from singletable.design.session import Session
from singletable.design.stored_values import Item, sortable
from singletable.design.templates import next_prefix
from singletable.errors import DeclarationError, KeyValueError, NotProjectedError

_COMPARED: Final = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def get_params(table: str, key: Item, *, consistent: bool) -> dict[str, Any]:
    """Return the request of a GetItem."""
    params: dict[str, Any] = {"TableName": table, "Key": key, "ReturnConsumedCapacity": "TOTAL"}
    if consistent:
        params["ConsistentRead"] = True
    return params


def key_condition(binding: Binding, pk: Key, bounds: SortRange | None, into: Placeholders) -> str:
    """Write the key condition of a query: equality on the partition, one condition on the sort key."""
    terms = [f"{into.name(name)} = {into.value(value)}" for name, value in key_item(pk, binding.pk).items()]
    if bounds is not None and binding.sk:
        terms += _sort_terms(binding, bounds, into)
    return " AND ".join(terms)


def is_text_key(binding: Binding) -> bool:
    """Tell whether the sort key of a place is one text, by a template."""
    return len(binding.sk) == 1 and binding.sk[0].kind == "S" and binding.keys.sk.compiled is not None


def _sort_terms(binding: Binding, bounds: SortRange, into: Placeholders) -> list[str]:
    if not is_text_key(binding):
        return _value_terms(binding, bounds, into)
    condition = text_condition(bounds)
    return [] if condition is None else [_text_term(binding, condition, into)]


def _text_term(binding: Binding, condition: SortCondition, into: Placeholders) -> str:
    name = into.name(binding.sk[0].name)
    values = [into.value({"S": text}) for text in condition.values]
    if condition.operator == "BETWEEN":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    if condition.operator == "begins_with":
        return f"begins_with({name}, {values[0]})"
    return f"{name} {condition.operator} {values[0]}"


def _value_terms(binding: Binding, bounds: SortRange, into: Placeholders) -> list[str]:
    """Write the condition on attributes that are fields: the leading ones equal, a range on the last one given."""
    equal = bounds.eq or bounds.begins
    limits = [
        (sign, bound)
        for sign, bound in ((">", bounds.gt), (">=", bounds.ge), ("<", bounds.lt), ("<=", bounds.le))
        if bound is not None
    ]
    bound = equal if equal is not None else limits[0][1] if limits else None
    given = [] if bound is None else leading(bound)
    equals = given if equal is not None else given[:-1]
    terms = [_equal(binding, bounds, name, value, into) for name, value in equals]
    if not limits:
        return terms
    return [*terms, _range_term(binding, bounds, limits, len(equals), into)]


def _range_term(
    binding: Binding, bounds: SortRange, limits: list[tuple[str, Any]], at: int, into: Placeholders
) -> str:
    part, attribute = bounds.of.parts[at], binding.sk[at]
    name = into.name(attribute.name)
    values = []
    for _, bound in limits:
        given = leading(bound)
        if len(given) != at + 1 or given[:-1] != leading(limits[0][1])[:-1]:
            raise KeyValueError(
                f"bounds of {bounds.of.__name__} share their leading values and differ in the last one: DynamoDB "
                "takes a range on one attribute of a key"
            )
        values.append(into.value({attribute.kind: part.codec.render(given[-1][1])}))
    match [sign for sign, _ in limits]:
        case [sign]:
            return f"{name} {sign} {values[0]}"
        case [">=", "<="]:
            return f"{name} BETWEEN {values[0]} AND {values[1]}"
        case _:
            raise KeyValueError(
                f"two bounds of {bounds.of.__name__} are inclusive: use between=(first, last)"
            )


def _equal(binding: Binding, bounds: SortRange, name: str, value: Any, into: Placeholders) -> str:
    names = [part.name for part in bounds.of.parts]
    at = names.index(name)
    attribute = binding.sk[at]
    text = bounds.of.parts[at].codec.render(value)
    return f"{into.name(attribute.name)} = {into.value({attribute.kind: text})}"


def is_filtered_later(binding: Binding, condition: Condition) -> bool:
    """Tell whether a condition waits for the whole items that are fetched: the index does not hold its fields."""
    return binding.fetches and binding.held is not None and not binding.held.issuperset(fields_of(condition))


def _refuse_unprojected(query: Query[Any], binding: Binding, condition: Condition) -> None:
    """Refuse a filter by what an index does not hold, as DynamoDB does; other targets find nothing."""
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


def filter_text(schema: EntitySchema[Any], query: Query[Any], now_s: int, into: Placeholders) -> str | None:
    """Write the filter of a query: its conditions, and that an item's time is not over."""
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
    # Of items that are fetched whole, it is asked then: DynamoDB refuses a filter by what an index does not hold.
    is_held = schema.ttl is not None and (binding.held is None or schema.ttl.name in binding.held)
    alive = not_expired(schema, now_s, into) if is_held else None
    if alive is not None:
        terms.append(alive)
    return " AND ".join(terms) or None


def is_in_place(binding: Binding, pk: Key, bounds: SortRange | None, item: Item) -> bool:
    """Tell whether an item is where a query reads: an index may still name one that has moved on."""
    wanted = key_item(pk, binding.pk)
    if any(_compared(item, name) != _compared(wanted, name) for name in wanted):
        return False
    if any(attribute.name not in item for attribute in binding.sk):
        return False
    if bounds is None or not binding.sk:
        return True
    if is_text_key(binding):
        return is_within(bounds, item[binding.sk[0].name]["S"])
    limits = {
        "=": bounds.eq or bounds.begins,
        ">": bounds.gt,
        ">=": bounds.ge,
        "<": bounds.lt,
        "<=": bounds.le,
    }
    return all(_is_beside(binding, bound, sign, item) for sign, bound in limits.items() if bound is not None)


def _compared(item: Item, name: str) -> Any:
    return sortable(item[name]) if name in item else None


def _is_beside(binding: Binding, bound: Bound, sign: str, item: Item) -> bool:
    """Tell whether the leading attributes of a sort key are so: equal to those of a bound, greater or less."""
    kind = bound.of if isinstance(bound, Prefix) else type(bound)
    given = zip(binding.sk, kind.parts, leading(bound), strict=False)
    wanted = [sortable({attribute.kind: part.codec.render(value)}) for attribute, part, (_, value) in given]
    found = [sortable(item[attribute.name]) for attribute in binding.sk[: len(wanted)]]
    return bool(_COMPARED[sign](found, wanted))


def query_params(
    session: Session,
    query: Query[Any],
    limit: int | None,
    start: Mapping[str, Any] | None,
    *,
    now_s: int | None = None,
) -> dict[str, Any]:
    """Return the request of a query that goes on behind a key."""
    schema = session.catalog.schema_for(query.entity)
    into = Placeholders()
    condition = key_condition(schema.bindings[query.place], query.pk, query.bounds, into)
    params: dict[str, Any] = {"TableName": session.table, "KeyConditionExpression": condition}
    text = filter_text(schema, query, session.now_s() if now_s is None else now_s, into)
    if text is not None:
        params["FilterExpression"] = text
    if not query.forward:
        params["ScanIndexForward"] = False
    if limit is not None:
        params["Limit"] = limit
    _add_place(params, query.index, start, consistent=query.is_consistent)
    return into.add_to(params)


def _add_place(
    params: dict[str, Any], index: str | None, start: Mapping[str, Any] | None, *, consistent: bool
) -> None:
    if index is not None:
        params["IndexName"] = index
    if consistent:
        params["ConsistentRead"] = True
    if start is not None:
        params["ExclusiveStartKey"] = start
    params["ReturnConsumedCapacity"] = "TOTAL"


def query_identity(session: Session, query: Query[Any]) -> list[Any]:
    """Return what tells a query from others, for its cursors: not the time, nor how much is asked for.

    It is made of names and values as they are stored, not of expressions: those may be written otherwise one day,
    and cursors are to stay valid.
    """
    schema = session.catalog.schema_for(query.entity)
    binding, bounds = schema.bindings[query.place], query.bounds
    given = {"begins": bounds.begins, "eq": bounds.eq}
    given |= {"gt": bounds.gt, "ge": bounds.ge, "lt": bounds.lt, "le": bounds.le}
    texts = {sign: _texts(bound) for sign, bound in given.items() if bound is not None}
    conditions = [condition_data(condition, schema) for condition in query.conditions]
    kind = [schema.name, query.index or "", query.forward]
    return [kind, key_item(query.pk, binding.pk), texts, conditions, query.limited]


def _texts(bound: Bound) -> list[str]:
    kind = bound.of if isinstance(bound, Prefix) else type(bound)
    codecs = {part.name: part.codec for part in kind.parts}
    return [codecs[name].render(value) for name, value in leading(bound)]


# --- item collections -----------------------------------------------------------------------------------


def collection_params(
    session: Session, plan: Collect[Any], limit: int | None, start: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the request that reads an item collection."""
    assert plan.pk is not None
    into = Placeholders()
    bindings = _member_bindings(session.catalog, plan)
    condition = key_condition(bindings[0], plan.pk, None, into)
    sort = _collection_sort(session.catalog, bindings, plan)
    if sort is not None:
        condition += f" AND {_text_term(bindings[0], sort, into)}"
    params: dict[str, Any] = {"TableName": session.table, "KeyConditionExpression": condition}
    if limit is not None:
        params["Limit"] = limit
    _add_place(params, plan.index.name if plan.index else None, start, consistent=plan.is_consistent)
    return into.add_to(params)


def collection_span(catalog: Catalog, plan: Collect[Any]) -> tuple[str, str] | None:
    """Return the range of sort keys that an item collection is read from; None where it is the whole partition."""
    return _span(catalog, _member_bindings(catalog, plan), plan)


def _collection_sort(catalog: Catalog, bindings: list[Binding], plan: Collect[Any]) -> SortCondition | None:
    if plan.bounds is not None:
        return text_condition(plan.bounds)
    span = _span(catalog, bindings, plan)
    return None if span is None else SortCondition("BETWEEN", span)


def changing_queries(catalog: Catalog, plan: Collect[Any]) -> dict[str, Query[Any]]:
    """Return a query for each member whose items may be under old keys, which are not in this partition."""
    found: dict[str, Query[Any]] = {}
    for member, binding in zip(members_of(plan.into), _member_bindings(catalog, plan), strict=True):
        if binding.keys.was is not None:
            assert plan.pk is not None
            index = None if plan.index is None else plan.index.name
            bounds = _own_bounds(binding, plan)
            query = Query(member.entity, binding.name, index, plan.pk, bounds)
            is_filtered = plan.bounds is not None and plan.bounds is not bounds
            found[member.name] = query.with_(limited=None if is_filtered else plan.limited)
    return found


def _own_bounds(binding: Binding, plan: Collect[Any]) -> SortRange:
    """Return the bounds of a collection, if they are of the sort key of an entity; else all keys of the entity."""
    own = binding.keys.sk
    if plan.bounds is not None and plan.bounds.of is own:
        return plan.bounds
    return sort_range(own, None, gt=None, ge=None, lt=None, le=None)


def old_queries(session: Session, query: Query[Any]) -> list[Query[Any]]:
    """Return the queries by which a query also finds what is under old keys: each reads a whole partition."""
    was = session.catalog.schema_for(query.entity).bindings[query.place].keys.was
    if was is None:
        return []
    bounds = sort_range(was[1], None, gt=None, ge=None, lt=None, le=None)
    return [query.with_(pk=pk, bounds=bounds) for pk in old_keys(was[0], (query.pk,))]


def _member_bindings(catalog: Catalog, plan: Collect[Any]) -> list[Binding]:
    bindings = []
    for member in members_of(plan.into):
        binding = collection_binding(catalog.resolve(member.entity), plan)
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


def collection_binding(schema: EntitySchema[Any], plan: Collect[Any]) -> Binding | None:
    """Return the place of an entity that a collection reads it from; None if it is not there."""
    index = None if plan.index is None else schema.table.own_index(plan.index)
    if index is None and plan.index is not None:
        return None
    for binding in schema.bindings.values():
        if binding.index is index and binding.keys.pk is type(plan.pk):
            return binding
    return None


def _span(catalog: Catalog, bindings: list[Binding], plan: Collect[Any]) -> tuple[str, str] | None:
    """Return the narrowest range of sort keys that holds a collection; None where it is the whole partition."""
    members = {member.entity for member in members_of(plan.into)}
    neighbours = {
        entity for entity, schema in catalog.schemas.items() if collection_binding(schema, plan) is not None
    }
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
