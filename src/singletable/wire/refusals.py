"""Refuse a request as AWS does: in its order, operation by operation, and in its words.

The slow way, taken when constraints.py could not accept a request at a glance. Everything that one operation
does in its own way is data here. The captures named are those of live_shapes.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from singletable.errors import ValidationError
from singletable.values.json_types import check_value
from singletable.wire.live_shapes import live_shape
from singletable.wire.member_types import (
    has_cut_number,
    plain_members,
    require_known_members,
    require_types,
    shortened,
)
from singletable.wire.shapes import INPUTS
from singletable.wire.violations import constraint_violations, has_more_values, table_name_violations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from singletable.wire.violations import Violation

VIOLATIONS_MAX: Final = 10  # AWS lists no more (dynalite)
# A request with more values is refused for the first thing that is found: looking through 16 MB takes seconds. An
# item of 400 KB can have up to 100,000 of them.
LOOKED_AT_VALUES_MAX: Final = 200_000

# --- what the operations do each in their own way ------------------------------------------------------

# A missing one is refused before all else. TableName: CreateTable (parity), DeleteTable, DescribeTable,
# UpdateTable, DescribeTimeToLive (dynalite); UpdateTimeToLive is taken to do as its sister. ResourceArn by
# dynalite.
_NO_TABLE_NAME: Final = (
    "TableName",
    "The parameter 'TableName' is required but was not present in the request",
)
_NO_RESOURCE: Final = ("ResourceArn", "Invalid TableArn")
REQUIRED_FIRST: Final = {
    "CreateTable": _NO_TABLE_NAME,
    "DeleteTable": _NO_TABLE_NAME,
    "DescribeTable": _NO_TABLE_NAME,
    "DescribeTimeToLive": _NO_TABLE_NAME,
    "ListTagsOfResource": _NO_RESOURCE,
    "TagResource": _NO_RESOURCE,
    "UntagResource": _NO_RESOURCE,
    "UpdateTable": _NO_TABLE_NAME,
    "UpdateTimeToLive": _NO_TABLE_NAME,
}

# The control plane looks at the table's name first and tells its errors alone (parity: CreateTable). ack:
# DescribeTable '' -> "2 validation errors detected: … length greater than or equal to 3; … pattern …".
TABLE_NAME_FIRST: Final = frozenset(
    (
        *("CreateTable", "DeleteTable", "DescribeTable", "UpdateTable"),
        *("DescribeContinuousBackups", "DescribeTimeToLive", "UpdateTimeToLive"),
    )
)
# The older validator of the data plane looks at it last: BatchWriteItem with "bad!name" and an unknown enum
# value tells the enum alone (parity).

# In 2026 AWS moved some operations to a validator that goes in steps, each of which tells what is wrong in it
# and ends the matter. First these members, in this order; it names a member as the API does and echoes no value:
# "2 validation errors detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater
# than or equal to 1; Value at 'TableName' failed to satisfy constraint: Member must have length greater than or
# equal to 1" (Query, Scan), "Value at 'RequestItems.t.member.Keys' …" (BatchGetItem). Then the first thing that
# is wrong with the table's name and the other members, in the older words: "2 validation errors detected: Value
# 'ab' at 'tableName' …; Value 'BOGUS' at 'returnConsumedCapacity' …". Then what CHECKED_LATER says. BatchWriteItem
# and the transactions have not moved in most regions (parity, and dynoxide: Scan in 20 of 33).
#
# Where a required member is missing, or a number had to be cut to 32 bits, the older validator still speaks, of
# all at once: UpdateItem with TableName '' and no Key -> "2 validation errors detected: Value '' at 'tableName'
# …; Value null at 'key' …"; Scan with Limit 0.5 -> "Value '0' at 'limit' …".
NEWER_FIRST: Final[dict[str, tuple[str, ...]]] = {
    "BatchGetItem": ("RequestItems",),
    "DeleteItem": ("TableName",),
    "GetItem": ("TableName",),
    "PutItem": ("TableName",),
    "Query": ("Limit", "TableName"),
    "Scan": ("Limit", "Segment", "TotalSegments", "TableName"),
    "UpdateItem": ("TableName",),
}

# Enums that the newer validator looks at when it comes to what they are about, in words of their own: Select in
# pages.py; the others in legacy.py (dynoxide, parity).
CHECKED_LATER: Final = frozenset(("AttributeAction", "ComparisonOperator", "ConditionalOperator", "Select"))

# That validator names no member for this one, and prints a set of its own (parity; the slip is AWS's).
NAMELESS: Final = {"ReturnValue": "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"}

# UpdateItem tells one error at a time: all that is wrong with the table's name, pattern first; then the first of
# these, two of them without a count (dynoxide, the same in most of seven regions).
ONE_AT_A_TIME: Final[dict[str, tuple[str, ...]]] = {
    "UpdateItem": (
        *("ReturnValues", "ReturnValuesOnConditionCheckFailure", "ReturnItemCollectionMetrics"),
        "ReturnConsumedCapacity",
    ),
}
UNCOUNTED: Final = frozenset(
    (
        ("UpdateItem", "ReturnValuesOnConditionCheckFailure"),
        ("UpdateItem", "ReturnConsumedCapacity"),
    )
)

# What DeleteItem knows but never does, it tells beside what else is wrong with its members: "2 validation errors
# detected: Value 'BOGUS' at 'returnConsumedCapacity' …; ReturnValues can only be ALL_OLD or NONE" (dynoxide).
NEVER_RETURNED: Final = frozenset(("ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"))
ONLY_OLD: Final = "ReturnValues can only be ALL_OLD or NONE"

# The newer validator echoes a map as JSON (parity: BatchGetItem with "bad!name").
ECHOED_AS_JSON: Final = frozenset(("BatchGetItem",))


# --- refusing ------------------------------------------------------------------------------------------


def refuse(operation: str, params: Mapping[str, Any], *, native: bool) -> Mapping[str, Any]:
    """Raise what AWS answers to these parameters; return them, in plain types, if nothing is wrong with them."""
    shape = live_shape(INPUTS[operation])
    if native:
        require_known_members(shape, params)
        require_types(shape, params)
        params = plain_members(shape, params)
    else:
        # What the wire brings may be wrong in a million places.
        whole, params = params, shortened(shape, params)
        require_types(shape, params)
    required, sentence = REQUIRED_FIRST.get(operation, (None, ""))
    if required is not None and params.get(required) is None:
        raise ValidationError(sentence)
    violations = list(constraint_violations(shape, params))
    names = list(table_name_violations(shape, params))
    if operation == "TransactWriteItems" and not all(map(_has_one_action, params.get("TransactItems") or ())):
        names = []  # transactions.py refuses the item, before AWS looks at the names of tables (dynoxide)
    message = _message(operation, params, violations, names, cut=has_cut_number(shape, params))
    if message is not None:
        raise ValidationError(message)
    _refuse_in_own_words(operation, params)
    return params if native else whole


def refuse_types(operation: str, params: Mapping[str, Any], *, native: bool) -> None:
    """Raise SerializationError if anything in the parameters has a wrong JSON type, values included."""
    if has_more_values(params, LOOKED_AT_VALUES_MAX):
        return  # they are refused anyway, for what was found first
    require_types(live_shape(INPUTS[operation]), params, lambda value: check_value(value, native=native))


def _message(
    operation: str,
    params: Mapping[str, Any],
    violations: list[Violation],
    names: list[Violation],
    *,
    cut: bool,
) -> str | None:
    is_newer = operation in NEWER_FIRST and not cut and all(one.kind != "null" for one in violations)
    if is_newer:
        return _newer_message(operation, params, violations, names)
    if names and (operation in TABLE_NAME_FIRST or not violations):
        violations = names
    return _counted([violation.older_text(as_json=False) for violation in violations])


def _newer_message(
    operation: str, params: Mapping[str, Any], violations: list[Violation], names: list[Violation]
) -> str | None:
    first = [text for member in NEWER_FIRST[operation] for text in _newer_texts(violations, member)]
    if first:
        return _counted(first)
    violations = [violation for violation in violations if violation.shape.name not in CHECKED_LATER]
    order = ONE_AT_A_TIME.get(operation)
    if order is None:
        texts = [_text(operation, violation) for violation in names[:1] + violations]
        if texts and operation == "DeleteItem" and params.get("ReturnValues") in NEVER_RETURNED:
            texts.append(ONLY_OLD)
        return _counted(texts)
    if names:
        return _counted([_text(operation, violation) for violation in reversed(names)])
    for member in order:
        for violation in violations:
            if violation.place.top == member:
                text = _text(operation, violation)
                return text if (operation, member) in UNCOUNTED else _counted([text])
    return _counted([_text(operation, violation) for violation in violations])


def _newer_texts(violations: Sequence[Violation], member: str) -> list[str]:
    """Return what is said of a member: one thing."""
    for violation in violations:
        if violation.place.top == member and violation.kind in ("length", "value"):
            return [violation.newer_text()]
    return []


def _text(operation: str, violation: Violation) -> str:
    allowed = NAMELESS.get(violation.shape.name)
    if allowed is not None:
        return f"Failed to satisfy constraint: Member must satisfy enum value set: {allowed}"
    return violation.older_text(as_json=operation in ECHOED_AS_JSON)


def _counted(texts: list[str]) -> str | None:
    """Return the texts as one message, or None where there is nothing to tell."""
    if not texts:
        return None
    texts = texts[:VIOLATIONS_MAX]
    return f"{len(texts)} validation error{'' if len(texts) == 1 else 's'} detected: {'; '.join(texts)}"


# --- sentences written by hand ----------------------------------------------------------------------------


def _has_one_action(item: Mapping[str, Any] | None) -> bool:
    actions = live_shape("TransactWriteItem").members
    # A null among the actions breaks a constraint, and is told as one.
    return item is None or sum(item.get(action) is not None for action in actions) == 1


def _refuse_in_own_words(operation: str, params: Mapping[str, Any]) -> None:
    if operation == "BatchWriteItem" and not params["RequestItems"]:
        # Most regions in October 2026; for BatchGetItem nearly all have the newer wording (parity).
        raise ValidationError("The requestItems parameter is required for BatchWriteItem")
