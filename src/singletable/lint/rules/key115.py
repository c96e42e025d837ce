"""KEY115: a read asks for a key that the entity is not written under."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable.lint.finding import Finding, Severity
from singletable.lint.indexes import joined, key_names, stored_names
from singletable.lint.keys import Template, begins, overlap
from singletable.lint.requests import SINGLE_READS, is_equality, prove_not_found, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for sort keys, and partition keys of the table, that no item of what is meant can have."""
    for read in view.reads:
        request = read.read
        if request.operation not in ("Query", *SINGLE_READS) or read.source is None:
            continue
        if request.lock is not None or request.owner_of is not None or request.named_by is not None:
            continue
        here = view.places_in(read.source.name)
        meant = [place for place in here if place.entity.name in request.entities]
        if here and not meant and (asked := _without_place(view, read)) is not None:
            yield _absent(view, read, asked)
            continue
        if not meant or {place.entity.name for place in meant} != set(request.entities):
            continue
        if (asked := _missed(view, read, meant)) is not None:
            yield _found(view, read, asked, meant)


def _missed(view: View, read: Read, meant: list[Place]) -> Asked | None:
    """Return the condition that no place of what is meant can meet, where the partition is right."""
    for asked in read.of("pk"):
        written = [template for place in meant for template in place.pk]
        if not is_equality(asked) or len(asked.templates) != 1:
            return None
        if any(overlap(asked.templates[0], each) for each in written):
            continue
        others = (each for place in view.places for each in place.pk)
        is_elsewhere = any(overlap(asked.templates[0], each) for each in others)  # PAT307
        is_table = read.source is not None and read.source.index is None  # else IDX204
        return asked if is_table and not is_elsewhere and _is_known(asked, written) else None
    for asked in read.of("sk"):
        written = [template for place in meant for template in place.sk]
        operator = asked.operator.strip().lower()
        if (operator == "begins_with" or is_equality(asked)) and _is_known(asked, written):
            meets = begins if operator == "begins_with" else overlap
            if not any(meets(asked.templates[0], each) for each in written):
                return asked
    return None


def _without_place(view: View, read: Read) -> Asked | None:
    """Return the partition of an index that is asked for items which have no keys of that index at all."""
    index = read.source.index if read.source is not None else None
    entities = [view.entities.get(name) for name in read.read.entities]
    asked = read.of("pk")
    if index is None or not entities or len(asked) != 1 or not is_equality(asked[0]) or view.met_by(read):
        return None
    for entity in entities:
        if entity is None or not entity.places or stored_names(entity) >= set(key_names(index)):
            return None
    others = [each for place in view.places for each in place.pk]
    templates = asked[0].templates
    is_constant = len(templates) == 1 and any(letter.isalnum() for letter in templates[0].prefix)
    is_elsewhere = is_constant and any(overlap(templates[0], each) for each in others)  # PAT307
    return asked[0] if is_constant and not is_elsewhere else None


def _absent(view: View, read: Read, asked: Asked) -> Finding:
    where = read.source.title if read.source is not None else ""
    names = joined(read.read.entities)
    held = joined(dict.fromkeys(place.entity.name for place in view.places_in(where)))
    return finding(
        RULE,
        read.path,
        view.index_path(where),
        *(view.entity_path(name) for name in read.read.entities),
        message=f"pattern {read.pattern.number} asks {where} for {names}, which has no keys of {where}",
        because=f"{where} holds {held}, and nothing is written under {asked.templates[0].example()}: the query "
        "finds nothing",
        repair=f"give {names} a place in {where} under {asked.templates[0].text}",
        facts={"item": _home_keys(view, read), "query": query_members(view, read)},
    )


def _home_keys(view: View, read: Read) -> dict[str, Any]:
    home = view.home(view.entities[read.read.entities[0]])
    return view.example_keys(home) if home is not None else {}


def _is_known(asked: Asked, written: list[Template]) -> bool:
    """Tell whether constant text is asked for and written, which can be compared."""
    is_prefix = asked.operator.strip().lower() == "begins_with"
    return (
        (is_prefix or is_equality(asked))
        and len(asked.templates) == 1
        and bool(written)
        and any(letter.isalnum() for letter in asked.templates[0].prefix)
        and all(any(letter.isalnum() for letter in each.prefix) for each in written)
        and not _differs_in_slots(asked.templates[0], written)
    )


def _differs_in_slots(asked: Template, written: list[Template]) -> bool:
    """Tell whether they differ behind the first constant text, where a value may hold what is not known."""
    return any(asked.prefix == each.prefix for each in written)


def _found(view: View, read: Read, asked: Asked, meant: list[Place]) -> Finding:
    role = asked.role
    written = list(dict.fromkeys(t.text for place in meant for t in (place.pk if role == "pk" else place.sk)))
    where = read.source.title if read.source is not None else "the table"
    names = joined(dict.fromkeys(place.entity.name for place in meant))
    return finding(
        RULE,
        read.path,
        *(place.path for place in meant),
        message=f"{shown(asked)} is asked of {where}, where {names} has {joined(written)}",
        because=f"no {asked.attribute} of {names} {'is' if is_equality(asked) else 'begins with'} "
        f"{asked.templates[0].example()}: the read finds nothing",
        repair=f"ask for {written[0]} as it is written, or write {names} as it is asked for",
        facts={"item": view.example_keys(meant[0]), "query": query_members(view, read)},
    )


RULE = Rule(
    "KEY115",
    Severity.ERROR,
    "A read asks for a key that is not written",
    check,
    prove_not_found,
    looks_at_documents=True,
)
