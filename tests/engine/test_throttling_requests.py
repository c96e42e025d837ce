"""Throttled requests: what each operation does where units are used up, in the process and as an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import (
    ConditionFailedError,
    ThrottledError,
    ThrottlingError,
    ThroughputExceededError,
    TransactionCanceledError,
    ValidationError,
)

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
TABLE_MESSAGE = (
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your "
    "provisioning level with the UpdateTable API."
)


@pytest.fixture(params=["memory", "file"])
def db(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    """A database that throttles; its clock stands still unless a test moves it."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "test.db")
    with Database.open(path, durability="relaxed", clock=clock, throttling=True) as database:
        yield database
        assert database.check() == []


def make(db: Database, name: str = "orders", *, reads: int = 1_000, writes: int = 1_000, **more: Any) -> None:
    """Make a table with provisioned throughput, whose index by status has as much of it, if no other is given."""
    index_units = more.pop("index", (reads, writes))
    db.create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk", "status", "at")
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        ProvisionedThroughput={"ReadCapacityUnits": reads, "WriteCapacityUnits": writes},
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-status",
                "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": {
                    "ReadCapacityUnits": index_units[0],
                    "WriteCapacityUnits": index_units[1],
                },
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-time",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        **more,
    )


def make_on_demand(db: Database, **more: Any) -> None:
    db.create_table(
        TableName="events",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def key(pk: str = "p", sk: str = "s") -> Any:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def item(pk: str = "p", sk: str = "s", *, size: int = 0, **more: str) -> Any:
    values = {name: {"S": value} for name, value in more.items()}
    return {**key(pk, sk), **values, **({"fill": {"S": "x" * size}} if size else {})}


def reasons(error: ThrottledError) -> list[tuple[str, str]]:
    return [(reason.reason, reason.resource.removeprefix(ARN)) for reason in error.reasons]


def puts(db: Database, most: int = 2_000, **request: Any) -> int:
    """Put an item until that is refused, and return how often it was not."""
    for number in range(most):
        try:
            db.put_item(**{"TableName": "orders", "Item": item(), **request})
        except ThrottledError:
            return number
    return most


def gets(db: Database, most: int = 10_000, **request: Any) -> int:
    """Get an item until that is refused, and return how often it was not."""
    for number in range(most):
        try:
            db.get_item(**{"TableName": "orders", "Key": key(), **request})
        except ThrottledError:
            return number
    return most


# --- single items --------------------------------------------------------------------------------


def test_write_beyond_provisioned_throughput_is_refused_and_changes_nothing(
    db: Database, clock: ManualClock
) -> None:
    make(db, writes=3)
    assert puts(db) == 3
    with pytest.raises(ThroughputExceededError) as refused:
        db.put_item(TableName="orders", Item=item(more="new"))
    assert refused.value.message == TABLE_MESSAGE
    assert reasons(refused.value) == [("TableWriteProvisionedThroughputExceeded", "orders")]
    assert db.get_item(TableName="orders", Key=key())["Item"] == item()
    clock.advance(1)
    db.put_item(TableName="orders", Item=item(more="new"))
    assert db.get_item(TableName="orders", Key=key())["Item"] == item(more="new")


def test_eventually_consistent_reads_cost_half(db: Database) -> None:
    make(db, reads=10)
    assert gets(db, ConsistentRead=True) == 10
    make(db, "other", reads=10)
    assert gets(db, TableName="other") == 20


def test_idle_table_has_five_minutes_to_burst(db: Database, clock: ManualClock) -> None:
    make(db, writes=2)
    clock.advance(3_600)
    assert puts(db) == 600


def test_large_write_is_carried_out_and_paid_for_later(db: Database, clock: ManualClock) -> None:
    make(db, writes=5)
    db.put_item(TableName="orders", Item=item(size=20_000))  # 20 units
    clock.advance(2.9)
    assert puts(db) == 0
    clock.advance(0.2)
    assert puts(db, most=1) == 1


@pytest.mark.parametrize("operation", ["put_item", "update_item", "delete_item"])
def test_every_single_write_is_throttled(db: Database, operation: str) -> None:
    make(db, writes=2)
    puts(db)
    request: Any = {"Item": item()} if operation == "put_item" else {"Key": key()}
    with pytest.raises(ThroughputExceededError):
        getattr(db, operation)(TableName="orders", **request)


def test_request_that_is_wrong_is_told_so_and_costs_nothing(db: Database) -> None:
    make(db, writes=2)
    with pytest.raises(ValidationError):
        db.put_item(TableName="orders", Item={"pk": {"S": "p"}})
    assert puts(db) == 2
    with pytest.raises(ValidationError):
        db.put_item(TableName="orders", Item={"pk": {"S": "p"}})


def test_failed_condition_costs_a_write(db: Database) -> None:
    make(db, writes=10)
    db.put_item(TableName="orders", Item=item(size=1_500))  # 2 units
    for _ in range(2):
        with pytest.raises(ConditionFailedError):
            db.delete_item(TableName="orders", Key=key(), ConditionExpression="attribute_exists(nothing)")
    assert puts(db, Item=item("other")) == 4


def test_failed_condition_is_not_told_while_units_are_used_up(db: Database) -> None:
    make(db, writes=1)
    puts(db)
    with pytest.raises(ThroughputExceededError):
        db.put_item(TableName="orders", Item=item(), ConditionExpression="attribute_not_exists(pk)")


def test_nothing_is_throttled_unless_it_was_asked_for(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock) as db:
        make(db, reads=1, writes=1)
        assert puts(db, most=50) == 50
        assert gets(db, most=50) == 50


# --- partitions --------------------------------------------------------------------------------


def test_hot_key_meets_the_limit_of_a_partition(db: Database) -> None:
    make(db, writes=20_000)
    assert puts(db) == 1_000
    with pytest.raises(ThroughputExceededError) as refused:
        db.put_item(TableName="orders", Item=item(sk="another item of the same partition"))
    assert reasons(refused.value) == [("TableWriteKeyRangeThroughputExceeded", "orders")]
    db.put_item(TableName="orders", Item=item("another partition"))


def test_hot_key_of_a_table_that_is_paid_per_request_is_throttled(db: Database) -> None:
    make_on_demand(db)
    event: Any = {"TableName": "events", "Item": {"pk": {"S": "hot"}}}
    assert puts(db, **event) == 1_000
    with pytest.raises(ThrottlingError, match="check if you have a hot key: https://") as refused:
        db.put_item(**event)
    assert reasons(refused.value) == [("TableWriteKeyRangeThroughputExceeded", "events")]


def test_hot_partition_of_an_index_holds_up_writes_to_its_table(db: Database) -> None:
    make(db, writes=20_000)
    for number in range(1_000):
        db.put_item(TableName="orders", Item=item(f"p{number}", status="open"))
    with pytest.raises(ThroughputExceededError) as refused:
        db.put_item(TableName="orders", Item=item("p1000", status="open"))
    assert reasons(refused.value) == [("IndexWriteKeyRangeThroughputExceeded", "orders/index/by-status")]
    assert "Item" not in db.get_item(TableName="orders", Key=key("p1000"))
    db.put_item(TableName="orders", Item=item("p1000", status="done"))


# --- indexes --------------------------------------------------------------------------------


def test_index_without_units_holds_up_writes_that_would_change_it(db: Database) -> None:
    make(db, index=(1, 1))
    db.put_item(TableName="orders", Item=item(status="open"))
    with pytest.raises(ThroughputExceededError, match="one or more global secondary indexes") as refused:
        db.put_item(TableName="orders", Item=item(status="done"))
    assert reasons(refused.value) == [("IndexWriteProvisionedThroughputExceeded", "orders/index/by-status")]
    db.put_item(TableName="orders", Item=item(status="open"))  # changes nothing in the index
    db.put_item(TableName="orders", Item=item("other"))  # is not in the index


def test_local_index_takes_from_its_table(db: Database) -> None:
    make(db, writes=10)
    assert (
        puts(db, Item=item(at="2026")) == 9
    )  # 2 for the first, which makes an entry; the others change none
    make(db, "other", reads=2)
    request: Any = {
        "TableName": "other",
        "IndexName": "by-time",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "p"}},
        "ConsistentRead": True,
    }
    db.query(**request)
    db.query(**request)
    with pytest.raises(ThroughputExceededError) as refused:
        db.query(**request)
    assert reasons(refused.value) == [("TableReadProvisionedThroughputExceeded", "other")]


