"""The background thread: it begins when there is work, goes on after failures, and ends with its store."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from singletable import errors
from singletable.clock import ManualClock, SystemClock
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.chores import backfilling, sharding, sweeping, trimming
from singletable.storage.file.connections import Location
from singletable.storage.log import select_logs
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction
from support.logged_tables import DAY_S, Logged

PATIENCE_S = 60  # for what comes at once; only a failure takes so long
SWEEP_S = 0.01


class SetClock:
    """A clock of the machine that can be moved; nobody follows it."""

    def __init__(self) -> None:
        self.ahead_us = 0

    def now_us(self) -> int:
        return SystemClock().now_us() + self.ahead_us

    def elapsed_us(self) -> int:
        return SystemClock().elapsed_us() + self.ahead_us


class Swept:
    """What a store has swept, as it tells."""

    def __init__(self) -> None:
        self.came = threading.Event()

    def __call__(self, table: str, items: int) -> None:
        self.came.set()

    def wait(self) -> None:
        assert self.came.wait(PATIENCE_S)
        self.came.clear()


def open_store(path: Path | str, clock: Any = None, **settings: Any) -> Logged:
    clock = clock or SystemClock()
    return Logged(Store(Location(str(path), "relaxed"), clock, sweep_s=SWEEP_S, **settings), clock)


def thread_of(logged: Logged) -> threading.Thread:
    thread = logged.store.background._thread
    assert thread is not None
    return thread


def soon_s(clock: Any) -> int:
    return int(clock.now_us() // 1_000_000 - 10)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_items_go_while_nobody_asks(place: str, tmp_path: Path) -> None:
    swept, clock = Swept(), SetClock()
    logged = open_store(":memory:" if place == "memory" else tmp_path / "test.db", clock, on_expired=swept)
    logged.create(ttl="t")
    logged.put("a", t=clock.now_us() // 1_000_000 + 1_000)
    logged.put("b", t=clock.now_us() // 1_000_000 + 9_000)
    clock.ahead_us = 2_000 * 1_000_000
    swept.wait()
    assert logged.ids() == ["b"]
    logged.store.close()


def test_another_process_that_has_the_file_open_sweeps_as_well(tmp_path: Path) -> None:
    """The one that made the table does not sweep; the other learns of the table when it reads."""
    path = tmp_path / "test.db"
    swept = Swept()
    lazy = Logged(Store(Location(str(path), "relaxed"), SystemClock(), sweep_s=None), ManualClock())
    other = open_store(path, on_expired=swept)
    lazy.create(ttl="t")
    lazy.put("a", t=soon_s(SystemClock()))
    assert other.store.read_catalog(lambda catalog: catalog.names()) == ["t"]
    swept.wait()
    assert lazy.ids() == []
    for logged in (lazy, other):
        logged.store.close()


def test_store_without_anything_to_do_has_no_thread(tmp_path: Path) -> None:
    logged = open_store(tmp_path / "test.db")
    logged.create()
    logged.put("a")
    assert logged.store.background._thread is None
    logged.store.close()


def test_thread_ends_when_nothing_can_become_due_any_more(tmp_path: Path) -> None:
    logged = open_store(tmp_path / "test.db")
    logged.create(ttl="t")
    thread = thread_of(logged)
    logged.alter(ttl=None)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert logged.rows("SELECT * FROM dropped") == []
    logged.store.close()


def test_thread_is_started_again_when_it_is_needed_again(tmp_path: Path) -> None:
    swept = Swept()
    logged = open_store(tmp_path / "test.db", on_expired=swept)
    for _ in range(3):
        logged.create(ttl="t")
        logged.put("a", t=soon_s(logged.clock))
        swept.wait()
        thread = thread_of(logged)
        logged.delete_table()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    logged.store.close()


def test_log_that_only_a_deleted_table_has_left_is_taken_away_after_the_next_open(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    long_ago = open_store(path, ManualClock(SystemClock().now_us() - 3 * 24 * 3600 * 1_000_000))
    long_ago.create(stream=True)
    long_ago.put("a")
    long_ago.delete_table()
    long_ago.store.close()
    logged = open_store(path)
    thread = logged.store.background._thread
    if thread is not None:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()  # nothing can become due any more
    assert logged.read(select_logs) == []
    assert logged.rows("SELECT * FROM dropped") == []
    logged.store.close()


# --- the end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["memory", "file"])
def test_thread_ends_with_its_store(place: str, tmp_path: Path) -> None:
    logged = open_store(":memory:" if place == "memory" else tmp_path / "test.db")
    logged.create(stream=True)
    thread = thread_of(logged)
    assert thread.is_alive()
    logged.store.close()
    assert not thread.is_alive()


def test_store_can_be_closed_in_the_middle_of_a_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The piece is finished first."""
    works, goes_on = threading.Event(), threading.Event()
    step = sweeping.step

    def slow_step(transaction: Transaction, now_us: int) -> bool:
        works.set()
        assert goes_on.wait(PATIENCE_S)
        return step(transaction, now_us)

    monkeypatch.setattr(sweeping, "step", slow_step)
    path = tmp_path / "test.db"
    logged = open_store(path)
    logged.create(ttl="t")
    logged.put("a", t=soon_s(logged.clock))
    thread = thread_of(logged)
    assert works.wait(PATIENCE_S)
    closing = threading.Thread(target=logged.store.close)
    closing.start()
    goes_on.set()
    closing.join(PATIENCE_S)
    assert not closing.is_alive()
    assert not thread.is_alive()
    again = open_store(path)
    assert again.ids() == []
    again.store.close()


