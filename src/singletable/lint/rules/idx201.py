"""IDX201: an entity has one key of an index and lacks the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import finders, joined, key_names, stored_names
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Source, View


def check(view: View) -> Iterator[Finding]:
    """Look for places that lack a key attribute of their index, in the design and in each document."""
    for place in view.places:
        source = view.sources.get(place.index)
        if source is None or source.index is None:
            continue
        names = key_names(source.index)
        if missing := [name for name in names if name not in stored_names(place.entity)]:
            yield _incomplete(view, place, source, missing)
            continue
        fields = {field.stored for field in place.entity.attributes}
        if place.place.sk is not None and (absent := [name for name in source.sk if name not in fields]):
            for said in place.place.said:
                if "sk" in said.differs and said.differs["sk"] is None:
                    yield replace(_incomplete(view, place, source, absent, said.at), document=said.at)


def _incomplete(view: View, place: Place, source: Source, missing: list[str], document: str = "") -> Finding:
    entity = place.entity.name
    present = [attribute for _, attribute, _ in place.templates() if attribute not in missing]
    reads = finders(view, place)
    asked = joined(dict.fromkeys(f"pattern {read.pattern.number}" for read in reads)) if reads else ""
    says = f", as {document} has it," if document else ""
    return finding(
        RULE,
        place.path,
        view.index_path(source.name),
        *(read.path for read in reads),
        message=f"{entity}{says} has {joined(present) if present else 'no key'} and no "
        f"{joined(missing, 'or')}, so it is never in {source.title}",
        because=f"an item is in an index only if it has all of its key attributes: one under "
        f"{place.pk[0].example()} without {joined(missing, 'and')} is stored in the table alone"
        + (f", out of sight of {asked}" if asked else ""),
        repair=f"write {joined(missing)} too, with what the index is to be sorted by, or leave out "
        f"{joined(present) if present else 'the place'} if {entity} does not belong there",
        facts=_facts(view, place, source, missing),
    )


def _facts(view: View, place: Place, source: Source, missing: list[str]) -> dict[str, Any]:
    """Return an item of the entity with the keys that it has, and without those that it lacks."""
    own = next((each for each in view.places_in(None) if each.entity is place.entity), None)
    if own is None or source.name is None:
        return {}
    keys = [*own.templates(), *place.templates()]
    item = {name: template.example() for _, name, template in keys if name not in missing}
    return {"index": source.name, "item": item}


def prove(found: Finding, bench: Bench) -> str | None:
    """Put such an item, and scan the index for it."""
    if not found.facts or bench.put(found.facts["item"]) is not None:
        return None
    index = found.facts["index"]
    stored = bench.send("scan")["Count"]
    return f"the table has {stored} such item, {index} has {bench.send('scan', IndexName=index)['Count']}"


RULE = Rule("IDX201", Severity.ERROR, "An entity lacks a key of an index that it is in", check, prove)
