"""COS806: a figure of storage, of items or of a size that the volumes do not give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning import compare_documented
from singletable.planning.figure_plan import INDEX_COST
from singletable.planning.rules import OVERHEAD_BYTES
from singletable.planning.stated_numbers import agrees_with, number, shown_range
from singletable.planning.workload import Workload

if TYPE_CHECKING:
    from singletable.blueprint import FigureBlueprint
    from singletable.blueprint.positions import Path

_BYTES: Final = {"bytes": 1, "KB": 1_024, "MB": 1_024**2, "GB": 1_024**3, "TB": 1_024**4}
_TIMES: Final = 1.5  # so far apart are two estimates of what indexes cost
_NEAR: Final = 0.15  # of what is stated: 1,000 or 1,024, with or without the overhead of items
_STORED: Final = ("storage", "table storage", "index storage")


def check(view: View) -> Iterator[Finding]:
    """Compare figures that say what they measure with the volumes of the design."""
    measuring = [(at, each) for at, each in enumerate(view.blueprint.figures) if each.measures]
    if any(each.measures == INDEX_COST for _, each in measuring) and view.blueprint.loads:
        yield from _index_costs(view)
    if not measuring or not view.blueprint.volumes:
        return
    work = view.planner.workload()
    for at, figure in measuring:
        what, _, entity = figure.measures.partition(" of ")
        if what in _STORED:
            found = _storage(figure, work, {*view.entities}, what, entity, view.planner.users)
        else:
            found = _count_or_size(view, figure, what, entity)
        if found is not None:
            stated = f"{figure.name} is stated as {shown_range(figure)} {figure.unit}".strip()
            yield finding(
                RULE,
                ("figures", at),
                *_volumes(view, entity),
                message=f"{stated}, and {found[0]}",
                because=found[1],
                repair="put the figure right, or the volumes that it rests on",
            )


def _index_costs(view: View) -> Iterator[Finding]:
    """Yield what indexes are said to cost, where the loads and sizes of the design give another amount."""
    places = {figure.name: at for at, figure in enumerate(view.blueprint.figures)}
    for row in compare_documented(view.blueprint):
        figure = view.blueprint.figures[places[row.name]]
        if row.by != "plan" or figure.measures != INDEX_COST or not row.computed:
            continue
        if max(row.computed, row.stated) > _TIMES * min(row.computed, row.stated):
            yield finding(
                RULE,
                ("figures", places[row.name]),
                message=f"{row.name} is stated as {row.stated:g} {row.unit}, "
                f"and the loads give {row.computed:.3g}",
                because=row.reason,
                repair="work it out from the writes of every entity that is in an index, by the size of an entry",
            )


def _count_or_size(view: View, figure: FigureBlueprint, what: str, entity: str) -> tuple[str, str] | None:
    volume = view.volume(entity)
    if volume is None or "/" in figure.unit:
        return None
    if what == "items" and not agrees_with(figure, volume.count):
        per = f" for each {volume.per}" if volume.per else ""
        return (
            f"the design has {number(volume.count)} {entity}{per}",
            "two numbers of the same cannot both hold",
        )
    if what == "size" and figure.unit in _BYTES and volume.kb:
        each = _BYTES[figure.unit] / 1_024
        low, high = figure.value * each, (figure.upto or figure.value) * each
        if high * (1 + _NEAR) < volume.kb or low * (1 - _NEAR) > max(volume.kb, volume.upto_kb or 0):
            return (
                f"a {entity} has {volume.kb:g} KB by its volume",
                "units and storage are worked out from the size of an item: both are wrong with the wrong one",
            )
    return None


def _storage(
    figure: FigureBlueprint, work: Workload, entities: set[str], what: str, entity: str, users: float | None
) -> tuple[str, str] | None:
    unit, _, per = figure.unit.partition("/")
    divisor = _BYTES.get(unit, 0) * ((users or 0) if per == "user" else 0 if per else 1)
    parts = [part for part in work.stored if not entity or part.entity == entity]
    counted = {part.entity for part in parts if part.index is None}
    if not divisor or not parts:
        return None
    is_all = counted >= ({entity} if entity else entities)

    def held(*, in_index: bool, overhead: float) -> float:
        chosen = [part for part in parts if (part.index is not None) is in_index]
        return (
            sum(part.size.mean - part.items.mean * (OVERHEAD_BYTES - overhead) for part in chosen) / divisor
        )

    items, entries = held(in_index=False, overhead=0), held(in_index=True, overhead=0)
    wanted = {"storage": items + entries, "table storage": items, "index storage": entries}[what]
    whole = {"storage": (False, True), "table storage": (False,), "index storage": (True,)}[what]
    most = sum(held(in_index=each, overhead=OVERHEAD_BYTES) for each in whole)
    low, high = figure.value, figure.upto or figure.value
    if high * (1 + _NEAR) >= wanted and (not is_all or low * (1 - _NEAR) <= most):
        return None  # what is not counted can only make it more
    if what == "storage" and abs(items - figure.value) <= _NEAR * items:
        sizes = f"{number(items)} {unit} of items and {number(entries)} {unit} of entries"
        why = f"an index stores what it projects: {sizes} are {number(items + entries)} {unit}"
        return f"the copies in indexes take {number(entries)} {unit} more", why
    return (
        f"the volumes give {number(wanted)} {unit}",
        f"items take {number(items)} {unit}, and entries of indexes {number(entries)} {unit}",
    )


def _volumes(view: View, entity: str) -> tuple[Path, ...]:
    return tuple(
        ("volumes", at)
        for at, volume in enumerate(view.blueprint.volumes)
        if volume.entity == entity or not entity
    )


RULE = Rule("COS806", Severity.DISAGREEMENT, "A figure is not what the volumes give", check)
