"""KEY108: two entities write one key, so that an item of one replaces that of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from typing import Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import is_of, is_own, stem, words
from singletable.lint.keys import Slot, Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_SAMPLES_MAX: Final = 4
_UNIQUE: Final = ("uuid", "ulid")

Key = tuple[str, ...]


def check(view: View) -> Iterator[Finding]:
    """Look for entities whose templates, with values that the design shows or must have, give one key."""
    shapes: dict[tuple[tuple[str | None, ...], ...], list[Place]] = defaultdict(list)
    for place in view.places_in(None):
        shapes[tuple(_shape(template) for template in (*place.pk, *place.sk))].append(place)
    for places in shapes.values():
        for one, other in combinations(places, 2):
            if one.entity is other.entity or _is_same_item(one, other):
                continue
            if (key := _shown(one, other)) is not None or (key := _sure(view, one, other)) is not None:
                yield _found(view, one, other, key)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item of each, and count what is there."""
    key = found.facts["key"]
    for entity in found.facts["entities"]:
        if bench.put({**key, "proof": entity}) is not None:
            return None
    items = bench.send("scan")["Items"]
    left = items[0]["proof"]["S"] if len(items) == 1 else ""
    return f"of two puts, one item is left: that of {left}" if left else None


def _shape(template: Template) -> tuple[str | None, ...]:
    return tuple(piece if isinstance(piece, str) else None for piece in template.pieces)


def _is_same_item(one: Place, other: Place) -> bool:
    """Tell whether one entity is made from the other, or another state of it: they may share an item."""
    derived = one.entity.derived, other.entity.derived
    names = one.entity.name, other.entity.name
    return any(each is not None and each.of in names for each in derived)


def _slots(one: Place, other: Place) -> list[tuple[Slot, Slot]]:
    """Return the slots of both that stand at the same place; each pair of names once."""
    pairs = zip(one.slots, other.slots, strict=True)
    return list({(first.name, second.name): (first, second) for first, second in pairs}.values())


def _shown(one: Place, other: Place) -> Key | None:
    """Return a key that samples of both give."""
    keys = _sampled(one) & _sampled(other)
    return min(keys) if keys else None


def _sampled(place: Place) -> set[Key]:
    slots = {slot.name: slot for slot in place.slots}
    if any(not slot.samples for slot in slots.values()):
        return set()
    found: set[Key] = set()
    for values in product(*(slot.samples[:_SAMPLES_MAX] for slot in slots.values())):
        chosen = dict(zip(slots, values, strict=True))
        found.add(tuple(template.example(**chosen) for template in (*place.pk, *place.sk)))
    return found


def _sure(view: View, one: Place, other: Place) -> Key | None:
    """Return a key that both must write: of one identifier that both belong to, or of numbers counted apart."""
    pairs = _slots(one, other)
    is_one = all(first.name == second.name for first, second in pairs) and (
        all(is_of(view, first) for first, _ in pairs) or _is_relation(one, other)
    )
    is_counted = bool(pairs) and all(
        first.is_number and second.is_number and first.format == second.format == ""
        for first, second in pairs
    )
    if is_one or is_counted:
        return tuple(template.example() for template in (*one.pk, *one.sk))
    return None


def _is_relation(one: Place, other: Place) -> bool:
    """Tell whether a key names two things that are neither entity: who likes whom, in two ways."""
    names = list(dict.fromkeys(slot.name for slot in one.slots))
    own = any(is_own(place.entity, name) for place in (one, other) for name in names)
    text = "".join(piece for template in one.sk for piece in template.pieces if isinstance(piece, str))
    return len(names) > 1 and not own and (stem(names[-1]) or "-") not in "".join(words(text))


def _found(view: View, one: Place, other: Place, key: Key) -> Finding:
    first, second = one.entity.name, other.entity.name
    names = [attribute for _, attribute, _ in one.templates()]
    shown = " and ".join(key)
    return finding(
        RULE,
        view.entity_path(first),
        view.entity_path(second),
        one.path,
        other.path,
        message=f"{first} and {second} have one key: {' and '.join(t.text for t in (*one.pk, *one.sk))}"
        + ("" if one.pk[0].text == other.pk[0].text else f", and {other.pk[0].text} as {second} writes it"),
        because=f"an item of {first} and one of {second} can have the key {shown}: a put of one replaces the "
        "other",
        repair=f"write what the item is into its key: {first.upper()} and {second.upper()} before the id, or "
        "in the sort key",
        facts={"key": dict(zip(names, key, strict=False)), "entities": (first, second)},
    )


RULE = Rule("KEY108", Severity.ERROR, "Two entities have one key", check, prove)
