"""Entities of a blueprint: attributes, keys in the table and in indexes, data derived from other entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.blueprint.said import Said, described

# A condition is nested mappings: {"operator": "=", "field": "status", "value": "pending"}, with the operators
# = <> < <= > >= in exists contains begins_with; {"operator": "and", "conditions": [...]}, "or"; and
# {"operator": "not", "condition": ...}. In the filter of a pattern, a value that its caller gives is the name of a
# parameter: {"operator": "=", "field": "status", "parameter": "status"}.
Condition = Mapping[str, Any]


@described
class AttributeBlueprint:
    """An attribute: its name in the design and as it is stored, its type as text, and its further properties."""

    name: str
    stored: str
    type: str
    alias: str | None = None  # the name of a type that is a str or an int underneath: UserId
    is_optional: bool = False
    markers: tuple[Mapping[str, Any], ...] = ()
    is_required: bool | None = None  # None where that was not written down: a blueprint of an older release
    default: Mapping[str, Any] | None = None  # {"value": 0}, or {"factory": "list"}; None without a default
    dynamodb: str | None = None  # S, N, B, BOOL, NULL, L, M, SS, NS, BS, where it is said
    format: str = (
        ""  # iso-8601, iso-8601-ms, epoch-seconds, epoch-ms, date, iso-week, uuid, ulid, slug, lower, …
    )
    values: tuple[Any, ...] = ()  # all that it can have
    samples: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    max_items: int | None = None  # of a list, set or map
    grows: bool | None = None  # a list or map that is added to and never cut
    is_immutable: bool | None = None
    updates_per_month: float | None = None  # of one item
    is_unique: bool | None = None  # said to be unique
    size_bytes: float | None = None  # on average, its name not counted
    about: str = ""
    said: tuple[Said, ...] = ()

    @property
    def has_source(self) -> bool:
        """Tell whether the field has a value where no attribute is stored: a default, None, or other fields."""
        is_made = any(marker["kind"] == "Computed" for marker in self.markers)
        is_set = self.type.partition("[")[0] in ("set", "frozenset")  # an empty set is stored as no attribute
        return not self.is_required or self.is_optional or is_set or is_made


@described
class ModelBlueprint:
    """A type inside of fields: a model with its attributes, or an enum with its values."""

    name: str
    attributes: tuple[AttributeBlueprint, ...] = ()
    values: tuple[Any, ...] = ()
    said: tuple[Said, ...] = ()


@described
class KeyPart:
    """A placeholder of a template: its field, and how the value is derived from the field.

    It may be the number of a shard, a bucket of time or the first letters. One shard, the bucket "never" and no
    letters render as nothing.
    """

    name: str
    type: str
    field: str
    alias: str | None = None
    shards: int | None = None
    bucket: str | None = None
    letters: int | None = None
    markers: tuple[
        Mapping[str, Any], ...
    ] = ()  # how it is written: Pad, Verbatim, Normalize, and constraints


@described
class KeyBlueprint:
    """A key: the attributes that hold it, and its template as it is stored; without, each part is an attribute.

    A placeholder without a part of its name is the field of that name, or a value that nobody defined.
    """

    attributes: tuple[str, ...]
    template: str | None = None
    parts: tuple[KeyPart, ...] = ()
    name: str = ""
    samples: tuple[str, ...] = ()


@described
class PlaceBlueprint:
    """The place of an entity: the table, with index None, or an index, always or while a condition holds."""

    name: str
    pk: KeyBlueprint
    sk: KeyBlueprint | None = None
    index: str | None = None
    when: Condition | None = None
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class UniqueBlueprint:
    """A unique value: the key template of its lock item, and the sort key that the lock had before, if any."""

    name: str
    template: str
    sort: str
    fields: tuple[str, ...]
    was: str | None = None
    parts: tuple[KeyPart, ...] = ()  # of the template
    said: tuple[Said, ...] = ()


@described
class AggregateBlueprint:
    """A field that counts, sums or averages items of another entity."""

    field: str
    kind: str  # count, sum, average, and whatever else a document asks for
    of: str
    of_field: str | None = None
    when: Condition | None = None
    by: str = "transaction"  # transaction, stream, application; unsaid
    via: Mapping[str, str] | None = None  # fields of the key of one, and those of the other that hold them
    said: tuple[Said, ...] = ()


@described
class CopyBlueprint:
    """A field that repeats one of another entity."""

    field: str
    of: str
    of_field: str
    by: str = "stream"
    via: Mapping[str, str] | None = None
    said: tuple[Said, ...] = ()


@described
class DerivedBlueprint:
    """The entity that these items are derived from, and the fields that decide them; None if all do."""

    of: str
    by: str = "transaction"
    reads: tuple[str, ...] | None = None
    via: Mapping[str, str] | None = None
    said: tuple[Said, ...] = ()


@described
class TtlBlueprint:
    """When items expire: so long after they are made, or after the time of a field; None where writers decide."""

    field: str
    stored: str
    seconds: float | None = None
    after: str | None = None
    when: Condition | None = None
    unit: str = "seconds"  # of the stored number
    purpose: str = ""  # delete, archive, timer, lock, cache
    removed_by: str | None = None  # the pattern or rule that takes the attribute away when an item is to stay
    is_optional: bool = False  # a document leaves it open
    samples: tuple[Any, ...] = ()
    said: tuple[Said, ...] = ()


@described
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
    upcasts: tuple[int, ...] = ()  # schema versions with items that are upcast
    owner: str | None = None  # the field whose value leads every key of the items
    is_optional: bool = False  # a document leaves it open whether it is built
    samples: tuple[Mapping[str, Any], ...] = ()  # whole items, as they are stored, in plain JSON
    about: str = ""
    said: tuple[Said, ...] = ()

    def place(self, index: str | None) -> PlaceBlueprint | None:
        """Find where the entity is in an index; None finds the table."""
        return next((place for place in self.places if place.index == index), None)
