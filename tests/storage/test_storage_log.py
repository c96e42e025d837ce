"""The log of a table: what is written into it, in which order, and how it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from singletable import errors
from singletable.clock import ManualClock
from singletable.storage.log import (
    EXPIRED,
    INSERTED,
    MODIFIED,
    REMOVED,
    LogEnd,
    entries_after,
    newest_time_us,
    select_end,
    select_logs,
    select_start,
    seq_at,
)
from support.logged_tables import DAY_S, Logged, opened


@pytest.fixture(params=["memory", "file"])
def logged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Logged]:
    with opened(":memory:" if request.param == "memory" else tmp_path / "test.db") as store:
        yield store


def test_change_is_logged_with_what_was_and_what_is(logged: Logged) -> None:
    logged.create(stream=True)
    at_us = logged.clock.now_us()
    logged.put("a", n=1)
    logged.put("a", n=2)
    logged.delete("a")
    key = logged.table().key_of({"id": {"S": "a"}})
    one, two = b'{"id":{"S":"a"},"n":{"N":"1"}}', b'{"id":{"S":"a"},"n":{"N":"2"}}'
    assert logged.log() == [
        (1, at_us, INSERTED, *key, None, one),
        (2, at_us, MODIFIED, *key, one, two),
        (3, at_us, REMOVED, *key, two, None),
    ]
    assert logged.log()[0].key == key


def test_without_a_stream_only_the_image_before_is_kept(logged: Logged) -> None:
    logged.create(recovery_days=35)
    logged.put("a", n=1)
    logged.put("a", n=2)
    one = b'{"id":{"S":"a"},"n":{"N":"1"}}'
    assert [(entry.before, entry.after) for entry in logged.log()] == [(None, None), (one, None)]


def test_stream_that_joins_recovery_keeps_both_images_from_then_on(logged: Logged) -> None:
    logged.create(recovery_days=35)
    logged.put("a")
    logged.clock.advance(1)
    logged.alter(stream=True)
    logged.put("b")
    logged.alter(stream=False)
    logged.put("c")
    assert [entry.after is not None for entry in logged.log()] == [False, True, False]


def test_table_without_stream_and_recovery_has_no_log(logged: Logged) -> None:
    logged.create()
    logged.put("a")
    assert logged.read(select_logs) == []
    assert logged.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'log_*'") == []


def test_numbers_of_tables_are_their_own(logged: Logged) -> None:
    logged.create("one", stream=True)
    logged.create("two", stream=True)
    for name in ("one", "two", "one", "one"):
        logged.put(f"{len(logged.seqs(name))}", name)
    assert (logged.seqs("one"), logged.seqs("two")) == ([1, 2, 3], [1])


def test_request_that_fails_leaves_no_gap(logged: Logged) -> None:
    logged.create(stream=True)
    logged.put("a")

    def fail() -> None:
        def work(transaction) -> None:  # type: ignore[no-untyped-def]
            transaction.is_dirty = True
            table = logged.table()
            transaction.execute(table.insert_log, (0, 1, b"x", b"", None, b"{}"))
            raise errors.ValidationError("no")

        logged.store.write(work)

    with pytest.raises(errors.ValidationError):
        fail()
    logged.put("b")
    assert logged.seqs() == [1, 2]


def test_log_goes_on_when_it_is_turned_on_again(logged: Logged) -> None:
    """What happened in between is not in it; a stream begins behind what was there."""
    logged.create(stream=True)
    logged.put("a")
    logged.clock.advance(1)
    logged.alter(stream=False)
    logged.put("b")
    logged.clock.advance(1)
    logged.alter(stream=True)
    logged.put("c")
    assert logged.seqs() == [1, 2]
    first, second = logged.streams()
    assert [(shard.first, shard.last) for shard in logged.shards(first)] == [(1, 1)]
    assert [(shard.first, shard.last) for shard in logged.shards(second)] == [(2, None)]
    assert second.label_us > first.label_us


def test_streams_that_are_turned_on_in_one_moment_have_different_labels(logged: Logged) -> None:
    logged.create(stream=True)
    for is_on in (False, True, False, True):
        logged.alter(stream=is_on)
    logged.delete_table()
    logged.create(stream=True)
    labels = [stream.label_us for stream in logged.streams()]
    assert len(set(labels)) == len(labels) == 4
    assert labels == sorted(labels)
    assert all(label % 1000 == 0 for label in labels)


def test_expiry_is_a_removal_of_its_own_kind(logged: Logged) -> None:
    logged.create(stream=True, ttl="expires")
    logged.put("a", expires=logged.clock.now_us() // 1_000_000 + 10)
    logged.clock.advance(60)
    assert [entry.event for entry in logged.log()] == [INSERTED, EXPIRED]
    assert logged.log()[-1].after is None
    assert logged.log()[-1].before == logged.log()[0].after


# --- times ------------------------------------------------------------------------------------


def test_times_never_go_back_and_go_on_with_the_clock(tmp_path: Path) -> None:
    clock = ManualClock(1_000_000_000)
    path = tmp_path / "test.db"
    with opened(path, clock) as logged:
        logged.create(stream=True)
        for jump_s in (0, -500, 0, 400, 100, 1):
            clock.jump(jump_s)
            logged.put(f"{len(logged.log())}")
        times = [entry.at_us for entry in logged.log()]
    base = 1_000_000_000
    # Behind a clock that was put back, each transaction has a time of its own.
    assert times == [base, base + 1, base + 2, base + 3, base + 4, base + 1_000_000]


def test_times_of_a_file_go_on_where_another_process_left_them(tmp_path: Path) -> None:
    clock = ManualClock()
    path = tmp_path / "test.db"
    with opened(path, clock) as one, opened(path, ManualClock(clock.now_us() - DAY_S * 1_000_000)) as late:
        one.create(stream=True)
        one.put("a")
        late.put("b")
        one.put("c")
        times = [entry.at_us for entry in one.log()]
    assert times == [clock.now_us(), clock.now_us() + 1, clock.now_us() + 2]


# --- reading ----------------------------------------------------------------------------------------


def filled(logged: Logged, *times_s: int) -> int:
    """Log changes at these times after the start, and return the table's id."""
    logged.create(stream=True)
    start_us = logged.clock.now_us()
    for number, time_s in enumerate(times_s):
        logged.clock.advance(time_s - (logged.clock.now_us() - start_us) // 1_000_000)
        logged.put(f"{number}")
    return logged.table().id


def test_entries_are_read_behind_a_number(logged: Logged) -> None:
    table_id = filled(logged, *range(6))

    def seqs(after: int, rows_max: int) -> list[int]:
        entries = logged.read(
            lambda execute: list(entries_after(execute, table_id, after=after, rows_max=rows_max))
        )
        return [entry.seq for entry in entries]

    assert seqs(0, 100) == [1, 2, 3, 4, 5, 6]
    assert seqs(2, 2) == [3, 4]
    assert seqs(6, 100) == []


def test_number_at_a_time_is_that_of_the_last_entry_until_then(logged: Logged) -> None:
    start_us = logged.clock.now_us()
    times_s = (1, 1, 1, 5, 6, 6, 9)
    table_id = filled(logged, *times_s)
    for time_s in range(12):
        found = logged.read(lambda execute, at=start_us + time_s * 1_000_000: seq_at(execute, table_id, at))  # type: ignore[misc]
        assert found == len([at for at in times_s if at <= time_s]), time_s


def test_number_at_a_time_before_what_is_kept_is_none(logged: Logged) -> None:
    table_id = filled(logged, 0, 10, DAY_S + 20, DAY_S + 30)
    start_us = logged.log()[0].at_us
    assert logged.seqs() == [2, 3, 4]  # the other was trimmed
    assert logged.read(lambda execute: seq_at(execute, table_id, start_us - 1)) == 0
    assert logged.read(lambda execute: seq_at(execute, table_id, start_us)) == 2


def test_ends_of_a_log(logged: Logged) -> None:
    logged.create(stream=True)
    table_id = logged.table().id
    assert logged.read(lambda execute: select_end(execute, table_id)) == LogEnd(0, 0)
    assert logged.read(lambda execute: select_start(execute, table_id)) is None
    assert logged.read(lambda execute: seq_at(execute, table_id, 1 << 60)) == 0
    logged.put("a")
    logged.clock.advance(1)
    logged.put("b")
    end = LogEnd(2, logged.clock.now_us())
    assert logged.read(lambda execute: select_end(execute, table_id)) == end
    assert logged.read(lambda execute: select_start(execute, table_id)) == 1


def test_newest_time_is_that_of_any_log(logged: Logged) -> None:
    assert logged.read(lambda execute: newest_time_us(execute, ())) == 0
    for name in ("one", "two", "three"):
        logged.create(name, stream=True)
    logged.put("a", "one")
    logged.clock.advance(1)
    logged.put("a", "two")
    found = logged.read(lambda execute: newest_time_us(execute, select_logs(execute)))
    assert found == logged.clock.now_us()
