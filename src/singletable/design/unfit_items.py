"""Items that do not fit their entity: what of them can be read, and what they are with some fields changed.

Its effects are taken as it stands: a lock or a derived item that can be worked out from its values is there, and
one that cannot is not. What it adds to a number, and cannot be read, is taken as what it adds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from singletable.design.entity import STORED, Entity, field_values
from singletable.design.problems import problem_text
from singletable.design.schema import EntitySchema
from singletable.design.stored_values import Item
from singletable.errors import InvalidItemError

UNFIT: Final = "_unfit"  # where an entity that does not fit names its fields that do not

T = TypeVar("T")


def unfit_fields(entity: Entity | None) -> frozenset[str]:
    """Name the fields of a stored entity whose values are not valid; none for one that fits."""
    found: frozenset[str] = frozenset() if entity is None else entity.__dict__.get(UNFIT, frozenset())
    return found


def is_unfit(entity: Entity | None) -> bool:
    """Tell whether an entity was read as far as it can be, since its item does not fit."""
    return entity is not None and UNFIT in entity.__dict__


def as_far_as_readable(entity: Entity, read: Callable[[], T], otherwise: T) -> T:
    """Work something out from a stored entity; from one that does not fit, only if that is possible."""
    if UNFIT not in entity.__dict__:
        return read()
    try:
        return read()
    except Exception:  # of keys, conditions, properties and functions that got values of any type
        return otherwise


def unfit_entity(schema: EntitySchema[Any], item: Item) -> Entity:
    """Return what can be read of an item that does not fit: values as they are stored, None for what is missing.

    Raise InvalidItemError for one that is not to be written: of a newer version, or that cannot be upcast.
    """
    values, unreadable = schema.decoded(item)
    held = schema.held_by_key(item)
    entity: Entity = schema.entity.model_construct()
    wrong = set(unreadable)
    for name in schema.fields:
        if name not in values:
            if name in held:
                entity.__dict__[name] = held[name]
            elif name not in entity.__dict__:
                entity.__dict__[name] = None
                wrong.add(name)
            continue
        try:
            entity.__dict__[name] = schema.valid_field(name, values[name])
        except ValidationError:
            wrong.add(name)
            entity.__dict__[name] = held.get(name, values[name])
    if schema.version is not None and schema.version.name in wrong:
        entity.__dict__[schema.version.name] = 0  # as of an item from before versions
    entity.__dict__[STORED] = item
    entity.__dict__[UNFIT] = frozenset(wrong)
    return entity


def repaired(
    schema: EntitySchema[Any], before: Entity, changes: Mapping[str, Any], kept: Iterable[str]
) -> Entity:
    """Return an entity that does not fit with changes that make it fit; raise what is still wrong."""
    item: Item = before.__dict__[STORED]
    fixed = {*schema.key.keys.reads(), *changes}
    if schema.version is not None:
        fixed.add(schema.version.name)
    missing = {
        name
        for name in before.__dict__[UNFIT] - fixed
        if schema.fields[name].stored not in item and name not in schema.computed
    }
    values = {name: value for name, value in field_values(before).items() if name not in missing} | dict(
        changes
    )
    # What cannot be decoded was read as nothing, and would be left as it is.
    unread = schema.decoded(item)[1]
    left = {name: why for name, why in unread.items() if name not in fixed and name not in schema.computed}
    try:
        after: Entity = schema.validated_item(values)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        left |= {".".join(map(str, each["loc"])): problem_text(each, schema.entity) for each in found}
    if left:
        raise _still_unfit(schema, item, left, kept)
    after.__dict__[STORED] = item
    return after


def _still_unfit(
    schema: EntitySchema[Any], item: Item, left: Mapping[str, str], kept: Iterable[str]
) -> InvalidItemError:
    (field, why), others = next(iter(left.items())), len(left) - 1
    return schema.unfit(
        item,
        f"{field}: {why}" if field else why,
        others=others,
        hint=hint_for(schema, left, kept),
    )


def hint_for(schema: EntitySchema[Any], wrong: Iterable[str], kept: Iterable[str]) -> str:
    """Say what to set so that an item fits."""
    names = list(dict.fromkeys(name.split(".")[0] for name in wrong if name))
    counted = [name for name in names if name in set(kept)]
    if counted:
        return f"db.verify(repair=True) counts {' and '.join(counted)} again"
    if any(name in schema.key.keys.reads() for name in names):
        return "put() writes it whole, with the fields that its key is made of"
    sources = [source for name in names for source in _settable(schema, name)]
    if not sources:
        return "set the fields that it speaks of too"
    return f"set {' and '.join(dict.fromkeys(sources))} too"


def _settable(schema: EntitySchema[Any], name: str) -> Iterable[str]:
    return schema.computed[name].fields if name in schema.computed else (name,)
