"""Plans a delete, and a condition check, which changes nothing: the writes that store no values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from singletable.client.calls import Steps
from singletable.design.kept.aggregate import same_numbers, unless_counted, with_current_numbers
from singletable.design.kept.kind import effects
from singletable.design.model.entity import Entity, key_values
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get
from singletable.design.session.action import Action, Prepared, Refused
from singletable.design.session.expressions import Placeholders, condition_text, of_entity
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_to_change, stranger
from singletable.design.values.conditions import Condition, holds
from singletable.design.values.items import Item
from singletable.design.writes.write import (
    Delete,
    as_read_terms,
    as_stored,
    key_of,
    refusal,
    schema_for,
    shown,
    unchanged,
    version_term,
)
from singletable.errors import DesignError, InvalidItemError, NotFoundError


def plan_delete(session: Session, wanted: Delete[Any], *, fresh: bool) -> Steps[Prepared]:
    """Plan to delete an item. A missing item is no error, unless the delete has a condition or a version."""
    target, when = wanted.target, wanted.when
    schema = schema_for(session, target)
    key = key_of(schema, target)
    reads = schema.kept.effect_reads
    before = as_stored(schema, target) if isinstance(target, Entity) and not fresh else None
    if reads and before is None:
        before = yield from read_to_change(session, schema, key)
        if before is None:
            if when is not None:
                raise NotFoundError(f"{shown(schema, target)} is not there")
            return Prepared([], entity=schema.entity)
    elif before is not None:
        before = yield from with_current_numbers(session, schema, before, reads)
    into = Placeholders()
    terms = [of_entity(session, schema, key, into)]
    is_versioned = schema.version is not None and isinstance(target, Entity)
    if is_versioned and isinstance(target, Entity):
        terms.append(version_term(schema, target, into))
        if reads & schema.kept.counted:
            terms += same_numbers(schema, before, into)
    elif reads and before is not None:
        terms.append(f"attribute_exists({into.name(session.catalog.table.pk)})")
        terms += unchanged(schema, reads, before, into)
    if wanted.as_read:
        terms.append(f"attribute_exists({into.name(session.catalog.table.pk)})")
        terms += as_read_terms(schema, wanted, into)
    if when is not None:
        terms.append(condition_text(when, schema, into))
    params = {"ConditionExpression": " AND ".join(terms)}

    def refused(stored: Item | None) -> DesignError:
        if stored is not None and (error := stranger(session, schema, stored)) is not None:
            return error
        return unless_counted(schema, when, stored, refusal(schema, target, when, stored))

    action = Action("Delete", key, into.add_to(params), refused)
    others = (yield from effects(session, schema, before, None)) if reads else []
    is_retried = bool(reads) and not (is_versioned or wanted.as_read)
    return Prepared([action, *others], is_retried=is_retried, entity=schema.entity)


def plan_check(session: Session, target: Entity | Get[Entity], when: Condition | None) -> Prepared:
    """Plan the check that an item exists and meets a condition."""
    schema = schema_for(session, target)

    def refused(stored: Item | None) -> DesignError:
        if stored is not None and (error := stranger(session, schema, stored)) is not None:
            return error
        return refusal(schema, Get(schema.entity, *_keys(target)), when, stored)

    action = check_action(session, schema, key_of(schema, target), when, refused)
    return Prepared([action], entity=schema.entity)


def _keys(target: Any) -> tuple[Any, Any]:
    return (target.pk, target.sk) if isinstance(target, Get) else target.key


# --- condition checks -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checking(Action):
    """The check that an item exists and meets a condition."""

    schema: EntitySchema = field(kw_only=True)
    when: Condition | None = None


def check_action(
    session: Session, schema: EntitySchema, key: Item, when: Condition | None, refused: Refused
) -> Checking:
    """Return the action that checks an item and changes nothing."""
    into = Placeholders()
    terms = _demands(session, schema, key, when, into)
    params = into.add_to({"ConditionExpression": " AND ".join(terms)})
    return Checking("ConditionCheck", key, params, refused, schema=schema, when=when)


def with_check(session: Session, action: Action, check: Checking) -> Action:
    """Return an action with the condition of a check of the same item added.

    DynamoDB does not say which of the two conditions failed, but returns the item. The check's error comes first.
    """
    into = Placeholders.of(action.params)
    terms = [
        f"({action.params['ConditionExpression']})",
        *_demands(session, check.schema, check.key, check.when, into),
    ]
    params = into.add_to({**action.params, "ConditionExpression": " AND ".join(terms)})

    def refused(stored: Item | None) -> DesignError:
        is_met = stored is not None and _is_met(check, stored)
        return (action if is_met else check).refused(stored)

    return replace(action, params=params, refused=refused)


def _demands(
    session: Session, schema: EntitySchema, key: Item, when: Condition | None, into: Placeholders
) -> list[str]:
    pk = into.name(session.catalog.table.pk)
    terms = [f"attribute_exists({pk})", of_entity(session, schema, key, into)]
    return terms if when is None else [*terms, condition_text(when, schema, into)]


def _is_met(check: Checking, stored: Item) -> bool:
    """Tell whether a stored item meets a check: by its stored attributes, without the defaults of fields."""
    if check.when is None:
        return True
    fields = check.schema.fields
    try:
        values = key_values(check.schema.to_entity(stored))
    except InvalidItemError:
        return False
    there = {name: values[name] for name, codec in fields.items() if codec.stored in stored}
    return holds(check.when, there)
