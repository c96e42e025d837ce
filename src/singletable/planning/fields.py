"""Fields of a blueprint: which of them lead keys, which every write changes, which link one entity to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from singletable.blueprint import Blueprint, EntityBlueprint, KeyPart, PlaceBlueprint

PLACEHOLDER: Final = re.compile(r"\{(\w+)(?::[^{}]*)?\}")


def key_parts(place: PlaceBlueprint) -> Iterator[KeyPart]:
    """Yield the parts of a place's keys. A placeholder without a part is the field of its name."""
    for key in (place.pk, place.sk):
        if key is not None:
            yield from key.parts
            named = {part.name for part in key.parts}
            is_plain = key.template is None and not key.parts  # then its attributes are fields
            for name in key.attributes if is_plain else PLACEHOLDER.findall(key.template or ""):
                if name not in named:
                    yield KeyPart(name, "str", name)


def key_fields(place: PlaceBlueprint) -> set[str]:
    """Return the fields that the keys of a place are made of."""
    return {part.field for part in key_parts(place)}


def plain_key_fields(place: PlaceBlueprint) -> set[str]:
    """Return the fields whose change always changes a key: no shards, buckets or letters are made of them."""
    return {
        part.field
        for part in key_parts(place)
        if part.shards is None and part.bucket is None and part.letters is None
    }


def condition_fields(condition: object) -> Iterator[str]:
    """Yield the fields that a condition reads."""
    if isinstance(condition, Mapping):
        if isinstance(condition.get("field"), str):
            yield condition["field"]
        for member in condition.values():
            yield from condition_fields(member)
    elif isinstance(condition, list | tuple):
        for member in condition:
            yield from condition_fields(member)


def auto_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that every write changes: the time of the update, the number of writes."""
    found = {
        attribute.name
        for attribute in entity.attributes
        for marker in attribute.markers
        if marker.get("kind") == "Auto" and marker.get("when") == "write"
    }
    return found | ({entity.version} if entity.version is not None else set())


def computed_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that follow from others; which ones, a blueprint does not tell."""
    return {
        attribute.name
        for attribute in entity.attributes
        if any(marker.get("kind") == "Computed" for marker in attribute.markers)
    }


def fixed_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that no update changes: those of the key, of the creation, and those said to be so."""
    home = entity.place(None)
    fixed = set() if home is None else key_fields(home)
    for attribute in entity.attributes:
        is_made_once = any(
            marker.get("kind") == "Auto" and marker.get("when") == "create" for marker in attribute.markers
        )
        if attribute.is_immutable or is_made_once:
            fixed.add(attribute.name)
    return fixed


def expiry_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that decide when an item expires."""
    if entity.ttl is None:
        return set()
    return {entity.ttl.field, *filter(None, (entity.ttl.after,)), *condition_fields(entity.ttl.when)}


def optional_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that may have no value."""
    return {each.name for each in entity.attributes if each.is_optional}


def stored_names(entity: EntityBlueprint, fields: set[str]) -> set[str]:
    """Return the names under which fields are stored."""
    return {attribute.stored for attribute in entity.attributes if attribute.name in fields}


# --- links ----------------------------------------------------------------------------------------------


def links(blueprint: Blueprint) -> Iterator[tuple[EntityBlueprint, EntityBlueprint, tuple[str, ...]]]:
    """Yield children, their parents, and the fields of the child that name the parent.

    Children are items that a parent owns, or counts; that repeat its fields; or that are derived from it.
    """
    seen: set[tuple[str, str]] = set()
    for child_name, parent_name, via in _named_links(blueprint):
        child, parent = blueprint.entity(child_name), blueprint.entity(parent_name)
        if child is None or parent is None or (child_name, parent_name) in seen:
            continue
        seen.add((child_name, parent_name))
        yield child, parent, link_fields(child, parent, via)


def _named_links(blueprint: Blueprint) -> Iterator[tuple[str, str, Mapping[str, str] | None]]:
    for entity in blueprint.entities:
        for aggregate in entity.aggregates:
            yield aggregate.of, entity.name, aggregate.via
        for copied in entity.copies:
            yield entity.name, copied.of, copied.via
        if entity.derived is not None:
            yield entity.name, entity.derived.of, entity.derived.via
        for owned in entity.owns:
            yield owned, entity.name, None


def link_fields(
    child: EntityBlueprint, parent: EntityBlueprint, via: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Return the fields of a child that hold its parent's key, as far as it has them."""
    home = parent.place(None)
    wanted = [] if home is None else [part.field for part in key_parts(home)]
    named = [(via or {}).get(name, name) for name in dict.fromkeys(wanted)]
    known = {attribute.name for attribute in child.attributes}
    return tuple(name for name in named if name in known)
