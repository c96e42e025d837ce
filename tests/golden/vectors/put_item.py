"""PutItem: what is stored, what comes back, and which values are not taken."""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import BINARY_RANGE, GLOBAL, HASH, HASH_RANGE, NUMBER_RANGE
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/putItem.js)"
REFERENCE = "AWS API reference, PutItem"
LIMITS = "AWS developer guide, Quotas and naming rules"

KEY: Wire = {"p": {"S": "a"}}
ENVELOPE = "1 validation error detected: "
INVALID = f"{ENVELOPE}One or more parameter values were invalid: "


def stored(name: str, value: Wire, *, read: Wire | None = None, evidence: str) -> Vector:
    """A value that is taken, and how it is read again."""
    return Vector(
        name,
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": {**KEY, "v": value}},
        answer={},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": {**KEY, "v": read or value}})],
        evidence=evidence,
    )


def refused(
    name: str, value: Any, message: str, *, evidence: str = CONFORMANCE, wire_only: bool = False
) -> Vector:
    """A value that is not taken; nothing is stored."""
    return Vector(
        name,
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": {**KEY, "v": value}},
        error=validation(message),
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {})],
        wire_only=wire_only,
        evidence=evidence,
    )


def malformed(name: str, value: Any, message: str) -> Vector:
    """JSON of another type than the model's."""
    return Vector(
        name,
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": {**KEY, "v": value}},
        error=Refusal("SerializationException", message),
        wire_only=True,
        evidence=DYNALITE,
    )


def request(name: str, parameters: Wire, error: Refusal, *, evidence: str, tables: list[Wire]) -> Vector:
    return Vector(
        name, operation="PutItem", tables=tables, request=parameters, error=error, evidence=evidence
    )


def nested(levels: int) -> Wire:
    """A string inside so many lists."""
    value: Wire = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


TYPES = "AWS developer guide, Supported data types"
NUMBERS = f"{TYPES}, Number: 38 digits; 1E-130 to 9.9999999999999999999999999999999999999E+125; zeros trimmed"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value: "
OUT_OF_RANGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"
TOO_SMALL = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = EMPTY.replace("is empty", "has more than one datatypes set")

VALUES = [
    stored(
        "scalars_come_back_as_they_were",
        {"L": [{"S": "é"}, {"N": "1"}, {"B": "AAE="}, {"BOOL": True}, {"BOOL": False}, {"NULL": True}]},
        evidence=TYPES,
    ),
    stored(
        "sets_come_back_in_any_order",
        {"L": [{"SS": ["b", "a"]}, {"NS": ["2", "-1"]}, {"BS": ["AQ==", "AA=="]}]},
        evidence=f"{TYPES}, Sets: the order of the values within a set is not preserved",
    ),
    stored(
        "empty_string_list_map_and_binary_are_values",
        {"L": [{"S": ""}, {"L": []}, {"M": {}}, {"B": ""}]},
        evidence=f"{TYPES}: empty string and binary values are allowed if the attribute is not a key",
    ),
    stored(
        "empty_string_may_stand_in_a_set",
        {"SS": ["", "a"]},
        evidence=f"{TYPES}, Sets: empty values are allowed",
    ),
    stored("needless_zeros_and_signs_are_dropped", {"N": "+001.2300"}, read={"N": "1.23"}, evidence=NUMBERS),
    stored("exponent_is_written_out", {"N": "1.5e3"}, read={"N": "1500"}, evidence=DYNALITE),
    stored("negative_exponent_is_written_out", {"N": "-2E-3"}, read={"N": "-0.002"}, evidence=DYNALITE),
    stored("negative_zero_is_zero", {"N": "-0.0"}, read={"N": "0"}, evidence=DYNALITE),
    stored(
        "largest_number",
        {"N": "9.9999999999999999999999999999999999999E+125"},
        read={"N": "9" * 38 + "0" * 88},
        evidence=NUMBERS,
    ),
    stored(
        "most_negative_number",
        {"N": "-9.9999999999999999999999999999999999999E+125"},
        read={"N": "-" + "9" * 38 + "0" * 88},
        evidence=NUMBERS,
    ),
    stored("smallest_number", {"N": "1E-130"}, read={"N": "0." + "0" * 129 + "1"}, evidence=NUMBERS),
    stored("number_of_38_digits", {"N": "1234567890123456789.0123456789012345678"}, evidence=NUMBERS),
    stored(
        "zeros_do_not_count_as_digits",
        {"N": "0" * 20 + "1" * 38 + "0" * 20},
        read={"N": "1" * 38 + "0" * 20},
        evidence=NUMBERS,
    ),
    stored("values_may_be_nested_in_31_lists", nested(31), evidence=f"{LIMITS}: nested up to 32 levels deep"),
    stored(
        "attribute_names_may_be_any_text",
        {"M": {"a.b[0] #:€": {"S": "x"}}},
        evidence=f"{LIMITS}: attribute names",
    ),
]

