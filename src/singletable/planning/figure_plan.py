"""What the planner has for the figures of a document: units of the loads that rest on a line, storage, sizes.

A month has 30 days and a year 365, as in documents; a KB has 1,024 bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from singletable.blueprint import Blueprint, FigureBlueprint, LoadBlueprint
from singletable.planning.amounts import Amount, total
from singletable.planning.charges import CallUnits
from singletable.planning.rules import OVERHEAD_BYTES
from singletable.planning.stated_numbers import RATE, listed, number, period_of
from singletable.planning.workload import WRITE_KINDS, Planner, StoredPart, Workload
from singletable.planning.writes import Kind

INDEX_COST: Final = "index cost"
_DAYS: Final = {"second": 1 / 86_400, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_BYTES: Final = {"bytes": 1, "KB": 1_024, "MB": 1_024**2, "GB": 1_024**3, "TB": 1_024**4}


@dataclass(frozen=True, slots=True)
class CitedLoads:
    """The loads that rest on the line of a figure: calls, requests and units in its period."""

    loads: tuple[LoadBlueprint, ...]
    direction: Literal["read", "write"]
    calls: float
    requests: float
    table: float
    indexes: float
    stream: float
    has_indexes_beside: bool  # a figure of its own states what indexes cost

    @property
    def units(self) -> float:
        """The units, but for those that are stated by themselves."""
        return self.table + self.stream + (0.0 if self.has_indexes_beside else self.indexes)

    def named(self) -> str:
        return listed([f"{load.kind} {load.of}" for load in self.loads])

    def sentence(self, period: str) -> str:
        """Say what the calls of a period take, and of what."""
        parts = [f"{number(self.table)} of the table"]
        if self.indexes:
            what = f"{number(self.indexes)} {'for entries of' if self.direction == 'write' else 'of'} indexes"
            parts.append(f"{what}, which are stated beside them" if self.has_indexes_beside else what)
        parts += [f"{number(self.stream)} behind the stream"] if self.stream else []
        return (
            f"a request is not a unit: {number(self.calls)} calls a {period} take {number(self.units)} "
            f"{self.direction} units, {', '.join(parts)}"
        )


class FigurePlan:
    """What the planner has for figures. Storage is the document's where it has volumes; calls are the design's."""

    def __init__(self, documented: Blueprint, fixed: Blueprint | None) -> None:
        built = documented if fixed is None else fixed
        stored = documented if documented.volumes and _has_entities(documented) else built
        self._built = Planner(built)
        self._stored = Planner(stored)
        self._bare = Planner(replace(stored, volumes=()))
        self._figures = documented.figures
        self._has_index_cost = any(figure.measures == INDEX_COST for figure in documented.figures)
        self._workload: Workload | None = None
        self._work_stored: Workload | None = None
        self._cited: dict[str, CitedLoads | None] = {}
        self._loads: dict[str, list[LoadBlueprint]] = {}
        for load in built.loads:
            lines = {load.because.partition(" ")[0].rstrip(",;:"), *(said.at for said in load.said)}
            for line in lines:
                self._loads.setdefault(line, []).append(load)

    def measured(self, figure: FigureBlueprint) -> tuple[float, str] | None:
        """Return what the plan has for a figure, and a sentence; None if it has nothing."""
        if (cited := self.cited(figure)) is not None:
            return cited.units, cited.sentence(period_of(figure))
        what, _, name = figure.measures.partition(" of ")
        unit, _, per = figure.unit.partition("/")
        entity = self._stored.blueprint.entity(name)
        if not figure.measures or (name and entity is None):
            return None
        match what:
            case "storage" | "table storage" | "index storage":
                if unit not in _BYTES:
                    return None
                if per == "year":
                    return self._stored_in_a_year(name, unit)
                return self._storage(name, unit, per, what)
            case "items":
                return self._items_of_a_year(name) if per == "year" else self._items(name)
            case "size" if entity is not None:
                size = self.size(figure)
                if size is None:
                    return None
                reason = f"its attributes let one expect {number(size.mean)} {unit}"
                return size.mean, f"{reason}, {number(size.low)} to {number(size.high)}"
            case _:
                return None

    def size(self, figure: FigureBlueprint) -> Amount | None:
        """Return how large an item is by its attributes, in the unit of the figure."""
        what, _, name = figure.measures.partition(" of ")
        entity = self._bare.blueprint.entity(name)
        if what != "size" or entity is None or figure.unit not in _BYTES:
            return None
        return self._bare.sizes.item(entity) * (1 / _BYTES[figure.unit])

    # --- storage

    def _work(self) -> Workload:
        if self._work_stored is None:
            self._work_stored = self._stored.workload()
        return self._work_stored

    def _storage(self, name: str, unit: str, per: str, what: str) -> tuple[float, str] | None:
        each = (self._stored.users if per == "user" else 1) if per in ("", "user") else None
        if not each:
            return None
        parts = [
            part
            for part in self._work().stored
            if (not name or part.entity.partition(",")[0] == name)
            and what != ("table storage" if part.index is not None else "index storage")
        ]
        if not parts:
            return None
        by = _BYTES[unit] * each
        items = _net([part for part in parts if part.index is None]) / by
        entries = _net([part for part in parts if part.index is not None]) / by
        overhead = sum(part.items.mean for part in parts) * OVERHEAD_BYTES / by
        said = [f"items take {number(items)} {unit}"] if what != "index storage" else []
        if entries:
            more = f" ({entries / items:.0%} more)" if items else ""
            said.append(f"entries of indexes {number(entries)} {unit}{more}")
        said.append(f"the overhead of {OVERHEAD_BYTES} bytes for each {number(overhead)} {unit}")
        return items + entries + overhead, ", ".join(said)

    def _items(self, name: str) -> tuple[float, str] | None:
        volume = next((each for each in self._stored.blueprint.volumes if each.entity == name), None)
        if volume is None:
            return None
        per = f" for each {volume.per}" if volume.per else ""
        return volume.count, f"the design has {number(volume.count)} {name}{per}"

    def _items_of_a_year(self, name: str) -> tuple[float, str] | None:
        monthly = sum(
            load.monthly or 0.0
            for load in self._built.blueprint.loads
            if load.kind == "create" and load.of == name
        )
        if not monthly:
            return None
        found = monthly / _DAYS["month"] * _DAYS["year"]
        return (
            found,
            f"the design writes {number(found)} new items of {name} a year: what they hold is no item",
        )

    def _stored_in_a_year(self, name: str, unit: str) -> tuple[float, str] | None:
        found, entity = self._items_of_a_year(name), self._built.blueprint.entity(name)
        if found is None or entity is None:
            return None
        one = self._built.sizes.item(entity).mean
        count = self._built.counts.count(name)
        at_once = f"; {number(count)} of them are stored at a time" if count is not None else ""
        size = found[0] * one / _BYTES[unit]
        return size, (
            f"{number(found[0])} items of {name} are written in a year, of {number(one / 1_024)} KB each: "
            f"{number(size)} {unit}{at_once}"
        )

    # --- indexes

    def _built_workload(self) -> Workload:
        if self._workload is None:
            self._workload = self._built.workload()
        return self._workload

    def index_units_month(self) -> float:
        """Return the write units of all indexes in a month: of the writes that the document counts, if it does."""
        cited = [self.cited(figure) for figure in self._figures]
        loads = {(load.kind, load.of) for each in cited if each is not None for load in each.loads}
        return sum(
            charge.units.mean * line.calls_month
            for line in self._built_workload().lines
            if not loads or (line.kind, line.of) in loads
            for charge in line.call.charges
            if charge.direction == "write" and charge.index is not None
        )

    def index_gb(self) -> float:
        """Return what all indexes store."""
        parts = [part.size for part in self._built_workload().stored if part.index is not None]
        return total(parts).mean / _BYTES["GB"]

    # --- calls

    def cited(self, figure: FigureBlueprint) -> CitedLoads | None:
        """Return the loads that rest on a line of a figure that states a rate."""
        if figure.name not in self._cited:
            self._cited[figure.name] = self._find_cited(figure)
        return self._cited[figure.name]

    def _find_cited(self, figure: FigureBlueprint) -> CitedLoads | None:
        rate = RATE.fullmatch(figure.unit)
        if rate is None:
            return None
        found = [load for said in figure.said for load in self._loads.get(said.at, ())]
        writes = [load for load in found if load.kind in WRITE_KINDS]
        reads = [load for load in found if load.kind == "pattern"]
        is_write = rate[1] == "writes" or (rate[1] == "requests" and bool(writes))
        loads = [(load, call) for load in (writes if is_write else reads) if (call := self._call(load))]
        if not loads:
            return None
        share = _DAYS[rate[2]] / _DAYS["month"]
        direction: Literal["read", "write"] = "write" if is_write else "read"

        def units(has: Callable[[str | None, str], bool]) -> float:
            return share * sum(
                (load.monthly or 0.0) * charge.units.mean
                for load, call in loads
                for charge in call.charges
                if charge.direction == direction and has(charge.index, charge.by)
            )

        return CitedLoads(
            tuple(load for load, _ in loads),
            direction,
            share * sum(load.monthly or 0.0 for load, _ in loads),
            share * sum((load.monthly or 0.0) * self._requests(load) for load, _ in loads),
            units(lambda index, by: index is None and by == "call"),
            units(lambda index, by: index is not None),
            units(lambda index, by: index is None and by == "stream"),
            is_write and self._has_index_cost,
        )

    def _call(self, load: LoadBlueprint) -> CallUnits | None:
        if load.kind == "pattern":
            pattern = self._built.find_pattern(load.of)
            return None if pattern is None else self._built.pattern(pattern)
        entity = self._built.blueprint.entity(load.of)
        if entity is None:
            return None
        kind: Kind = "create" if load.kind == "create" else "update" if load.kind == "update" else "delete"
        return self._built.write(kind, entity)

    def _requests(self, load: LoadBlueprint) -> int:
        pattern = self._built.find_pattern(load.of) if load.kind == "pattern" else None
        if pattern is None:
            return 1
        return sum(read.count for read in pattern.reads) + len(pattern.writes)


def _has_entities(blueprint: Blueprint) -> bool:
    return all(blueprint.entity(volume.entity) is not None for volume in blueprint.volumes)


def _net(parts: list[StoredPart]) -> float:
    return sum(part.size.mean - part.items.mean * OVERHEAD_BYTES for part in parts)