def test_read_of_an_index_takes_from_the_index(db: Database) -> None:
    make(db, index=(1, 1_000))
    request: Any = {
        "TableName": "orders",
        "IndexName": "by-status",
        "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": {"#s": "status"},
        "ExpressionAttributeValues": {":s": {"S": "open"}},
    }
    db.query(**request)
    db.query(**request)
    with pytest.raises(ThroughputExceededError) as refused:
        db.query(**request)
    assert reasons(refused.value) == [("IndexReadProvisionedThroughputExceeded", "orders/index/by-status")]
    assert db.get_item(TableName="orders", Key=key()) == {}


# --- pages --------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["query", "scan"])
def test_page_is_admitted_at_its_start_and_paid_for_when_it_is_read(
    db: Database, clock: ManualClock, operation: str
) -> None:
    make(db, reads=10, writes=40_000)
    for number in range(25):
        db.put_item(TableName="orders", Item=item(sk=str(number), size=16_000))
    request: dict[str, Any] = {"TableName": "orders", "ReturnConsumedCapacity": "TOTAL"}
    if operation == "query":
        request["KeyConditionExpression"] = "pk = :p"
        request["ExpressionAttributeValues"] = {":p": {"S": "p"}}
    read = getattr(db, operation)
    assert read(**request)["ConsumedCapacity"]["CapacityUnits"] == 49.0  # 401 KB, half a unit for each 4 KB
    with pytest.raises(ThroughputExceededError):
        read(**request)
    clock.advance(3.8)
    with pytest.raises(ThroughputExceededError):
        read(**request)
    clock.advance(0.2)
    read(**request)


