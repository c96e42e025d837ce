"""Plans an update: its changes, the index keys and the expiry that change with them, and its conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from singletable.client.calls import Steps
from singletable.design.kept.aggregate import unless_counted, with_current_numbers
from singletable.design.kept.copy import readable_copies
from singletable.design.kept.kind import effects, kept_of
from singletable.design.model.entity import STORED, Entity, field_values, is_unfit, key_values, unfit_fields
from singletable.design.model.schema import Binding, EntitySchema
from singletable.design.model.unfit_items import repaired, unfit_entity
from singletable.design.plans.get import Get, named_fields
from singletable.design.session.action import Action, Prepared
from singletable.design.session.expressions import Placeholders, condition_text, not_expired, of_entity
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_to_change, stranger
from singletable.design.values.arguments import require_field
from singletable.design.values.items import (
    ITEM_BYTES_LARGE,
    Item,
    attribute_bytes,
    check_size,
    is_empty,
    item_bytes,
)
from singletable.design.writes.write import (
    Add,
    Append,
    Update,
    as_read_terms,
    as_stored,
    assign,
    clock_time,
    expiry_of,
    key_of,
    refusal,
    schema_for,
    shown,
    unchanged,
    version_term,
)
from singletable.errors import DesignError, InvalidItemError, InvalidWriteError, NotFoundError
from singletable.values.sizes import text_bytes

Changes = dict[str, Any]


def checked_changes(schema: EntitySchema, changes: Mapping[str, object], now: datetime) -> Changes:
    """Return validated changes, with the times of the write. Refuse unknown fields, and fields of the key."""
    if not changes:
        raise InvalidWriteError(f"an update of {schema.entity.__name__} changes nothing")
    for name in changes:
        _check_name(schema, name)
    checked = {name: _checked(schema, name, value) for name, value in changes.items()}
    return {**dict.fromkeys(schema.updated, now), **checked}


def _check_name(schema: EntitySchema, name: str) -> None:
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


def _checked(schema: EntitySchema, name: str, value: Any) -> Any:
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


def _waits(schema: EntitySchema, name: str) -> bool:
    """Tell whether an added value can only be validated together with the stored one."""
    return schema.has_model_validators or name in schema.bounded


def _valid(schema: EntitySchema, name: str, value: Any) -> Any:
    """Validate a single field, as the entity would."""
    try:
        return schema.valid_field(name, value)
    except ValidationError as error:
        raise InvalidWriteError(
            f"{schema.entity.__name__}.{name} cannot be {value!r}: {schema.problem_text(error)}"
        ) from error


def validation_reads(schema: EntitySchema, changes: Changes) -> frozenset[str]:
    """Name the fields whose stored values are needed to validate changes."""
    if schema.has_model_validators:
        return frozenset(schema.fields)
    return schema.bounded.intersection(name for name, value in changes.items() if _is_relative(value))


def resolved_changes(
    schema: EntitySchema, changes: Changes, needed: frozenset[str], before: Entity
) -> Changes:
    """Return validated changes. For needed fields, Add and Append become values, computed from the stored item."""
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


def resolved_alone(schema: EntitySchema, changes: Changes, before: Entity) -> Changes:
    """Return changes as values, computed from the stored item. The caller validates them with the other fields."""
    return {name: _worked_out(schema, name, before, value) for name, value in changes.items()}


def _is_relative(value: Any) -> bool:
    return isinstance(value, Add | Append)


def _worked_out(schema: EntitySchema, name: str, before: Entity, change: Any) -> Any:
    try:
        return _sum(before.__dict__.get(name), change)
    except TypeError as error:
        raise InvalidWriteError(f"{schema.entity.__name__}.{name}: {change} cannot be added to it") from error


def _valid_together(schema: EntitySchema, before: Entity, changes: Changes) -> Changes:
    """Validate an entity as it will be. Other fields that its validators change are changed too."""
    stored = {
        name: value
        for name, value in field_values(before).items()
        if value is not None or name not in schema.created  # None in an entity that was never stored
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


@dataclass(slots=True)
class _Plan:
    """An update that is being planned: the known values, the changes, and the expressions so far."""

    schema: EntitySchema
    write: Update[Any]
    changes: Changes
    before: Entity | None  # as it is stored, if that is known
    known: Mapping[str, object]
    guarded: frozenset[str] = frozenset()
    into: Placeholders = field(default_factory=Placeholders)
    sets: dict[str, str] = field(default_factory=dict)
    removes: dict[str, None] = field(default_factory=dict)
    adds: list[str] = field(default_factory=list)
    repairs: Entity | None = None  # the repaired entity, if the stored item does not fit

    @property
    def is_locked(self) -> bool:
        """Whether there is an optimistic lock: the version that was read guards all fields read with it."""
        target = self.write.target
        return self.schema.version is not None and isinstance(target, Entity) and STORED in target.__dict__

    def set_attribute(self, name: str, value: Any) -> None:
        self.sets[self.into.name(name)] = self.into.value(value)

    def remove_attribute(self, name: str) -> None:
        self.removes[self.into.name(name)] = None


def plan_update(session: Session, write: Update[Any], *, fresh: bool) -> Steps[Prepared]:
    """Plan to change fields of an existing item; read it if the plan needs stored values."""
    schema, target = schema_for(session, write.target), write.target
    kinds = kept_of(session.catalog).kinds_in(schema)
    for kind in kinds:
        kind.refuse_write(schema)
    for kind in kinds:
        kind.refuse_changes(schema, write.changes.keys())
    changes = checked_changes(schema, write.changes, clock_time(session))
    follow = schema.followers(changes)
    before = as_stored(schema, target) if isinstance(target, Entity) and not fresh else None
    known = _known(target, before)
    reads = schema.kept.effect_reads
    is_effective = bool(reads & (changes.keys() | schema.properties))
    needed = _needed(schema, changes, follow) | (schema.plain_sources(reads) if is_effective else frozenset())
    plain = {name for name, value in changes.items() if not isinstance(value, Add | Append)}
    is_read = fresh or is_effective or schema.has_model_validators or bool(needed - known.keys() - plain)
    if before is not None:
        try:
            before = yield from with_current_numbers(session, schema, before, needed)
        except InvalidItemError:
            before, is_read = None, True  # the item no longer fits its entity
    if before is None and is_read:
        before = yield from read_to_change(session, schema, key_of(schema, target))
        if before is None or schema.is_expired(before.__dict__[STORED], session.now_s()):
            raise NotFoundError(f"{shown(schema, target)} is not there", hint="create() makes it")
        if is_unfit(before):
            return (yield from _plan_repair(session, schema, write, changes, before))
    if before is not None:
        known = key_values(before)
        changes = resolved_changes(schema, changes, needed, before)
        relative = write.changes.keys() - plain
        guarded = (needed - plain) | (needed & relative) | (reads if is_effective else frozenset())
    else:
        guarded = frozenset()
        known = schema.with_computed(known)
    changes |= schema.computed_values({**known, **changes}, follow)
    plan = _Plan(schema, write, changes, before, known, guarded)
    action, after = _action(session, plan)
    others = (yield from effects(session, schema, before, after)) if is_effective else []
    is_locked = plan.is_locked or write.as_read
    is_retried = not is_locked and bool(needed or schema.schema_version is not None)
    return Prepared([action, *others], _finish(session, plan, after), is_retried, schema.entity)


def _plan_repair(
    session: Session, schema: EntitySchema, write: Update[Any], changes: Changes, before: Entity
) -> Steps[Prepared]:
    """Plan an update that makes an unfit item fit its entity.

    The whole item is written, on condition that it is unchanged (an optimistic lock). Its effects are planned from
    the readable values before, and all values after. Copies are filled in from their sources.
    """
    kept = schema.kept.counted
    changes = resolved_alone(schema, changes, before)
    changes |= yield from readable_copies(session, before.model_copy(update=changes))
    after = repaired(schema, before, changes, kept)
    changes = {name: after.__dict__[name] for name in changes}
    plan = _Plan(schema, write, changes, before, before.__dict__, repairs=after)
    action, _ = _action(session, plan)
    others = (yield from effects(session, schema, before, after)) if schema.kept.effect_reads else []
    is_retried = not (plan.is_locked or write.as_read)
    return Prepared([action, *others], _finish(session, plan, after), is_retried, schema.entity)


def _known(target: Entity | Get[Entity], before: Entity | None) -> Mapping[str, object]:
    if before is not None:
        return key_values(before)
    if isinstance(target, Entity):
        return {}
    return named_fields(target)


def _needed(schema: EntitySchema, changes: Changes, follow: frozenset[str]) -> frozenset[str]:
    """Name the fields whose values are needed to change these fields, and the computed fields that follow."""
    needed, changing = set(follow), changes.keys() | follow
    for binding in _touched(schema, changing):
        needed |= binding.reads()
    if schema.expiry_reads & changing:
        needed |= schema.expiry_reads
    return schema.plain_sources(validation_reads(schema, changes) | needed)


def _touched(schema: EntitySchema, changes: Collection[str]) -> list[Binding]:
    """Return the places whose keys may change, and the places that share an index with them.

    It is not known which fields a property reads, so keys that are built from a property may always change.
    """
    changing = schema.properties.union(changes)
    indexes = {binding.index for binding in schema.indexes if binding.reads() & changing}
    return [binding for binding in schema.indexes if binding.index in indexes]


# --- the action --------------------------------------------------------------------------------------------


def _action(session: Session, plan: _Plan) -> tuple[Action, Entity | None]:
    """Return the action of an update, and the entity after it, if that is known."""
    schema, write, into, before = plan.schema, plan.write, plan.into, plan.before
    is_older = before is not None and (plan.repairs is not None or _is_older(schema, before))
    after = plan.repairs or (None if before is None else applied(before, plan.changes))
    if after is not None and is_older:
        kept = schema.kept.counted
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
    terms += as_read_terms(schema, write, into)
    if plan.repairs is not None and before is not None:
        _set_key_fields(plan, before)
        terms += unchanged(schema, schema.fields, before, into)
    elif not plan.is_locked:
        terms += _guards(plan, is_older=is_older)
    elif before is not None:
        terms += unchanged(schema, plan.guarded & schema.kept.counted, before, into)
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
            continue  # it belongs to an older item, which is written whole
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
    """Set fields of the key whose stored values disagree with it to the values in the key."""
    schema, item = plan.schema, before.__dict__[STORED]
    for name in schema.key.keys.reads():
        codec = schema.fields.get(name)
        if codec is None or name not in unfit_fields(before) or codec.stored not in item:
            continue
        if codec.stored not in schema.key_names:
            plan.set_attribute(codec.stored, codec.encode(before.__dict__[name]))


def _set_expiry(session: Session, plan: _Plan, after: Entity | None) -> None:
    """Set the expiry by its condition and its start time. Without a start field, an existing expiry is kept."""
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
        plan.sets[name] = into.value({"N": "1"})  # the stored version is no number, so it starts again
    else:
        zero, one = into.value({"N": "0"}), into.value({"N": "1"})
        plan.sets[name] = f"if_not_exists({name}, {zero}) + {one}"
    return [version_term(schema, target, into)] if isinstance(target, Entity) else []


def _guards(plan: _Plan, *, is_older: bool) -> list[str]:
    """Write the optimistic lock: the fields that the plan was made from are unchanged."""
    schema, before = plan.schema, plan.before
    if before is None:
        return []
    if is_older:
        return _same_item(schema, before, plan.into)
    guarded = plan.guarded
    if guarded & schema.properties:  # a property may read any field
        guarded = frozenset(schema.fields)
    return unchanged(schema, guarded - set(schema.key.keys.reads()), before, plan.into)


def _same_item(schema: EntitySchema, before: Entity, into: Placeholders) -> list[str]:
    stored: Item = before.__dict__[STORED]
    keys = schema.key_names
    return [f"{into.name(name)} = {into.value(value)}" for name, value in stored.items() if name not in keys]


def _may_be_large(plan: _Plan) -> bool:
    """Tell whether the stored item and the written values may add up to a large item."""
    stored: Item | None = None if plan.before is None else plan.before.__dict__.get(STORED)
    if stored is None:
        return True
    written = sum(map(attribute_bytes, plan.into.values.values())) + sum(
        map(text_bytes, plan.into.names.values())
    )
    return item_bytes(stored) + written > ITEM_BYTES_LARGE


# --- items of an older schema version ------------------------------------------------------------------------


def _is_older(schema: EntitySchema, before: Entity) -> bool:
    stored: Item | None = before.__dict__.get(STORED)
    if schema.schema_version is None or stored is None:
        return False
    return stored.get(schema.schema_version_name) != {"N": str(schema.schema_version)}


def _fields_written(schema: EntitySchema, after: Entity) -> Changes:
    """Return the fields of an item that is upgraded to this schema version, without a computed expiry."""
    follows = schema.ttl.name if schema.ttl is not None and schema.expires is not None else None
    return {name: value for name, value in field_values(after).items() if name != follows}


def _schema_version_terms(plan: _Plan, *, is_older: bool) -> list[str]:
    """Upgrade an older item to this schema version. An item that was not read must have this version already."""
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
        return unless_counted(schema, when, there, error)

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
    session: Session, schema: EntitySchema, stored: Item, error: InvalidItemError
) -> InvalidItemError:
    """Return the error that an update is stored but the item still does not fit, with a hint what to set next."""
    try:
        repaired(schema, unfit_entity(schema, stored), {}, schema.kept.counted)
    except InvalidItemError as left:
        error = left
    return InvalidItemError(f"the update is stored, but {error.message}", key=error.key, hint=error.hint)


def _read_back(session: Session, schema: EntitySchema, stored: Item) -> Entity:
    """Return the entity that an update has stored. The rest of the item was not read, and may not fit."""
    try:
        entity: Entity = schema.to_entity(stored)
    except InvalidItemError as error:
        raise _stored_unfit(session, schema, stored, error) from None
    return entity
