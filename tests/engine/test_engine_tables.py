"""DescribeTable, ListTables and DeleteTable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.storage.check import check_file
from support.sample_tables import (
    attributes,
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

NOT_FOUND = ("ResourceNotFoundException", "Requested resource not found: Table: nothing not found")


# --- DescribeTable -------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_counts_and_sizes_follow_the_items(db: Database) -> None:
    create_single(db)
    # By AWS's rules: the bytes of the names and of the values.
    db.put_item(TableName="single", Item=item("a", "b", x="12345"))  # PK a SK b x 12345: 12 bytes
    db.put_item(TableName="single", Item=item("a", "c", GSI1PK="g", GSI1SK="h"))  # 6 + 7 + 7
    table = db.describe_table(TableName="single")["Table"]
    assert (table["ItemCount"], table["TableSizeBytes"]) == (2, 32)
    (by_g,) = table["GlobalSecondaryIndexes"]
    assert (by_g["ItemCount"], by_g["IndexSizeBytes"]) == (1, 20)
    db.delete_item(TableName="single", Key=item("a", "c"))
    table = db.describe_table(TableName="single")["Table"]
    assert (table["ItemCount"], table["TableSizeBytes"]) == (1, 12)
    (by_g,) = table["GlobalSecondaryIndexes"]
    assert (by_g["ItemCount"], by_g["IndexSizeBytes"]) == (0, 0)


def test_the_size_of_an_index_counts_what_it_projects(db: Database) -> None:
    db.create_table(
        TableName="things",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S", g="S"),
        GlobalSecondaryIndexes=[
            index("keys", "g", projection="KEYS_ONLY"),
            index("some", "g", projection="INCLUDE", include=["x"]),
            index("all", "g"),
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    db.put_item(TableName="things", Item={"id": s("i"), "g": s("g"), "x": s("xx"), "y": s("yyy")})
    indexes = db.describe_table(TableName="things")["Table"]["GlobalSecondaryIndexes"]
    assert {index["IndexName"]: index["IndexSizeBytes"] for index in indexes} == {
        "keys": 5,
        "some": 8,
        "all": 12,
    }


def test_a_table_that_is_not_there_cannot_be_described(db: Database) -> None:
    assert refusal(db, "describe_table", TableName="nothing") == NOT_FOUND


def test_a_missing_table_is_named_also_where_an_arn_was_given(db: Database) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/nothing"
    assert refusal(db, "describe_table", TableName=arn) == NOT_FOUND


# --- ListTables ----------------------------------------------------------------------------------


@pytest.fixture
def many(db: Database) -> Database:
    for name in ("beta", "alpha", "Zeta", "gamma", "a.b-c_d"):
        create_plain(db, name)
    return db


def test_tables_are_listed_by_the_bytes_of_their_names(many: Database) -> None:
    assert many.list_tables() == {"TableNames": ["Zeta", "a.b-c_d", "alpha", "beta", "gamma"]}


def test_listing_in_pages_sees_every_table_once(many: Database) -> None:
    first = many.list_tables(Limit=2)
    assert first == {"TableNames": ["Zeta", "a.b-c_d"], "LastEvaluatedTableName": "a.b-c_d"}
    second = many.list_tables(Limit=2, ExclusiveStartTableName="a.b-c_d")
    assert second == {"TableNames": ["alpha", "beta"], "LastEvaluatedTableName": "beta"}
    # The last page has no cursor, also when it is full (ack-api-quirks, DDB-TABLE-012).
    assert many.list_tables(Limit=1, ExclusiveStartTableName="beta") == {"TableNames": ["gamma"]}
    assert many.list_tables(ExclusiveStartTableName="gamma") == {"TableNames": []}


def test_a_listing_goes_on_behind_a_name_that_is_not_there(many: Database) -> None:
    assert many.list_tables(ExclusiveStartTableName="alpine", Limit=1)["TableNames"] == ["beta"]


def test_a_page_of_tables_has_a_hundred_names_at_most(db: Database) -> None:
    for number in range(102):
        create_plain(db, f"table-{number:03}")
    page = db.list_tables()
    assert len(page["TableNames"]) == 100
    assert page["LastEvaluatedTableName"] == "table-099"
    assert db.list_tables(ExclusiveStartTableName="table-099")["TableNames"] == ["table-100", "table-101"]


@pytest.mark.parametrize("limit", [0, 101])
def test_a_limit_out_of_range_is_refused(calm_db: Database, limit: int) -> None:
    code, message = refusal(calm_db, "list_tables", Limit=limit)
    assert code == "ValidationException"
    assert message.startswith(f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy")


# --- DeleteTable ---------------------------------------------------------------------------------


def test_a_deleted_table_is_gone_with_its_items(db: Database) -> None:
    create_single(db)
    db.put_item(TableName="single", Item=item("a", "b", GSI1PK="g", GSI1SK="h"))
    answer = db.delete_table(TableName="single")["TableDescription"]
    assert answer["TableStatus"] == "DELETING"
    assert answer["ItemCount"] == 1
    assert db.list_tables()["TableNames"] == []
    assert refusal(db, "delete_table", TableName="single") == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: single not found",
    )
    assert refusal(db, "get_item", TableName="single", Key=item("a", "b")) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )


def test_a_table_made_again_begins_empty_and_is_another_one(db: Database) -> None:
    create_single(db)
    before = db.describe_table(TableName="single")["Table"]
    db.put_item(TableName="single", Item=item("a", "b"))
    db.delete_table(TableName="single")
    create_plain(db, "single")
    after = db.describe_table(TableName="single")["Table"]
    assert after["TableArn"] == before["TableArn"]
    assert after["TableId"] != before["TableId"]
    assert after["KeySchema"] == key_schema("id")
    assert db.scan(TableName="single")["Items"] == []


def test_a_protected_table_cannot_be_deleted(db: Database) -> None:
    create_single(db, DeletionProtectionEnabled=True)
    assert refusal(db, "delete_table", TableName="single") == invalid(
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first."
    )
    db.update_table(TableName="single", DeletionProtectionEnabled=False)
    db.delete_table(TableName="single")


def fill(db: Database, table: str, count: int) -> None:
    for start in range(0, count, 25):
        writes: list[Any] = [
            {
                "PutRequest": {
                    "Item": item(
                        f"p{number % 7}", f"{number:06}", GSI1PK=f"g{number % 3}", GSI1SK="h", n=n(number)
                    )
                }
            }
            for number in range(start, min(start + 25, count))
        ]
        db.batch_write_item(RequestItems={table: writes})


def left_over_tables(db: Database) -> list[str]:
    rows = db._session.store.read(
        lambda execute, _: execute("SELECT name FROM sqlite_schema WHERE name GLOB 'i*_*' AND type = 'table'")
    )
    return sorted(row[0] for row in rows)


@pytest.mark.parametrize("name", [":memory:", "test.db"], ids=["memory", "file"])
def test_a_large_table_is_taken_away_in_pieces_behind_the_requests(tmp_path: Path, name: str) -> None:
    path = name if name == ":memory:" else str(tmp_path / name)
    with open_by_hand(path) as db:
        create_single(db)
        fill(db, "single", 1_050)
        before = left_over_tables(db)
        db.delete_table(TableName="single")
        assert db.list_tables()["TableNames"] == []
        left = set(left_over_tables(db)) & set(before)
        assert left, "much of it is still there"
        create_single(db)  # the name is free at once
        db.put_item(TableName="single", Item=item("a", "b"))
        assert db.check() == []
        assert finish(db) > 10
        assert not left & set(left_over_tables(db))
        assert db.scan(TableName="single")["Count"] == 1
        assert db.check() == []


def test_a_deletion_that_was_interrupted_goes_on_with_the_next_open(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        create_single(db)
        fill(db, "single", 1_050)
        db.delete_table(TableName="single")
        assert left_over_tables(db)
    assert check_file(path) == []
    with open_by_hand(path) as db:
        finish(db)
        assert left_over_tables(db) == []
    assert check_file(path) == []


def test_a_small_table_is_gone_at_once(db: Database) -> None:
    create_single(db)
    fill(db, "single", 50)
    db.delete_table(TableName="single")
    assert left_over_tables(db) == []