def test_query_meets_the_limit_of_its_partition(db: Database) -> None:
    make(db, reads=40_000)
    request: Any = {
        "TableName": "orders",
        "KeyConditionExpression": "pk = :p",
        "ConsistentRead": True,
        "ExpressionAttributeValues": {":p": {"S": "p"}},
    }
    assert gets(db, ConsistentRead=True) == 3_000
    with pytest.raises(ThroughputExceededError) as refused:
        db.query(**request)
    assert reasons(refused.value) == [("TableReadKeyRangeThroughputExceeded", "orders")]
    assert db.scan(TableName="orders")["Count"] == 0
    request["ExpressionAttributeValues"] = {":p": {"S": "another"}}
    assert db.query(**request)["Count"] == 0


# --- batches --------------------------------------------------------------------------------


def test_batch_gives_back_the_writes_that_were_too_many(db: Database, clock: ManualClock) -> None:
    make(db, writes=3)
    requests: list[Any] = [{"PutRequest": {"Item": item(sk=str(number), data="x")}} for number in range(4)]
    requests.append({"DeleteRequest": {"Key": key(sk="gone")}})
    answer = db.batch_write_item(RequestItems={"orders": requests}, ReturnConsumedCapacity="TOTAL")
    assert answer["UnprocessedItems"] == {"orders": requests[3:]}
    assert answer["ConsumedCapacity"] == [{"TableName": "orders", "CapacityUnits": 3.0}]
    assert db.scan(TableName="orders")["Count"] == 3
    clock.advance(1)
    assert db.batch_write_item(RequestItems=answer["UnprocessedItems"])["UnprocessedItems"] == {}
    assert db.scan(TableName="orders")["Count"] == 4


def test_batch_names_tables_in_what_it_gives_back_as_the_request_does(db: Database) -> None:
    make(db, writes=1)
    make(db, "other", writes=1)
    requests: Any = [{"PutRequest": {"Item": item(sk=str(number))}} for number in range(2)]
    answer = db.batch_write_item(RequestItems={f"{ARN}orders": requests, "other": requests})
    assert answer["UnprocessedItems"] == {f"{ARN}orders": requests[1:], "other": requests[1:]}


def test_batch_of_which_nothing_can_be_written_is_refused(db: Database) -> None:
    make(db, writes=1)
    puts(db)
    with pytest.raises(ThroughputExceededError, match="for the table was exceeded"):
        db.batch_write_item(RequestItems={"orders": [{"PutRequest": {"Item": item()}}]})


def test_batch_of_which_one_table_can_be_written_gives_the_other_back(db: Database) -> None:
    make(db, writes=1)
    make(db, "other")
    puts(db)
    requests: Any = [{"PutRequest": {"Item": item()}}]
    answer = db.batch_write_item(RequestItems={"orders": requests, "other": requests})
    assert answer["UnprocessedItems"] == {"orders": requests}


def test_batch_gives_back_binary_values_as_they_were_given(db: Database) -> None:
    make(db, writes=1)
    requests: Any = [
        {"PutRequest": {"Item": {**item(sk=str(n)), "data": {"B": b"\0\xff"}}}} for n in range(2)
    ]
    answer = db.batch_write_item(RequestItems={"orders": requests})
    assert answer["UnprocessedItems"] == {"orders": requests[1:]}


