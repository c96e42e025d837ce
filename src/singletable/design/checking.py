"""Checks: what a transaction demands of an item that it does not write itself.

Children of the item may ask something of it too: numbers to add, values that it must have. DynamoDB takes each
item of a transaction once, so the check becomes a condition of the action that does what they ask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from singletable.design.actions import Action, Refused
from singletable.design.conditions import Condition, holds
from singletable.design.entity import key_values
from singletable.design.expressions import Placeholders, condition_text
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.write_planning import of_entity
from singletable.errors import DesignError, InvalidItemError


@dataclass(frozen=True, slots=True)
class Checking(Action):
    """The demand that an item is there and meets a condition."""

    checked: EntitySchema[Any] | None = None
    when: Condition | None = None

    @property
    def schema(self) -> EntitySchema[Any]:
        assert self.checked is not None
        return self.checked


def check_action(
    session: Session, schema: EntitySchema[Any], key: Item, when: Condition | None, refused: Refused
) -> Checking:
    """Return the action that demands something of an item and changes nothing."""
    into = Placeholders()
    terms = _demands(session, schema, key, when, into)
    params = into.add_to({"ConditionExpression": " AND ".join(terms)})
    return Checking("ConditionCheck", key, params, refused, checked=schema, when=when)


def with_check(session: Session, action: Action, check: Checking) -> Action:
    """Return an action that is carried out only if a check of the same item is met.

    DynamoDB does not say which of the two was refused, but shows the item: what the check says of it comes first.
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
    session: Session, schema: EntitySchema[Any], key: Item, when: Condition | None, into: Placeholders
) -> list[str]:
    pk = into.name(session.catalog.table.pk)
    terms = [f"attribute_exists({pk})", of_entity(session, schema, key, into)]
    return terms if when is None else [*terms, condition_text(when, schema, into)]


def _is_met(check: Checking, stored: Item) -> bool:
    """Tell whether a stored item meets a check: by its attributes, not by what fields are without them."""
    if check.when is None:
        return True
    fields = check.schema.fields
    try:
        values = key_values(check.schema.to_entity(stored))
    except InvalidItemError:
        return False
    there = {name: values[name] for name, codec in fields.items() if codec.stored in stored}
    return holds(check.when, there)
