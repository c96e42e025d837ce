"""Global indexes with a delay: what is late and what is not, for how long, and what must not confuse it."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from resilience.crash.faulty_sync_vfs import FAULTY_SYNC, faulty_syncs
from singletable import Database
from singletable.cli.parser import build_parser
from singletable.clock import ManualClock
from singletable.errors import StorageFailedError
from singletable.limits import PAGE_BYTES_MAX
from singletable.server import Address
from singletable.storage.changes import Change
from singletable.storage.images import Image
from singletable.storage.propagation import Propagation
from singletable.storage.transaction import Transaction
from singletable.values.sizes import item_bytes
from support.sample_tables import (
    all_pages,
    attributes,
    background,
    create_single,
    finish,
    index,
    item,
    key_schema,
    s,
)
from support.serving import CommandProcess, HttpSocket, call

DELAY_S = 0.5


@pytest.fixture(params=["memory", "file"])
def late(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    """A database with a delay, and a table with a global index in it."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "late.db")
    with Database.open(path, durability="relaxed", clock=clock, index_delay_s=DELAY_S) as database:
        create_single(database)
        yield database
        assert database.check() == []


def put(db: Database, name: str, **more: Any) -> None:
    db.put_item(TableName="single", Item=item(name, "1", **{"GSI1PK": "g", "GSI1SK": name, **more}))


def delete(db: Database, name: str) -> None:
    db.delete_item(TableName="single", Key=item(name, "1"))


def indexed(db: Database, **more: Any) -> list[str]:
    """The names that the index has, in its order."""
    answer = db.query(
        TableName="single",
        IndexName="GSI1",
        KeyConditionExpression="GSI1PK = :g",
        ExpressionAttributeValues={":g": s("g")},
        **more,
    )
    return [found["PK"]["S"] for found in answer["Items"]]


# --- time --------------------------------------------------------------------------------------------


def test_index_shows_a_new_item_after_the_delay(late: Database, clock: ManualClock) -> None:
    put(late, "a")
    assert late.get_item(TableName="single", Key=item("a", "1"))["Item"]["PK"] == s("a")
    assert late.scan(TableName="single")["Count"] == 1
    assert indexed(late) == []
    assert late.scan(TableName="single", IndexName="GSI1")["Count"] == 0
    clock.time_us += 499_999
    assert indexed(late) == []
    clock.time_us += 1
    assert indexed(late) == ["a"]
    assert late.scan(TableName="single", IndexName="GSI1")["Count"] == 1


def test_index_shows_a_deleted_item_until_the_delay_is_over(late: Database, clock: ManualClock) -> None:
    put(late, "a")
    clock.advance(DELAY_S)
    delete(late, "a")
    assert "Item" not in late.get_item(TableName="single", Key=item("a", "1"))
    assert indexed(late) == ["a"]
    clock.advance(DELAY_S)
    assert indexed(late) == []


def test_items_stay_in_their_old_places_with_their_old_attributes(late: Database, clock: ManualClock) -> None:
    for name in ("a", "b", "c", "d"):
        put(late, name, color="red")
    clock.advance(DELAY_S)
    for name in ("a", "b", "d"):
        put(late, name, GSI1SK=f"moved {name}", color="blue")
    assert indexed(late) == ["a", "b", "c", "d"]
    assert indexed(late, ScanIndexForward=False) == ["d", "c", "b", "a"]
    page = late.scan(TableName="single", IndexName="GSI1", FilterExpression="GSI1SK = PK")
    assert [found["color"] for found in page["Items"]] == [s("red")] * 4
    clock.advance(DELAY_S)
    assert indexed(late) == ["c", "a", "b", "d"]


def test_several_changes_of_an_item_arrive_one_after_the_other(late: Database, clock: ManualClock) -> None:
    colors = ("red", "green", "blue")
    for color in colors:
        put(late, "a", color=color)
        clock.advance(0.1)
    delete(late, "a")
    clock.advance(0.1)
    seen: list[str | None] = []
    for _ in range(5):
        page = late.scan(TableName="single", IndexName="GSI1")
        seen.append(page["Items"][0]["color"]["S"] if page["Items"] else None)
        clock.advance(0.1)
    assert seen == [None, *colors, None]


