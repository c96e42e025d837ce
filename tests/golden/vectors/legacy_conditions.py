"""What Expected and ScanFilter mean: conditions from before there were expressions."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import unordered
from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, Wire, then

DYNALITE = "Answer of the service, recorded in dynalite's tests"
SCYLLADB = "ScyllaDB's test/alternator, run against the service"
GUIDE = "AWS API reference, Condition"

FAILED = Refusal("ConditionalCheckFailedException", "The conditional request failed")

KEY: Wire = {"p": {"S": "a"}}


def condition(operator: str, *values: Wire) -> Wire:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


# --- what the operators mean -------------------------------------------------------------------

# One item for each type, called by it, and one without the attribute.
STORED: list[Wire] = [
    {"p": {"S": "text"}, "x": {"S": "cat"}},
    {"p": {"S": "number"}, "x": {"N": "5"}},
    {"p": {"S": "binary"}, "x": {"B": "Y2F0"}},
    {"p": {"S": "truth"}, "x": {"BOOL": True}},
    {"p": {"S": "null"}, "x": {"NULL": True}},
    {"p": {"S": "texts"}, "x": {"SS": ["cat", "dog"]}},
    {"p": {"S": "numbers"}, "x": {"NS": ["5", "7"]}},
    {"p": {"S": "binaries"}, "x": {"BS": ["Y2F0", "ZG9n"]}},
    {"p": {"S": "list"}, "x": {"L": [{"S": "cat"}, {"N": "5"}, {"BOOL": True}, {"NULL": True}]}},
    {"p": {"S": "map"}, "x": {"M": {"a": {"S": "cat"}}}},
    {"p": {"S": "nothing"}},
]
_ALL = [item["p"]["S"] for item in STORED]


def _but(*names: str) -> list[str]:
    return [name for name in _ALL if name not in names]


MEANINGS: list[tuple[str, str, list[Wire], list[str], str]] = [
    ("text_equals", "EQ", [{"S": "cat"}], ["text"], GUIDE),
    ("number_equals_whatever_its_zeros", "EQ", [{"N": "5.0"}], ["number"], GUIDE),
    (
        "number_does_not_equal_text",
        "EQ",
        [{"S": "5"}],
        [],
        f'{GUIDE}: {{"S":"6"}} does not equal {{"N":"6"}}',
    ),
    ("truth_equals", "EQ", [{"BOOL": True}], ["truth"], "Public conformance suite, legacy-api/queryFilter"),
    ("null_equals", "EQ", [{"NULL": True}], ["null"], GUIDE),
    ("set_equals_in_any_order", "EQ", [{"SS": ["dog", "cat"]}], ["texts"], SCYLLADB),
    (
        "map_equals",
        "EQ",
        [{"M": {"a": {"S": "cat"}}}],
        ["map"],
        f"{GUIDE}: EQ is supported for all data types",
    ),
    ("list_differs_from_a_part_of_it", "EQ", [{"L": [{"S": "cat"}]}], [], GUIDE),
    ("not_equal_holds_for_other_types_and_for_nothing", "NE", [{"S": "cat"}], _but("text"), SCYLLADB),
    ("less_compares_numbers_by_value", "LT", [{"N": "10"}], ["number"], GUIDE),
    ("less_is_strict", "LT", [{"N": "5"}], [], GUIDE),
    ("less_or_equal_holds_at_the_limit", "LE", [{"N": "5"}], ["number"], GUIDE),
    ("greater_compares_text_by_bytes", "GT", [{"S": "Zebra"}], ["text"], GUIDE),
    ("greater_or_equal_compares_binary_by_bytes", "GE", [{"B": "Y2F0"}], ["binary"], GUIDE),
    ("not_null_asks_whether_the_attribute_is_there", "NOT_NULL", [], _but("nothing"), GUIDE),
    ("null_asks_whether_the_attribute_is_missing", "NULL", [], ["nothing"], GUIDE),
    ("contains_finds_parts_and_members", "CONTAINS", [{"S": "cat"}], ["text", "texts", "list"], SCYLLADB),
    ("contains_finds_a_number_in_sets_and_lists", "CONTAINS", [{"N": "5"}], ["numbers", "list"], SCYLLADB),
    ("contains_finds_binary", "CONTAINS", [{"B": "Y2F0"}], ["binary", "binaries"], SCYLLADB),
    ("contains_takes_truth_for_lists", "CONTAINS", [{"BOOL": True}], ["list"], f"{DYNALITE} (test/scan.js)"),
    ("contains_takes_null_for_lists", "CONTAINS", [{"NULL": True}], ["list"], f"{DYNALITE} (test/scan.js)"),
    (
        "contains_not_is_true_of_other_types_but_not_of_nothing",
        "NOT_CONTAINS",
        [{"S": "cat"}],
        _but("text", "texts", "list", "nothing"),
        f"{SCYLLADB}: if an attribute does not exist at all, NOT_CONTAINS fails",
    ),
    ("begins_with_text", "BEGINS_WITH", [{"S": "ca"}], ["text"], GUIDE),
    ("begins_with_binary", "BEGINS_WITH", [{"B": "Y2E="}], ["binary"], GUIDE),
    ("in_finds_one_of_its_values", "IN", [{"N": "4"}, {"N": "5"}], ["number"], GUIDE),
    ("in_does_not_look_into_sets", "IN", [{"S": "dog"}], [], SCYLLADB),
    ("between_holds_at_both_ends", "BETWEEN", [{"N": "5"}, {"N": "5"}], ["number"], GUIDE),
    ("between_compares_nothing_of_another_type", "BETWEEN", [{"S": "0"}, {"S": "9"}], [], GUIDE),
]


def _meaning(name: str, operator: str, values: list[Wire], found: list[str], evidence: str) -> Vector:
    return Vector(
        f"filter_{name}",
        operation="Scan",
        tables=[HASH],
        given={"Hash": STORED},
        request={
            "TableName": "Hash",
            "ScanFilter": {"x": condition(operator, *values)},
            "AttributesToGet": ["p"],
        },
        answer={
            "Items": unordered([{"p": {"S": one}} for one in found]),
            "Count": len(found),
            "ScannedCount": len(STORED),
        },
        evidence=evidence,
    )


# --- Expected ------------------------------------------------------------------------------------


def _expected(name: str, expected: Wire, holds: bool, evidence: str, **more: Any) -> Vector:
    item = {**KEY, "x": {"N": "1"}, "y": {"S": "cat"}}
    left: Wire = {} if holds else {"Item": item}
    return Vector(
        f"expected_{name}",
        operation="DeleteItem",
        tables=[HASH],
        given={"Hash": [item]},
        request={"TableName": "Hash", "Key": KEY, "Expected": expected, **more},
        answer={} if holds else None,
        error=None if holds else FAILED,
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY, "ConsistentRead": True}, left)],
        evidence=evidence,
    )


_X, _Y = {"Value": {"N": "1"}}, {"Value": {"S": "cat"}}
_OTHER_X, _OTHER_Y = {"Value": {"N": "2"}}, {"Value": {"S": "dog"}}

EXPECTATIONS = [
    _expected("value_that_is_there", {"x": _X}, True, SCYLLADB),
    _expected("value_that_is_another", {"x": _OTHER_X}, False, SCYLLADB),
    _expected("value_of_a_missing_attribute", {"z": _X}, False, SCYLLADB),
    _expected("value_that_exists", {"x": {"Exists": True, **_X}}, True, SCYLLADB),
    _expected("attribute_that_must_not_exist_and_does_not", {"z": {"Exists": False}}, True, SCYLLADB),
    _expected("attribute_that_must_not_exist_but_does", {"x": {"Exists": False}}, False, SCYLLADB),
    _expected(
        "comparison_with_a_single_value", {"x": {"ComparisonOperator": "LT", **_OTHER_X}}, True, DYNALITE
    ),
    _expected("comparison_with_a_list", {"y": condition("BEGINS_WITH", {"S": "c"})}, True, SCYLLADB),
    _expected("comparison_with_another_type", {"x": condition("LE", {"S": "1"})}, False, SCYLLADB),
    _expected("not_equal_of_a_missing_attribute", {"z": condition("NE", {"N": "1"})}, True, SCYLLADB),
    _expected(
        "contains_not_of_a_missing_attribute", {"z": condition("NOT_CONTAINS", {"N": "1"})}, False, SCYLLADB
    ),
    _expected("null_without_a_list", {"z": {"ComparisonOperator": "NULL"}}, True, DYNALITE),
    _expected("conditions_all_of_which_hold", {"x": _X, "y": _Y}, True, SCYLLADB),
    _expected("conditions_one_of_which_fails", {"x": _X, "y": _OTHER_Y}, False, SCYLLADB),
    _expected(
        "and_of_conditions_one_of_which_fails",
        {"x": _X, "y": _OTHER_Y},
        False,
        SCYLLADB,
        ConditionalOperator="AND",
    ),
    _expected(
        "or_of_conditions_one_of_which_holds",
        {"x": _OTHER_X, "y": _Y},
        True,
        SCYLLADB,
        ConditionalOperator="OR",
    ),
    _expected(
        "or_of_conditions_none_of_which_holds",
        {"x": _OTHER_X, "y": _OTHER_Y},
        False,
        SCYLLADB,
        ConditionalOperator="OR",
    ),
    _expected(
        "no_conditions_at_all",
        {},
        True,
        f"{SCYLLADB}: an empty Expected array results in a successful update",
    ),
]

WRITES = [
    Vector(
        "put_where_nothing_may_exist_keeps_what_does",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [KEY]},
        request={"TableName": "Hash", "Item": {**KEY, "x": {"N": "1"}}, "Expected": {"p": {"Exists": False}}},
        error=FAILED,
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": KEY})],
        evidence="Public conformance suite, legacy-api/expected: PutItem with Expected Exists:false fails",
    ),
    Vector(
        "put_with_what_is_expected_replaces_the_item",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [{**KEY, "x": {"N": "1"}}]},
        request={
            "TableName": "Hash",
            "Item": {**KEY, "x": {"N": "2"}},
            "Expected": {"x": {"Value": {"N": "1"}}},
            "ReturnValues": "ALL_OLD",
        },
        answer={"Attributes": {**KEY, "x": {"N": "1"}}},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": {**KEY, "x": {"N": "2"}}})],
        evidence=SCYLLADB,
    ),
    Vector(
        "put_with_a_failed_expectation_returns_the_item_when_asked",
        operation="PutItem",
        tables=[HASH],
        given={"Hash": [KEY]},
        request={
            "TableName": "Hash",
            "Item": KEY,
            "Expected": {"p": {"Exists": False}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed", Item=KEY),
        evidence="AWS API reference, PutItem: ReturnValuesOnConditionCheckFailure returns the item attributes",
    ),
    Vector(
        "update_with_a_failed_expectation_changes_nothing",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [{**KEY, "x": {"N": "1"}}]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "AttributeUpdates": {"x": {"Action": "ADD", "Value": {"N": "1"}}},
            "Expected": {"x": {"Value": {"N": "2"}}},
        },
        error=FAILED,
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": {**KEY, "x": {"N": "1"}}})],
        evidence=SCYLLADB,
    ),
]

VECTORS = [*(_meaning(*case) for case in MEANINGS), *EXPECTATIONS, *WRITES]
