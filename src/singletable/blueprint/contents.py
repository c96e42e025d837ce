"""What a blueprint holds: table, indexes, entities, access patterns, volumes and rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from singletable.blueprint.entities import EntityBlueprint
from singletable.blueprint.patterns import PatternBlueprint


@dataclass(frozen=True, slots=True)
class TableBlueprint:
    """The table: its name, which may hold placeholders as {stage}, its keys and their types, its settings."""

    name: str
    pk: str = "PK"
    sk: str | None = "SK"
    types: Mapping[str, str] = field(default_factory=dict)  # of all attributes in keys: S, N, B
    billing: str = "PAY_PER_REQUEST"
    capacity: tuple[int, ...] | None = None  # units of reading and writing
    stream: str | None = None
    encryption: str = "AWS_OWNED"
    pitr_days: int | None = None
    deletion_protection: bool = False
    ttl: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexBlueprint:
    """A global secondary index. The projection is ALL, KEYS_ONLY, or INCLUDE with names as they are stored."""

    name: str
    pk: tuple[str, ...]
    sk: tuple[str, ...] = ()
    projection: str = "ALL"
    included: tuple[str, ...] = ()
    capacity: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class VolumeBlueprint:
    """How many items of an entity there are for each of something, and how large one is."""

    entity: str
    count: float
    kb: float


@dataclass(frozen=True, slots=True)
class RateBlueprint:
    """How often a second an entity is written."""

    entity: str
    creates: float = 0.0
    updates: float = 0.0
    deletes: float = 0.0


@dataclass(frozen=True, slots=True)
class Contents:
    """What a blueprint holds."""

    name: str
    table: TableBlueprint
    indexes: tuple[IndexBlueprint, ...] = ()
    entities: tuple[EntityBlueprint, ...] = ()
    patterns: tuple[PatternBlueprint, ...] = ()
    volumes: tuple[VolumeBlueprint, ...] = ()
    rates: tuple[RateBlueprint, ...] = ()
    casing: str = "snake"
    discriminator: str | None = None  # the attribute that names an item's entity

    def entity(self, name: str) -> EntityBlueprint | None:
        """Find an entity by its name."""
        return next((entity for entity in self.entities if entity.name == name), None)