def test_changes_do_not_wait_for_a_clock_that_was_put_back(late: Database, clock: ManualClock) -> None:
    put(late, "a")
    clock.advance(-3600)
    assert indexed(late) == ["a"]
    put(late, "b")
    assert indexed(late) == ["a"]
    clock.advance(DELAY_S)
    assert indexed(late) == ["a", "b"]


# --- what is not delayed ------------------------------------------------------------------------------


def test_local_index_is_not_delayed(late: Database) -> None:
    late.create_table(
        TableName="both",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", g="S"),
        GlobalSecondaryIndexes=[index("global", "g")],
        LocalSecondaryIndexes=[index("local", "pk", "g")],
        BillingMode="PAY_PER_REQUEST",
    )
    late.put_item(TableName="both", Item={"pk": s("p"), "sk": s("1"), "g": s("g")})
    counts = {name: late.scan(TableName="both", IndexName=name)["Count"] for name in ("global", "local")}
    assert counts == {"global": 0, "local": 1}


def test_nothing_is_delayed_unless_it_is_asked_for(db: Database) -> None:
    create_single(db)
    put(db, "a")
    assert indexed(db) == ["a"]


def test_everything_has_arrived_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "late.db"
    with Database.open(path, clock=clock, index_delay_s=DELAY_S) as database:
        create_single(database)
        put(database, "a")
        assert indexed(database) == []
    with Database.open(path, clock=clock, index_delay_s=DELAY_S) as database:
        assert indexed(database) == ["a"]


def test_delay_belongs_to_who_asked_for_it(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "shared.db"
    with (
        Database.open(path, clock=clock, index_delay_s=DELAY_S) as late,
        Database.open(path, clock=clock) as other,
    ):
        create_single(late)
        put(late, "a")
        put(other, "b")
        assert indexed(other) == ["a", "b"]
        assert indexed(late) == ["b"]


# --- pages -----------------------------------------------------------------------------------------------


def test_pages_of_a_megabyte_are_those_of_the_items_as_they_were(late: Database, clock: ManualClock) -> None:
    names = ("a", "b", "c", "d", "e")
    for name in names:
        put(late, name, filler="x" * 390_000)
    clock.advance(DELAY_S)
    request: Any = {"TableName": "single", "IndexName": "GSI1", "ReturnConsumedCapacity": "INDEXES"}
    before = all_pages(late, "scan", **request)
    for name in names:
        put(late, name, GSI1SK="small")
    for number in range(20):
        put(late, f"new{number}")
    assert all_pages(late, "scan", **request) == before
    assert [page["ScannedCount"] for page in before] == [3, 2]
    assert sum(len(found["filler"]["S"]) for found in before[0]["Items"]) > PAGE_BYTES_MAX


def test_cursor_goes_on_behind_an_item_that_has_gone_meanwhile(late: Database, clock: ManualClock) -> None:
    for name in ("a", "b", "c"):
        put(late, name)
    clock.advance(DELAY_S)
    delete(late, "b")
    request: Any = {"TableName": "single", "IndexName": "GSI1", "Limit": 2}
    page = late.scan(**request)
    assert page["LastEvaluatedKey"]["PK"] == s("b")
    clock.advance(DELAY_S)
    page = late.scan(**request, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert [found["PK"] for found in page["Items"]] == [s("c")]


# --- tables and indexes that come and go ---------------------------------------------------------------------


def add_index(db: Database) -> None:
    db.update_table(
        TableName="single",
        AttributeDefinitions=attributes(color="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-color", "color")}],
    )


def colors(db: Database) -> list[str]:
    return [found["color"]["S"] for found in db.scan(TableName="single", IndexName="by-color")["Items"]]


def test_new_index_has_what_its_table_had_when_it_was_made(late: Database, clock: ManualClock) -> None:
    put(late, "a", color="red")
    add_index(late)
    assert colors(late) == ["red"]
    assert indexed(late) == []
    put(late, "a", color="blue")
    assert colors(late) == ["red"]
    assert indexed(late) == []
    clock.advance(DELAY_S)
    assert colors(late) == ["blue"]
    assert indexed(late) == ["a"]


def test_change_during_a_backfill_is_late_in_the_new_index(late: Database, clock: ManualClock) -> None:
    put(late, "a", color="red")
    background(late).stop()
    add_index(late)
    put(late, "a", color="blue")
    finish(late)
    assert colors(late) == ["red"]
    clock.advance(DELAY_S)
    assert colors(late) == ["blue"]


