"""Indexes as rules look at them: the attributes that an entity stores, and who reads and writes an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singletable.blueprint.contents import LoadBlueprint
    from singletable.blueprint.entities import EntityBlueprint
    from singletable.blueprint.positions import Path
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
    return view.readers(index)


def finders(view: View, place: Place) -> tuple[Read, ...]:
    """Return the reads of an index that ask for an entity, as it has a place there."""
    return tuple(
        read
        for read in view.reads
        if read.read.index == place.index and place.entity.name in read.read.entities
    )


def projected(view: View, index: IndexBlueprint) -> frozenset[str] | None:
    """Return the attributes that entries of an index have; None for all of them."""
    if index.projection not in ("KEYS_ONLY", "INCLUDE"):
        return None
    table = view.blueprint.table
    keys = (table.pk, *((table.sk,) if table.sk is not None else ()), *key_names(index))
    return frozenset((*keys, *index.included))


# --- sizes and rates --------------------------------------------------------------------------------------

_SECONDS_PER_MONTH: Final = 30 * 86_400
_SMALL_BYTES: Final = 50.0  # an attribute whose size nobody says


def item_kb(view: View, entity: EntityBlueprint) -> float | None:
    """Return how large an item is; None where nobody says it."""
    volume = view.volume(entity.name)
    if volume is not None and volume.kb:
        return volume.kb
    sizes = [field.size_bytes for field in entity.attributes if field.size_bytes is not None]
    return sum(sizes) / 1024 if sizes else None


def entry_kb(view: View, index: IndexBlueprint, entity: EntityBlueprint) -> float | None:
    """Return how large the entry of an item in an index is; None where nobody says how large the item is."""
    whole = item_kb(view, entity)
    held = projected(view, index)
    if whole is None or held is None:
        return whole
    return min(whole, sum_bytes(entity, held) / 1024)


def sum_bytes(entity: EntityBlueprint, names: Iterable[str]) -> float:
    """Return the size of some attributes by their stored names: as said, else as small ones have it."""
    sizes = {field.stored: field.size_bytes for field in entity.attributes}
    return sum(size if (size := sizes.get(name)) is not None else _SMALL_BYTES for name in names)


def changes_per_s(view: View, entity: EntityBlueprint, name: str) -> tuple[float, list[Path]]:
    """Return how often a second a field of items of an entity is changed, and where that is said."""
    rates: list[tuple[float, list[Path]]] = [(0.0, [])]
    for path, load in view.loads("update", entity.name):
        rates.append((_per_s(load) * load.changes.get(name, 0.0), [path]))
    for write in view.writes:
        made = write.write
        is_update = made.entity == entity.name and made.operation.lower().startswith("update")
        if write.pattern is not None and is_update and name in made.fields:
            rates.append((write.pattern.rps * made.count, [write.path]))
            for path, load in view.pattern_loads(write.pattern):
                rates.append((_per_s(load) * made.count, [write.path, path]))
    field = view.fields(entity.name).get(name)
    volume = view.volume(entity.name)
    if field is not None and field.updates_per_month and volume is not None:
        users = view.blueprint.users or 1.0
        items = volume.count * (users if volume.per == "user" else 1.0)
        rates.append((field.updates_per_month * items / _SECONDS_PER_MONTH, []))
    return max(rates, key=lambda each: each[0])


def _per_s(load: LoadBlueprint) -> float:
    return load.peak_per_s if load.peak_per_s is not None else (load.monthly or 0.0) / _SECONDS_PER_MONTH
