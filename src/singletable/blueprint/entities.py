"""What a blueprint says of entities: attributes, keys in the table and in indexes, data that follows others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# A condition is nested mappings: {"operator": "=", "field": "status", "value": "pending"}, with the operators
# = <> < <= > >= in exists contains begins_with; {"operator": "and", "conditions": [...]}, "or"; and
# {"operator": "not", "condition": ...}. In the filter of a pattern, a value that its caller gives is the name of a
# parameter: {"operator": "=", "field": "status", "parameter": "status"}.
Condition = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AttributeBlueprint:
    """An attribute: its name in the design and as it is stored, its type as text, and what else is said of it."""

    name: str
    stored: str
    type: str
    alias: str | None = None  # the name of a type that is a str or an int underneath: UserId
    is_optional: bool = False
    markers: tuple[Mapping[str, Any], ...] = ()
    is_required: bool | None = None  # None where that was not written down: a blueprint of an older release
    default: Mapping[str, Any] | None = (
        None  # {"value": 0}, or {"factory": "list"}; None of one that has none
    )

    @property
    def has_source(self) -> bool:
        """Tell whether the field has a value where no attribute is stored: a default, None, or other fields."""
        is_made = any(marker["kind"] == "Computed" for marker in self.markers)
        is_set = self.type.partition("[")[0] in ("set", "frozenset")  # no set is stored as no attribute
        return not self.is_required or self.is_optional or is_set or is_made


@dataclass(frozen=True, slots=True)
class ModelBlueprint:
    """A type inside of fields: a model with its attributes, or an enum with its values."""

    name: str
    attributes: tuple[AttributeBlueprint, ...] = ()
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A placeholder of a template: the field that it comes from, and what it is of it.

    That is one of so many shards, a bucket of time or its first letters. One shard, the bucket "never" and no
    letters render as nothing.
    """

    name: str
    type: str
    field: str
    alias: str | None = None
    shards: int | None = None
    bucket: str | None = None
    letters: int | None = None


@dataclass(frozen=True, slots=True)
class KeyBlueprint:
    """A key: the attributes that hold it, and its template as it is stored; without, each part is an attribute."""

    attributes: tuple[str, ...]
    template: str | None
    parts: tuple[KeyPart, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class PlaceBlueprint:
    """Where an entity is: in the table, whose index is None, or in an index, always or while a condition holds."""

    name: str
    pk: KeyBlueprint
    sk: KeyBlueprint | None = None
    index: str | None = None
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class UniqueBlueprint:
    """Values of which there is one item at most: the key of the item that sees to it, and the sort key it had."""

    name: str
    template: str
    sort: str
    fields: tuple[str, ...]
    was: str | None = None


@dataclass(frozen=True, slots=True)
class AggregateBlueprint:
    """A field that counts, sums or averages items of another entity."""

    field: str
    kind: str  # count, sum, average
    of: str
    of_field: str | None = None
    when: Condition | None = None
    by: str = "transaction"
    via: Mapping[str, str] | None = None  # fields of the key of one, and those of the other that hold them


@dataclass(frozen=True, slots=True)
class CopyBlueprint:
    """A field that repeats one of another entity."""

    field: str
    of: str
    of_field: str
    by: str = "stream"
    via: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class DerivedBlueprint:
    """The entity whose items these are made from, and the fields that decide them; None if all do."""

    of: str
    by: str = "transaction"
    reads: tuple[str, ...] | None = None
    via: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TtlBlueprint:
    """When items expire: so long after they are made, or after the time of a field; None where writers decide."""

    field: str
    stored: str
    seconds: float | None = None
    after: str | None = None
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class EntityBlueprint:
    """An item type. Its first place is the table's."""

    name: str
    discriminator: str  # the value that its items have
    attributes: tuple[AttributeBlueprint, ...] = ()
    places: tuple[PlaceBlueprint, ...] = ()
    uniques: tuple[UniqueBlueprint, ...] = ()
    aggregates: tuple[AggregateBlueprint, ...] = ()
    copies: tuple[CopyBlueprint, ...] = ()
    derived: DerivedBlueprint | None = None
    owns: tuple[str, ...] = ()
    ttl: TtlBlueprint | None = None
    version: str | None = None  # the field that counts writes
    schema_version: int | None = None
    was: tuple[str, ...] = ()  # discriminators that its items may still have
    models: tuple[ModelBlueprint, ...] = ()
    upcasts: tuple[int, ...] = ()  # schema versions whose items are upcast

    def place(self, index: str | None) -> PlaceBlueprint | None:
        """Find where the entity is in an index; None finds the table."""
        return next((place for place in self.places if place.index == index), None)