def test_index_of_the_same_name_is_another_one(late: Database) -> None:
    put(late, "a", color="red")
    add_index(late)
    put(late, "a", color="blue")
    removal: Any = [{"Delete": {"IndexName": "by-color"}}]
    late.update_table(TableName="single", GlobalSecondaryIndexUpdates=removal)
    add_index(late)
    assert colors(late) == ["blue"]


def test_table_of_the_same_name_is_another_one(late: Database, clock: ManualClock) -> None:
    put(late, "a", color="red")
    clock.advance(DELAY_S)
    put(late, "a", color="blue")
    late.delete_table(TableName="single")
    create_single(late)
    assert indexed(late) == []
    put(late, "b")
    clock.advance(DELAY_S)
    assert indexed(late) == ["b"]


# --- bounds ------------------------------------------------------------------------------------------------


def bound(db: Database, clock: ManualClock, **bounds: int) -> Propagation:
    propagation = Propagation(delay_us=500_000, clock=clock, **bounds)
    db._session.store.propagation = propagation
    return propagation


def test_oldest_of_too_many_changes_arrives_early(late: Database, clock: ManualClock) -> None:
    bound(late, clock, changes_max=3)
    for name in ("a", "b", "c", "d", "e"):
        put(late, name)
    assert indexed(late) == ["a", "b"]
    clock.advance(DELAY_S)
    assert indexed(late) == ["a", "b", "c", "d", "e"]


def test_oldest_of_too_large_changes_arrives_early(late: Database, clock: ManualClock) -> None:
    for name in ("a", "b", "c"):
        put(late, name, filler="x" * 1_000)
    bound(late, clock, bytes_max=2_500)
    for name in ("a", "b", "c"):
        delete(late, name)
    assert indexed(late) == ["b", "c"]


def test_change_larger_than_all_bounds_arrives_with_its_commit(late: Database, clock: ManualClock) -> None:
    put(late, "a", filler="x" * 1_000)
    bound(late, clock, bytes_max=500)
    delete(late, "a")
    assert indexed(late) == []


def test_nothing_is_held_when_everything_has_arrived(late: Database, clock: ManualClock) -> None:
    propagation = bound(late, clock)
    for name in ("a", "b", "a"):
        put(late, name)
        delete(late, name)
    assert propagation._held_bytes > 0
    clock.advance(DELAY_S)
    assert indexed(late) == []
    assert (len(propagation._waiting), propagation._held_bytes, propagation._indexes) == (0, 0, {})


# --- commits -----------------------------------------------------------------------------------------------


