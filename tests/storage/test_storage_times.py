"""The times of changes where several processes write: each learns what the others have given, at little cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.storage.transaction import Transaction, noted_us
from support.logged_tables import DAY_S, HOUR_S, Logged, opened, put_item

HALF_NOTED_S = 0.05  # what nobody has noted yet


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


@pytest.fixture
def pair(path: Path) -> Iterator[tuple[Logged, Logged]]:
    """Two stores on one file, as two processes have them, each with a clock of its own."""
    with opened(path) as one, opened(path) as other:
        one.create(stream=True)
        one.create("u", stream=True)
        yield one, other


def last_us(logged: Logged, name: str = "t") -> int:
    return logged.log(name)[-1].at_us


@pytest.mark.parametrize("ahead_s", [0.000_001, HALF_NOTED_S, 1, HOUR_S, 400 * DAY_S])
def test_log_goes_on_behind_what_a_process_with_a_later_clock_has_written(
    pair: tuple[Logged, Logged], ahead_s: float
) -> None:
    one, other = pair
    one.clock.jump(ahead_s)
    one.put("a")
    other.put("b")
    one.put("c")
    times_us = [entry.at_us for entry in one.log()]
    assert times_us == sorted(set(times_us))
    assert times_us[0] == one.clock.now_us()


@pytest.mark.parametrize("ahead_s", [1, HOUR_S, 400 * DAY_S])
def test_change_of_another_table_is_not_dated_before_one_that_is_noted(
    pair: tuple[Logged, Logged], ahead_s: float
) -> None:
    one, other = pair
    one.clock.jump(ahead_s)
    one.put("a")
    other.put("b", "u")
    assert last_us(other, "u") > last_us(one, "t")


def test_every_change_behind_the_clock_is_noted(pair: tuple[Logged, Logged]) -> None:
    """There, nobody could know from the clock how far others have come."""
    one, other = pair
    one.clock.jump(DAY_S)
    one.put("a")
    one.clock.jump(-DAY_S)
    for number in range(5):
        one.put(f"{number}")
        other.put(f"{number}", "u")
    times_us = sorted(entry.at_us for name in ("t", "u") for entry in one.log(name))
    assert len(set(times_us)) == len(times_us) == 11
    assert times_us[-1] == last_us(other, "u")


def test_requests_of_a_group_that_came_behind_a_log_are_all_carried_out(pair: tuple[Logged, Logged]) -> None:
    """Those of the other table too, at one time that is later than both."""
    one, other = pair
    one.clock.jump(HALF_NOTED_S)
    one.put("a")

    ran: list[str] = []

    def put_into(name: str) -> Callable[[Transaction], None]:
        def work(transaction: Transaction) -> None:
            ran.append(name)
            put_item(transaction, name, {"id": {"S": "b"}})

        return work

    done = other.store.write_together([put_into("u"), put_into("t")])
    assert [job.error for job in done] == [None, None]
    assert ran == ["u", "t", "u", "t"]
    assert one.clock.now_us() < last_us(other, "t") == last_us(other, "u")
    assert (other.ids("t"), other.ids("u")) == (["a", "b"], ["b"])


def test_moment_that_a_setting_keeps_is_known_to_others_exactly(pair: tuple[Logged, Logged]) -> None:
    one, other = pair
    one.clock.jump(HALF_NOTED_S)
    one.alter(recovery_days=1)
    recovery = one.table().definition.recovery
    assert recovery is not None
    other.put("a", "u")
    assert last_us(other, "u") > recovery.since_us


def test_shards_that_follow_are_known_to_others_exactly(pair: tuple[Logged, Logged]) -> None:
    one, other = pair
    one.clock.advance(5 * HOUR_S)
    began_us = max(shard.began_us for stream in one.streams() for shard in one.shards(stream))
    assert began_us == one.clock.now_us()
    other.put("a", "u")
    assert last_us(other, "u") > began_us


@pytest.mark.parametrize("ahead_s", [0.000_001, HALF_NOTED_S, DAY_S])
def test_who_opens_a_file_knows_the_times_of_all_logs(path: Path, ahead_s: float) -> None:
    clock = ManualClock()
    with opened(path, clock) as logged:
        logged.create(stream=True)
        logged.create("u", stream=True)
        clock.jump(ahead_s)
        logged.put("a")
        newest_us = last_us(logged)
    clock.jump(-ahead_s)
    with opened(path, clock) as logged:
        logged.put("a", "u")
        assert last_us(logged, "u") == newest_us + 1


def test_time_is_not_noted_with_each_change(path: Path) -> None:
    """It would be another page that each of them writes."""
    with opened(path) as logged:
        logged.create(stream=True)
        created_us = logged.clock.now_us()
        for number in range(9):
            logged.clock.advance(0.01)
            logged.put(f"{number}")
            assert logged.read(noted_us) == created_us
        logged.clock.advance(0.01)
        logged.put("last")
        assert logged.read(noted_us) == logged.clock.now_us()


def test_write_after_one_of_another_process_looks_at_its_own_log_only(path: Path) -> None:
    with opened(path) as one, opened(path) as other:
        for number in range(50):
            one.create(f"t{number}", stream=True)
        one.put("a", "t7")
        other.put("a", "t8")
        one.put("b", "t7")
        statements: list[str] = []

        def note(cursor: Any, sql: str, bindings: Any) -> bool:
            statements.append(sql)
            return True

        writer = other.store._writer
        assert writer is not None
        writer.exec_trace = note
        other.put("b", "t8")
        writer.exec_trace = None
        log = f"log_{other.table('t8').id}"
        assert any(f"FROM {log} " in sql for sql in statements)
        assert [sql for sql in statements if " log_" in sql and log not in sql] == []
        assert len(statements) < 15
