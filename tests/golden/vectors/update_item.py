"""UpdateItem: what an update expression does, what comes back, and what is refused."""

from __future__ import annotations

from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/updateItem.js)"
REFERENCE = "AWS API reference, UpdateItem"
GUIDE = "AWS developer guide, Using update expressions"

KEY: Wire = {"p": {"S": "a"}}
MAP: Wire = {"M": {"x": {"N": "1"}, "y": {"L": [{"S": "0"}, {"S": "1"}]}}}
ITEM: Wire = {
    **KEY,
    "n": {"N": "5"},
    "t": {"S": "text"},
    "l": {"L": [{"N": "0"}, {"N": "1"}]},
    "m": MAP,
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
}
ENVELOPE = "1 validation error detected: "
INVALID = f"{ENVELOPE}Invalid UpdateExpression: "
BAD_PATH = "The document path provided in the update expression is invalid for update"


def updated(name: str, expression: str, changes: Wire, *, evidence: str = GUIDE, **values: Wire) -> Vector:
    """An update of the item; `changes` are the attributes that differ afterwards, None for those removed."""
    after = {attribute: value for attribute, value in {**ITEM, **changes}.items() if value is not None}
    request: Wire = {
        "TableName": "Hash",
        "Key": KEY,
        "UpdateExpression": expression,
        "ReturnValues": "ALL_NEW",
    }
    if values:
        request["ExpressionAttributeValues"] = {
            f":{placeholder}": value for placeholder, value in values.items()
        }
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request=request,
        answer={"Attributes": after},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": after})],
        evidence=evidence,
    )


def refused(
    name: str,
    expression: str,
    message: str,
    *,
    evidence: str = CONFORMANCE,
    names: Wire | None = None,
    **values: Wire,
) -> Vector:
    """An update that is refused; the item stays as it was."""
    request: Wire = {"TableName": "Hash", "Key": KEY, "UpdateExpression": expression}
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {
            f":{placeholder}": value for placeholder, value in values.items()
        }
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request=request,
        error=validation(message),
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": ITEM})],
        evidence=evidence,
    )


def returned(name: str, returns: str, answer: Wire, *, given: Wire | None = ITEM, evidence: str) -> Vector:
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [] if given is None else [given]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "UpdateExpression": "SET n = :n, fresh = :f REMOVE t",
            "ExpressionAttributeValues": {":n": {"N": "6"}, ":f": {"S": "x"}},
            "ReturnValues": returns,
        },
        answer=answer,
        evidence=evidence,
    )


def number(text: str) -> Wire:
    return {"N": text}


