"""IDX205: an index that is to hold some items of an entity holds all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from singletable.lint.bench import Bench
from singletable.lint.conditions import fields_of
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import key_fields, words
from singletable.lint.indexes import joined, readers
from singletable.lint.keys import Slot
from singletable.lint.requests import is_equality
from singletable.lint.rule import Rule, finding
from singletable.lint.states import State, says, states
from singletable.lint.view import Place, Read, View

_REMOVED: Final = re.compile(r"\b(remov\w+|while|only if|taken away|absent|left out|until)\b", re.IGNORECASE)
_REMOVED_BY: Final = re.compile(r"\bremov\w+\b", re.IGNORECASE)
_FOR_STAFF: Final = re.compile(
    r"\b(admin\w*|moderat\w+|review\w*|drafts?|all|own|hidden|deleted|job|nightly|worker)\b", re.IGNORECASE
)
_SHELVES: Final = frozenset(
    [
        "category",
        "kind",
        "type",
        "method",
        "tag",
        "topic",
        "genre",
        "section",
        "region",
        "country",
        "city",
        "language",
    ]
)
_SPARSE: Final = re.compile(r"\bsparse\b", re.IGNORECASE)


def check(view: View) -> Iterator[Finding]:
    """Look for places without a condition in indexes whose keys, names or reads speak of some items alone."""
    removed = _removed(view)
    for place in view.places:
        if place.index is None or place.index not in view.sources or place.place.when is not None:
            continue
        if _may_be_absent(view, place, removed):
            continue
        reads = _reads(view, place)
        inside = key_fields(place)
        open_states = [state for state in states(place.entity) if state.field.name not in inside]
        found = (
            _by_key(view, place, open_states)
            or _by_words(view, place, open_states, reads)
            or _by_visibility(view, place, open_states, reads)
            or _by_values(view, place, reads)
        )
        if found is not None:
            yield found


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item of another state, and look for it in the index."""
    facts = found.facts
    if not facts.get("item") or bench.put(facts["item"]) is not None:
        return None
    count = bench.send("scan", IndexName=facts["index"])["Count"]
    return f"an item with {facts['shown']} is in {facts['index']}" if count else None


def _removed(view: View) -> set[tuple[str, str]]:
    """Return the attributes that updates remove, with their entity."""
    return {
        (write.write.entity, write.write.names.get(name, name))
        for write in view.writes
        for part in re.findall(r"\bREMOVE\b([^:]*)", write.write.update_expression)
        for name in re.findall(r"#?\w+", part)
    }


def _may_be_absent(view: View, place: Place, removed: set[tuple[str, str]]) -> bool:
    """Tell whether some items lack a key of the index: by an optional field, an update, or what is said."""
    entity = place.entity
    fields = view.fields(entity.name)
    attributes = {attribute for _, attribute, _ in place.templates()}
    names = key_fields(place) | attributes
    samples = _whole_samples(view, place)
    having = [sum(name in sample for sample in samples) for name in attributes]
    return bool(
        entity.derived is not None
        or any(field.is_optional for name in names if (field := fields.get(name)) is not None)
        or any((entity.name, attribute) in removed for attribute in attributes)
        or _REMOVED.search(place.place.about)
        or _REMOVED_BY.search(entity.about)
        or any(0 < count < len(samples) for count in having)
    )


def _whole_samples(view: View, place: Place) -> list[Mapping[str, Any]]:
    """Return the samples that show keys of indexes: those of this one alone, or those of another too."""
    others = [each for each in view.places_of(place.entity.name) if each.index not in (None, place.index)]
    names = {attribute for each in others for _, attribute, _ in each.templates()}
    return [sample for sample in place.entity.samples if not names or names & set(sample)]


def _reads(view: View, place: Place) -> list[Read]:
    """Return the reads of the index that can find the entity, or that name it and do not say by which key."""
    vague = [
        read
        for read in readers(view, str(place.index))
        if not read.of("pk") and place.entity.name in read.read.entities
    ]
    return [*view.finders(place), *vague]


def _is_filtered(read: Read, state: State) -> bool:
    names = {state.field.name, state.field.stored}
    text = read.read.filter_expression
    return bool(names & fields_of(read.read.filter)) or any(name in text for name in names) or "#" in text


# --- what keys say ----------------------------------------------------------------------------------------


def _by_key(view: View, place: Place, found: list[State]) -> Finding | None:
    """Look for a state in the constant text of a key: FEED#PUBLIC, written whatever is_public says."""
    texts = [piece for _, _, t in place.templates() for piece in t.pieces if isinstance(piece, str)]
    for state in found:
        if any(says(text, state) for text in texts):
            key = next(t.text for _, _, t in place.templates() if any(says(str(p), state) for p in t.pieces))
            return _found(view, place, state, [], f"the key {key} says {' '.join(state.word)}")
    return None


# --- what names and reads say -----------------------------------------------------------------------------


