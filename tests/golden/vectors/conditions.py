"""Conditions: what each operator and function says of an item, and which expressions are refused.

They are asked as the filter of a scan, which says the same as a condition of a write: true or false.
"""

from __future__ import annotations

from golden.vectors.tables import HASH
from golden.vectors.vector import Vector, Wire, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/scan.js)"
GUIDE = "AWS developer guide, Condition and filter expressions, operators, and functions"

ITEM: Wire = {
    "p": {"S": "a"},
    "n": {"N": "5"},
    "t": {"S": "text"},
    "b": {"B": "AQID"},
    "y": {"BOOL": True},
    "z": {"NULL": True},
    "l": {"L": [{"N": "1"}, {"S": "x"}, {"M": {"k": {"S": "deep"}}}]},
    "m": {"M": {"k": {"N": "1"}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
}

Value = Wire | str


def typed(value: Value) -> Wire:
    return {"S": value} if isinstance(value, str) else value


def asked(name: str, expression: str, holds: bool, /, *, evidence: str = GUIDE, **values: Value) -> Vector:
    """A filter that lets the item through, or does not."""
    request: Wire = {"TableName": "Hash", "FilterExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{key}": typed(value) for key, value in values.items()}
    items = [ITEM] if holds else []
    return Vector(
        name,
        operation="Scan",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request=request,
        answer={"Items": items, "Count": len(items), "ScannedCount": 1},
        evidence=evidence,
    )


def refused(
    name: str,
    expression: str,
    message: str,
    /,
    *,
    evidence: str = DYNALITE,
    names: Wire | None = None,
    **values: Value,
) -> Vector:
    request: Wire = {"TableName": "Hash", "FilterExpression": expression}
    if names is not None:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {f":{key}": typed(value) for key, value in values.items()}
    return Vector(
        name,
        operation="Scan",
        tables=[HASH],
        request=request,
        error=validation(message),
        evidence=evidence,
    )


def n(text: str) -> Wire:
    return {"N": text}


TRUE = [
    asked("equal_numbers_in_other_words", "n = :v", True, v=n("5.00")),
    asked("equal_sets_in_another_order", "ss = :v", True, v={"SS": ["b", "a"]}),
    asked("equal_lists", "l = :v", True, v=ITEM["l"]),
    asked("equal_maps", "m = :v", True, v={"M": {"k": n("1.0")}}),
    asked(
        "not_equal_to_another_type",
        "n <> :v",
        True,
        v="5",
        evidence=f"{GUIDE}: values of different types are not equal",
    ),
    asked("less_than_as_numbers", "n < :v", True, v=n("10")),
    asked("less_or_equal", "n <= :v", True, v=n("5")),
    asked(
        "greater_than_as_bytes",
        "t > :v",
        True,
        v="Zebra",
        evidence=f"{GUIDE}: strings compare by their UTF-8 bytes",
    ),
    asked("greater_or_equal_of_binary", "b >= :v", True, v={"B": "AQI="}),
    asked("between_has_both_ends", "n BETWEEN :low AND :high", True, low=n("5"), high=n("5")),
    asked("in_one_of_several", "n IN (:a, :b)", True, a="5", b=n("5")),
    asked("exists", "attribute_exists(l[2].k)", True),
    asked("not_exists", "attribute_not_exists(l[3])", True),
    asked("exists_though_null", "attribute_exists(z)", True),
    asked("type_of_a_map", "attribute_type(m, :v)", True, v="M"),
    asked("type_of_null", "attribute_type(z, :v)", True, v="NULL"),
    asked("begins_with_text", "begins_with(t, :v)", True, v="te"),
    asked("begins_with_binary", "begins_with(b, :v)", True, v={"B": "AQI="}),
    asked("begins_with_nothing", "begins_with(t, :v)", True, v=""),
    asked("contains_a_part_of_a_text", "contains(t, :v)", True, v="ex"),
    asked("contains_an_element_of_a_set", "contains(ns, :v)", True, v=n("2.0")),
    asked("contains_an_element_of_a_list", "contains(l, :v)", True, v={"M": {"k": {"S": "deep"}}}),
    asked("contains_a_part_of_binary", "contains(b, :v)", True, v={"B": "AgM="}),
    asked("size_of_a_text", "size(t) = :v", True, v=n("4")),
    asked("size_of_binary", "size(b) = :v", True, v=n("3")),
    asked("size_of_a_set", "size(ss) = :v", True, v=n("2")),
    asked("size_of_a_list", "size(l) > :v", True, v=n("2")),
    asked("size_of_a_map", "size(m) <= :v", True, v=n("1")),
    asked("attributes_compared_with_each_other", "m.k < n", True),
    asked("and_binds_before_or", "n = :no AND n = :no OR n = :yes", True, no=n("1"), yes=n("5")),
    asked("not_binds_before_and", "NOT n = :no AND n = :yes", True, no=n("1"), yes=n("5")),
    asked("parentheses_change_the_order", "NOT (n = :no AND n = :yes)", True, no=n("1"), yes=n("5")),
    asked(
        "keywords_in_small_letters",
        "n between :low and :high or not n in (:low)",
        True,
        low=n("1"),
        high=n("9"),
    ),
    asked("value_on_the_left", ":v = n", True, v=n("5"), evidence=CONFORMANCE),
    asked(
        "missing_attribute_is_different",
        "nothing_here <> :v",
        True,
        v="x",
        evidence=f"{CONFORMANCE}; {DYNALITE}",
    ),
]

FALSE = [
    asked("other_type_is_not_equal", "n = :v", False, v="5"),
    asked("other_type_is_not_less", "n < :v", False, v="9"),
    asked("missing_attribute_is_not_equal", "nothing_here = :v", False, v="x"),
    asked("size_of_what_is_missing", "size(nothing_here) > :v", False, v=n("-1"), evidence=DYNALITE),
    asked("size_of_a_number", "size(n) > :v", False, v=n("-1"), evidence=DYNALITE),
    asked("begins_with_of_a_number", "begins_with(n, :v)", False, v="5"),
    asked("contains_of_a_number", "contains(n, :v)", False, v="5"),
    asked("contains_a_number_in_a_text", "contains(t, :v)", False, v=n("5")),
    asked("contains_another_type_in_a_set", "contains(ns, :v)", False, v="1"),
    asked("another_type", "attribute_type(n, :v)", False, v="S"),
    asked("between_the_wrong_types", "n BETWEEN :low AND :high", False, low="1", high="9"),
    asked("list_in_another_order", "l = :v", False, v={"L": [{"S": "x"}, n("1"), ITEM["l"]["L"][2]]}),
]

_INVALID = "Invalid FilterExpression: "
_TYPE = f"{_INVALID}Incorrect operand type for operator or function; operator or function: "

REFUSED = [
    refused("empty", "", f"{_INVALID}The expression can not be empty;"),
    refused("no_operator", "n", f'{_INVALID}Syntax error; token: "<EOF>", near: "n"'),
    refused("double_equals", "n == :v", f'{_INVALID}Syntax error; token: "=", near: "== :v"', v="x"),
    refused(
        "redundant_parentheses", "((n = :v))", f"{_INVALID}The expression has redundant parentheses;", v="x"
    ),
    refused(
        "reserved_attribute",
        "status = :v",
        f"{_INVALID}Attribute name is a reserved keyword; reserved keyword: status",
        v="x",
    ),
    refused("unknown_function", "upper(t) = :v", f"{_INVALID}Invalid function name; function: upper", v="x"),
    refused(
        "function_with_a_capital",
        "Contains(t, :v)",
        f"{_INVALID}Invalid function name; function: Contains",
        v="x",
    ),
    refused(
        "function_of_updates",
        "if_not_exists(t, :v) = :v",
        f"{_INVALID}The function is not allowed in a condition expression; function: if_not_exists",
        evidence="The words that clients quote from the service; DynamoDB Local 3.3 has them too. dynalite and "
        "dynoxide know no such function",
        v="x",
    ),
    refused(
        "function_that_gives_no_value",
        "contains(t, :v) = :v",
        f"{_INVALID}The function is not allowed to be used this way in an expression; function: contains",
        v="x",
    ),
    refused(
        "function_that_gives_no_truth",
        "size(t)",
        f"{_INVALID}The function is not allowed to be used this way in an expression; function: size",
    ),
    refused(
        "too_many_operands",
        "attribute_exists(t, n)",
        f"{_INVALID}Incorrect number of operands for operator or function; "
        "operator or function: attribute_exists, number of operands: 2",
    ),
    refused(
        "exists_of_a_value",
        "attribute_exists(:v)",
        f"{_INVALID}Operator or function requires a document path; operator or function: attribute_exists",
        v="x",
    ),
    refused("begins_with_a_number", "begins_with(t, :v)", f"{_TYPE}begins_with, operand type: N", v=n("1")),
    refused("comparison_with_a_list", "n < :v", f"{_TYPE}<, operand type: L", v={"L": []}),
    refused("comparison_with_a_truth", "n >= :v", f"{_TYPE}>=, operand type: BOOL", v={"BOOL": True}),
    refused(
        "unknown_type",
        "attribute_type(t, :v)",
        f"{_INVALID}Invalid attribute type name found; type: STRING, "
        "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        v="STRING",
    ),
    refused(
        "type_that_is_no_text",
        "attribute_type(t, :v)",
        f"{_TYPE}attribute_type, operand type: N",
        v=n("1"),
    ),
    refused(
        "between_the_wrong_way_round",
        "n BETWEEN :low AND :high",
        f"{_INVALID}The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:9}, upper bound operand: AttributeValue: {N:1}",
        low=n("9"),
        high=n("1"),
    ),
    refused(
        "between_two_types",
        "n BETWEEN :low AND :high",
        f"{_INVALID}The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {S:1}, upper bound operand: AttributeValue: {N:9}",
        low="1",
        high=n("9"),
    ),
    refused(
        "same_operands",
        "contains(t, t)",
        f"{_INVALID}The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: contains, first operand: [t]",
        evidence=CONFORMANCE,
    ),
    refused(
        "undefined_name",
        "#n = :v",
        f"{_INVALID}An expression attribute name used in the document path is not defined; attribute name: #n",
        v="x",
    ),
    refused(
        "undefined_value",
        "n = :v",
        f"{_INVALID}An expression attribute value used in expression is not defined; attribute value: :v",
    ),
    refused(
        "unused_name",
        "n = :v",
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
        names={"#a": "a"},
        v="x",
    ),
    refused(
        "unused_values",
        "n = :v",
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}",
        v="x",
        w="y",
    ),
    refused(
        "no_names_at_all",
        "n = :v",
        "ExpressionAttributeNames must not be empty",
        names={},
        v="x",
    ),
]

VECTORS = [*TRUE, *FALSE, *REFUSED]