EXPRESSIONS = [
    updated("set_a_new_attribute", "SET z = :v", {"z": {"S": "x"}}, v={"S": "x"}),
    updated("set_replaces_an_attribute_of_any_type", "SET n = :v", {"n": {"BOOL": True}}, v={"BOOL": True}),
    updated("set_adds", "SET n = n + :v", {"n": number("7.5")}, v=number("2.5")),
    updated("set_subtracts", "SET n = :v - n", {"n": number("-4")}, v=number("1")),
    updated(
        "set_reads_the_item_as_it_was",
        "SET n = l[1], l[1] = n",
        {"n": number("1"), "l": {"L": [number("0"), number("5")]}},
        evidence=f"{GUIDE}: all paths refer to the item before any change",
    ),
    updated("set_if_not_exists_keeps_what_is_there", "SET n = if_not_exists(n, :v)", {}, v=number("1")),
    updated(
        "set_if_not_exists_sets_what_is_missing",
        "SET z = if_not_exists(z, :v)",
        {"z": number("1")},
        v=number("1"),
    ),
    updated(
        "set_counts_up_from_nothing",
        "SET z = if_not_exists(z, :zero) + :one",
        {"z": number("1")},
        zero=number("0"),
        one=number("1"),
    ),
    updated(
        "list_append_at_the_end",
        "SET l = list_append(l, :v)",
        {"l": {"L": [number("0"), number("1"), number("2")]}},
        v={"L": [number("2")]},
    ),
    updated(
        "list_append_at_the_beginning",
        "SET l = list_append(:v, l)",
        {"l": {"L": [number("2"), number("0"), number("1")]}},
        v={"L": [number("2")]},
    ),
    updated("set_an_element", "SET l[0] = :v", {"l": {"L": [{"S": "x"}, number("1")]}}, v={"S": "x"}),
    updated(
        "set_an_element_behind_the_end_appends",
        "SET l[9] = :v",
        {"l": {"L": [number("0"), number("1"), {"S": "x"}]}},
        v={"S": "x"},
        evidence=f"{GUIDE}: if the position is past the end of the list, the element is added at the end",
    ),
    updated(
        "elements_behind_the_end_are_added_in_order_of_their_index",
        "SET l[9] = :b, l[5] = :a",
        {"l": {"L": [number("0"), number("1"), {"S": "a"}, {"S": "b"}]}},
        a={"S": "a"},
        b={"S": "b"},
        evidence=f"{GUIDE}: multiple elements in a single SET are sorted by element number",
    ),
    updated(
        "set_a_member_of_a_map",
        "SET m.z = :v",
        {"m": {"M": {**MAP["M"], "z": {"S": "x"}}}},
        v={"S": "x"},
    ),
    updated("remove_an_attribute", "REMOVE t", {"t": None}),
    updated("remove_what_is_not_there", "REMOVE z, m.z, l[9]", {}),
    updated("remove_closes_up_a_list", "REMOVE l[0]", {"l": {"L": [number("1")]}}),
    updated("remove_the_last_element_leaves_an_empty_list", "REMOVE l[0], l[1]", {"l": {"L": []}}),
    updated("remove_a_member_of_a_map", "REMOVE m.y", {"m": {"M": {"x": number("1")}}}),
    updated("add_to_a_number", "ADD n :v", {"n": number("3")}, v=number("-2")),
    updated("add_to_nothing_counts_from_zero", "ADD z :v", {"z": number("3")}, v=number("3")),
    updated("add_to_a_set", "ADD ss :v", {"ss": {"SS": ["a", "b", "c"]}}, v={"SS": ["b", "c"]}),
    updated("add_a_set_to_nothing", "ADD z :v", {"z": {"NS": ["1"]}}, v={"NS": ["1"]}),
    updated("add_inside_a_map", "ADD m.x :v", {"m": {"M": {**MAP["M"], "x": number("2")}}}, v=number("1")),
    updated("delete_from_a_set", "DELETE ns :v", {"ns": {"NS": ["2"]}}, v={"NS": ["1.0", "9"]}),
    updated(
        "deleting_all_elements_removes_the_set",
        "DELETE ss :v",
        {"ss": None},
        v={"SS": ["a", "b"]},
        evidence=f"{GUIDE}: there are no empty sets",
    ),
    updated("delete_from_nothing", "DELETE z :v", {}, v={"SS": ["a"]}),
    updated(
        "all_four_clauses_in_any_order",
        "ADD n :one REMOVE t DELETE ns :set SET z = :one",
        {"n": number("6"), "t": None, "ns": {"NS": ["2"]}, "z": number("1")},
        one=number("1"),
        set={"NS": ["1"]},
    ),
]

RETURNS = [
    returned("update_returns_nothing", "NONE", {}, evidence=f"{REFERENCE}, ReturnValues"),
    returned(
        "update_returns_the_item_before",
        "ALL_OLD",
        {"Attributes": ITEM},
        evidence=f"{REFERENCE}, ReturnValues",
    ),
    returned(
        "update_returns_what_was_updated_as_it_was",
        "UPDATED_OLD",
        {"Attributes": {"n": number("5"), "t": {"S": "text"}}},
        evidence=f"{REFERENCE}, ReturnValues",
    ),
    returned(
        "update_returns_what_was_updated_as_it_is",
        "UPDATED_NEW",
        {"Attributes": {"n": number("6"), "fresh": {"S": "x"}}},
        evidence=f"{REFERENCE}, ReturnValues",
    ),
    returned("new_item_has_nothing_old", "ALL_OLD", {}, given=None, evidence=CONFORMANCE),
    returned(
        "new_item_is_returned",
        "ALL_NEW",
        {"Attributes": {**KEY, "n": number("6"), "fresh": {"S": "x"}}},
        given=None,
        evidence=f"{REFERENCE}: adds a new item to the table if it does not already exist",
    ),
    Vector(
        "update_without_an_expression_creates_the_item",
        operation="UpdateItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "ReturnValues": "ALL_NEW"},
        answer={"Attributes": KEY},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": KEY})],
        evidence=f"{DYNALITE}; {REFERENCE}: adds a new item to the table if it does not already exist",
    ),
    Vector(
        "update_with_the_oldest_parameters",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "AttributeUpdates": {"n": {"Value": number("1"), "Action": "ADD"}, "t": {"Action": "DELETE"}},
            "Expected": {
                "n": {"ComparisonOperator": "GT", "AttributeValueList": [number("4")]},
                "z": {"Exists": False},
            },
            "ConditionalOperator": "AND",
            "ReturnValues": "UPDATED_NEW",
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "Attributes": {"n": number("6")},
            "ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1.0},
        },
        evidence="AWS developer guide, Legacy conditional parameters",
    ),
    Vector(
        "update_with_false_condition",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "UpdateExpression": "SET #n = :v",
            "ConditionExpression": "#n > :v",
            "ExpressionAttributeNames": {"#n": "n"},
            "ExpressionAttributeValues": {":v": number("5")},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed", Item=ITEM),
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": ITEM})],
        evidence=f"{REFERENCE}, ReturnValuesOnConditionCheckFailure",
    ),
    Vector(
        "update_moves_an_item_in_an_index",
        operation="UpdateItem",
        tables=[GLOBAL],
        given={"Global": [{**KEY, "s": {"S": "b"}, "gp": {"S": "old"}, "gs": {"S": "x"}}]},
        request={
            "TableName": "Global",
            "Key": {**KEY, "s": {"S": "b"}},
            "UpdateExpression": "SET gp = :v",
            "ExpressionAttributeValues": {":v": {"S": "new"}},
        },
        answer={},
        after=[
            then(
                "Query",
                {
                    "TableName": "Global",
                    "IndexName": "All",
                    "KeyConditionExpression": "gp = :v",
                    "ExpressionAttributeValues": {":v": {"S": value}},
                    "Select": "COUNT",
                },
                {"Count": count, "ScannedCount": count},
            )
            for value, count in (("old", 0), ("new", 1))
        ],
        evidence="AWS developer guide, Global secondary indexes: kept in step with the table",
    ),
]


