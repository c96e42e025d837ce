"""Items that do not fit their entity: reads them as far as possible, and repairs them by changing fields.

The effects of an unfit item are computed from its readable values. A lock or a derived item that can be computed
is assumed to exist; one that cannot be computed is assumed not to. If the item's share of a parent's number cannot
be read, it is assumed to be the same as after the repair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import ValidationError

from singletable.design.model.entity import STORED, UNFIT, Entity, field_values
from singletable.design.model.schema import EntitySchema
from singletable.design.values.constraints import problem_text
from singletable.design.values.items import Item
from singletable.errors import InvalidItemError

T = TypeVar("T")


def unfit_entity(schema: EntitySchema, item: Item) -> Entity:
    """Return an unfit item as an entity, as far as it can be read: stored values, and None for missing ones.

    Raise InvalidItemError for an item that must not be written: of a newer version, or one that cannot be upcast.
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
        entity.__dict__[schema.version.name] = 0  # as for an item that has no version
    entity.__dict__[STORED] = item
    entity.__dict__[UNFIT] = frozenset(wrong)
    return entity


def repaired(
    schema: EntitySchema, before: Entity, changes: Mapping[str, object], kept: Iterable[str]
) -> Entity:
    """Return an unfit entity with changes that make it fit; raise an error if it still does not."""
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
    # A value that cannot be decoded was read as None, and the stored value would stay.
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
    schema: EntitySchema, item: Item, left: Mapping[str, str], kept: Iterable[str]
) -> InvalidItemError:
    (field, why), others = next(iter(left.items())), len(left) - 1
    return schema.unfit(
        item, f"{field}: {why}" if field else why, others=others, hint=hint_for(schema, left, kept)
    )


def hint_for(schema: EntitySchema, wrong: Iterable[str], kept: Iterable[str]) -> str:
    """Return a hint that says which fields to set so that an item fits."""
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


def _settable(schema: EntitySchema, name: str) -> Iterable[str]:
    return schema.computed[name].fields if name in schema.computed else (name,)
