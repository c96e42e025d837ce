"""How large items are: as a design declares it, as its attributes let one expect, or as a table has them.

A declared volume counts before an estimate, and a measured profile before both. A KB of a document is 1,024 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    PlaceBlueprint,
    UniqueBlueprint,
    VolumeBlueprint,
)
from singletable.planning.amounts import NOTHING, Amount, total
from singletable.planning.fields import PLACEHOLDER
from singletable.values.sizes import CONTAINER_BYTES, ELEMENT_BYTES, number_bytes, text_bytes

KB: Final = 1_024
ITEM_BYTES_MAX: Final = 400 * KB

# Of values of which nothing more is said: a name or a title, a short list.
_TEXT: Final = Amount(1, 24, 256)
_ELEMENTS: Final = Amount(0, 3, 20)
_FIXED: Final = {
    "bool": Amount.exactly(1),
    "None": Amount.exactly(1),
    "int": Amount(1, 3, 21),
    "float": Amount(1, 5, 21),
    "Decimal": Amount(1, 4, 21),
    "datetime": Amount(20, 24, 32),  # ISO 8601, to the second, millisecond or microsecond
    "date": Amount.exactly(10),
    "time": Amount(8, 8, 15),
    "timedelta": Amount(1, 4, 21),
    "UUID": Amount.exactly(36),
    "bytes": Amount(1, 64, 1_024),
}
_BOUNDS: Final = {"MaxLen": "max_length", "MaxBytes": "count"}  # markers, and their member that says how much


@dataclass(frozen=True, slots=True)
class LockProfile:
    """What a table has of items that are no entities, such as the locks of a unique value."""

    count: float
    size: Amount


@dataclass(frozen=True, slots=True)
class EntityProfile:
    """What a table has of an entity: how many items, how large, how many of them in each index."""

    count: float
    item: Amount
    copies: Mapping[str, Amount] = field(default_factory=dict)  # by index
    shares: Mapping[str, float] = field(default_factory=dict)  # of the items, those in the index
    together: Mapping[str | None, Amount] = field(default_factory=dict)  # items of a partition, by index
    per: Mapping[str, Amount] = field(default_factory=dict)  # items of a parent, by the parent's entity
    locks: Mapping[str, LockProfile] = field(default_factory=dict)  # by unique value

    def lock_count(self, unique: str) -> float:
        """Return how many locks a unique value has: as many as there are items, where nobody has counted them."""
        return self.locks[unique].count if unique in self.locks else 0.0 if self.locks else self.count


Profile = Mapping[str, EntityProfile]


class Sizes:
    """The sizes of a design's items, of their copies in indexes, and of the items around them."""

    def __init__(self, blueprint: Blueprint, profile: Profile | None = None) -> None:
        self.blueprint = blueprint
        self.profile = profile or {}
        self._volumes = {volume.entity: volume for volume in blueprint.volumes}
        self._attributes: dict[str, dict[str, Amount]] = {}

    def volume(self, entity: str) -> VolumeBlueprint | None:
        """Return the declared volume of an entity."""
        return self._volumes.get(entity)

    def item(self, entity: EntityBlueprint) -> Amount:
        """Return the bytes of an item: names and values."""
        if (found := self.profile.get(entity.name)) is not None:
            return found.item
        volume = self._volumes.get(entity.name)
        if volume is not None and volume.kb > 0:
            mean = volume.kb * KB
            if volume.upto_kb is None or volume.upto_kb <= volume.kb:
                return Amount.exactly(mean)
            return Amount(min(self._estimate(entity).low, mean), mean, volume.upto_kb * KB)
        return self._estimate(entity).at_most(ITEM_BYTES_MAX)

    def copy(self, entity: EntityBlueprint, index: IndexBlueprint) -> Amount:
        """Return the bytes of an item's entry in an index: what the index projects."""
        found = self.profile.get(entity.name)
        if found is not None and index.name in found.copies:
            return found.copies[index.name]
        if index.projection == "ALL":
            return self.item(entity)
        names = {*self._key_names(), *index.pk, *index.sk}
        if index.projection == "INCLUDE":
            names |= set(index.included)
        sizes = self.attributes(entity)
        return total(sizes[name] for name in names if name in sizes)

    def presence(self, entity: EntityBlueprint, place: PlaceBlueprint) -> Amount:
        """Return which share of the items is in an index. One that is sparse may have all of them or none."""
        found = self.profile.get(entity.name)
        if found is not None and place.index is not None:
            share = found.shares.get(place.index, 0.0)
            return Amount(1.0 if share == 1 else 0.0, share, 1.0 if share else 0.0)
        return Amount(0.0, 1.0, 1.0) if self._is_sparse(entity, place) else Amount.exactly(1)

    def lock(self, entity: EntityBlueprint, unique: UniqueBlueprint) -> Amount:
        """Return the bytes of a lock item: its key, that of its owner, and when it was taken."""
        found = self.profile.get(entity.name)
        if found is not None and unique.name in found.locks:
            return found.locks[unique.name].size
        table = self.blueprint.table
        home = entity.place(None)
        fields = _field_sizes(entity)
        owner = (
            [] if home is None else [_key_size(key, fields) for key in (home.pk, home.sk) if key is not None]
        )
        parts = [
            _text(table.pk) + _template_size(unique.template, fields),
            _text(self.blueprint.discriminator or "") + _text("$unique"),
            _text("$owner") + (owner[0] if owner else NOTHING),
            _text("$takenAt") + _FIXED["datetime"],
        ]
        if table.sk is not None:
            parts.append(_text(table.sk) + _text(unique.sort))
        if len(owner) > 1:
            parts.append(_text("$ownerSort") + owner[1])
        return total(parts)

    def attributes(self, entity: EntityBlueprint) -> Mapping[str, Amount]:
        """Return the bytes of each attribute as it is stored, with its name; keys included."""
        if entity.name not in self._attributes:
            self._attributes[entity.name] = dict(self._attribute_sizes(entity))
        return self._attributes[entity.name]

    # --- estimates

    def _key_names(self) -> set[str]:
        table = self.blueprint.table
        return {table.pk} | ({table.sk} if table.sk is not None else set())

    def _estimate(self, entity: EntityBlueprint) -> Amount:
        return total(self.attributes(entity).values())

    def _attribute_sizes(self, entity: EntityBlueprint) -> Iterator[tuple[str, Amount]]:
        values = _field_sizes(entity)
        for attribute in entity.attributes:
            size = _text(attribute.stored) + values[attribute.name]
            yield attribute.stored, size.or_nothing() if attribute.is_optional else size
        for place in entity.places:
            is_sparse = place.index is not None and self._is_sparse(entity, place)
            for key in (place.pk, place.sk):
                if key is not None and key.template is not None and key.attributes:
                    size = _text(key.attributes[0]) + _key_size(key, values)
                    yield key.attributes[0], size.or_nothing() if is_sparse else size
        if self.blueprint.discriminator:
            yield (
                self.blueprint.discriminator,
                _text(self.blueprint.discriminator) + _text(entity.discriminator),
            )

    def _is_sparse(self, entity: EntityBlueprint, place: PlaceBlueprint) -> bool:
        optional = {each.name for each in entity.attributes if each.is_optional}
        reads = {part.field for key in (place.pk, place.sk) if key is not None for part in key.parts}
        return place.when is not None or bool(reads & optional)


