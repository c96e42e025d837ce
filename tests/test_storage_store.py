"""The store: groups that share a COMMIT, requests that fail alone or together, catalogs that follow."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from singletable import errors
from singletable.clock import ManualClock
from singletable.storage.changes import Change
from singletable.storage.check import check_file
from singletable.storage.connections import Place
from singletable.storage.definitions import (
    IndexDefinition,
    KeyAttribute,
    KeySchema,
    Projection,
    StreamDefinition,
    TableDefinition,
)
from singletable.storage.images import Image
from singletable.storage.reading import select_counts, select_raw
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction
from singletable.values.sizes import item_bytes
from singletable.values.types import Item

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
        return select_raw(execute, table, table.key_of({"id": {"S": item_id}}))

    return store.read(work)  # type: ignore[no-any-return]


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "test.db")
    opened = Store(Place(path, "relaxed"), ManualClock())
    opened.write(create)
    yield opened
    opened.close()
    if path != ":memory:":
        assert check_file(path) == []


def test_refused_request_leaves_the_rest_of_its_group_alone(store: Store) -> None:
    """Both wait for the writer, so that one group holds them."""

    def refuse(transaction: Transaction) -> None:
        raise errors.ValidationError("no")

    outcomes: dict[str, object] = {}

    def run(name: str, work) -> None:  # type: ignore[no-untyped-def]
        try:
            outcomes[name] = store.write(work)
        except errors.ApiError as error:
            outcomes[name] = error.message

    threads = [
        threading.Thread(target=run, args=("refused", refuse)),
        threading.Thread(target=run, args=("put", lambda txn: put(txn, {"id": {"S": "a"}}))),
    ]
    with store._writing:
        for thread in threads:
            thread.start()
        while len(store._waiting) < 2:
            threading.Event().wait(0)
    for thread in threads:
        thread.join()
    assert outcomes == {"refused": "no", "put": None}
    assert stored(store, "a") == b'{"id":{"S":"a"}}'


def test_failure_after_writing_undoes_the_whole_group(store: Store) -> None:
    def fail(transaction: Transaction) -> None:
        put(transaction, {"id": {"S": "b"}})
        raise errors.ValidationError("too late")

    with pytest.raises(AssertionError, match="after it had begun to write"):
        store.write(fail)
    assert stored(store, "b") is None
    store.write(lambda txn: put(txn, {"id": {"S": "c"}}))
    assert stored(store, "c") is not None


def test_table_of_an_undone_group_is_not_in_the_catalog(store: Store) -> None:
    def fail(transaction: Transaction) -> None:
        create(transaction, "other")
        raise errors.ValidationError("too late")

    with pytest.raises(AssertionError):
        store.write(fail)
    assert store.catalog.names() == ["t"]
    store.write(lambda txn: create(txn, "other"))
    assert store.catalog.names() == ["other", "t"]


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
    first = Store(Place(path, "relaxed"), clock)
    first.write(lambda txn: create(txn, stream=True))
    first.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    first.close()
    clock.time_us = 10
    second = Store(Place(path, "relaxed"), clock)
    second.write(lambda txn: put(txn, {"id": {"S": "b"}}))
    times = second.read(lambda execute, catalog: execute("SELECT at FROM log ORDER BY seq").fetchall())
    second.close()
    assert times == [(1_000_000,), (1_000_000,)]
    assert check_file(path) == []


def test_unchanged_item_leaves_no_log_entry(tmp_path: Path) -> None:
    store = Store(Place(str(tmp_path / "test.db"), "relaxed"), ManualClock())
    store.write(lambda txn: create(txn, stream=True))
    for _ in range(2):
        store.write(lambda txn: put(txn, {"id": {"S": "a"}}))
    assert store.read(lambda execute, catalog: execute("SELECT event FROM log").fetchall()) == [(1,)]
    store.close()


def test_closed_store_says_so(tmp_path: Path) -> None:
    store = Store(Place(str(tmp_path / "test.db"), "relaxed"), ManualClock())
    store.close()
    store.close()
    with pytest.raises(errors.DatabaseClosedError, match="was closed"):
        store.write(create)
    with pytest.raises(errors.DatabaseClosedError, match="was closed"):
        store.read(lambda execute, catalog: None)


def test_two_stores_on_one_file_see_each_others_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    one, two = (Store(Place(path, "relaxed"), ManualClock()) for _ in range(2))
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
