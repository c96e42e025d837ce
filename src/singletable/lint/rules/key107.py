"""KEY107: two values of a key may both hold the text between them, so that two keys are one."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View


def check(view: View) -> Iterator[Finding]:
    """Look for two slots with a separator between them that is among the values of both."""
    for place in view.places:
        if place.index is not None:
            continue  # two entries of an index may have one key
        for _, _, template in place.templates():
            for before, separator, after in _neighbours(template):
                if shown := _shown(before, separator, after):
                    yield _found(view, place, template, before, separator, after, shown)


def _neighbours(template: Template) -> Iterator[tuple[Slot, str, Slot]]:
    for before, separator, after in zip(
        template.pieces, template.pieces[1:], template.pieces[2:], strict=False
    ):
        if isinstance(before, Slot) and isinstance(separator, str) and isinstance(after, Slot):
            yield before, separator, after


def _shown(before: Slot, separator: str, after: Slot) -> tuple[str, str, str, str] | None:
    """Return two pairs of values with one text, of samples that hold the separator; None if none do."""
    if before.is_encoded or after.is_encoded or before.is_time or after.is_time:
        return None
    if before.width or after.width or before.is_number or after.is_number:
        return None
    firsts = [str(value) for value in before.samples]
    seconds = [str(value) for value in after.samples]
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
    return None


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
    return finding(
        RULE,
        place.path,
        view.attribute_path(entity, before.name),
        view.attribute_path(entity, after.name),
        message=f"{before.name} and {after.name} can hold the {separator!r} that parts them in {template.text}",
        because=(
            f"{shown[0]} with {shown[1]}, and {shown[2]} with {shown[3]}, are both {key}: "
            "one item overwrites the other"
        ),
        repair="use a separator that no value holds, and refuse values with it; or escape it",
    )


RULE = Rule("KEY107", Severity.ERROR, "Values of a key hold its separator", check)
