"""The units that a request consumed, by table and index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


def _no_units() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass(slots=True, kw_only=True)
class Consumed:
    """What one table and its indexes had to do for a request."""

    table: str
    table_units: float = 0.0
    local_units: defaultdict[str, float] = field(default_factory=_no_units)
    global_units: defaultdict[str, float] = field(default_factory=_no_units)

    @property
    def total(self) -> float:
        return self.table_units + sum(self.local_units.values()) + sum(self.global_units.values())

    def add_index(self, name: str, units: float, *, is_global: bool) -> None:
        if units:
            (self.global_units if is_global else self.local_units)[name] += units

    def add(self, other: Consumed) -> None:
        self.table_units += other.table_units
        for name, units in other.local_units.items():
            self.local_units[name] += units
        for name, units in other.global_units.items():
            self.global_units[name] += units


def by_table(parts: Iterable[Consumed]) -> list[Consumed]:
    """Add up what several actions consumed, one sum for each table, in the order in which they appear."""
    sums: dict[str, Consumed] = {}
    for part in parts:
        if part.table in sums:
            sums[part.table].add(part)
        else:
            sums[part.table] = part
    return list(sums.values())
