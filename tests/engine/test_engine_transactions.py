"""TransactWriteItems and TransactGetItems: all or nothing, and a reason for each action."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from singletable.errors import CancellationReason, TransactionCanceledError
from support.sample_tables import create_plain, create_single, invalid, item, n, refusal, s

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
MISSING = ("ResourceNotFoundException", "Requested resource not found")
NONE = CancellationReason("None")
FAILED = CancellationReason("ConditionalCheckFailed", "The conditional request failed")


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def key(name: str) -> dict[str, Any]:
    return {"id": s(name)}


def put(name: str, **more: Any) -> dict[str, Any]:
    values = {key: value for key, value in more.items() if key[0].islower()}
    rest = {key: value for key, value in more.items() if not key[0].islower()}
    return {"Put": {"TableName": "plain", "Item": {**key(name), **values}, **rest}}


def update(name: str, expression: str = "SET x = :x", value: Any = None, **more: Any) -> dict[str, Any]:
    action = {"TableName": "plain", "Key": key(name), "UpdateExpression": expression, **more}
    if ":x" in expression:
        action["ExpressionAttributeValues"] = {":x": value or s("updated")}
    return {"Update": action}


def delete(name: str, **more: Any) -> dict[str, Any]:
    return {"Delete": {"TableName": "plain", "Key": key(name), **more}}


def check(name: str, condition: str = "attribute_exists(id)", **more: Any) -> dict[str, Any]:
    return {
        "ConditionCheck": {"TableName": "plain", "Key": key(name), "ConditionExpression": condition, **more}
    }


def transact(db: Database, *actions: Any, **request: Any) -> Any:
    return db.transact_write_items(TransactItems=list(actions), **request)


def reasons(db: Database, *actions: Any) -> list[CancellationReason]:
    with pytest.raises(TransactionCanceledError) as caught:
        transact(db, *actions)
    codes = ", ".join(reason.code for reason in caught.value.reasons)
    assert caught.value.message == (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return list(caught.value.reasons)


def contents(db: Database) -> dict[str, Any]:
    return {found["id"]["S"]: found for found in db.scan(TableName="plain")["Items"]}


@pytest.fixture
def plain(db: Database) -> Database:
    """A table with the items "a" and "b"."""
    create_plain(db)
    for name in "ab":
        db.put_item(TableName="plain", Item={**key(name), "x": s("old")})
    return db


# --- what is done --------------------------------------------------------------------------------


def test_every_kind_of_action_is_done_together(plain: Database) -> None:
    answer = transact(
        plain, put("c", x=n(1)), update("a"), delete("b"), check("d", "attribute_not_exists(id)")
    )
    assert answer == {}
    assert contents(plain) == {
        "a": {**key("a"), "x": s("updated")},
        "c": {**key("c"), "x": n(1)},
    }


def test_actions_may_reach_into_several_tables(plain: Database) -> None:
    create_single(plain)
    single = {"Put": {"TableName": "single", "Item": item("p", "s", GSI1PK="g", GSI1SK="h")}}
    transact(plain, put("c"), single)
    assert "c" in contents(plain)
    assert plain.scan(TableName="single", IndexName="GSI1")["Count"] == 1


def test_an_update_makes_an_item_in_a_transaction_too(plain: Database) -> None:
    transact(plain, update("new", "ADD x :x", n(5)))
    assert contents(plain)["new"] == {**key("new"), "x": n(5)}


def test_every_action_may_have_a_condition(plain: Database) -> None:
    transact(
        plain,
        put("c", ConditionExpression="attribute_not_exists(id)"),
        update("a", ConditionExpression="x <> :x"),
        delete("b", ConditionExpression="attribute_exists(id)"),
    )
    assert set(contents(plain)) == {"a", "c"}


def test_a_hundred_actions_fit_into_a_transaction(plain: Database) -> None:
    transact(plain, *(put(f"n{number}") for number in range(100)))
    assert len(contents(plain)) == 102
    code, message = refusal(
        plain, "transact_write_items", TransactItems=[put(f"m{number}") for number in range(101)]
    )
    assert code == "ValidationException"
    assert message.endswith(
        "at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
    )


def test_a_transaction_of_more_than_four_megabytes_is_refused(plain: Database) -> None:
    large = s("x" * 380_000)
    transact(plain, *(put(f"n{number}", x=large) for number in range(11)))
    too_many = [put(f"m{number:02}", x=large) for number in range(12)]
    # 12 * (380,000 + 3 + 3) bytes. The service says it twice.
    assert refusal(plain, "transact_write_items", TransactItems=too_many) == invalid(
        "Transaction payload size cannot exceed 4MB. Payload Size: : "
        "Transaction payload size cannot exceed 4MB. Payload Size: 4560072"
    )
    assert plain.describe_table(TableName="plain")["Table"]["ItemCount"] == 13


def test_a_transaction_of_gets_answers_with_four_megabytes_at_most(plain: Database) -> None:
    for number in range(12):
        plain.put_item(TableName="plain", Item={**key(f"n{number:02}"), "x": s("x" * 380_000)})
    gets: list[Any] = [get(f"n{number:02}") for number in range(12)]
    assert len(plain.transact_get_items(TransactItems=gets[:11])["Responses"]) == 11
    code, _ = refusal(plain, "transact_get_items", TransactItems=gets)
    assert code == "ValidationException"
    narrow: list[Any] = [get(f"n{number:02}", ProjectionExpression="id") for number in range(12)]
    assert len(plain.transact_get_items(TransactItems=narrow)["Responses"]) == 12


# --- cancellations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(put("a", ConditionExpression="attribute_not_exists(id)"), id="put"),
        pytest.param(update("a", ConditionExpression="attribute_not_exists(id)"), id="update"),
        pytest.param(delete("a", ConditionExpression="attribute_not_exists(id)"), id="delete"),
        pytest.param(check("a", "attribute_not_exists(id)"), id="check"),
    ],
)
def test_one_failed_condition_undoes_everything_and_is_named_in_its_place(
    plain: Database, failing: dict[str, Any]
) -> None:
    before = contents(plain)
    found = reasons(plain, put("c"), failing, delete("b"))
    assert found == [NONE, FAILED, NONE]
    assert contents(plain) == before


def test_every_failed_condition_is_told(plain: Database) -> None:
    assert reasons(
        plain,
        check("c"),
        put("d"),
        check("a", "x = id"),
        delete("b", ConditionExpression="attribute_not_exists(id)"),
    ) == [FAILED, NONE, FAILED, FAILED]


def test_a_reason_carries_the_item_when_asked(plain: Database) -> None:
    plain.put_item(TableName="plain", Item={**key("a"), "x": {"B": b"\x00\xff"}})
    wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    never = "attribute_not_exists(id)"
    found = reasons(
        plain,
        put("a", ConditionExpression=never, **wanted),
        check("b", never, **wanted),
        check("c", **wanted),
        put("d"),
    )
    assert [reason.code for reason in found] == [
        "ConditionalCheckFailed",
        "ConditionalCheckFailed",
        "ConditionalCheckFailed",
        "None",
    ]
    assert [reason.item for reason in found] == [
        {**key("a"), "x": {"B": b"\x00\xff"}},
        {**key("b"), "x": s("old")},
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        pytest.param(
            {"Put": {"TableName": "plain", "Item": {"id": n(5)}}},
            f"{INVALID}Type mismatch for key id expected: S actual: N",
            id="put-of-another-key-type",
        ),
        pytest.param(
            {"Put": {"TableName": "plain", "Item": {"x": n(5)}}},
            f"{INVALID}Missing the key id in the item",
            id="put-without-a-key",
        ),
        pytest.param(
            {"Delete": {"TableName": "plain", "Key": {"id": n(5)}}}, NO_MATCH, id="delete-of-another-key-type"
        ),
        pytest.param({"Delete": {"TableName": "plain", "Key": {}}}, NO_MATCH, id="delete-without-a-key"),
        pytest.param(
            {
                "ConditionCheck": {
                    "TableName": "plain",
                    "Key": {"id": {"L": [s("x")]}},
                    "ConditionExpression": "attribute_exists(id)",
                }
            },
            NO_MATCH,
            id="check-of-no-scalar",
        ),
        pytest.param(
            update("a", "SET id = :x"),
            f"{INVALID}Cannot update attribute id. This attribute is part of the key",
            id="update-of-the-key",
        ),
    ],
)
def test_a_wrong_key_is_the_only_reason_and_no_condition_is_looked_at(
    plain: Database, action: dict[str, Any], message: str
) -> None:
    """As ScyllaDB's test_transact_write_cancellation_reasons_validationerror found the service to do."""
    before = contents(plain)
    found = reasons(plain, put("c"), action, check("z"), {"Put": {"TableName": "plain", "Item": {}}})
    assert found == [NONE, CancellationReason("ValidationError", message), NONE, NONE]
    assert contents(plain) == before


