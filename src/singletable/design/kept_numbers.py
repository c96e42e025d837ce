"""Numbers that are counted in an item change while somebody writes the item. No write of it may take them back.

They are no part of what a caller writes, and they do not count as versions. So a create and an update refuse
those that somebody gives, and a put takes them from what is stored; an update of an index key, or of what is
derived, reads them first; each demands that they are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from singletable.client.calls import Steps
from singletable.design.conditions import Condition, holds
from singletable.design.entity import STORED, Entity, key_values
from singletable.design.expressions import Placeholders
from singletable.design.field_codecs import FieldCodec
from singletable.design.revising import ChangedMeanwhileError, read_stored, unchanged_attributes
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import NULL, Item
from singletable.design.unfit_items import unfit_fields
from singletable.errors import ConditionNotMetError, DesignError, InvalidItemError, InvalidWriteError


def refuse_counted(session: Session, schema: EntitySchema[Any], names: Iterable[str]) -> None:
    """Refuse to change a number that the layer counts."""
    for name in session.catalog.belonging.kept(schema).intersection(names):
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} is counted by the layer",
            hint="verify(repair=True) counts again",
        )


def refuse_made_up(
    session: Session, schema: EntitySchema[Any], entity: Entity, *, read: Item | None = None
) -> None:
    """Refuse an entity with numbers that somebody has made up: they were not read with it, and are not none."""
    for name in session.catalog.belonging.kept(schema):
        value = entity.__dict__.get(name)
        if not value or value == schema.entity.model_fields[name].get_default(call_default_factory=True):
            continue
        if read is None or not _was_read(schema.fields[name], value, read):
            raise InvalidWriteError(
                f"{schema.entity.__name__}.{name} is counted by the layer, and {value!r} is given for it",
                hint="leave it out, and it follows; load(..., settled=True) writes numbers as they stand",
            )


def _was_read(codec: FieldCodec, value: Any, read: Item) -> bool:
    given = NULL if value is None else codec.encode(value)
    stored = read.get(codec.stored, NULL)
    if "N" not in given or "N" not in stored:
        return given == stored
    return Decimal(given["N"]) == Decimal(stored["N"])


def with_stored_numbers(
    session: Session,
    schema: EntitySchema[Any],
    after: Entity,
    before: Entity | None,
    *,
    read: Item | None = None,
) -> Entity:
    """Return an entity that is to be put, with the stored numbers; where none are, with those that were read."""
    names = session.catalog.belonging.kept_attributes(schema)
    own: Item = after.__dict__.get(STORED) or {}
    counted: Item = _beside(session, schema, after, read) if before is None else before.__dict__[STORED]
    kept = session.catalog.belonging.kept(schema) if before is not None else frozenset()
    wrong = unfit_fields(before) & kept
    if wrong:
        what = f"{' and '.join(sorted(wrong))} cannot be read"
        raise schema.unfit(counted, what, hint="db.verify(repair=True) counts again")
    entity = after.model_copy(update={name: getattr(before, name) for name in kept})
    entity.__dict__.update(schema.computed_values(entity.__dict__, schema.followers(kept)))
    entity.__dict__[STORED] = _with_numbers(own, counted, names)
    return entity


def _beside(session: Session, schema: EntitySchema[Any], after: Entity, read: Item | None) -> Item:
    """Return the sums and counts of averages that an entity still has as it was read."""
    beside: Item = {}
    if read is None:
        return beside
    for each in session.catalog.belonging.counting(schema):
        if _was_read(schema.fields[each.field], getattr(after, each.field), read):
            beside |= {name: read[name] for name in (each.sum_name, each.count_name) if name in read}
    return beside


def with_current_numbers(
    session: Session, schema: EntitySchema[Any], before: Entity, needed: Iterable[str]
) -> Steps[Entity]:
    """Return an entity as it was read, with its numbers as they are now, if they are needed and it is there."""
    if not session.catalog.belonging.kept(schema).intersection(needed):
        return before
    now = yield from read_stored(session, schema, schema.primary_key(before))
    if now is None:
        return before
    stored: Item = before.__dict__.get(STORED) or schema.to_item(before)
    names = session.catalog.belonging.kept_attributes(schema)
    entity: Entity = schema.to_entity(_with_numbers(stored, now.__dict__[STORED], names))
    return entity


def _with_numbers(item: Item, counted: Item, names: frozenset[str]) -> Item:
    own = {name: value for name, value in item.items() if name not in names}
    return {**own, **{name: value for name, value in counted.items() if name in names}}


def same_numbers(
    session: Session, schema: EntitySchema[Any], before: Entity | None, into: Placeholders
) -> list[str]:
    """Write that what is counted in an item is as it was read."""
    stored: Item | None = None if before is None else before.__dict__.get(STORED)
    if stored is None:
        return []
    names = session.catalog.belonging.kept_attributes(schema)
    return unchanged_attributes({name: stored.get(name) for name in names}, into)


def unless_counted(
    session: Session,
    schema: EntitySchema[Any],
    when: Condition | None,
    stored: Item | None,
    error: DesignError,
) -> DesignError:
    """Return why a write was refused; if only by what is counted in its item, that it is to be planned again."""
    if type(error) is not ConditionNotMetError or stored is None:
        return error
    if not session.catalog.belonging.kept(schema):
        return error
    try:
        entity = schema.to_entity(stored)
    except InvalidItemError:
        return error
    if when is not None and not holds(when, key_values(entity)):
        return error
    return ChangedMeanwhileError(error.message, hint=error.hint)
