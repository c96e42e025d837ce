"""UpdateItem with AttributeUpdates, from before there were update expressions."""

from __future__ import annotations

from typing import Any

from golden.vectors.legacy_conditions import DYNALITE, KEY, SCYLLADB
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE
from golden.vectors.vector import Vector, Wire, then, validation

GUIDE = "AWS API reference, AttributeValueUpdate"
CONFORMANCE = "Public DynamoDB conformance suite, legacy-api/attributeUpdates"
ONE = "1 validation error detected: "
INVALID = "One or more parameter values were invalid: "

_ITEM: Wire = {
    **KEY,
    "n": {"N": "10"},
    "s": {"S": "cat"},
    "ss": {"SS": ["cat", "dog"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
    "l": {"L": [{"N": "1"}]},
}


def put(value: Wire) -> Wire:
    return {"Action": "PUT", "Value": value}


def add(value: Wire) -> Wire:
    return {"Action": "ADD", "Value": value}


def delete(value: Wire | None = None) -> Wire:
    return {"Action": "DELETE"} if value is None else {"Action": "DELETE", "Value": value}


def _update(name: str, updates: Wire, becomes: Wire, evidence: str) -> Vector:
    """Return the update of an item with attributes of many types; None is an attribute that is gone."""
    item = {key: value for key, value in {**_ITEM, **becomes}.items() if value is not None}
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [_ITEM]},
        request={"TableName": "Hash", "Key": KEY, "AttributeUpdates": updates, "ReturnValues": "ALL_NEW"},
        answer={"Attributes": item},
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY, "ConsistentRead": True}, {"Item": item})],
        evidence=evidence,
    )


ACTIONS = [
    _update("put_replaces_an_attribute_of_another_type", {"n": put({"S": "x"})}, {"n": {"S": "x"}}, GUIDE),
    _update("put_makes_an_attribute", {"z": put({"M": {}})}, {"z": {"M": {}}}, GUIDE),
    _update("action_is_put_when_none_is_named", {"z": {"Value": {"N": "1"}}}, {"z": {"N": "1"}}, CONFORMANCE),
    _update("put_stores_an_empty_text", {"z": put({"S": ""})}, {"z": {"S": ""}}, SCYLLADB),
    _update("add_increments_a_number", {"n": add({"N": "5"})}, {"n": {"N": "15"}}, CONFORMANCE),
    _update("add_of_a_negative_number_decrements", {"n": add({"N": "-3.5"})}, {"n": {"N": "6.5"}}, SCYLLADB),
    _update("add_to_a_missing_number_begins_at_zero", {"z": add({"N": "3"})}, {"z": {"N": "3"}}, GUIDE),
    _update(
        "add_joins_sets_of_text",
        {"ss": add({"SS": ["dog", "fox"]})},
        {"ss": {"SS": ["cat", "dog", "fox"]}},
        CONFORMANCE,
    ),
    _update(
        "add_joins_sets_of_numbers",
        {"ns": add({"NS": ["2", "3"]})},
        {"ns": {"NS": ["1", "2", "3"]}},
        SCYLLADB,
    ),
    _update(
        "add_joins_sets_of_binaries",
        {"bs": add({"BS": ["Aw=="]})},
        {"bs": {"BS": ["AQ==", "Ag==", "Aw=="]}},
        GUIDE,
    ),
    _update("add_to_a_missing_set_makes_it", {"z": add({"SS": ["a"]})}, {"z": {"SS": ["a"]}}, SCYLLADB),
    _update(
        "add_appends_to_a_list",
        {"l": add({"L": [{"S": "x"}, {"N": "1"}]})},
        {"l": {"L": [{"N": "1"}, {"S": "x"}, {"N": "1"}]}},
        f"{SCYLLADB}: ADD operation on lists (not documented, but works similar to sets!)",
    ),
    _update("add_of_an_empty_list_changes_nothing", {"l": add({"L": []})}, {}, "DynamoDB Local 3.3"),
    _update(
        "add_to_a_missing_list_makes_it",
        {"z": add({"L": [{"N": "7"}]})},
        {"z": {"L": [{"N": "7"}]}},
        SCYLLADB,
    ),
    _update("delete_removes_an_attribute", {"s": delete()}, {"s": None}, GUIDE),
    _update("delete_of_a_missing_attribute_does_nothing", {"z": delete()}, {}, GUIDE),
    _update(
        "delete_takes_members_from_a_set",
        {"ss": delete({"SS": ["dog", "fox"]})},
        {"ss": {"SS": ["cat"]}},
        SCYLLADB,
    ),
    _update(
        "delete_of_the_last_members_removes_the_set",
        {"ns": delete({"NS": ["1", "2"]})},
        {"ns": None},
        SCYLLADB,
    ),
    _update(
        "delete_of_members_that_are_not_there_does_nothing", {"bs": delete({"BS": ["/w=="]})}, {}, SCYLLADB
    ),
    _update("delete_from_a_missing_set_does_nothing", {"z": delete({"SS": ["a"]})}, {}, SCYLLADB),
    _update(
        "several_attributes_are_updated_at_once",
        {"n": add({"N": "1"}), "s": delete(), "z": put({"BOOL": True})},
        {"n": {"N": "11"}, "s": None, "z": {"BOOL": True}},
        CONFORMANCE,
    ),
    _update(
        "name_with_a_dot_is_one_name",
        {"l.a": put({"N": "1"})},
        {"l.a": {"N": "1"}},
        f"{GUIDE}: top-level attributes",
    ),
]


