"""What it costs to begin: a fresh database in memory, and the import."""

from __future__ import annotations

import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks import payloads
from benchmarks.measure import Contender, Plan, Reading, Result, interleave
from singletable import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FRESH_MS_MAX = 2.0
IMPORT_MS_MAX = 60.0
FRESH_PLAN = Plan(rounds=20, turns=5, calls=4)
IMPORT_PLAN = Plan(rounds=40, turns=1, calls=1)
QUICK_IMPORT_PLAN = Plan(rounds=15, turns=1, calls=1)


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure databases first, then interpreters."""
    say("fresh databases")
    results = [*fresh_in_memory(), *fresh_on_disk(directory)]
    say("imports")
    return [*results, *imports(QUICK_IMPORT_PLAN if quick else IMPORT_PLAN)]


def fresh_in_memory() -> list[Result]:
    opened: list[Database] = []

    def close_opened() -> None:
        while opened:
            opened.pop().close()

    def whole_life(_: None) -> None:
        with Database.open(":memory:") as database:
            database.create_table(**payloads.TABLE_DEFINITION)

    open_only = Contender(
        name="open", prepare=close_opened, run=lambda _: opened.append(Database.open(":memory:"))
    )
    life = Contender(name="open, create_table, close", prepare=lambda: None, run=whole_life)
    interleave((open_only, life), FRESH_PLAN)
    close_opened()
    return [
        milliseconds("fresh in-memory database: open", open_only, value_max=FRESH_MS_MAX),
        milliseconds("fresh in-memory database: open, create_table, close", life, value_max=FRESH_MS_MAX),
    ]


def fresh_on_disk(directory: Path) -> list[Result]:
    path = directory / "fresh.db"

    def remove() -> None:
        for file in directory.glob("fresh.db*"):
            file.unlink()

    def whole_life(_: None) -> None:
        with Database.open(str(path)) as database:
            database.create_table(**payloads.TABLE_DEFINITION)

    def reopen(_: None) -> None:
        Database.open(str(path)).close()

    again = Contender(name="open, close", prepare=lambda: None, run=reopen)
    whole_life(None)
    interleave((again,), FRESH_PLAN)
    fresh = Contender(name="open, create_table, close", prepare=remove, run=whole_life)
    # One call a turn: the file has to be gone before each.
    interleave((fresh,), Plan(rounds=20, turns=3, calls=1))
    return [
        milliseconds("fresh file: open, create_table, close, all durable", fresh),
        milliseconds("existing file: open, close", again),
    ]


def milliseconds(name: str, contender: Contender, *, value_max: float | None = None) -> Reading:
    medians_ms = [statistics.median(round_ns) / 1e6 for round_ns in contender.rounds_ns]
    return Reading(
        name=name,
        unit="ms",
        value=round(statistics.median(contender.all_ns()) / 1e6, 3),
        low=round(min(medians_ms), 3),
        high=round(max(medians_ms), 3),
        value_max=value_max,
    )


def imports(plan: Plan) -> list[Result]:
    """Time whole interpreters, and take away one that does nothing."""
    bare = interpreter("pass")
    package = interpreter("import singletable")
    with_database = interpreter("import singletable; singletable.Database")
    interleave((bare, package, with_database), plan)
    return [
        beyond("import singletable", package, bare, value_max=IMPORT_MS_MAX),
        beyond("import singletable, and Database loaded", with_database, bare),
    ]


def interpreter(code: str) -> Contender:
    command = [sys.executable, "-c", code]
    return Contender(name=code, prepare=lambda: command, run=lambda argv: subprocess.run(argv, check=True))


def beyond(name: str, subject: Contender, bare: Contender, *, value_max: float | None = None) -> Reading:
    differences_ms = [
        (statistics.median(subject_ns) - statistics.median(bare_ns)) / 1e6
        for subject_ns, bare_ns in zip(subject.rounds_ns, bare.rounds_ns, strict=True)
    ]
    return Reading(
        name=name,
        unit="ms",
        value=round(statistics.median(differences_ms), 1),
        low=round(min(differences_ms), 1),
        high=round(max(differences_ms), 1),
        value_max=value_max,
    )
