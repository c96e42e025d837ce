"""KEY106: times in one key are written with and without milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.requests import prove_other_key, queries, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Place, Read, View

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(?P<fraction>\d+))?(?:Z|[+-]\d\d:?\d\d)?")
_FORMATS: Final = {"iso-8601": 0, "iso-8601-ms": 3, "iso-8601-us": 6}
_EPOCHS: Final = {"epoch-seconds": "seconds", "epoch-ms": "milliseconds"}
_SHOWN: Final = {
    0: "2026-05-04T16:20:05Z",
    3: "2026-05-04T16:20:05.000Z",
    6: "2026-05-04T16:20:05.000000Z",
    "seconds": "1777911605",
    "milliseconds": "1777911605000",
}


def check(view: View) -> Iterator[Finding]:
    """Look for times that a key has in two precisions, and for bounds of another precision than the keys."""
    for place in view.places:
        for role, _, template in place.templates():
            for slot in template.slots if role == "sk" else ():
                if not slot.is_encoded and len(sampled := _sampled(slot)) > 1:
                    yield _mixed(view, place, template, slot, sampled)
    for read in queries(view):
        for asked in read.of("sk"):
            yield from _bounds(view, read, asked)
        yield from _together(view, read)


def _precision(slot: Slot) -> int | str | None:
    """Return how many digits follow the seconds, or the unit of an epoch; None if it is no time, or unknown."""
    if len(found := _sampled(slot)) == 1:
        return found.pop()  # "iso-8601" may be said of either
    return _FORMATS.get(slot.format, _EPOCHS.get(slot.format)) if not found else None


def _sampled(slot: Slot) -> set[int]:
    """Return the digits behind the seconds that samples have; those of one second say it of themselves."""
    matches = (_TIME.fullmatch(str(value)) for value in slot.samples)
    return {len(found["fraction"] or "") for found in matches if found is not None}


def _mixed(view: View, place: Place, template: Template, slot: Slot, sampled: set[int]) -> Finding:
    attribute = next(name for _, name, each in place.templates() if each is template)
    few, many = _SHOWN[min(sampled)], str(_SHOWN[3]).replace("000", "0" * max(sampled))
    return finding(
        RULE,
        view.attribute_path(place.entity.name, slot.name),
        place.path,
        message=f"{slot.name} stands in {template.text} with {min(sampled)} and with {max(sampled)} digits behind "
        "the seconds",
        because=f"{many} sorts before {few}: '.' is less than 'Z', so that what is later comes first",
        repair=f"write {slot.name} in one precision everywhere, with milliseconds, and rewrite old keys",
        facts=_facts(attribute, template.example(**{slot.name: few}), template.example(**{slot.name: many})),
    )


def _bounds(view: View, read: Read, asked: Asked) -> Iterator[Finding]:
    for place in view.found_by(read) if read.of("pk") else ():
        if place.entity.name not in read.read.entities or len(place.sk) != 1:
            continue
        for template in asked.templates:
            for bound, written in _aligned(template, place.sk[0]):
                mine, theirs = _precision(bound), _precision(written)
                if (
                    mine is None
                    or theirs is None
                    or mine == theirs
                    or isinstance(mine, str) != isinstance(theirs, str)
                ):
                    continue
                yield _found(view, read, asked, place, template, bound, written, (mine, theirs))
                return


def _together(view: View, read: Read) -> Iterator[Finding]:
    """Look for entities that one query lists together, in the order of times that they write differently."""
    if read.read.means is None and not any(
        asked.operator.strip().lower() == "between" for asked in read.of("sk")
    ):
        return
    named = [place for place in view.found_by(read) if place.entity.name in read.read.entities]
    places = [place for place in named if len(place.sk) == 1]
    for one, other in combinations(places, 2):
        for first, second in _aligned(one.sk[0], other.sk[0]):
            mine, theirs = _precision(first), _precision(second)
            if mine is None or theirs is None or mine == theirs or one.entity is other.entity:
                continue
            keys = (
                one.sk[0].example(**{first.name: _SHOWN[mine]}),
                other.sk[0].example(**{second.name: _SHOWN[theirs]}),
            )
            yield finding(
                RULE,
                read.path,
                one.path,
                other.path,
                message=f"{one.entity.name} writes {first.name} as {_SHOWN[mine]}, and {other.entity.name} "
                f"{second.name} as {_SHOWN[theirs]}, and pattern {read.pattern.number} lists both",
                because=f"{max(keys)} sorts after {min(keys)}, though both are of one second: which is first "
                "there says nothing of the time",
                repair=f"write {first.name} and {second.name} in one precision, with milliseconds",
                facts=_facts(read.source.sk[0] if read.source is not None else "", *keys),
            )
            return


def _facts(attribute: str, written: str, asked: str) -> dict[str, str]:
    return {"attribute": attribute, "written": written, "asked": asked}


def _aligned(asked: Template, written: Template) -> Iterator[tuple[Slot, Slot]]:
    """Yield the slots of both that stand at one place: constant text before them is the same."""
    for one, other in zip(asked.pieces, written.pieces, strict=False):
        if isinstance(one, Slot) and isinstance(other, Slot):
            if not one.is_encoded and not other.is_encoded:
                yield one, other
        elif one != other:
            return


def _found(
    view: View,
    read: Read,
    asked: Asked,
    place: Place,
    template: Template,
    bound: Slot,
    written: Slot,
    precisions: tuple[int | str, int | str],
) -> Finding:
    mine, theirs = (_SHOWN[each] for each in precisions)
    key = place.sk[0].example(**{written.name: theirs})
    is_more = len(mine) > len(theirs)
    if isinstance(precisions[0], str):
        because = f"{mine} and {theirs} are one moment: the range finds nothing, or everything"
    elif is_more:
        because = (
            f"{template.example(**{bound.name: mine})} sorts before {key}, the same second: an item at the "
        )
        because += "upper bound is missed, and one at the lower bound is found too early"
    else:
        because = (
            f"{key} sorts before {template.example(**{bound.name: mine})}, the same second: items of the "
        )
        because += "second of the lower bound are missed"
    return finding(
        RULE,
        read.path,
        view.attribute_path(place.entity.name, written.name),
        place.path,
        message=f"{shown(asked)} gives {bound.name} as {bound.format or mine}, and keys have {written.name} as "
        f"{written.format or theirs}",
        because=because,
        repair=f"write {written.name} and {bound.name} in one precision, and round bounds to it",
        facts=_facts(asked.attribute, key, template.example(**{bound.name: mine})),
    )


RULE = Rule("KEY106", Severity.ERROR, "Times in keys have different precisions", check, prove_other_key)
