"""What the log costs: puts with stream and recovery on, trimming under full load, restoring, reading the past."""

from __future__ import annotations

import shutil
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchmarks import payloads
from benchmarks.engine_speed import Puts, load
from benchmarks.measure import Contender, Plan, Reading, Result, compare, interleave
from benchmarks.payloads import TABLE, Payloads
from singletable import Database, limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from singletable.storage.file.connections import Durability

ITEMS: Final = 100_000
ITEMS_QUICK: Final = 10_000
RESTORED: Final = 1_000_000
RESTORED_QUICK: Final = 50_000

PUT_PLAN: Final = Plan(rounds=20, turns=240, calls=1)
DURABLE_PLAN: Final = Plan(rounds=20, turns=80, calls=1)
GET_PLAN: Final = Plan(rounds=20, turns=40, calls=25)
QUICK_DIVISOR: Final = 2

RELAXED_RATIO_MAX: Final = 1.6
DURABLE_RATIO_MAX: Final = 1.25
RESTORE_RATIO_MAX: Final = 2.0  # half the speed of a bulk load
GROWTH_MAX: Final = 1.1
HOLD_MS_MAX: Final = 50.0

# Records are kept for so long in the measurement of trimming, instead of a day.
KEPT_S: Final = 4
TRIMMING_S: Final = 24.0
TRIMMING_S_QUICK: Final = 12.0


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure puts, trimming, restoring and reading the past."""
    divisor = QUICK_DIVISOR if quick else 1
    source = Payloads(payloads.ONE_KB, items=ITEMS_QUICK if quick else ITEMS)
    plain, logged = directory / "plain.db", directory / "logged.db"
    say(f"loading {source.items:,} items")
    with Database.open(plain, durability="relaxed") as database:
        load(database, source.all_items_shuffled())
    shutil.copyfile(plain, logged)
    with Database.open(logged, durability="relaxed") as database:
        turn_on(database)
    results: list[Result] = []
    say("relaxed puts")
    results.append(_puts(source, plain, logged, "relaxed", PUT_PLAN.shorter(divisor), RELAXED_RATIO_MAX))
    say("durable puts")
    results.append(_puts(source, plain, logged, "full", DURABLE_PLAN.shorter(divisor), DURABLE_RATIO_MAX))
    say("gets of the past")
    results.append(_past_gets(source, logged, GET_PLAN.shorter(divisor)))
    say("trimming under full load")
    results += _trimming(source, logged, TRIMMING_S_QUICK if quick else TRIMMING_S)
    say("restoring")
    results.append(_restoring(directory, RESTORED_QUICK if quick else RESTORED))
    return results


def turn_on(database: Database) -> None:
    """Turn stream and recovery of the table on."""
    view: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    database.update_table(TableName=TABLE, StreamSpecification=view)
    recovery: Any = {"PointInTimeRecoveryEnabled": True}
    database.update_continuous_backups(TableName=TABLE, PointInTimeRecoverySpecification=recovery)


# --- puts ------------------------------------------------------------------------------------


def _puts(
    source: Payloads, plain: Path, logged: Path, durability: Durability, plan: Plan, ratio_max: float
) -> Result:
    with (
        Database.open(plain, durability=durability) as without,
        Database.open(logged, durability=durability) as with_log,
    ):
        floor = _put_contender("stream and recovery off", source, without)
        subject = _put_contender("stream and recovery on", source, with_log)
        interleave((subject, floor), plan)
    name = f"put, {'durable' if durability == 'full' else 'relaxed'}, stream and recovery on"
    return compare(name, subject=subject, floor=floor, ratio_max=ratio_max)


def _put_contender(name: str, source: Payloads, database: Database) -> Contender:
    put_item = database.put_item
    puts = Puts(source)
    return Contender(
        name=name,
        prepare=lambda: puts.next()[0],
        run=lambda item: put_item(TableName=TABLE, Item=item),
    )


# --- the past -----------------------------------------------------------------------------------


def _past_gets(source: Payloads, logged: Path, plan: Plan) -> Result:
    with Database.open(logged, durability="relaxed") as database:
        past = database.at(time.time())
        puts = Puts(source)
        for _ in range(source.items // 10):
            database.put_item(TableName=TABLE, Item=puts.next()[0])
        contenders = [
            _get_contender("get of the past", source, past.get_item),
            _get_contender("get", source, database.get_item),
        ]
        interleave(contenders, plan)
    return compare("get of the past", subject=contenders[0], floor=contenders[1])


def _get_contender(name: str, source: Payloads, get_item: Callable[..., Any]) -> Contender:
    return Contender(
        name=name,
        prepare=lambda: payloads.key_of(source.random.randrange(source.items)),
        run=lambda key: get_item(TableName=TABLE, Key=key),
    )


# --- trimming -----------------------------------------------------------------------------------


def _trimming(source: Payloads, logged: Path, seconds: float) -> list[Result]:
    """Write as fast as one thread can while old records go; see whether the file stops growing."""
    kept_s, limits.STREAM_KEPT_S = limits.STREAM_KEPT_S, KEPT_S  # type: ignore[misc]
    try:
        with Database.open(logged, durability="relaxed") as database:
            off: Any = {"PointInTimeRecoveryEnabled": False}
            database.update_continuous_backups(TableName=TABLE, PointInTimeRecoverySpecification=off)
            return _write_and_watch(source, database, logged, seconds)
    finally:
        limits.STREAM_KEPT_S = kept_s  # type: ignore[misc]


def _write_and_watch(source: Payloads, database: Database, path: Path, seconds: float) -> list[Result]:
    numbers = range(source.items)
    waits_ms: list[float] = []
    sizes: list[int] = []
    started_s = last_s = time.perf_counter()
    while last_s - started_s < seconds:
        item = source.item(numbers[len(waits_ms) * 7919 % source.items])
        before_s = time.perf_counter()
        database.put_item(TableName=TABLE, Item=item)
        last_s = time.perf_counter()
        waits_ms.append((last_s - before_s) * 1000)
        if len(waits_ms) % 1000 == 0:
            sizes.append(path.stat().st_size)
    # By then, records have been trimmed for as long as they were kept.
    half, end = sizes[len(sizes) // 2], sizes[-1]
    rate = len(waits_ms) / seconds
    return [
        Reading(
            name=f"growth of the file in the second half of {seconds:g} s at {rate:,.0f} puts a second, "
            f"records kept for {KEPT_S} s",
            unit="x",
            value=round(end / half, 3),
            value_max=GROWTH_MAX,
        ),
        Reading(
            name="longest wait of a put while records are trimmed",
            unit="ms",
            value=round(max(waits_ms), 1),
            value_max=HOLD_MS_MAX,
        ),
    ]


# --- restoring --------------------------------------------------------------------------------


def _restoring(directory: Path, items: int) -> Result:
    """Load a table in bulk, change a tenth of it, and restore it to the moment before."""
    source = Payloads(payloads.ONE_KB, items=items, seed=payloads.SEED + 1)
    made = list(source.all_items_shuffled())
    with Database.open(directory / "restored.db", durability="relaxed") as database:
        started_s = time.perf_counter()
        load(database, made)
        load_s = time.perf_counter() - started_s
        turn_on(database)
        moment = datetime.now(UTC)
        for number in source.numbers_shuffled()[: items // 10]:
            database.put_item(TableName=TABLE, Item=source.item(number))
        started_s = time.perf_counter()
        database.restore_table_to_point_in_time(
            SourceTableName=TABLE, TargetTableName="restored", RestoreDateTime=moment
        )
        _wait_until_active(database, "restored")
        restore_s = time.perf_counter() - started_s
        restored = database.describe_table(TableName="restored")["Table"]["ItemCount"]
        assert restored == items, f"{restored} of {items} items were restored"
    return Reading(
        name=f"time to restore {items:,} items ({items / restore_s:,.0f} a second) to that of a bulk load "
        f"({items / load_s:,.0f} a second)",
        unit="x",
        value=round(restore_s / load_s, 2),
        value_max=RESTORE_RATIO_MAX,
    )


def _wait_until_active(database: Database, table: str) -> None:
    pause = threading.Event()
    while database.describe_table(TableName=table)["Table"]["TableStatus"] != "ACTIVE":
        pause.wait(0.01)
