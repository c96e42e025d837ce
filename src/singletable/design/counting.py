"""Counters, sums and averages that an entity keeps of the items that belong to it.

A write of a child touches its parent: so much more, so much less. Touches of one parent add up. Most are carried
out by ADD, without reading anything; where something follows from the number (an average, an index key, a derived
item), the parent is read, and written on the condition that the numbers are still those.

What the time to live removes is written by nobody, so a counter that transactions keep does not see it go, and
`verify` repairs it; one that is kept by the stream does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import partial
from typing import Any, Final

from singletable.design.actions import Action
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Aggregated
from singletable.design.catalog import Catalog
from singletable.design.conditions import holds
from singletable.design.entity import STORED, Entity, key_values
from singletable.design.expressions import Placeholders
from singletable.design.markers import AverageOf, CountOf, Upkeep
from singletable.design.revising import Changes, Revision, changed_meanwhile, revision, unchanged_attributes
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import AttributeValue, Item, shown_key
from singletable.design.unfit_items import as_far_as_readable, unfit_fields
from singletable.design.write_planning import of_entity
from singletable.errors import DesignError, NotFoundError

Counted = tuple[Item, dict[str, Decimal]]  # the key of a parent, and what a child adds to it
_DIGITS: Final = 60  # more than DynamoDB's 38, so that only it rounds


@dataclass(frozen=True, slots=True)
class Touch(Action):
    """What a write of a child asks of its parent: numbers to add, and values that it must have."""

    parent: EntitySchema[Any] | None = None
    deltas: Mapping[str, Decimal] = field(default_factory=dict)  # by the names of attributes
    expects: Mapping[str, AttributeValue | None] = field(default_factory=dict)
    needs_parent: bool = True  # otherwise there is nothing to do when it is gone

    @property
    def schema(self) -> EntitySchema[Any]:
        assert self.parent is not None
        return self.parent

    def fields(self, catalog: Catalog) -> frozenset[str]:
        """Name the fields of the parent that change."""
        counting = catalog.belonging.counting(self.schema)
        return frozenset(
            each.field for each in counting if {each.sum_name, each.count_name} & self.deltas.keys()
        )


def touch(
    parent: EntitySchema[Any],
    key: Item,
    *,
    deltas: Mapping[str, Decimal] | None = None,
    expects: Mapping[str, AttributeValue | None] | None = None,
    needs_parent: bool = True,
) -> Touch:
    """Return what is asked of a parent."""
    return Touch(
        "Update",
        key,
        {},
        changed_meanwhile(key),
        order="after",
        parent=parent,
        deltas=deltas or {},
        expects=expects or {},
        needs_parent=needs_parent,
    )


# --- what a child adds ------------------------------------------------------------------------------------


def amounts(each: Aggregated, child: Entity) -> dict[str, Decimal]:
    """Return what a child adds to the attributes of its parent."""
    marker = each.marker
    if each.when is not None and not holds(each.when, key_values(child)):
        return {}
    if isinstance(marker, CountOf):
        return {each.count_name: Decimal(1)}
    value = getattr(child, marker.field)
    if value is None:
        return {}
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if isinstance(marker, AverageOf):
        return {each.sum_name: number, each.count_name: Decimal(1)}
    return {each.sum_name: number}


def count_touches(
    session: Session, schema: EntitySchema[Any], before: Entity | None, after: Entity | None, by: Upkeep
) -> list[Touch]:
    """Return what a write of an entity asks of the parents that count it."""
    found: dict[tuple[Any, ...], Touch] = {}
    for each in session.catalog.belonging.counted(schema, by):
        new = None if after is None else _counted(each, after)
        old = None if before is None else _counted_before(each, before, new)
        for counted, sign in ((old, -1), (new, 1)):
            if counted is None:
                continue
            key, added_amounts = counted
            deltas = {name: sign * amount for name, amount in added_amounts.items()}
            joins = sign > 0 and (old is None or key != old[0])
            _gather(found, touch(each.link.parent, key, deltas=deltas, needs_parent=joins))
    return [without_zeros(each) for each in found.values() if any(each.deltas.values())]


def _counted(each: Aggregated, child: Entity) -> Counted | None:
    """Return the parent that counts a child, and what the child adds; None if it belongs to none."""
    key = each.link.parent_key(child)
    return None if key is None else (key, amounts(each, child))


def _counted_before(each: Aggregated, before: Entity, after: Counted | None) -> Counted | None:
    """Return what a stored child adds; where that cannot be read of one that does not fit, what it adds now."""
    wrong = unfit_fields(before) & each.reads()
    if any(before.__dict__.get(name) is None for name in wrong):
        return after
    return as_far_as_readable(before, partial(_counted, each, before), after)


def _gather(found: dict[tuple[Any, ...], Touch], new: Touch) -> None:
    key = hashable(new.key)
    known = found.get(key)
    found[key] = new if known is None else merged_touches(known, new)


def merged_touches(first: Touch, second: Touch) -> Touch:
    """Make one of two touches of the same parent."""
    return replace(
        first,
        deltas=added(first.deltas, second.deltas),
        expects={**first.expects, **second.expects},
        needs_parent=first.needs_parent or second.needs_parent,
    )


def without_zeros(each: Touch) -> Touch:
    return replace(each, deltas={name: delta for name, delta in each.deltas.items() if delta})


def added(first: Mapping[str, Decimal], second: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Add up numbers by name, exactly."""
    with localcontext() as context:
        context.prec = _DIGITS
        return {
            name: first.get(name, Decimal(0)) + second.get(name, Decimal(0)) for name in {**first, **second}
        }


