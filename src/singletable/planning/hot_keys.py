"""Partition keys with all that goes there, now and for other numbers of users."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from singletable.planning.contributions import Contribution, Contributions, HeatLine, KeySpace
from singletable.planning.rules import COLLECTION_BYTES, OVERHEAD_BYTES, PARTITION_READS, PARTITION_WRITES
from singletable.planning.shares import PLACEHOLDER, key_text
from singletable.planning.workload import Planner

Limit = Literal["reads", "writes", "bytes"]

TABLE: Final = "table"
USERS_MAX: Final = 10_000_000_000.0  # more than there are people
_STEP: Final = 1_000.0  # how far apart a design is looked at to see what grows with its users


@dataclass(frozen=True, slots=True)
class HotKey:
    """A key with all that goes there."""

    space: KeySpace
    lines: tuple[HeatLine, ...]
    collection_bytes: float | None = None

    @property
    def place(self) -> str:
        """The table, or the name of the index."""
        return self.space.index or TABLE

    @property
    def reads(self) -> float:
        """The read units of a second."""
        return sum(line.units_per_s for line in self.lines if line.direction == "read")

    @property
    def writes(self) -> float:
        """The write units of a second."""
        return sum(line.units_per_s for line in self.lines if line.direction == "write")

    @property
    def parts(self) -> dict[Limit, float]:
        """The part of each limit."""
        return {
            "writes": self.writes / PARTITION_WRITES,
            "reads": self.reads / PARTITION_READS,
            "bytes": (self.collection_bytes or 0.0) / COLLECTION_BYTES,
        }

    @property
    def share(self) -> float:
        """The part of the limit that is nearest."""
        return max(self.parts.values())

    @property
    def limit(self) -> Limit:
        """The limit that is nearest."""
        parts = self.parts
        return max(parts, key=lambda name: parts[name])


def hot_keys(planner: Planner) -> list[HotKey]:
    """Return every key that calls go to."""
    contributions = list(Contributions(planner).all())
    spaces: dict[tuple[object, ...], KeySpace] = {}
    for each in contributions:
        spaces.setdefault((each.key.index, each.key.shape, each.key.bound), each.key)
    by_shape: dict[tuple[str | None, str], list[Contribution]] = {}
    for each in contributions:
        by_shape.setdefault((each.key.index, each.key.shape), []).append(each)
    collections = dict(_collections(planner))
    found: list[HotKey] = []
    for space in spaces.values():
        lines = [each.line for each in by_shape[space.index, space.shape] if space.takes(each.key)]
        lines.sort(key=lambda line: (-line.units_per_s, -line.units_of_call, line.kind, line.of))
        size = collections.get(space.shape) if space.index is None else None
        found.append(HotKey(space, tuple(lines), size))
    return found


def _collections(planner: Planner) -> Iterator[tuple[str, float]]:
    """Yield the bytes of the largest item collection by the shape of its key, where there are local indexes."""
    local = [index for index in planner.blueprint.indexes if index.is_local]
    sizes: dict[str, float] = {}
    for entity in planner.blueprint.entities if local else ():
        home = entity.place(None)
        if home is None or planner.counts.count(entity.name) is None:
            continue
        one = planner.sizes.item(entity).mean + OVERHEAD_BYTES
        for index in local:
            place = entity.place(index.name)
            if place is not None:
                copy = planner.sizes.copy(entity, index).mean + OVERHEAD_BYTES
                one += copy * planner.sizes.presence(entity, place).mean
        shape = PLACEHOLDER.sub("{}", key_text(home.pk))
        sizes[shape] = sizes.get(shape, 0.0) + one * planner.counts.together(entity, home).high
    yield from sizes.items()


def busiest(keys: Iterable[HotKey]) -> list[HotKey]:
    """Return the busiest key of each place; of those without a load, the one that would be."""
    found: dict[str, HotKey] = {}
    for key in keys:
        other = found.get(key.place)
        if other is None or (key.share, latent(key.lines)) > (other.share, latent(other.lines)):
            found[key.place] = key
    return list(found.values())


def latent(lines: Iterable[HeatLine]) -> float:
    """Return the units that one call of each would bring to a key."""
    return sum(line.units_of_call for line in lines)


# --- growth ---------------------------------------------------------------------------------------------

_Line = tuple[str, str, str]


class Growth:
    """What every key takes for other numbers of users.

    Each line of a key grows by a power of the number of users: a load that is said for each user with the first, a
    fixed one with none, and of ids that grow with the users the share falls as the load grows. The power is that
    between two numbers of users, so that it is exact where it does not change between them.
    """

    def __init__(self, planner: Planner) -> None:
        self._blueprint = planner.blueprint
        self._profile = (
            planner.sizes.profile
        )  # what was measured stays as it is, however many users there are
        self.users = planner.users
        self.now = hot_keys(planner)
        self._points: dict[float, dict[tuple[str | None, str], dict[_Line | str, float]]] = {}
        if self.users:
            self._points[self.users] = _table_of(self.now)

    def parts(self, key: HotKey, users: float) -> dict[Limit, float]:
        """Return the part of each limit that a key takes for a number of users."""
        assert self.users
        low, high = self._around(users)
        of = key.space.index, key.space.text
        one, other = self._at(low).get(of, {}), self._at(high).get(of, {})
        sums: dict[str, float] = {"read": 0.0, "write": 0.0, "bytes": 0.0}
        for line in one.keys() | other.keys():
            grown = _between(low, one.get(line, 0.0), high, other.get(line, 0.0), users)
            sums[line if isinstance(line, str) else line[2]] += grown
        return {
            "writes": sums["write"] / PARTITION_WRITES,
            "reads": sums["read"] / PARTITION_READS,
            "bytes": sums["bytes"] / COLLECTION_BYTES,
        }

    def share(self, key: HotKey, users: float) -> float:
        """Return the part of the nearest limit."""
        return max(self.parts(key, users).values())

    def breaks_at(self, key: HotKey) -> float | None:
        """Return the number of users at which a key reaches its first limit; None if it never does."""
        if not self.users or not key.share:
            return None
        low = high = self.users
        while self.share(key, low) >= 1:
            if low <= 1:
                return 1.0
            low, high = max(1.0, low / _STEP), low
        while self.share(key, high) < 1:
            if high >= USERS_MAX:
                return None
            low, high = high, min(USERS_MAX, high * _STEP)
        while high / low > 1.0001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.share(key, middle) < 1 else (low, middle)
        return high

    def limit_at(self, key: HotKey, users: float | None) -> Limit:
        """Return the limit that is nearest for a number of users; without one, for those of now."""
        parts = key.parts if users is None else self.parts(key, users)
        return max(parts, key=lambda name: parts[name])

    def _around(self, users: float) -> tuple[float, float]:
        assert self.users
        low = self.users
        while low > users:
            low /= _STEP
        while low * _STEP < users:
            low *= _STEP
        return low, low * _STEP

    def _at(self, users: float) -> Mapping[tuple[str | None, str], Mapping[_Line | str, float]]:
        if users not in self._points:
            self._points[users] = _table_of(hot_keys(Planner(self._blueprint, users, self._profile)))
        return self._points[users]


def _table_of(keys: Iterable[HotKey]) -> dict[tuple[str | None, str], dict[_Line | str, float]]:
    found: dict[tuple[str | None, str], dict[_Line | str, float]] = {}
    for key in keys:
        lines: dict[_Line | str, float] = {"bytes": key.collection_bytes or 0.0}
        for line in key.lines:
            of = line.kind, line.of, line.direction
            lines[of] = lines.get(of, 0.0) + line.units_per_s
        found[key.space.index, key.space.text] = lines
    return found


def _between(low: float, one: float, high: float, other: float, users: float) -> float:
    if one <= 0 or other <= 0:
        return one + (other - one) * (users - low) / (high - low)
    power = math.log(other / one) / math.log(high / low)
    return one * math.pow(users / low, power)