def test_thread_does_not_keep_a_forgotten_store(tmp_path: Path) -> None:
    def forget() -> tuple[threading.Thread, weakref.ref[Store]]:
        logged = open_store(tmp_path / "test.db")
        logged.create(stream=True)
        return thread_of(logged), weakref.ref(logged.store)

    gc.freeze()  # what other tests have left need not be looked through each time
    thread, store = forget()
    for _ in range(round(PATIENCE_S / SWEEP_S)):
        gc.collect()
        thread.join(SWEEP_S)
        if not thread.is_alive():
            break
    assert not thread.is_alive()
    assert store() is None


def test_thread_of_a_file_that_has_become_unreadable_ends(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    logged = open_store(path)
    logged.create(stream=True)
    thread = thread_of(logged)
    other = Store(Location(str(path), "relaxed"), SystemClock())
    other.background.stop()

    def outdate(transaction: Transaction) -> None:
        transaction.is_dirty = True
        transaction.execute("PRAGMA user_version = 99").fetchall()

    other.write(outdate)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert logged.store.background._thread is None
    logged.store.close()
    other.close()


# --- failures ---------------------------------------------------------------------------------


Due = Callable[[Execute, Catalog, int], bool]


def test_thread_goes_on_after_a_look_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([errors.StorageFailedError("busy"), RuntimeError("a mistake of ours")])
    search = sharding.search

    def fail_at_first(execute: Execute, catalog: Catalog, now_us: int) -> list[int]:
        for error in failures:
            raise error
        return search(execute, catalog, now_us)

    swept = Swept()
    monkeypatch.setattr(sharding, "search", fail_at_first)
    logged = open_store(tmp_path / "test.db", on_expired=swept)
    logged.create(ttl="t")
    logged.put("a", t=soon_s(logged.clock))
    swept.wait()
    assert next(failures, None) is None
    logged.store.close()


def test_store_closes_though_every_look_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = threading.Event()

    def fail(execute: Execute, catalog: Catalog, now_us: int) -> list[int]:
        failed.set()
        raise errors.NotADatabaseError("not today")

    monkeypatch.setattr(sharding, "search", fail)
    logged = open_store(tmp_path / "test.db")
    logged.create(stream=True)
    assert failed.wait(30)
    thread = thread_of(logged)
    logged.store.close()
    assert not thread.is_alive()


def test_chore_that_fails_does_not_keep_others_from_being_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once."""

    def fail(transaction: Transaction, now_us: int, found: list[int]) -> bool:
        raise errors.StorageFailedError("a full disk")

    monkeypatch.setattr(sharding, "step_found", fail)
    monkeypatch.setattr(sharding, "search", lambda execute, catalog, now_us: [1])
    swept = Swept()
    logged = open_store(tmp_path / "test.db", on_expired=swept)
    logged.create(ttl="t")
    for number in range(3):
        logged.put(f"{number}", t=soon_s(logged.clock))
        swept.wait()
    logged.store.close()
    told = "singletable.storage.sharding has failed, and is tried again: ST807: a full disk\n"
    assert caplog.text.count(told) == 1


def test_request_is_not_failed_by_work_that_it_leaves_to_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its change is stored by then; the work of others may be what fails."""

    def fail(transaction: Transaction, now_us: int) -> bool:
        raise errors.DiskFullError("a full disk")

    logged = open_store(tmp_path / "test.db")
    with monkeypatch.context() as patch:
        patch.setattr(backfilling, "step", fail)
        patch.setattr(backfilling, "is_due", lambda execute, catalog, now_us: True)
        logged.create()
        logged.store.background.begin()
        thread = thread_of(logged)
    thread.join(PATIENCE_S)  # it has nothing to do any more
    assert not thread.is_alive()
    logged.store.close()


def test_writes_are_not_failed_by_somebody_who_is_told_of_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("a mistake of a listener")

    logged = open_store(tmp_path / "test.db", ManualClock())
    logged.create(stream=True)
    logged.store.listen(fail)
    logged.put("a")
    logged.create("other")
    assert logged.ids() == ["a"]
    assert "could not be told" in caplog.text
    logged.store.close()


def test_write_is_not_failed_by_a_thread_that_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python starts none when the interpreter ends, nor does the system when there are too many."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    logged = open_store(tmp_path / "test.db")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        logged.create(stream=True)
    assert logged.store.background._thread is None
    logged.alter(recovery_days=1)
    assert thread_of(logged).is_alive()
    logged.store.close()


# --- forks ---------------------------------------------------------------------------------------


def in_child(work: Callable[[], bool]) -> bool:
    """Run something in a forked child; return what it returned there."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_forked_child_that_writes_has_a_thread_of_its_own(tmp_path: Path) -> None:
    logged = open_store(tmp_path / "test.db")
    logged.create(stream=True)

    def write() -> bool:
        before = logged.store.background._thread
        logged.put("a")
        is_started = before is None and thread_of(logged).is_alive()
        logged.store.close()
        return is_started

    assert in_child(write)
    assert thread_of(logged).is_alive()
    assert logged.ids() == ["a"]
    logged.store.close()


def test_clock_that_is_moved_in_a_child_does_not_meet_the_memory_of_its_parent() -> None:
    clock = ManualClock()
    logged = open_store(":memory:", clock)
    logged.create(stream=True)

    def move() -> bool:
        clock.advance(DAY_S)
        return True

    assert in_child(move)
    logged.store.close()


# --- under a manual clock -------------------------------------------------------------------------


def test_time_goes_on_for_a_store_that_is_closed(tmp_path: Path) -> None:
    clock = ManualClock()
    logged = open_store(tmp_path / "test.db", clock)
    logged.create(ttl="t")
    logged.put("a", t=clock.now_us() // 1_000_000 + 10)
    logged.store.close()
    clock.advance(60)
    again = open_store(tmp_path / "test.db", clock)
    assert again.ids() == ["a"]
    clock.advance(0)
    assert again.ids() == []
    again.store.close()


def test_store_that_could_not_be_opened_is_not_told_of_time(tmp_path: Path) -> None:
    clock = ManualClock()
    path = tmp_path / "text"
    path.write_text("no database at all" * 100)
    with pytest.raises(errors.NotADatabaseError):
        open_store(path, clock)
    clock.advance(DAY_S)


def test_one_clock_moves_several_stores(tmp_path: Path) -> None:
    clock = ManualClock()
    stores = [open_store(tmp_path / name, clock) for name in ("one", "two")] + [open_store(":memory:", clock)]
    for logged in stores:
        logged.create(ttl="t", stream=True)
        logged.put("a", t=clock.now_us() // 1_000_000 + 10)
    clock.advance(60)
    assert [logged.ids() for logged in stores] == [[], [], []]
    clock.advance(2 * DAY_S)
    assert [logged.seqs() for logged in stores] == [[2], [2], [2]]
    for logged in stores:
        logged.store.close()


def test_thread_does_not_sweep_under_a_manual_clock(tmp_path: Path) -> None:
    """Items expire when the clock is moved, and at no other time."""
    clock = ManualClock()
    logged = open_store(tmp_path / "test.db", clock)
    logged.create(ttl="t", stream=True)
    thread = logged.store.background._thread
    if thread is not None:  # it has filled the order of expiry
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    logged.put("a", t=clock.now_us() // 1_000_000 - 10)
    logged.store.background.wake()
    woken = logged.store.background._thread
    if woken is not None:
        woken.join(PATIENCE_S)
    assert logged.ids() == ["a"]
    clock.advance(0)
    assert logged.ids() == []
    logged.store.close()


def test_everything_that_is_due_is_done_at_once_when_the_clock_is_moved(tmp_path: Path) -> None:
    clock = ManualClock()
    logged = open_store(tmp_path / "test.db", clock)
    logged.create(ttl="t", stream=True)
    logged.create("gone", stream=True)
    logged.put("a", "gone")
    gone = logged.table("gone").id
    logged.delete_table("gone")
    for number in range(100):
        logged.put(f"{number}", t=clock.now_us() // 1_000_000 + 10)
    clock.advance(2 * DAY_S)
    assert logged.store.background._due((sharding, sweeping, trimming)) == {}
    assert logged.ids() == []
    assert gone not in logged.read(select_logs)
    assert logged.rows("SELECT * FROM dropped") == []
    logged.store.close()
