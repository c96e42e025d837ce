"""Writes as values. A pattern may return them, a transaction takes them, and a stream handler yields them.

    @pattern("1 Store weekly menu")
    def store(self, menu: Menu) -> Put[Menu]:
        return Put(menu)

    db.store(menu).run()

Also what the plans of all writes share: the key of the target, its stored state, conditions on that state, and its
expiry. Nothing here carries a write out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from singletable.design.model.entity import STORED, Entity, require_whole
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get
from singletable.design.plans.plan import Requests, Written
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.values.arguments import require_kind
from singletable.design.values.condition_values import valid_condition
from singletable.design.values.conditions import Condition, describe, holds, is_condition, require_condition
from singletable.design.values.items import Item, is_empty, shown_key
from singletable.errors import (
    ConditionNotMetError,
    DeclarationError,
    DesignError,
    InvalidItemError,
    InvalidWriteError,
    NotFoundError,
    VersionConflictError,
)

E = TypeVar("E", bound=Entity)
W = TypeVar("W", bound="Update[Any] | Delete[Any]")


class WriteRunner(Protocol):
    """Carries out writes where a design is open."""

    def write(self, wanted: WritePlan[E]) -> Written[E]: ...
    async def awrite(self, wanted: WritePlan[E]) -> Written[E]: ...
    def request(self, wanted: WritePlan[E]) -> Requests: ...


class WritePlan(Generic[E]):
    """A write that a pattern returns. It is carried out when it is run."""

    runner: WriteRunner | None = None

    def on(self, runner: WriteRunner) -> Self:
        """Return the same write, bound to a runner."""
        write = copy.copy(self)
        object.__setattr__(write, "runner", runner)
        return write

    def run(self) -> Written[E]:
        """Carry out the write."""
        return self._running.write(self)

    async def arun(self) -> Written[E]:
        """Carry out the write, without holding up the event loop."""
        return await self._running.awrite(self)

    def request(self) -> Any:
        """Return the exact request; a list if a target without transactions gets several.

        The stored item is read if the plan needs it. The request of a delete covers the item itself, not the items
        that it owns.
        """
        return self._running.request(self)

    @property
    def _running(self) -> WriteRunner:
        if self.runner is None:
            raise DeclarationError(
                "this write is not of an open design",
                hint="call the pattern on what open() returns, or db.create, db.put, db.update, db.delete",
            )
        return self.runner


@dataclass(frozen=True, slots=True)
class Add:
    """As the new value of a field: the stored number plus an amount. Nothing is read for it."""

    amount: Any


@dataclass(frozen=True, slots=True)
class Append:
    """As the new value of a field: the stored list with these members appended. Nothing is read for it."""

    members: list[Any]


@dataclass(frozen=True, slots=True)
class Create(WritePlan[E]):
    """Write an item that does not exist yet."""

    entity: E

    def __post_init__(self) -> None:
        require_whole(self.entity, "what is written is an entity")


@dataclass(frozen=True, slots=True)
class Put(WritePlan[E]):
    """Write an item, whether it exists or not (an upsert). A version must still match (an optimistic lock)."""

    entity: E
    when: Condition | None = None

    def __post_init__(self) -> None:
        require_whole(self.entity, "what is written is an entity")
        if self.when is not None:
            object.__setattr__(self, "when", _valid_when(type(self.entity), self.when))


@dataclass(frozen=True, slots=True)
class LoadWrite(WritePlan[E]):
    """Write an item as it is given, whatever is stored. Only `Design.load` uses it."""

    entity: E

    def __post_init__(self) -> None:
        require_whole(self.entity, "what is loaded is an entity")


@dataclass(frozen=True, slots=True, init=False)
class Update(WritePlan[E]):
    """Change fields of an existing item: an entity that was read, or the item of `Batch.key.get(...)`."""

    target: E | Get[E]
    changes: Mapping[str, Any]
    when: Condition | None
    as_read: bool

    def __init__(
        self,
        target: E | Get[E],
        changes: Mapping[str, Any] | None = None,
        /,
        *,
        when: Condition | None = None,
        **more: Any,
    ) -> None:
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "changes", _all_changes(changes, more))
        _refuse_field_named_when(target, when)
        object.__setattr__(self, "when", _checked_when(target, when))
        object.__setattr__(self, "as_read", False)

    def if_unchanged(self) -> Self:
        """Return the update on condition that every field of the entity still has the value that was read.

        It is an optimistic lock for entities without a version. What other items keep in it may have changed.
        """
        return _if_unchanged(self)


@dataclass(frozen=True, slots=True)
class Delete(WritePlan[E]):
    """Delete an item. A version must still match (an optimistic lock)."""

    target: E | Get[E]
    when: Condition | None = None
    as_read: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.target, self.when))

    def if_unchanged(self) -> Self:
        """Return the delete on condition that every field of the entity still has the value that was read."""
        return _if_unchanged(self)


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """Check, in a transaction, that an item exists and meets a condition."""

    target: E | Get[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.target, self.when))


def _if_unchanged(write: W) -> W:
    if not isinstance(write.target, Entity) or STORED not in write.target.__dict__:
        raise InvalidWriteError(
            "if_unchanged() compares with what was read, and this write names an item that was not read",
            hint="read the entity first, and write that",
        )
    locked = copy.copy(write)
    object.__setattr__(locked, "as_read", True)
    return locked


def own_fields(schema: EntitySchema) -> frozenset[str]:
    """Name the fields of an entity that only writes of the item itself change, without those of its key."""
    return frozenset(schema.fields).difference(schema.kept.counted, schema.key.keys.reads())


def _all_changes(changes: Mapping[str, object] | None, more: dict[str, object]) -> dict[str, object]:
    if changes is None:
        return more
    require_kind(changes, Mapping, 'changes are a mapping of fields to values, as {"when": noon}')
    twice = sorted(changes.keys() & more)
    if twice:
        raise TypeError(f"{', '.join(twice)} is given twice: in the mapping, and by name")
    return {**changes, **more}


def _refuse_field_named_when(target: object, when: object) -> None:
    """Refuse `when=` that was meant as a change of a field called `when`, and say how to change it."""
    entity = target.entity if isinstance(target, Get) else type(target)
    if when is None or is_condition(when) or "when" not in getattr(entity, "model_fields", ()):
        return
    raise TypeError(
        f"when= is the condition of an update, and {entity.__name__} has a field of that name: "
        'give the field in a mapping, update(..., {"when": ...})'
    )


def _checked_when(target: Entity | Get[Entity], when: Condition | None) -> Condition | None:
    if isinstance(target, Get):
        return _valid_when(target.entity, when)
    require_whole(target, "a write is about an entity, or the item of SomeEntity.key.get(...)")
    return _valid_when(type(target), when)


def _valid_when(entity: type[Any], when: Condition | None) -> Condition | None:
    """Return the condition of a write, with its values converted to the types of the fields."""
    if when is None:
        return None
    require_condition(when)
    return valid_condition(entity, when)


Write = Create[Any] | Put[Any] | Update[Any] | Delete[Any] | Check[Any]
AnyWrite = Write | LoadWrite[Any]
WRITES: Final = (Create, Put, Update, Delete, Check)


# --- the target of a write ------------------------------------------------------------------------------


def schema_for(session: Session, target: Entity | Get[Entity]) -> EntitySchema:
    """Return the compiled entity of a write's target."""
    entity = target.entity if isinstance(target, Get) else type(target)
    return session.catalog.schema_for(entity)