REFUSED_VALUES = [
    refused("empty_string_set", {"SS": []}, f"{INVALID}An string set  may not be empty"),
    refused("empty_number_set", {"NS": []}, f"{INVALID}An number set  may not be empty"),
    refused("empty_binary_set", {"BS": []}, f"{INVALID}Binary sets should not be empty"),
    refused(
        "string_set_with_duplicates",
        {"SS": ["a", "a"]},
        f'{INVALID}Input collection ["a", "a"] contains duplicates.',
    ),
    refused(
        "number_set_with_equal_numbers",
        {"NS": ["1", "1.0"]},
        f"{INVALID}Input collection contains duplicates.",
    ),
    refused(
        "binary_set_with_duplicates",
        {"BS": ["AQ==", "AQ=="]},
        f'{INVALID}Input collection ["AQ==","AQ=="]of type BS contains duplicates.',
    ),
    refused(
        "null_that_is_false",
        {"NULL": False},
        f"{INVALID}Null attribute value types must have the value of true",
        evidence="paritysuite/dynamodb-conformance pull 94: every region rejects it again since July 2026",
    ),
    refused("text_that_is_no_number", {"N": "abc"}, f"{ENVELOPE}{NOT_A_NUMBER}abc", evidence=DYNALITE),
    refused("empty_number", {"N": ""}, f"{ENVELOPE}{NOT_A_NUMBER}", evidence=DYNALITE),
    refused("number_with_spaces", {"N": " 1"}, f"{ENVELOPE}{NOT_A_NUMBER} 1", evidence=DYNALITE),
    refused("infinity", {"N": "Infinity"}, f"{ENVELOPE}{NOT_A_NUMBER}Infinity", evidence=NUMBERS),
    refused("hexadecimal_number", {"N": "0x10"}, f"{ENVELOPE}{NOT_A_NUMBER}0x10", evidence=NUMBERS),
    refused(
        "number_of_39_digits",
        {"N": "1" * 39},
        f"{ENVELOPE}Attempting to store more than 38 significant digits in a Number",
        evidence=DYNALITE,
    ),
    refused("number_too_large", {"N": "1E126"}, f"{ENVELOPE}{OUT_OF_RANGE}", evidence=DYNALITE),
    refused("number_too_negative", {"N": "-1E126"}, f"{ENVELOPE}{OUT_OF_RANGE}", evidence=DYNALITE),
    refused("number_too_small", {"N": "1E-131"}, f"{ENVELOPE}{TOO_SMALL}", evidence=DYNALITE),
    refused(
        "number_of_a_set_too_large", {"NS": ["1", "1E126"]}, f"{ENVELOPE}{OUT_OF_RANGE}", evidence=DYNALITE
    ),
    refused("value_without_a_type", {}, EMPTY, evidence=DYNALITE, wire_only=True),
    refused("value_of_an_unknown_type", {"X": "a"}, EMPTY, evidence=DYNALITE, wire_only=True),
    refused("value_of_two_types", {"S": "a", "N": "1"}, SEVERAL, evidence=DYNALITE),
    refused("element_without_a_type", {"L": [{}]}, EMPTY, evidence=DYNALITE, wire_only=True),
    refused(
        "values_nested_in_32_lists",
        nested(32),
        f"{ENVELOPE}Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit",
        evidence=f"{LIMITS}: nested up to 32 levels deep",
    ),
    refused(
        "item_over_400_kb",
        {"S": "x" * (400 * 1024 - 2)},
        "Item size has exceeded the maximum allowed size",
        evidence=DYNALITE,
    ),
    refused(
        "map_with_an_empty_name",
        {"M": {"": {"S": "a"}}},
        f"{ENVELOPE}Empty attribute name",
        evidence=DYNALITE,
    ),
    malformed("number_as_json_number", {"N": 1}, "NUMBER_VALUE cannot be converted to String"),
    malformed("string_as_json_boolean", {"S": True}, "TRUE_VALUE cannot be converted to String"),
    malformed("boolean_as_json_string", {"BOOL": "x"}, "Unexpected token received from parser"),
    malformed("list_as_json_object", {"L": {}}, "Start of structure or map found where not expected"),
    malformed("value_as_json_string", "a", "Unexpected value type in payload"),
    malformed(
        "binary_that_is_no_base64",
        {"B": "abcde"},
        "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
    ),
]

OLD: Wire = {**KEY, "x": {"N": "1"}}
PUT: Wire = {"TableName": "Hash", "Item": {**KEY, "x": {"N": "2"}}}