def _new(name: str, updates: Wire | None, becomes: Wire | None, evidence: str) -> Vector:
    """Return the update of an item that is not there; None is one that is not there afterwards either."""
    request: Wire = {"TableName": "Hash", "Key": KEY, "ReturnValues": "ALL_NEW"}
    if updates is not None:
        request["AttributeUpdates"] = updates
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        request=request,
        answer={} if becomes is None else {"Attributes": becomes},
        after=[
            then(
                "GetItem",
                {"TableName": "Hash", "Key": KEY, "ConsistentRead": True},
                {} if becomes is None else {"Item": becomes},
            )
        ],
        evidence=evidence,
    )


MISSING_ITEMS = [
    _new("put_makes_the_item", {"x": put({"N": "3"})}, {**KEY, "x": {"N": "3"}}, SCYLLADB),
    _new("add_makes_the_item", {"x": add({"SS": ["a", "b"]})}, {**KEY, "x": {"SS": ["a", "b"]}}, SCYLLADB),
    _new("no_updates_make_the_item", {}, KEY, f"{SCYLLADB} (test_update_item_non_existent)"),
    _new(
        "delete_alone_does_not_make_the_item",
        {"x": delete()},
        None,
        f"{SCYLLADB} (test_update_item_non_existent)",
    ),
    _new("delete_from_a_set_does_not_make_the_item", {"x": delete({"NS": ["4"]})}, None, SCYLLADB),
]


def _returned(name: str, wanted: str, updates: Wire, attributes: Wire | None) -> Vector:
    return Vector(
        name,
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [_ITEM]},
        request={"TableName": "Hash", "Key": KEY, "AttributeUpdates": updates, "ReturnValues": wanted},
        answer={} if attributes is None else {"Attributes": attributes},
        evidence="AWS API reference, UpdateItem: UPDATED_OLD and UPDATED_NEW return only the updated attributes",
    )


_CHANGES = {"n": add({"N": "1"}), "s": delete(), "z": put({"N": "1"})}

RETURNED = [
    _returned(
        "updated_old_returns_what_was_there_of_the_updated",
        "UPDATED_OLD",
        _CHANGES,
        {"n": {"N": "10"}, "s": {"S": "cat"}},
    ),
    _returned(
        "updated_new_returns_what_is_there_of_the_updated",
        "UPDATED_NEW",
        _CHANGES,
        {"n": {"N": "11"}, "z": {"N": "1"}},
    ),
    _returned("updated_new_returns_nothing_after_a_removal", "UPDATED_NEW", {"s": delete()}, None),
    _returned(
        "updated_old_returns_nothing_of_what_was_not_there", "UPDATED_OLD", {"z": put({"N": "1"})}, None
    ),
    _returned("all_old_returns_the_item_before", "ALL_OLD", _CHANGES, _ITEM),
]


def _refused(name: str, updates: Wire, message: str, evidence: str, **more: Any) -> Vector:
    """Return an update that is refused whatever is stored."""
    return Vector(
        f"{name}_is_refused",
        operation="UpdateItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "AttributeUpdates": updates, **more},
        error=validation(f"{ONE}{message}"),
        evidence=f"{evidence}; in the envelope of the service's validation in October 2026",
    )


_NO_VALUE = f"{INVALID}Only DELETE action is allowed when no attribute value is specified"


_UNADDABLE: list[Wire] = [{"S": "1"}, {"B": "Yg=="}, {"NULL": True}, {"BOOL": True}, {"M": {}}]
_UNDELETABLE: list[Wire] = [*_UNADDABLE, {"N": "1"}, {"L": []}]


def _undeletable(value: Wire) -> Vector:
    tag = next(iter(value))
    message = f"{INVALID}DELETE action with value is not supported for the type {tag}"
    return _refused(
        f"delete_of_{tag.lower()}", {"a": delete(value)}, message, f"{DYNALITE} (test/updateItem.js)"
    )


def _unaddable(value: Wire) -> Vector:
    tag = next(iter(value))
    message = f"{INVALID}ADD action is not supported for the type {tag}"
    return _refused(f"add_of_{tag.lower()}", {"a": add(value)}, message, f"{DYNALITE} (test/updateItem.js)")