def test_batch_gives_back_the_keys_that_were_too_many(db: Database, clock: ManualClock) -> None:
    make(db, reads=1)
    for number in range(5):
        db.put_item(TableName="orders", Item=item(sk=str(number)))
    keys = [key(sk=str(number)) for number in range(5)]
    answer = db.batch_get_item(
        RequestItems={"orders": {"Keys": keys, "ProjectionExpression": "sk"}}, ReturnConsumedCapacity="TOTAL"
    )
    assert answer["Responses"] == {"orders": [{"sk": {"S": "0"}}, {"sk": {"S": "1"}}]}
    assert answer["UnprocessedKeys"] == {"orders": {"Keys": keys[2:], "ProjectionExpression": "sk"}}
    assert answer["ConsumedCapacity"] == [{"TableName": "orders", "CapacityUnits": 1.0}]
    clock.advance(1)
    answer = db.batch_get_item(RequestItems=answer["UnprocessedKeys"])
    assert len(answer["Responses"]["orders"]) == 2
    assert answer["UnprocessedKeys"]["orders"]["Keys"] == keys[4:]


def test_batch_skips_the_keys_of_a_hot_partition_alone(db: Database) -> None:
    make(db, reads=40_000)
    gets(db, ConsistentRead=True)
    keys = [key("cold"), key(), key("colder")]
    answer = db.batch_get_item(RequestItems={"orders": {"Keys": keys}})
    assert answer["UnprocessedKeys"]["orders"]["Keys"] == keys[1:2]


def test_batch_of_which_nothing_can_be_read_is_refused(db: Database) -> None:
    make(db, reads=1)
    gets(db)
    with pytest.raises(ThroughputExceededError):
        db.batch_get_item(RequestItems={"orders": {"Keys": [key(), key("other")]}})


# --- transactions --------------------------------------------------------------------------------


def put(name: str, **more: Any) -> Any:
    return {"Put": {"TableName": name, "Item": item(), **more}}


def codes(error: TransactionCanceledError) -> list[tuple[str, str | None]]:
    return [(reason.code, reason.message) for reason in error.reasons]


def test_transaction_with_a_throttled_action_is_cancelled_and_costs_nothing(db: Database) -> None:
    make(db, writes=10)
    make(db, "other", writes=1)
    puts(db, TableName="other")
    with pytest.raises(TransactionCanceledError) as cancelled:
        db.transact_write_items(TransactItems=[put("orders"), put("other")])
    assert codes(cancelled.value) == [("None", None), ("ProvisionedThroughputExceeded", TABLE_MESSAGE)]
    assert cancelled.value.message.endswith("[None, ProvisionedThroughputExceeded]")
    assert "Item" not in db.get_item(TableName="orders", Key=key())
    assert puts(db) == 10


