"""IDX202: an index that no entity writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined, key_names, readers, stored_names
from singletable.lint.keys import read_template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.tables import IndexBlueprint


def check(view: View) -> Iterator[Finding]:
    """Look for indexes with a key attribute that no item has."""
    entities = view.blueprint.entities
    if not entities or not all(entity.attributes for entity in entities):
        return  # what items have was not written down
    stored = set().union(*(stored_names(entity) for entity in entities), _written(view))
    for index in view.blueprint.indexes:
        absent = [name for name in key_names(index) if name not in stored]
        if not absent or view.places_in(index.name) or _is_given(view, index):
            continue
        reads = readers(view, index.name)
        asked = list(dict.fromkeys(f"pattern {read.pattern.number}" for read in reads))
        yield finding(
            RULE,
            view.index_path(index.name),
            *(read.path for read in reads),
            message=f"no entity writes {joined(absent, 'or')}, so {index.name} is always empty",
            because=_held(index)
            + "an item is in an index only if it has all of its key attributes"
            + (f": {joined(asked)} can find nothing" if asked else ", and no item has these"),
            repair=f"give the entities that belong into {index.name} its keys {joined(key_names(index))}, or "
            "remove the index",
            severity=Severity.ERROR if reads else Severity.WARNING,
            facts={"index": index.name},
        )


def _is_given(view: View, index: IndexBlueprint) -> bool:
    """Tell whether the index itself has keys that some entity has all the fields for: they stand there instead."""
    for place in index.holds:
        keys = [key for key in (place.pk, place.sk) if key is not None]
        named = {part.name: part.field for key in keys for part in key.parts}
        slots = {slot.name for key in keys for slot in read_template(key.template or "", {}).slots}
        wanted = {named.get(name, name) for name in slots}
        if any(wanted <= set(view.fields(entity)) for entity in view.entities):
            return True
    return False


def _held(index: IndexBlueprint) -> str:
    """Tell what a document says that the index holds."""
    keys = [place.pk.template for place in index.holds if place.pk.template]
    return f"{index.name} is said to hold {joined(keys)}, which no entity has, and " if keys else ""


def _written(view: View) -> set[str]:
    """Return the attributes that writes name beside those of the entities."""
    return {name for each in view.writes for name in (*each.write.fields, *each.write.names.values())} | {
        word
        for each in view.writes
        for word in each.write.update_expression.replace(",", " ").replace("=", " ").split()
    }


def prove(found: Finding, bench: Bench) -> str | None:
    """Put the samples of all entities, and count what is in the index."""
    items = [sample for entity in bench.blueprint.entities for sample in entity.samples]
    stored = sum(bench.put(item) is None for item in items)
    count = bench.send("scan", IndexName=found.facts["index"])["Count"]
    return f"of {stored} sample items in the table, {found.facts['index']} has {count}" if not count else None


RULE = Rule("IDX202", Severity.ERROR, "An index is never written", check, prove)