def type_fault(operator: str, operand: str) -> str:
    return (
        f"{INVALID}Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {operand}"
    )


ONE = number("1")
FAULTS = [
    refused("empty_update", "", f"{INVALID}The expression can not be empty;", evidence=DYNALITE),
    refused(
        "update_that_does_not_parse",
        "SET n",
        f'{INVALID}Syntax error; token: "<EOF>", near: "n"',
        evidence=DYNALITE,
    ),
    refused(
        "unknown_clause",
        "PUT n = :v",
        f'{INVALID}Syntax error; token: "PUT", near: "PUT n"',
        evidence=DYNALITE,
        v=ONE,
    ),
    refused(
        "clause_that_comes_twice",
        "SET n = :v SET z = :v",
        f'{INVALID}The "SET" section can only be used once in an update expression;',
        v=ONE,
    ),
    refused(
        "reserved_word",
        "SET size = :v",
        f"{INVALID}Attribute name is a reserved keyword; reserved keyword: size",
        v=ONE,
    ),
    refused(
        "undefined_name",
        "SET #z = :v",
        f"{INVALID}An expression attribute name used in the document path is not defined; attribute name: #z",
        v=ONE,
    ),
    refused(
        "undefined_value",
        "SET z = :v",
        f"{INVALID}An expression attribute value used in expression is not defined; attribute value: :v",
    ),
    refused(
        "unused_name",
        "SET z = :v",
        f"{ENVELOPE}Value provided in ExpressionAttributeNames unused in expressions: keys: {{#a}}",
        names={"#a": "a"},
        v=ONE,
    ),
    refused(
        "unused_value",
        "SET z = :v",
        f"{ENVELOPE}Value provided in ExpressionAttributeValues unused in expressions: keys: {{:w}}",
        v=ONE,
        w=ONE,
    ),
    refused(
        "paths_that_overlap",
        "SET m = :v, m.x = :v",
        f"{INVALID}Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [m], path two: [m, x]",
        v=ONE,
    ),
    refused(
        "paths_that_conflict",
        "SET m.x = :v, m[0] = :v",
        f"{INVALID}Two document paths conflict with each other; must remove or rewrite one of these paths; "
        "path one: [m, x], path two: [m, [0]]",
        v=ONE,
    ),
    refused("path_through_nothing", "SET z.x = :v", BAD_PATH, v=ONE),
    refused("path_into_a_scalar", "SET t.x = :v", BAD_PATH, v=ONE),
    refused("element_of_a_map", "SET m[0] = :v", BAD_PATH, v=ONE),
    refused(
        "operand_that_is_not_there",
        "SET n = z + :v",
        "The provided expression refers to an attribute that does not exist in the item",
        v=ONE,
    ),
    refused("sum_with_a_string", "SET n = n + :v", type_fault("+", "S"), v={"S": "1"}),
    refused(
        "sum_with_a_stored_string",
        "SET n = t + :v",
        "An operand in the update expression has an incorrect data type",
        v=ONE,
    ),
    refused("append_of_a_string", "SET l = list_append(l, :v)", type_fault("list_append", "S"), v={"S": "x"}),
    refused(
        "add_of_a_string",
        "ADD n :v",
        f"{INVALID}Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
        "typeSet: ALLOWED_FOR_ADD_OPERAND",
        v={"S": "1"},
    ),
    refused(
        "add_of_a_number_to_a_set",
        "ADD ss :v",
        "An operand in the update expression has an incorrect data type",
        v=ONE,
    ),
    refused(
        "delete_of_a_number",
        "DELETE ns :v",
        f"{INVALID}Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, "
        "typeSet: ALLOWED_FOR_ADD_OPERAND",
        v=ONE,
        evidence="Answer of the service, recorded in dynoxide's tests (tests/set_arithmetic_operands.rs)",
    ),
    refused(
        "delete_of_another_kind_of_set",
        "DELETE ss :v",
        "An operand in the update expression has an incorrect data type",
        v={"NS": ["1"]},
    ),
    refused(
        "update_of_a_key_attribute",
        "SET p = :v",
        "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key",
        v={"S": "b"},
    ),
    refused(
        "removal_of_a_key_attribute",
        "REMOVE p",
        "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key",
    ),
    refused(
        "unknown_function",
        "SET n = upper(:v)",
        f"{INVALID}Invalid function name; function: upper",
        v=ONE,
    ),
    refused(
        "condition_function_in_an_update",
        "SET n = attribute_exists(t)",
        f"{INVALID}The function is not allowed in an update expression; function: attribute_exists",
    ),
    refused(
        "too_few_operands",
        "SET n = if_not_exists(n)",
        f"{INVALID}Incorrect number of operands for operator or function; "
        "operator or function: if_not_exists, number of operands: 1",
    ),
    refused(
        "expression_over_4_kb",
        "SET " + "z" * 4097 + " = :v",
        f"{INVALID}Expression size has exceeded the maximum allowed size;",
        evidence="AWS developer guide, Quotas: expressions of up to 4 KB; dynoxide recorded the words in 2026",
        v=ONE,
    ),
    refused(
        "item_that_would_grow_over_400_kb",
        "SET z = :v",
        "Item size to update has exceeded the maximum allowed size",
        v={"S": "x" * (400 * 1024 - 10)},
        evidence=DYNALITE,
    ),
    refused(
        "sum_that_is_too_large",
        "SET n = :v + :v",
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
        v=number("9E125"),
        evidence=DYNALITE,
    ),
]

