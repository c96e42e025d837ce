"""What it costs to read a large blueprint: the documented design of Smart Cooking, over and over."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from benchmarks.measure import Reading, Result
from singletable.blueprint import Blueprint
from singletable.systems import find_system

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENTITIES = 200
PATTERNS = 500
LOAD_MS_MAX = 100.0
READS = 30


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure reading both forms. It waits for nothing, so the time of the processor tells what it costs."""
    blueprint = large()
    say("making the reader")
    results: list[Result] = [
        cpu_ms("the reader of blueprints, made when the first is read", lambda: TypeAdapter(Blueprint))
    ]
    for name, text, read in (
        ("JSON", blueprint.to_json(), Blueprint.from_json),
        ("TOML", blueprint.to_toml(), Blueprint.from_toml),
    ):
        say(f"reading {name}")
        size = f"{ENTITIES} entities and {PATTERNS} patterns, {len(text) // 1000:,} KB of {name}"
        results.append(cpu_ms(f"a blueprint of {size}", partial(read, text), value_max=LOAD_MS_MAX))
    return results


def cpu_ms(name: str, call: Callable[[], object], *, value_max: float | None = None) -> Reading:
    """Time calls by the processor, with the garbage collector as it is in any program."""
    call()
    taken_ms = []
    for _ in range(READS):
        started_s = time.process_time()
        call()
        taken_ms.append((time.process_time() - started_s) * 1000)
    return Reading(
        name=f"{name}: processor time",
        unit="ms",
        value=round(statistics.median(taken_ms), 1),
        low=round(min(taken_ms), 1),
        high=round(max(taken_ms), 1),
        value_max=value_max,
    )


def large() -> Blueprint:
    """Return a design of so many entities and patterns, with the words of a real document in each."""
    documented = find_system("smart_cooking").documented()
    assert documented is not None
    entities = islice(enumerate(cycle(documented.entities)), ENTITIES)
    patterns = islice(enumerate(cycle(documented.patterns)), PATTERNS)
    return replace(
        documented,
        entities=tuple(replace(each, name=f"{each.name}{number}") for number, each in entities),
        patterns=tuple(replace(each, number=str(number)) for number, each in patterns),
    )
