"""What runs hot: the busiest partition key of the table and of every index, against the limits of one partition.

"Every partition in a DynamoDB table is designed to deliver a maximum capacity of 3,000 read units per second and
1,000 write units per second" (AWS guide, "Best practices for designing and using partition keys effectively").

AWS may spread the items of one busy key over several partitions, by their sort keys. It does not where there are
local indexes, nor does it help where the sort key only grows, so that all that is new is in the last partition
(AWS Database Blog, "Scaling DynamoDB: how partitions, hot keys, and split for heat impact performance"). Nothing
here counts on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from singletable.blueprint import Blueprint
from singletable.planning.contributions import HeatLine
from singletable.planning.hot_keys import TABLE, Growth, HotKey, Limit, busiest, hot_keys, latent
from singletable.planning.rules import PARTITION_READS, PARTITION_WRITES
from singletable.planning.workload import Planner

USERS: Final = (1_000.0, 10_000.0, 1_000_000.0, 100_000_000.0)

BACK_PRESSURE: Final = (
    "a busy partition of a global index throttles the table's writes too: an index that cannot take an update "
    'holds up the table (AWS guide, "Understanding Global Secondary Index (GSI) write throttling and back '
    'pressure in DynamoDB")'
)
LOCAL: Final = "a local index lies in the partitions of its table, whose line counts its units too"


@dataclass(frozen=True, slots=True)
class Heat:
    """The busiest key of the table or of an index at the peak, what goes there, and when it is too much."""

    place: str  # the table, or the name of an index
    key: str  # its template, with what patterns make constant
    reads_per_s: float
    writes_per_s: float
    share: float  # of the limit that is nearest
    limit: Limit
    lines: tuple[HeatLine, ...]  # the largest first
    users: float | None
    breaks_at_users: float | None  # None: at no number of users
    explanation: str
    advice: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    collection_bytes: float | None = None  # of one key, where there are local indexes

    @property
    def is_over(self) -> bool:
        """Whether it is more than one partition takes."""
        return self.share > 1

    @property
    def is_unknown(self) -> bool:
        """Whether calls go there, and nothing says how many of them go to one key."""
        return not self.share and any(line.share is None and line.calls_per_s for line in self.lines)


@dataclass(frozen=True, slots=True)
class HeatRow:
    """The busiest key of the table or of an index, for so many users."""

    users: float
    place: str
    key: str
    reads_per_s: float
    writes_per_s: float
    share: float
    limit: Limit
    partitions_needed: int  # as many as it would have to be spread over, evenly


def heat_of(planner: Planner, *, every_key: bool = False) -> tuple[Heat, ...]:
    """Return the busiest key of the table and of each index, or all of their keys; the hottest first."""
    growth = Growth(planner)
    keys = growth.now if every_key else busiest(growth.now)
    found = [_heat(planner.blueprint, key, growth) for key in keys]
    if not every_key:
        found = [_with_earlier(heat, growth) for heat in found]
    reached = {heat.place for heat in found}
    found += [_untouched(name, planner.users) for name in _places(planner.blueprint) if name not in reached]
    return tuple(sorted(found, key=lambda heat: (-heat.share, -latent(heat.lines), heat.place, heat.key)))


def users_table(blueprint: Blueprint, users: Iterable[float] = USERS) -> tuple[HeatRow, ...]:
    """Return the busiest key of the table and of each index for each number of users, the hottest first."""
    rows: list[HeatRow] = []
    for number in users:
        found = sorted(busiest(hot_keys(Planner(blueprint, number))), key=lambda key: (-key.share, key.place))
        rows += [
            HeatRow(
                *(number, key.place, key.space.text, key.reads, key.writes, key.share, key.limit),
                max(1, math.ceil(key.share)),
            )
            for key in found
        ]
    return tuple(rows)


def _places(blueprint: Blueprint) -> Iterator[str]:
    yield TABLE
    yield from (index.name for index in blueprint.indexes)


def _untouched(place: str, users: float | None) -> Heat:
    why = "nothing that the design declares goes there"
    return Heat(place, "", 0.0, 0.0, 0.0, "writes", (), users, None, why)


# --- sentences ------------------------------------------------------------------------------------------


def _heat(blueprint: Blueprint, key: HotKey, growth: Growth) -> Heat:
    index = None if key.space.index is None else blueprint.index(key.space.index)
    notes = []
    if index is not None and index.is_local:
        notes.append(LOCAL)
    elif index is not None and any(line.direction == "write" for line in key.lines):
        notes.append(BACK_PRESSURE)
    made = Heat(
        *(key.place, key.space.text, key.reads, key.writes, key.share, key.limit, key.lines, growth.users),
        *(growth.breaks_at(key), "", (), tuple(notes), key.collection_bytes),
    )
    first = growth.limit_at(key, made.breaks_at_users)
    grows = any(_is_per_user(blueprint, line) for line in key.lines if line.units_per_s)
    explanation = _explained(made, first, grows=grows)
    return replace(made, explanation=explanation, advice=tuple(_advice(made, first, key, growth)))


def _with_earlier(heat: Heat, growth: Growth) -> Heat:
    """Return the heat of a place with a note of the key that is less busy now, and too busy before this one."""
    found = [
        (users, key.space.text)
        for key in growth.now
        if key.place == heat.place and key.space.text != heat.key
        if (users := growth.breaks_at(key)) is not None
    ]
    users, key = min(found, default=(math.inf, ""))
    if users >= (heat.breaks_at_users or math.inf):
        return heat
    note = (
        f"{key} is less busy now, and is too much for one partition before: from {_rounded(users)} users on"
    )
    return replace(heat, notes=(*heat.notes, note))


def _is_per_user(blueprint: Blueprint, line: HeatLine) -> bool:
    pattern = next((each for each in blueprint.patterns if line.of in (each.method, each.number)), None)
    names = {line.of} if pattern is None or line.kind != "pattern" else {pattern.method, pattern.number}
    return any(
        load.kind == line.kind and load.of in names and load.monthly_per_user is not None
        for load in blueprint.loads
    )


def _explained(heat: Heat, first: Limit, *, grows: bool) -> str:
    number = "" if heat.users is None else f"for {heat.users:,.0f} users "
    taken = {
        "reads": f"{heat.reads_per_s:,.3g} of {PARTITION_READS:,} read units a second",
        "writes": f"{heat.writes_per_s:,.3g} of {PARTITION_WRITES:,} write units a second",
        "bytes": f"{(heat.collection_bytes or 0.0) / 1024**3:,.3g} of 10 GB of an item collection",
    }[heat.limit]
    said = f"{number}it takes {taken}, {heat.share:.3g} of the limit"
    if heat.breaks_at_users is not None:
        many = _rounded(heat.breaks_at_users)
        return f"{said}; from {many} users on, one partition is not enough for the {first}"
    if heat.is_unknown:
        return "calls that are declared go there, and nothing says how many values the key has: it may be hot"
    if not heat.share:
        return "no load that is declared goes there; the lines say what one call would take"
    if not grows:
        return f"{said}; its loads are not said for each user, so that it is the same for any number of them"
    if heat.is_over:
        return f"{said}; one partition is not enough for any number of users"
    return (
        f"{said}; it is enough for any number of users: where ids grow with the users, one key has as much to do "
        "however many there are"
    )


def _rounded(users: float) -> str:
    """Return a number with three digits that count: it rests on assumptions."""
    digits = max(0, math.floor(math.log10(max(1.0, users))) - 2)
    return f"{round(users, -digits):,.0f}"


def _advice(heat: Heat, first: Limit, key: HotKey, growth: Growth) -> Iterator[str]:
    """Yield what raises the number of users."""
    yield from _declare(heat)
    if not heat.share or (heat.breaks_at_users is None and not heat.is_over):
        return
    if first == "bytes":
        yield (
            "take local indexes away, or make them global: only with local ones an item collection has at most "
            "10 GB; or put a bucket of time into the partition key"
        )
        return
    lines = [line for line in heat.lines if f"{line.direction}s" == first and line.units_per_s]
    if first == "writes":
        yield from _shards(heat, key, growth)
    else:
        yield from _cache(lines)
    kinds = {line.spread for line in lines}
    if "time" in kinds:
        yield "smaller buckets of time do not help: all that is new goes to the current one, however short it is"
    if kinds & {"choices", "unknown", "constant"}:
        yield "another key: one that has an id in it, as far as its patterns can name that id, spreads by itself"


def _declare(heat: Heat) -> Iterator[str]:
    unknown = [line for line in heat.lines if line.share is None or line.spread == "unknown"]
    if unknown:
        names = ", ".join(dict.fromkeys(f"{line.kind} {line.of}" for line in unknown))
        yield f"declare a volume of what the key names, or hottest_share of the loads: {names}"


def _shards(heat: Heat, key: HotKey, growth: Growth) -> Iterator[str]:
    now = max((line.shards for line in heat.lines), default=1)
    needed: dict[int, str] = {}
    for users in USERS:
        share = growth.share(key, users) if growth.users else heat.share
        if share > 1:
            needed.setdefault(math.ceil(share * now), f"{users:,.0f}")
    if not growth.users:
        yield f"shards in the key: {math.ceil(heat.share * now):,} of them are enough for the writes"
    elif needed:
        many = ", ".join(f"{count:,} for {users} users" for count, users in needed.items())
        had = f", where it has {now} now" if now > 1 else ""
        yield f"shards in the key: {many}{had}; each read of all of it then asks every shard"


def _cache(reads: list[HeatLine]) -> Iterator[str]:
    total = sum(line.units_per_s for line in reads)
    for line in reads[:3]:
        if line.units_per_s >= total / 3 and line.kind == "pattern":
            yield (
                f"cache {line.of}, {line.units_per_s / total:.0%} of the reads there: an answer that is kept for "
                f"a second takes {line.units:,.3g} units a second in each process, however many ask"
            )
    big = [line for line in reads[:3] if line.units > 10 and line.units_per_s >= total / 3]
    for line in big:
        yield f"read less at once: {line.of} takes {line.units:,.3g} units a call; a limit of a page lowers that"
    yield "shards help reads little: who wants all of the key asks every shard"
