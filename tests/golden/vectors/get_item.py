"""GetItem: what is read, and which keys and projections are refused."""

from __future__ import annotations

from golden.vectors.tables import BINARY_RANGE, HASH, HASH_RANGE, NUMBER_RANGE
from golden.vectors.vector import Refusal, Vector, Wire, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/getItem.js)"
REFERENCE = "AWS API reference, GetItem"
PATHS = "AWS developer guide, Using projection expressions"

KEY: Wire = {"p": {"S": "a"}}
NESTED: Wire = {"M": {"x": {"N": "1"}, "y": {"L": [{"S": "0"}, {"S": "1"}, {"M": {"z": {"S": "2"}}}]}}}
ITEM: Wire = {**KEY, "b": {"B": "AQI="}, "n": {"N": "1.5"}, "size": {"N": "3"}, "m": NESTED}
NO_MATCH = "The provided key element does not match the schema"


def projected(name: str, expression: str, item: Wire, *, evidence: str = PATHS, **names: str) -> Vector:
    request: Wire = {"TableName": "Hash", "Key": KEY, "ProjectionExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = {f"#{placeholder}": path for placeholder, path in names.items()}
    return Vector(
        name,
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request=request,
        answer={"Item": item},
        evidence=evidence,
    )


def refused(name: str, parameters: Wire, error: Refusal, *, evidence: str, table: Wire = HASH) -> Vector:
    return Vector(
        name,
        operation="GetItem",
        tables=[table],
        request={"TableName": table["TableName"], "Key": KEY, **parameters},
        error=error,
        evidence=evidence,
    )


ANSWERS = [
    Vector(
        "get_returns_the_whole_item",
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={"TableName": "Hash", "Key": KEY},
        answer={"Item": ITEM},
        evidence=f"{REFERENCE}: returns a set of attributes for the item with the given primary key",
    ),
    Vector(
        "get_of_a_missing_item_has_no_item",
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={"TableName": "Hash", "Key": {"p": {"S": "b"}}},
        answer={},
        evidence=f"{REFERENCE}: if there is no matching item, there will be no Item element in the response",
    ),
    Vector(
        "get_finds_a_number_key_however_it_is_written",
        operation="GetItem",
        tables=[NUMBER_RANGE],
        given={"NumberRange": [{**KEY, "n": {"N": "1500"}}]},
        request={"TableName": "NumberRange", "Key": {**KEY, "n": {"N": "1.50e3"}}},
        answer={"Item": {**KEY, "n": {"N": "1500"}}},
        evidence="AWS developer guide, Number: leading and trailing zeroes are trimmed",
    ),
    Vector(
        "get_by_a_binary_key",
        operation="GetItem",
        tables=[BINARY_RANGE],
        given={"BinaryRange": [{**KEY, "b": {"B": "AP8="}}, {**KEY, "b": {"B": "AP4="}}]},
        request={"TableName": "BinaryRange", "Key": {**KEY, "b": {"B": "AP8="}}},
        answer={"Item": {**KEY, "b": {"B": "AP8="}}},
        evidence=f"{REFERENCE}, Key",
    ),
    Vector(
        "consistent_get_costs_a_whole_unit",
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "ConsistentRead": True,
            "ReturnConsumedCapacity": "INDEXES",
        },
        answer={
            "Item": ITEM,
            "ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}},
        },
        evidence="AWS developer guide, Read operations: one unit for a consistent read of up to 4 KB",
    ),
    Vector(
        "get_of_a_missing_item_costs_half_a_unit",
        operation="GetItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "ReturnConsumedCapacity": "TOTAL"},
        answer={"ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 0.5}},
        evidence="AWS developer guide, Read operations: a read of a missing item still consumes units",
    ),
    Vector(
        "get_with_the_oldest_projection",
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={"TableName": "Hash", "Key": KEY, "AttributesToGet": ["n", "none"]},
        answer={"Item": {"n": {"N": "1.5"}}},
        evidence="AWS developer guide, AttributesToGet (legacy)",
    ),
    projected("projection_of_attributes", "p, n", {**KEY, "n": {"N": "1.5"}}),
    projected("projection_through_a_name", "#s", {"size": {"N": "3"}}, s="size"),
    projected("projection_into_a_map", "m.x", {"m": {"M": {"x": {"N": "1"}}}}),
    projected("projection_into_a_list", "m.y[1]", {"m": {"M": {"y": {"L": [{"S": "1"}]}}}}),
    projected(
        "projected_elements_close_up",
        "m.y[2].z, m.y[0]",
        {"m": {"M": {"y": {"L": [{"S": "0"}, {"M": {"z": {"S": "2"}}}]}}}},
        evidence=f"{PATHS}: elements are returned in their order, without gaps",
    ),
    projected(
        "projection_of_what_is_not_there_is_an_empty_item",
        "nothing, m.nothing, m.y[9]",
        {},
        evidence=CONFORMANCE,
    ),
    projected("projection_with_a_dotted_name", "#m.#x", {"m": {"M": {"x": {"N": "1"}}}}, m="m", x="x"),
]

REFUSALS = [
    Vector(
        "get_from_a_missing_table",
        operation="GetItem",
        request={"TableName": "Missing", "Key": KEY},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=CONFORMANCE,
    ),
    refused(
        "get_with_a_key_of_another_type", {"Key": {"p": {"N": "1"}}}, validation(NO_MATCH), evidence=DYNALITE
    ),
    refused(
        "get_with_another_attribute", {"Key": {"x": {"S": "a"}}}, validation(NO_MATCH), evidence=DYNALITE
    ),
    refused(
        "get_with_an_attribute_too_many",
        {"Key": {**KEY, "x": {"S": "a"}}},
        validation(NO_MATCH),
        evidence=DYNALITE,
    ),
    refused("get_without_the_sort_key", {}, validation(NO_MATCH), evidence=CONFORMANCE, table=HASH_RANGE),
    refused("get_with_an_empty_key", {"Key": {}}, validation(NO_MATCH), evidence=DYNALITE),
    refused(
        "get_with_an_empty_string_key",
        {"Key": {"p": {"S": ""}}},
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: p"
        ),
        evidence=CONFORMANCE,
    ),
    refused(
        "get_with_an_empty_binary_key",
        {"Key": {**KEY, "b": {"B": ""}}},
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty binary value. Key: b"
        ),
        evidence=CONFORMANCE,
        table=BINARY_RANGE,
    ),
    refused(
        "get_with_a_key_over_2048_bytes",
        {"Key": {"p": {"S": "x" * 2049}}},
        validation(
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        ),
        evidence=f"{DYNALITE}, the missing space included",
    ),
    refused(
        "get_without_a_key",
        {"Key": None},
        validation(
            "1 validation error detected: "
            "Value null at 'key' failed to satisfy constraint: Member must not be null"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "projection_with_a_syntax_error",
        {"ProjectionExpression": "!!! INVALID !!!"},
        validation('Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'),
        evidence=CONFORMANCE,
    ),
    refused(
        "empty_projection",
        {"ProjectionExpression": ""},
        validation("Invalid ProjectionExpression: The expression can not be empty;"),
        evidence=DYNALITE,
    ),
    refused(
        "projection_of_a_reserved_word",
        {"ProjectionExpression": "p, size"},
        validation(
            "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: size"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "projection_with_an_undefined_name",
        {"ProjectionExpression": "#a"},
        validation(
            "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
            "attribute name: #a"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "projection_with_an_unused_name",
        {"ProjectionExpression": "n", "ExpressionAttributeNames": {"#a": "a"}},
        validation("Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}"),
        evidence=DYNALITE,
    ),
    refused(
        "projection_of_overlapping_paths",
        {"ProjectionExpression": "m, m.x"},
        validation(
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
            "of these paths; path one: [m], path two: [m, x]"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "projection_of_one_path_twice",
        {"ProjectionExpression": "n, n"},
        validation(
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
            "of these paths; path one: [n], path two: [n]"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "projection_of_conflicting_paths",
        {"ProjectionExpression": "m.x, m[0]"},
        validation(
            "Invalid ProjectionExpression: Two document paths conflict with each other; must remove or rewrite "
            "one of these paths; path one: [m, x], path two: [m, [0]]"
        ),
        evidence=DYNALITE,
    ),
    refused(
        "names_without_a_projection",
        {"ExpressionAttributeNames": {"#a": "a"}},
        validation("ExpressionAttributeNames can only be specified when using expressions"),
        evidence=DYNALITE,
    ),
    refused(
        "name_without_its_mark",
        {"ProjectionExpression": "n", "ExpressionAttributeNames": {"a": "a"}},
        validation('ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
        evidence=DYNALITE,
    ),
    refused(
        "get_with_both_projections",
        {"ProjectionExpression": "n", "AttributesToGet": ["n"]},
        validation(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
        ),
        evidence=DYNALITE,
    ),
]

VECTORS = [*ANSWERS, *REFUSALS]
