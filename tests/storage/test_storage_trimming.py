"""Trimming: what of a log stays, for whom, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from singletable import limits
from singletable.clock import ManualClock
from singletable.storage.chores import reclaiming, trimming
from singletable.storage.chores.trimming import Horizons
from singletable.storage.log import select_logs
from support.logged_tables import DAY_S, HOUR_S, Logged, opened

HOLD_S = limits.CONSUMER_HOLD_S


@pytest.fixture(params=["memory", "file"])
def logged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Logged]:
    with opened(":memory:" if request.param == "memory" else tmp_path / "test.db") as store:
        yield store


def put_hourly(logged: Logged, hours: int) -> None:
    """Put an item every hour: entry N was made N - 1 hours after the first."""
    for number in range(hours):
        if number:
            logged.clock.advance(HOUR_S)
        logged.put(f"{number}")


def add_consumer(logged: Logged, name: str, position: int, *, hold_s: int = HOLD_S) -> None:
    logged.execute(
        "INSERT INTO consumer(table_id, name, position, position_at, hold, log_since, missed)"
        " VALUES (?, ?, ?, 0, ?, 0, 0)",
        *(logged.table().id, name, position, hold_s * 1_000_000),
    )


def move_consumer(logged: Logged, name: str, position: int) -> None:
    logged.execute("UPDATE consumer SET position = ? WHERE name = ?", position, name)


def look(logged: Logged) -> None:
    logged.clock.advance(0)


# --- streams -------------------------------------------------------------------------------


def test_record_of_a_stream_stays_for_24_hours(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put("a")
    logged.put("b")
    logged.clock.advance(DAY_S)
    assert logged.seqs() == [1, 2]
    logged.put("c")
    logged.clock.advance(0.000_001)
    assert logged.seqs() == [2, 3]


def test_only_what_is_older_goes_and_the_newest_of_that_stays(logged: Logged) -> None:
    """It tells up to when entries are missing."""
    logged.create(stream=True)
    put_hourly(logged, 30)
    assert logged.seqs() == [5, *range(6, 31)]
    logged.clock.advance(10 * HOUR_S)
    assert logged.seqs() == [15, *range(16, 31)]


def test_newest_entry_stays_however_old_it_is(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 3)
    logged.clock.advance(400 * DAY_S)
    assert logged.seqs() == [3]


def test_numbers_go_on_when_everything_else_was_trimmed(tmp_path: Path) -> None:
    clock = ManualClock()
    path = tmp_path / "test.db"
    with opened(path, clock) as logged:
        logged.create(stream=True)
        logged.put("a")
        logged.put("b")
        clock.advance(3 * DAY_S)
        assert logged.seqs() == [2]
    with opened(path, clock) as logged:
        logged.put("c")
        assert logged.seqs() == [2, 3]
        clock.advance(3 * DAY_S)
        logged.alter(stream=False)
        clock.advance(3 * DAY_S)
        logged.alter(stream=True)
        logged.put("d")
        assert logged.seqs() == [3, 4]


def test_much_is_trimmed_in_pieces(logged: Logged) -> None:
    """No piece holds the writer for long; when the clock has moved, all of them are done."""
    logged.create(stream=True)
    for start in range(0, 6_000, 1_000):
        logged.put_many(f"{number}" for number in range(start, start + 1_000))
    logged.clock.advance(2 * DAY_S)
    assert logged.seqs() == [6_000]


def test_records_of_a_stream_that_was_turned_off_stay_for_24_hours(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 4)
    logged.alter(stream=False)
    logged.clock.advance(DAY_S - 3 * HOUR_S)
    assert logged.seqs() == [1, 2, 3, 4]
    logged.clock.advance(2 * HOUR_S)
    assert logged.seqs() == [2, 3, 4]
    assert len(logged.streams()) == 1
    logged.clock.advance(HOUR_S + 1)
    assert logged.seqs() == [4]
    assert logged.streams() == []
    assert logged.rows("SELECT * FROM shard") == []


def test_ended_shards_go_after_24_hours_and_the_open_one_stays(logged: Logged) -> None:
    logged.create(stream=True)
    for _ in range(3):
        logged.clock.advance(limits.SHARD_OPEN_S)
        logged.put("a", n=logged.clock.now_us())
    assert [shard.number for shard in logged.shards()] == [0, 1, 2, 3]
    logged.clock.advance(DAY_S - 2 * limits.SHARD_OPEN_S + 1)  # one more has followed meanwhile
    assert [shard.number for shard in logged.shards()] == [1, 2, 3, 4]
    logged.clock.advance(30 * DAY_S)
    assert [(shard.number, shard.ended_us is None) for shard in logged.shards()] == [(4, False), (5, True)]


# --- recovery ------------------------------------------------------------------------------------


def test_recovery_keeps_its_days(logged: Logged) -> None:
    logged.create(recovery_days=2)
    put_hourly(logged, 60)
    assert logged.seqs() == [11, *range(12, 61)]  # that of just 48 hours ago is needed
    logged.clock.advance(1)
    assert logged.seqs() == [12, *range(13, 61)]


def test_recovery_keeps_more_than_a_stream(logged: Logged) -> None:
    logged.create(stream=True, recovery_days=2)
    put_hourly(logged, 60)
    assert logged.seqs() == [11, *range(12, 61)]


def test_fewer_days_let_the_rest_go(logged: Logged) -> None:
    logged.create(recovery_days=35)
    since_us = logged.clock.now_us()
    put_hourly(logged, 60)
    assert len(logged.seqs()) == 60
    logged.alter(recovery_days=1, recovery_since_us=since_us)
    look(logged)
    assert logged.seqs() == [35, *range(36, 61)]


def test_recovery_that_starts_anew_lets_the_rest_go(logged: Logged) -> None:
    logged.create(recovery_days=35)
    put_hourly(logged, 60)
    logged.clock.advance(1)
    logged.alter(recovery_days=35)
    look(logged)
    assert logged.seqs() == [60]


def test_recovery_that_is_turned_off_lets_all_go(logged: Logged) -> None:
    logged.create(recovery_days=35)
    put_hourly(logged, 5)
    logged.alter(recovery_days=0)
    look(logged)
    assert logged.seqs() == [5]


def test_recovery_does_not_keep_what_was_logged_before_it(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 10)
    logged.clock.advance(HOUR_S)
    logged.alter(recovery_days=35)
    logged.alter(stream=False)
    logged.put("new")
    logged.clock.advance(2 * DAY_S)
    assert logged.seqs() == [10, 11]


# --- consumers -----------------------------------------------------------------------------------


def test_consumer_that_is_behind_holds_back_the_log(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 5)
    add_consumer(logged, "mail", 2)
    add_consumer(logged, "search", 5)
    logged.clock.advance(3 * DAY_S)
    assert logged.seqs() == [2, 3, 4, 5]
    move_consumer(logged, "mail", 4)
    look(logged)
    assert logged.seqs() == [4, 5]


def test_consumer_holds_back_the_log_up_to_its_limit(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 5)
    add_consumer(logged, "mail", 0)
    logged.clock.advance(HOLD_S - 4 * HOUR_S)
    assert logged.seqs() == [1, 2, 3, 4, 5]
    logged.clock.advance(3 * HOUR_S)
    assert logged.seqs() == [3, 4, 5]
    logged.clock.advance(DAY_S)
    assert logged.seqs() == [5]


def test_each_consumer_has_a_limit_of_its_own(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 5)
    add_consumer(logged, "slow", 3, hold_s=30 * DAY_S)
    add_consumer(logged, "lost", 0, hold_s=2 * DAY_S)
    logged.clock.advance(3 * DAY_S)
    assert logged.seqs() == [3, 4, 5]


def test_consumer_holds_back_the_log_of_a_stream_that_is_off(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 5)
    add_consumer(logged, "mail", 2)
    logged.alter(stream=False)
    logged.clock.advance(3 * DAY_S)
    assert logged.seqs() == [2, 3, 4, 5]


# --- restores ---------------------------------------------------------------------------------------


def test_restore_that_reads_a_log_holds_it_back(logged: Logged) -> None:
    """However long it takes: the entries behind its moment stay."""
    logged.create(recovery_days=1)
    put_hourly(logged, 6)
    at_us = logged.log()[2].at_us
    logged.create("new")
    new = logged.table("new").id
    logged.execute("INSERT INTO restore VALUES (?, ?, ?, NULL, x'', x'')", new, logged.table().id, at_us)
    horizons = logged.store.read(
        lambda execute, catalog: Horizons(execute, catalog, logged.clock.now_us() + 10 * DAY_S * 1_000_000)
    )
    assert [horizons.of(logged.table().id).keeps(entry.seq, entry.at_us) for entry in logged.log()] == [
        *(False, False),
        *(True, True, True, True),
    ]
    logged.execute("DELETE FROM restore")


# --- tables that are deleted ------------------------------------------------------------------------


def test_log_of_a_deleted_table_stays_while_its_stream_does(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 3)
    table_id = logged.table().id
    logged.delete_table()
    logged.clock.advance(DAY_S)
    assert [entry.seq for entry in logged.log_of(table_id)] == [2, 3]
    assert len(logged.streams()) == 1
    logged.clock.advance(1)
    assert logged.streams() == []
    assert logged.read(select_logs) == []
    assert logged.rows("SELECT name FROM sqlite_schema WHERE name = ?", f"log_{table_id}") == []
    assert logged.rows("SELECT * FROM dropped") == []


def test_log_of_a_deleted_table_that_no_stream_shows_goes_at_once(logged: Logged) -> None:
    logged.create(recovery_days=35)
    put_hourly(logged, 3)
    logged.delete_table()
    look(logged)
    assert logged.read(select_logs) == []


def test_log_of_a_deleted_table_stays_for_a_consumer_that_is_behind(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 3)
    table_id = logged.table().id
    add_consumer(logged, "mail", 1)
    logged.delete_table()
    logged.clock.advance(3 * DAY_S)
    assert [entry.seq for entry in logged.log_of(table_id)] == [1, 2, 3]
    move_consumer(logged, "mail", 3)
    look(logged)
    assert logged.read(select_logs) == []
    assert logged.rows("SELECT * FROM consumer") == []


def test_log_of_a_deleted_table_does_not_stay_for_ever(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 3)
    add_consumer(logged, "mail", 1)
    logged.delete_table()
    logged.clock.advance(HOLD_S + 1)
    assert logged.read(select_logs) == []
    assert logged.rows("SELECT * FROM consumer") == []


def test_table_that_is_made_again_has_nothing_of_the_old_one(logged: Logged) -> None:
    logged.create(stream=True)
    put_hourly(logged, 3)
    logged.delete_table()
    logged.create(stream=True)
    logged.put("new")
    assert logged.seqs() == [1]
    logged.clock.advance(2 * DAY_S)
    assert logged.seqs() == [1]
    assert len(logged.streams()) == 1


def test_log_of_a_deleted_table_is_dropped_by_whoever_opens_the_file_later(tmp_path: Path) -> None:
    """No table is left that would call for it."""
    clock = ManualClock()
    path = tmp_path / "test.db"
    with opened(path, clock) as logged:
        logged.create(stream=True)
        logged.put("a")
        logged.delete_table()
    clock.advance(2 * DAY_S)
    with opened(path, clock) as logged:
        look(logged)
        assert logged.read(select_logs) == []


# --- the clock -----------------------------------------------------------------------------------------


def test_clock_that_is_wrong_for_a_while_trims_nothing(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put("a")
    logged.put("b")
    logged.clock.jump(365 * DAY_S)
    logged.clock.advance(60)
    assert logged.seqs() == [1, 2]
    logged.clock.jump(-365 * DAY_S)
    logged.clock.advance(2 * HOUR_S)
    assert logged.seqs() == [1, 2]


def test_clock_that_stays_ahead_is_believed(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put("a")
    logged.put("b")
    logged.clock.jump(2 * DAY_S)
    logged.clock.advance(60)
    logged.clock.advance(HOUR_S)
    assert logged.seqs() == [2]


def test_clock_that_was_put_back_keeps_more(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put("a")
    logged.put("b")
    logged.clock.jump(-5 * DAY_S)
    logged.clock.advance(3 * DAY_S)
    assert logged.seqs() == [1, 2]


# --- what consumers have put aside -----------------------------------------------------------------------


def test_dead_letters_of_a_deleted_table_go_in_pieces_and_its_log_after_them(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put_many(f"{number}" for number in range(200))
    table_id = logged.table().id
    for name in ("mail", "search"):
        add_consumer(logged, name, 200)
    for seq in range(1, 201):
        name = "mail" if seq % 2 else "search"
        logged.execute("INSERT INTO dead_letter VALUES (?, ?, ?, 0, x'00', 'no', 1)", table_id, name, seq)
    logged.delete_table()
    now_us = logged.clock.now_us() + 2 * DAY_S * 1_000_000
    left: list[tuple[int, int]] = []
    found = [table_id]
    while not logged.store.write(lambda transaction: trimming.step_found(transaction, now_us, found)):
        ((letters, consumers),) = logged.rows(
            "SELECT (SELECT count(*) FROM dead_letter), (SELECT count(*) FROM consumer)"
        )
        left.append((letters, consumers))
        assert (letters == 0) or table_id in logged.read(select_logs)
    assert left == [(200, 2), (136, 2), (72, 2), (8, 2), (0, 0)]
    assert logged.streams() == []
    assert logged.read(select_logs) == []


# --- the chore -------------------------------------------------------------------------------------------


def test_chore_is_not_due_when_it_has_nothing_left(logged: Logged) -> None:
    """Else its thread would never come to rest."""
    logged.create(stream=True)
    logged.create("other", recovery_days=1)
    put_hourly(logged, 5)
    add_consumer(logged, "mail", 1)
    logged.delete_table("other")
    for ahead_s in (0, HOUR_S, DAY_S, 2 * DAY_S, HOLD_S, 40 * DAY_S):
        now_us = logged.clock.now_us() + ahead_s * 1_000_000
        found = logged.store.read(lambda e, catalog, now=now_us: trimming.search(e, catalog, now))  # type: ignore[misc]
        while not logged.store.write(lambda txn, now=now_us, ids=found: trimming.step_found(txn, now, ids)):  # type: ignore[misc]
            pass
        assert not logged.store.read(lambda e, catalog, now=now_us: trimming.search(e, catalog, now))  # type: ignore[misc]
        while not logged.store.write(lambda txn, now=now_us: reclaiming.step(txn, now)):  # type: ignore[misc]
            pass
        assert not logged.store.read(lambda e, catalog, now=now_us: reclaiming.is_due(e, catalog, now))  # type: ignore[misc]
