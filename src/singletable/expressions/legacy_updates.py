"""AttributeUpdates, from before there were update expressions, as the update that an expression gives.

Each attribute has one action, and only whole attributes can be written. Two things are not as in expressions: ADD
also appends to lists, which is not documented, and a stored value of another type is refused in other words (both
found by ScyllaDB's test_update_item_add and by dynalite's tests, run against the service).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from singletable.errors import INVALID, ValidationError
from singletable.expressions.checks import NO_CHECKS, Values
from singletable.expressions.nodes import AddAction, DeleteAction, Path, Placeholder, RemoveAction
from singletable.expressions.path_trees import grow_tree
from singletable.expressions.prepared import Uses
from singletable.expressions.update_charges import NO_CHARGE
from singletable.expressions.update_effects import Effect, effect_of
from singletable.expressions.updates import PreparedUpdate, Update
from singletable.values.refused import ValueRefusedError
from singletable.values.types import SET_TYPES, Item, Value

Action: TypeAlias = Literal["PUT", "ADD", "DELETE"]

_ADDABLE: Final = SET_TYPES | {"N", "L"}


class LegacyUpdate(NamedTuple):
    """The action on one attribute; it has passed the checks."""

    attribute: str
    action: Action
    value: Value | None


def check_update(action: Action, value: Value | None) -> None:
    """Raise the error of an action, which may be missing, with its value."""
    if action not in ("PUT", "ADD", "DELETE"):
        # With a quote too many, which is AWS's (dynoxide 3.2: eu-west-2 and us-east-1, October 2026).
        raise ValueRefusedError("Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action")
    if value is None:
        if action != "DELETE":
            raise ValueRefusedError(
                f"{INVALID}Only DELETE action is allowed when no attribute value is specified"
            )
        return
    tag = next(iter(value))
    if action == "DELETE" and tag not in SET_TYPES:
        raise ValueRefusedError(f"{INVALID}DELETE action with value is not supported for the type {tag}")
    if action == "ADD" and tag not in _ADDABLE:
        raise ValueRefusedError(f"{INVALID}ADD action is not supported for the type {tag}")


def legacy_update(updates: Sequence[LegacyUpdate]) -> Update:
    """Return AttributeUpdates as an update; there is at least one."""
    targets = [Path((update.attribute,)) for update in updates]
    # The placeholder of a value is the name of its attribute.
    values = {update.attribute: update.value for update in updates if update.value is not None}
    return Update(
        PreparedUpdate(
            NO_CHECKS,
            Uses.of("", (), targets, list(values)),
            grow_tree(targets),
            tuple([(update.attribute, _effect(update)) for update in updates]),
            tuple([(attribute, attribute) for attribute in values]),
            NO_CHARGE,
            all(update.action == "DELETE" for update in updates),
        ),
        values,
    )


def _effect(update: LegacyUpdate) -> Effect:
    attribute, action, value = update
    path, placeholder = Path((attribute,)), Placeholder(attribute)
    if value is None:
        return effect_of(RemoveAction(path))
    if action == "PUT":
        return lambda _item, values: values[attribute]
    if "L" in value:
        return _typed(attribute, value, _appending(attribute))
    change = AddAction(path, placeholder) if action == "ADD" else DeleteAction(path, placeholder)
    return _typed(attribute, value, effect_of(change))


def _appending(attribute: str) -> Effect:
    def effect(item: Item, values: Values) -> Value:
        stored = item.get(attribute)
        added = values[attribute]
        return added if stored is None else {"L": stored["L"] + added["L"]}

    return effect


def _typed(attribute: str, value: Value, effect: Effect) -> Effect:
    """Return the effect on an attribute that is absent or of the type of the value, and refuse any other."""
    tag = next(iter(value))

    def checked(item: Item, values: Values) -> Value | None:
        stored = item.get(attribute)
        if stored is not None and tag not in stored:
            raise ValidationError("Type mismatch for attribute to update")
        return effect(item, values)

    return checked
