"""Plans a create and a put (an upsert): the whole item, with the fields that the layer fills in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from singletable.client.calls import Params, Steps
from singletable.design.kept.aggregate import same_numbers, unless_counted, with_stored_numbers
from singletable.design.kept.kind import effects, filled_in, kept_of
from singletable.design.model.entity import STORED, Entity, field_values, key_values
from singletable.design.model.schema import EntitySchema
from singletable.design.session.action import Action, Prepared
from singletable.design.session.expressions import Placeholders, condition_text, of_entity
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_to_change, stranger
from singletable.design.values.conditions import Condition
from singletable.design.values.items import Item, check_size
from singletable.design.writes.write import (
    assign,
    clock_time,
    expiry_of_put,
    refusal,
    schema_for,
    shown,
    unchanged,
    version_of,
    version_term,
)
from singletable.errors import AlreadyExistsError, DesignError, InvalidItemError, InvalidWriteError

Way = Literal["create", "put", "load"]


def plan_create(session: Session, entity: Entity) -> Steps[Prepared]:
    """Plan to write an item that does not exist yet."""
    schema = schema_for(session, entity)
    kinds = kept_of(session.catalog).kinds_in(schema)
    for kind in kinds:
        kind.refuse_write(schema)
    for kind in kinds:
        kind.refuse_given(schema, entity, None)
    after = yield from _filled_in(session, schema, entity, "create")
    if schema.kept.counted:
        after = with_stored_numbers(session, schema, after, None)
    into = Placeholders()
    term = _absent(session, schema, into)

    def refused(stored: Item | None) -> DesignError:
        return AlreadyExistsError(
            f"{shown(schema, after)} is there already",
            hint="put() replaces it, update() changes fields of it",
        )

    action = _put_action(schema, after, [term], into, refused)
    others = yield from effects(session, schema, None, after)
    return Prepared([action, *others], _finish(schema, entity, after, action), entity=schema.entity)


def plan_put(
    session: Session, entity: Entity, when: Condition | None, *, loads: bool = False
) -> Steps[Prepared]:
    """Plan an upsert: write an item, whether it exists or not. With `loads`, a version is not checked."""
    schema = schema_for(session, entity)
    kinds = kept_of(session.catalog).kinds_in(schema)
    for kind in () if loads else kinds:
        kind.refuse_write(schema)
    after = yield from _filled_in(session, schema, entity, "load" if loads else "put")
    reads = schema.kept.effect_reads
    kept = schema.kept.counted
    before = (
        (yield from read_to_change(session, schema, schema.primary_key(after))) if reads or kept else None
    )
    if kept:
        # If nothing is stored, the loaded item comes from elsewhere: its children count as they are loaded.
        read = None if loads and before is None else entity.__dict__.get(STORED)
        for kind in kinds:
            kind.refuse_given(schema, entity, read)
        after = with_stored_numbers(session, schema, after, before, read=read)
    into = Placeholders()
    terms = []
    is_versioned = schema.version is not None and not loads
    if is_versioned:
        terms.append(version_term(schema, entity, into))
    elif reads or kept:
        terms += _as_planned(session, schema, reads, before, into)
    if kept:
        terms += same_numbers(schema, before, into)
    if when is not None:
        terms.append(condition_text(when, schema, into))
    if schema in session.catalog.overlapping:
        terms.append(of_entity(session, schema, None, into))

    def refused(stored: Item | None) -> DesignError:
        error = None if stored is None else stranger(session, schema, stored)
        if error is not None and stored is not None and schema.discriminator in stored:
            what = f"{shown(schema, after)} would replace another item: {error.message}"
            return InvalidItemError(what, key=error.key, hint=error.hint)
        return unless_counted(schema, when, stored, refusal(schema, entity, when, stored))

    action = _put_action(schema, after, terms, into, refused)
    others = yield from effects(session, schema, before, after)
    is_retried = bool(reads or kept) and not is_versioned
    return Prepared([action, *others], _finish(schema, entity, after, action), is_retried, schema.entity)


def loaded_item(session: Session, schema: EntitySchema, entity: Entity) -> Steps[tuple[Entity, Item, int]]:
    """Return an entity to be loaded, its item and the item's size. It has no effects on other items."""
    filled = yield from filled_in(session, schema, entity, loads=True)
    return settled_item(session, schema, entity, filled)


