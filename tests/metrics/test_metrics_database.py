"""What a database counts of real requests: in the process, by boto3, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import singletable
from singletable import errors
from singletable.server import BackgroundServer
from support.serving import HttpSocket, call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from singletable.metrics import MetricsSnapshot

TABLE: Any = {
    "TableName": "orders",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "G", "L")
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByG",
            "KeySchema": [{"AttributeName": "G", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "ByL",
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "L", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
KEY = {"PK": {"S": "p"}, "SK": {"S": "s"}}


@pytest.fixture
def db() -> Iterator[singletable.Database]:
    with singletable.Database.open(":memory:") as opened:
        opened.create_table(**TABLE)
        yield opened


def item(number: int, size: int) -> Any:
    return {
        "PK": {"S": f"p{number % 3}"},
        "SK": {"S": f"{number}"},
        "G": {"S": f"g{number % 2}"},
        "L": {"S": f"l{number}"},
        "payload": {"S": "x" * size},
    }


def key(number: int) -> Any:
    return {name: item(number, 0)[name] for name in ("PK", "SK")}


numbers = st.integers(0, 9)
sizes = st.integers(0, 5000)
requests = st.one_of(
    st.builds(lambda n, size: ("PutItem", {"Item": item(n, size)}), numbers, sizes),
    st.builds(lambda n: ("DeleteItem", {"Key": key(n)}), numbers),
    st.builds(
        lambda n, group: (
            "UpdateItem",
            {
                "Key": key(n),
                "UpdateExpression": "SET G = :g",
                "ExpressionAttributeValues": {":g": {"S": group}},
            },
        ),
        numbers,
        st.sampled_from(["g0", "g1", "g2"]),
    ),
    st.builds(
        lambda n, consistent: ("GetItem", {"Key": key(n), "ConsistentRead": consistent}),
        numbers,
        st.booleans(),
    ),
    st.builds(
        lambda group: (
            "Query",
            {
                "IndexName": "ByG",
                "KeyConditionExpression": "G = :g",
                "ExpressionAttributeValues": {":g": {"S": group}},
            },
        ),
        st.sampled_from(["g0", "g1"]),
    ),
    st.builds(
        lambda n: (
            "Query",
            {
                "IndexName": "ByL",
                "KeyConditionExpression": "PK = :p",
                "ExpressionAttributeValues": {":p": {"S": f"p{n % 3}"}},
                "ProjectionExpression": "payload",
            },
        ),
        numbers,
    ),
    st.just(("Scan", {})),
    st.builds(
        lambda ns: ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key(n) for n in ns]}}}),
        st.lists(numbers, min_size=1, max_size=5, unique=True),
    ),
    st.builds(
        lambda ns, size: (
            "BatchWriteItem",
            {"RequestItems": {"orders": [{"PutRequest": {"Item": item(n, size)}} for n in ns]}},
        ),
        st.lists(numbers, min_size=1, max_size=5, unique=True),
        sizes,
    ),
    st.builds(
        lambda ns, size: (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "orders", "Item": item(n, size)}} for n in ns]},
        ),
        st.lists(numbers, min_size=1, max_size=4, unique=True),
        sizes,
    ),
)
METHODS = {
    "PutItem": "put_item",
    "DeleteItem": "delete_item",
    "UpdateItem": "update_item",
    "GetItem": "get_item",
    "Query": "query",
    "Scan": "scan",
    "BatchGetItem": "batch_get_item",
    "BatchWriteItem": "batch_write_item",
    "TransactWriteItems": "transact_write_items",
}
READS = ("GetItem", "Query", "Scan", "BatchGetItem")


@given(st.lists(requests, max_size=30))
def test_units_are_those_that_the_answers_report(history: list[tuple[str, Any]]) -> None:
    table = {"read": 0.0, "write": 0.0}
    index = {"read": 0.0, "write": 0.0}
    with singletable.Database.open(":memory:") as db:
        db.create_table(**TABLE)
        for operation, params in history:
            named = {} if operation.startswith(("Batch", "Transact")) else {"TableName": "orders"}
            method = getattr(db, METHODS[operation])
            answer = method(**named, **params, ReturnConsumedCapacity="INDEXES")
            kind = "read" if operation in READS else "write"
            reported = answer["ConsumedCapacity"]
            for part in reported if isinstance(reported, list) else [reported]:
                of_index = part.get("GlobalSecondaryIndexes", {}).get("ByG", {}).get("CapacityUnits", 0.0)
                index[kind] += of_index
                table[kind] += part["CapacityUnits"] - of_index
        metrics = db.metrics()
    assert metrics.consumed_read_units("orders") == pytest.approx(table["read"])
    assert metrics.consumed_write_units("orders") == pytest.approx(table["write"])
    assert metrics.consumed_read_units("orders", "ByG") == pytest.approx(index["read"])
    assert metrics.consumed_write_units("orders", "ByG") == pytest.approx(index["write"])
    for operation in METHODS:
        expected = sum(name == operation for name, _ in history)
        assert metrics.latency("orders", operation).count == expected


def test_units_are_counted_without_being_asked_for(db: singletable.Database) -> None:
    db.put_item(TableName="orders", Item={**KEY, "payload": {"S": "x" * 3000}})
    db.get_item(TableName="orders", Key=KEY)
    metrics = db.metrics()
    assert (metrics.consumed_write_units("orders"), metrics.consumed_read_units("orders")) == (3.0, 0.5)


def test_repeated_transaction_has_read(db: singletable.Database) -> None:
    action: Any = [{"Put": {"TableName": "orders", "Item": KEY}}]
    for _ in range(2):
        db.transact_write_items(TransactItems=action, ClientRequestToken="once")
    metrics = db.metrics()
    assert (metrics.consumed_write_units("orders"), metrics.consumed_read_units("orders")) == (2.0, 2.0)


def test_each_failure_is_counted_once_wherever_it_comes_from(db: singletable.Database) -> None:
    absent: Any = {"TableName": "orders", "Item": KEY, "ConditionExpression": "attribute_exists(PK)"}
    with pytest.raises(errors.ConditionFailedError):
        db.put_item(**absent)
    with pytest.raises(errors.ValidationError):
        db.get_item(TableName="orders", Key={"PK": {"S": "p"}})
    with pytest.raises(db.client().exceptions.ResourceNotFoundException):
        db.client().get_item(TableName="nowhere", Key=KEY)
    with BackgroundServer(db) as address, HttpSocket(address) as http:
        assert http.ask(call("PutItem", absent)).status == 400
        assert http.ask(call("GetItem", {"TableName": "orders"})).status == 400
        assert http.ask(call("GetItem", b"{")).status == 400
    metrics = db.metrics()
    assert metrics.conditional_check_failed_requests("orders") == 2
    assert metrics.consumed_write_units("orders") == 2.0  # a condition that fails is paid for
    assert metrics.user_errors() == 4
    assert metrics.latency().count == 0
    assert counted_tables(metrics) == {"orders"}


def counted_tables(metrics: MetricsSnapshot) -> set[str | None]:
    return {dimensions.table for values in metrics.counts.values() for dimensions in values} - {None}


def test_long_read_that_is_done_twice_is_counted_once(db: singletable.Database) -> None:
    for start in range(0, 200, 25):
        puts: Any = [{"PutRequest": {"Item": item(n, 10)}} for n in range(start, start + 25)]
        db.batch_write_item(RequestItems={"orders": puts})
    before = db.metrics()
    scan = {"TableName": "orders", "FilterExpression": "attribute_exists(payload)"}
    with BackgroundServer(db) as address, HttpSocket(address) as http:
        assert http.ask(call("Scan", scan)).json["Count"] == 200
    metrics = db.metrics().since(before)
    assert metrics.latency("orders", "Scan").count == 1
    assert metrics.returned_items("orders", "Scan").sum == 200


def test_throttled_requests_are_counted_with_their_events() -> None:
    with singletable.Database.open(":memory:", throttling=True) as db:
        db.create_table(
            **{
                **TABLE,
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                "GlobalSecondaryIndexes": [
                    {
                        **TABLE["GlobalSecondaryIndexes"][0],
                        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                    }
                ],
            }
        )
        refused = 0
        for number in range(20):
            try:
                db.put_item(TableName="orders", Item=item(number, 4000))
            except errors.ThrottledError:
                refused += 1
        metrics = db.metrics()
    assert refused > 0
    assert metrics.throttled_requests("orders", "PutItem") == refused
    assert metrics.write_throttle_events("orders") + metrics.write_throttle_events("orders", "ByG") >= refused
    assert metrics.latency("orders", "PutItem").count == 20 - refused
    assert metrics.user_errors() == 0


def test_metrics_are_scraped_over_http(db: singletable.Database) -> None:
    db.put_item(TableName="orders", Item=KEY)
    with BackgroundServer(db) as address, HttpSocket(address) as http:
        answer = http.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b'singletable_consumed_write_capacity_units_total{table="orders",index=""} 1' in answer.body


def test_what_the_server_refuses_is_a_user_error_too(db: singletable.Database) -> None:
    unsigned = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\r\n"
    with BackgroundServer(db) as address:
        for request in (
            unsigned,
            call("Nothing", {}),
            call("ListTables", b"x", "Content-Encoding: gzip"),
            b"?\r\n\r\n",
        ):
            with HttpSocket(address) as http:
                assert http.ask(request).status == 400
    assert db.metrics().user_errors() == 4


def test_cancelled_transaction_is_paid_for(db: singletable.Database) -> None:
    check: Any = {"TableName": "orders", "Key": KEY, "ConditionExpression": "attribute_exists(PK)"}
    with pytest.raises(errors.TransactionCanceledError):
        db.transact_write_items(
            TransactItems=[{"ConditionCheck": check}, {"Put": {"TableName": "orders", "Item": item(1, 1500)}}]
        )
    assert db.metrics().consumed_write_units("orders") == 2.0 + 4.0
