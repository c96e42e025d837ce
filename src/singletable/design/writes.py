"""Writes as values: what a pattern may return, a transaction takes, and a stream handler yields.

    @pattern("1 Store weekly menu")
    def store(self, menu: Menu) -> Put[Menu]:
        return Put(menu)

    db.store(menu).run()

Nothing here carries them out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from singletable.design.arguments import require_kind
from singletable.design.condition_values import valid_condition
from singletable.design.conditions import Condition, is_condition, require_condition
from singletable.design.entity import Entity
from singletable.design.pages import Written
from singletable.design.plans import Get
from singletable.design.projections import refuse_partial
from singletable.errors import DeclarationError

E = TypeVar("E", bound=Entity)


class WriteRunner(Protocol):
    """Carries out writes where a design is open."""

    def write(self, wanted: Any) -> Written[Any]: ...
    async def awrite(self, wanted: Any) -> Written[Any]: ...
    def request(self, wanted: Any) -> Any: ...


class WritePlan(Generic[E]):
    """What a pattern can return to write: it is carried out when it is run."""

    runner: WriteRunner | None = None

    def on(self, runner: WriteRunner) -> Self:
        """Return the write, to be run there."""
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
        """Return the exact request; a list where a target without transactions gets several.

        What must be known of the stored item is read for it. Of a delete it is that of the item itself, without
        what it owns.
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
    """As the new value of a field: what is stored, and so much more. Nothing is read for it."""

    amount: Any


@dataclass(frozen=True, slots=True)
class Append:
    """As the new value of a field: the stored list with these members behind it. Nothing is read for it."""

    members: list[Any]


@dataclass(frozen=True, slots=True)
class Create(WritePlan[E]):
    """Write an item that is not there yet."""

    entity: E

    def __post_init__(self) -> None:
        _check_entity(self.entity)


@dataclass(frozen=True, slots=True)
class Put(WritePlan[E]):
    """Write an item, whether it is there or not. With a version, the stored one must be that which was read."""

    entity: E
    when: Condition | None = None

    def __post_init__(self) -> None:
        _check_entity(self.entity)
        if self.when is not None:
            object.__setattr__(self, "when", _valid_when(type(self.entity), self.when))


@dataclass(frozen=True, slots=True)
class Load(WritePlan[E]):
    """Write an item as it stands, whatever is stored. What `Design.load` does, and nobody else."""

    entity: E

    def __post_init__(self) -> None:
        require_kind(self.entity, Entity, "what is loaded is an entity")
        refuse_partial(self.entity)


@dataclass(frozen=True, slots=True, init=False)
class Update(WritePlan[E]):
    """Change fields of an item that is there: an entity that was read, or the item of `Batch.key.get(...)`."""

    target: E | Get[E]
    changes: Mapping[str, Any]
    when: Condition | None

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


@dataclass(frozen=True, slots=True)
class Delete(WritePlan[E]):
    """Delete an item. With a version, the stored one must be that which was read."""

    target: E | Get[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.target, self.when))


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """Demand, in a transaction, that an item is there and meets a condition."""

    target: E | Get[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.target, self.when))


_TARGETS: Final = (Entity, Get)


def _all_changes(changes: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    if changes is None:
        return more
    require_kind(changes, Mapping, 'changes are a mapping of fields to values, as {"when": noon}')
    twice = sorted(changes.keys() & more)
    if twice:
        raise TypeError(f"{', '.join(twice)} is given twice: in the mapping, and by name")
    return {**changes, **more}


def _refuse_field_named_when(target: object, when: object) -> None:
    """Say how a field is changed whose name is that of the condition."""
    entity = target.entity if isinstance(target, Get) else type(target)
    if when is None or is_condition(when) or "when" not in getattr(entity, "model_fields", ()):
        return
    raise TypeError(
        f"when= is the condition of an update, and {entity.__name__} has a field of that name: "
        'give the field in a mapping, update(..., {"when": ...})'
    )


def _check_entity(entity: Entity) -> None:
    require_kind(entity, Entity, "what is written is an entity")
    refuse_partial(entity)


def _checked_when(target: Entity | Get[Any], when: Condition | None) -> Condition | None:
    require_kind(target, _TARGETS, "a write is about an entity, or the item of SomeEntity.key.get(...)")
    if isinstance(target, Entity):
        refuse_partial(target)
        return _valid_when(type(target), when)
    return _valid_when(target.entity, when)


def _valid_when(entity: type[Any], when: Condition | None) -> Condition | None:
    """Return a condition of a write with values that the fields can have."""
    if when is None:
        return None
    require_condition(when)
    return valid_condition(entity, when)


Write = Create[Any] | Put[Any] | Update[Any] | Delete[Any] | Check[Any]
AnyWrite = Write | Load[Any]
WRITES: Final = (Create, Put, Update, Delete, Check)
