"""The linter: how long it looks at a large design, 200 entities with 500 patterns."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.measure import Reading
from benchmarks.planning import ENTITIES, PATTERNS, large_blueprint
from singletable.blueprint import Blueprint
from singletable.lint import all_rules, lint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS = 7
QUICK_ROUNDS = 3
LINT_S_MAX = 1.0


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Reading]:
    """Measure all rules over a large design, and reading that design; in turns."""
    text = large_blueprint().to_toml()
    rules = len(all_rules())
    read: list[float] = []
    linted: list[float] = []
    for _ in range(QUICK_ROUNDS if quick else ROUNDS):
        started = time.perf_counter()
        blueprint = Blueprint.from_toml(text)
        between = time.perf_counter()
        lint(blueprint)
        read.append(between - started)
        linted.append(time.perf_counter() - between)
    say("lint is measured")
    size = f"{ENTITIES} entities and {PATTERNS} patterns"
    return [
        _reading(f"{rules} rules over {size}", linted, LINT_S_MAX),
        _reading(f"{size} read from TOML before that", read, None),
    ]


def _reading(name: str, seconds: list[float], most: float | None) -> Reading:
    return Reading(
        name=name,
        unit="s",
        value=round(statistics.median(seconds), 3),
        low=round(min(seconds), 3),
        high=round(max(seconds), 3),
        value_max=most,
    )
