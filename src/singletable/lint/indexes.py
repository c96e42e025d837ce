"""Indexes as rules look at them: the attributes that an entity stores, and who reads and writes an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singletable.blueprint.entities import EntityBlueprint
    from singletable.blueprint.tables import IndexBlueprint
    from singletable.lint.view import Place, Read, View


def stored_names(entity: EntityBlueprint) -> set[str]:
    """Return the attributes that items of an entity can have: fields, keys of places, and those of samples."""
    keys = [
        name
        for place in entity.places
        for key in (place.pk, place.sk)
        if key is not None
        for name in key.attributes
    ]
    fields = [field.stored for field in entity.attributes]
    return {*keys, *fields, *(name for sample in entity.samples for name in sample)}


def key_names(index: IndexBlueprint) -> tuple[str, ...]:
    """Return the key attributes of an index."""
    return (*index.pk, *index.sk)


def joined(names: Iterable[str], word: str = "and") -> str:
    """Write names as people do: `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def readers(view: View, index: str) -> tuple[Read, ...]:
    """Return the reads of an index."""
    return tuple(read for read in view.reads if read.read.index == index)


def finders(view: View, place: Place) -> tuple[Read, ...]:
    """Return the reads of an index that ask for an entity, as it has a place there."""
    return tuple(
        read
        for read in view.reads
        if read.read.index == place.index and place.entity.name in read.read.entities
    )
