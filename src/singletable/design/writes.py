"""Writes as values: what a transaction takes, and what a stream handler yields. Nothing here carries them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from singletable.design.arguments import require_kind
from singletable.design.conditions import Condition, require_condition
from singletable.design.entity import Entity
from singletable.design.plans import Get

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Add:
    """As the new value of a field: what is stored, and so much more. Nothing is read for it."""

    amount: Any


@dataclass(frozen=True, slots=True)
class Append:
    """As the new value of a field: the stored list with these members behind it. Nothing is read for it."""

    members: list[Any]


@dataclass(frozen=True, slots=True)
class Create(Generic[E]):
    """Write an item that is not there yet."""

    entity: E

    def __post_init__(self) -> None:
        require_kind(self.entity, Entity, "what is written is an entity")


@dataclass(frozen=True, slots=True)
class Put(Generic[E]):
    """Write an item, whether it is there or not. With a version, the stored one must be that which was read."""

    entity: E
    when: Condition | None = None

    def __post_init__(self) -> None:
        require_kind(self.entity, Entity, "what is written is an entity")
        _check_condition(self.when)


@dataclass(frozen=True, slots=True, init=False)
class Update(Generic[E]):
    """Change fields of an item that is there: an entity that was read, or the item of `Batch.key.get(...)`."""

    target: E | Get[E]
    changes: Mapping[str, Any]
    when: Condition | None

    def __init__(self, target: E | Get[E], *, when: Condition | None = None, **changes: Any) -> None:
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "changes", changes)
        object.__setattr__(self, "when", when)
        _check(target, when)


@dataclass(frozen=True, slots=True)
class Delete(Generic[E]):
    """Delete an item. With a version, the stored one must be that which was read."""

    target: E | Get[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        _check(self.target, self.when)


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """Demand, in a transaction, that an item is there and meets a condition."""

    target: E | Get[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        _check(self.target, self.when)


_TARGETS: Final = (Entity, Get)


def _check(target: object, when: object) -> None:
    require_kind(target, _TARGETS, "a write is about an entity, or the item of SomeEntity.key.get(...)")
    _check_condition(when)


def _check_condition(when: object) -> None:
    if when is not None:
        require_condition(when)


Write = Create[Any] | Put[Any] | Update[Any] | Delete[Any] | Check[Any]
WRITES: Final = (Create, Put, Update, Delete, Check)
