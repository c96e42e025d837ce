"""KEY114: a key can be longer than keys may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_LIMITS: Final = {"pk": 2048, "sk": 1024}
_NAMES: Final = {"pk": "partition key", "sk": "sort key"}


def check(view: View) -> Iterator[Finding]:
    """Look for keys whose values may be so long that DynamoDB refuses them."""
    for place in view.places:
        for role, attribute, template in place.templates():
            lengths = [(slot, _length(slot)) for slot in template.slots]
            constant = sum(len(piece.encode()) for piece in template.pieces if isinstance(piece, str))
            length = constant + sum(known for _, known in lengths if known is not None)
            if length > _LIMITS[role] and lengths:
                longest = max(lengths, key=lambda each: each[1] or 0)[0]
                yield _found(view, place, role, attribute, template, longest, length)


def prove(found: Finding, bench: Bench) -> str | None:
    """Put an item with the longest value."""
    refusal = bench.put(found.facts["item"]) if found.facts.get("item") else None
    return f"the put is refused: {refusal}" if refusal is not None else None


def _length(slot: Slot) -> int | None:
    """Return how many bytes its longest value has at least, as far as that is said."""
    if slot.is_encoded or slot.is_number or slot.is_time:
        return None
    said = getattr(slot.source, "max_length", None), getattr(slot.source, "size_bytes", None)
    samples = [len(str(value).encode()) for value in slot.samples]
    return max([int(each) for each in said if each is not None] + samples, default=None)


def _found(
    view: View, place: Place, role: str, attribute: str, template: Template, slot: Slot, length: int
) -> Finding:
    where = "the table" if place.index is None else str(place.index)
    most = _LIMITS[role]
    return finding(
        RULE,
        view.attribute_path(place.entity.name, slot.name),
        place.path,
        view.index_path(place.index),
        message=f"{attribute}, the {_NAMES[role]} of {where}, can have {length:,} bytes in "
        f"{place.entity.name}, and {most:,} are the limit",
        because=f"{slot.name} can have {_length(slot):,} characters, of a byte or more each: the put of such an "
        "item is refused" + ("" if place.index is None else ", though the table could hold it"),
        repair=f"limit {slot.name}, or write its first 200 characters, or a hash, into the key and keep "
        "the whole value in an attribute of its own",
        facts={"item": view.example_keys(place, **{slot.name: "x" * (_length(slot) or 0)})},
    )


RULE = Rule("KEY114", Severity.ERROR, "A key can be longer than keys may be", check, prove)
