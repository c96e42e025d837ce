"""Threads that share a database: no update is lost, and nobody sees half a transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import assert_sound, verify_database
from resilience.crash.workload import ACCOUNT_START, ACCOUNTS, SHARED, Workload, account_key
from singletable import Database
from singletable.errors import ConditionFailedError, DatabaseClosedError

THREADS = 8


@pytest.fixture(params=["file", "memory"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "app.db")
    with Database.open(path) as db:
        yield db
    if request.param == "file":
        assert_sound(tmp_path / "app.db")


def _together(count: int, work: Callable[[int], None]) -> None:
    """Run the work in so many threads that start at one moment; an error in any of them is raised here."""
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))


def test_counter_that_all_increment_has_the_exact_total(db: Database) -> None:
    create_plain(db, "things")
    increments = 40

    def increment(_: int) -> None:
        for _ in range(increments):
            db.update_item(
                TableName="things",
                Key={"PK": {"S": "counter"}},
                UpdateExpression="ADD #count :one",
                ExpressionAttributeNames={"#count": "Count"},
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    _together(THREADS, increment)
    item = db.get_item(TableName="things", Key={"PK": {"S": "counter"}})["Item"]
    assert item["Count"] == {"N": str(THREADS * increments)}


def test_conditional_increments_have_the_exact_total(db: Database) -> None:
    """Read, then write on condition that nobody was faster: the way to count without ADD."""
    create_plain(db, "things")
    key = {"PK": {"S": "counter"}}
    db.put_item(TableName="things", Item={**key, "Count": {"N": "0"}})
    increments = 15

    def increment(_: int) -> None:
        done = 0
        while done < increments:
            seen = db.get_item(TableName="things", Key=key, ConsistentRead=True)["Item"]["Count"]["N"]
            try:
                db.put_item(
                    TableName="things",
                    Item={**key, "Count": {"N": str(int(seen) + 1)}},
                    ConditionExpression="#count = :seen",
                    ExpressionAttributeNames={"#count": "Count"},
                    ExpressionAttributeValues={":seen": {"N": seen}},
                )
            except ConditionFailedError:
                continue
            done += 1

    _together(THREADS, increment)
    item = db.get_item(TableName="things", Key=key)["Item"]
    assert item["Count"] == {"N": str(THREADS * increments)}


def test_exactly_one_of_many_creates_an_item(db: Database) -> None:
    create_plain(db, "things")
    winners: list[int] = []

    def create(number: int) -> None:
        for attempt in range(20):
            item = {"PK": {"S": f"{attempt}"}, "Winner": {"N": str(number)}}
            try:
                db.put_item(TableName="things", Item=item, ConditionExpression="attribute_not_exists(PK)")
            except ConditionFailedError:
                continue
            winners.append(attempt)

    _together(THREADS, create)
    assert sorted(winners) == list(range(20))


def test_write_is_seen_by_the_next_read_of_its_thread(db: Database) -> None:
    create_plain(db, "things")

    def write_and_read(number: int) -> None:
        for version in range(30):
            item = {"PK": {"S": f"{number}"}, "Version": {"N": str(version)}}
            db.put_item(TableName="things", Item=item)
            assert db.get_item(TableName="things", Key={"PK": {"S": f"{number}"}})["Item"] == item

    _together(THREADS, write_and_read)


def test_concurrent_writers_leave_what_the_model_says(db: Database) -> None:
    create_all(db)
    progresses = [Progress(Workload(31), writer) for writer in range(THREADS)]

    def write(writer: int) -> None:
        for number in range(1, 41):
            outcome = perform(db, progresses[writer].workload.operation(writer, number))
            progresses[writer].acknowledge(number, outcome)

    _together(THREADS, write)
    verify_database(db, progresses)


def _transfer(db: Database, source: int, target: int, amount: int) -> None:
    def add(account: int, amount: int) -> Any:
        return {
            "Update": {
                "TableName": SHARED,
                "Key": account_key(account),
                "UpdateExpression": "ADD #balance :amount",
                "ExpressionAttributeNames": {"#balance": "Balance"},
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
            }
        }

    db.transact_write_items(TransactItems=[add(source, -amount), add(target, amount)])


def test_no_read_sees_half_a_transaction(db: Database) -> None:
    create_all(db)
    stop = threading.Event()
    gets: list[Any] = [
        {"Get": {"TableName": SHARED, "Key": account_key(account)}} for account in range(ACCOUNTS)
    ]

    def write(number: int) -> None:
        for step in range(60):
            _transfer(db, (number + step) % ACCOUNTS, (number + step + 1) % ACCOUNTS, step + 1)

    def transact_get() -> int:
        answers = db.transact_get_items(TransactItems=gets)["Responses"]
        return sum(int(answer["Item"]["Balance"]["N"]) for answer in answers)

    def scan() -> int:
        items = db.scan(TableName=SHARED)["Items"]
        return sum(int(item["Balance"]["N"]) for item in items if "Balance" in item)

    def read_on(read: Callable[[], int]) -> set[int]:
        sums = {read()}
        while not stop.is_set():
            sums.add(read())
        return sums

    with ThreadPoolExecutor(2) as readers:
        reads = [readers.submit(read_on, read) for read in (transact_get, scan)]
        try:
            _together(3, write)
        finally:
            stop.set()
        # A page of a scan is one read of the store, so it is as whole as a transaction's.
        assert [read.result() for read in reads] == [{ACCOUNTS * ACCOUNT_START}] * 2


def test_close_waits_for_requests_and_refuses_later_ones(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    db = Database.open(path)
    create_plain(db, "things")
    started = threading.Barrier(5)
    written: list[int] = []

    def write(number: int) -> None:
        version = 0
        while True:
            item = {"PK": {"S": f"{number}"}, "Version": {"N": str(version)}}
            try:
                db.put_item(TableName="things", Item=item)
            except DatabaseClosedError:
                written.append(version)
                return
            version += 1
            if version == 1:
                started.wait()

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, number) for number in range(4)]
        started.wait()
        db.close()
        for writer in writers:
            writer.result()
    with Database.open(path) as again:
        items = again.scan(TableName="things")["Items"]
    assert sorted(int(item["Version"]["N"]) + 1 for item in items) == sorted(written)
    assert_sound(path)
