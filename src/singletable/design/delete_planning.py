"""How a delete is planned, and a check: an action that changes nothing."""

from __future__ import annotations

from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action, Prepared
from singletable.design.checking import check_action
from singletable.design.conditions import Condition
from singletable.design.effects import effect_reads, effects
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders, condition_text
from singletable.design.kept_numbers import same_numbers, unless_counted, with_current_numbers
from singletable.design.plans import Get
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.write_planning import (
    as_stored,
    key_of,
    of_entity,
    read_stored,
    refusal,
    schema_for,
    shown,
    stranger,
    unchanged,
    version_term,
)
from singletable.errors import DesignError, NotFoundError


def plan_delete(
    session: Session, target: Entity | Get[Any], when: Condition | None, *, fresh: bool
) -> Steps[Prepared]:
    """Plan to delete an item. One that is not there is no mistake, unless something is demanded of it."""
    schema = schema_for(session, target)
    key = key_of(schema, target)
    reads = effect_reads(session, schema)
    before = as_stored(schema, target) if isinstance(target, Entity) and not fresh else None
    if reads and before is None:
        before = yield from read_stored(session, schema, key)
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
        if reads & session.catalog.belonging.kept(schema):
            terms += same_numbers(session, schema, before, into)
    elif reads and before is not None:
        terms.append(f"attribute_exists({into.name(session.catalog.table.pk)})")
        terms += unchanged(schema, reads, before, into)
    if when is not None:
        terms.append(condition_text(when, schema, into))
    params = {"ConditionExpression": " AND ".join(terms)}

    def refused(stored: Item | None) -> DesignError:
        if stored is not None and (error := stranger(session, schema, stored)) is not None:
            return error
        return unless_counted(session, schema, when, stored, refusal(schema, target, when, stored))

    action = Action("Delete", key, into.add_to(params), refused)
    others = (yield from effects(session, schema, before, None)) if reads else []
    return Prepared([action, *others], is_retried=bool(reads) and not is_versioned, entity=schema.entity)


def plan_check(session: Session, target: Entity | Get[Any], when: Condition | None) -> Prepared:
    """Plan to demand that an item is there and meets a condition."""
    schema = schema_for(session, target)

    def refused(stored: Item | None) -> DesignError:
        if stored is not None and (error := stranger(session, schema, stored)) is not None:
            return error
        return refusal(schema, Get(schema.entity, *_keys(target)), when, stored)

    action = check_action(session, schema, key_of(schema, target), when, refused)
    return Prepared([action], entity=schema.entity)


def _keys(target: Any) -> tuple[Any, Any]:
    return (target.pk, target.sk) if isinstance(target, Get) else target.key
