"""KEY116: what is shown of a key is not what its template gives: padding, a prefix twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.requests import prove_other_key
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View


def check(view: View) -> Iterator[Finding]:
    """Compare samples of keys with what their templates give, and samples of parameters with their place."""
    for place in view.places:
        for role, attribute, template in place.templates():
            if (found := _other(view, place, role, attribute, template)) is not None:
                yield _differs(view, place, attribute, template, *found)
    for read in view.reads:
        yield from _doubled(view, read)


def _other(view: View, place: Place, role: str, attribute: str, template: Template) -> tuple[str, str] | None:
    """Return a sample of a key, and what the template gives of the same values."""
    if not template.slots or any(slot.part is not None or slot.is_open for slot in template.slots):
        return None
    is_told = any(said.differs for said in place.place.said)  # documents have other keys: DOC901
    for sample in place.entity.samples:
        stored = sample.get(attribute)
        values = _values(template, sample)
        if isinstance(stored, str) and values is not None:
            text = template.render(values)
            if text is not None and text != stored and _is_near(text, stored):
                return stored, text
            if not is_told and not any(_fits(each, stored) for each in _written(view, place, attribute)):
                return stored, template.render(values) or template.text
    key = place.place.pk if role == "pk" else place.place.sk
    if (
        not is_told
        and key is not None
        and key.samples
        and not any(_fits(template, each) for each in key.samples)
    ):
        return key.samples[0], template.example()
    if key is None or any(len(slot.samples) != 1 for slot in template.slots):
        return None
    text = template.render({slot.name: slot.samples[0] for slot in template.slots})
    shown = [each for each in key.samples if text is not None and each != text and _is_near(text, each)]
    return (shown[0], text) if shown and text is not None and text not in key.samples else None


def _fits(template: Template, text: str) -> bool:
    """Tell whether a template can give a text, whatever the values of its slots are."""
    return (
        re.fullmatch("".join(re.escape(p) if isinstance(p, str) else ".+" for p in template.pieces), text)
        is not None
    )


def _written(view: View, place: Place, attribute: str) -> list[Template]:
    """Return the templates that an entity has for an attribute, in all its places."""
    return [
        template
        for each in view.places_of(place.entity.name)
        for _, name, template in each.templates()
        if name == attribute
    ]


def _values(template: Template, sample: Mapping[str, Any]) -> dict[str, Any] | None:
    found = {}
    for slot in template.slots:
        stored = getattr(slot.source, "stored", slot.name)
        if stored not in sample:
            return None
        found[slot.name] = sample[stored]
    return found


def _is_near(one: str, other: str) -> bool:
    """Tell whether two keys are the same but for leading zeros, and for what stands between words."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    parts = "".join(letter if letter.isalnum() else " " for letter in text).split()
    return " ".join(part.lstrip("0") or "0" for part in parts)


def _differs(view: View, place: Place, attribute: str, template: Template, shown: str, text: str) -> Finding:
    entity = place.entity.name
    named = [slot for slot in template.slots if slot.is_number][-1:]
    return finding(
        RULE,
        place.path,
        *(view.attribute_path(entity, slot.name) for slot in named or template.slots[-1:]),
        view.index_path(place.index),
        message=f"a sample of the key is {shown}, and {template.text} gives {text}",
        because=f"{shown} and {text} are two keys: what is written by one is not found by the other, and "
        "is stored twice",
        repair="put the template right, or the sample"
        if not _fits(template, shown)
        else "give the template the width that the sample has, {" + named[0].name + ":02}"
        if named
        else "normalise the value in one place, for writes and reads alike",
        facts={"attribute": attribute, "written": shown, "asked": text},
    )


def _doubled(view: View, read: Read) -> Iterator[Finding]:
    """Look for arguments that bring the prefix with them which the template has already."""
    for asked in read.asked:
        for template in asked.templates:
            for text, slot in zip(template.pieces, template.pieces[1:], strict=False):
                if isinstance(text, str) and isinstance(slot, Slot) and (value := _prefixed(text, slot)):
                    key = template.example(**{slot.name: value})
                    yield finding(
                        RULE,
                        ("patterns", view.blueprint.patterns.index(read.pattern)),
                        read.path,
                        message=f"{slot.name} is given as {value}, which has the prefix of {template.text}",
                        because=f"the key that is asked for is {key}: nothing is written there",
                        repair=f"give the bare value, {value.removeprefix(text)}, or refuse values that hold "
                        f"{text[-1]!r}",
                        facts={
                            "attribute": asked.attribute,
                            "written": template.example(**{slot.name: value.removeprefix(text)}),
                            "asked": key,
                        },
                    )


def _prefixed(text: str, slot: Slot) -> str:
    if slot.is_encoded or len(text) < 2 or not any(letter.isalnum() for letter in text):
        return ""
    return next((str(value) for value in slot.samples if str(value).startswith(text)), "")


RULE = Rule(
    "KEY116", Severity.ERROR, "A sample of a key is not what its template gives", check, prove_other_key
)
