"""IDX204: one item is to have two values of an index key at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined
from singletable.lint.keys import Slot, Template, characters, overlap
from singletable.lint.requests import is_equality, queries, query_members
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for entities with two places in one index, and for reads that want yet another value."""
    for index in view.blueprint.indexes:
        places = view.places_in(index.name)
        for one, other in combinations(places, 2) if len(places) > 1 else ():
            if one.entity is other.entity and _are_two(one, other):
                yield _twice(view, one, other)
    written = [template for place in view.places for template in place.pk]
    for read in queries(view):
        if (asked := _partition(read)) is None or _is_met(view, read, asked):
            continue
        if not any(
            overlap(asked.templates[0], each) and _is_possible(view, read, asked.templates[0], each)
            for each in written
        ):
            yield from _unwritten(view, read, asked)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put the item with each of its values, or ask for the one that it has not, and count what is found."""
    index, items, query = (found.facts.get(name) for name in ("index", "items", "query"))
    if not items or any(bench.put(item) is not None for item in items):
        return None
    count = bench.send("scan", IndexName=index)["Count"]
    if len(items) > 1:
        return f"written for both, the item is in {index} once" if count == 1 else None
    if count != 1 or not query or bench.refusal("query", **query) is not None:
        return None
    asked = bench.send("query", **query)["Count"]
    return f"the item is in {index}, and the query finds nothing" if asked == 0 else None


def _are_two(one: Place, other: Place) -> bool:
    """Tell whether an item would have both places: not two that conditions keep apart."""
    if one.place.when is not None and other.place.when is not None and one.place.when != other.place.when:
        return False
    return [t.text for t in (*one.pk, *one.sk)] != [t.text for t in (*other.pk, *other.sk)]


def _twice(view: View, one: Place, other: Place) -> Finding:
    entity = one.entity.name
    attribute = one.place.pk.attributes[0]
    keys = one.pk[0].example(), other.pk[0].example()
    if keys[0] == keys[1] and one.sk and other.sk:
        keys = one.sk[0].example(), other.sk[0].example()
        attribute = one.place.sk.attributes[0] if one.place.sk is not None else attribute
    reads = [read for place in (one, other) for read in view.reads if _asks(view, read, place)]
    return finding(
        RULE,
        view.entity_path(entity),
        other.path,
        view.index_path(one.index),
        *dict.fromkeys(read.path for read in reads),
        message=f"{entity} is to have {keys[0]} and {keys[1]} in {attribute} at once, for {one.index}",
        because=f"an item has one value of an attribute, and is in an index once: with {keys[1]} it is not "
        f"found under {keys[0]}",
        repair=f"give {one.index} one of them and another index the other, or store an item of its own "
        "for each value",
        facts={"index": one.index, "items": _items(view, (one, other))},
    )


def _asks(view: View, read: Read, place: Place) -> bool:
    return read.read.index == place.index and place in view.met_by(read)


def _items(view: View, places: tuple[Place, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(item for place in places if (item := view.example_keys(place)))


# --- reads that want another value ------------------------------------------------------------------------


def _partition(read: Read) -> Asked | None:
    """Return the partition of an index that a read asks for by equality; None where other things count too."""
    asked = read.of("pk")
    if read.source is None or read.source.index is None or len(read.source.pk) != 1 or len(asked) != 1:
        return None
    if read.read.lock is not None or read.read.owner_of is not None or read.read.named_by is not None:
        return None
    is_one = is_equality(asked[0]) and len(asked[0].templates) == 1
    return asked[0] if is_one and any(each.isalnum() for each in asked[0].templates[0].prefix) else None


def _is_met(view: View, read: Read, asked: Asked) -> bool:
    """Tell whether what is asked for is written in that index."""
    return any(_is_possible(view, read, asked.templates[0], place.pk[0]) for place in view.met_by(read))


def _is_possible(view: View, read: Read, asked: Template, written: Template) -> bool:
    """Tell whether the value that is asked for can be the constant that is written: no uuid is PUBLIC."""
    if not written.is_constant or len(asked.pieces) != 2 or isinstance(asked.pieces[1], str):
        return True
    slot = asked.pieces[1]
    fields = (view.fields(entity).get(slot.name) for entity in read.read.entities)
    known = next((field for field in fields if field is not None and field.format), None)
    letters = (
        characters(Slot(slot.name, source=known))
        if known is not None and not slot.format
        else characters(slot)
    )
    return letters is None or set(written.text.removeprefix(asked.prefix)) <= letters


def _unwritten(view: View, read: Read, asked: Asked) -> Iterator[Finding]:
    names = set(read.read.entities)
    here = [place for place in view.places_in(read.read.index) if place.entity.name in names]
    taken = [place for place in here if place.place.when is None and place.pk and place.pk[0].prefix]
    if not taken or len(taken) != len(here):
        return
    entity = taken[0].entity.name
    written = list(dict.fromkeys(place.pk[0].text for place in taken))
    yield finding(
        RULE,
        read.path,
        view.entity_path(entity),
        view.index_path(read.read.index),
        message=f"pattern {read.pattern.number} asks {read.read.index} for {entity} under "
        f"{asked.templates[0].example()}, where it has {joined(written)}",
        because=f"an item has one value of {asked.attribute}: as long as it is {taken[0].pk[0].example()}, the "
        "query finds nothing",
        repair=f"write {asked.templates[0].text} on items of their own beside {entity}, or into another index",
        facts={
            "index": read.read.index,
            "items": _items(view, (taken[0],)),
            "query": query_members(view, read),
        },
    )


RULE = Rule("IDX204", Severity.ERROR, "Two values are to be in one index key", check, prove)