def key_of(schema: EntitySchema, target: Entity | Get[Entity]) -> Item:
    """Return the table key of a write's target."""
    if isinstance(target, Get):
        return schema.primary_key_of(target.pk, target.sk)
    return schema.primary_key(target)


def shown(schema: EntitySchema, target: Entity | Get[Entity]) -> str:
    """Return a name of a write's target for messages."""
    return f"{schema.entity.__name__} {shown_key(key_of(schema, target))}"


def refuse_owner(schema: EntitySchema, means: str) -> None:
    """Refuse to delete an item in a way that leaves its owned items behind."""
    if schema.entity.entity_options.owns:
        raise InvalidWriteError(
            f"{schema.entity.__name__} owns other items, which {means} would leave behind",
            hint="db.delete(...) deletes them too",
        )


def clock_time(session: Session) -> datetime:
    """Return the time by the target's clock, to the millisecond."""
    now_us = session.now_us()
    return datetime.fromtimestamp(now_us // 1_000_000, UTC) + timedelta(milliseconds=now_us // 1000 % 1000)


def assign(entity: Entity, values: Mapping[str, object], stored: Item) -> None:
    """Give an entity the values that were stored, without validating them again."""
    entity.__dict__.update(values)
    entity.__pydantic_fields_set__.update(values)
    entity.__dict__[STORED] = stored


# --- what is stored ----------------------------------------------------------------------------------------


def as_stored(schema: EntitySchema, entity: Entity) -> Entity:
    """Return an entity as it was last read or written, without the caller's changes since."""
    stored: Item | None = entity.__dict__.get(STORED)
    if stored is None:
        return entity
    return schema.to_entity(stored)


# --- what must hold of it ----------------------------------------------------------------------------------


def unchanged(schema: EntitySchema, fields: Iterable[str], before: Entity, into: Placeholders) -> list[str]:
    """Write the conditions that stored fields are exactly as they were read: older items may differ in form."""
    stored: Item | None = before.__dict__.get(STORED)
    terms = []
    for name in sorted(set(fields) & schema.fields.keys()):
        codec, value = schema.fields[name], before.__dict__.get(name)
        if stored is not None:
            known = stored.get(codec.stored)
        else:
            known = None if is_empty(value) else codec.encode(value)
        attribute = into.name(codec.stored)
        terms.append(
            f"attribute_not_exists({attribute})" if known is None else f"{attribute} = {into.value(known)}"
        )
    return terms


def as_read_terms(schema: EntitySchema, write: Update[Any] | Delete[Any], into: Placeholders) -> list[str]:
    """Write the conditions of `if_unchanged()`: what was read of the item's own fields is still stored."""
    if not write.as_read:
        return []
    assert isinstance(write.target, Entity)
    return unchanged(schema, own_fields(schema), write.target, into)


def version_term(schema: EntitySchema, entity: Entity, into: Placeholders) -> str:
    """Write the optimistic lock: the stored version is the one that was read. Older items have no version."""
    assert schema.version is not None
    name = into.name(schema.version.stored)
    read = into.value({"N": str(version_of(schema, entity))})
    if version_of(schema, entity) == 0:
        return f"(attribute_not_exists({name}) OR {name} = {read})"
    return f"{name} = {read}"


def version_of(schema: EntitySchema, entity: Entity) -> int:
    """Return the version at which an entity was read; 0 if it was not read."""
    assert schema.version is not None
    return int(getattr(entity, schema.version.name) or 0)


def refusal(
    schema: EntitySchema, target: Entity | Get[Entity], when: Condition | None, stored: Item | None
) -> DesignError:
    """Return the error that says why the stored item refused a write."""
    name = shown(schema, target)
    if stored is None:
        return NotFoundError(f"{name} is not there", hint="create() makes it")
    if schema.version is not None and isinstance(target, Entity):
        there = stored.get(schema.version.stored, {}).get("N", "0")
        if int(there) != version_of(schema, target):
            return VersionConflictError(
                f"{name} was read at version {version_of(schema, target)} and is at version {there} now",
                hint="read it again, and make the change once more",
            )
    unmet = "" if when is None else f"does not meet {describe(when)}, or "
    return ConditionNotMetError(f"{name} {unmet}has changed meanwhile", stored=_readable(schema, stored))


def _readable(schema: EntitySchema, stored: Item) -> Entity | None:
    """Return the entity of the item that refused a write; None if it is of another entity, or unreadable."""
    if stored.get(schema.discriminator, {}).get("S", schema.name) not in schema.names:
        return None
    try:
        return schema.to_entity(stored)
    except InvalidItemError:
        return None


# --- expiry, by the policy of the entity: `ttl: Ttl = expires(days=30, when=...)` -----------------------


def expiry_of(schema: EntitySchema, values: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when an item of these values expires, if it is created now; None if it never does."""
    assert schema.expires is not None
    if schema.expires_when is not None and not holds(schema.expires_when, values):
        return None
    start = now if schema.expires.after is None else values.get(schema.expires.after)
    return None if start is None else _in_seconds(start + schema.expires.delta)


def expiry_of_put(
    schema: EntitySchema, entity: Entity, values: Mapping[str, object], now: datetime
) -> datetime | None:
    """Return the expiry of an item that is written whole.

    An expiry that the caller has set is kept. A stored expiry is kept too, unless the policy counts from a field:
    writing an item again does not extend its life. If the policy's condition is false, there is no expiry.
    """
    assert schema.ttl is not None
    assert schema.expires is not None
    current: datetime | None = getattr(entity, schema.ttl.name)
    policy = expiry_of(schema, values, now)
    if policy is None and schema.expires_when is not None:
        return None
    if _was_chosen(schema, entity, current):
        return None if current is None else _in_seconds(current)
    if schema.expires.after is None and current is not None:
        return current
    return policy


def _in_seconds(time: datetime) -> datetime:
    """Return a time in whole seconds, as it is stored. So an entity has the same value after a read."""
    return time.replace(microsecond=0)


def _was_chosen(schema: EntitySchema, entity: Entity, current: datetime | None) -> bool:
    """Tell whether the caller has set the expiry of an entity since it was made or read."""
    assert schema.ttl is not None
    if schema.ttl.name not in entity.model_fields_set:
        return False
    stored: Item | None = entity.__dict__.get(STORED)
    if stored is None:
        return True
    known = stored.get(schema.ttl.stored)
    return known != (None if current is None else schema.ttl.encode(current))