@pytest.mark.parametrize(
    ("action", "message"),
    [
        pytest.param(
            update("a", "ADD x :x", n(1)),
            "An operand in the update expression has an incorrect data type",
            id="update-of-another-type",
        ),
        pytest.param(
            update("a", "SET x.y = :x"),
            "The document path provided in the update expression is invalid for update",
            id="update-of-no-path",
        ),
        pytest.param(
            update("a", "SET big = :x", s("x" * 409_600)),
            "Item size to update has exceeded the maximum allowed size",
            id="update-that-grows-too-large",
        ),
    ],
)
def test_an_action_that_cannot_be_done_cancels_the_transaction(
    plain: Database, action: dict[str, Any], message: str
) -> None:
    before = contents(plain)
    found = reasons(plain, put("c"), action, check("z"))
    assert found == [NONE, CancellationReason("ValidationError", message), FAILED]
    assert contents(plain) == before


def test_an_item_that_does_not_fit_an_index_cancels_the_transaction(db: Database) -> None:
    create_single(db)
    wrong = {"Put": {"TableName": "single", "Item": item("a", "b", GSI1PK=n(5))}}
    message = f"{INVALID}Type mismatch for Index Key GSI1PK Expected: S Actual: N IndexName: GSI1"
    assert reasons(db, wrong) == [CancellationReason("ValidationError", message)]
    same = {
        "Update": {
            "TableName": "single",
            "Key": item("a", "b"),
            "UpdateExpression": "SET GSI1PK = :x",
            "ExpressionAttributeValues": {":x": n(5)},
        }
    }
    assert reasons(db, same) == [CancellationReason("ValidationError", message)]
    assert db.scan(TableName="single")["Count"] == 0


