"""TransactGetItems and TransactWriteItems: all or nothing, and the reason of each action."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import Matcher, matching
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE, LOCAL
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
SCYLLA = "Answer of the service, by ScyllaDB's tests that run against it (test/alternator/test_transact.py)"
WRITES = "AWS API reference, TransactWriteItems"
GETS = "AWS API reference, TransactGetItems"
GUIDE = "AWS developer guide, DynamoDB transactions: how it works"

ENVELOPE = "1 validation error detected: "
FAILED: Wire = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
NONE: Wire = {"Code": "None"}


def item(name: str, **more: Wire) -> Wire:
    return {"p": {"S": name}, **more}


ONE: Wire = {"N": "1"}
A, B = item("a", x=ONE), item("b", x={"N": "2"})


def on(action: str, **parameters: Any) -> Wire:
    return {action: {"TableName": "Hash", **parameters}}


def canceled(*reasons: Wire) -> Refusal:
    """The error of a transaction that was not carried out, with a reason for each action."""
    codes = ", ".join(reason["Code"] for reason in reasons)
    return Refusal(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        CancellationReasons=list(reasons),
    )


def invalid(message: str | Matcher) -> Wire:
    return {"Code": "ValidationError", "Message": message}


STATE = then(
    "TransactGetItems",
    {"TransactItems": [on("Get", Key=item(name)) for name in ("a", "b", "c")]},
    {"Responses": [{"Item": A}, {"Item": B}, {}]},
)


def refused(name: str, actions: list[Wire], error: Refusal, *, evidence: str, **more: Any) -> Vector:
    """A transaction that is refused or canceled: nothing of it is written."""
    return Vector(
        name,
        operation="TransactWriteItems",
        tables=[HASH],
        given={"Hash": [A, B]},
        request={"TransactItems": actions, **more},
        error=error,
        after=[STATE],
        evidence=evidence,
    )


PUT_C = on("Put", Item=item("c"))

WRITTEN = [
    Vector(
        "all_four_actions",
        operation="TransactWriteItems",
        tables=[HASH],
        given={"Hash": [A, B, item("d")]},
        request={
            "TransactItems": [
                on(
                    "Put",
                    Item=item("c"),
                    ConditionExpression="attribute_not_exists(#p)",
                    ExpressionAttributeNames={"#p": "p"},
                ),
                on(
                    "Update",
                    Key=item("a"),
                    UpdateExpression="SET #x = #x + :one",
                    ConditionExpression="#x = :one",
                    ExpressionAttributeNames={"#x": "x"},
                    ExpressionAttributeValues={":one": ONE},
                ),
                on(
                    "Delete",
                    Key=item("b"),
                    ConditionExpression="#x > :one",
                    ExpressionAttributeNames={"#x": "x"},
                    ExpressionAttributeValues={":one": ONE},
                ),
                on(
                    "ConditionCheck",
                    Key=item("d"),
                    ConditionExpression="attribute_exists(#p) AND NOT attribute_type(#p, :t)",
                    ExpressionAttributeNames={"#p": "p"},
                    ExpressionAttributeValues={":t": {"S": "N"}},
                ),
            ]
        },
        answer={},
        after=[
            then(
                "TransactGetItems",
                {"TransactItems": [on("Get", Key=item(name)) for name in ("a", "b", "c", "d")]},
                {
                    "Responses": [
                        {"Item": item("a", x={"N": "2"})},
                        {},
                        {"Item": item("c")},
                        {"Item": item("d")},
                    ]
                },
            )
        ],
        evidence=WRITES,
    ),
    Vector(
        "writes_to_several_tables_with_units",
        operation="TransactWriteItems",
        tables=[HASH, LOCAL],
        request={
            "TransactItems": [
                on("Put", Item=item("c")),
                {"Put": {"TableName": "Local", "Item": item("a", s={"S": "1"}, l={"S": "2"})}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "ConsumedCapacity": [
                {"TableName": "Hash", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
                {"TableName": "Local", "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0},
            ],
            "ItemCollectionMetrics": {
                "Local": [{"ItemCollectionKey": item("a"), "SizeEstimateRangeGB": [0.0, 1.0]}]
            },
        },
        evidence=f"{GUIDE}: two underlying writes of every item; {CONFORMANCE}: index entries are not doubled",
    ),
    Vector(
        "repeated_token_is_carried_out_once",
        operation="TransactWriteItems",
        tables=[HASH],
        given={"Hash": [A]},
        before=[
            (
                "TransactWriteItems",
                {
                    "ClientRequestToken": "repeated-once",
                    "TransactItems": [
                        on(
                            "Update",
                            Key=item("a"),
                            UpdateExpression="ADD x :v",
                            ExpressionAttributeValues={":v": ONE},
                        )
                    ],
                },
            )
        ],
        request={
            "ClientRequestToken": "repeated-once",
            "TransactItems": [
                on(
                    "Update",
                    Key=item("a"),
                    UpdateExpression="ADD x :v",
                    ExpressionAttributeValues={":v": ONE},
                )
            ],
        },
        answer={},
        after=[then("GetItem", {"TableName": "Hash", "Key": item("a")}, {"Item": item("a", x={"N": "2"})})],
        evidence=f"{WRITES}, ClientRequestToken: idempotent for 10 minutes",
    ),
    Vector(
        "token_with_other_parameters",
        operation="TransactWriteItems",
        tables=[HASH],
        before=[("TransactWriteItems", {"ClientRequestToken": "other", "TransactItems": [PUT_C]})],
        request={"ClientRequestToken": "other", "TransactItems": [on("Put", Item=item("d"))]},
        error=Refusal("IdempotentParameterMismatchException", matching("(?s).*")),
        after=[then("GetItem", {"TableName": "Hash", "Key": item("d")}, {})],
        evidence=f"{WRITES}: the same token with other parameters is an IdempotentParameterMismatch",
    ),
]

CANCELED = [
    refused(
        "false_condition_cancels_all",
        [PUT_C, on("ConditionCheck", Key=item("a"), ConditionExpression="attribute_not_exists(p)")],
        canceled(NONE, FAILED),
        evidence=CONFORMANCE,
    ),
    refused(
        "canceled_actions_return_their_items_when_asked",
        [
            on(
                "Put",
                Item=item("a"),
                ConditionExpression="attribute_not_exists(p)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            on(
                "Update",
                Key=item("b"),
                UpdateExpression="REMOVE x",
                ConditionExpression="x = :v",
                ExpressionAttributeValues={":v": ONE},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            on(
                "Delete",
                Key=item("c"),
                ConditionExpression="attribute_exists(p)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            on(
                "ConditionCheck",
                Key=item("d"),
                ConditionExpression="attribute_exists(p)",
                ReturnValuesOnConditionCheckFailure="NONE",
            ),
        ],
        canceled({**FAILED, "Item": A}, {**FAILED, "Item": B}, FAILED, FAILED),
        evidence=f"{WRITES}, ReturnValuesOnConditionCheckFailure",
    ),
    refused(
        "wrong_key_cancels_with_a_reason",
        [PUT_C, on("Delete", Key={"x": {"S": "a"}})],
        canceled(NONE, invalid("The provided key element does not match the schema")),
        evidence=SCYLLA,
    ),
    refused(
        "item_without_its_key_cancels_with_a_reason",
        [on("Put", Item={"x": ONE}), PUT_C],
        canceled(invalid("One or more parameter values were invalid: Missing the key p in the item"), NONE),
        evidence=SCYLLA,
    ),
    refused(
        "operand_of_a_wrong_type_cancels_with_a_reason",
        [
            PUT_C,
            on(
                "Update",
                Key=item("a"),
                UpdateExpression="ADD x :v",
                ExpressionAttributeValues={":v": {"SS": ["a"]}},
            ),
        ],
        canceled(NONE, invalid("An operand in the update expression has an incorrect data type")),
        evidence="botocore's model, TransactionCanceledException: Validation Error, messages",
    ),
    refused(
        "missing_operand_cancels_with_a_reason",
        [on("Update", Key=item("a"), UpdateExpression="SET x = y"), PUT_C],
        canceled(
            invalid("The provided expression refers to an attribute that does not exist in the item"), NONE
        ),
        evidence="botocore's model, TransactionCanceledException: Validation Error, messages",
    ),
    refused(
        "path_that_leads_nowhere_cancels_with_a_reason",
        [
            on(
                "Update",
                Key=item("a"),
                UpdateExpression="SET y.z = :v",
                ExpressionAttributeValues={":v": ONE},
            ),
        ],
        canceled(invalid("The document path provided in the update expression is invalid for update")),
        evidence="botocore's model, TransactionCanceledException: Validation Error, messages",
    ),
    Vector(
        "index_key_of_another_type_cancels_with_a_reason",
        operation="TransactWriteItems",
        tables=[GLOBAL],
        request={
            "TransactItems": [{"Put": {"TableName": "Global", "Item": item("a", s={"S": "b"}, gp=ONE)}}],
        },
        error=canceled(
            invalid(
                "One or more parameter values were invalid: "
                "Type mismatch for Index Key gp Expected: S Actual: N IndexName: All"
            )
        ),
        evidence="Recorded in dynoxide's tests (tests/index_key_validation.rs)",
    ),
]

REFUSED = [
    refused(
        "two_actions_on_one_item",
        [
            on("Put", Item=item("c")),
            on("ConditionCheck", Key=item("c"), ConditionExpression="attribute_exists(p)"),
        ],
        validation("Transaction request cannot include multiple operations on one item"),
        evidence=CONFORMANCE,
    ),
    refused(
        "no_action",
        [{}],
        validation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"),
        evidence=CONFORMANCE,
    ),
    refused(
        "two_actions_in_one",
        [{**on("Put", Item=item("c")), **on("Delete", Key=item("d"))}],
        validation("TransactItems can only contain one of Check, Put, Update or Delete"),
        evidence=CONFORMANCE,
    ),
    refused(
        "no_items",
        [],
        validation(
            f"{ENVELOPE}Value '[]' at 'transactItems' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1"
        ),
        evidence=CONFORMANCE,
    ),
    refused(
        "empty_key_refuses_the_whole_transaction",
        [PUT_C, on("Put", Item=item(""))],
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: p"
        ),
        evidence=CONFORMANCE,
    ),
    refused(
        "syntax_error_refuses_the_whole_transaction",
        [PUT_C, on("Update", Key=item("a"), UpdateExpression="SET")],
        validation('Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"'),
        evidence=CONFORMANCE,
    ),
    refused(
        "undefined_value_refuses_the_whole_transaction",
        [PUT_C, on("Update", Key=item("a"), UpdateExpression="SET x = :v")],
        validation(
            "Invalid UpdateExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :v"
        ),
        evidence=CONFORMANCE,
    ),
    refused(
        "unused_value_refuses_the_whole_transaction",
        [
            on(
                "Delete",
                Key=item("a"),
                ConditionExpression="attribute_exists(p)",
                ExpressionAttributeValues={":v": ONE},
            )
        ],
        validation("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"),
        evidence=CONFORMANCE,
    ),
    refused(
        "update_of_a_key_refuses",
        [
            on(
                "Update",
                Key=item("a"),
                UpdateExpression="SET p = :v",
                ExpressionAttributeValues={":v": {"S": "z"}},
            )
        ],
        canceled(
            invalid(
                "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of "
                "the key"
            )
        ),
        evidence=SCYLLA,
    ),
    refused(
        "set_without_elements_refuses_the_whole_transaction",
        [on("Put", Item=item("c", v={"NS": []}))],
        validation("One or more parameter values were invalid: An number set  may not be empty"),
        evidence=CONFORMANCE,
    ),
    refused(
        "token_that_is_too_long",
        [PUT_C],
        validation(
            f"{ENVELOPE}Value '{'t' * 37}' at 'clientRequestToken' failed to satisfy constraint: "
            "Member must have length less than or equal to 36"
        ),
        ClientRequestToken="t" * 37,
        evidence=CONFORMANCE,
    ),
    Vector(
        "write_to_a_missing_table",
        operation="TransactWriteItems",
        tables=[HASH],
        request={"TransactItems": [PUT_C, {"Put": {"TableName": "Missing", "Item": item("a")}}]},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        after=[then("GetItem", {"TableName": "Hash", "Key": item("c")}, {})],
        evidence=CONFORMANCE,
    ),
]


def read(name: str, gets: list[Wire], responses: list[Wire], *, evidence: str = GETS, **more: Any) -> Vector:
    return Vector(
        name,
        operation="TransactGetItems",
        tables=[HASH, HASH_RANGE],
        given={"Hash": [A, B], "HashRange": [item("a", s={"S": "1"})]},
        request={"TransactItems": gets},
        answer={"Responses": responses, **more},
        evidence=evidence,
    )


def read_refused(name: str, gets: list[Wire], error: Refusal, *, evidence: str) -> Vector:
    return Vector(
        name,
        operation="TransactGetItems",
        tables=[HASH, HASH_RANGE],
        request={"TransactItems": gets},
        error=error,
        evidence=evidence,
    )


READ = [
    read(
        "responses_come_in_the_order_of_the_gets",
        [on("Get", Key=item("b")), on("Get", Key=item("none")), on("Get", Key=item("a"))],
        [{"Item": B}, {}, {"Item": A}],
    ),
    read(
        "reads_from_several_tables",
        [{"Get": {"TableName": "HashRange", "Key": item("a", s={"S": "1"})}}, on("Get", Key=item("a"))],
        [{"Item": item("a", s={"S": "1"})}, {"Item": A}],
    ),
    read(
        "each_get_has_its_projection",
        [
            on("Get", Key=item("a"), ProjectionExpression="#x", ExpressionAttributeNames={"#x": "x"}),
            on("Get", Key=item("b"), ProjectionExpression="p"),
        ],
        [{"Item": {"x": ONE}}, {"Item": item("b")}],
    ),
    Vector(
        "reads_cost_twice",
        operation="TransactGetItems",
        tables=[HASH],
        given={"Hash": [A]},
        request={
            "TransactItems": [on("Get", Key=item("a")), on("Get", Key=item("none"))],
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": [{"Item": A}, {}],
            "ConsumedCapacity": [{"TableName": "Hash", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}],
        },
        evidence=f"{GUIDE}: two underlying reads of every item",
    ),
    read_refused(
        "one_item_twice",
        [on("Get", Key=item("a")), on("Get", Key=item("a"))],
        validation("Transaction request cannot include multiple operations on one item"),
        evidence=CONFORMANCE,
    ),
    read_refused(
        "wrong_key_of_a_get",
        [on("Get", Key=item("a")), {"Get": {"TableName": "HashRange", "Key": item("a")}}],
        canceled(NONE, invalid("The provided key element does not match the schema")),
        evidence=CONFORMANCE,
    ),
    read_refused(
        "get_from_a_missing_table",
        [{"Get": {"TableName": "Missing", "Key": item("a")}}],
        Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=CONFORMANCE,
    ),
    read_refused(
        "overlapping_paths_of_a_get",
        [on("Get", Key=item("a"), ProjectionExpression="x, x.y")],
        validation(
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
            "of these paths; path one: [x], path two: [x, y]"
        ),
        evidence=CONFORMANCE,
    ),
    read_refused(
        "get_of_101_items",
        [on("Get", Key=item(str(n))) for n in range(101)],
        validation(matching(rf"(?s){ENVELOPE}.*Member must have length less than or equal to 100")),
        evidence=f"{GETS}: up to 100 actions",
    ),
]

VECTORS = [*WRITTEN, *CANCELED, *REFUSED, *READ]
