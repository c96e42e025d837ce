"""KEY107: two values of a key may both hold the text between them, so that two keys are one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import words
from singletable.lint.keys import Slot, Template
from singletable.lint.requests import prove_overwritten
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_FREE: Final = {"slug": "-", "email": "-_.", "url": "-_./:#"}


def check(view: View) -> Iterator[Finding]:
    """Look for two slots with a separator between them that is among the values of both."""
    for place in view.places:
        for role, _, template in place.templates():
            if place.index is not None and role == "sk":
                continue  # two entries of an index may have one key, and are told apart
            for before, separator, after in _neighbours(template):
                if shown := _shown(before, separator, after):
                    yield _found(view, place, template, before, separator, after, shown)


def _neighbours(template: Template) -> Iterator[tuple[Slot, str, Slot]]:
    for before, separator, after in zip(
        template.pieces, template.pieces[1:], template.pieces[2:], strict=False
    ):
        if isinstance(before, Slot) and isinstance(separator, str) and isinstance(after, Slot):
            yield before, separator, after
    for before, after in pairwise(template.pieces):
        if isinstance(before, Slot) and isinstance(after, Slot):
            yield before, "", after


def _shown(before: Slot, separator: str, after: Slot) -> tuple[str, str, str, str] | None:
    """Return two pairs of values with one text, of samples that hold the separator; None if none do."""
    if before.is_encoded or after.is_encoded or before.is_time or after.is_time:
        return None
    if before.width or after.width or before.spec or after.spec or _is_derived(before) or _is_derived(after):
        return None
    if not separator:
        return _run_together(before, after)
    if before.is_number or after.is_number:
        return None
    firsts = [str(value) for value in before.samples]
    seconds = [str(value) for value in after.samples]
    if _is_one_kind(before, after):
        firsts = seconds = list(dict.fromkeys([*firsts, *seconds]))
    texts: dict[str, tuple[str, str]] = {}
    for one in firsts:
        for two in seconds:
            text = f"{one}{separator}{two}"
            if texts.setdefault(text, (one, two)) != (one, two):
                return (*texts[text], one, two)
    for one in firsts:
        head, _, tail = one.partition(separator)
        if tail and head and any(separator in two for two in seconds):
            return one, seconds[0], head, f"{tail}{separator}{seconds[0]}"
    held = next((one for one in (*firsts, *seconds) if separator in one.strip(separator)), None)
    is_open = [_may_hold(each, separator) or (held and _is_free(each)) for each in (before, after)]
    if all(is_open) or (held and any(is_open)):
        one, _, two = (held or f"a{separator}b").partition(separator)
        return f"{one}{separator}{two}", "c", one, f"{two}{separator}c"
    return None


def _is_derived(slot: Slot) -> bool:
    return slot.part is not None and (slot.part.shards is not None or slot.part.bucket is not None)


def _may_hold(slot: Slot, separator: str) -> bool:
    """Tell whether the format of a slot says that its values hold a separator: a slug has dashes."""
    return not slot.samples and slot.format in _FREE and separator in _FREE[slot.format]


def _is_free(slot: Slot) -> bool:
    """Tell whether nothing is said of the text that a slot holds: it can hold what its neighbour holds."""
    return slot.type in ("str", "string") and not slot.format and not slot.samples


def _is_one_kind(before: Slot, after: Slot) -> bool:
    """Tell whether two slots hold values of one kind, by their names: user_a and user_b, from_city and to_city."""
    one, two = words(before.name), words(after.name)
    is_named = len(one) == len(two) > 1 and (one[:-1] == two[:-1] or one[1:] == two[1:])
    return is_named and before.type == after.type and before.format == after.format


def _run_together(before: Slot, after: Slot) -> tuple[str, str, str, str] | None:
    """Return two pairs of values that are one text with nothing between them."""
    if before.is_number and after.is_number:
        return "1", "11", "11", "1"
    ends = {str(value) for value in before.samples}
    for one in ends:
        for two in {str(value) for value in after.samples}:
            for at in range(1, len(two)):
                if one + two[:at] in ends:
                    return one, two, one + two[:at], two[at:]
    if before.samples or after.samples or before.is_number or after.is_number:
        return None
    return "ab", "c", "a", "bc"


def _found(
    view: View,
    place: Place,
    template: Template,
    before: Slot,
    separator: str,
    after: Slot,
    shown: tuple[str, str, str, str],
) -> Finding:
    key = template.example(**{before.name: shown[0], after.name: shown[1]})
    entity = place.entity.name
    attribute = next(name for _, name, each in place.templates() if each is template)
    return finding(
        RULE,
        place.path,
        view.attribute_path(entity, before.name),
        view.attribute_path(entity, after.name),
        message=f"{before.name} and {after.name} can hold the {separator!r} that parts them in {template.text}"
        if separator
        else f"{before.name} and {after.name} stand in {template.text} with nothing between them",
        because=(
            f"{shown[0]} with {shown[1]}, and {shown[2]} with {shown[3]}, are both {key}: "
            + (
                "one item overwrites the other"
                if place.index is None
                else "a query for one finds the other too"
            )
        ),
        repair="use a separator that no value holds, and refuse values with it; or escape it",
        facts={"attribute": attribute, "key": key},
    )


RULE = Rule("KEY107", Severity.ERROR, "Values of a key hold its separator", check, prove_overwritten)