# --- what is refused outright --------------------------------------------------------------------

EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: id"
)


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(put(""), id="put"),
        pytest.param(update(""), id="update"),
        pytest.param(delete(""), id="delete"),
        pytest.param(check(""), id="check"),
    ],
)
def test_an_empty_key_is_refused_without_reasons(plain: Database, action: dict[str, Any]) -> None:
    # Captured by the public conformance suite: a ValidationException, not a cancellation.
    assert refusal(plain, "transact_write_items", TransactItems=[put("c"), action]) == invalid(EMPTY_KEY)


def test_an_empty_key_of_an_index_is_refused_without_reasons(db: Database) -> None:
    create_single(db)
    wrong = {"Put": {"TableName": "single", "Item": item("a", "b", GSI1PK=s(""))}}
    assert refusal(db, "transact_write_items", TransactItems=[wrong]) == invalid(
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
        "IndexName: GSI1, IndexKey: GSI1PK"
    )
    same = {
        "Update": {
            "TableName": "single",
            "Key": item("a", "b"),
            "UpdateExpression": "SET GSI1PK = :x",
            "ExpressionAttributeValues": {":x": s("")},
        }
    }
    assert refusal(db, "transact_write_items", TransactItems=[same]) == invalid(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index "
        "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty "
        "string value."
    )


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        pytest.param(
            [put("c"), put("c")],
            invalid("Transaction request cannot include multiple operations on one item"),
            id="two-puts-of-one-item",
        ),
        pytest.param(
            [check("a"), update("a")],
            invalid("Transaction request cannot include multiple operations on one item"),
            id="a-check-and-an-update-of-one-item",
        ),
        pytest.param([{"Put": {"TableName": "nothing", "Item": key("a")}}, put("c")], MISSING, id="no-table"),
        pytest.param(
            [],
            invalid(
                "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member "
                "must have length greater than or equal to 1"
            ),
            id="nothing",
        ),
        pytest.param(
            # An expression that does not parse is told before a table that is not there.
            [
                {"Put": {"TableName": "nothing", "Item": key("a")}},
                check("a", "attribute_not_exists("),
            ],
            invalid('Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'),
            id="a-condition-that-does-not-parse",
        ),
        pytest.param(
            [
                put("c"),
                check("a", ExpressionAttributeValues={":v": s("x")}),
            ],
            invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"),
            id="an-unused-value",
        ),
        pytest.param(
            [put("c", x={"SS": []})],
            invalid(f"{INVALID}An string set  may not be empty"),
            id="a-wrong-value",
        ),
        pytest.param(
            [{**put("c"), **delete("d")}],
            invalid("TransactItems can only contain one of Check, Put, Update or Delete"),
            id="two-actions-in-one",
        ),
        pytest.param(
            [{}],
            invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"),
            id="no-action",
        ),
    ],
)
def test_a_wrong_transaction_is_refused_without_reasons(
    plain: Database, actions: list[Any], wanted: tuple[str, str]
) -> None:
    before = contents(plain)
    assert refusal(plain, "transact_write_items", TransactItems=actions) == wanted
    assert contents(plain) == before


