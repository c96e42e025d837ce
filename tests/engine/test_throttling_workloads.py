"""Any workload: requests are let through or refused by what the answers themselves say was used."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import ThrottledError, TransactionCanceledError

READS, WRITES, INDEX_READS, INDEX_WRITES = 7, 5, 3, 2
RATES = {
    ("read", "table"): READS,
    ("write", "table"): WRITES,
    ("read", "by-status"): INDEX_READS,
    ("write", "by-status"): INDEX_WRITES,
}

partitions = st.sampled_from(["a", "b"])
statuses = st.sampled_from([None, "new", "done"])
sizes = st.sampled_from([0, 0, 900, 5_000])
items = st.tuples(partitions, st.sampled_from("123"), statuses, sizes)
keys = st.tuples(partitions, st.sampled_from("123"))
requests = st.one_of(
    st.tuples(st.just("put"), items),
    st.tuples(st.just("delete"), keys),
    st.tuples(st.just("get"), keys),
    st.tuples(st.just("query"), partitions),
    st.tuples(st.just("index"), st.sampled_from(["new", "done"])),
    st.tuples(st.just("scan"), st.none()),
    st.tuples(st.just("batch"), st.lists(items, min_size=1, max_size=6, unique_by=lambda item: item[:2])),
    st.tuples(st.just("batch get"), st.lists(keys, min_size=1, max_size=6, unique=True)),
    st.tuples(
        st.just("transaction"), st.lists(items, min_size=1, max_size=3, unique_by=lambda item: item[:2])
    ),
)
waits_s = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.4, 1.0, 4.0])  # together less than is saved up


def open_table(db: Database) -> None:
    db.create_table(
        TableName="orders",
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk", "status")
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        ProvisionedThroughput={"ReadCapacityUnits": READS, "WriteCapacityUnits": WRITES},
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-status",
                "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": {
                    "ReadCapacityUnits": INDEX_READS,
                    "WriteCapacityUnits": INDEX_WRITES,
                },
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "status", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def item_of(wanted: tuple[str, str, str | None, int]) -> dict[str, Any]:
    pk, sk, status, size = wanted
    item = {"pk": {"S": pk}, "sk": {"S": sk}, "fill": {"S": "x" * size}}
    return item if status is None else {**item, "status": {"S": status}}


def key_of(wanted: tuple[str, str]) -> dict[str, Any]:
    return {"pk": {"S": wanted[0]}, "sk": {"S": wanted[1]}}


def send(db: Database, kind: str, wanted: Any) -> tuple[str, list[Any]]:
    """Carry out a request; return whether it read or wrote, and what it says that it consumed."""
    of_table: Any = {"TableName": "orders", "ReturnConsumedCapacity": "INDEXES"}
    match kind:
        case "put":
            return "write", [db.put_item(Item=item_of(wanted), **of_table)["ConsumedCapacity"]]
        case "delete":
            return "write", [db.delete_item(Key=key_of(wanted), **of_table)["ConsumedCapacity"]]
        case "get":
            return "read", [db.get_item(Key=key_of(wanted), **of_table)["ConsumedCapacity"]]
        case "query":
            of_table["KeyConditionExpression"] = "pk = :p"
            of_table["ExpressionAttributeValues"] = {":p": {"S": wanted}}
            return "read", [db.query(**of_table)["ConsumedCapacity"]]
        case "index":
            of_table["IndexName"] = "by-status"
            of_table["KeyConditionExpression"] = "#s = :s"
            of_table["ExpressionAttributeNames"] = {"#s": "status"}
            of_table["ExpressionAttributeValues"] = {":s": {"S": wanted}}
            return "read", [db.query(**of_table)["ConsumedCapacity"]]
        case "scan":
            return "read", [db.scan(**of_table)["ConsumedCapacity"]]
        case "batch":
            puts: Any = [{"PutRequest": {"Item": item_of(one)}} for one in wanted]
            answer: Any = db.batch_write_item(RequestItems={"orders": puts}, ReturnConsumedCapacity="INDEXES")
            return "write", answer["ConsumedCapacity"]
        case "batch get":
            keys: Any = {"orders": {"Keys": [key_of(one) for one in wanted]}}
            answer = db.batch_get_item(RequestItems=keys, ReturnConsumedCapacity="INDEXES")
            return "read", answer["ConsumedCapacity"]
        case _:
            actions: Any = [{"Put": {"TableName": "orders", "Item": item_of(one)}} for one in wanted]
            answer = db.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="INDEXES")
            return "write", answer["ConsumedCapacity"]


def units_of(consumed: Any) -> dict[str, float]:
    """Return the units of the table, with its local index, and of the global index."""
    of_table: float = consumed["Table"]["CapacityUnits"]
    for index in consumed.get("LocalSecondaryIndexes", {}).values():
        of_table += index["CapacityUnits"]
    of_index = consumed.get("GlobalSecondaryIndexes", {}).get("by-status", {"CapacityUnits": 0.0})
    return {"table": of_table, "by-status": of_index["CapacityUnits"]}


REASONS = {
    "TableReadProvisionedThroughputExceeded": ("read", "table"),
    "TableWriteProvisionedThroughputExceeded": ("write", "table"),
    "IndexReadProvisionedThroughputExceeded": ("read", "by-status"),
    "IndexWriteProvisionedThroughputExceeded": ("write", "by-status"),
}


@settings(max_examples=80)
@given(st.lists(st.tuples(waits_s, requests), max_size=60))
def test_request_is_let_through_while_what_was_used_is_less_than_what_there_was(
    workload: list[tuple[float, tuple[str, Any]]],
) -> None:
    clock = ManualClock()
    made_us = clock.now_us()
    spent: defaultdict[tuple[str, str], float] = defaultdict(float)

    def is_used_up(place: tuple[str, str]) -> bool:
        """Tell whether nothing is left: of the first second, and of the time since."""
        return spent[place] * 1_000_000 >= RATES[place] * (1_000_000 + clock.now_us() - made_us)

    with Database.open(":memory:", clock=clock, throttling=True) as db:
        open_table(db)
        for wait_s, (kind, wanted) in workload:
            clock.advance(wait_s)
            try:
                direction, parts = send(db, kind, wanted)
            except TransactionCanceledError:
                assert is_used_up(("write", "table")) or is_used_up(("write", "by-status"))
                continue
            except ThrottledError as error:
                refused = [REASONS[reason.reason] for reason in error.reasons]
                assert all(map(is_used_up, refused))
                continue
            for consumed in parts:
                for name, units in units_of(consumed).items():
                    if units:
                        assert not is_used_up((direction, name))
                        spent[direction, name] += units
        assert db.check() == []
