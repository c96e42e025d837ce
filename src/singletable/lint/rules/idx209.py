"""IDX209: an index copies much that no read of it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import entry_kb, joined, key_names, readers, sum_bytes
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View

_UNITS: Final = 2  # write units, of 1 KB, that a smaller projection saves with each write
_SHARE: Final = 0.5


def check(view: View) -> Iterator[Finding]:
    """Look for indexes with large entries, all of whose reads name the few attributes that they want."""
    table = view.table
    for index in view.blueprint.indexes:
        reads, places = readers(view, index.name), view.places_in(index.name)
        if index.projection == "KEYS_ONLY" or not reads or not places:
            continue
        if not all(read.wanted for read in reads):
            continue  # some read wants all that is there
        keys = {*table.pk, *table.sk, *key_names(index)}
        for place in places:
            kb = entry_kb(view, index, place.entity)
            wanted = _wanted(view, place, reads)
            if kb is None or not wanted:
                continue
            needed = sum_bytes(place.entity, keys | wanted) / 1024
            if ceil(kb) - ceil(needed) >= _UNITS and needed < kb * _SHARE:
                yield _found(view, place, reads, wanted, kb, needed)
                break


def _wanted(view: View, place: Place, reads: tuple[Read, ...]) -> set[str]:
    fields = view.fields(place.entity.name)
    return {
        fields[name].stored
        for read in reads
        if not read.read.entities or place.entity.name in read.read.entities
        for name in (*read.wanted, *read.filtered)
        if name in fields
    }


def _found(
    view: View, place: Place, reads: tuple[Read, ...], wanted: set[str], kb: float, needed: float
) -> Finding:
    entity, index = place.entity, place.index
    large = sorted(
        (field for field in entity.attributes if field.size_bytes and field.stored not in wanted),
        key=lambda field: -(field.size_bytes or 0.0),
    )
    names = joined(dict.fromkeys(f"pattern {read.pattern.number}" for read in reads))
    source = view.sources[index].index
    carried = source.projection if source is not None else "ALL"
    return finding(
        RULE,
        view.index_path(index),
        *(read.path for read in reads),
        place.path,
        message=f"{index} copies {kb:g} KB of each {entity.name}, and its reads want {joined(sorted(wanted))}",
        because=f"{names} needs {needed:.1g} KB of an entry: projection {carried} makes {ceil(kb)} write units "
        f"of what {ceil(needed)} would do, at every change of any attribute"
        + (f", {large[0].name} above all" if large else "")
        + ", and stores it twice",
        repair=f"project INCLUDE with {joined(sorted(wanted))}; that takes a new index, as projections stay",
    )


RULE = Rule("IDX209", Severity.WARNING, "An index copies what no read of it wants", check)
