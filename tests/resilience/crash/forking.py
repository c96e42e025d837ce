"""What is tried around a fork, each in a process of its own: a child should not inherit pytest's threads.

usage: python -m resilience.crash.forking SCENARIO [FILE]
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from resilience.crash.backfill import wait_until_active
from resilience.crash.tables import create_plain
from singletable import Database
from singletable.errors import ForkedDatabaseError

MEMORY = ":memory:"


def make(path: str) -> Database:
    db = Database.open(path)
    create_plain(db, "things")
    return db


def put(db: Database, key: str) -> None:
    db.put_item(TableName="things", Item={"PK": {"S": key}, "Colour": {"S": "red"}})


def has(db: Database, key: str) -> bool:
    return "Item" in db.get_item(TableName="things", Key={"PK": {"S": key}})


def count(db: Database) -> int:
    return int(db.scan(TableName="things", Select="COUNT")["Count"])


def in_child(work: Callable[[], object]) -> None:
    """Run the work in a forked child, which must end well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the child failed"


def raised_by(request: Callable[[], object]) -> ForkedDatabaseError | None:
    try:
        request()
    except ForkedDatabaseError as error:
        return error
    return None


# --- scenarios -----------------------------------------------------------------------


def child_reads_and_writes(path: str) -> None:
    with make(path) as db:
        put(db, "before")

        def child() -> None:
            assert has(db, "before")
            put(db, "child")
            assert has(db, "child")

        in_child(child)
        assert has(db, "child")
        put(db, "after")
        assert count(db) == 3


def child_reads_the_past(path: str) -> None:
    """A view of the past, read through an index on both sides of the fork."""
    with make(path) as db:
        db.update_table(
            TableName="things",
            AttributeDefinitions=[{"AttributeName": "Colour", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[
                {
                    "Create": {
                        "IndexName": "by-colour",
                        "KeySchema": [{"AttributeName": "Colour", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                }
            ],
        )
        db.update_continuous_backups(
            TableName="things", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        put(db, "before")
        view = db.at(next(db.history("things", {"PK": {"S": "before"}})).at)

        def read_and_delete() -> None:
            assert view.scan(TableName="things", IndexName="by-colour")["Count"] == 1
            db.delete_item(TableName="things", Key={"PK": {"S": "before"}})
            assert view.scan(TableName="things", IndexName="by-colour")["Count"] == 1

        assert view.scan(TableName="things", IndexName="by-colour")["Count"] == 1
        in_child(read_and_delete)
        assert view.scan(TableName="things", IndexName="by-colour")["Count"] == 1
        assert count(db) == 0


def child_closes(path: str) -> None:
    with make(path) as db:

        def child() -> None:
            put(db, "child")
            db.close()

        in_child(child)
        put(db, "parent")
        assert count(db) == 2


def grandchild_writes(path: str) -> None:
    with make(path) as db:

        def child() -> None:
            put(db, "child")
            in_child(lambda: put(db, "grandchild"))
            put(db, "child again")

        in_child(child)
        assert count(db) == 3


def multiprocessing_writes(path: str) -> None:
    with make(path) as db:

        def write(name: str) -> None:
            for step in range(20):
                put(db, f"{name}/{step}")

        context = multiprocessing.get_context("fork")
        children = [context.Process(target=write, args=(f"{number}",)) for number in range(3)]
        for child in children:
            child.start()
        write("parent")
        for child in children:
            child.join()
            assert child.exitcode == 0
        assert count(db) == 80


def fork_beside_busy_threads(path: str) -> None:
    with make(path) as db:
        stop = threading.Event()
        written = [0] * 4

        def write_on(number: int) -> None:
            while not stop.is_set():
                key = f"{number}/{written[number]}"
                put(db, key)
                assert has(db, key)
                written[number] += 1

        threads = [threading.Thread(target=write_on, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for fork in range(15):
            in_child(partial(put, db, f"child/{fork}"))
        stop.set()
        for thread in threads:
            thread.join()
        assert count(db) == sum(written) + 15


def fork_beside_a_backfill(path: str) -> None:
    with make(path) as db:
        for first in range(0, 2000, 25):
            items = [
                {"PK": {"S": f"{number}"}, "Colour": {"S": "red"}} for number in range(first, first + 25)
            ]
            db.batch_write_item(RequestItems={"things": [{"PutRequest": {"Item": item}} for item in items]})
        index: Any = {
            "IndexName": "ByColour",
            "KeySchema": [{"AttributeName": "Colour", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
        db.update_table(
            TableName="things",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "Colour")],
            GlobalSecondaryIndexUpdates=[{"Create": index}],
        )
        for fork in range(3):
            in_child(partial(put, db, f"child/{fork}"))
        wait_until_active(db, "things")
        assert count(db) == 2003
        assert db.scan(TableName="things", IndexName="ByColour", Select="COUNT")["Count"] == 2003


def child_uses_memory_of_parent() -> None:
    with make(MEMORY) as db:
        put(db, "before")
        requests: list[Callable[[], object]] = [
            lambda: put(db, "x"),
            lambda: has(db, "before"),
            lambda: count(db),
            lambda: db.list_tables(),
            lambda: db.describe_table(TableName="things"),
        ]

        def child() -> None:
            for number, request in enumerate(requests):
                error = raised_by(request)
                assert error is not None, f"request {number} used the parent's memory"
                assert error.hint

        in_child(child)
        assert has(db, "before")
        put(db, "after")
        assert count(db) == 2


def child_makes_its_own_memory() -> None:
    with make(MEMORY) as db:

        def child() -> None:
            with make(MEMORY) as own:
                put(own, "child")
                assert count(own) == 1
            db.close()

        in_child(child)
        assert count(db) == 0


def child_leaves_backups_of_memory() -> None:
    with make(MEMORY) as db:
        put(db, "before")
        arn = db.create_backup(TableName="things", BackupName="kept")["BackupDetails"]["BackupArn"]
        in_child(db.close)
        db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)


def main(scenario: str, *arguments: str) -> None:
    # Python 3.12 warns of every fork beside other threads; to fork beside them is the point here.
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    globals()[scenario](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