MISSING = [
    Vector(
        "update_in_a_missing_table",
        operation="UpdateItem",
        request={"TableName": "Missing", "Key": KEY},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=CONFORMANCE,
    ),
    Vector(
        "update_without_the_sort_key",
        operation="UpdateItem",
        tables=[HASH_RANGE],
        request={"TableName": "HashRange", "Key": KEY},
        error=validation("The provided key element does not match the schema"),
        evidence=CONFORMANCE,
    ),
    Vector(
        "update_of_an_index_key_to_a_value_of_another_type",
        operation="UpdateItem",
        tables=[GLOBAL],
        request={
            "TableName": "Global",
            "Key": {**KEY, "s": {"S": "b"}},
            "UpdateExpression": "SET gp = :v",
            "ExpressionAttributeValues": {":v": ONE},
        },
        error=validation(
            "One or more parameter values were invalid: "
            "Type mismatch for Index Key gp Expected: S Actual: N IndexName: All"
        ),
        evidence=DYNALITE,
    ),
    Vector(
        "update_of_an_index_key_to_a_result_of_another_type",
        operation="UpdateItem",
        tables=[GLOBAL],
        given={"Global": [{**KEY, "s": {"S": "b"}, "n": ONE}]},
        request={
            "TableName": "Global",
            "Key": {**KEY, "s": {"S": "b"}},
            "UpdateExpression": "SET gp = n",
        },
        error=validation(
            "The update expression attempted to update the secondary index key to unsupported type"
        ),
        evidence=f"{DYNALITE}; botocore's model, TransactionCanceledException, lists the same words",
    ),
    Vector(
        "update_of_an_index_key_to_an_empty_string",
        operation="UpdateItem",
        tables=[GLOBAL],
        request={
            "TableName": "Global",
            "Key": {**KEY, "s": {"S": "b"}},
            "UpdateExpression": "SET gp = :v",
            "ExpressionAttributeValues": {":v": {"S": ""}},
        },
        error=validation(
            "One or more parameter values are not valid. The update expression attempted to update a secondary "
            "index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an "
            "empty string value."
        ),
        evidence=CONFORMANCE,
    ),
    Vector(
        "update_of_a_wrong_key_with_a_wrong_expression",
        operation="UpdateItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": {"p": {"SS": []}},
            "UpdateExpression": "REMOVE a",
            "ExpressionAttributeNames": {"#unused": "l"},
        },
        error=validation(
            f"{ENVELOPE}One or more parameter values were invalid: An string set  may not be empty"
        ),
        evidence="dynalite's order of checks, which its tests compared with the service; DynamoDB Local 3.3",
    ),
]

VECTORS = [*EXPRESSIONS, *RETURNS, *FAULTS, *MISSING]
