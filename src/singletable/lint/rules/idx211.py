"""IDX211: the items of one partition key outgrow the 10 GB that a local index leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import stem, words
from singletable.lint.indexes import entry_kb
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

if TYPE_CHECKING:
    from singletable.blueprint.contents import VolumeBlueprint
    from singletable.blueprint.tables import IndexBlueprint

_COLLECTION_GB_MAX: Final = 10.0
_KB_PER_GB: Final = 1024.0 * 1024.0
_MONTHS: Final = 24


def check(view: View) -> Iterator[Finding]:
    """Look for partitions of the table whose items outgrow what a local index leaves them."""
    local = [index for index in view.blueprint.indexes if index.is_local]
    if not local:
        return
    by_partition: dict[str, list[tuple[Place, VolumeBlueprint]]] = {}
    for place in view.places_in(None):
        volume = view.volume(place.entity.name)
        if volume is not None and len(place.pk) == 1 and _is_per_partition(place, volume):
            by_partition.setdefault(place.pk[0].text, []).append((place, volume))
    for text, found in by_partition.items():
        sizes = [(volume, _kb_with_entries(view, place, volume, local)) for place, volume in found]
        gb = sum(volume.count * kb for volume, kb in sizes) / _KB_PER_GB
        growth = sum((volume.growth_per_month or 0.0) * kb for volume, kb in sizes) / _KB_PER_GB
        later = gb + growth * _MONTHS
        if later > _COLLECTION_GB_MAX:
            yield _too_large(view, local[0], text, found, gb, later)


def _kb_with_entries(view: View, place: Place, volume: VolumeBlueprint, local: list[IndexBlueprint]) -> float:
    """Return the size of an item with its entries in local indexes, which are in the same collection."""
    held = [
        index
        for index in local
        if any(each.index == index.name for each in view.places_of(place.entity.name))
    ]
    return volume.kb + sum(entry_kb(view, index, place.entity) or 0.0 for index in held)


def _is_per_partition(place: Place, volume: VolumeBlueprint) -> bool:
    """Tell whether a volume is that of one partition: it is said for what the partition key names."""
    template = place.pk[0]
    if template.is_constant:
        return volume.per == ""
    per = "".join(words(volume.per))
    names = {each for slot in template.slots for each in ("".join(words(slot.name)), stem(slot.name)) if each}
    return len(template.slots) == 1 and per != "" and per in names


def _too_large(
    view: View,
    index: IndexBlueprint,
    text: str,
    found: list[tuple[Place, VolumeBlueprint]],
    gb: float,
    later: float,
) -> Finding:
    entities = [place.entity.name for place, _ in found]
    sizes = "; ".join(
        f"{volume.count:,.0f} of {place.entity.name} of {volume.kb:g} KB" for place, volume in found
    )
    is_now = gb > _COLLECTION_GB_MAX
    return finding(
        RULE,
        view.index_path(index.name),
        *(("volumes", view.blueprint.volumes.index(volume)) for _, volume in found),
        *(view.entity_path(entity) for entity in entities),
        ("table",),
        severity=Severity.ERROR if is_now else Severity.WARNING,
        message=f"a partition {text} has {gb:,.1f} GB with its entries in local indexes"
        + ("" if is_now else f", and {later:,.1f} GB after {_MONTHS} months")
        + f", and because of {index.name} 10 GB are the limit",
        because=f"{sizes}: with a local index, all items of one partition key with their entries have 10 GB "
        "together; beyond, puts are refused with ItemCollectionSizeLimitExceededException",
        repair=f"make {index.name} a global index, or write a bucket, as the year, into the partition key",
    )


RULE = Rule("IDX211", Severity.ERROR, "A collection outgrows its local indexes", check)
