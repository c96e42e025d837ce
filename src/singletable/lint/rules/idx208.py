"""IDX208: a read of an index wants attributes that the index does not project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable.blueprint.entities import AttributeBlueprint
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined, projected
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for attributes that reads ask for or filter by, and that the entries of an index lack."""
    for read in view.reads:
        source = read.source
        if source is None or source.index is None:
            continue
        held = projected(view, source.index)
        if held is None:
            continue
        held |= _told(view, read)
        stored = _stored(view, read)
        wanted = [stored.get(name, name) for name in read.wanted]
        missing = [name for name in dict.fromkeys(wanted) if name not in held and name in stored.values()]
        if missing and source.is_global:
            yield _found(view, read, missing, "asks for")
        elif missing:
            yield _fetched(view, read, missing)
        filtered = [stored.get(name, name) for name in read.filtered]
        lacking = [name for name in dict.fromkeys(filtered) if name not in held and name in stored.values()]
        if lacking and source.is_global:
            yield _found(view, read, lacking, "filters by")


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item with the attribute, and look at its entry in the index."""
    facts = found.facts
    if not facts or bench.put(facts["item"]) is not None:
        return None
    entries = bench.send("scan", IndexName=facts["index"])["Items"]
    if len(entries) != 1 or any(name in entries[0] for name in facts["missing"]):
        return None
    return f"the entry in {facts['index']} has {joined(sorted(entries[0]))} alone"


def _stored(view: View, read: Read) -> dict[str, str]:
    """Return the stored name of each attribute of the entities that are read, by its name and its stored name."""
    return {
        name: field.stored for entity in read.read.entities for name, field in view.fields(entity).items()
    }


def _told(view: View, read: Read) -> frozenset[str]:
    """Return the stored names of the attributes whose values the keys of an entry tell."""
    return frozenset(
        slot.source.stored
        for entity in read.read.entities
        for place in view.places_of(entity)
        if place.index in (None, read.read.index)
        for slot in place.slots
        if isinstance(slot.source, AttributeBlueprint)
    )


def _found(view: View, read: Read, missing: list[str], verb: str) -> Finding:
    index = read.source.index if read.source is not None else None
    assert index is not None
    held = projected(view, index) or frozenset()
    verdict = "they are missing in what comes back" if verb == "asks for" else "the filter never holds"
    return finding(
        RULE,
        view.index_path(index.name),
        read.path,
        message=f"pattern {read.pattern.number} {verb} {joined(missing)} of {index.name}, which projects "
        f"{index.projection}" + (f" of {joined(index.included)}" if index.included else ""),
        because=f"an entry of {index.name} has {joined(sorted(held))} and no {joined(missing, 'or')}: a global "
        f"index fetches nothing from the table, so {verdict}",
        repair=f"project {joined(missing)} too, INCLUDE or ALL (a projection cannot be changed: it takes a new "
        "index), or read the items of the table by the keys found",
        facts=_facts(view, read, missing),
    )


def _fetched(view: View, read: Read, missing: list[str]) -> Finding:
    name = read.read.index
    return finding(
        RULE,
        view.index_path(name),
        read.path,
        severity=Severity.WARNING,
        message=f"pattern {read.pattern.number} asks for {joined(missing)} of {name}, which are not projected",
        because=f"for each entry of a local index that lacks {joined(missing, 'or')}, the whole item is fetched "
        "from the table and paid for too",
        repair=f"project {joined(missing)} too, or ask for less",
    )


def _facts(view: View, read: Read, missing: list[str]) -> dict[str, Any]:
    places = [place for place in view.places_in(read.read.index) if place.entity.name in read.read.entities]
    keys = view.example_keys(places[0]) if places else {}
    item = dict.fromkeys(missing, "x") | keys
    return {"index": read.read.index, "item": item, "missing": missing} if keys else {}


RULE = Rule("IDX208", Severity.ERROR, "An index does not project what is read of it", check, prove)
