"""GetRecords: what a record shows, how many are on a page, and how the pages follow each other."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.limits import MIB
from support.sample_tables import attributes, key_schema
from support.streamed_tables import (
    create_streamed,
    delete,
    events_of,
    iterator_at,
    keys_of,
    pages_from,
    put,
    records_from,
    records_of,
    turn_off,
)


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def bodies(records: list[Any]) -> list[Any]:
    return [record["dynamodb"] for record in records]


# --- one record -------------------------------------------------------------------------------------


def test_records_are_as_large_as_those_of_aws_example(db: Database) -> None:
    """The sample event of the Lambda guide (DynamoDB): an INSERT of 26 bytes, a MODIFY of 59, a REMOVE of 38."""
    db.create_table(
        TableName="example",
        KeySchema=key_schema("Id"),
        AttributeDefinitions=attributes(Id="N"),
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for message in ("New item!", "This item has changed"):
        db.put_item(TableName="example", Item={"Id": {"N": "101"}, "Message": {"S": message}})
    db.delete_item(TableName="example", Key={"Id": {"N": "101"}})
    arn = db.describe_table(TableName="example")["Table"]["LatestStreamArn"]
    assert [body["SizeBytes"] for body in bodies(records_of(db, arn))] == [26, 59, 38]


def test_a_record_has_the_shape_of_aws(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    clock.advance(0.999)
    put(db, "a", photo={"B": b"\x00\xff"}, parts={"BS": [b"1"]})
    (record,) = records_of(db, arn)
    assert len(record.pop("eventID")) == 32
    assert record == {
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            # Rounded down to the second.
            "ApproximateCreationDateTime": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
            "Keys": {"id": {"S": "a"}},
            "NewImage": {"id": {"S": "a"}, "photo": {"B": b"\x00\xff"}, "parts": {"BS": [b"1"]}},
            "SequenceNumber": "100000000000000000001",
            "SizeBytes": 19,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("S", "größe", "größe"),
        ("N", "-1.50E2", "-150"),
        ("N", "0.000", "0"),
        ("B", b"\x00\x01", b"\x00\x01"),
    ],
)
def test_keys_of_any_type_are_shown_as_the_item_has_them(
    db: Database, kind: str, value: Any, shown: Any
) -> None:
    db.create_table(
        TableName="keys",
        KeySchema=key_schema("p", "s"),
        AttributeDefinitions=attributes(p=kind, s=kind),
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    item: Any = {"p": {kind: value}, "s": {kind: value}}
    db.put_item(TableName="keys", Item=item)
    arn = db.describe_table(TableName="keys")["Table"]["LatestStreamArn"]
    (body,) = bodies(records_of(db, arn))
    assert body["Keys"] == {"p": {kind: shown}, "s": {kind: shown}} == body["NewImage"]


def test_a_write_that_changes_nothing_leaves_no_record(db: Database) -> None:
    arn = create_streamed(db)
    for _ in range(2):
        put(db, "a", n={"N": "1"})
    for _ in range(2):
        delete(db, "a")
    assert events_of(records_of(db, arn)) == [("INSERT", "a"), ("REMOVE", "a")]


_FIRST: Any = {
    "address": {"M": {"city": {"S": "Graz"}, "door": {"M": {"floor": {"N": "2"}, "number": {"N": "7"}}}}},
    "visits": {"L": [{"M": {"at": {"N": "1"}, "by": {"S": "Ann"}}}, {"S": "then"}]},
    "tags": {"SS": ["a", "b"]},
    "rated": {"N": "100"},
    "photo": {"B": b"\x00"},
}
# The same, as a client whose maps have no order may send it.
_AGAIN: Any = {
    "photo": {"B": b"\x00"},
    "rated": {"N": "1e2"},
    "tags": {"SS": ["b", "a"]},
    "visits": {"L": [{"M": {"by": {"S": "Ann"}, "at": {"N": "1.0"}}}, {"S": "then"}]},
    "address": {"M": {"door": {"M": {"number": {"N": "7"}, "floor": {"N": "2"}}}, "city": {"S": "Graz"}}},
}
_KEY: Any = {"id": {"S": "a"}}


def _updating(item: Any) -> Any:
    return {
        "TableName": "streamed",
        "Key": _KEY,
        "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in item),
        "ExpressionAttributeValues": {f":{name}": value for name, value in item.items()},
    }


WAYS: Any = {
    "put": lambda db, item: db.put_item(TableName="streamed", Item=item | _KEY),
    "update": lambda db, item: db.update_item(**_updating(item)),
    "attribute_updates": lambda db, item: db.update_item(
        TableName="streamed",
        Key=_KEY,
        AttributeUpdates={name: {"Value": value} for name, value in item.items()},
    ),
    "batch": lambda db, item: db.batch_write_item(
        RequestItems={"streamed": [{"PutRequest": {"Item": item | _KEY}}]}
    ),
    "put_in_a_transaction": lambda db, item: db.transact_write_items(
        TransactItems=[{"Put": {"TableName": "streamed", "Item": item | _KEY}}]
    ),
    "update_in_a_transaction": lambda db, item: db.transact_write_items(
        TransactItems=[{"Update": _updating(item)}]
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_attributes_and_members_in_another_order_leave_no_record(db: Database, way: str) -> None:
    arn = create_streamed(db)
    put(db, "a", **_FIRST)
    WAYS[way](db, _AGAIN)
    assert events_of(records_of(db, arn)) == [("INSERT", "a")]
    # The elements of a list have an order.
    WAYS[way](db, _AGAIN | {"visits": {"L": _FIRST["visits"]["L"][::-1]}})
    assert events_of(records_of(db, arn)) == [("INSERT", "a"), ("MODIFY", "a")]
    assert bodies(records_of(db, arn))[1]["OldImage"] == _FIRST | _KEY


def test_values_that_have_changed_places_are_a_change(db: Database) -> None:
    arn = create_streamed(db)
    put(db, "a", one={"S": "1"}, two={"S": "2"})
    put(db, "a", two={"S": "1"}, one={"S": "2"})
    assert events_of(records_of(db, arn)) == [("INSERT", "a"), ("MODIFY", "a")]


def test_what_the_service_deletes_has_its_identity(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    db.update_time_to_live(
        TableName="streamed", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
    )
    put(db, "expires", ttl={"N": str(clock.time_us // 1_000_000 + 60)})
    put(db, "deleted")
    delete(db, "deleted")
    clock.advance(61)
    *_, by_user, by_service = records_of(db, arn)
    assert "userIdentity" not in by_user
    assert by_service["eventName"] == "REMOVE"
    assert by_service["dynamodb"]["OldImage"]["id"] == {"S": "expires"}
    assert by_service["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def test_a_record_is_the_same_whoever_reads_it(db: Database) -> None:
    arn = create_streamed(db)
    for number in range(3):
        put(db, f"k{number}")
    records = records_of(db, arn)
    assert records_of(db, arn, Limit=1) == records
    assert len({record["eventID"] for record in records}) == 3


# --- many records -----------------------------------------------------------------------------------


def test_records_stand_in_the_order_of_their_numbers(db: Database) -> None:
    arn = create_streamed(db)
    db.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": "streamed", "Item": {"id": {"S": f"k{number}"}}}} for number in range(50)
        ]
    )
    records = records_of(db, arn)
    assert keys_of(records) == [f"k{number}" for number in range(50)]
    numbers = [int(body["SequenceNumber"]) for body in bodies(records)]
    assert all(before < after for before, after in pairwise(numbers))


@pytest.mark.parametrize("limit", [1, 2, 7, 10, 11])
def test_pages_hold_as_many_records_as_the_limit(db: Database, limit: int) -> None:
    arn = create_streamed(db)
    for number in range(10):
        put(db, f"k{number}")
    pages = list(pages_from(db, iterator_at(db, arn), Limit=limit))
    assert all(len(page["Records"]) == limit for page in pages[: 10 // limit])
    assert keys_of([record for page in pages for record in page["Records"]]) == [f"k{n}" for n in range(10)]


def test_a_page_holds_a_thousand_records_at_most(db: Database) -> None:
    arn = create_streamed(db)
    for start in range(0, 1_100, 25):
        db.batch_write_item(
            RequestItems={
                "streamed": [{"PutRequest": {"Item": {"id": {"S": f"{start + n}"}}}} for n in range(25)]
            }
        )
    first, second, *_ = pages_from(db, iterator_at(db, arn))
    assert [len(first["Records"]), len(second["Records"])] == [1_000, 100]


def test_a_page_holds_a_megabyte_at_most(db: Database) -> None:
    arn = create_streamed(db)
    for number in range(5):
        put(db, f"k{number}", text={"S": "x" * 300_000})
    pages = [page["Records"] for page in pages_from(db, iterator_at(db, arn))]
    assert [len(page) for page in pages if page] == [3, 2]
    assert all(sum(body["SizeBytes"] for body in bodies(page)) <= MIB for page in pages)


def test_a_page_ends_with_its_shard(db: Database) -> None:
    arn = create_streamed(db)
    for number in range(4):
        put(db, f"k{number}")
    turn_off(db)
    pages = list(pages_from(db, iterator_at(db, arn), Limit=2))
    assert [len(page["Records"]) for page in pages] == [2, 2]
    assert "NextShardIterator" not in pages[-1]


def test_a_stream_without_changes_ends_at_once(db: Database) -> None:
    arn = create_streamed(db)
    iterator = iterator_at(db, arn)
    assert db.get_records(ShardIterator=iterator)["Records"] == []
    turn_off(db)
    assert db.get_records(ShardIterator=iterator) == {"Records": []}


def test_an_open_shard_goes_on_when_something_is_written(db: Database) -> None:
    arn = create_streamed(db)
    put(db, "a")
    page: Any = db.get_records(ShardIterator=iterator_at(db, arn))
    assert keys_of(page["Records"]) == ["a"]
    page = db.get_records(ShardIterator=page["NextShardIterator"])
    assert page["Records"] == []
    put(db, "b")
    assert keys_of(records_from(db, page["NextShardIterator"])) == ["b"]


def test_images_that_callers_change_are_their_own(db: Database) -> None:
    arn = create_streamed(db)
    put(db, "a", n={"N": "1"})
    (record,) = records_of(db, arn)
    record["dynamodb"]["NewImage"]["n"]["N"] = "2"
    assert records_of(db, arn)[0]["dynamodb"]["NewImage"]["n"] == {"N": "1"}
