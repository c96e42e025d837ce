"""PutItem, GetItem and DeleteItem: round trips, conditions, return values."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.errors import ConditionFailedError
from support.sample_tables import (
    attributes,
    create_plain,
    create_single,
    invalid,
    item,
    key_schema,
    n,
    refusal,
    s,
)

KEY: dict[str, Any] = {"id": {"S": "k"}}
MISSING = ("ResourceNotFoundException", "Requested resource not found")
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
ONE = "1 validation error detected: "


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def put(db: Database, **values: Any) -> dict[str, Any]:
    item = {**KEY, **values}
    db.put_item(TableName="plain", Item=item)
    return item


def get(db: Database, **request: Any) -> Any:
    return db.get_item(TableName="plain", Key=KEY, **request).get("Item")


@pytest.fixture
def plain(db: Database) -> Database:
    create_plain(db)
    return db


# --- round trips ---------------------------------------------------------------------------------


VALUES = [
    pytest.param(s("text"), id="string"),
    pytest.param(s(""), id="empty-string"),
    pytest.param(s("ünïcødé 🎉 \x00 \u2028"), id="unicode"),
    pytest.param(n("-12.50"), id="number-with-a-zero"),
    pytest.param(n("1E+20"), id="number-with-an-exponent"),
    pytest.param({"B": b"\x00\xff\x80binary"}, id="binary"),
    pytest.param({"B": b""}, id="empty-binary"),
    pytest.param({"BOOL": True}, id="true"),
    pytest.param({"BOOL": False}, id="false"),
    pytest.param({"NULL": True}, id="null"),
    pytest.param({"SS": ["a", "b", ""]}, id="string-set"),
    pytest.param({"NS": ["3", "-1", "2.5"]}, id="number-set"),
    pytest.param({"BS": [b"\x01", b"\x00\x00", b""]}, id="binary-set"),
    pytest.param({"L": []}, id="empty-list"),
    pytest.param({"M": {}}, id="empty-map"),
    pytest.param({"L": [s("a"), n(1), {"L": [{"B": b"x"}]}, {"M": {"k": {"BS": [b"y"]}}}]}, id="list"),
    pytest.param({"M": {"a": {"M": {"b": {"L": [{"NULL": True}, {"B": b"\xfe"}]}}}}}, id="map"),
    pytest.param({"M": {"B": s("a map may have a member called B"), "BS": {"B": b"z"}}}, id="tricky-names"),
]


def normal(value: Any) -> Any:
    """Return a value as the service gives it back: numbers in plain form, sets in an order of their own."""
    ((tag, payload),) = value.items()
    match tag:
        case "N":
            return ("N", float(payload))
        case "NS":
            return ("NS", frozenset(map(float, payload)))
        case "SS" | "BS":
            return (tag, frozenset(payload))
        case "L":
            return ("L", tuple(map(normal, payload)))
        case "M":
            return ("M", frozenset((name, normal(member)) for name, member in payload.items()))
        case _:
            return (tag, payload)


@pytest.mark.parametrize("value", VALUES)
def test_a_value_of_any_type_comes_back_as_it_was(plain: Database, value: dict[str, Any]) -> None:
    put(plain, x=value)
    found = get(plain)
    assert set(found) == {"id", "x"}
    assert normal(found["x"]) == normal(value)
    assert normal(plain.scan(TableName="plain")["Items"][0]["x"]) == normal(value)
    projected = get(plain, ProjectionExpression="x")
    assert normal(projected["x"]) == normal(value)


def test_numbers_come_back_in_plain_form(plain: Database) -> None:
    put(plain, a=n("-12.50"), b=n("1E+20"), c=n("007"), d=n("0.000"), e=n("1.5e-3"))
    assert {name: value["N"] for name, value in get(plain).items() if name != "id"} == {
        "a": "-12.5",
        "b": "100000000000000000000",
        "c": "7",
        "d": "0",
        "e": "0.0015",
    }


def test_binary_values_may_be_given_as_any_bytes_object(plain: Database) -> None:
    put(plain, x={"B": bytearray(b"ab")}, y={"B": memoryview(b"cd")}, z={"BS": {b"ef"}})
    assert get(plain) == {**KEY, "x": {"B": b"ab"}, "y": {"B": b"cd"}, "z": {"BS": [b"ef"]}}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("S", [s("a"), s("A"), s("é"), s("\x00")]),
        ("N", [n(1), n("-1"), n("0"), n("1e38"), n("0.1")]),
        ("B", [{"B": b"\x00"}, {"B": b"\x00\x00"}, {"B": b"\xff"}]),
    ],
)
def test_keys_of_any_type_tell_items_apart(db: Database, kind: str, values: list[Any]) -> None:
    db.create_table(
        TableName="keys",
        KeySchema=key_schema("p", "r"),
        AttributeDefinitions=attributes(p=kind, r=kind),
        BillingMode="PAY_PER_REQUEST",
    )
    for first in values:
        for second in values:
            db.put_item(TableName="keys", Item={"p": first, "r": second, "x": {"L": [first, second]}})
    for first in values:
        for second in values:
            found = db.get_item(TableName="keys", Key={"p": first, "r": second})["Item"]["x"]["L"]
            assert list(map(normal, found)) == [normal(first), normal(second)]
    assert db.scan(TableName="keys")["Count"] == len(values) ** 2


def test_two_spellings_of_a_number_are_one_key(db: Database) -> None:
    db.create_table(
        TableName="keys",
        KeySchema=key_schema("p"),
        AttributeDefinitions=attributes(p="N"),
        BillingMode="PAY_PER_REQUEST",
    )
    db.put_item(TableName="keys", Item={"p": n("1.0"), "x": s("first")})
    db.put_item(TableName="keys", Item={"p": n("1"), "x": s("second")})
    db.put_item(TableName="keys", Item={"p": n("100e-2"), "x": s("third")})
    assert db.scan(TableName="keys")["Items"] == [{"p": n(1), "x": s("third")}]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = s("leaf")
    for number in range(levels):
        value = {"M": {"m": value}} if number % 2 else {"L": [value]}
    return value


def test_values_nest_thirty_one_levels_inside_the_item(plain: Database) -> None:
    # AWS: up to 32 levels, of which the item is the first.
    put(plain, x=nested(31))
    assert get(plain)["x"] == nested(31)
    assert refusal(plain, "put_item", TableName="plain", Item={**KEY, "x": nested(32)}) == invalid(
        f"{ONE}Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
        "supported limit"
    )
    assert get(plain)["x"] == nested(31)


# --- GetItem -------------------------------------------------------------------------------------


def test_an_item_that_is_not_there_is_no_item(plain: Database) -> None:
    assert plain.get_item(TableName="plain", Key=KEY) == {}
    assert plain.get_item(TableName="plain", Key=KEY, ConsistentRead=True, ProjectionExpression="x") == {}


def test_a_projection_takes_parts_of_an_item(plain: Database) -> None:
    put(plain, a=s("1"), b={"M": {"c": s("2"), "d": {"L": [s("3"), s("4"), s("5")]}}}, e=n(6))
    assert get(plain, ProjectionExpression="a, b.c, b.d[1]") == {
        "a": s("1"),
        "b": {"M": {"c": s("2"), "d": {"L": [s("4")]}}},
    }
    assert get(plain, ProjectionExpression="#i, #e", ExpressionAttributeNames={"#i": "id", "#e": "e"}) == {
        **KEY,
        "e": n(6),
    }


def test_a_projection_that_finds_nothing_gives_an_empty_item(plain: Database) -> None:
    put(plain, a=s("1"))
    assert get(plain, ProjectionExpression="z") == {}


# --- PutItem -------------------------------------------------------------------------------------


def test_a_put_replaces_the_whole_item(plain: Database) -> None:
    put(plain, a=s("1"), b=s("2"))
    put(plain, b=s("3"))
    assert get(plain) == {**KEY, "b": s("3")}


def test_a_put_returns_the_old_item_when_asked(plain: Database) -> None:
    first = {**KEY, "a": {"B": b"\x01"}}
    answer = plain.put_item(TableName="plain", Item=first, ReturnValues="ALL_OLD")
    assert answer == {}
    answer = plain.put_item(TableName="plain", Item={**KEY, "a": n(2)}, ReturnValues="ALL_OLD")
    assert answer == {"Attributes": first}
    assert plain.put_item(TableName="plain", Item=KEY, ReturnValues="NONE") == {}


@pytest.mark.parametrize("operation", ["put_item", "delete_item"])
@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_puts_and_deletes_return_the_old_item_or_nothing(
    calm_db: Database, operation: str, wanted: str
) -> None:
    subject = {"Item": KEY} if operation == "put_item" else {"Key": KEY}
    # Captured by the public conformance suite for DeleteItem, October 2026.
    assert refusal(calm_db, operation, TableName="plain", ReturnValues=wanted, **subject) == invalid(
        f"{ONE}ReturnValues can only be ALL_OLD or NONE"
    )


# --- DeleteItem ----------------------------------------------------------------------------------


def test_a_delete_returns_the_old_item_when_asked(plain: Database) -> None:
    old = put(plain, a=s("1"))
    assert plain.delete_item(TableName="plain", Key=KEY, ReturnValues="ALL_OLD") == {"Attributes": old}
    assert get(plain) is None
    assert plain.delete_item(TableName="plain", Key=KEY, ReturnValues="ALL_OLD") == {}
    assert plain.delete_item(TableName="plain", Key=KEY) == {}


# --- conditions ----------------------------------------------------------------------------------

WRITES: dict[str, dict[str, Any]] = {
    "put_item": {"Item": {**KEY, "a": s("new")}},
    "delete_item": {"Key": KEY},
    "update_item": {"Key": KEY, "UpdateExpression": "SET b = :b"},
}


def values_for(operation: str, **values: Any) -> dict[str, Any]:
    given = {f":{name}": value for name, value in values.items()}
    if operation == "update_item":
        given[":b"] = s("new")
    return {"ExpressionAttributeValues": given} if given else {}


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_with_a_true_condition_is_done(plain: Database, operation: str) -> None:
    put(plain, a=s("old"))
    request = {**WRITES[operation], **values_for(operation, a=s("old"))}
    getattr(plain, operation)(TableName="plain", ConditionExpression="a = :a", **request)
    assert get(plain) != {**KEY, "a": s("old")}


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_with_a_false_condition_is_not_done(plain: Database, operation: str) -> None:
    old = put(plain, a=s("old"))
    request = {**WRITES[operation], **values_for(operation, a=s("other"))}
    assert refusal(plain, operation, TableName="plain", ConditionExpression="a = :a", **request) == FAILED
    assert get(plain) == old


@pytest.mark.parametrize("operation", WRITES)
def test_a_condition_on_an_absent_item_sees_no_attributes(plain: Database, operation: str) -> None:
    request = {**WRITES[operation], **values_for(operation)}
    assert (
        refusal(plain, operation, TableName="plain", ConditionExpression="attribute_exists(id)", **request)
        == FAILED
    )
    getattr(plain, operation)(TableName="plain", ConditionExpression="attribute_not_exists(id)", **request)


@pytest.mark.parametrize("operation", WRITES)
def test_a_failed_condition_carries_the_item_when_asked(plain: Database, operation: str) -> None:
    old = put(plain, a={"B": b"\x00\x01"}, c={"L": [n(1)]})
    request = {**WRITES[operation], **values_for(operation)}
    with pytest.raises(ConditionFailedError) as caught:
        getattr(plain, operation)(
            TableName="plain",
            ConditionExpression="attribute_not_exists(id)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            **request,
        )
    assert caught.value.item == old
    with pytest.raises(ConditionFailedError) as caught:
        getattr(plain, operation)(
            TableName="plain", ConditionExpression="attribute_not_exists(id)", **request
        )
    assert caught.value.item is None


@pytest.mark.parametrize("operation", WRITES)
def test_a_failed_condition_on_an_absent_item_has_no_item_to_carry(plain: Database, operation: str) -> None:
    with pytest.raises(ConditionFailedError) as caught:
        getattr(plain, operation)(
            TableName="plain",
            ConditionExpression="attribute_exists(id)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            **WRITES[operation],
            **values_for(operation),
        )
    assert caught.value.item is None


def test_a_condition_may_read_keys_and_other_attributes(db: Database) -> None:
    create_single(db)
    db.put_item(TableName="single", Item=item("p", "s", x=n(5)))
    db.delete_item(
        TableName="single",
        Key=item("p", "s"),
        ConditionExpression="begins_with(PK, :p) AND SK = :s AND x BETWEEN :low AND :high",
        ExpressionAttributeValues={":p": s("p"), ":s": s("s"), ":low": n(5), ":high": n(6)},
    )
    assert db.scan(TableName="single")["Count"] == 0


# --- what is refused before a table is looked at -------------------------------------------------

SUBJECTS: dict[str, dict[str, Any]] = {
    "put_item": {"Item": KEY},
    "get_item": {"Key": KEY},
    "delete_item": {"Key": KEY},
    "update_item": {"Key": KEY},
}


@pytest.mark.parametrize("operation", SUBJECTS)
def test_a_table_that_is_not_there_is_told(calm_db: Database, operation: str) -> None:
    assert refusal(calm_db, operation, TableName="nothing", **SUBJECTS[operation]) == MISSING


@pytest.mark.parametrize("operation", ["put_item", "delete_item", "update_item"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(
            {"ExpressionAttributeValues": {":v": s("x")}},
            "ExpressionAttributeValues can only be specified when using expressions",
            id="values-alone",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names-alone",
        ),
        pytest.param(
            {"ConditionExpression": "a = b", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
            id="no-names",
        ),
        pytest.param(
            {"ConditionExpression": ""},
            "Invalid ConditionExpression: The expression can not be empty;",
            id="empty-condition",
        ),
        pytest.param(
            {"ConditionExpression": "a = :v"},
            "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :v",
            id="undefined-value",
        ),
        pytest.param(
            {"ConditionExpression": "a = b", "ExpressionAttributeNames": {"#x": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}",
            id="unused-name",
        ),
    ],
)
def test_single_writes_put_what_is_wrong_with_expressions_in_an_envelope(
    calm_db: Database, operation: str, given: dict[str, Any], message: str
) -> None:
    # Captured by the public conformance suite in two regions, October 2026.
    assert refusal(calm_db, operation, TableName="nothing", **SUBJECTS[operation], **given) == invalid(
        f"{ONE}{message}"
    )


def test_a_read_tells_what_is_wrong_with_expressions_without_an_envelope(calm_db: Database) -> None:
    assert refusal(
        calm_db, "get_item", TableName="nothing", Key=KEY, ExpressionAttributeNames={"#a": "a"}
    ) == invalid("ExpressionAttributeNames can only be specified when using expressions")
    assert refusal(calm_db, "get_item", TableName="nothing", Key=KEY, ProjectionExpression="a, a") == invalid(
        "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of "
        "these paths; path one: [a], path two: [a]"
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
        ({"NS": []}, "One or more parameter values were invalid: An number set  may not be empty"),
        ({"BS": []}, "One or more parameter values were invalid: Binary sets should not be empty"),
        (
            {"SS": ["a", "a"]},
            'One or more parameter values were invalid: Input collection ["a", "a"] contains duplicates.',
        ),
    ],
    ids=["no-strings", "no-numbers", "no-binaries", "one-string-twice"],
)
def test_a_put_of_a_wrong_value_is_refused_in_an_envelope(
    calm_db: Database, value: dict[str, Any], message: str
) -> None:
    assert refusal(calm_db, "put_item", TableName="nothing", Item={**KEY, "x": value}) == invalid(
        f"{ONE}{message}"
    )


def test_a_slip_in_the_name_of_a_parameter_is_told(calm_db: Database) -> None:
    code, message = refusal(calm_db, "put_item", TableName="plain", Item=KEY, ConditionExpresion="a = b")
    assert code == "ValidationException"
    assert message.startswith('Unknown parameter in input: "ConditionExpresion"')
    assert message.endswith('Did you mean "ConditionExpression"?')
