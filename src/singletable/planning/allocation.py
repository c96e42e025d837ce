"""Whose costs they are: the bill of a month, divided among calls, the table and its indexes, and entities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from singletable.blueprint import Blueprint
from singletable.planning.billing import Bill, Usage
from singletable.planning.charges import Charge
from singletable.planning.usage import GB, is_recovered
from singletable.planning.workload import StoredPart, Workload

TABLE: Final = "table"  # the name of the table itself, beside those of its indexes
READS: Final = "reads"
WRITES: Final = "writes"
TABLE_WRITES: Final = "table writes"
# Which units the lines of a bill are for; all others are no units of calls.
FOR_UNITS: Final[Mapping[str, str]] = {
    "reads": READS,
    "read capacity": READS,
    "reserved read capacity": READS,
    "writes": WRITES,
    "write capacity": WRITES,
    "reserved write capacity": WRITES,
    "replicated writes": TABLE_WRITES,
    "replicated write capacity": TABLE_WRITES,
}


@dataclass(frozen=True, slots=True)
class Part:
    """What the table, an index or an entity costs in a month, in USD."""

    name: str
    reads: float = 0.0
    writes: float = 0.0
    stored: float = 0.0

    @property
    def usd(self) -> float:
        """All of it."""
        return self.reads + self.writes + self.stored


@dataclass(frozen=True, slots=True)
class Rates:
    """What a unit costs in USD by this bill: of reading, of writing the table, of writing an index."""

    read: float
    table_write: float
    index_write: float
    stored_gb: float
    recovered_gb: float  # point-in-time recovery and backups, of the table and its local indexes

    def of(self, charge: Charge) -> float:
        """Return what a unit of a charge costs."""
        if charge.direction == "read":
            return self.read
        return self.table_write if charge.index is None else self.index_write


def rates_of(bill: Bill, usage: Usage, recovered_gb: float) -> Rates:
    """Return what each unit has cost by a bill; so many GB can be recovered, from the log or a backup."""
    spent: dict[str, float] = {}
    for line in bill.lines:
        kind = FOR_UNITS.get(line.what, line.what)
        spent[kind] = spent.get(kind, 0.0) + line.usd

    def each(kind: str, units: float) -> float:
        return spent.get(kind, 0.0) / units if units else 0.0

    writes = each(WRITES, usage.write_units_month)
    table_writes = each(TABLE_WRITES, usage.replicated_writes_month) if usage.replicas else writes
    kept_usd = sum(spent.get(what, 0.0) for what in ("point-in-time recovery", "on-demand backups"))
    return Rates(
        read=each(READS, usage.read_units_month),
        table_write=table_writes,
        index_write=writes,
        stored_gb=each("storage", usage.storage_gb),
        recovered_gb=kept_usd / recovered_gb if recovered_gb else 0.0,
    )


def by_index(blueprint: Blueprint, workload: Workload, rates: Rates) -> tuple[Part, ...]:
    """Divide the bill among the table and its indexes."""
    names = (None, *(index.name for index in blueprint.indexes))
    spent = _Spent(rates)
    for line in workload.lines:
        for charge in line.call.charges:
            spent.charge(charge.index or TABLE, charge, line.calls_month)
    for part in workload.stored:
        spent.stored(part.index or TABLE, part, is_recovered=is_recovered(blueprint, part))
    return spent.parts(name or TABLE for name in names)


def by_entity(blueprint: Blueprint, workload: Workload, rates: Rates) -> tuple[Part, ...]:
    """Divide the bill among entities."""
    spent = _Spent(rates)
    for line in workload.lines:
        for charge in line.call.charges:
            names = _names(charge)
            for name in names:
                spent.charge(name, charge, line.calls_month / len(names))
    for part in workload.stored:
        name = part.entity.partition(", locks of ")[0]
        spent.stored(name, part, is_recovered=is_recovered(blueprint, part))
    return spent.parts(entity.name for entity in blueprint.entities)


def _names(charge: Charge) -> list[str]:
    return [name for name in charge.entity.split(", ") if name] or ["any"]


class _Spent:
    """Adds up what names have cost."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._found: dict[str, list[float]] = {}

    def charge(self, name: str, charge: Charge, times: float) -> None:
        usd = charge.units.mean * self._rates.of(charge) * times
        self._of(name)[0 if charge.direction == "read" else 1] += usd

    def stored(self, name: str, part: StoredPart, *, is_recovered: bool) -> None:
        usd = self._rates.stored_gb + (self._rates.recovered_gb if is_recovered else 0.0)
        self._of(name)[2] += part.size.mean / GB * usd

    def parts(self, names: Iterable[str]) -> tuple[Part, ...]:
        """Return the parts, the most expensive first; those that cost nothing too, if they are expected."""
        known = dict.fromkeys([*names, *(name for name, usd in self._found.items() if math.fsum(usd))])
        found = [Part(name, *self._of(name)) for name in known if name]
        return tuple(sorted(found, key=lambda part: (-part.usd, part.name)))

    def _of(self, name: str) -> list[float]:
        return self._found.setdefault(name, [0.0, 0.0, 0.0])


def divided(workload: Workload) -> Iterator[str]:
    """Say how what several entities share is divided."""
    if any(len(_names(charge)) > 1 for line in workload.lines for charge in line.call.charges):
        yield "by entity, a read of several entities at once counts for each of them in equal parts"