# --- TransactGetItems ----------------------------------------------------------------------------


def get(name: str, **more: Any) -> dict[str, Any]:
    return {"Get": {"TableName": "plain", "Key": key(name), **more}}


def test_items_are_read_in_the_order_of_the_request(plain: Database) -> None:
    create_single(plain)
    plain.put_item(TableName="single", Item=item("p", "s", x={"B": b"\x01"}, y="2"))
    answer = plain.transact_get_items(
        TransactItems=[
            get("b"),  # type: ignore[list-item]
            get("none"),  # type: ignore[list-item]
            {"Get": {"TableName": "single", "Key": item("p", "s"), "ProjectionExpression": "x"}},
            get("a", ProjectionExpression="#i", ExpressionAttributeNames={"#i": "id"}),  # type: ignore[list-item]
        ]
    )
    assert answer == {
        "Responses": [
            {"Item": {**key("b"), "x": s("old")}},
            {},
            {"Item": {"x": {"B": b"\x01"}}},
            {"Item": key("a")},
        ]
    }


@pytest.mark.parametrize(
    ("gets", "wanted"),
    [
        pytest.param(
            [get("a"), get("a")],
            invalid("Transaction request cannot include multiple operations on one item"),
            id="one-item-twice",
        ),
        pytest.param([{"Get": {"TableName": "nothing", "Key": key("a")}}], MISSING, id="no-table"),
        pytest.param([get("")], invalid(EMPTY_KEY), id="empty-key"),
        pytest.param(
            [get("a", ProjectionExpression="!!!")],
            invalid('Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'),
            id="a-projection-that-does-not-parse",
        ),
    ],
)
def test_a_wrong_transaction_of_gets_is_refused(
    plain: Database, gets: list[Any], wanted: tuple[str, str]
) -> None:
    assert refusal(plain, "transact_get_items", TransactItems=gets) == wanted


def test_a_wrong_key_cancels_a_transaction_of_gets_with_a_reason(plain: Database) -> None:
    with pytest.raises(TransactionCanceledError) as caught:
        plain.transact_get_items(
            TransactItems=[
                get("a"),  # type: ignore[list-item]
                {"Get": {"TableName": "plain", "Key": {}}},
                {"Get": {"TableName": "plain", "Key": {"id": n(1)}}},
            ]
        )
    wrong = CancellationReason("ValidationError", NO_MATCH)
    assert list(caught.value.reasons) == [NONE, wrong, NONE]
