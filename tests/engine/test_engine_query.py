"""Query: operators, directions, filters, projections, selections, indexes; and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from support.sample_tables import all_items, attributes, index, invalid, key_schema, n, refusal, s

INVALID = "One or more parameter values were invalid: "
WORDS = [
    "a",
    "ab",
    "abc",
    "b",
    "ba",
    "B",
    "é",
    "\U0001f600",
    "z",
]  # in the order of their UTF-8 bytes, but "B"
NUMBERS = ["-1e30", "-20", "-2.5", "-2", "-0.001", "0", "0.001", "2", "2.5", "10", "20", "1e30"]
BINARIES = [b"\x00", b"\x00\x00", b"\x00\xff", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]


@pytest.fixture(scope="module")
def sorts(calm_db: Database) -> Database:
    """One partition in a table for each type of sort key. Nothing here is changed."""
    values: dict[str, list[Any]] = {
        "S": [s(word) for word in WORDS],
        "N": [n(number) for number in NUMBERS],
        "B": [{"B": data} for data in BINARIES],
    }
    for kind, keys in values.items():
        calm_db.create_table(
            TableName=f"by-{kind}",
            KeySchema=key_schema("p", "r"),
            AttributeDefinitions=attributes(p=kind, r=kind),
            BillingMode="PAY_PER_REQUEST",
        )
        for partition in keys[:2]:
            for number, sort in enumerate(reversed(keys)):
                calm_db.put_item(
                    TableName=f"by-{kind}", Item={"p": partition, "r": sort, "number": n(number)}
                )
    return calm_db


def plain(value: Any) -> Any:
    ((kind, payload),) = value.items()
    return float(payload) if kind == "N" else payload.encode() if kind == "S" else payload


FIRST: dict[str, Any] = {"S": {"S": "a"}, "N": {"N": "-1e30"}, "B": {"B": b"\x00"}}


def found(db: Database, kind: str, condition: str = "", **request: Any) -> list[Any]:
    """Return the sort keys, as Python values that sort as they should, that a query finds."""
    values = {":p": FIRST[kind], **request.pop("values", {})}
    return [
        plain(item["r"])
        for item in all_items(
            db,
            "query",
            TableName=f"by-{kind}",
            KeyConditionExpression=f"p = :p {condition}",
            ExpressionAttributeValues=values,
            **request,
        )
    ]


KEYS: dict[str, list[Any]] = {
    "S": sorted(word.encode() for word in WORDS),
    "N": sorted(float(number) for number in NUMBERS),
    "B": sorted(BINARIES),
}
MIDDLES: dict[str, list[Any]] = {
    "S": [s("abc"), s("abb"), s("b")],
    "N": [n("-2.5"), n("0"), n("0.5"), n("-2.50")],
    "B": [{"B": b"\x01"}, {"B": b"\x00\x01"}, {"B": b"\xff"}],
}
OPERATORS: dict[str, Any] = {
    "=": lambda key, value: key == value,
    "<": lambda key, value: key < value,
    "<=": lambda key, value: key <= value,
    ">": lambda key, value: key > value,
    ">=": lambda key, value: key >= value,
}
CASES = [(kind, value) for kind, values in MIDDLES.items() for value in values]


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("limit", [None, 1, 3, 100])
def test_a_partition_is_read_in_the_order_of_its_sort_keys(
    sorts: Database, kind: str, limit: int | None
) -> None:
    paging: Any = {} if limit is None else {"Limit": limit}
    assert found(sorts, kind, **paging) == KEYS[kind]
    assert found(sorts, kind, ScanIndexForward=True, **paging) == KEYS[kind]
    assert found(sorts, kind, ScanIndexForward=False, **paging) == KEYS[kind][::-1]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("kind", "value"), CASES)
@pytest.mark.parametrize("limit", [None, 2])
def test_every_comparison_finds_what_it_says(
    sorts: Database, operator: str, kind: str, value: Any, limit: int | None
) -> None:
    wanted = [key for key in KEYS[kind] if OPERATORS[operator](key, plain(value))]
    request = {"values": {":v": value}, **({} if limit is None else {"Limit": limit})}
    assert found(sorts, kind, f"AND r {operator} :v", **dict(request)) == wanted
    assert found(sorts, kind, f"AND r {operator} :v", ScanIndexForward=False, **request) == wanted[::-1]


@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">="])
def test_a_value_may_stand_before_its_key(sorts: Database, operator: str) -> None:
    mirrored = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
    values = {":v": n("-2")}
    assert found(sorts, "N", f"AND :v {operator} r", values=values) == found(
        sorts, "N", f"AND r {mirrored} :v", values=values
    )


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("S", s("ab"), s("b")),
        ("S", s("aa"), s("bz")),
        ("N", n("-2.5"), n("0.001")),
        ("N", n("-100"), n("-2.1")),
        ("N", n("3"), n("9")),
        ("B", {"B": b"\x00\x01"}, {"B": b"\x80"}),
        ("B", {"B": b"\xff"}, {"B": b"\xff"}),
    ],
)
def test_between_includes_both_ends(sorts: Database, kind: str, low: Any, high: Any) -> None:
    wanted = [key for key in KEYS[kind] if plain(low) <= key <= plain(high)]
    values = {":low": low, ":high": high}
    assert found(sorts, kind, "AND r BETWEEN :low AND :high", values=values) == wanted


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("S", s("a")),
        ("S", s("ab")),
        ("S", s("x")),
        ("S", s("\U0001f600")),
        ("B", {"B": b"\x00"}),
        ("B", {"B": b"\xff"}),
        ("B", {"B": b"\xff\xff"}),
        ("B", {"B": b"\xff\xff\xff"}),
    ],
)
def test_begins_with_finds_every_key_with_the_prefix(sorts: Database, kind: str, prefix: Any) -> None:
    wanted = [key for key in KEYS[kind] if key.startswith(plain(prefix))]
    assert found(sorts, kind, "AND begins_with(r, :v)", values={":v": prefix}) == wanted
    assert found(sorts, kind, "AND begins_with(r, :v)", values={":v": prefix}, Limit=1) == wanted


def test_a_partition_that_is_not_there_is_empty(sorts: Database) -> None:
    answer = sorts.query(
        TableName="by-S",
        KeyConditionExpression="p = :p",
        ExpressionAttributeValues={":p": s("nothing")},
    )
    assert answer == {"Items": [], "Count": 0, "ScannedCount": 0}


def test_partitions_with_a_common_beginning_are_kept_apart(sorts: Database) -> None:
    answer = sorts.query(
        TableName="by-S", KeyConditionExpression="p = :p", ExpressionAttributeValues={":p": s("ab")}
    )
    assert {item["p"]["S"] for item in answer["Items"]} == {"ab"}
    assert answer["Count"] == len(WORDS)


# --- filter, projection, select ------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(calm_db: Database) -> Database:
    """Orders with a global index of each projection and a local one that projects keys."""
    calm_db.create_table(
        TableName="orders",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=attributes(pk="S", sk="S", g="S", l="N"),
        GlobalSecondaryIndexes=[
            index("all", "g", "sk"),
            index("keys", "g", projection="KEYS_ONLY"),
            index("some", "g", "l", projection="INCLUDE", include=["x"]),
        ],
        LocalSecondaryIndexes=[
            index("local-keys", "pk", "l", projection="KEYS_ONLY"),
            index("local-some", "pk", "l", projection="INCLUDE", include=["x", "m"]),
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(8):
        calm_db.put_item(TableName="orders", Item=order(number))
    calm_db.put_item(TableName="orders", Item={"pk": s("p"), "sk": s("sparse")})
    return calm_db


def order(number: int) -> dict[str, Any]:
    return {
        "pk": s("p"),
        "sk": s(f"{number}"),
        "g": s("g"),
        "l": n(10 - number),
        "x": n(number % 3),
        "y": {"B": bytes([number])},
        "m": {"M": {"a": {"L": [n(number), s("deep")]}}},
    }


def query(db: Database, condition: str = "pk = :k", **request: Any) -> Any:
    values = {":k": s("p"), **request.pop("values", {})}
    return db.query(
        **{
            "TableName": "orders",
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            **request,
        }
    )


def sks(answer: Any) -> list[str]:
    return [item["sk"]["S"] for item in answer["Items"]]


def test_a_filter_drops_items_after_they_were_counted(shop: Database) -> None:
    answer = query(shop, FilterExpression="x = :x", values={":x": n(1)})
    assert sks(answer) == ["1", "4", "7"]
    assert (answer["Count"], answer["ScannedCount"]) == (3, 9)
    assert "LastEvaluatedKey" not in answer


def test_a_page_may_be_empty_and_still_go_on(shop: Database) -> None:
    answer = query(shop, FilterExpression="x = :x", values={":x": n(2)}, Limit=2)
    assert answer["Items"] == []
    assert (answer["Count"], answer["ScannedCount"]) == (0, 2)
    assert answer["LastEvaluatedKey"] == {"pk": s("p"), "sk": s("1")}
    items = all_items(
        shop,
        "query",
        TableName="orders",
        KeyConditionExpression="pk = :k",
        FilterExpression="x = :x",
        ExpressionAttributeValues={":k": s("p"), ":x": n(2)},
        Limit=2,
    )
    assert [item["sk"]["S"] for item in items] == ["2", "5"]


def test_a_projection_takes_parts_and_may_name_keys(shop: Database) -> None:
    answer = query(shop, "pk = :k AND sk = :s", values={":s": s("3")}, ProjectionExpression="sk, y, m.a[0]")
    assert answer["Items"] == [{"sk": s("3"), "y": {"B": b"\x03"}, "m": {"M": {"a": {"L": [n(3)]}}}}]


def test_a_filter_may_look_at_what_is_not_projected(shop: Database) -> None:
    answer = query(shop, FilterExpression="m.a[0] > :six", values={":six": n(6)}, ProjectionExpression="sk")
    assert answer["Items"] == [{"sk": s("7")}]


def test_select_count_gives_no_items(shop: Database) -> None:
    answer = query(shop, Select="COUNT", FilterExpression="x = :x", values={":x": n(1)})
    assert answer == {"Count": 3, "ScannedCount": 9}
    answer = query(shop, Select="COUNT", Limit=3)
    assert answer == {
        "Count": 3,
        "ScannedCount": 3,
        "LastEvaluatedKey": {"pk": s("p"), "sk": s("2")},
    }


@pytest.mark.parametrize("select", [None, "ALL_ATTRIBUTES"])
def test_a_query_of_the_table_gives_whole_items(shop: Database, select: str | None) -> None:
    chosen = {} if select is None else {"Select": select}
    assert query(shop, Limit=2, **chosen)["Items"] == [order(0), order(1)]


# --- indexes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("all", {"pk", "sk", "g", "l", "x", "y", "m"}),
        ("keys", {"pk", "sk", "g"}),
        ("some", {"pk", "sk", "g", "l", "x"}),
        ("local-keys", {"pk", "sk", "l"}),
        ("local-some", {"pk", "sk", "l", "x", "m"}),
    ],
)
@pytest.mark.parametrize("select", [None, "ALL_PROJECTED_ATTRIBUTES"])
def test_an_index_gives_what_it_projects(
    shop: Database, name: str, names: set[str], select: str | None
) -> None:
    chosen = {} if select is None else {"Select": select}
    is_local = name.startswith("local")
    answer = query(
        shop,
        "pk = :k" if is_local else "g = :k",
        IndexName=name,
        values={":k": s("p" if is_local else "g")},
        **chosen,
    )
    assert answer["Count"] == 8, "the sparse item is not in an index"
    for item in answer["Items"]:
        assert item == {key: value for key, value in order(int(item["sk"]["S"])).items() if key in names}


def test_an_index_has_an_order_of_its_own(shop: Database) -> None:
    assert sks(query(shop, IndexName="local-keys")) == ["7", "6", "5", "4", "3", "2", "1", "0"]
    assert sks(query(shop, IndexName="local-keys", ScanIndexForward=False)) == list("01234567")
    some = shop.query(
        TableName="orders",
        IndexName="some",
        KeyConditionExpression="g = :g AND l BETWEEN :a AND :b",
        ExpressionAttributeValues={":g": s("g"), ":a": n(4), ":b": n(6)},
    )
    assert sks(some) == ["6", "5", "4"]


def test_a_local_index_fetches_what_it_does_not_project(shop: Database) -> None:
    whole = query(shop, IndexName="local-keys", Select="ALL_ATTRIBUTES", Limit=2)
    assert whole["Items"] == [order(7), order(6)]
    part = query(shop, IndexName="local-keys", ProjectionExpression="y, sk", Limit=1)
    assert part["Items"] == [{"y": {"B": b"\x07"}, "sk": s("7")}]
    nested = query(shop, IndexName="local-keys", ProjectionExpression="m.a[1]", Limit=1)
    assert nested["Items"] == [{"m": {"M": {"a": {"L": [s("deep")]}}}}]


def test_a_local_index_may_be_read_consistently(shop: Database) -> None:
    assert query(shop, IndexName="local-keys", ConsistentRead=True)["Count"] == 8


@pytest.mark.parametrize("operation", ["query", "scan"])
def test_a_global_index_cannot_be_read_consistently(shop: Database, operation: str) -> None:
    request: dict[str, Any] = {"TableName": "orders", "IndexName": "all", "ConsistentRead": True}
    if operation == "query":
        request |= {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("g")}}
    assert refusal(shop, operation, **request) == invalid(
        "Consistent reads are not supported on global secondary indexes"
    )


# --- what it refuses -----------------------------------------------------------------------------


def refused(db: Database, condition: str | None = "pk = :k", **request: Any) -> tuple[str, str]:
    values = {":k": s("p"), **request.pop("values", {})}
    text = {} if condition is None else {"KeyConditionExpression": condition}
    return refusal(
        db, "query", **{"TableName": "orders", "ExpressionAttributeValues": values, **text, **request}
    )


TYPES = f"{INVALID}Condition parameter type does not match schema type"
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: "
)


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        pytest.param("sk = :k", {}, "Query condition missed key schema element: pk", id="no-partition-key"),
        pytest.param("x = :k", {}, "Query condition missed key schema element: pk", id="no-key"),
        pytest.param(
            "pk = :k AND x = :v",
            {":v": n(1)},
            "Query condition missed key schema element: sk",
            id="no-sort-key",
        ),
        pytest.param("pk > :k", {}, "Query key condition not supported", id="range-of-partitions"),
        pytest.param(
            "begins_with(pk, :k)", {}, "Query key condition not supported", id="prefix-of-partitions"
        ),
        pytest.param(
            "pk = :k AND sk > :v AND x = :v",
            {":v": s("1")},
            # Captured by the public conformance suite, October 2026.
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
            id="too-many-conditions",
        ),
        pytest.param("pk = :v", {":v": n(1), ":k": None}, TYPES, id="number-for-text"),
        pytest.param("pk = :k AND sk = :v", {":v": {"BOOL": True}}, TYPES, id="boolean-for-text"),
        pytest.param("pk = :v", {":v": s(""), ":k": None}, f"{EMPTY}pk", id="empty-partition-key"),
        pytest.param("pk = :k AND sk = :v", {":v": s("")}, f"{EMPTY}sk", id="empty-sort-key"),
    ],
)
def test_a_key_condition_that_does_not_fit_the_key_is_refused(
    shop: Database, condition: str, values: dict[str, Any], message: str
) -> None:
    given = {name: value for name, value in {":k": s("p"), **values}.items() if value is not None}
    assert refusal(
        shop,
        "query",
        TableName="orders",
        KeyConditionExpression=condition,
        ExpressionAttributeValues=given,
    ) == invalid(message)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        pytest.param(
            {"IndexName": "nope"}, "The table does not have the specified index: nope", id="no-such-index"
        ),
        pytest.param(
            {"FilterExpression": "sk = :f", "values": {":f": s("1")}},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
            id="filter-by-sort-key",
        ),
        pytest.param(
            {"FilterExpression": "pk <> :f", "values": {":f": s("1")}},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk",
            id="filter-by-partition-key",
        ),
        pytest.param(
            {"IndexName": "local-keys", "FilterExpression": "l > :f", "values": {":f": n(1)}},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: l",
            id="filter-by-key-of-the-index",
        ),
        pytest.param(
            {"FilterExpression": "attribute_exists(sk.x)"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
            id="filter-inside-a-key",
        ),
        pytest.param(
            {"FilterExpression": "attribute_exists(g.x)"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
            "IndexKey: g",
            id="filter-inside-a-key-of-an-index",
        ),
        pytest.param(
            {"ProjectionExpression": "pk[0]"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
            id="projection-inside-a-key",
        ),
        pytest.param(
            {"IndexName": "local-keys", "FilterExpression": "x = :f", "values": {":f": n(1)}},
            f"{INVALID}Secondary index local-keys does not project one or more filter attributes: [x]",
            id="filter-by-what-a-local-index-lacks",
        ),
        pytest.param(
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an "
            "IndexName",
            id="projected-attributes-of-a-table",
        ),
        pytest.param(
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing "
            "to get SPECIFIC_ATTRIBUTES",
            id="specific-attributes-without-projection",
        ),
        pytest.param(
            {"Select": "COUNT", "ProjectionExpression": "x"},
            "1 validation error detected: Cannot specify the ProjectionExpression when choosing to get only the "
            "Count",
            id="count-with-projection",
        ),
        pytest.param(
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "x"},
            "1 validation error detected: Cannot specify the ProjectionExpression when choosing to get "
            "ALL_ATTRIBUTES",
            id="everything-with-projection",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#x": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}",
            id="unused-name",
        ),
        pytest.param(
            {"FilterExpression": "#x = :k"},
            "Invalid FilterExpression: An expression attribute name used in the document path is not defined; "
            "attribute name: #x",
            id="undefined-name",
        ),
        pytest.param(
            {"Limit": 0},
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value "
            "greater than or equal to 1",
            id="limit-of-zero",
        ),
    ],
)
def test_a_wrong_query_is_refused_in_the_words_of_aws(
    shop: Database, request_: dict[str, Any], message: str
) -> None:
    assert refused(shop, **dict(request_)) == invalid(message)


@pytest.mark.parametrize(
    ("name", "request_", "message"),
    [
        pytest.param(
            "keys",
            {"Select": "ALL_ATTRIBUTES"},
            f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index keys because its "
            "projection type is not ALL",
            id="everything-of-an-index-of-keys",
        ),
        pytest.param(
            "keys",
            {"ProjectionExpression": "y, x, pk"},
            f"{INVALID}Global secondary index keys does not project [x, y]",
            id="projection-of-what-it-lacks",
        ),
        pytest.param(
            "some",
            {"FilterExpression": "y = :g"},
            f"{INVALID}Secondary index some does not project one or more filter attributes: [y]",
            id="filter-by-what-it-lacks",
        ),
    ],
)
def test_a_global_index_gives_nothing_that_it_does_not_project(
    shop: Database, name: str, request_: dict[str, Any], message: str
) -> None:
    assert refusal(
        shop,
        "query",
        TableName="orders",
        IndexName=name,
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("g")},
        **request_,
    ) == invalid(message)


def test_a_query_needs_a_key_condition(shop: Database) -> None:
    assert refusal(shop, "query", TableName="orders") == invalid(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )


def test_a_table_that_is_not_there_cannot_be_queried(shop: Database) -> None:
    assert refused(shop, TableName="nothing") == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
