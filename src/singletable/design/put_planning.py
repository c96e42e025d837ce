"""How a create and a put are planned: the whole item, with what the layer fills in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from singletable.client.calls import Steps
from singletable.design.actions import Action, Prepared
from singletable.design.conditions import Condition
from singletable.design.copying import filled_copies
from singletable.design.deriving import refuse_derived
from singletable.design.effects import effect_reads, effects
from singletable.design.entity import STORED, Entity, field_values, key_values
from singletable.design.expiry import expiry_of_put
from singletable.design.expressions import Placeholders, condition_text
from singletable.design.item_sizes import check_size
from singletable.design.kept_numbers import (
    refuse_made_up,
    same_numbers,
    unless_counted,
    with_stored_numbers,
)
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.write_planning import (
    assign,
    clock_time,
    of_entity,
    read_stored,
    refusal,
    schema_for,
    shown,
    stranger,
    unchanged,
    version_of,
    version_term,
)
from singletable.errors import AlreadyExistsError, DesignError, InvalidItemError, InvalidWriteError

Way = Literal["create", "put", "load"]


def plan_create(session: Session, entity: Entity) -> Steps[Prepared]:
    """Plan to write an item that is not there yet."""
    schema = schema_for(session, entity)
    refuse_derived(schema)
    refuse_made_up(session, schema, entity)
    after = yield from _filled_in(session, schema, entity, "create")
    if session.catalog.belonging.kept(schema):
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
    """Plan to write an item, whether it is there or not; with `loads` as it stands, whatever is stored."""
    schema = schema_for(session, entity)
    if not loads:
        refuse_derived(schema)
    after = yield from _filled_in(session, schema, entity, "load" if loads else "put")
    reads = effect_reads(session, schema)
    kept = session.catalog.belonging.kept(schema)
    before = (yield from read_stored(session, schema, schema.primary_key(after))) if reads or kept else None
    if kept:
        # What is loaded where nothing is stored comes from elsewhere, and its children are counted as they come.
        read = None if loads and before is None else entity.__dict__.get(STORED)
        refuse_made_up(session, schema, entity, read=read)
        after = with_stored_numbers(session, schema, after, before, read=read)
    into = Placeholders()
    terms = []
    is_versioned = schema.version is not None and not loads
    if is_versioned:
        terms.append(version_term(schema, entity, into))
    elif reads or kept:
        terms += _as_planned(session, schema, reads, before, into)
    if kept:
        terms += same_numbers(session, schema, before, into)
    if when is not None:
        terms.append(condition_text(when, schema, into))
    if schema in session.catalog.overlapping:
        terms.append(of_entity(session, schema, None, into))

    def refused(stored: Item | None) -> DesignError:
        error = None if stored is None else stranger(session, schema, stored)
        if error is not None and stored is not None and schema.discriminator in stored:
            return _of_another(schema, after, error)
        return unless_counted(session, schema, when, stored, refusal(schema, entity, when, stored))

    action = _put_action(schema, after, terms, into, refused)
    others = yield from effects(session, schema, before, after)
    is_retried = bool(reads or kept) and not is_versioned
    return Prepared([action, *others], _finish(schema, entity, after, action), is_retried, schema.entity)


def loaded_item(
    session: Session, schema: EntitySchema[Any], entity: Entity
) -> Steps[tuple[Entity, Item, int]]:
    """Return an entity as it is to be loaded, its item and the size of it, where that is all there is to do."""
    copies = yield from filled_copies(session, schema, entity, loads=True)
    return settled_item(session, schema, entity, copies)


def settled_item(
    session: Session, schema: EntitySchema[Any], entity: Entity, copies: Mapping[str, Any] | None = None
) -> tuple[Entity, Item, int]:
    """Return an entity as it is to be loaded, its item and the size of it; numbers and copies as they stand."""
    after = _with_times(session, schema, entity, "load", copies or {})
    item = schema.to_item(after)
    return after, item, check_size(item, schema.entity)


def _absent(session: Session, schema: EntitySchema[Any], into: Placeholders) -> str:
    """Write that there is no item of the key, or one whose time is over, as reads say it too.

    One that has effects, such as locks, is in the way until it is deleted: they have to go with it.
    """
    absent = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    if schema.ttl is None or effect_reads(session, schema):
        return absent
    now = into.value({"N": str(session.now_s())})
    return f"({absent} OR {into.name(schema.ttl.stored)} <= {now})"


def _of_another(schema: EntitySchema[Any], after: Entity, error: InvalidItemError) -> InvalidItemError:
    return InvalidItemError(
        f"{shown(schema, after)} would replace another item: {error.message}", key=error.key, hint=error.hint
    )


def _as_planned(
    session: Session,
    schema: EntitySchema[Any],
    reads: frozenset[str],
    before: Entity | None,
    into: Placeholders,
) -> list[str]:
    """Write that the stored item is the one that effects were planned from."""
    pk = into.name(session.catalog.table.pk)
    if before is None:
        return [f"attribute_not_exists({pk})"]
    return [f"attribute_exists({pk})", *unchanged(schema, reads, before, into)]


def _put_action(
    schema: EntitySchema[Any], after: Entity, terms: list[str], into: Placeholders, refused: Any
) -> Action:
    item = schema.to_item(after)
    check_size(item, schema.entity)
    params: dict[str, Any] = {"Item": item}
    if terms:
        params["ConditionExpression"] = " AND ".join(terms)
    key = {name: item[name] for name in schema.table.key_attributes()}
    return Action("Put", key, into.add_to(params), refused)


def _finish(schema: EntitySchema[Any], entity: Entity, after: Entity, action: Action) -> Any:
    def finish(stored: Item | None) -> Entity:
        sent = action.params["Item"]
        if stored is None or (stored is sent and schema.is_read_as_written):
            assign(entity, field_values(after), sent)
        else:
            assign(entity, field_values(schema.to_entity(stored)), stored)
        return entity

    return finish


# --- what the layer fills in ---------------------------------------------------------------------------------


def _filled_in(session: Session, schema: EntitySchema[Any], entity: Entity, way: Way) -> Steps[Entity]:
    """Return the entity as it is to be stored: copies, times and version filled in, and every field valid."""
    copies = yield from filled_copies(session, schema, entity, loads=way == "load")
    return _with_times(session, schema, entity, way, copies)


def _with_times(
    session: Session, schema: EntitySchema[Any], entity: Entity, way: Way, copies: Mapping[str, Any]
) -> Entity:
    values = field_values(entity)
    values.update(copies)
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


def _version(schema: EntitySchema[Any], entity: Entity, way: Way) -> int:
    match way:
        case "create":
            return 1
        case "put":
            return version_of(schema, entity) + 1
        case "load":  # 0 is the version of what is not stored
            return max(1, version_of(schema, entity))
        case _:
            assert_never(way)


def _valid(schema: EntitySchema[Any], entity: Entity, values: dict[str, Any]) -> Entity:
    """Return an entity of these values. Pydantic does not look at what is assigned to a field."""
    try:
        valid: Entity = schema.validated(values)
    except InvalidWriteError:
        schema.primary_key(entity)  # a key that cannot be built is the first thing to be said
        raise
    stored = entity.__dict__.get(STORED)
    if stored is not None:
        valid.__dict__[STORED] = stored
    return valid
