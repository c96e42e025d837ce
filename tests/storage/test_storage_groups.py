"""A group of requests in two steps, as the server writes it: carried out first, committed by who can wait."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from resilience.crash.faulty_sync_vfs import FAULTY_SYNC, FaultySyncs, faulty_syncs
from singletable import errors
from singletable.clock import ManualClock
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.check import check_file
from singletable.storage.definitions import KeyAttribute, KeySchema, TableDefinition
from singletable.storage.file.connections import Location
from singletable.storage.images import Image
from singletable.storage.schema import item_table
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.storage.write_groups import OpenGroup
from singletable.values.sizes import item_bytes
from support.serving import TIMEOUT_S

Work = Callable[[Transaction], str]
ID = KeyAttribute("id", "S")


def create(name: str) -> Work:
    """A request that makes a table."""

    def work(transaction: Transaction) -> str:
        definition = TableDefinition(
            id=transaction.new_id(), name=name, uuid="u", created_us=0, key=KeySchema((ID,)), attributes=(ID,)
        )
        transaction.create_table(definition)
        return name

    return work


def put(item_id: str) -> Work:
    """A request that writes an item, and tells of it."""

    def work(transaction: Transaction) -> str:
        table = table_of(transaction.catalog)
        item = {"id": {"S": item_id}}
        key = table.key_of(item)
        after = Image.of(item, item_bytes(item))
        transaction.apply(Change(table, key, transaction.get(table, key), after, transaction.now_us))
        return item_id

    return work


def refuse(transaction: Transaction) -> str:
    raise errors.ValidationError("no")


def refuse_too_late(transaction: Transaction) -> str:
    put("half")(transaction)
    raise errors.ValidationError("too late")


def table_of(catalog: Catalog) -> Table:
    table = catalog.get("t")
    assert table is not None
    return table


def stored(store: Store) -> set[str]:
    """Return the ids of all items that a reader sees."""

    def work(execute: Execute, catalog: Catalog) -> set[str]:
        rows: list[Any] = execute(f"SELECT item FROM {item_table(table_of(catalog).id)}").fetchall()
        return {json.loads(raw)["id"]["S"] for (raw,) in rows}

    return store.read(work)


def applied(store: Store, *works: Work) -> OpenGroup[str]:
    group = store.apply_together(works)
    assert group is not None
    return group


def committed(store: Store, group: OpenGroup[str]) -> list[str]:
    """Commit a group; return what each request of it came to."""
    outcomes = []
    for job in store.commit_together(group):
        assert job.is_done
        try:
            outcomes.append(job.get())
        except (errors.ApiError, errors.DatabaseError) as error:
            outcomes.append(type(error).__name__)
    return outcomes


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "test.db")


@pytest.fixture
def syncs() -> Iterator[FaultySyncs]:
    with faulty_syncs() as made:
        yield made


@pytest.fixture
def store(path: str, syncs: FaultySyncs) -> Iterator[Store]:
    opened = Store(Location(path, vfs=FAULTY_SYNC), ManualClock())
    opened.write(create("t"))
    yield opened
    assert opened._writing.acquire(timeout=TIMEOUT_S), "the lock was not given back"
    opened._writing.release()
    opened.close()
    assert check_file(path) == []


# --- carried out, not committed -------------------------------------------------------------------------


def test_nothing_is_visible_before_the_commit(store: Store) -> None:
    group = applied(store, put("a"), create("other"), put("b"))
    assert stored(store) == set()
    assert store.catalog.names() == ["t"]
    assert not any(job.is_done for job in group.jobs)
    assert committed(store, group) == ["a", "other", "b"]
    assert stored(store) == {"a", "b"}
    assert store.catalog.names() == ["other", "t"]


def test_group_is_committed_with_one_sync_by_any_thread(store: Store, syncs: FaultySyncs) -> None:
    group = applied(store, put("a"), put("b"))
    before = syncs.count
    with ThreadPoolExecutor(1) as beside:
        assert beside.submit(committed, store, group).result(TIMEOUT_S) == ["a", "b"]
    assert syncs.count == before + 1
    assert stored(store) == {"a", "b"}


def test_later_request_sees_what_earlier_ones_of_its_group_wrote(store: Store) -> None:
    def look(transaction: Transaction) -> str:
        table = table_of(transaction.catalog)
        return str(transaction.get(table, table.key_of({"id": {"S": "a"}})) is not None)

    assert committed(store, applied(store, look, put("a"), look)) == ["False", "a", "True"]


def test_group_that_wrote_nothing_is_done_without_a_sync(store: Store, syncs: FaultySyncs) -> None:
    before = syncs.count
    group = applied(store, refuse, lambda transaction: "read")
    assert committed(store, group) == ["ValidationError", "read"]
    assert syncs.count == before


# --- others write ---------------------------------------------------------------------------------------


def test_nothing_is_done_while_another_thread_writes(store: Store) -> None:
    began, let_go = threading.Event(), threading.Event()

    def wait(transaction: Transaction) -> str:
        began.set()
        assert let_go.wait(TIMEOUT_S)
        return put("a")(transaction)

    with ThreadPoolExecutor(1) as beside:
        writing = beside.submit(store.write, wait)
        assert began.wait(TIMEOUT_S)
        assert store.apply_together([put("b")]) is None
        let_go.set()
        writing.result(TIMEOUT_S)
    assert committed(store, applied(store, put("c"))) == ["c"]
    assert stored(store) == {"a", "c"}


def test_nothing_is_done_while_another_group_is_open(store: Store) -> None:
    group = applied(store, put("a"))
    assert store.apply_together([put("b")]) is None
    assert committed(store, group) == ["a"]
    assert stored(store) == {"a"}


def test_nothing_is_done_while_another_process_writes(store: Store, path: str) -> None:
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    assert store.apply_together([put("a")]) is None
    other.execute("COMMIT")
    other.close()
    assert not store._writing.locked()
    store.write(put("b"))  # who can wait
    assert stored(store) == {"b"}


def test_others_wait_for_an_open_group_and_are_done_behind_it(store: Store) -> None:
    group = applied(store, put("a"))
    with ThreadPoolExecutor(1) as beside:
        behind = beside.submit(store.write, put("b"))
        while not store._waiting:
            threading.Event().wait(0)
        assert stored(store) == set()
        assert committed(store, group) == ["a"]
        assert behind.result(TIMEOUT_S) == "b"
    assert stored(store) == {"a", "b"}


def test_group_sees_the_tables_that_another_process_made(store: Store, path: str) -> None:
    other = Store(Location(path), ManualClock())
    other.write(create("theirs"))
    other.close()
    assert committed(store, applied(store, put("a"))) == ["a"]
    assert store.catalog.names() == ["t", "theirs"]


# --- failures -------------------------------------------------------------------------------------------


def test_commit_that_fails_fails_all_of_its_group(store: Store, syncs: FaultySyncs) -> None:
    group = applied(store, put("a"), refuse, put("b"))
    syncs.arm(at=1)
    assert committed(store, group) == ["StorageFailedError"] * 3
    assert stored(store) == set()
    assert committed(store, applied(store, put("a"))) == ["a"]
    assert stored(store) == {"a"}


def test_refused_request_fails_alone(store: Store) -> None:
    group = applied(store, put("a"), refuse, put("b"))
    assert committed(store, group) == ["a", "ValidationError", "b"]
    assert stored(store) == {"a", "b"}


def test_request_that_fails_when_it_has_written_is_undone_and_the_others_are_carried_out_again(
    store: Store,
) -> None:
    runs = []

    def count(transaction: Transaction) -> str:
        runs.append(stored(store))
        return put("a")(transaction)

    group = applied(store, count, refuse_too_late, put("b"))
    assert stored(store) == set()
    assert committed(store, group) == ["a", "ValidationError", "b"]
    assert runs == [set(), set()]
    assert stored(store) == {"a", "b"}


def test_those_who_wait_are_carried_out_with_a_group_that_is_done_again(
    store: Store, syncs: FaultySyncs
) -> None:
    group = applied(store, put("a"), refuse_too_late)
    before = syncs.count
    with ThreadPoolExecutor(1) as beside:
        behind = beside.submit(store.write, put("b"))
        while not store._waiting:
            threading.Event().wait(0)
        assert committed(store, group) == ["a", "ValidationError"]
        assert behind.result(TIMEOUT_S) == "b"
    assert syncs.count == before + 1
    assert stored(store) == {"a", "b"}


def test_failure_of_the_file_fails_all_of_its_group(store: Store) -> None:
    def fill_the_disk(transaction: Transaction) -> str:
        raise apsw.FullError("database or disk is full")

    group = applied(store, put("a"), fill_the_disk, put("b"))
    assert committed(store, group) == ["DiskFullError"] * 3
    assert stored(store) == set()
    assert store.write(put("c")) == "c"


def test_interrupt_undoes_what_was_carried_out_and_gives_the_lock_back(store: Store) -> None:
    def interrupt(transaction: Transaction) -> str:
        put("half")(transaction)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.apply_together([put("a"), interrupt])
    assert committed(store, applied(store, put("b"))) == ["b"]
    assert stored(store) == {"b"}


# --- the end --------------------------------------------------------------------------------------------


class AnnouncedLock:
    """A lock that tells when somebody comes to take it in a `with` statement."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self.acquire = lock.acquire
        self.release = lock.release
        self.asked_for = threading.Event()

    def __enter__(self) -> None:
        self.asked_for.set()
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def test_close_waits_for_an_open_group(store: Store, path: str) -> None:
    group = applied(store, put("a"))
    lock = AnnouncedLock(store._writing)
    store._writing = lock  # type: ignore[assignment]
    with ThreadPoolExecutor(1) as beside:
        closing = beside.submit(store.close)
        assert lock.asked_for.wait(TIMEOUT_S)
        assert committed(store, group) == ["a"]
        closing.result(TIMEOUT_S)
    with pytest.raises(errors.DatabaseClosedError):
        stored(store)
    opened = Store(Location(path), ManualClock())
    assert stored(opened) == {"a"}
    opened.close()


def test_closed_store_carries_nothing_out_and_tells_those_who_can_wait(store: Store) -> None:
    store.close()
    assert store.apply_together([put("a")]) is None
    assert not store._writing.locked()
    with pytest.raises(errors.DatabaseClosedError, match="was closed"):
        store.write_together([put("a")])[0].get()
