"""The units that a request consumed, by table and index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_NO_UNITS: Final[Mapping[str, float]] = MappingProxyType({})


class Consumed:
    """The units that one table and its indexes spent on a request."""

    __slots__ = ("global_units", "local_units", "table", "table_units")

    def __init__(
        self,
        table: str,
        table_units: float = 0.0,
        local_units: Mapping[str, float] = _NO_UNITS,
        global_units: Mapping[str, float] = _NO_UNITS,
    ) -> None:
        self.table = table
        self.table_units = table_units
        self.local_units = local_units
        self.global_units = global_units

    @property
    def total(self) -> float:
        return self.table_units + sum(self.local_units.values()) + sum(self.global_units.values())

    def add_index(self, name: str, units: float, *, is_global: bool) -> None:
        if not units:
            return
        if is_global:
            self.global_units = _sum(self.global_units, {name: units})
        else:
            self.local_units = _sum(self.local_units, {name: units})

    def add(self, other: Consumed) -> None:
        self.table_units += other.table_units
        self.local_units = _sum(self.local_units, other.local_units)
        self.global_units = _sum(self.global_units, other.global_units)


def _sum(units: Mapping[str, float], more: Mapping[str, float]) -> Mapping[str, float]:
    if not more or not units:
        return units or more
    return {**units, **{name: units.get(name, 0.0) + extra for name, extra in more.items()}}


def by_table(parts: Iterable[Consumed]) -> list[Consumed]:
    """Add up the units of several actions: one sum for each table, in the order in which they appear."""
    sums: dict[str, Consumed] = {}
    for part in parts:
        if part.table in sums:
            sums[part.table].add(part)
        else:
            sums[part.table] = part
    return list(sums.values())