BEHAVIOUR = [
    Vector(
        "put_replaces_the_whole_item",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [{**OLD, "gone": {"S": "y"}}]},
        request=PUT,
        answer={},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": PUT["Item"]})],
        evidence=f"{REFERENCE}: creates a new item, or replaces an old item with a new item",
    ),
    Vector(
        "put_returns_the_old_item",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [OLD]},
        request={**PUT, "ReturnValues": "ALL_OLD"},
        answer={"Attributes": OLD},
        evidence=f"{REFERENCE}, ReturnValues: ALL_OLD returns the content of the old item",
    ),
    Vector(
        "put_of_a_new_item_returns_no_attributes",
        operation="PutItem",
        tables=[HASH],
        request={**PUT, "ReturnValues": "ALL_OLD"},
        answer={},
        evidence=DYNALITE,
    ),
    Vector(
        "put_with_true_condition",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [OLD]},
        request={
            **PUT,
            "ConditionExpression": "#x = :one AND attribute_exists(p)",
            "ExpressionAttributeNames": {"#x": "x"},
            "ExpressionAttributeValues": {":one": {"N": "1.0"}},
        },
        answer={},
        evidence=f"{REFERENCE}, ConditionExpression",
    ),
    Vector(
        "put_with_false_condition_changes_nothing",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [OLD]},
        request={**PUT, "ConditionExpression": "attribute_not_exists(p)"},
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed"),
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": OLD})],
        evidence=CONFORMANCE,
    ),
    Vector(
        "put_with_false_condition_returns_the_item_when_asked",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [OLD]},
        request={
            **PUT,
            "ConditionExpression": "attribute_not_exists(p)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed", Item=OLD),
        evidence=f"{REFERENCE}, ReturnValuesOnConditionCheckFailure",
    ),
    Vector(
        "put_with_false_condition_on_a_missing_item_returns_no_item",
        operation="PutItem",
        tables=[HASH],
        request={
            **PUT,
            "ConditionExpression": "attribute_exists(p)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed"),
        evidence=f"{REFERENCE}, ReturnValuesOnConditionCheckFailure",
    ),
    Vector(
        "put_by_the_arn_of_the_table",
        operation="PutItem",
        tables=[HASH],
        request={**PUT, "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"},
        answer={},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": PUT["Item"]})],
        evidence=f"{REFERENCE}, TableName: you can also provide the ARN of the table",
    ),
    Vector(
        "put_reports_units_when_asked",
        operation="PutItem",
        tables=[HASH],
        request={**PUT, "ReturnConsumedCapacity": "TOTAL", "ReturnItemCollectionMetrics": "SIZE"},
        answer={"ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1.0}},
        evidence=f"{REFERENCE}; metrics come only from a table with a local index",
    ),
]

