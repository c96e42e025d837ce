"""Several processes share a file: every write is there, a changed table is seen by the next request."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from resilience.crash.children import Reports, Stepper, start, steppers
from resilience.crash.model import Progress
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import assert_sound, verify_file
from resilience.crash.workload import Workload
from singletable import Database, limits
from singletable.errors import DatabaseBusyError
from singletable.storage.file.turns import find_holder

KEY_SCHEMA = [{"AttributeName": "PK", "KeyType": "HASH"}]
ATTRIBUTES = [{"AttributeName": "PK", "AttributeType": "S"}]
COLOUR = {"AttributeName": "Colour", "AttributeType": "S"}
BY_COLOUR = {
    "IndexName": "ByColour",
    "KeySchema": [{"AttributeName": "Colour", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Stepper, Stepper]]:
    path = tmp_path / "shared.db"
    with steppers(path, 2) as (one, other):
        yield one, other
    assert_sound(path)


def _create(stepper: Stepper, name: str = "things", **more: Any) -> None:
    answer = stepper.ask(
        "create_table",
        **{
            "TableName": name,
            "KeySchema": KEY_SCHEMA,
            "AttributeDefinitions": ATTRIBUTES,
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        },
    )
    assert "TableDescription" in answer, answer


def _put(stepper: Stepper, key: str, **more: Any) -> Any:
    return stepper.ask("put_item", TableName="things", Item={"PK": {"S": key}, **more})


def _get(stepper: Stepper, key: str) -> Any:
    return stepper.ask("get_item", TableName="things", Key={"PK": {"S": key}})


def _query_by_colour(stepper: Stepper) -> Any:
    return stepper.ask(
        "query",
        TableName="things",
        IndexName="ByColour",
        KeyConditionExpression="Colour = :red",
        ExpressionAttributeValues={":red": {"S": "red"}},
    )


def _wait_for_index(stepper: Stepper) -> None:
    for _ in range(3000):
        table = stepper.ask("describe_table", TableName="things")["Table"]
        if table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE":
            return
    raise AssertionError("the index is not filled")


def test_two_saturating_writer_processes_lose_no_write(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    with Database.open(path) as db:
        create_all(db)
    progresses = {writer: Progress(Workload(41), writer) for writer in range(4)}
    with Reports(
        [start("writer", path, 41, "0:1", "1:1"), start("writer", path, 41, "2:1", "3:1")]
    ) as reports:
        for line in reports.lines():
            writer, number, outcome = line.split()
            progresses[int(writer)].acknowledge(int(number), outcome)
            # Every one of them must get its turn, however long that takes.
            if all(progress.acknowledged >= 60 for progress in progresses.values()):
                reports.kill()
        reports.assert_killed()
    verify_file(path, progresses.values())


def test_write_of_one_process_is_read_by_the_other(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    _create(one)
    for number in range(5):
        _put(one, "a", Number={"N": str(number)})
        assert _get(other, "a")["Item"]["Number"] == {"N": str(number)}
        _put(other, "b", Number={"N": str(number)})
        assert _get(one, "b")["Item"]["Number"] == {"N": str(number)}


def test_created_table_is_seen_by_the_other_process(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    assert _get(other, "a")["error"] == "ResourceNotFoundError"
    _create(one)
    assert "error" not in _get(other, "a")
    _create(one, "second")
    assert other.ask("list_tables")["TableNames"] == ["second", "things"]


def test_created_table_is_seen_by_the_first_write_of_the_other_process(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    assert _put(other, "a")["error"] == "ResourceNotFoundError"
    _create(one)
    assert "error" not in _put(other, "a")
    assert _get(one, "a")["Item"] == {"PK": {"S": "a"}}


@pytest.mark.parametrize("request_name", ["get", "put", "describe"])
def test_deleted_table_is_gone_for_the_other_process(
    pair: tuple[Stepper, Stepper], request_name: str
) -> None:
    one, other = pair
    _create(one)
    _put(other, "a")
    one.ask("delete_table", TableName="things")
    answer = {
        "get": lambda: _get(other, "a"),
        "put": lambda: _put(other, "a"),
        "describe": lambda: other.ask("describe_table", TableName="things"),
    }[request_name]()
    assert answer["error"] == "ResourceNotFoundError"


def test_table_made_anew_under_the_same_name_is_empty_for_the_other_process(
    pair: tuple[Stepper, Stepper],
) -> None:
    one, other = pair
    _create(one)
    _put(other, "a")
    one.ask("delete_table", TableName="things")
    _create(one)
    assert "Item" not in _get(other, "a")
    assert other.ask("scan", TableName="things")["Items"] == []


def test_added_index_is_kept_and_queried_by_the_other_process(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    _create(one)
    _put(other, "before", Colour={"S": "red"})
    answer = one.ask(
        "update_table",
        TableName="things",
        AttributeDefinitions=[*ATTRIBUTES, COLOUR],
        GlobalSecondaryIndexUpdates=[{"Create": BY_COLOUR}],
    )
    assert "TableDescription" in answer, answer
    _put(other, "after", Colour={"S": "red"})
    _wait_for_index(other)
    assert {item["PK"]["S"] for item in _query_by_colour(other)["Items"]} == {"before", "after"}
    assert {item["PK"]["S"] for item in _query_by_colour(one)["Items"]} == {"before", "after"}


def test_removed_index_is_gone_for_the_other_process(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    _create(one, AttributeDefinitions=[*ATTRIBUTES, COLOUR], GlobalSecondaryIndexes=[BY_COLOUR])
    _put(other, "a", Colour={"S": "red"})
    assert len(_query_by_colour(other)["Items"]) == 1
    one.ask(
        "update_table",
        TableName="things",
        GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "ByColour"}}],
    )
    assert _query_by_colour(other)["error"] == "ValidationError"
    assert "error" not in _put(other, "b", Colour={"S": "red"})


def test_deletion_protection_set_by_one_process_binds_the_other(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    _create(one)
    _get(other, "a")
    one.ask("update_table", TableName="things", DeletionProtectionEnabled=True)
    assert other.ask("delete_table", TableName="things")["error"] == "ValidationError"


def test_request_token_of_one_process_is_known_to_the_other(pair: tuple[Stepper, Stepper]) -> None:
    one, other = pair
    _create(one)
    update = {
        "TableName": "things",
        "Key": {"PK": {"S": "a"}},
        "UpdateExpression": "ADD Visits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    for stepper in (one, other, one, other):
        stepper.ask("transact_write_items", TransactItems=[{"Update": update}], ClientRequestToken="once")
    assert _get(one, "a")["Item"]["Visits"] == {"N": "1"}


def test_two_processes_may_make_one_file_at_the_same_moment(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / f"{attempt}.db"
        with steppers(path, 3) as children:
            answers = [child.ask("list_tables") for child in children]
        assert [answer["TableNames"] for answer in answers] == [[]] * 3
        assert_sound(path)


def test_stopped_holder_of_the_lock_is_named_and_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STOPPED_HOLDER_WAIT_S", 0.05)
    path = tmp_path / "shared.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        holder = start("lock_holder", path)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        os.waitpid(holder.pid, os.WUNTRACED)
        try:
            for _ in range(3):  # also those who come behind
                with pytest.raises(DatabaseBusyError) as caught:
                    db.put_item(TableName="things", Item={"PK": {"S": "a"}})
                assert f"process {holder.pid} (" in caught.value.message
                assert caught.value.message.endswith(") holds the write lock, and is stopped")
                assert caught.value.hint is not None
                assert f"kill -CONT {holder.pid}" in caught.value.hint
            assert db.scan(TableName="things")["Items"] == []
        finally:
            holder.kill()
            holder.communicate()
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})


def test_holder_of_the_lock_that_works_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STOPPED_HOLDER_WAIT_S", 0.0)
    path = tmp_path / "shared.db"
    with Database.open(path) as db, ThreadPoolExecutor(1) as thread:
        create_plain(db, "things")
        holder = start("lock_holder", path)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        found = find_holder(str(path))
        assert found is not None
        assert (found.pid, found.is_stopped) == (holder.pid, False)
        writing = thread.submit(db.put_item, TableName="things", Item={"PK": {"S": "a"}})
        holder.communicate(b"")  # it ends when nobody has more to say to it
        writing.result()
    assert find_holder(str(path)) is None


def test_holder_of_the_lock_in_the_same_process_is_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HOLDER_WAIT_S", 0.05)
    path = tmp_path / "shared.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE").fetchall()
        with pytest.raises(DatabaseBusyError, match="another connection of this process"):
            db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        other.close()
