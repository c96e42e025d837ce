"""Keys: their types, their lengths, empty ones, and those of indexes; and the size of items."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.limits import ITEM_BYTES_MAX
from support.sample_tables import attributes, create_plain, index, invalid, key_schema, n, refusal, s

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
RIGHT: dict[str, Any] = {"p": {"S": "a"}, "r": {"N": "1"}}


def empty(kind: str, name: str) -> str:
    return (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        f"an empty {kind} value. Key: {name}"
    )


@pytest.fixture(scope="module")
def tables(calm_db: Database) -> Database:
    """Keys of every type. Requests here are refused, so that all tests may share it."""
    for name, kinds in (("text", "SN"), ("bytes", "BB")):
        calm_db.create_table(
            TableName=name,
            KeySchema=key_schema("p", "r"),
            AttributeDefinitions=attributes(p=kinds[0], r=kinds[1]),
            BillingMode="PAY_PER_REQUEST",
        )
    calm_db.create_table(
        TableName="indexed",
        KeySchema=key_schema("p", "r"),
        AttributeDefinitions=attributes(p="S", r="N", g="S", h="B", l="S"),
        LocalSecondaryIndexes=[index("z-by-l", "p", "l")],
        GlobalSecondaryIndexes=[index("m-by-g", "g", "l"), index("k-by-h", "h", "g")],
        BillingMode="PAY_PER_REQUEST",
    )
    return calm_db


# --- the key of an item --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"r": n(1)}, f"{INVALID}Missing the key p in the item", id="no-partition-key"),
        pytest.param({"p": s("a")}, f"{INVALID}Missing the key r in the item", id="no-sort-key"),
        pytest.param({}, f"{INVALID}Missing the key p in the item", id="no-key"),
        pytest.param(
            {**RIGHT, "p": n(1)},
            f"{INVALID}Type mismatch for key p expected: S actual: N",
            id="number-for-text",
        ),
        pytest.param(
            {**RIGHT, "r": s("1")},
            f"{INVALID}Type mismatch for key r expected: N actual: S",
            id="text-for-number",
        ),
        pytest.param(
            {**RIGHT, "p": {"L": [s("a")]}},
            f"{INVALID}Type mismatch for key p expected: S actual: L",
            id="list",
        ),
        pytest.param(
            {**RIGHT, "p": {"NULL": True}},
            f"{INVALID}Type mismatch for key p expected: S actual: NULL",
            id="null",
        ),
        pytest.param({**RIGHT, "p": s("")}, empty("string", "p"), id="empty"),
        pytest.param(
            {**RIGHT, "p": s("a" * 2049)},
            # AWS's own words, with the space missing.
            f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="too-long",
        ),
        pytest.param(
            {**RIGHT, "p": s("é" * 1025)},
            f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="too-many-bytes",
        ),
    ],
)
def test_an_item_with_a_wrong_key_is_not_put(tables: Database, item: dict[str, Any], message: str) -> None:
    assert refusal(tables, "put_item", TableName="text", Item=item) == invalid(message)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"p": {"B": b""}, "r": {"B": b"1"}}, empty("binary", "p"), id="empty-partition-key"),
        pytest.param({"p": {"B": b"1"}, "r": {"B": b""}}, empty("binary", "r"), id="empty-sort-key"),
        pytest.param(
            {"p": {"B": b"1"}, "r": {"B": bytes(1025)}},
            f"{INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
            id="long-sort-key",
        ),
        pytest.param(
            {"p": {"B": bytes(2049)}, "r": {"B": b"1"}},
            f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="long-partition-key",
        ),
    ],
)
def test_binary_keys_have_the_same_limits(tables: Database, item: dict[str, Any], message: str) -> None:
    assert refusal(tables, "put_item", TableName="bytes", Item=item) == invalid(message)
    for operation in ("get_item", "delete_item", "update_item"):
        assert refusal(tables, operation, TableName="bytes", Key=item) == invalid(message)


def test_the_longest_keys_are_kept(db: Database) -> None:
    db.create_table(
        TableName="bytes",
        KeySchema=key_schema("p", "r"),
        AttributeDefinitions=attributes(p="S", r="B", g="B", h="S"),
        GlobalSecondaryIndexes=[index("by-g", "g", "h")],
        BillingMode="PAY_PER_REQUEST",
    )
    longest: dict[str, Any] = {
        "p": s("é" * 1024),
        "r": {"B": b"\xff" * 1024},
        "g": {"B": b"\x00" * 2048},
        "h": s("h" * 1024),
    }
    db.put_item(TableName="bytes", Item=longest)
    key = {"p": longest["p"], "r": longest["r"]}
    assert db.get_item(TableName="bytes", Key=key)["Item"] == longest
    assert db.scan(TableName="bytes", IndexName="by-g")["Items"] == [longest]


# --- the key of a request ------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["get_item", "delete_item", "update_item"])
@pytest.mark.parametrize(
    ("key", "message"),
    [
        pytest.param({}, NO_MATCH, id="none"),
        pytest.param({"p": s("a")}, NO_MATCH, id="half"),
        pytest.param({**RIGHT, "x": s("a")}, NO_MATCH, id="more"),
        pytest.param({"p": s("a"), "x": n(1)}, NO_MATCH, id="another-name"),
        pytest.param({"p": n(1), "r": n(1)}, NO_MATCH, id="another-type"),
        pytest.param({"p": {"L": [s("a")]}, "r": n(1)}, NO_MATCH, id="no-scalar"),
        pytest.param({"p": s(""), "r": n(1)}, empty("string", "p"), id="empty"),
        pytest.param(
            {"p": s("a" * 2049), "r": n(1)},
            f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="too-long",
        ),
    ],
)
def test_a_wrong_key_finds_nothing_and_writes_nothing(
    tables: Database, operation: str, key: dict[str, Any], message: str
) -> None:
    assert refusal(tables, operation, TableName="text", Key=key) == invalid(message)


# --- keys of indexes -----------------------------------------------------------------------------


def put_refusal(db: Database, **values: Any) -> tuple[str, str]:
    return refusal(db, "put_item", TableName="indexed", Item={**RIGHT, **values})


def update_refusal(db: Database, name: str, value: Any) -> tuple[str, str]:
    return refusal(
        db,
        "update_item",
        TableName="indexed",
        Key=RIGHT,
        UpdateExpression=f"SET {name} = :v",
        ExpressionAttributeValues={":v": value},
    )


@pytest.mark.parametrize(
    ("name", "value", "rest"),
    [
        # Of several indexes with one key attribute, the first by name is told (captured by the public conformance
        # suite).
        ("g", n(1), "g Expected: S Actual: N IndexName: k-by-h"),
        ("g", {"BOOL": True}, "g Expected: S Actual: BOOL IndexName: k-by-h"),
        ("l", {"M": {}}, "l Expected: S Actual: M IndexName: m-by-g"),
        ("h", s("text"), "h Expected: B Actual: S IndexName: k-by-h"),
    ],
)
def test_a_value_of_the_wrong_type_is_kept_out_of_an_index(
    tables: Database, name: str, value: dict[str, Any], rest: str
) -> None:
    wanted = invalid(f"{INVALID}Type mismatch for Index Key {rest}")
    assert put_refusal(tables, **{name: value}) == wanted
    assert update_refusal(tables, name, value) == wanted


@pytest.mark.parametrize(
    ("name", "value", "kind", "where"),
    [
        ("g", s(""), "string", "k-by-h"),
        ("h", {"B": b""}, "binary", "k-by-h"),
        ("l", s(""), "string", "m-by-g"),
    ],
)
def test_an_empty_value_is_kept_out_of_an_index(
    tables: Database, name: str, value: dict[str, Any], kind: str, where: str
) -> None:
    reason = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
    assert put_refusal(tables, **{name: value}) == invalid(
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        f"supported. {reason} IndexName: {where}, IndexKey: {name}"
    )
    # An update has words of its own, without the names (captured by the public conformance suite).
    assert update_refusal(tables, name, value) == invalid(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index "
        f"key to a value that is not supported. {reason}"
    )


@pytest.mark.parametrize(("name", "size"), [("g", 2049), ("l", 1025)])
def test_a_value_that_is_too_long_is_kept_out_of_an_index(tables: Database, name: str, size: int) -> None:
    for code, _ in (
        put_refusal(tables, **{name: s("x" * size)}),
        update_refusal(tables, name, s("x" * size)),
    ):
        assert code == "ValidationException"


def test_an_item_without_the_key_of_an_index_is_welcome(db: Database) -> None:
    create_plain(db)
    db.update_table(
        TableName="plain",
        AttributeDefinitions=attributes(g="S", h="N"),
        GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "g", "h")}],
    )
    for name, values in (("none", {}), ("half", {"g": s("g")}), ("other", {"h": n(1)})):
        db.put_item(TableName="plain", Item={"id": s(name), **values})
    db.put_item(TableName="plain", Item={"id": s("both"), "g": s("g"), "h": n(1)})
    found = db.scan(TableName="plain", IndexName="by-g")["Items"]
    assert [item["id"]["S"] for item in found] == ["both"]


# --- paths into keys -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "request_", "what"),
    [
        pytest.param("get_item", {"Key": RIGHT, "ProjectionExpression": "p.x"}, "Key: p", id="get"),
        pytest.param(
            "get_item", {"Key": RIGHT, "ProjectionExpression": "l[0]"}, "IndexKey: l", id="get-index"
        ),
        pytest.param(
            "put_item",
            {"Item": RIGHT, "ConditionExpression": "attribute_exists(r[1])"},
            "Key: r",
            id="put",
        ),
        pytest.param(
            "delete_item",
            {"Key": RIGHT, "ConditionExpression": "attribute_exists(g.x)"},
            "IndexKey: g",
            id="delete",
        ),
        pytest.param(
            "update_item",
            {"Key": RIGHT, "UpdateExpression": "REMOVE g.x"},
            "IndexKey: g",
            id="update",
        ),
        pytest.param(
            "update_item",
            {
                "Key": RIGHT,
                "UpdateExpression": "REMOVE x",
                "ConditionExpression": "attribute_exists(p.x)",
            },
            "Key: p",
            id="update-condition",
        ),
        pytest.param("scan", {"ProjectionExpression": "p.x"}, "Key: p", id="scan"),
        pytest.param("scan", {"FilterExpression": "attribute_exists(h[0])"}, "IndexKey: h", id="scan-filter"),
    ],
)
def test_a_path_into_a_key_is_refused(
    tables: Database, operation: str, request_: dict[str, Any], what: str
) -> None:
    assert refusal(tables, operation, TableName="indexed", **request_) == invalid(f"{SCALARS}{what}")


# --- the size of items ---------------------------------------------------------------------------


def sized(size: int) -> dict[str, Any]:
    """Return an item of exactly so many bytes by AWS's rules, in several types."""
    item: dict[str, Any] = {"id": s("k"), "n": n(12), "l": {"L": [s("ab")]}, "x": s("")}
    rest = size - (3 + 3 + 7 + 1)  # id k; n 12; l and its list; x
    return {**item, "x": s("x" * rest)}