def total(each: Aggregated, children: Iterable[Entity]) -> dict[str, Decimal]:
    """Return what all children of a parent come to."""
    sums = {each.sum_name: Decimal(0), each.count_name: Decimal(0)}
    with localcontext() as context:
        context.prec = _DIGITS
        for child in children:
            for name, amount in amounts(each, child).items():
                sums[name] += amount
    return sums


# --- what a parent stores ------------------------------------------------------------------------------------


def number(value: Decimal) -> AttributeValue:
    """Return the attribute value of a number, in its shortest form."""
    with localcontext() as context:
        context.prec = _DIGITS
        return {"N": format(value.normalize() if value else Decimal(0), "f")}


def stored_number(item: Mapping[str, AttributeValue], name: str) -> Decimal:
    """Return the number that an attribute holds; none is 0."""
    return Decimal(item.get(name, {}).get("N", "0"))


def average_of(each: Aggregated, numbers: Mapping[str, Decimal]) -> AttributeValue | None:
    """Return the stored mean, rounded; None where there is nothing and the field may be empty."""
    assert isinstance(each.marker, AverageOf)
    count = numbers[each.count_name]
    if not count:
        default = each.link.parent.entity.model_fields[each.field].default
        return None if default is None else number(Decimal(0))
    with localcontext() as context:
        context.prec = _DIGITS
        mean = numbers[each.sum_name] / count
        return number(mean.quantize(Decimal(1).scaleb(-each.marker.decimals), ROUND_HALF_EVEN))


def stored_changes(catalog: Catalog, schema: EntitySchema[Any], numbers: Mapping[str, Decimal]) -> Changes:
    """Return the attributes of a parent that hold these numbers, and the means that follow from them."""
    changes: dict[str, AttributeValue | None] = {name: number(value) for name, value in numbers.items()}
    for each in catalog.belonging.counting(schema):
        if isinstance(each.marker, AverageOf) and each.sum_name in numbers:
            changes[schema.fields[each.field].stored] = average_of(each, numbers)
    return changes


def needs_reading(session: Session, each: Touch) -> bool:
    """Tell whether something follows from the numbers of a parent, so that it is read before it is written."""
    catalog, schema = session.catalog, each.schema
    names = each.fields(catalog)
    averages = any(
        isinstance(known.marker, AverageOf) and known.field in names
        for known in catalog.belonging.counting(schema)
    )
    follow = schema.followers(names)
    return averages or bool(follow) or any(binding.reads() & names for binding in schema.indexes)


def touched_numbers(catalog: Catalog, each: Touch, item: Item) -> dict[str, Decimal]:
    """Return the numbers of a stored parent with what is added; of an average, both of them."""
    names = set(each.deltas)
    for known in catalog.belonging.counting(each.schema):
        if names & {known.sum_name, known.count_name}:
            names |= {known.sum_name, known.count_name}
    return added({name: stored_number(item, name) for name in names}, each.deltas)


def touch_revision(session: Session, each: Touch, parent: Entity, *, reads: frozenset[str]) -> Revision:
    """Plan what is asked of a parent that was read."""
    item: Item = parent.__dict__[STORED]
    numbers = touched_numbers(session.catalog, each, item)
    changes = stored_changes(session.catalog, each.schema, numbers)
    return revision(session, each.schema, parent, changes, reads=reads, expects=each.expects, order="item")


def touch_action(session: Session, each: Touch, *, is_known: bool) -> Action:
    """Plan what is asked of a parent that nobody reads: ADD, or only a check."""
    into = Placeholders()
    pk = into.name(session.catalog.table.pk)
    terms = unchanged_attributes(each.expects, into)
    if not each.deltas:
        text = " AND ".join(terms)
        params = into.add_to({"ConditionExpression": f"attribute_not_exists({pk}) OR ({text})"})
        return Action("ConditionCheck", each.key, params, each.refused, order="item")
    params = {
        "UpdateExpression": f"ADD {additions(each, into)}",
        "ConditionExpression": " AND ".join(
            [f"attribute_exists({pk})", of_entity(session, each.schema, each.key, into), *terms]
        ),
    }
    refused = each.refused if is_known else lambda stored: _add_refused(session, each, stored)
    return Action("Update", each.key, into.add_to(params), refused, order="item")


def additions(each: Touch, into: Placeholders) -> str:
    """Write the numbers that are added."""
    return ", ".join(f"{into.name(name)} {into.value(number(delta))}" for name, delta in each.deltas.items())


def _add_refused(session: Session, each: Touch, stored: Item | None) -> DesignError:
    is_there = stored is not None and session.catalog.schema_of(stored) is each.schema
    return each.refused(stored) if is_there else no_parent(each)


def no_parent(each: Touch) -> NotFoundError:
    """Return what says that a child belongs to nothing."""
    return NotFoundError(
        f"there is no {each.schema.entity.__name__} {shown_key(each.key)}, which counts what belongs to it",
        hint=f"create the {each.schema.entity.__name__} first, or both in a transaction",
    )