def test_commit_that_fails_leaves_the_index_as_it_was(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "late.db"
    with (
        faulty_syncs() as syncs,
        Database.open(path, clock=clock, index_delay_s=DELAY_S, vfs=FAULTY_SYNC) as database,
    ):
        create_single(database)
        put(database, "a")
        clock.advance(DELAY_S)
        put(database, "b")
        syncs.arm(at=1)
        with pytest.raises(StorageFailedError):
            delete(database, "a")
        syncs.arm(at=1)
        with pytest.raises(StorageFailedError):
            put(database, "b", color="red")
        assert indexed(database) == ["a"]
        clock.advance(DELAY_S)
        assert indexed(database) == ["a", "b"]
        delete(database, "a")
        clock.advance(DELAY_S)
        assert indexed(database) == ["b"]


class Watched(Propagation):
    """Reads the index in the middle of a commit: just before it, and before its end is told."""

    def __init__(self, database: Database, clock: ManualClock, **bounds: int) -> None:
        super().__init__(delay_us=500_000, clock=clock, **bounds)
        database._session.store.propagation = self
        self.database = database
        self.clock = clock
        self.seen: list[list[str]] = []

    @contextmanager
    def committing(self, changes: Iterable[Change]) -> Iterator[None]:
        with super().committing(changes):
            self.seen.append(indexed(self.database))
            yield
            self.clock.advance(60)
            self.seen.append(indexed(self.database))


@pytest.fixture
def file(tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    """A file: in memory, nobody can read beside a commit."""
    path = tmp_path / "late.db"
    with Database.open(path, durability="relaxed", clock=clock, index_delay_s=DELAY_S) as database:
        create_single(database)
        yield database


def test_delay_begins_when_the_commit_is_over(file: Database, clock: ManualClock) -> None:
    watched = Watched(file, clock)
    put(file, "a")
    assert watched.seen == [[], []]
    assert indexed(file) == []
    clock.advance(DELAY_S)
    assert indexed(file) == ["a"]


def test_nobody_sees_a_change_before_its_commit(file: Database, clock: ManualClock) -> None:
    """Also of more changes than may be held, where the first is what the second has found."""

    def put_twice(transaction: Transaction) -> None:
        table = transaction.catalog.get("single")
        assert table is not None
        for color in ("red", "blue"):
            new = item("a", "1", GSI1PK="g", GSI1SK="a", color=color)
            key = table.key_of(new)
            image = Image.of(new, item_bytes(new))
            transaction.apply(Change(table, key, transaction.get(table, key), image, transaction.now_us))

    watched = Watched(file, clock, changes_max=1)
    file._session.store.write(put_twice)
    assert watched.seen == [[], []]
    assert file.scan(TableName="single", IndexName="GSI1")["Items"][0]["color"] == s("red")
    clock.advance(DELAY_S)
    assert file.scan(TableName="single", IndexName="GSI1")["Items"][0]["color"] == s("blue")


# --- threads -----------------------------------------------------------------------------------------------


def test_readers_never_see_a_young_change_beside_writers(tmp_path: Path, clock: ManualClock) -> None:
    """The clock stands still: whatever is written, every page is that of the beginning."""
    with Database.open(
        tmp_path / "late.db", durability="relaxed", clock=clock, index_delay_s=DELAY_S
    ) as database:
        create_single(database)
        names = [f"{number:02}" for number in range(20)]
        for name in names:
            put(database, name)
        clock.advance(DELAY_S)
        failures: list[BaseException] = []
        writers_left = 2

        def watched(work: Callable[[], None]) -> Callable[[], None]:
            def run() -> None:
                try:
                    work()
                except BaseException as error:
                    failures.append(error)

            return run

        def write(shift: int) -> None:
            nonlocal writers_left
            try:
                for number in range(300):
                    name = f"{(number * 7 + shift) % 25:02}"
                    if number % 3:
                        put(database, name, GSI1SK=f"{number:04}")
                    else:
                        delete(database, name)
            finally:
                writers_left -= 1

        def read() -> None:
            is_last = False
            while not is_last:
                is_last = writers_left == 0
                assert indexed(database) == names

        threads = [threading.Thread(target=watched(work)) for work in (lambda: write(0), lambda: write(3))]
        threads += [threading.Thread(target=watched(read)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        clock.advance(DELAY_S)
        assert len(indexed(database)) == database.scan(TableName="single")["Count"]


# --- asking for it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay_s", [-0.1, 3601, float("nan"), float("inf")])
def test_delay_that_makes_no_sense_is_refused(delay_s: float) -> None:
    with pytest.raises(ValueError, match="index_delay_s is a number from 0 to 3600, not"):
        Database.open(":memory:", index_delay_s=delay_s)


def test_served_index_is_late_too(tmp_path: Path) -> None:
    with CommandProcess("serve", "--port", "0", "--json", "--index-delay", "3600000", cwd=tmp_path) as server:
        line = json.loads(server.read_line())
        with HttpSocket(Address(line["host"], line["port"])) as client:
            made = client.ask(call("CreateTable", TABLE))
            put = client.ask(call("PutItem", {"TableName": "things", "Item": {"id": s("a"), "g": s("g")}}))
            table = client.ask(call("Scan", {"TableName": "things"}))
            late = client.ask(call("Scan", {"TableName": "things", "IndexName": "by-g"}))
        code, _, _ = server.end(signal.SIGTERM)
    assert [made.status, put.status, code] == [200, 200, 0]
    assert (table.json["Count"], late.json["Count"]) == (1, 0)


TABLE: dict[str, Any] = {
    "TableName": "things",
    "KeySchema": key_schema("id"),
    "AttributeDefinitions": attributes(id="S", g="S"),
    "GlobalSecondaryIndexes": [index("by-g", "g")],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize("delay", ["-1", "soon", "0.5", "3600001", ""])
def test_command_says_what_a_delay_is(delay: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["serve", f"--index-delay={delay}"])
    assert ended.value.code == 2
    assert f"{delay!r} is no delay: milliseconds, from 0 to 3600000" in capsys.readouterr().err
