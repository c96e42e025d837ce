"""The changes of an update: checked field by field, and worked out where the new value must be known."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from singletable.design.arguments import require_field
from singletable.design.entity import Entity, field_values
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
    require_field(schema.entity, name)
    if name in schema.computed:
        sources = " and ".join(schema.computed[name].fields)
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} is worked out from {sources}",
            hint=f"change {sources}, and it follows",
        )
    if name in schema.with_sources(schema.key.keys.reads()):
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
            if not _waits(schema, name):
                _valid(schema, name, amount)
            return value
        case Append(members):
            return value if _waits(schema, name) else Append(_valid(schema, name, members))
        case _:
            return value if schema.has_model_validators else _valid(schema, name, value)


def _waits(schema: EntitySchema[Any], name: str) -> bool:
    """Tell whether what is added can only be validated together with what is stored."""
    return schema.has_model_validators or name in schema.bounded


def _valid(schema: EntitySchema[Any], name: str, value: Any) -> Any:
    """Validate a single field, as the entity would."""
    try:
        return schema.valid_field(name, value)
    except ValidationError as error:
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} cannot be {value!r}: {schema.problem_text(error)}"
        ) from error


def validation_reads(schema: EntitySchema[Any], changes: Changes) -> frozenset[str]:
    """Name the fields that must be known to validate changes."""
    if schema.has_model_validators:
        return frozenset(schema.fields)
    return schema.bounded.intersection(name for name, value in changes.items() if _is_relative(value))


def resolved(schema: EntitySchema[Any], changes: Changes, needed: frozenset[str], before: Entity) -> Changes:
    """Return changes, valid, in which those of needed fields are values, worked out from what is stored."""
    values = {
        name: _worked_out(schema, name, before, value) if name in needed else value
        for name, value in changes.items()
    }
    if schema.has_model_validators:
        return _valid_together(schema, before, values)
    return {
        name: _valid(schema, name, value) if name in schema.bounded and _is_relative(changes[name]) else value
        for name, value in values.items()
    }


def resolved_alone(schema: EntitySchema[Any], changes: Changes, before: Entity) -> Changes:
    """Return changes as values, worked out from what is stored, to be validated with all the rest."""
    return {name: _worked_out(schema, name, before, value) for name, value in changes.items()}


def _is_relative(value: Any) -> bool:
    return isinstance(value, Add | Append)


def _worked_out(schema: EntitySchema[Any], name: str, before: Entity, change: Any) -> Any:
    try:
        return _sum(before.__dict__.get(name), change)
    except TypeError as error:
        raise InvalidWriteError(f"{schema.entity.__name__}.{name}: {change} cannot be added to it") from error


def _valid_together(schema: EntitySchema[Any], before: Entity, changes: Changes) -> Changes:
    """Validate an entity as it will be. What its validators have changed beside is changed too."""
    stored = {
        name: value
        for name, value in field_values(before).items()
        if value is not None or name not in schema.created  # of an entity that was never stored
    }
    after = schema.validated(stored | changes).__dict__
    fixed = {*schema.key.keys.reads(), *schema.created}
    if schema.version is not None:
        fixed.add(schema.version.name)
    others = [name for name in stored if name not in fixed and after[name] != stored[name]]
    return {name: after[name] for name in dict.fromkeys([*changes, *others])}


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
