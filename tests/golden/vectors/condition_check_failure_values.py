"""ReturnValuesOnConditionCheckFailure: the item that a failed condition was held against."""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, then

Wire = dict[str, Any]

KEY: Wire = {"p": {"S": "a"}}
STORED: Wire = {
    **KEY,
    "v": {"N": "1"},
    "words": {"SS": ["x", "y"]},
    "raw": {"B": "AQI="},
    "m": {"M": {"n": {"N": "2"}}},
}
SUITE = "The public conformance suite, against the service: the error carries message and Item"
MODEL = "botocore's model, ConditionalCheckFailedException: Item is the item which caused the exception"
ABSENT = (
    "API reference: ALL_OLD returns the item attributes as they are; where there is no item, there are none"
)
FAILED = "The conditional request failed"
HOLDS_NOT: Wire = {
    "ConditionExpression": "v = :wrong",
    "ExpressionAttributeValues": {":wrong": {"N": "7"}},
}
WRITES: dict[str, Wire] = {
    "PutItem": {"Item": {**KEY, "v": {"N": "9"}}, **HOLDS_NOT},
    "UpdateItem": {
        "Key": KEY,
        "UpdateExpression": "SET v = :new",
        "ConditionExpression": "v = :wrong",
        "ExpressionAttributeValues": {":wrong": {"N": "7"}, ":new": {"N": "9"}},
    },
    "DeleteItem": {"Key": KEY, **HOLDS_NOT},
}
ACTIONS: dict[str, Wire] = {
    "Put": WRITES["PutItem"],
    "Update": WRITES["UpdateItem"],
    "Delete": WRITES["DeleteItem"],
    "ConditionCheck": WRITES["DeleteItem"],
}


def refused(**members: Any) -> Refusal:
    return Refusal("ConditionalCheckFailedException", FAILED, **members)


def single(
    name: str, operation: str, given: list[Wire], error: Refusal, evidence: str, **more: Any
) -> Vector:
    """A write whose condition fails, and which changes nothing."""
    return Vector(
        name,
        operation=operation,
        tables=[HASH],
        given={"Hash": given},
        request={"TableName": "Hash", **WRITES[operation], **more},
        error=error,
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": given[0]} if given else {})],
        evidence=evidence,
    )


def called(operation: str) -> str:
    return operation.removesuffix("Item").lower()


