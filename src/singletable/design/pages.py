"""What reads and writes return beside the entities: where to go on, what was read for it, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Usage:
    """What reading has cost: units, the items that were read, and those of them that were thrown away.

    Thrown away are items that a filter drops, other entities of the partition, items whose time is over, and
    invalid ones that are set aside.
    Merged and followed queries also read a few items ahead, which are neither thrown away nor on the page.
    """

    units: float = 0.0
    read: int = 0
    thrown_away: int = 0

    def add(self, other: Usage) -> None:
        self.units += other.units
        self.read += other.read
        self.thrown_away += other.thrown_away


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of results. The cursor is where the next one begins; None at the end.

    The last page may be followed by an empty one: DynamoDB tells that there is no more only when it is asked.
    """

    items: list[T]
    cursor: str | None = None
    usage: Usage = field(default_factory=Usage)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, number: int) -> T:
        return self.items[number]

    @property
    def units(self) -> float:
        return self.usage.units


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One result with its cost."""

    item: T
    usage: Usage

    @property
    def units(self) -> float:
        return self.usage.units


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """An entity as it is stored now, and the units that writing it has taken."""

    entity: T
    units: float