# --- keys -----------------------------------------------------------------------------------------------


def _key_size(key: KeyBlueprint, fields: Mapping[str, Amount]) -> Amount:
    if key.template is None:
        return total(fields.get(part.field, _TEXT) for part in key.parts)
    named = {part.name: part for part in key.parts}
    sizes = dict(fields)
    for name, part in named.items():
        sizes[name] = fields.get(part.field, _TEXT)
        if part.shards is not None:
            sizes[name] = Amount.exactly(len(str(max(0, part.shards - 1))))
        elif part.bucket is not None:
            sizes[name] = Amount(0, 7, 10)
        elif part.letters is not None:
            sizes[name] = Amount.exactly(part.letters)
    return _template_size(key.template, sizes)


def _template_size(template: str, fields: Mapping[str, Amount]) -> Amount:
    constant = PLACEHOLDER.sub("", template).replace("{{", "{").replace("}}", "}")
    return _text(constant) + total(fields.get(name, _TEXT) for name in PLACEHOLDER.findall(template))


def _text(text: str) -> Amount:
    return Amount.exactly(text_bytes(text))


# --- values ---------------------------------------------------------------------------------------------


def _field_sizes(entity: EntityBlueprint) -> dict[str, Amount]:
    models = {model.name: model.attributes for model in entity.models}
    enums = {model.name: model.values for model in entity.models if model.values}
    return {each.name: _value_size(each, models, enums, depth=0) for each in entity.attributes}


