"""KEY109: a prefix that a query asks for is also that of other items."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import stem
from singletable.lint.indexes import joined
from singletable.lint.neighbours import neighbours, prove_neighbour, stored_pair
from singletable.lint.requests import queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for prefixes of the keys of other entities, and for values that others begin with."""
    for read in queries(view):
        prefixes = [each for each in read.of("sk") if each.operator.strip().lower() == "begins_with"]
        if len(prefixes) != 1 or len(prefixes[0].templates) != 1:
            continue
        if others := list(neighbours(view, read)):
            yield _others(view, read, prefixes[0], others)
        elif found := _longer(view, read, prefixes[0]):
            yield _values(view, read, prefixes[0], *found)


def prove(found: Finding, bench: Bench) -> str | None:
    """Store an item of each, ask by the prefix, and count what comes."""
    return prove_neighbour(found, bench)


def _others(view: View, read: Read, asked: Asked, others: list[Place]) -> Finding:
    names = list(dict.fromkeys(place.entity.name for place in others))
    meant = joined(read.read.entities)
    return finding(
        RULE,
        read.path,
        *(place.path for place in others),
        *(place.path for place in view.places_in(read.read.index) if place.entity.name in read.read.entities),
        message=f"{shown(asked)} is asked for {meant}, and finds {joined(names)} too",
        because=f"{others[0].sk[0].example()} of {others[0].entity.name} begins with "
        f"{asked.templates[0].example()}: the query returns it among those of {meant}",
        repair=f"give {meant} a prefix of its own, that no other sort key begins with, or ask for a range that "
        "ends before the others",
        facts={"query": query_members(view, read), **stored_pair(view, read, others[0])},
    )


def _longer(view: View, read: Read, asked: Asked) -> tuple[Place, str, str] | None:
    """Find two values of the slot that a prefix ends with, one of which begins with the other."""
    pieces = asked.templates[0].pieces
    if not pieces or isinstance(pieces[-1], str):
        return None
    for place in view.found_by(read):
        if len(place.sk) != 1 or len(place.sk[0].pieces) < len(pieces):
            continue
        slot = place.sk[0].pieces[len(pieces) - 1]
        if isinstance(slot, str) or slot.name != pieces[-1].name or slot.width is not None or slot.is_time:
            continue
        values = slot.values or ((1, 10) if slot.is_number else slot.samples if stem(slot.name) else ())
        texts = [slot.written(value) for value in values]
        for short in texts:
            for long in texts:
                if long != short and long.startswith(short):
                    return place, short, long
    return None


def _values(view: View, read: Read, asked: Asked, place: Place, short: str, long: str) -> Finding:
    template = place.sk[0]
    slot = asked.templates[0].slots[-1].name
    return finding(
        RULE,
        read.path,
        place.path,
        message=f"{shown(asked)} ends with the value of {slot}, and finds values that begin with it",
        because=f"the prefix for {slot} {short} is also that of {long}, as in "
        f"{template.example(**{slot: long})}: items of another {slot} are returned",
        repair=f"end the prefix with the separator that follows {slot} in {template.text}, or ask for the whole "
        "key by equality",
    )


RULE = Rule("KEY109", Severity.ERROR, "A prefix finds other items too", check, prove)
