"""HOT401: more units a second go to one partition key than one partition takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.hot_keys import HotKey, hot_keys
from singletable.planning.rules import PARTITION_READS, PARTITION_WRITES

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path
    from singletable.planning.contributions import HeatLine

_LIMITS: Final = (("write", PARTITION_WRITES), ("read", PARTITION_READS))
_KNOWN: Final = ("constant", "shards", "time", "choices", "ids", "declared")


def check(view: View) -> Iterator[Finding]:
    """Ask the planner for the busiest value of every partition key, where the design says how calls spread."""
    blueprint = view.blueprint
    if not (blueprint.loads or blueprint.rates or any(pattern.rps for pattern in blueprint.patterns)):
        return
    told: set[tuple[object, ...]] = set()
    for key in hot_keys(view.planner):
        for direction, most in _LIMITS:
            lines = [
                line
                for line in key.lines
                if line.direction == direction
                and line.spread in _KNOWN
                and not _is_cached(view, line)
                and not (direction == "read" and _is_of_unknown_size(view, line, key.space.index))
            ]
            units = sum(line.units_per_s for line in lines)
            calls = key.space.index, direction, *((each.kind, each.of, each.units_per_s) for each in lines)
            if key.space.text and units > most and calls not in told:
                told.add(
                    calls
                )  # a key of each value, and one that a pattern asks for by name, are one finding
                yield _found(view, key, lines, units, f"{direction} units", most)
                break


def _is_cached(view: View, line: HeatLine) -> bool:
    """Tell whether a cache answers most calls: it asks for a key once in its time, however hot it is."""
    return line.kind == "pattern" and any(
        pattern.cached_s and line.of in (pattern.method, pattern.number)
        for pattern in view.blueprint.patterns
    )


def _is_of_unknown_size(view: View, line: HeatLine, index: str | None) -> bool:
    """Tell whether a pattern reads all of a sparse partition, of which nobody says how many items are in it."""
    return line.kind == "pattern" and any(
        read.read.index == index
        and read.read.limit is None
        and read.read.returned is None
        and read.read.examined is None
        and any(place.place.when is not None for place in view.met_by(read))
        for read in view.reads_of(line.of)
    )


def _found(view: View, key: HotKey, lines: list[HeatLine], units: float, what: str, most: int) -> Finding:
    shares = "; ".join(
        f"{line.kind} {line.of}: {line.calls_per_s:,.6g} a second of {line.units:.3g} {what}, "
        f"{line.share or 0:.0%} of them to one key"
        for line in lines[:3]
        if line.units_per_s
    )
    where = key.space.index or "the table"
    spread = {line.spread for line in lines if line.units_per_s}
    again = "; a shorter period does not help, as all that is new goes to the current one"
    return finding(
        RULE,
        view.index_path(key.space.index),
        *dict.fromkeys(path for line in lines if line.units_per_s for path in _paths(view, line)),
        message=f"{units:,.0f} {what} a second go to one key {key.space.text} of {where}, "
        f"where a partition takes {most:,}",
        because=f"{shares}: what is over the limit is throttled"
        + (", and a throttled index throttles the writes of the table" if key.space.index else ""),
        repair=f"divide the key into {units / most + 1:.0f} shards or more, or lead it with an id "
        "that spreads the calls" + (again if "time" in spread else ""),
    )


def _paths(view: View, line: HeatLine) -> Iterator[Path]:
    for at, load in enumerate(view.blueprint.loads):
        if load.kind == line.kind and load.of == line.of:
            yield ("loads", at)
    for at, pattern in enumerate(view.blueprint.patterns):
        if line.kind == "pattern" and line.of in (pattern.method, pattern.number):
            yield ("patterns", at)
    for name in (line.entity, line.of):
        if name in view.entities and (line.kind != "pattern" or name == line.entity):
            yield view.entity_path(name)


RULE = Rule("HOT401", Severity.WARNING, "One partition gets more than it takes", check)