def _value_size(
    attribute: AttributeBlueprint,
    models: Mapping[str, tuple[AttributeBlueprint, ...]],
    enums: Mapping[str, tuple[Any, ...]],
    *,
    depth: int,
) -> Amount:
    if attribute.values or attribute.type in enums:
        return _of_values(attribute.values or enums[attribute.type])
    if attribute.samples and attribute.size_bytes is None:
        return _of_values(attribute.samples)
    found = _type_size(attribute.type, attribute, models, enums, depth)
    if attribute.size_bytes is None:
        return found
    return Amount(
        min(found.low, attribute.size_bytes), attribute.size_bytes, max(found.high, attribute.size_bytes)
    )


def _of_values(values: tuple[Any, ...]) -> Amount:
    sizes = [plain_bytes(value) for value in values]
    return Amount(min(sizes), sum(sizes) / len(sizes), max(sizes))


def plain_bytes(value: Any) -> int:
    """Return the size of a value of JSON, as an attribute has it."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int | float):
        return number_bytes(format(Decimal(str(value)), "f"))
    if isinstance(value, Mapping):
        return CONTAINER_BYTES + sum(
            ELEMENT_BYTES + text_bytes(str(name)) + plain_bytes(each) for name, each in value.items()
        )
    if isinstance(value, list | tuple):
        return CONTAINER_BYTES + sum(ELEMENT_BYTES + plain_bytes(each) for each in value)
    return text_bytes(str(value))


def _type_size(
    text: str,
    attribute: AttributeBlueprint,
    models: Mapping[str, tuple[AttributeBlueprint, ...]],
    enums: Mapping[str, tuple[Any, ...]],
    depth: int,
) -> Amount:
    members = [each for each in _split(text, "|") if each != "None"]
    if not members:
        return _FIXED["None"]
    sizes = [_member_size(each, attribute, models, enums, depth) for each in members]
    means = [size.mean for size in sizes]
    return Amount(min(size.low for size in sizes), sum(means) / len(means), max(size.high for size in sizes))


def _member_size(
    text: str,
    attribute: AttributeBlueprint,
    models: Mapping[str, tuple[AttributeBlueprint, ...]],
    enums: Mapping[str, tuple[Any, ...]],
    depth: int,
) -> Amount:
    if text[:1] in "\"'":
        return _text(text.strip("\"'"))
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return Amount.exactly(plain_bytes(float(text) if "." in text else int(text)))
    head, _, inner = text.partition("[")
    if head in models and depth < 4:
        fields = [
            _text(each.stored)
            + _value_size(each, models, enums, depth=depth + 1)
            + Amount.exactly(ELEMENT_BYTES)
            for each in models[head]
        ]
        return total(fields) + Amount.exactly(CONTAINER_BYTES)
    if head in ("list", "tuple", "set", "frozenset", "dict", "Mapping", "Sequence"):
        kinds = _split(inner.rstrip("]"), ",") or ["str"]
        one = total(_type_size(kind, attribute, models, enums, depth + 1) for kind in kinds if kind != "...")
        most = attribute.max_items
        count = _ELEMENTS if most is None else Amount(0, most / 2, most)
        is_set = head in ("set", "frozenset")
        return one * count if is_set else (one + Amount.exactly(ELEMENT_BYTES)) * count + Amount.exactly(3)
    return _FIXED.get(head) or _text_size(attribute)


def _text_size(attribute: AttributeBlueprint) -> Amount:
    """Return the size of a text: of an id, of one with a bound, or of any."""
    if attribute.format in ("uuid", "ulid") or (attribute.alias or "").endswith("Id"):
        return Amount(1, 36 if attribute.format != "ulid" else 26, 64)
    bounds = [marker.get(_BOUNDS.get(str(marker.get("kind")), "")) for marker in attribute.markers]
    most = min([each for each in (attribute.max_length, *bounds) if isinstance(each, int)], default=None)
    if most is None:
        return _TEXT
    return Amount(min(1, most), min(_TEXT.mean, most), most)


def _split(text: str, separator: str) -> list[str]:
    """Split a type at separators that stand in no brackets and no quotes."""
    found, depth, quote, start = list[str](), 0, "", 0
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[]":
            depth += 1 if character == "[" else -1
        elif character == separator and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    found.append(text[start:].strip())
    return [each for each in found if each]