def test_transaction_on_a_table_that_is_paid_per_request_is_cancelled_by_another_name(db: Database) -> None:
    make_on_demand(db, OnDemandThroughput={"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1})
    action: Any = {"Put": {"TableName": "events", "Item": {"pk": {"S": "p"}}}}
    db.transact_write_items(TransactItems=[action])
    with pytest.raises(TransactionCanceledError) as cancelled:
        db.transact_write_items(TransactItems=[action])
    message = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
    assert codes(cancelled.value) == [("ThrottlingError", message)]


def test_writes_of_a_transaction_cost_double(db: Database) -> None:
    make(db, writes=10)
    for _ in range(5):
        db.transact_write_items(TransactItems=[put("orders")])
    with pytest.raises(TransactionCanceledError):
        db.transact_write_items(TransactItems=[put("orders")])


def test_condition_check_is_charged_as_a_write(db: Database) -> None:
    make(db, writes=4)
    check: Any = {
        "ConditionCheck": {
            "TableName": "orders",
            "Key": key(),
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }
    db.transact_write_items(TransactItems=[check])
    assert puts(db) == 2


def test_transaction_that_its_conditions_cancel_is_charged(db: Database) -> None:
    make(db, writes=10)
    failing = put("orders", ConditionExpression="attribute_exists(pk)")
    with pytest.raises(TransactionCanceledError):
        db.transact_write_items(TransactItems=[failing])
    assert puts(db) == 8


def test_reads_of_a_transaction_cost_double_and_are_throttled(db: Database) -> None:
    make(db, reads=4)
    get: Any = {"Get": {"TableName": "orders", "Key": key()}}
    other: Any = {"Get": {"TableName": "orders", "Key": key("other")}}
    db.transact_get_items(TransactItems=[get, other])
    with pytest.raises(TransactionCanceledError) as cancelled:
        db.transact_get_items(TransactItems=[get])
    assert codes(cancelled.value) == [("ProvisionedThroughputExceeded", TABLE_MESSAGE)]


def test_repeated_transaction_costs_reads(db: Database) -> None:
    make(db, reads=4, writes=2)
    request: Any = {"TransactItems": [put("orders")], "ClientRequestToken": "once"}
    db.transact_write_items(**request)
    db.transact_write_items(**request)  # nothing is written, and there would be no units for it
    assert gets(db, ConsistentRead=True) == 2


# --- changes of throughput --------------------------------------------------------------------------------


def test_update_table_changes_the_rate_at_once(db: Database, clock: ManualClock) -> None:
    make(db, writes=1)
    puts(db)
    db.update_table(
        TableName="orders", ProvisionedThroughput={"ReadCapacityUnits": 1_000, "WriteCapacityUnits": 100}
    )
    clock.advance(1)
    assert puts(db) == 100


def test_maximum_of_a_table_that_is_paid_per_request_is_held_and_can_be_taken_away(
    db: Database, clock: ManualClock
) -> None:
    make_on_demand(db, OnDemandThroughput={"MaxWriteRequestUnits": 5})
    event: Any = {"TableName": "events", "Item": {"pk": {"S": "p"}}}
    assert puts(db, **event) == 5
    with pytest.raises(ThrottlingError) as refused:
        db.put_item(**event)
    assert reasons(refused.value) == [("TableWriteMaxOnDemandThroughputExceeded", "events")]
    db.update_table(
        TableName="events", OnDemandThroughput={"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1}
    )
    clock.advance(1)
    assert puts(db, **event) == 1_000


def test_filling_an_index_is_not_throttled(db: Database, clock: ManualClock) -> None:
    make(db, writes=100, index=(1, 1))
    for number in range(50):
        db.put_item(TableName="orders", Item=item(str(number), at=str(number)))
    clock.advance(1)
    db.update_table(
        TableName="orders",
        AttributeDefinitions=[{"AttributeName": "at", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by-at",
                    "KeySchema": [{"AttributeName": "at", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                    "ProvisionedThroughput": {"ReadCapacityUnits": 50, "WriteCapacityUnits": 1},
                }
            }
        ],
    )
    assert db.scan(TableName="orders", IndexName="by-at")["Count"] == 50


def test_table_made_again_under_its_name_owes_nothing(db: Database) -> None:
    make(db, writes=2)
    puts(db, Item=item(size=30_000))
    db.delete_table(TableName="orders")
    make(db, writes=2)
    assert puts(db) == 2


# --- answers --------------------------------------------------------------------------------


def answered(db: Database, operation: str, **request: Any) -> tuple[int, Any]:
    status, body = db.answer(operation, json.dumps(request).encode())
    return status, json.loads(body)


def test_answer_of_a_provisioned_table_names_its_reasons(db: Database) -> None:
    make(db, writes=1)
    puts(db)
    assert answered(db, "PutItem", TableName="orders", Item=item()) == (
        400,
        {
            "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
            "message": TABLE_MESSAGE,
            "ThrottlingReasons": [
                {"reason": "TableWriteProvisionedThroughputExceeded", "resource": f"{ARN}orders"}
            ],
        },
    )


def test_answer_of_a_table_that_is_paid_per_request_names_its_reasons(db: Database) -> None:
    make_on_demand(db, OnDemandThroughput={"MaxWriteRequestUnits": 1})
    event: Any = {"TableName": "events", "Item": {"pk": {"S": "p"}}}
    puts(db, **event)
    assert answered(db, "PutItem", **event) == (
        400,
        {
            "__type": "com.amazon.coral.availability#ThrottlingException",
            "message": "Throughput exceeds the maximum OnDemandThroughput configured on table or index",
            "throttlingReasons": [
                {"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": f"{ARN}events"}
            ],
        },
    )


def test_boto3_reads_the_reasons(db: Database) -> None:
    client = db.client()
    make(db, writes=1)
    puts(db)
    with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as refused:
        client.put_item(TableName="orders", Item=item())
    assert refused.value.response["Error"]["Message"] == TABLE_MESSAGE
    assert refused.value.response["ThrottlingReasons"] == [
        {"reason": "TableWriteProvisionedThroughputExceeded", "resource": f"{ARN}orders"}
    ]
    make_on_demand(db, OnDemandThroughput={"MaxWriteRequestUnits": 1})
    event: Any = {"TableName": "events", "Item": {"pk": {"S": "p"}}}
    client.put_item(**event)
    with pytest.raises(client.exceptions.ThrottlingException) as throttled:
        client.put_item(**event)
    assert throttled.value.response["throttlingReasons"] == [
        {"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": f"{ARN}events"}
    ]
