"""The rows of a blueprint: an entity in a view with its attributes, and the locks of its unique values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.blueprint import (
    AttributeBlueprint,
    EntityBlueprint,
    IndexBlueprint,
    PlaceBlueprint,
    TableBlueprint,
    UniqueBlueprint,
)
from singletable.drawing.design_conditions import condition_said
from singletable.drawing.design_keys import Names, drawn_key, drawn_template, stored_names
from singletable.drawing.picture import Attribute, Row

_KEPT_FOR_ITSELF: Final = frozenset({"Auto", "Lock", "TimeToLive", "Expires"})  # of fields that say little
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def item_row(
    entity: EntityBlueprint, place: PlaceBlueprint, table: TableBlueprint, index: IndexBlueprint | None
) -> Row:
    """Draw an entity in one of its places."""
    names = stored_names(entity)
    return Row(
        sort=None if place.sk is None else drawn_key(place.sk, names),
        entity=entity.name,
        attributes=_attributes(entity, place, table, index),
        notes=tuple(_notes(entity, place, names)),
        expires=entity.ttl is not None,
    )


# --- attributes -----------------------------------------------------------------------------------------


def _attributes(
    entity: EntityBlueprint, place: PlaceBlueprint, table: TableBlueprint, index: IndexBlueprint | None
) -> tuple[Attribute, ...]:
    keys = {part.field for key in (place.pk, place.sk) if key is not None for part in key.parts}
    found = [each for each in entity.attributes if _is_projected(each.stored, table, index)]
    own = {entity.version, None if entity.ttl is None else entity.ttl.field}
    found.sort(key=lambda each: 2 if each.name in own else _rank(each, keys))
    notes = _attribute_notes(entity)
    return tuple(
        Attribute(each.stored, _type(each), notes.get(each.name, "in the key" if each.name in keys else ""))
        for each in found
    )


def _is_projected(stored: str, table: TableBlueprint, index: IndexBlueprint | None) -> bool:
    if index is None or index.projection == "ALL":
        return True
    return stored in (table.pk, table.sk, *index.pk, *index.sk, *index.included)


def _rank(attribute: AttributeBlueprint, keys: set[str]) -> int:
    """Rank attributes by how much they say: required ones, optional ones, internal ones, and last the key."""
    if attribute.name in keys:
        return 3
    if any(marker.get("kind") in _KEPT_FOR_ITSELF for marker in attribute.markers):
        return 2
    return 1 if attribute.is_optional else 0


def _type(attribute: AttributeBlueprint) -> str:
    text = (attribute.alias or attribute.type).replace('"', "")
    if not attribute.is_optional:
        return text
    return f"({text})?" if " | " in text else f"{text}?"


def _attribute_notes(entity: EntityBlueprint) -> dict[str, str]:
    notes: dict[str, str] = {}
    for aggregate in entity.aggregates:
        of = f"{aggregate.of}.{aggregate.of_field}" if aggregate.of_field else aggregate.of
        when = "" if aggregate.when is None else f" while {condition_said(aggregate.when, {})}"
        notes[aggregate.field] = f"the {aggregate.kind} of {of}{when}"
    for copy in entity.copies:
        notes[copy.field] = f"repeats {copy.of}.{copy.of_field}"
    if entity.version is not None:
        notes[entity.version] = "counts the writes"
    if entity.ttl is not None:
        notes[entity.ttl.field] = "time to live"
    return notes


# --- notes ----------------------------------------------------------------------------------------------


def _notes(entity: EntityBlueprint, place: PlaceBlueprint, names: Names) -> Iterator[str]:
    if place.when is not None:
        yield f"only while {condition_said(place.when, names)}"
    if entity.derived is not None and place.index is None:
        yield f"made from {entity.derived.of}"
    if entity.ttl is not None and place.index is None:
        yield _expiry(entity, names)


def _expiry(entity: EntityBlueprint, names: Names) -> str:
    ttl = entity.ttl
    assert ttl is not None
    if ttl.seconds is None:
        return f"expires by {ttl.stored}"
    after = "it is made" if ttl.after is None else names.get(ttl.after, ttl.after)
    when = "" if ttl.when is None else f" while {condition_said(ttl.when, names)}"
    return f"expires {_span(ttl.seconds)} after {after}{when}"


def _span(seconds: float) -> str:
    length, unit = next(((size, name) for size, name in _UNITS if seconds % size == 0), _UNITS[-1])
    count = seconds / length
    return f"{count:g} {unit}" if count == 1 else f"{count:g} {unit}s"


# --- locks ----------------------------------------------------------------------------------------------


def lock_row(entity: EntityBlueprint, unique: UniqueBlueprint, table: TableBlueprint) -> Row:
    """Draw the lock of a unique value: an item that names the one that has the value."""
    names = stored_names(entity)
    fields = ", ".join(names.get(field, field) for field in unique.fields)
    return Row(
        sort=None if table.sk is None else drawn_template(unique.sort, {}),
        entity=entity.name,
        attributes=tuple(_owner(entity, names)),
        notes=(f"one {entity.name} for each {fields}",),
        kind="lock",
        expires=entity.ttl is not None,
    )


def _owner(entity: EntityBlueprint, names: Names) -> Iterator[Attribute]:
    place = entity.place(None)
    if place is not None:
        yield Attribute("$owner", drawn_key(place.pk, names).text, "the key of the item that has the value")
        if place.sk is not None:
            yield Attribute("$ownerSort", drawn_key(place.sk, names).text)