FAULTS = [
    request(
        "put_into_a_missing_table",
        {"TableName": "Missing", "Item": KEY},
        Refusal("ResourceNotFoundException", "Requested resource not found"),
        tables=[],
        evidence=CONFORMANCE,
    ),
    request(
        "put_without_a_table_name",
        {"Item": KEY},
        validation(
            f"{ENVELOPE}Value null at 'tableName' failed to satisfy constraint: Member must not be null"
        ),
        tables=[],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_a_table_name_that_is_too_long",
        {"TableName": "a" * 256, "Item": KEY},
        validation(
            f"{ENVELOPE}Value '{'a' * 256}' at 'tableName' failed to satisfy constraint: "
            "Member must have length less than or equal to 255"
        ),
        tables=[],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_characters_that_no_table_name_has",
        {"TableName": "bad table!@#", "Item": KEY},
        validation(
            f"{ENVELOPE}Value 'bad table!@#' at 'tableName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
        ),
        tables=[],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_two_faults_collects_them",
        {**PUT, "ReturnConsumedCapacity": "some", "ReturnItemCollectionMetrics": "all"},
        validation(
            "2 validation errors detected: "
            "Value 'some' at 'returnConsumedCapacity' failed to satisfy constraint: "
            "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; "
            "Value 'all' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
            "Member must satisfy enum value set: [SIZE, NONE]"
        ),
        tables=[],
        evidence=f"{CONFORMANCE}: the order of the members",
    ),
    request(
        "put_with_an_unknown_return_value",
        {**PUT, "ReturnValues": "all"},
        validation(
            f"{ENVELOPE}Failed to satisfy constraint: "
            "Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
        ),
        tables=[],
        evidence=f"{CONFORMANCE}, in the wording of 2026",
    ),
    request(
        "put_without_the_partition_key",
        {"TableName": "Hash", "Item": {"x": {"S": "a"}}},
        validation("One or more parameter values were invalid: Missing the key p in the item"),
        tables=[HASH],
        evidence=DYNALITE,
    ),
    request(
        "put_without_the_sort_key",
        {"TableName": "HashRange", "Item": KEY},
        validation("One or more parameter values were invalid: Missing the key s in the item"),
        tables=[HASH_RANGE],
        evidence=DYNALITE,
    ),
    request(
        "put_with_a_key_of_another_type",
        {"TableName": "Hash", "Item": {"p": {"N": "1"}}},
        validation(
            "One or more parameter values were invalid: Type mismatch for key p expected: S actual: N"
        ),
        tables=[HASH],
        evidence=DYNALITE,
    ),
    request(
        "put_with_an_empty_string_key",
        {"TableName": "Hash", "Item": {"p": {"S": ""}}},
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: p"
        ),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_an_empty_binary_key",
        {"TableName": "BinaryRange", "Item": {**KEY, "b": {"B": ""}}},
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty binary value. Key: b"
        ),
        tables=[BINARY_RANGE],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_a_number_where_the_sort_key_is_text",
        {"TableName": "NumberRange", "Item": {**KEY, "n": {"S": "1"}}},
        validation(
            "One or more parameter values were invalid: Type mismatch for key n expected: N actual: S"
        ),
        tables=[NUMBER_RANGE],
        evidence=DYNALITE,
    ),
    request(
        "put_with_a_partition_key_over_2048_bytes",
        {"TableName": "Hash", "Item": {"p": {"S": "é" * 1024 + "x"}}},
        validation(
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        ),
        tables=[HASH],
        evidence=f"{DYNALITE}, the missing space included",
    ),
    request(
        "put_with_a_sort_key_over_1024_bytes",
        {"TableName": "HashRange", "Item": {**KEY, "s": {"S": "x" * 1025}}},
        validation(
            "One or more parameter values were invalid: "
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        ),
        tables=[HASH_RANGE],
        evidence=DYNALITE,
    ),
    request(
        "put_with_an_index_key_of_another_type",
        {"TableName": "Global", "Item": {**KEY, "s": {"S": "b"}, "gp": {"N": "1"}}},
        validation(
            "One or more parameter values were invalid: "
            "Type mismatch for Index Key gp Expected: S Actual: N IndexName: All"
        ),
        tables=[GLOBAL],
        evidence=DYNALITE,
    ),
    request(
        "put_with_an_index_key_that_is_null",
        {"TableName": "Global", "Item": {**KEY, "s": {"S": "b"}, "gp": {"NULL": True}}},
        validation(
            "One or more parameter values were invalid: "
            "Type mismatch for Index Key gp Expected: S Actual: NULL IndexName: All"
        ),
        tables=[GLOBAL],
        evidence="Reported by users of AWS, among them kitar/laravel-dynamodb pull 60",
    ),
    request(
        "put_with_an_empty_index_key",
        {"TableName": "Global", "Item": {**KEY, "s": {"S": "b"}, "gp": {"S": ""}}},
        validation(
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: All, IndexKey: gp"
        ),
        tables=[GLOBAL],
        evidence="Answer of the service, quoted by users in aws/aws-sdk and Terraform threads",
    ),
    request(
        "put_that_asks_for_new_values",
        {**PUT, "ReturnValues": "ALL_NEW"},
        validation(f"{ENVELOPE}ReturnValues can only be ALL_OLD or NONE"),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
    request(
        "put_that_asks_for_new_values_and_has_a_wrong_condition",
        {
            **PUT,
            "ReturnValues": "ALL_NEW",
            "ConditionExpression": "a > :l",
            "ExpressionAttributeValues": {":l": {"L": []}},
        },
        validation(f"{ENVELOPE}ReturnValues can only be ALL_OLD or NONE"),
        tables=[HASH],
        evidence="dynalite's order of checks, which its tests compared with the service; DynamoDB Local 3.3",
    ),
    request(
        "put_with_values_but_no_expression",
        {**PUT, "ExpressionAttributeValues": {":v": {"S": "a"}}},
        validation(f"{ENVELOPE}ExpressionAttributeValues can only be specified when using expressions"),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_names_but_no_expression",
        {**PUT, "ExpressionAttributeNames": {"#v": "a"}},
        validation(f"{ENVELOPE}ExpressionAttributeNames can only be specified when using expressions"),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_redundant_parentheses",
        {**PUT, "ConditionExpression": "((attribute_not_exists(p)))"},
        validation(f"{ENVELOPE}Invalid ConditionExpression: The expression has redundant parentheses;"),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
    request(
        "put_with_both_old_and_new_conditions",
        {**PUT, "Expected": {"p": {"Exists": False}}, "ConditionExpression": "attribute_not_exists(p)"},
        validation(
            f"{ENVELOPE}Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
        ),
        tables=[HASH],
        evidence=CONFORMANCE,
    ),
]

VECTORS = [*VALUES, *REFUSED_VALUES, *BEHAVIOUR, *FAULTS]