SINGLE = [
    *(
        single(
            f"failed_{called(operation)}_returns_the_item_when_asked",
            operation,
            [STORED],
            refused(Item=STORED),
            f"{SUITE}. {MODEL}",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        for operation in WRITES
    ),
    *(
        single(
            f"failed_{called(operation)}_returns_no_item_for_none",
            operation,
            [STORED],
            refused(),
            "API reference: the valid values are NONE and ALL_OLD",
            ReturnValuesOnConditionCheckFailure="NONE",
        )
        for operation in WRITES
    ),
    *(
        single(
            f"failed_{called(operation)}_returns_no_item_unasked",
            operation,
            [STORED],
            refused(),
            "The public conformance suite, against the service: The conditional request failed",
        )
        for operation in WRITES
    ),
    *(
        single(
            f"failed_{called(operation)}_of_nothing_returns_no_item",
            operation,
            [],
            refused(),
            ABSENT,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        for operation in WRITES
    ),
    single(
        "failed_put_does_not_return_what_return_values_asks_for",
        "PutItem",
        [STORED],
        refused(),
        "API reference: ReturnValues is about an operation that succeeds",
        ReturnValues="ALL_OLD",
    ),
    single(
        "failed_update_returns_the_whole_item_whatever_return_values_asks_for",
        "UpdateItem",
        [STORED],
        refused(Item=STORED),
        MODEL,
        ReturnValues="UPDATED_NEW",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    ),
    Vector(
        "condition_that_holds_returns_no_item",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [STORED]},
        request={
            "TableName": "Hash",
            "Item": KEY,
            "ConditionExpression": "attribute_exists(p)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        answer={},
        evidence="API reference: returns the item attributes for an operation that failed a condition check",
    ),
    Vector(
        "write_without_a_condition_may_ask_for_the_item",
        operation="DeleteItem",
        tables=[HASH],
        given={"Hash": [STORED]},
        request={"TableName": "Hash", "Key": KEY, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
        answer={},
        evidence="API reference: the parameter is optional and independent of a condition",
    ),
]


def canceled(*reasons: Wire) -> Refusal:
    codes = ", ".join(reason["Code"] for reason in reasons)
    return Refusal(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        CancellationReasons=list(reasons),
    )


NONE: Wire = {"Code": "None"}
FAILS: Wire = {"Code": "ConditionalCheckFailed", "Message": FAILED}


def transaction(name: str, given: list[Wire], actions: list[Wire], error: Refusal, evidence: str) -> Vector:
    return Vector(
        name,
        operation="TransactWriteItems",
        tables=[HASH],
        given={"Hash": given},
        request={"TransactItems": actions},
        error=error,
        evidence=evidence,
    )


def action(kind: str, **more: Any) -> Wire:
    return {kind: {"TableName": "Hash", **ACTIONS[kind], **more}}


_REASON = (
    'boto3 issue 2657, an answer of the service: "Code":"ConditionalCheckFailed","Item":{...},"Message"...'
)
OTHER: Wire = {"Put": {"TableName": "Hash", "Item": {"p": {"S": "b"}}}}
MISSING_KEY: Wire = {"p": {"S": "missing"}}

IN_TRANSACTIONS = [
    *(
        transaction(
            f"failed_{kind.lower()}_of_a_transaction_returns_the_item_when_asked",
            [STORED],
            [action(kind, ReturnValuesOnConditionCheckFailure="ALL_OLD")],
            canceled({**FAILS, "Item": STORED}),
            f"{_REASON}; the conformance suite has it from the service for Put",
        )
        for kind in ACTIONS
    ),
    *(
        transaction(
            f"failed_{kind.lower()}_of_a_transaction_returns_no_item_unasked",
            [STORED],
            [action(kind)],
            canceled(FAILS),
            f"{_REASON}. The conformance suite has the message from the service",
        )
        for kind in ACTIONS
    ),
    *(
        transaction(
            f"failed_{kind.lower()}_of_nothing_in_a_transaction_returns_no_item",
            [],
            [action(kind, ReturnValuesOnConditionCheckFailure="ALL_OLD")],
            canceled(FAILS),
            ABSENT,
        )
        for kind in ACTIONS
    ),
    transaction(
        "failed_action_of_a_transaction_returns_no_item_for_none",
        [STORED],
        [action("Update", ReturnValuesOnConditionCheckFailure="NONE")],
        canceled(FAILS),
        "API reference: the valid values are NONE and ALL_OLD",
    ),
    transaction(
        "reasons_stand_in_the_order_of_the_actions",
        [STORED],
        [OTHER, action("Delete", ReturnValuesOnConditionCheckFailure="ALL_OLD")],
        canceled(NONE, {**FAILS, "Item": STORED}),
        'erlcloud, pull request 607, the answer of the service: {"Code": "None"} where an action is right',
    ),
    transaction(
        "each_failed_action_returns_what_it_was_asked_to",
        [STORED, {**STORED, "p": {"S": "b"}}],
        [
            action("Put", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            {
                "ConditionCheck": {
                    "TableName": "Hash",
                    "Key": {"p": {"S": "b"}},
                    "ConditionExpression": "attribute_not_exists(p)",
                }
            },
            {
                "Update": {
                    "TableName": "Hash",
                    "Key": MISSING_KEY,
                    "UpdateExpression": "REMOVE v",
                    "ConditionExpression": "attribute_exists(p)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        ],
        canceled({**FAILS, "Item": STORED}, FAILS, FAILS),
        _REASON,
    ),
]

VECTORS = [*SINGLE, *IN_TRANSACTIONS]