def _by_words(view: View, place: Place, found: list[State], reads: list[Read]) -> Finding | None:
    """Look for states that the index, the place or a read speaks of, and that nothing looks at."""
    index = view.sources[place.index].index
    assert index is not None
    is_alone = len({each.entity.name for each in view.places_in(index.name)}) == 1
    texts = [place.place.about, *([index.name, index.about, *index.uses] if is_alone else [])]
    for state in found:
        others = [other for other in found if other.field is state.field and other is not state]
        told = [text for text in texts if says(text, state) and not any(says(text, each) for each in others)]
        asking = [
            read
            for read in reads
            if says(read.pattern.title, state)
            and not any(says(read.pattern.title, each) for each in others)
            and not _is_filtered(read, state)
            and read.read.entities in ((), (place.entity.name,))
        ]
        if asking or (told and reads and not any(_is_filtered(read, state) for read in reads)):
            words = f'"{asking[0].pattern.title}"' if asking else f'"{told[0]}"'
            return _found(view, place, state, asking or reads, f"{words} speaks of {' '.join(state.word)}")
    said = f"{place.place.about} {index.about if is_alone else ''}"
    if _SPARSE.search(said) and len(found) > 1:
        return _found(view, place, found[0], reads, f"{index.name} is said to be sparse")
    return None


def _by_visibility(view: View, place: Place, found: list[State], reads: list[Read]) -> Finding | None:
    """Look for items that are not for everybody in lists that everybody gets: of no owner, and unfiltered."""
    listed = {state.field.name for state in states(place.entity)}
    if not all(
        _is_for_all(slot) and slot.name not in listed for template in place.pk for slot in template.slots
    ):
        return None
    for state in found:
        asking = [
            read
            for read in reads
            if not _is_filtered(read, state)
            and not _FOR_STAFF.search(f"{read.pattern.title} {read.pattern.about}")
        ]
        if state.is_hidden and asking:
            what = f"not {state.word[-1][2:]}" if state.word[-1].startswith("un") else " ".join(state.word)
            told = f'"{asking[0].pattern.title}" lists what is {what} too'
            return _found(view, place, state, asking, told, what)
    return None


def _is_for_all(slot: Slot) -> bool:
    """Tell whether a list by this value is one that everybody looks through: by category or day, not by owner."""
    is_shard = slot.part is not None and slot.part.shards is not None
    return is_shard or slot.is_time or bool(_SHELVES & set(words(slot.name)))


def _found(
    view: View, place: Place, state: State, reads: list[Read], evidence: str, other: str = ""
) -> Finding:
    entity, name = place.entity.name, state.field.name
    wrong = next(
        (each for each in states(place.entity) if each.field is state.field and each != state), state
    )
    shown = f"{name} = {wrong.value if not other else state.value}"
    keep = f"{name} = {state.value}" if not other else f"{name} is not {state.value}"
    return finding(
        RULE,
        view.entity_path(entity),
        place.path,
        view.attribute_path(entity, name),
        view.index_path(place.index),
        *dict.fromkeys(read.path for read in reads),
        message=f"every {entity} is in {place.index}, whatever its {name}: {evidence}",
        because=f"{place.pk[0].text} is written always: an item with {shown} is in {place.index} too, and is "
        "returned",
        repair=f"write the keys of {place.index} only while {keep} (when, in a blueprint), and remove them with "
        f"the update that changes {name}: the index is sparse then",
        facts={"index": place.index, "item": view.example_keys(place), "shown": shown},
    )


# --- values that nobody asks for ----------------------------------------------------------------------------


def _by_values(view: View, place: Place, reads: list[Read]) -> Finding | None:
    """Look for a partition key over a few values of which reads ask for some alone."""
    if len(place.pk) != 1 or len(place.pk[0].slots) != 1 or not reads:
        return None
    slot = place.pk[0].slots[0]
    every = readers(view, str(place.index))
    if not slot.values or slot.part is not None or any(not read.of("pk") for read in every):
        return None
    keys = {place.pk[0].render({slot.name: value}): value for value in slot.values}
    asked: set[str] = set()
    for read in reads:
        for each in read.of("pk"):
            if not is_equality(each) or len(each.templates) != 1 or not each.templates[0].is_constant:
                return None
            asked.add(each.templates[0].example())
    unread = [str(value) for key, value in keys.items() if key not in asked]
    if not unread or len(unread) == len(keys):
        return None
    wanted = [str(value) for key, value in keys.items() if key in asked]
    entity = place.entity.name
    return finding(
        RULE,
        view.entity_path(entity),
        place.path,
        view.attribute_path(entity, slot.name),
        view.index_path(place.index),
        *dict.fromkeys(read.path for read in reads),
        severity=Severity.WARNING,
        message=f"every {entity} is in {place.index}, and only those with {slot.name} {joined(wanted)} are asked "
        "for",
        because=f"items with {slot.name} {joined(unread)} are copied into {place.index}, all of one value into "
        "one partition, and no pattern reads them",
        repair=f"write the keys of {place.index} only while {slot.name} is {joined(wanted, 'or')}",
        facts={
            "index": place.index,
            "item": view.example_keys(place, **{slot.name: unread[0]}),
            "shown": f"{slot.name} = {unread[0]}",
        },
    )


RULE = Rule("IDX205", Severity.ERROR, "An index is not sparse", check, prove)
