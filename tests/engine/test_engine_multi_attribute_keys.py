"""Global indexes whose keys have several attributes: which items they hold, and which values they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.errors import INVALID
from singletable.storage.check import check_file
from support.by_hand import opened_by_hand
from support.sample_tables import attributes, finish, invalid, key_schema, n, open_by_hand, refusal, s
from support.wide_indexes import Item, create_matches, found, match, wide_index, wide_key

# --- which items an index holds -------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["cup", "area", "stage", "bracket"])
def test_item_without_one_of_the_attributes_is_not_in_the_index(db: Database, missing: str) -> None:
    create_matches(db)
    db.put_item(TableName="matches", Item=match("m1"))
    db.put_item(TableName="matches", Item=match("m2", **{missing: None}))
    assert found(db) == ["m1"]
    assert [item["game"]["S"] for item in db.scan(TableName="matches", IndexName="by-cup")["Items"]] == ["m1"]
    assert db.scan(TableName="matches", Select="COUNT")["Count"] == 2


@pytest.mark.parametrize("name", ["cup", "area", "stage", "bracket"])
def test_item_moves_when_any_of_the_attributes_changes(db: Database, name: str) -> None:
    create_matches(db)
    db.put_item(TableName="matches", Item=match("m1"))
    value = n(7) if name == "stage" else s("other")
    changed = db.update_item(
        TableName="matches",
        Key={"game": s("m1")},
        UpdateExpression="SET #n = :v",
        ExpressionAttributeNames={"#n": name},
        ExpressionAttributeValues={":v": value},
        ReturnConsumedCapacity="INDEXES",
    )
    # "two writes are required, one to delete the previous item from the index and another write to put the new
    # item into the index" (AWS guide, "Global secondary indexes", "Write capacity units").
    units = changed["ConsumedCapacity"]["GlobalSecondaryIndexes"]["by-cup"]["CapacityUnits"]
    assert units == 2
    key = {**match("m1"), name: value}
    request: Any = {":c": key["cup"], ":a": key["area"], ":s": key["stage"], ":b": key["bracket"]}
    condition = "cup = :c AND area = :a AND stage = :s AND bracket = :b"
    assert found(db, KeyConditionExpression=condition, ExpressionAttributeValues=request) == ["m1"]
    assert found(db) == ([] if name in ("cup", "area") else ["m1"])


def test_item_leaves_and_enters_the_index_with_one_attribute(db: Database) -> None:
    create_matches(db)
    db.put_item(TableName="matches", Item=match("m1"))
    update: Any = {"TableName": "matches", "Key": {"game": s("m1")}, "ReturnConsumedCapacity": "INDEXES"}
    left = db.update_item(**update, UpdateExpression="REMOVE bracket")
    assert found(db) == []
    still = db.update_item(**update, UpdateExpression="REMOVE stage")
    values = {":s": n(2), ":b": s("low")}
    entered = db.update_item(
        **update, UpdateExpression="SET stage = :s, bracket = :b", ExpressionAttributeValues=values
    )
    assert found(db) == ["m1"]
    units = [
        answer["ConsumedCapacity"].get("GlobalSecondaryIndexes", {}).get("by-cup", {}).get("CapacityUnits", 0)
        for answer in (left, still, entered)
    ]
    assert units == [1, 0, 1]


def test_attribute_may_be_a_key_of_the_table_and_of_both_halves_of_several_indexes(db: Database) -> None:
    db.create_table(
        TableName="shared",
        KeySchema=key_schema("a", "b"),
        AttributeDefinitions=attributes(a="S", b="S", c="S"),
        GlobalSecondaryIndexes=[
            wide_index("turned", ["b", "c"], ["a"]),
            wide_index("all-hash", ["c", "b", "a"]),
            wide_index("as-the-table", ["a"], ["b", "c"]),
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    whole = {"a": s("1"), "b": s("2"), "c": s("3")}
    db.put_item(TableName="shared", Item=whole)
    for name, condition in {
        "turned": "b = :2 AND c = :3 AND a = :1",
        "all-hash": "a = :1 AND b = :2 AND c = :3",
        "as-the-table": "a = :1 AND b = :2 AND c = :3",
    }.items():
        page = db.query(
            TableName="shared",
            IndexName=name,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={":1": s("1"), ":2": s("2"), ":3": s("3")},
            Limit=1,
        )
        assert page["Items"] == [whole]
        assert page["LastEvaluatedKey"] == whole


@pytest.mark.parametrize("projection", ["KEYS_ONLY", "INCLUDE", "ALL"])
def test_all_key_attributes_are_projected(db: Database, projection: str) -> None:
    create_matches(db)
    shape: Any = {"ProjectionType": projection}
    if projection == "INCLUDE":
        shape["NonKeyAttributes"] = ["score"]
    db.update_table(
        TableName="matches",
        AttributeDefinitions=attributes(area="S", stage="N", bracket="S"),
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "narrow",
                    "KeySchema": wide_key(["area"], ["stage", "bracket"]),
                    "Projection": shape,
                }
            }
        ],
    )
    whole = match("m1", score=n(3), note=s("x"))
    db.put_item(TableName="matches", Item=whole)
    (seen,) = db.scan(TableName="matches", IndexName="narrow")["Items"]
    held = {"game", "area", "stage", "bracket"}
    held |= {"KEYS_ONLY": set(), "INCLUDE": {"score"}, "ALL": set(whole)}[projection]
    assert set(seen) == held


def test_index_over_several_attributes_is_filled_from_what_is_there(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        db.create_table(
            TableName="matches",
            KeySchema=key_schema("game"),
            AttributeDefinitions=attributes(game="S"),
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(200):
            db.put_item(TableName="matches", Item=match(f"m{number:03}", stage=n(200 - number)))
        # None of these can be in it: one lacks an attribute, one has another type, one is too long in all.
        db.put_item(TableName="matches", Item=match("x1", bracket=None))
        db.put_item(TableName="matches", Item=match("x2", stage=s("one")))
        db.put_item(TableName="matches", Item=match("x3", cup=s("c" * 1024), area=s("a" * 1025)))
        db.update_table(
            TableName="matches",
            AttributeDefinitions=attributes(game="S", cup="S", area="S", stage="N", bracket="S"),
            GlobalSecondaryIndexUpdates=[
                {"Create": wide_index("by-cup", ["cup", "area"], ["stage", "bracket", "game"])}
            ],
        )
        finish(db)
        assert found(db) == [f"m{number:03}" for number in reversed(range(200))]
        assert db.scan(TableName="matches", IndexName="by-cup", Select="COUNT")["Count"] == 200
        assert db.check() == []
    assert check_file(path) == []


# --- values that cannot be keys -------------------------------------------------------------------


EMPTY = (
    "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-cup, IndexKey: "
)
CUP_AND_AREA = (
    "Aggregate size for HASH key attributes cup, area of index by-cup has exceeded limit 2048 bytes, with actual "
    "size 2049 bytes"
)
SORT_KEY = (
    "Aggregate size for RANGE key attributes stage, bracket, game of index by-cup has exceeded limit 1024 bytes, "
    "with actual size 1025 bytes"
)
UNFIT = [
    pytest.param(
        {"area": n(1)},
        f"{INVALID}Type mismatch for Index Key area Expected: S Actual: N IndexName: by-cup",
        id="second-partition-attribute-of-another-type",
    ),
    pytest.param(
        {"bracket": {"NULL": True}},
        f"{INVALID}Type mismatch for Index Key bracket Expected: S Actual: NULL IndexName: by-cup",
        id="second-sort-attribute-is-null",
    ),
    pytest.param(
        {"bracket": {"BOOL": True}, "stage": None},
        f"{INVALID}Type mismatch for Index Key bracket Expected: S Actual: BOOL IndexName: by-cup",
        id="wrong-beside-a-missing-one",
    ),
    pytest.param({"bracket": s("")}, f"{EMPTY}bracket", id="empty-sort-attribute"),
    pytest.param({"area": s("")}, f"{EMPTY}area", id="empty-partition-attribute"),
    pytest.param(
        {"area": s("a" * 2049)},
        f"{INVALID}Size limit exceeded for Index Key area Actual Size: 2049 bytes Max Size: 2048 bytes "
        "IndexName: by-cup",
        id="one-partition-attribute-too-long",
    ),
    pytest.param(
        {"bracket": s("é" * 513)},
        f"{INVALID}Size limit exceeded for Index Key bracket Actual Size: 1026 bytes Max Size: 1024 bytes "
        "IndexName: by-cup",
        id="one-sort-attribute-too-long",
    ),
    pytest.param({"cup": s("c" * 1024), "area": s("a" * 1025)}, CUP_AND_AREA, id="partition-too-long-in-all"),
    pytest.param(
        {"cup": s("c" * 1024), "area": s("a" * 1025), "stage": None},
        CUP_AND_AREA,
        id="partition-too-long-of-an-item-that-is-not-in-the-index",
    ),
    # The number 1 takes two bytes, and the name of the match two more.
    pytest.param({"bracket": s("b" * 1021)}, SORT_KEY, id="sort-key-too-long-in-all"),
    pytest.param(
        {"bracket": s("b" * 1023), "stage": None},
        SORT_KEY.replace("stage, ", ""),
        id="sort-key-too-long-though-one-is-missing",
    ),
]


@pytest.mark.parametrize(("change", "message"), UNFIT)
def test_put_of_an_item_that_the_index_cannot_hold_is_refused(
    db: Database, change: Item, message: str
) -> None:
    create_matches(db)
    assert refusal(db, "put_item", TableName="matches", Item=match("m1", **change)) == invalid(message)
    assert db.scan(TableName="matches", Select="COUNT")["Count"] == 0


def test_longest_keys_fit(db: Database) -> None:
    create_matches(db)
    db.put_item(
        TableName="matches",
        Item=match("m1", cup=s("c" * 1024), area=s("a" * 1024), bracket=s("b" * 1020)),
    )
    assert db.scan(TableName="matches", IndexName="by-cup", Select="COUNT")["Count"] == 1


def test_short_texts_of_wide_characters_are_too_long_together(db: Database) -> None:
    db.create_table(
        TableName="wide",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S", a="S", b="S", c="S", d="S"),
        GlobalSecondaryIndexes=[wide_index("four", ["id"], ["a", "b", "c", "d"])],
        BillingMode="PAY_PER_REQUEST",
    )
    whole = {"id": s("1"), **{name: s("\U0001f600" * 64) for name in "abcd"}}
    db.put_item(TableName="wide", Item=whole)
    longer = {**whole, "d": s("\U0001f600" * 65)}
    assert refusal(db, "put_item", TableName="wide", Item=longer) == invalid(
        "Aggregate size for RANGE key attributes a, b, c, d of index four has exceeded limit 1024 bytes, with "
        "actual size 1028 bytes"
    )


def test_update_that_makes_the_key_too_long_is_refused(db: Database) -> None:
    create_matches(db)
    db.put_item(TableName="matches", Item=match("m1", cup=s("c" * 1024)))
    update: Any = {"TableName": "matches", "Key": {"game": s("m1")}, "UpdateExpression": "SET area = :v"}
    long = {":v": s("a" * 1025)}
    assert refusal(db, "update_item", **update, ExpressionAttributeValues=long) == invalid(CUP_AND_AREA)
    db.update_item(**update, ExpressionAttributeValues={":v": s("a" * 1024)})


def test_update_of_something_else_is_refused_while_the_keys_do_not_fit_a_new_index(db: Database) -> None:
    db.create_table(
        TableName="matches",
        KeySchema=key_schema("game"),
        AttributeDefinitions=attributes(game="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    db.put_item(TableName="matches", Item=match("m1", cup=s("c" * 1024), area=s("a" * 1025)))
    db.update_table(
        TableName="matches",
        AttributeDefinitions=attributes(cup="S", area="S"),
        GlobalSecondaryIndexUpdates=[{"Create": wide_index("by-cup", ["cup", "area"])}],
    )
    update: Any = {"TableName": "matches", "Key": {"game": s("m1")}}
    elsewhere = {"UpdateExpression": "SET note = :v", "ExpressionAttributeValues": {":v": s("x")}}
    assert refusal(db, "update_item", **update, **elsewhere) == invalid(
        "Aggregate size for HASH key attributes cup, area of index by-cup has exceeded limit 2048 bytes, "
        "with actual size 2049 bytes"
    )
    assert db.scan(TableName="matches", IndexName="by-cup", Select="COUNT")["Count"] == 0
    db.update_item(**update, UpdateExpression="SET area = :v", ExpressionAttributeValues={":v": s("a")})
    assert db.scan(TableName="matches", IndexName="by-cup", Select="COUNT")["Count"] == 1


# --- damage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("UPDATE {} SET isk = isk || x'00' WHERE item = 2", "its entry in index by-cup is missing or wrong"),
        (
            "UPDATE {} SET ipk = substr(ipk, 1, 5) WHERE item = 2",
            "its entry in index by-cup is missing or wrong",
        ),
        ("DELETE FROM {} WHERE item = 2", "its entry in index by-cup is missing or wrong"),
        (
            "INSERT INTO {0} SELECT ipk, x'6101', pk, sk, item FROM {0} WHERE item = 2",
            "1 entries have no item that they stand for",
        ),
    ],
    ids=["another-sort-key", "another-partition", "missing", "one-more"],
)
def test_check_finds_damage_to_entries_of_several_attributes(tmp_path: Path, sql: str, problem: str) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, durability="relaxed") as db:
        create_matches(db)
        for number in range(3):
            db.put_item(TableName="matches", Item=match(f"m{number}"))
    assert check_file(path) == []
    with opened_by_hand(path) as connection:
        (name,) = next(
            connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'index\\_%' ESCAPE '\\'")
        )
        connection.execute(sql.format(name))
        assert connection.changes() == 1
    assert any(problem in found.what for found in check_file(path))