REFUSED = [
    Vector(
        "update_is_looked_at_before_the_table",
        operation="UpdateItem",
        request={"TableName": "Missing", "Key": KEY, "AttributeUpdates": {"a": {}}},
        error=validation(f"{ONE}{_NO_VALUE}"),
        evidence=f"{DYNALITE} (test/updateItem.js)",
    ),
    _refused("put_without_a_value", {"a": {"Action": "PUT"}}, _NO_VALUE, DYNALITE),
    _refused("add_without_a_value", {"a": {"Action": "ADD"}}, _NO_VALUE, DYNALITE),
    _refused("update_of_nothing", {"a": {}}, _NO_VALUE, DYNALITE),
    _refused("update_is_looked_at_before_expected", {"a": {}}, _NO_VALUE, DYNALITE, Expected={"a": {}}),
    *(_undeletable(value) for value in _UNDELETABLE),
    *(_unaddable(value) for value in _UNADDABLE),
    _refused(
        "put_of_an_empty_set", {"a": put({"SS": []})}, f"{INVALID}An string set  may not be empty", SCYLLADB
    ),
    _refused(
        "delete_of_an_empty_set",
        {"a": delete({"NS": []})},
        f"{INVALID}An number set  may not be empty",
        SCYLLADB,
    ),
    _refused("update_of_an_empty_name", {"": put({"S": "b"})}, "Empty attribute name", "DynamoDB Local 3.3"),
    Vector(
        "update_with_an_unknown_action_is_refused",
        operation="UpdateItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "AttributeUpdates": {"a": {"Action": "put", "Value": {"N": "1"}}},
        },
        error=validation(f"{ONE}Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action"),
        evidence="Answer of the service in eu-west-2 and us-east-1, 2026-10-10, recorded in dynoxide 3.2 "
        "(tests/legacy_attribute_update_actions.rs), the stray quote included",
    ),
    Vector(
        "update_with_an_action_without_a_name_is_refused",
        operation="UpdateItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "AttributeUpdates": {"a": {"Action": "", "Value": {"N": "1"}}},
        },
        error=validation(f"{ONE}Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action"),
        evidence="As for any other name that no action has; DynamoDB Local and dynoxide 3.2 refuse it too",
    ),
]


def _mismatch(name: str, updates: Wire) -> Vector:
    return Vector(
        f"{name}_is_refused",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [_ITEM]},
        request={"TableName": "Hash", "Key": KEY, "AttributeUpdates": updates},
        error=validation("Type mismatch for attribute to update"),
        after=[then("GetItem", {"TableName": "Hash", "Key": KEY, "ConsistentRead": True}, {"Item": _ITEM})],
        evidence=f"{DYNALITE} (test/updateItem.js); {SCYLLADB}",
    )


def _of_table(name: str, table: Wire, key: Wire, updates: Wire, message: str, evidence: str) -> Vector:
    return Vector(
        f"{name}_is_refused",
        operation="UpdateItem",
        tables=[table],
        request={"TableName": table["TableName"], "Key": key, "AttributeUpdates": updates},
        error=validation(message),
        evidence=evidence,
    )


_KEY_PART = "This attribute is part of the key"
_RANGE_KEY = {**KEY, "s": {"S": "b"}}

REFUSED_BY_WHAT_IS_STORED = [
    _mismatch("add_of_a_number_to_text", {"s": add({"N": "1"})}),
    _mismatch("add_of_a_number_to_a_set", {"ns": add({"N": "1"})}),
    _mismatch("add_of_a_set_to_a_set_of_another_type", {"ns": add({"SS": ["1"]})}),
    _mismatch("add_of_a_list_to_a_number", {"n": add({"L": [{"N": "1"}]})}),
    _mismatch("add_of_a_set_to_a_list", {"l": add({"NS": ["1"]})}),
    _mismatch("delete_of_members_from_a_set_of_another_type", {"ss": delete({"NS": ["1"]})}),
    _mismatch("delete_of_members_from_a_number", {"n": delete({"NS": ["1"]})}),
    Vector(
        "add_beyond_the_largest_number_is_refused",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [{**KEY, "n": {"N": "9.9E+125"}}]},
        request={"TableName": "Hash", "Key": KEY, "AttributeUpdates": {"n": add({"N": "9.9E+125"})}},
        error=validation(
            "Number overflow. Attempting to store a number with magnitude larger than supported range"
        ),
        evidence="DynamoDB Local 3.3",
    ),
    _of_table(
        "put_of_the_partition_key",
        HASH,
        KEY,
        {"p": put({"S": "b"})},
        f"{INVALID}Cannot update attribute p. {_KEY_PART}",
        f"{DYNALITE} (test/updateItem.js)",
    ),
    _of_table(
        "delete_of_the_sort_key",
        HASH_RANGE,
        _RANGE_KEY,
        {"s": delete()},
        f"{INVALID}Cannot update attribute s. {_KEY_PART}",
        f"{DYNALITE} (test/updateItem.js)",
    ),
    _of_table(
        "put_of_an_index_key_of_another_type",
        GLOBAL,
        _RANGE_KEY,
        {"gp": put({"N": "1"})},
        f"{INVALID}Type mismatch for Index Key gp Expected: S Actual: N IndexName: All",
        f"{DYNALITE} (test/updateItem.js)",
    ),
]

VECTORS = [*ACTIONS, *MISSING_ITEMS, *RETURNED, *REFUSED, *REFUSED_BY_WHAT_IS_STORED]
