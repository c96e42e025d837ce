"""The changes of an update: checked field by field, and worked out where the new value must be known."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from singletable.design.entity import Entity
from singletable.design.expressions import require_field
from singletable.design.schema import EntitySchema
from singletable.design.writes import Add, Append
from singletable.errors import InvalidWriteError

Changes = dict[str, Any]


def checked_changes(schema: EntitySchema[Any], changes: Mapping[str, Any], now: datetime) -> Changes:
    """Return changes, valid, with the times of writing; refuse fields that are unknown, or part of the key."""
    if not changes:
        raise InvalidWriteError(f"an update of {schema.entity.__name__} changes nothing")
    for name in changes:
        _check_name(schema, name)
    checked = {name: _checked(schema, name, value) for name, value in changes.items()}
    return {**dict.fromkeys(schema.updated, now), **checked}


def _check_name(schema: EntitySchema[Any], name: str) -> None:
    require_field(schema, name)
    if name in schema.key.keys.reads():
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} is part of the key, which never changes",
            hint="create the item of the new key and delete the old one, in a transaction",
        )
    if schema.version is not None and name == schema.version.name:
        raise InvalidWriteError(f"{schema.entity.__name__}.{name} is counted by the layer")


def _checked(schema: EntitySchema[Any], name: str, value: Any) -> Any:
    match value:
        case Add(amount):
            if isinstance(amount, bool) or not isinstance(amount, int | float | Decimal | set | frozenset):
                raise InvalidWriteError(
                    f"{schema.entity.__name__}.{name}: {amount!r} is neither a number nor a set to be added"
                )
            return value
        case Append(members):
            return Append(_valid(schema, name, members))
        case _:
            return _valid(schema, name, value)


def _valid(schema: EntitySchema[Any], name: str, value: Any) -> Any:
    """Validate a single field, as the entity would."""
    validator = schema.entity.__pydantic_validator__
    try:
        return validator.validate_assignment(schema.entity.model_construct(), name, value).__dict__[name]
    except ValidationError as error:
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} cannot be {value!r}: {error.errors()[0]['msg']}"
        ) from error


def resolved(changes: Changes, needed: frozenset[str], before: Entity) -> Changes:
    """Return changes in which those that keys or effects depend on are values, worked out from what is stored."""
    return {
        name: _sum(before.__dict__.get(name), value) if name in needed else value
        for name, value in changes.items()
    }


def applied(before: Entity, changes: Changes) -> Entity:
    """Return an entity as it will be after changes."""
    return before.model_copy(
        update={name: _sum(before.__dict__.get(name), value) for name, value in changes.items()}
    )


def _sum(stored: Any, change: Any) -> Any:
    match change:
        case Add(amount):
            if stored is None:
                return amount
            return stored | amount if isinstance(amount, set | frozenset) else stored + amount
        case Append(members):
            return [*(stored or []), *members]
        case _:
            return change
