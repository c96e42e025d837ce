"""Units: the rules themselves, and what every operation reports as consumed."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.capacity.consumed import Consumed, by_table
from singletable.capacity.units import (
    index_write_units,
    read_units,
    transaction_read_units,
    transaction_write_units,
    write_units,
)
from singletable.engine import collections
from support.sample_tables import attributes, create_plain, index, key_schema, n, s

# --- the rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [
        (0, True, 1.0),
        (0, False, 0.5),
        (1, True, 1.0),
        (4096, True, 1.0),
        (4097, True, 2.0),
        (4096, False, 0.5),
        (4097, False, 1.0),
        (12288, False, 1.5),
        (409600, True, 100.0),
    ],
)
def test_a_read_costs_a_unit_for_every_four_kilobytes_and_half_if_it_may_be_late(
    size: int, consistent: bool, units: float
) -> None:
    assert read_units(size, consistent=consistent) == units


def test_a_transactional_read_costs_twice_a_consistent_one() -> None:
    assert [transaction_read_units(size) for size in (0, 4096, 4097)] == [2.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [(0, 0, 1), (0, 1, 1), (0, 1024, 1), (0, 1025, 2), (5000, 10, 5), (10, 5000, 5), (2048, 2048, 2)],
)
def test_a_write_costs_a_unit_for_every_kilobyte_of_the_larger_image(
    before: int, after: int, units: float
) -> None:
    assert write_units(before, after) == units
    assert transaction_write_units(write_units(before, after)) == 2 * units


@pytest.mark.parametrize(
    ("before", "after", "moved", "changed", "units"),
    [
        pytest.param(None, None, False, False, 0, id="not-in-the-index"),
        pytest.param(None, 1500, True, True, 2, id="entered"),
        pytest.param(1500, None, True, True, 2, id="left"),
        pytest.param(100, 1500, True, True, 3, id="moved"),
        pytest.param(100, 1500, False, True, 2, id="changed"),
        pytest.param(100, 100, False, False, 0, id="unchanged"),
    ],
)
def test_an_index_costs_what_is_written_to_it(
    before: int | None, after: int | None, moved: bool, changed: bool, units: float
) -> None:
    assert index_write_units(before, after, key_moved=moved, changed=changed) == units


def test_what_several_actions_consume_is_added_up_by_table() -> None:
    parts = [Consumed(table="a", table_units=1), Consumed(table="b", table_units=2)]
    parts[0].add_index("by-g", 3, is_global=True)
    again = Consumed(table="a", table_units=4)
    again.add_index("by-g", 5, is_global=True)
    again.add_index("by-l", 6, is_global=False)
    again.add_index("none", 0, is_global=True)
    first, second = by_table([*parts, again])
    assert (first.table, first.table_units, first.total) == ("a", 5, 19)
    assert (dict(first.global_units), dict(first.local_units)) == ({"by-g": 8}, {"by-l": 6})
    assert (second.table, second.total) == ("b", 2)


# --- single items --------------------------------------------------------------------------------


def create_indexed(db: Database) -> None:
    """The table with which the public conformance suite measured the service (eu-west-2, 2026)."""
    db.create_table(
        TableName="indexed",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", g="S", l="S"),
        GlobalSecondaryIndexes=[index("gsi", "g", projection="INCLUDE", include=["proj"])],
        LocalSecondaryIndexes=[index("lsi", "pk", "l")],
        BillingMode="PAY_PER_REQUEST",
    )


def key(pk: str = "a") -> dict[str, Any]:
    return {"pk": s(pk), "sk": s("1")}


SEED = {**key(), "g": s("g"), "l": s("l"), "proj": s("p"), "rest": s("o")}


def arms(consumed: Any) -> dict[str, float]:
    """Return consumed units as {total, table, gsi, lsi}, without what is not reported."""
    found = {"total": consumed["CapacityUnits"]}
    if "Table" in consumed:
        found["table"] = consumed["Table"]["CapacityUnits"]
    for name, kind in (("gsi", "GlobalSecondaryIndexes"), ("lsi", "LocalSecondaryIndexes")):
        if kind in consumed:
            found[name] = consumed[kind][name]["CapacityUnits"]
    return found


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        pytest.param({"g": s("g"), "proj": s("p")}, {"total": 2, "table": 1, "gsi": 1}, id="global"),
        pytest.param({"l": s("l")}, {"total": 2, "table": 1, "lsi": 1}, id="local"),
        pytest.param({"g": s("g"), "l": s("l")}, {"total": 3, "table": 1, "gsi": 1, "lsi": 1}, id="both"),
        pytest.param({"rest": s("o")}, {"total": 1, "table": 1}, id="neither"),
        pytest.param({"rest": s("o" * 3000)}, {"total": 3, "table": 3}, id="large"),
        pytest.param(
            # The global index holds little of it, the local one all.
            {"g": s("g"), "l": s("l"), "rest": s("o" * 3000)},
            {"total": 7, "table": 3, "gsi": 1, "lsi": 3},
            id="large-in-indexes",
        ),
    ],
)
def test_a_put_reports_the_table_and_the_indexes_it_enters(
    db: Database, item: dict[str, Any], wanted: dict[str, float]
) -> None:
    create_indexed(db)
    answer = db.put_item(TableName="indexed", Item={**key(), **item}, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"]["TableName"] == "indexed"
    assert arms(answer["ConsumedCapacity"]) == wanted


def test_a_put_of_the_same_item_writes_nothing_to_the_indexes(db: Database) -> None:
    create_indexed(db)
    db.put_item(TableName="indexed", Item=SEED)
    answer = db.put_item(TableName="indexed", Item=SEED, ReturnConsumedCapacity="INDEXES")
    assert arms(answer["ConsumedCapacity"]) == {"total": 1, "table": 1}


@pytest.mark.parametrize(
    ("expression", "value", "wanted"),
    [
        ("SET rest = :v", "o2", {"total": 2, "table": 1, "lsi": 1}),
        ("SET proj = :v", "p2", {"total": 3, "table": 1, "gsi": 1, "lsi": 1}),
        ("SET g = :v", "g2", {"total": 4, "table": 1, "gsi": 2, "lsi": 1}),
        ("REMOVE g", None, {"total": 3, "table": 1, "gsi": 1, "lsi": 1}),
        ("SET l = :v", "l2", {"total": 3, "table": 1, "lsi": 2}),
    ],
    ids=["not-projected", "projected", "key-moves", "key-goes", "local-key-moves"],
)
def test_an_update_costs_an_index_what_it_changes_there(
    db: Database, expression: str, value: str | None, wanted: dict[str, float]
) -> None:
    create_indexed(db)
    db.put_item(TableName="indexed", Item=SEED)
    values: Any = {} if value is None else {"ExpressionAttributeValues": {":v": s(value)}}
    answer = db.update_item(
        TableName="indexed",
        Key=key(),
        UpdateExpression=expression,
        ReturnConsumedCapacity="INDEXES",
        **values,
    )
    assert arms(answer["ConsumedCapacity"]) == wanted


def test_a_delete_costs_one_write_for_each_index_the_item_was_in(db: Database) -> None:
    create_indexed(db)
    db.put_item(TableName="indexed", Item=SEED)
    answer = db.delete_item(TableName="indexed", Key=key(), ReturnConsumedCapacity="INDEXES")
    assert arms(answer["ConsumedCapacity"]) == {"total": 3, "table": 1, "gsi": 1, "lsi": 1}
    answer = db.delete_item(TableName="indexed", Key=key(), ReturnConsumedCapacity="INDEXES")
    assert arms(answer["ConsumedCapacity"]) == {"total": 1, "table": 1}


def test_the_larger_of_two_images_is_paid_for(db: Database) -> None:
    create_plain(db)
    large = {"id": s("a"), "x": s("x" * 5000)}
    small = {"id": s("a")}

    def units(**request: Any) -> float:
        answer = db.put_item(TableName="plain", ReturnConsumedCapacity="TOTAL", **request)
        return answer["ConsumedCapacity"]["CapacityUnits"]

    assert [units(Item=item) for item in (small, large, small, small)] == [1, 5, 5, 1]


def test_totals_alone_are_reported_when_asked_for(db: Database) -> None:
    create_indexed(db)
    answer = db.put_item(TableName="indexed", Item=SEED, ReturnConsumedCapacity="TOTAL")
    assert answer == {"ConsumedCapacity": {"TableName": "indexed", "CapacityUnits": 3.0}}
    assert db.put_item(TableName="indexed", Item=SEED, ReturnConsumedCapacity="NONE") == {}
    assert db.put_item(TableName="indexed", Item=SEED) == {}


@pytest.mark.parametrize(("size", "late", "current"), [(1, 0.5, 1), (4000, 0.5, 1), (4200, 1, 2)])
def test_a_get_costs_by_size_and_consistency(db: Database, size: int, late: float, current: float) -> None:
    create_plain(db)
    db.put_item(TableName="plain", Item={"id": s("a"), "x": s("x" * size)})
    for consistent, wanted in ((False, late), (True, current)):
        answer = db.get_item(
            TableName="plain",
            Key={"id": s("a")},
            ConsistentRead=consistent,
            ProjectionExpression="id",  # what is not returned has still been read
            ReturnConsumedCapacity="TOTAL",
        )
        assert answer["ConsumedCapacity"] == {"TableName": "plain", "CapacityUnits": wanted}


def test_a_get_of_nothing_costs_as_a_small_item(db: Database) -> None:
    create_plain(db)
    answer = db.get_item(TableName="plain", Key={"id": s("a")}, ReturnConsumedCapacity="INDEXES")
    assert answer == {
        "ConsumedCapacity": {"TableName": "plain", "CapacityUnits": 0.5, "Table": {"CapacityUnits": 0.5}}
    }


# --- pages ---------------------------------------------------------------------------------------


@pytest.fixture
def pages(db: Database) -> Database:
    """Ten items of 1,000 bytes in one partition."""
    create_indexed(db)
    for number in range(10):
        item = {"pk": s("a"), "sk": s(f"{number}"), "g": s("g"), "l": s(f"{number}"), "keep": n(number)}
        size = 3 + 3 + 2 + 2 + 4 + (1 if number == 0 else 2) + 1
        db.put_item(TableName="indexed", Item={**item, "x": s("x" * (1000 - size))})
    return db


QUERY: dict[str, Any] = {
    "TableName": "indexed",
    "KeyConditionExpression": "pk = :p",
    "ReturnConsumedCapacity": "INDEXES",
}


def query_units(db: Database, **request: Any) -> dict[str, float]:
    values = {":p": s("a"), **request.pop("values", {})}
    return arms(db.query(**{**QUERY, **request}, ExpressionAttributeValues=values)["ConsumedCapacity"])


def test_a_query_costs_the_sum_of_what_it_read_rounded_once(pages: Database) -> None:
    assert query_units(pages) == {"total": 1.5, "table": 1.5}  # 10,000 bytes
    assert query_units(pages, ConsistentRead=True) == {"total": 3, "table": 3}
    assert query_units(pages, Limit=4) == {"total": 0.5, "table": 0.5}
    assert query_units(pages, Limit=5) == {"total": 1, "table": 1}


def test_neither_a_filter_nor_a_projection_makes_a_query_cheaper(pages: Database) -> None:
    few = query_units(pages, FilterExpression="keep < :one", values={":one": n(1)}, ProjectionExpression="sk")
    assert few == {"total": 1.5, "table": 1.5}


def test_a_query_that_finds_nothing_costs_the_least(pages: Database) -> None:
    # API reference, Query: "Queries that do not return results consume the minimum number of read capacity units".
    assert query_units(pages, values={":p": s("none")}) == {"total": 0.5, "table": 0.5}
    assert query_units(pages, values={":p": s("none")}, ConsistentRead=True) == {"total": 1, "table": 1}


def test_a_query_of_a_global_index_costs_what_the_index_holds(pages: Database) -> None:
    answer = pages.query(
        TableName="indexed",
        IndexName="gsi",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("g")},
        ReturnConsumedCapacity="INDEXES",
    )
    # Its ten entries are far smaller than the items.
    assert arms(answer["ConsumedCapacity"]) == {"total": 0.5, "table": 0, "gsi": 0.5}


def test_a_scan_costs_as_a_query_does(pages: Database) -> None:
    answer = pages.scan(TableName="indexed", Select="COUNT", ReturnConsumedCapacity="INDEXES")
    assert arms(answer["ConsumedCapacity"]) == {"total": 1.5, "table": 1.5}
    answer = pages.scan(TableName="indexed", IndexName="lsi", ReturnConsumedCapacity="INDEXES")
    assert arms(answer["ConsumedCapacity"]) == {"total": 1.5, "table": 0, "lsi": 1.5}


def test_what_a_local_index_fetches_from_its_table_is_paid_for_item_by_item(db: Database) -> None:
    # AWS guide, "Local secondary indexes", "Read capacity units".
    db.create_table(
        TableName="indexed",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", l="S"),
        LocalSecondaryIndexes=[index("lsi", "pk", "l", projection="KEYS_ONLY")],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(4):
        db.put_item(
            TableName="indexed",
            Item={"pk": s("a"), "sk": s(f"{number}"), "l": s("l"), "x": s("x" * 5000)},
        )
    assert query_units(db, IndexName="lsi") == {"total": 0.5, "table": 0, "lsi": 0.5}
    assert query_units(db, IndexName="lsi", ProjectionExpression="sk") == {
        "total": 0.5,
        "table": 0,
        "lsi": 0.5,
    }
    # Four items of two units each, halved; the entries of the index still fit into half a unit.
    fetched = {"total": 4.5, "table": 4, "lsi": 0.5}
    assert query_units(db, IndexName="lsi", ProjectionExpression="x") == fetched
    assert query_units(db, IndexName="lsi", Select="ALL_ATTRIBUTES") == fetched
    assert query_units(db, IndexName="lsi", Select="ALL_ATTRIBUTES", Limit=1) == {
        "total": 1.5,
        "table": 1,
        "lsi": 0.5,
    }


@pytest.mark.parametrize("report", ["NONE", "INDEXES"])
def test_a_page_that_fetches_is_full_by_what_it_costs(db: Database, report: Any) -> None:
    # AWS guide, "Local secondary indexes", "Read capacity units": 1 MB of entries and of items rounded up to 4 KB.
    db.create_table(
        TableName="fetching",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", l="S"),
        LocalSecondaryIndexes=[index("lsi", "pk", "l", projection="KEYS_ONLY")],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(300):
        item = {"pk": s("a"), "sk": s(f"{number:03}"), "l": s("l"), "x": s("x" * 300)}
        db.put_item(TableName="fetching", Item=item)

    def page(**more: Any) -> Any:
        return db.query(
            TableName="fetching",
            IndexName="lsi",
            KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": s("a")},
            ReturnConsumedCapacity=report,
            **more,
        )

    first = page(Select="ALL_ATTRIBUTES")
    # 255 items of 4 KB, and one block of entries with 10 bytes each.
    assert first["Count"] == 255
    if report == "INDEXES":
        assert arms(first["ConsumedCapacity"]) == {"total": 128, "table": 127.5, "lsi": 0.5}
    second = page(Select="ALL_ATTRIBUTES", ExclusiveStartKey=first["LastEvaluatedKey"])
    assert (second["Count"], "LastEvaluatedKey" in second) == (45, False)
    assert page()["Count"] == 300  # the entries alone are far from 1 MB


# --- batches and transactions --------------------------------------------------------------------


def test_a_batch_of_gets_reports_each_table(db: Database) -> None:
    create_plain(db, "one")
    create_plain(db, "two")
    db.put_item(TableName="one", Item={"id": s("a"), "x": s("x" * 5000)})
    db.put_item(TableName="two", Item={"id": s("a")})
    answer = db.batch_get_item(
        RequestItems={
            "one": {"Keys": [{"id": s("a")}, {"id": s("none")}]},
            "two": {"Keys": [{"id": s("a")}], "ConsistentRead": True},
        },
        ReturnConsumedCapacity="INDEXES",
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": "one", "CapacityUnits": 1.5, "Table": {"CapacityUnits": 1.5}},
        {"TableName": "two", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}},
    ]


def test_a_batch_of_writes_reports_each_table_with_its_indexes(db: Database) -> None:
    create_indexed(db)
    answer = db.batch_write_item(
        RequestItems={
            "indexed": [
                {"PutRequest": {"Item": {**key("a"), "g": s("g"), "proj": s("p")}}},
                {"PutRequest": {"Item": {**key("b"), "rest": s("o")}}},
                {"DeleteRequest": {"Key": key("c")}},
            ]
        },
        ReturnConsumedCapacity="INDEXES",
    )
    (consumed,) = answer["ConsumedCapacity"]
    assert arms(consumed) == {"total": 4, "table": 3, "gsi": 1}


def test_a_transaction_of_writes_costs_twice_and_says_that_it_wrote(db: Database) -> None:
    create_indexed(db)
    db.put_item(TableName="indexed", Item={**key("c"), "x": s("x" * 1500)})
    answer = db.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": "indexed", "Item": {**key("a"), "g": s("g")}}},
            {"Delete": {"TableName": "indexed", "Key": key("b")}},
            {
                "ConditionCheck": {
                    "TableName": "indexed",
                    "Key": key("c"),
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
        ],
        ReturnConsumedCapacity="INDEXES",
    )
    (consumed,) = answer["ConsumedCapacity"]
    # 2 for the put, 2 for the delete, 4 for the check of two kilobytes; the entry is written once.
    assert consumed == {
        "TableName": "indexed",
        "CapacityUnits": 9.0,
        "WriteCapacityUnits": 9.0,
        "Table": {"CapacityUnits": 8.0, "WriteCapacityUnits": 8.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}},
    }


def test_a_transaction_of_gets_costs_twice_and_says_that_it_read(db: Database) -> None:
    create_plain(db)
    db.put_item(TableName="plain", Item={"id": s("a"), "x": s("x" * 5000)})
    answer = db.transact_get_items(
        TransactItems=[
            {"Get": {"TableName": "plain", "Key": {"id": s("a")}}},
            {"Get": {"TableName": "plain", "Key": {"id": s("none")}}},
        ],
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": "plain", "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}
    ]


# --- collections ---------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}


def test_writes_report_the_collection_they_belong_to(db: Database) -> None:
    create_indexed(db)
    put = db.put_item(TableName="indexed", Item=SEED, ReturnItemCollectionMetrics="SIZE")
    assert put == {"ItemCollectionMetrics": SMALL}
    update = db.update_item(TableName="indexed", Key=key(), ReturnItemCollectionMetrics="SIZE")
    assert update == {"ItemCollectionMetrics": SMALL}
    delete = db.delete_item(TableName="indexed", Key=key(), ReturnItemCollectionMetrics="SIZE")
    assert delete == {"ItemCollectionMetrics": SMALL}
    assert db.put_item(TableName="indexed", Item=SEED, ReturnItemCollectionMetrics="NONE") == {}


def test_a_collection_is_measured_in_whole_gigabytes(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    # A gigabyte of a thousand bytes: one of items, and one of what the local index holds of them.
    monkeypatch.setattr(collections, "_GIGABYTE", 1000)
    create_indexed(db)
    half = {"pk": s("a"), "l": s("l"), "x": s("x" * 500)}
    sizes = []
    for item in ({**half, "sk": s("1")}, {**half, "sk": s("2")}, {"pk": s("b"), "sk": s("1")}):
        answer = db.put_item(TableName="indexed", Item=item, ReturnItemCollectionMetrics="SIZE")
        sizes.append(answer["ItemCollectionMetrics"]["SizeEstimateRangeGB"])
    assert sizes == [[1.0, 2.0], [2.0, 3.0], [0.0, 1.0]]


def test_a_table_without_local_indexes_has_no_collections(db: Database) -> None:
    create_plain(db)
    answer = db.put_item(TableName="plain", Item={"id": s("a")}, ReturnItemCollectionMetrics="SIZE")
    assert answer == {}


def test_batches_and_transactions_report_each_collection_once(db: Database) -> None:
    create_indexed(db)
    writes: list[Any] = [
        {"PutRequest": {"Item": {"pk": s(pk), "sk": s(sk)}}} for pk, sk in ("a1", "a2", "b1")
    ]
    batch = db.batch_write_item(RequestItems={"indexed": writes}, ReturnItemCollectionMetrics="SIZE")
    assert batch["ItemCollectionMetrics"] == {
        "indexed": [SMALL, {**SMALL, "ItemCollectionKey": {"pk": s("b")}}]
    }
    answer = db.transact_write_items(
        TransactItems=[{"Delete": {"TableName": "indexed", "Key": {"pk": s("a"), "sk": s("1")}}}],
        ReturnItemCollectionMetrics="SIZE",
    )
    assert answer == {"ItemCollectionMetrics": {"indexed": [SMALL]}}
