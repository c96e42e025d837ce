"""HOT405: a small change that is made often writes a large item, and all copies of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.workload import MONTH_S

if TYPE_CHECKING:
    from singletable.blueprint.contents import LoadBlueprint
    from singletable.blueprint.entities import EntityBlueprint
    from singletable.blueprint.patterns import PatternBlueprint, WriteBlueprint
    from singletable.blueprint.positions import Path

_SMALL_BYTES: Final = 256
_UNITS: Final = 8  # of one update: less is no large item
_COPIES: Final = 4  # of an item in indexes: less are usual
_WASTED_PER_S: Final = 300  # units a second beyond those of a small item
_WORD: Final = re.compile(r"#?\w+")


@dataclass(frozen=True)
class _Update:
    """An update that is made often: of which fields, how often a second."""

    entity: EntityBlueprint
    fields: tuple[str, ...]
    per_s: float
    paths: tuple[Path, ...]


def check(view: View) -> Iterator[Finding]:
    """Look for updates of a few bytes, at a rate, of items of many KB."""
    updates = [
        each
        for each in _updates(view)
        if each.fields and view.volume(each.entity.name) is not None and not _moves(view, each)
    ]
    if not updates:
        return
    planner = view.planner
    for each in updates:
        sizes = planner.sizes.attributes(each.entity)
        stored = [view.fields(each.entity.name)[name].stored for name in each.fields]
        changed = sum(sizes[name].mean for name in stored if name in sizes)
        call = planner.write("update", each.entity, each.fields)
        units = call.units("write", by="call").mean
        copies = sum(charge.index is not None and charge.units.mean > 0 for charge in call.charges)
        is_much = units >= _UNITS or copies >= _COPIES
        if changed <= _SMALL_BYTES and is_much and (units - 1) * each.per_s >= _WASTED_PER_S:
            yield _found(view, each, units, changed)


def _found(view: View, each: _Update, units: float, changed: float) -> Finding:
    volume = view.volume(each.entity.name)
    assert volume is not None
    indexes = list(dict.fromkeys(place.index for place in each.entity.places if place.index is not None))
    copied = f", and again in {', '.join(indexes)}" if indexes else ""
    fields = ", ".join(each.fields)
    return finding(
        RULE,
        view.entity_path(each.entity.name),
        *(view.attribute_path(each.entity.name, name) for name in each.fields),
        *each.paths,
        message=f"each change of {fields} writes a {each.entity.name} of {volume.kb:g} KB, "
        f"{each.per_s:,.4g} times a second",
        because=f"an update is charged by the size of the whole item{copied}: {units:.4g} write units for "
        f"{changed:.0f} bytes, {units * each.per_s:,.0f} units a second where a small item would take "
        f"{each.per_s:,.4g}",
        repair=f"keep {fields} in an item of its own under the same partition key, outside of the indexes, and "
        "bring it into the large one now and then",
    )


def _moves(view: View, each: _Update) -> bool:
    """Tell whether a field stands in a key of an index: then that is what is dear, and found by itself."""
    fields = view.fields(each.entity.name)
    names = {name for field in each.fields for name in (fields[field].name, fields[field].stored)}
    return any(
        slot.name in names or (slot.part is not None and slot.part.field in names)
        for place in view.places_of(each.entity.name)
        if place.index is not None
        for slot in place.slots
    )


def _updates(view: View) -> Iterator[_Update]:
    for at, pattern in enumerate(view.blueprint.patterns):
        if pattern.rps and not view.pattern_loads(pattern):
            yield from _of_pattern(view, pattern, pattern.rps, ("patterns", at))
    for at, load in enumerate(view.blueprint.loads):
        per_s = _per_s(view, load)
        if load.kind == "update" and (entity := view.entities.get(load.of)) is not None:
            fields = tuple(name for name in load.changes if name in view.fields(entity.name))
            yield _Update(entity, fields, per_s, (("loads", at),))
        elif load.kind == "pattern":
            for number, pattern in enumerate(view.blueprint.patterns):
                if load.of in (pattern.method, pattern.number):
                    yield from _of_pattern(view, pattern, per_s, ("patterns", number), ("loads", at))


def _of_pattern(view: View, pattern: PatternBlueprint, per_s: float, *paths: Path) -> Iterator[_Update]:
    for write in pattern.writes:
        entity = view.entities.get(write.entity)
        if write.operation == "UpdateItem" and entity is not None:
            yield _Update(entity, _changed(view, entity, write), per_s * write.count, paths)


def _changed(view: View, entity: EntityBlueprint, write: WriteBlueprint) -> tuple[str, ...]:
    """Return the fields that an update changes: those that are said, else those of its expression."""
    known = view.fields(entity.name)
    words = [write.names.get(word, word) for word in _WORD.findall(write.update_expression)]
    return tuple(dict.fromkeys(name for name in write.fields or words if name in known))


def _per_s(view: View, load: LoadBlueprint) -> float:
    monthly = load.monthly or (load.monthly_per_user or 0.0) * (view.blueprint.users or 0.0)
    return max(load.peak_per_s or 0.0, monthly / MONTH_S)


RULE = Rule("HOT405", Severity.WARNING, "A small change writes a large item or many copies", check)
