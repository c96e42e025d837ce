"""How an update is planned: the fields that change, the keys and the expiry that follow, what must still hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action, Prepared
from singletable.design.copying import readable_copies, refuse_copies
from singletable.design.deriving import refuse_derived
from singletable.design.effects import effect_reads, effects
from singletable.design.entity import STORED, Entity, field_values, key_values
from singletable.design.expiry import expiry_of
from singletable.design.expressions import Placeholders, condition_text, not_expired
from singletable.design.field_changes import (
    Changes,
    applied,
    checked_changes,
    resolved,
    resolved_alone,
    validation_reads,
)
from singletable.design.item_sizes import ITEM_BYTES_LARGE, attribute_bytes, check_size, item_bytes
from singletable.design.kept_numbers import refuse_counted, unless_counted, with_current_numbers
from singletable.design.plans import Get
from singletable.design.schema import Binding, EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item, is_empty
from singletable.design.unfit_items import is_unfit, repaired, unfit_entity, unfit_fields
from singletable.design.write_planning import (
    as_stored,
    assign,
    clock_time,
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
from singletable.design.writes import Add, Append, Update
from singletable.errors import DesignError, InvalidItemError, InvalidWriteError, NotFoundError
from singletable.values.sizes import text_bytes


@dataclass(slots=True)
class _Plan:
    """An update on its way: what is known, what changes, and the expressions as they are written."""

    schema: EntitySchema[Any]
    write: Update[Any]
    changes: Changes
    before: Entity | None  # as it is stored, if that is known
    known: Mapping[str, Any]
    guarded: frozenset[str] = frozenset()
    into: Placeholders = field(default_factory=Placeholders)
    sets: dict[str, str] = field(default_factory=dict)
    removes: dict[str, None] = field(default_factory=dict)
    adds: list[str] = field(default_factory=list)
    repairs: Entity | None = None  # as it will be, of an item that does not fit its entity

    @property
    def is_locked(self) -> bool:
        """Whether the version that was read guards everything that was read with it."""
        target = self.write.target
        return self.schema.version is not None and isinstance(target, Entity) and STORED in target.__dict__

    def set_attribute(self, name: str, value: Any) -> None:
        self.sets[self.into.name(name)] = self.into.value(value)

    def remove_attribute(self, name: str) -> None:
        self.removes[self.into.name(name)] = None


def plan_update(session: Session, write: Update[Any], *, fresh: bool) -> Steps[Prepared]:
    """Plan to change fields of an item that is there; read it where more must be known of it."""
    schema, target = schema_for(session, write.target), write.target
    refuse_derived(schema)
    refuse_counted(session, schema, write.changes)
    refuse_copies(session, schema, write.changes.keys())
    changes = checked_changes(schema, write.changes, clock_time(session))
    follow = schema.followers(changes)
    before = as_stored(schema, target) if isinstance(target, Entity) and not fresh else None
    known = _known(target, before)
    reads = effect_reads(session, schema)
    is_effective = bool(reads & (changes.keys() | schema.properties))
    needed = _needed(schema, changes, follow) | (schema.plain_sources(reads) if is_effective else frozenset())
    plain = {name for name, value in changes.items() if not isinstance(value, Add | Append)}
    is_read = fresh or is_effective or schema.has_model_validators or bool(needed - known.keys() - plain)
    if before is not None:
        try:
            before = yield from with_current_numbers(session, schema, before, needed)
        except InvalidItemError:
            before, is_read = None, True  # it does not fit any more
    if before is None and is_read:
        before = yield from read_stored(session, schema, key_of(schema, target))
        if before is None or schema.is_expired(before.__dict__[STORED], session.now_s()):
            raise NotFoundError(f"{shown(schema, target)} is not there", hint="create() makes it")
        if is_unfit(before):
            return (yield from _plan_repair(session, schema, write, changes, before))
    if before is not None:
        known = key_values(before)
    if before is not None:
        changes = resolved(schema, changes, needed, before)
        relative = write.changes.keys() - plain
        guarded = (needed - plain) | (needed & relative) | (reads if is_effective else frozenset())
    else:
        guarded = frozenset()
        known = schema.with_computed(known)
    changes |= schema.computed_values({**known, **changes}, follow)
    plan = _Plan(schema, write, changes, before, known, guarded)
    action, after = _action(session, plan)
    others = (yield from effects(session, schema, before, after)) if is_effective else []
    is_retried = not plan.is_locked and bool(needed or schema.schema_version is not None)
    return Prepared([action, *others], _finish(session, plan, after), is_retried, schema.entity)


def _plan_repair(
    session: Session, schema: EntitySchema[Any], write: Update[Any], changes: Changes, before: Entity
) -> Steps[Prepared]:
    """Plan to change fields of an item that does not fit its entity, so that it does.

    It is written whole, on condition that it still is as it was read. What is kept of it follows from what it
    holds now and what it will hold; a copy is filled in from where it is copied.
    """
    kept = session.catalog.belonging.kept(schema)
    changes = resolved_alone(schema, changes, before)
    changes |= yield from readable_copies(session, schema, before.model_copy(update=changes))
    after = repaired(schema, before, changes, kept)
    changes = {name: after.__dict__[name] for name in changes}
    plan = _Plan(schema, write, changes, before, before.__dict__, repairs=after)
    action, _ = _action(session, plan)
    others = (yield from effects(session, schema, before, after)) if effect_reads(session, schema) else []
    return Prepared([action, *others], _finish(session, plan, after), not plan.is_locked, schema.entity)


def _known(target: Entity | Get[Any], before: Entity | None) -> Mapping[str, Any]:
    if before is not None:
        return key_values(before)
    if isinstance(target, Entity):
        return {}
    keys = [target.pk] if target.sk is None else [target.pk, target.sk]
    return {part.name: getattr(key, part.name) for key in keys for part in key.parts if part.source is None}


def _needed(schema: EntitySchema[Any], changes: Changes, follow: frozenset[str]) -> frozenset[str]:
    """Name the fields that must be known to change these, and the computed ones that follow."""
    needed, changing = set(follow), changes.keys() | follow
    for binding in _touched(schema, changing):
        needed |= binding.reads()
    if schema.expiry_reads & changing:
        needed |= schema.expiry_reads
    return schema.plain_sources(validation_reads(schema, changes) | needed)


def _touched(schema: EntitySchema[Any], changes: Collection[str]) -> list[Binding]:
    """Return the places whose keys may change, with those that share an index with them.

    What a property is made of is not known, so the keys that are built from one may always change.
    """
    changing = schema.properties.union(changes)
    indexes = {binding.index for binding in schema.indexes if binding.reads() & changing}
    return [binding for binding in schema.indexes if binding.index in indexes]


# --- the action --------------------------------------------------------------------------------------------


def _action(session: Session, plan: _Plan) -> tuple[Action, Entity | None]:
    """Return the action of an update, and the entity as it will be, if that is known."""
    schema, write, into, before = plan.schema, plan.write, plan.into, plan.before
    is_older = before is not None and (plan.repairs is not None or _is_older(schema, before))
    after = plan.repairs or (None if before is None else applied(before, plan.changes))
    if after is not None and is_older:
        kept = session.catalog.belonging.kept(schema)
        written = {name: value for name, value in _fields_written(schema, after).items() if name not in kept}
        plan.changes = {**written, **plan.changes}
    _set_fields(plan)
    _set_expiry(session, plan, after)
    _set_keys(plan, after, schema.indexes if is_older else _touched(schema, plan.changes))
    key = key_of(schema, write.target)
    terms = [
        f"attribute_exists({into.name(session.catalog.table.pk)})",
        of_entity(session, schema, key, into),
    ]
    terms += _version_terms(plan)
    if plan.repairs is not None and before is not None:
        _set_key_fields(plan, before)
        terms += unchanged(schema, schema.fields, before, into)
    elif not plan.is_locked:
        terms += _guards(plan, is_older=is_older)
    elif before is not None:
        terms += unchanged(schema, plan.guarded & session.catalog.belonging.kept(schema), before, into)
    if schema.schema_version is not None:
        terms += _schema_version_terms(plan, is_older=is_older)
    alive = not_expired(schema, session.now_s(), into)
    if alive is not None:
        terms.append(alive)
    if write.when is not None:
        terms.append(condition_text(write.when, schema, into))
    if after is not None and _may_be_large(plan):
        check_size(schema.to_item(after), schema.entity)
    params = {"UpdateExpression": _expression(plan), "ConditionExpression": " AND ".join(terms)}
    refused = _refused(session, plan)
    return Action("Update", key, into.add_to(params), refused), after


def _set_fields(plan: _Plan) -> None:
    into, key = plan.into, plan.schema.key.keys.reads()
    for name, value in plan.changes.items():
        codec = plan.schema.fields[name]
        if name in key or (plan.schema.version is not None and name == plan.schema.version.name):
            continue  # of an older item, which is written whole
        if isinstance(value, Add):
            plan.adds.append(f"{into.name(codec.stored)} {into.value(codec.encode(value.amount))}")
        elif isinstance(value, Append):
            stored = into.name(codec.stored)
            empty, members = into.value({"L": []}), into.value(codec.encode(value.members))
            plan.sets[stored] = f"list_append(if_not_exists({stored}, {empty}), {members})"
        elif is_empty(value):
            plan.remove_attribute(codec.stored)
        else:
            plan.set_attribute(codec.stored, codec.encode(value))


def _set_key_fields(plan: _Plan, before: Entity) -> None:
    """Let fields that the key is made of, and that are stored otherwise, follow the key."""
    schema, item = plan.schema, before.__dict__[STORED]
    for name in schema.key.keys.reads():
        codec = schema.fields.get(name)
        if codec is None or name not in unfit_fields(before) or codec.stored not in item:
            continue
        if codec.stored not in schema.table.key_attributes():
            plan.set_attribute(codec.stored, codec.encode(before.__dict__[name]))


def _set_expiry(session: Session, plan: _Plan, after: Entity | None) -> None:
    """Let the expiry follow its condition and the time that it counts from. A time that an item has is kept."""
    schema = plan.schema
    if schema.ttl is None or schema.expires is None or schema.ttl.name in plan.changes:
        return
    if not schema.expiry_reads & plan.changes.keys():
        return
    values = {**plan.known, **plan.changes} if after is None else after.__dict__
    expiry = expiry_of(schema, values, clock_time(session))
    if expiry is None:
        plan.remove_attribute(schema.ttl.stored)
    else:
        plan.set_attribute(schema.ttl.stored, schema.ttl.encode(expiry))
        if schema.expires.after is None:
            name = plan.into.name(schema.ttl.stored)
            plan.sets[name] = f"if_not_exists({name}, {plan.sets[name]})"
            expiry = expiry if after is None else after.__dict__.get(schema.ttl.name) or expiry
    if after is not None:
        after.__dict__[schema.ttl.name] = expiry


def _set_keys(plan: _Plan, after: Entity | None, bindings: list[Binding] | tuple[Binding, ...]) -> None:
    values = {**plan.known, **plan.changes} if after is None else key_values(after)
    if plan.schema.has_constrained_keys:
        known = plan.known
        written = {
            name: value for name, value in values.items() if name in plan.changes or known.get(name) != value
        }
        plan.schema.check_keys(values, written)
    rendered: Item = {}
    for binding in bindings:
        rendered.update(binding.render(values))
    for binding in bindings:
        for attribute in binding.written():
            if attribute in rendered:
                plan.set_attribute(attribute, rendered.pop(attribute))
            elif plan.into.name(attribute) not in plan.sets:
                plan.remove_attribute(attribute)


def _version_terms(plan: _Plan) -> list[str]:
    schema, into, target = plan.schema, plan.into, plan.write.target
    if schema.version is None:
        return []
    name = into.name(schema.version.stored)
    if schema.version.name in unfit_fields(plan.before):
        plan.sets[name] = into.value({"N": "1"})  # what is no number is no version: it begins again
    else:
        zero, one = into.value({"N": "0"}), into.value({"N": "1"})
        plan.sets[name] = f"if_not_exists({name}, {zero}) + {one}"
    return [version_term(schema, target, into)] if isinstance(target, Entity) else []


def _guards(plan: _Plan, *, is_older: bool) -> list[str]:
    """Write that what the plan was made from is still so."""
    schema, before = plan.schema, plan.before
    if before is None:
        return []
    if is_older:
        return _same_item(schema, before, plan.into)
    guarded = plan.guarded
    if guarded & schema.properties:  # which are made of any fields
        guarded = frozenset(schema.fields)
    return unchanged(schema, guarded - set(schema.key.keys.reads()), before, plan.into)


def _same_item(schema: EntitySchema[Any], before: Entity, into: Placeholders) -> list[str]:
    stored: Item = before.__dict__[STORED]
    keys = schema.table.key_attributes()
    return [f"{into.name(name)} = {into.value(value)}" for name, value in stored.items() if name not in keys]


def _may_be_large(plan: _Plan) -> bool:
    """Tell whether what is stored and what is written come to a large item."""
    stored: Item | None = None if plan.before is None else plan.before.__dict__.get(STORED)
    if stored is None:
        return True
    written = sum(map(attribute_bytes, plan.into.values.values())) + sum(
        map(text_bytes, plan.into.names.values())
    )
    return item_bytes(stored) + written > ITEM_BYTES_LARGE


# --- items of an older schema version ------------------------------------------------------------------------


def _is_older(schema: EntitySchema[Any], before: Entity) -> bool:
    stored: Item | None = before.__dict__.get(STORED)
    if schema.schema_version is None or stored is None:
        return False
    return stored.get(schema.schema_version_name) != {"N": str(schema.schema_version)}


def _fields_written(schema: EntitySchema[Any], after: Entity) -> Changes:
    """Return the fields of an item that is brought to this schema version, but for an expiry that follows."""
    follows = schema.ttl.name if schema.ttl is not None and schema.expires is not None else None
    return {name: value for name, value in field_values(after).items() if name != follows}


def _schema_version_terms(plan: _Plan, *, is_older: bool) -> list[str]:
    """Bring an older item to this schema version. One that was not read must be of it."""
    current = {"N": str(plan.schema.schema_version)}
    if is_older:
        plan.set_attribute(plan.schema.schema_version_name, current)
        return []
    return [f"{plan.into.name(plan.schema.schema_version_name)} = {plan.into.value(current)}"]


# --- the end -----------------------------------------------------------------------------------------------


def _expression(plan: _Plan) -> str:
    parts = []
    if plan.sets:
        parts.append("SET " + ", ".join(f"{name} = {value}" for name, value in plan.sets.items()))
    if plan.removes:
        parts.append("REMOVE " + ", ".join(plan.removes))
    if plan.adds:
        parts.append("ADD " + ", ".join(plan.adds))
    if not plan.changes:
        raise InvalidWriteError(f"an update of {plan.schema.entity.__name__} changes nothing")
    return " ".join(parts)


def _refused(session: Session, plan: _Plan) -> Any:
    def refused(stored: Item | None) -> DesignError:
        schema, when = plan.schema, plan.write.when
        if stored is not None and (other := stranger(session, schema, stored)) is not None:
            return other
        there = None if stored is None or schema.is_expired(stored, session.now_s()) else stored
        error = refusal(schema, plan.write.target, when, there)
        return unless_counted(session, schema, when, there, error)

    return refused


def _finish(session: Session, plan: _Plan, after: Entity | None) -> Any:
    schema, target = plan.schema, plan.write.target

    def finish(stored: Item | None) -> Entity | None:
        if stored is None and after is not None:
            if schema.version is not None:
                after.__dict__[schema.version.name] = (getattr(after, schema.version.name) or 0) + 1
            stored = schema.to_item(after)
        entity = None if stored is None else _read_back(session, schema, stored)
        if entity is None or stored is None or not isinstance(target, Entity):
            return entity
        assign(target, field_values(entity), stored)
        return target

    return finish


def _stored_unfit(
    session: Session, schema: EntitySchema[Any], stored: Item, error: InvalidItemError
) -> InvalidItemError:
    """Say that an update is stored, though the item does not fit, and what to set in the next one."""
    try:
        repaired(schema, unfit_entity(schema, stored), {}, session.catalog.belonging.kept(schema))
    except InvalidItemError as left:
        error = left
    return InvalidItemError(f"the update is stored, but {error.message}", key=error.key, hint=error.hint)


def _read_back(session: Session, schema: EntitySchema[Any], stored: Item) -> Entity:
    """Read what an update has stored. Nothing else of the item was looked at, and it may not fit all the same."""
    try:
        entity: Entity = schema.to_entity(stored)
    except InvalidItemError as error:
        raise _stored_unfit(session, schema, stored, error) from None
    return entity
