"""The store: groups that share a COMMIT, requests that fail alone or together, catalogs that follow."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from singletable import Database, errors
from singletable.clock import ManualClock
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.check import check_file
from singletable.storage.definitions import (
    IndexDefinition,
    KeyAttribute,
    KeySchema,
    Projection,
    StreamDefinition,
    TableDefinition,
)
from singletable.storage.file.connections import Location
from singletable.storage.images import Image
from singletable.storage.log import INSERTED, Entry, entries_after
from singletable.storage.reading import select_counts, select_item, snapshot
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction
from singletable.storage.write_groups import GroupedWrite
from singletable.values.sizes import item_bytes
from singletable.values.types import Item
from support.sample_tables import create_plain

_ID = KeyAttribute("id", "S")
_GROUP = KeyAttribute("group", "S")


def create(transaction: Transaction, name: str = "t", *, stream: bool = False) -> None:
    index = IndexDefinition(
        id=transaction.new_id(),
        name="by_group",
        is_global=True,
        key=KeySchema((_GROUP,)),
        projection=Projection("ALL"),
    )
    transaction.create_table(
        TableDefinition(
            id=transaction.new_id(),
            name=name,
            uuid="u",
            created_us=0,
            key=KeySchema((_ID,)),
            attributes=(_ID, _GROUP),
            indexes=(index,),
            stream=StreamDefinition(view="NEW_AND_OLD_IMAGES", created_us=0) if stream else None,
            stream_label_us=0 if stream else None,
        )
    )


def put(transaction: Transaction, item: Item, name: str = "t") -> None:
    table = transaction.catalog.get(name)
    assert table is not None
    key = table.key_of(item)
    image = Image.of(item, item_bytes(item))
    transaction.apply(Change(table, key, transaction.get(table, key), image, transaction.now_us))


def stored(store: Store, item_id: str, name: str = "t") -> bytes | None:
    def work(execute, catalog):  # type: ignore[no-untyped-def]
        table = catalog.get(name)
        found = select_item(execute, table, table.key_of({"id": {"S": item_id}}))
        return None if found is None else found[1]

    return store.read(work)  # type: ignore[no-any-return]


def logged(store: Store, name: str = "t") -> list[Entry]:
    def work(execute: Execute, catalog: Catalog) -> list[Entry]:
        table = catalog.get(name)
        assert table is not None
        return list(entries_after(execute, table.id, after=0, rows_max=100))

    return store.read(work)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "test.db")
    opened = Store(Location(path, "relaxed"), ManualClock())
    opened.write(create)
    yield opened
    opened.close()
    if path != ":memory:":
        assert check_file(path) == []


def run_together(store: Store, **works: Callable[[Transaction], None]) -> dict[str, object]:
    """Run requests that all wait for the writer, so that one group holds them; return what became of each."""
    outcomes: dict[str, object] = {}

    def run(name: str, work: Callable[[Transaction], None]) -> None:
        try:
            store.write(work)
            outcomes[name] = None
        except errors.ApiError as error:
            outcomes[name] = error.message

    threads = []
    with store._writing:
        for count, (name, work) in enumerate(works.items(), 1):
            threads.append(threading.Thread(target=run, args=(name, work)))
            threads[-1].start()
            while len(store._waiting) < count:
                threading.Event().wait(0)
    for thread in threads:
        thread.join()
    return outcomes


def test_refused_request_leaves_the_rest_of_its_group_alone(store: Store) -> None:
    def refuse(transaction: Transaction) -> None:
        raise errors.ValidationError("no")

    outcomes = run_together(store, refused=refuse, put=lambda txn: put(txn, {"id": {"S": "a"}}))
    assert outcomes == {"refused": "no", "put": None}
    assert stored(store, "a") == b'{"id":{"S":"a"}}'


def test_request_that_fails_in_the_middle_of_writing_is_undone_alone(store: Store) -> None:
    """The others of its group are carried out without it."""

    def fail(transaction: Transaction) -> None:
        put(transaction, {"id": {"S": "half"}})
        create(transaction, "other")
        raise errors.ValidationError("too late")

    outcomes = run_together(
        store,
        before=lambda txn: put(txn, {"id": {"S": "a"}}),
        failing=fail,
        behind=lambda txn: put(txn, {"id": {"S": "b"}}),
    )
    assert outcomes == {"before": None, "failing": "too late", "behind": None}
    assert stored(store, "half") is None
    assert store.catalog.names() == ["t"]
    assert stored(store, "a") is not None
    assert stored(store, "b") is not None


def test_interrupted_request_leaves_the_others_to_be_done(store: Store) -> None:
    class Interrupt(BaseException):
        pass

    def interrupt(transaction: Transaction) -> None:
        put(transaction, {"id": {"S": "half"}})
        raise Interrupt

    other = threading.Thread(target=store.write, args=(lambda txn: put(txn, {"id": {"S": "a"}}),))
    interrupted = GroupedWrite[object](interrupt)
    with store._writing:
        other.start()
        while not store._waiting:
            threading.Event().wait(0)
        store._waiting.append(interrupted)
        with pytest.raises(Interrupt):
            store._write_group()
        interrupted.is_done = True
    other.join()
    assert stored(store, "half") is None
    assert stored(store, "a") is not None


def test_interrupted_read_does_not_hold_on_to_an_old_state(store: Store) -> None:
    def interrupt(execute: Execute, catalog: Catalog) -> None:
        with snapshot(execute):
            execute("SELECT 1 FROM meta").fetchall()
            raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            store.read(interrupt)
    store.write(lambda txn: put(txn, {"id": {"S": "new"}}))
    assert stored(store, "new") is not None


def test_counts_follow_items_and_index_entries(store: Store) -> None:
    table = store.catalog.get("t")
    assert table is not None
    store.write(lambda txn: put(txn, {"id": {"S": "a"}, "group": {"S": "g"}}))
    store.write(lambda txn: put(txn, {"id": {"S": "b"}}))
    counts = store.read(lambda execute, catalog: select_counts(execute, table.id))
    index_counts = store.read(lambda execute, catalog: select_counts(execute, table.indexes[0].id))
    assert counts == (2, 9 + 3)
    assert index_counts == (1, 9)


def test_change_times_never_go_back_when_the_clock_does(tmp_path: Path) -> None:
    clock = ManualClock(time_us=1_000_000)
    path = str(tmp_path / "test.db")
    first = Store(Location(path, "relaxed"), clock)
    first.write(lambda txn: create(txn, stream=True))
    first.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    first.close()
    clock.time_us = 10
    second = Store(Location(path, "relaxed"), clock)
    second.write(lambda txn: put(txn, {"id": {"S": "b"}}))
    second.write(lambda txn: put(txn, {"id": {"S": "c"}}))
    times = [entry.at_us for entry in logged(second)]
    second.close()
    assert times == [1_000_000, 1_000_001, 1_000_002]
    assert check_file(path) == []


def test_unchanged_item_leaves_no_log_entry(tmp_path: Path) -> None:
    store = Store(Location(str(tmp_path / "test.db"), "relaxed"), ManualClock())
    store.write(lambda txn: create(txn, stream=True))
    for _ in range(2):
        store.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    assert [entry.event for entry in logged(store)] == [INSERTED]
    store.close()


def test_closed_store_says_so(tmp_path: Path) -> None:
    store = Store(Location(str(tmp_path / "test.db"), "relaxed"), ManualClock())
    store.close()
    store.close()
    with pytest.raises(errors.DatabaseClosedError, match="was closed"):
        store.write(create)
    with pytest.raises(errors.DatabaseClosedError, match="was closed"):
        store.read(lambda execute, catalog: None)


def test_two_stores_on_one_file_see_each_others_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    one, two = (Store(Location(path, "relaxed"), ManualClock()) for _ in range(2))
    one.write(create)
    two.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    assert stored(one, "a") == stored(two, "a") == b'{"id":{"S":"a"}}'
    table = two.catalog.get("t")
    assert table is not None
    two.write(lambda txn: txn.delete_table(txn.catalog.get("t")))  # type: ignore[arg-type]
    assert (
        one.read(lambda execute, catalog: (execute("SELECT 1 FROM meta").fetchall(), catalog.names())[1])
        == []
    )
    one.close()
    two.close()


def test_newer_release_that_upgrades_the_file_ends_the_writing_of_an_older_one(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    store = Store(Location(path, "relaxed"), ManualClock())
    store.write(create)
    newer = apsw.Connection(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(errors.NewerFormatError, match="has format 99"):
        store.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    with pytest.raises(errors.NewerFormatError, match="has format 99"):
        stored(store, "a")
    store.close()


def test_relative_path_stays_right_when_the_directory_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with Database.open("app.db") as db:
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert db.list_tables()["TableNames"] == []
        child = os.fork()
        if child == 0:
            create_plain(db)
            os._exit(0)
        os.waitpid(child, 0)
        assert db.list_tables()["TableNames"] == ["plain"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_file_that_has_gone_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    db = Database.open(path)
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(errors.DatabaseError):
        db.list_tables()
    assert not path.exists()
