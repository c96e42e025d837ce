"""Indexes that UpdateTable adds to tables that hold items, and takes away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.storage.check import check_file
from support.sample_tables import (
    FastClock,
    all_items,
    attributes,
    background,
    create_plain,
    create_single,
    finish,
    index,
    invalid,
    item,
    key_schema,
    n,
    open_by_hand,
    refusal,
    s,
)

ROWS_A_PIECE = 64  # with a clock that runs fast, a piece of the background work ends after its first step


@pytest.fixture(params=["memory", "file"])
def slow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        yield db
        assert db.check() == []
    if path != ":memory:":
        assert check_file(path) == []


def add_index(db: Database, table: str = "plain", *, kind: str = "S", **more: Any) -> Any:
    return db.update_table(
        TableName=table,
        AttributeDefinitions=attributes(g=kind),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "g", **more)}],
    )["TableDescription"]


def drop_index(db: Database, table: str = "plain", name: str = "by-g") -> Any:
    return db.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}])[
        "TableDescription"
    ]


def fill(db: Database, numbers: range, **more: Any) -> None:
    for number in numbers:
        db.put_item(TableName="plain", Item={"id": s(f"{number:04}"), "g": s(f"g{number % 3}"), **more})


def ids(items: list[Any]) -> list[str]:
    return sorted(found["id"]["S"] for found in items)


def by_g(db: Database, table: str = "plain") -> Any:
    indexes = db.describe_table(TableName=table)["Table"]["GlobalSecondaryIndexes"]
    return next(found for found in indexes if found["IndexName"] == "by-g")


# --- small tables: ready with the next request ---------------------------------------------------


def test_a_new_index_of_a_small_table_is_ready_for_the_next_request(db: Database) -> None:
    create_plain(db)
    fill(db, range(10))
    answer = add_index(db)
    assert answer["TableStatus"] == "UPDATING"
    (created,) = answer["GlobalSecondaryIndexes"]
    assert (created["IndexStatus"], created["Backfilling"]) == ("CREATING", False)
    assert answer["AttributeDefinitions"] == attributes(g="S", id="S")
    found = by_g(db)
    assert found["IndexStatus"] == "ACTIVE"
    assert "Backfilling" not in found
    assert found["ItemCount"] == 10
    query = {
        "IndexName": "by-g",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": s("g1")},
    }
    assert ids(all_items(db, "query", TableName="plain", **query)) == ["0001", "0004", "0007"]


@pytest.mark.parametrize(
    ("projection", "include", "names"),
    [
        ("KEYS_ONLY", None, {"id", "g"}),
        ("INCLUDE", ["x"], {"id", "g", "x"}),
        ("ALL", None, {"id", "g", "x", "y"}),
    ],
)
def test_a_new_index_has_its_projection(
    db: Database, projection: str, include: list[str] | None, names: set[str]
) -> None:
    create_plain(db)
    fill(db, range(1), x=s("1"), y=s("2"))
    add_index(db, projection=projection, include=include)
    (found,) = db.scan(TableName="plain", IndexName="by-g")["Items"]
    assert set(found) == names


def test_items_that_cannot_be_keys_of_a_new_index_are_left_out(db: Database) -> None:
    # AWS guide, "Detecting and correcting index key violations": such items are skipped, not refused.
    create_plain(db)
    values: dict[str, Any] = {
        "right": s("g"),
        "number": n(1),
        "list": {"L": [s("g")]},
        "null": {"NULL": True},
        "empty": s(""),
        "long": s("g" * 2049),
        "longest": s("g" * 2048),
    }
    for name, value in values.items():
        db.put_item(TableName="plain", Item={"id": s(name), "g": value})
    db.put_item(TableName="plain", Item={"id": s("absent")})
    add_index(db)
    assert ids(all_items(db, "scan", TableName="plain", IndexName="by-g")) == ["longest", "right"]
    assert by_g(db)["ItemCount"] == 2
    assert db.scan(TableName="plain")["Count"] == 8


def test_a_left_out_item_cannot_be_written_until_its_key_is_right(db: Database) -> None:
    create_plain(db)
    db.put_item(TableName="plain", Item={"id": s("a"), "g": n(1)})
    add_index(db)
    key = {"id": s("a")}
    elsewhere = {"UpdateExpression": "SET x = :x", "ExpressionAttributeValues": {":x": s("x")}}
    assert refusal(db, "update_item", TableName="plain", Key=key, **elsewhere) == invalid(
        "The update expression attempted to update the secondary index key to unsupported type"
    )
    assert db.scan(TableName="plain", IndexName="by-g")["Count"] == 0
    whole = {**key, "g": n(1), "x": s("y")}
    assert refusal(db, "put_item", TableName="plain", Item=whole) == invalid(
        "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
        "IndexName: by-g"
    )
    db.update_item(
        TableName="plain",
        Key=key,
        UpdateExpression="SET g = :g",
        ExpressionAttributeValues={":g": s("g")},
    )
    assert ids(db.scan(TableName="plain", IndexName="by-g")["Items"]) == ["a"]
    db.delete_item(TableName="plain", Key=key)
    assert db.scan(TableName="plain", IndexName="by-g")["Count"] == 0


def test_a_new_index_may_use_attributes_that_the_table_knows(db: Database) -> None:
    # A type that was there stays, whatever the request says of an attribute that the new index does not use.
    create_single(db)
    db.put_item(TableName="single", Item=item("a", "b", score=n(7)))
    db.update_table(
        TableName="single",
        AttributeDefinitions=attributes(score="N", PK="S", GSI1PK="N"),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-score", "PK", "score")}],
    )
    assert db.describe_table(TableName="single")["Table"]["AttributeDefinitions"] == attributes(
        GSI1PK="S", GSI1SK="S", PK="S", SK="S", score="N"
    )
    found = db.query(
        TableName="single",
        IndexName="by-score",
        KeyConditionExpression="PK = :p AND score > :r",
        ExpressionAttributeValues={":p": s("a"), ":r": n(6)},
    )
    assert found["Count"] == 1


def test_definitions_mean_nothing_without_a_new_index(db: Database) -> None:
    create_plain(db)
    db.update_table(
        TableName="plain",
        AttributeDefinitions=attributes(id="N", unused="B"),
        DeletionProtectionEnabled=False,
    )
    assert db.describe_table(TableName="plain")["Table"]["AttributeDefinitions"] == attributes(id="S")


def test_a_removed_index_is_gone_with_its_definition(db: Database) -> None:
    create_plain(db)
    fill(db, range(3))
    add_index(db)
    answer = drop_index(db)
    assert answer["TableStatus"] == "UPDATING"
    (removed,) = answer["GlobalSecondaryIndexes"]
    assert removed["IndexStatus"] == "DELETING"
    table = db.describe_table(TableName="plain")["Table"]
    assert "GlobalSecondaryIndexes" not in table
    assert table["AttributeDefinitions"] == attributes(id="S")
    assert refusal(db, "scan", TableName="plain", IndexName="by-g") == invalid(
        "The table does not have the specified index: by-g"
    )
    # Any value may be put now, and the name may be used again, with another type.
    db.put_item(TableName="plain", Item={"id": s("n"), "g": n(1)})
    add_index(db, kind="N")
    assert ids(db.scan(TableName="plain", IndexName="by-g")["Items"]) == ["n"]


def test_deletion_protection_does_not_protect_indexes(db: Database) -> None:
    create_single(db, DeletionProtectionEnabled=True)
    drop_index(db, "single", "GSI1")
    assert "GlobalSecondaryIndexes" not in db.describe_table(TableName="single")["Table"]
    db.update_table(TableName="single", DeletionProtectionEnabled=False)


def test_billing_may_change_with_a_new_index(db: Database) -> None:
    db.create_table(
        TableName="plain",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    )
    db.update_table(
        TableName="plain",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=attributes(g="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "g")}],
    )
    assert by_g(db)["IndexStatus"] == "ACTIVE"


# --- large tables: filled behind the requests ----------------------------------------------------


@pytest.fixture
def filling(slow: Database) -> Database:
    """A table of 200 items with an index that holds the first 64 of them."""
    create_plain(slow)
    fill(slow, range(200))
    add_index(slow)
    return slow


def test_an_index_in_the_making_is_described_as_such(filling: Database) -> None:
    table = filling.describe_table(TableName="plain")["Table"]
    # The table itself is ACTIVE during the backfill (ack-api-quirks, DDB-TABLE-148).
    assert table["TableStatus"] == "ACTIVE"
    (found,) = table["GlobalSecondaryIndexes"]
    assert (found["IndexStatus"], found["Backfilling"]) == ("CREATING", True)
    assert found["ItemCount"] == ROWS_A_PIECE
    assert filling.check() == []


def test_the_pieces_end_with_an_active_index(filling: Database) -> None:
    assert finish(filling) > 2
    assert by_g(filling)["IndexStatus"] == "ACTIVE"
    assert ids(all_items(filling, "scan", TableName="plain", IndexName="by-g")) == [
        f"{number:04}" for number in range(200)
    ]


@pytest.mark.parametrize("operation", ["query", "scan"])
def test_an_index_in_the_making_cannot_be_read(filling: Database, operation: str) -> None:
    request: dict[str, Any] = {"TableName": "plain", "IndexName": "by-g"}
    if operation == "query":
        request |= {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g1")}}
    assert refusal(filling, operation, **request) == invalid(
        "Cannot read from backfilling global secondary index: by-g"
    )


@pytest.mark.parametrize("number", [10, 150], ids=["behind", "ahead"])
def test_writes_go_on_behind_and_ahead_of_a_backfill(filling: Database, number: int) -> None:
    name = f"{number:04}"
    filling.put_item(TableName="plain", Item={"id": s(name), "g": s("moved"), "x": s("more")})
    filling.delete_item(TableName="plain", Key={"id": s(f"{number + 1:04}")})
    filling.update_item(TableName="plain", Key={"id": s(f"{number + 2:04}")}, UpdateExpression="REMOVE g")
    filling.put_item(TableName="plain", Item={"id": s("new"), "g": s("moved")})
    filling.put_item(TableName="plain", Item={"id": s("gone"), "g": s("moved")})
    filling.delete_item(TableName="plain", Key={"id": s("gone")})
    assert filling.check() == []
    finish(filling)
    found = all_items(filling, "scan", TableName="plain", IndexName="by-g")
    expected = {f"{n:04}" for n in range(200)} - {f"{number + 1:04}", f"{number + 2:04}"}
    assert ids(found) == sorted(expected | {"new"})
    assert ids([item for item in found if item["g"] == s("moved")]) == [name, "new"]
    assert by_g(filling)["ItemCount"] == 199


def test_an_item_that_does_not_fit_is_refused_while_the_index_is_made(filling: Database) -> None:
    code, _ = refusal(filling, "put_item", TableName="plain", Item={"id": s("0190"), "g": n(1)})
    assert code == "ValidationException"
    finish(filling)


def test_an_item_written_twice_between_two_pieces_has_one_entry(filling: Database) -> None:
    for value in ("one", "two", "one"):
        filling.put_item(TableName="plain", Item={"id": s("0199"), "g": s(value)})
        background(filling).piece()
        assert filling.check() == []
    finish(filling)
    found = [
        i for i in all_items(filling, "scan", TableName="plain", IndexName="by-g") if i["id"] == s("0199")
    ]
    assert found == [{"id": s("0199"), "g": s("one")}]


def test_a_second_index_has_to_wait(filling: Database) -> None:
    only_one = (
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    )
    other: Any = {
        "AttributeDefinitions": attributes(h="S"),
        "GlobalSecondaryIndexUpdates": [{"Create": index("by-h", "h")}],
    }
    assert refusal(filling, "update_table", TableName="plain", **other) == only_one
    finish(filling)
    filling.update_table(TableName="plain", **other)
    finish(filling)


def test_an_index_in_the_making_can_be_removed(filling: Database) -> None:
    drop_index(filling)
    finish(filling)
    assert "GlobalSecondaryIndexes" not in filling.describe_table(TableName="plain")["Table"]


def test_settings_may_change_while_an_index_is_made(filling: Database) -> None:
    filling.update_table(TableName="plain", DeletionProtectionEnabled=True)
    filling.update_table(
        TableName="plain", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    )
    assert by_g(filling)["IndexStatus"] == "CREATING"
    finish(filling)
    assert by_g(filling)["IndexStatus"] == "ACTIVE"
    assert filling.describe_table(TableName="plain")["Table"]["DeletionProtectionEnabled"] is True


def test_a_table_cannot_be_deleted_while_an_index_is_made(filling: Database) -> None:
    in_use = (
        "Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, "
        "updated, or deleted."
    )
    assert refusal(filling, "delete_table", TableName="plain") == ("ResourceInUseException", in_use)
    finish(filling)
    filling.delete_table(TableName="plain")


def test_a_backfill_goes_on_with_the_next_open(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        create_plain(db)
        fill(db, range(200))
        add_index(db)
        background(db).piece()
    assert check_file(path) == []
    with open_by_hand(path) as db:
        assert by_g(db)["ItemCount"] >= 2 * ROWS_A_PIECE
        finish(db)
        assert by_g(db)["IndexStatus"] == "ACTIVE"
        assert by_g(db)["ItemCount"] == 200
    assert check_file(path) == []


def test_the_thread_in_the_background_fills_an_index_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, durability="relaxed", clock=FastClock()) as db:
        create_plain(db)
        fill(db, range(200))
        add_index(db)
        thread = background(db)._thread
        if thread is not None:  # it may be done already
            thread.join(timeout=30)
        assert by_g(db)["IndexStatus"] == "ACTIVE"
    assert check_file(path) == []


def test_a_large_index_is_taken_away_in_pieces(slow: Database) -> None:
    create_plain(slow)
    writes: list[Any] = [
        {"PutRequest": {"Item": {"id": s(f"{number:04}"), "g": s("g")}}} for number in range(1_050)
    ]
    for start in range(0, len(writes), 25):
        slow.batch_write_item(RequestItems={"plain": writes[start : start + 25]})
    add_index(slow)
    finish(slow)
    drop_index(slow)
    assert finish(slow) > 2
    assert slow.scan(TableName="plain", Select="COUNT")["Count"] == 1_050