def test_an_item_of_400_kilobytes_fits_and_one_byte_more_does_not(db: Database) -> None:
    create_plain(db)
    db.put_item(TableName="plain", Item=sized(ITEM_BYTES_MAX))
    assert db.describe_table(TableName="plain")["Table"]["TableSizeBytes"] == ITEM_BYTES_MAX
    too_large = sized(ITEM_BYTES_MAX + 1)
    message = "Item size has exceeded the maximum allowed size"
    assert refusal(db, "put_item", TableName="plain", Item=too_large) == invalid(message)
    # It is told before the table is looked up.
    assert refusal(db, "put_item", TableName="nothing", Item=too_large) == invalid(message)
    assert refusal(
        db, "batch_write_item", RequestItems={"plain": [{"PutRequest": {"Item": too_large}}]}
    ) == invalid(message)
    # Not a cancellation: its size is known before the transaction begins (the public conformance suite).
    assert refusal(
        db, "transact_write_items", TransactItems=[{"Put": {"TableName": "plain", "Item": too_large}}]
    ) == invalid(message)


def test_an_update_cannot_make_an_item_too_large(db: Database) -> None:
    create_plain(db)
    db.put_item(TableName="plain", Item=sized(ITEM_BYTES_MAX - 100))
    request: dict[str, Any] = {
        "TableName": "plain",
        "Key": {"id": s("k")},
        "UpdateExpression": "SET y = :y",
    }
    assert refusal(db, "update_item", **request, ExpressionAttributeValues={":y": s("y" * 100)}) == invalid(
        "Item size to update has exceeded the maximum allowed size"
    )
    db.update_item(**request, ExpressionAttributeValues={":y": s("y" * 99)})
    assert db.describe_table(TableName="plain")["Table"]["TableSizeBytes"] == ITEM_BYTES_MAX
