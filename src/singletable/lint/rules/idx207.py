"""IDX207: an index key changes so often that its rewriting is what the index costs."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.identity import key_fields
from singletable.lint.indexes import changes_per_s, entry_kb, joined
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

if TYPE_CHECKING:
    from singletable.blueprint.entities import AggregateBlueprint
    from singletable.blueprint.positions import Path
    from singletable.blueprint.tables import IndexBlueprint

_UNITS_PER_S: Final = 1000.0  # as many as one partition takes
_LARGE_KB: Final = 3.0  # copies that are much larger than what changes
_LARGE_UNITS_PER_S: Final = 100.0
_PER_MONTH: Final = 20_000.0  # of one item: every two minutes


def check(view: View) -> Iterator[Finding]:
    """Look for keys of indexes that are rewritten all the time, and for averages in them."""
    for place in view.places:
        source = view.sources.get(place.index)
        if source is None or source.index is None or source.index.is_local:
            continue
        kb = entry_kb(view, source.index, place.entity)
        rated = {name: changes_per_s(view, place.entity, name) for name in key_fields(place)}
        per_s, paths = max(rated.values(), key=lambda each: each[0], default=(0.0, []))
        units = per_s * 2 * ceil(kb or 1.0)
        often = _often(view, place)
        if units >= _UNITS_PER_S or (kb is not None and kb > _LARGE_KB and units >= _LARGE_UNITS_PER_S):
            names = sorted(name for name, (rate, _) in rated.items() if rate)
            yield _hot(view, place, source.index, names, per_s, units, kb, paths)
        elif often:
            yield _changing(view, place, often)
        elif (average := _average(place)) is not None:
            yield _averaged(view, place, average)


def _often(view: View, place: Place) -> list[str]:
    fields = view.fields(place.entity.name)
    return sorted(
        name
        for name in key_fields(place)
        if (field := fields.get(name)) is not None and (field.updates_per_month or 0.0) >= _PER_MONTH
    )


def _average(place: Place) -> AggregateBlueprint | None:
    """Return an average of other items that stands in a key as it is, to its last digit."""
    whole = {slot.name for slot in place.slots if not slot.spec and slot.part is None}
    return next(
        (each for each in place.entity.aggregates if each.kind == "average" and each.field in whole), None
    )


def _hot(
    view: View,
    place: Place,
    index: IndexBlueprint,
    names: list[str],
    per_s: float,
    units: float,
    kb: float | None,
    paths: list[Path],
) -> Finding:
    entity = place.entity.name
    size = f"{kb:g} KB" if kb is not None else "up to 1 KB"
    return finding(
        RULE,
        view.index_path(place.index),
        place.path,
        *(view.attribute_path(entity, name) for name in names),
        *paths,
        message=f"{joined(names)} in the keys of {place.index} changes {per_s:,.4g} times a second",
        because=f"each change deletes the entry of {entity} from {place.index} and puts another of {size}: "
        f"{units:,.0f} write units a second beside those of the table",
        repair="sort by what stays, write the key in coarser steps and only when the step changes, or move what "
        "changes into a small item of its own; project less than "
        + ("ALL" if index.projection == "ALL" else index.projection),
    )


def _changing(view: View, place: Place, names: list[str]) -> Finding:
    entity = place.entity.name
    most = max(view.fields(entity)[name].updates_per_month or 0.0 for name in names)
    return finding(
        RULE,
        view.index_path(place.index),
        place.path,
        *(view.attribute_path(entity, name) for name in names),
        message=f"{joined(names)} in the keys of {place.index} changes {most:,.0f} times a month for each item",
        because=f"each change deletes the entry of {entity} from {place.index} and puts another: two writes more "
        f"than that of the item, {2 * most:,.0f} a month for each",
        repair="sort by what stays, or write the key in coarser steps and only when the step changes",
    )


def _averaged(view: View, place: Place, average: AggregateBlueprint) -> Finding:
    entity = place.entity.name
    return finding(
        RULE,
        view.attribute_path(entity, average.field),
        place.path,
        view.index_path(place.index),
        message=f"{average.field}, an average over {average.of}, stands in a key of {place.index} to its last "
        "digit",
        because=f"nearly every new {average.of} moves it: the entry of {entity} is deleted and put again, two "
        f"writes in {place.index} each time, for a change that nobody sees",
        repair=f"write {average.field} into the key in steps, as 4.5, and only when the step changes; keep the "
        "exact value in an attribute",
    )


RULE = Rule("IDX207", Severity.WARNING, "An index key changes often", check)