def settled_item(
    session: Session, schema: EntitySchema, entity: Entity, filled: Mapping[str, object] | None = None
) -> tuple[Entity, Item, int]:
    """Return an entity of a settled load, its item and the item's size. Numbers and copies stay as given."""
    after = _with_times(session, schema, entity, "load", filled or {})
    item = schema.to_item(after)
    return after, item, check_size(item, schema.entity)


def _absent(session: Session, schema: EntitySchema, into: Placeholders) -> str:
    """Write the condition that the key has no item, or an expired one, which reads hide too.

    An expired item with effects, such as locks, refuses the write until it is deleted: the effects must go first.
    """
    absent = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    if schema.ttl is None or schema.kept.effect_reads:
        return absent
    now = into.value({"N": str(session.now_s())})
    return f"({absent} OR {into.name(schema.ttl.stored)} <= {now})"


def _as_planned(
    session: Session, schema: EntitySchema, reads: frozenset[str], before: Entity | None, into: Placeholders
) -> list[str]:
    """Write the optimistic lock: the stored item is the one that the effects were planned from."""
    pk = into.name(session.catalog.table.pk)
    if before is None:
        return [f"attribute_not_exists({pk})"]
    return [f"attribute_exists({pk})", *unchanged(schema, reads, before, into)]


def _put_action(
    schema: EntitySchema, after: Entity, terms: list[str], into: Placeholders, refused: Any
) -> Action:
    item = schema.to_item(after)
    check_size(item, schema.entity)
    params: Params = {"Item": item}
    if terms:
        params["ConditionExpression"] = " AND ".join(terms)
    return Action("Put", schema.key_in(item), into.add_to(params), refused)


def _finish(schema: EntitySchema, entity: Entity, after: Entity, action: Action) -> Any:
    def finish(stored: Item | None) -> Entity:
        sent = action.params["Item"]
        if stored is None or (stored is sent and schema.is_read_as_written):
            assign(entity, field_values(after), sent)
        else:
            assign(entity, field_values(schema.to_entity(stored)), stored)
        return entity

    return finish


# --- what the layer fills in ---------------------------------------------------------------------------------


def _filled_in(session: Session, schema: EntitySchema, entity: Entity, way: Way) -> Steps[Entity]:
    """Return the entity to be stored: with copies, times and version filled in, and every field validated."""
    filled = yield from filled_in(session, schema, entity, loads=way == "load")
    return _with_times(session, schema, entity, way, filled)


def _with_times(
    session: Session, schema: EntitySchema, entity: Entity, way: Way, filled: Mapping[str, object]
) -> Entity:
    values = field_values(entity)
    values.update(filled)
    now = clock_time(session)
    given = entity.model_fields_set
    values.update({name: now for name in schema.updated if way != "load" or name not in given})
    values.update({name: now for name in schema.created if name not in given})
    if schema.version is not None:
        values[schema.version.name] = _version(schema, entity, way)
    after = _valid(schema, entity, values)
    if schema.has_constrained_keys:
        whole = key_values(after)
        schema.check_keys(whole, whole)
    if schema.ttl is not None and schema.expires is not None:
        after.__dict__[schema.ttl.name] = expiry_of_put(schema, entity, after.__dict__, now)
    return after


def _version(schema: EntitySchema, entity: Entity, way: Way) -> int:
    match way:
        case "create":
            return 1
        case "put":
            return version_of(schema, entity) + 1
        case "load":  # an entity that was never stored has version 0
            return max(1, version_of(schema, entity))
        case _:
            assert_never(way)


def _valid(schema: EntitySchema, entity: Entity, values: dict[str, object]) -> Entity:
    """Return a validated entity of these values. Pydantic does not validate assignments to fields."""
    try:
        valid: Entity = schema.validated(values)
    except InvalidWriteError:
        schema.primary_key(entity)  # if the key cannot be built, that error comes first
        raise
    stored = entity.__dict__.get(STORED)
    if stored is not None:
        valid.__dict__[STORED] = stored
    return valid
