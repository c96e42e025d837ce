"""Refuse a request as AWS does: in its order, operation by operation, and in its words.

The slow way, taken when constraints.py could not accept a request at a glance. Everything that one operation
does in its own way is data here. The captures named are those of live_shapes.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from singletable.errors import ValidationError
from singletable.wire.live_shapes import live_shape
from singletable.wire.member_types import require_known_members, require_types
from singletable.wire.shapes import INPUTS
from singletable.wire.violations import constraint_violations, table_name_violations, utf16_units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from singletable.wire.violations import Violation

VIOLATIONS_MAX: Final = 10  # AWS lists no more (dynalite)
TAG_KEY_LENGTH_MAX: Final = 128
TAG_VALUE_LENGTH_MAX: Final = 256

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
# The data plane looks at it last: BatchWriteItem with "bad!name" and an unknown enum value tells the enum
# alone; but BatchGetItem tells both, the name first (parity).
TABLE_NAME_TOGETHER: Final = frozenset(("BatchGetItem",))

# In 2026 AWS moved some operations to a validator that names a member as the API does, echoes no value and
# stops there: "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must
# have length greater than or equal to 1" (parity: PutItem, UpdateItem, DeleteItem), "Value at 'Limit' …"
# (Query), "Value at 'RequestItems.t.member.Keys' …" (BatchGetItem). GetItem is taken to do as PutItem. Where
# a required member is missing the older one still speaks: UpdateItem with TableName '' and no Key -> "2
# validation errors detected: Value '' at 'tableName' …; Value null at 'key' …". Scan, BatchWriteItem and the
# transactions have not moved in most regions.
STOPS_AT: Final[dict[str, tuple[str, ...]]] = {
    "BatchGetItem": ("RequestItems",),
    "DeleteItem": ("TableName",),
    "GetItem": ("TableName",),
    "PutItem": ("TableName",),
    "Query": ("TableName", "Limit"),
    "UpdateItem": ("TableName",),
}

# That validator names no member for these two, and prints sets of its own (parity; the slips are AWS's).
_RETURN_VALUES: Final = "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
_CONDITIONAL_OPERATORS: Final = "[ALL, OR]"
NAMELESS: Final[dict[str, dict[str, str]]] = {
    "DeleteItem": {"ReturnValues": _RETURN_VALUES, "ConditionalOperator": _CONDITIONAL_OPERATORS},
    "PutItem": {"ReturnValues": _RETURN_VALUES, "ConditionalOperator": _CONDITIONAL_OPERATORS},
    "Query": {"ConditionalOperator": _CONDITIONAL_OPERATORS},
    "UpdateItem": {"ReturnValues": _RETURN_VALUES, "ConditionalOperator": _CONDITIONAL_OPERATORS},
}
# UpdateItem stops at ReturnValues; Query stops at ConditionalOperator, and counts no errors (parity).
NAMELESS_STOPS: Final = frozenset((("UpdateItem", "ReturnValues"), ("Query", "ConditionalOperator")))
UNCOUNTED: Final = frozenset(("Query",))

# The newer validator echoes a map as JSON (parity: BatchGetItem with "bad!name").
ECHOED_AS_JSON: Final = frozenset(("BatchGetItem",))


# --- refusing ------------------------------------------------------------------------------------------


def refuse(operation: str, params: Mapping[str, Any], *, native: bool) -> None:
    """Raise what AWS answers to these parameters; return if there is nothing wrong with them."""
    shape = live_shape(INPUTS[operation])
    if native:
        require_known_members(shape, params)
    require_types(shape, params)
    required, sentence = REQUIRED_FIRST.get(operation, (None, ""))
    if required is not None and params.get(required) is None:
        raise ValidationError(sentence)
    violations = list(constraint_violations(shape, params))
    names = list(table_name_violations(shape, params))
    if names and (operation in TABLE_NAME_FIRST or not violations):
        violations = names
    elif operation in TABLE_NAME_TOGETHER:
        violations = names + violations
    if violations:
        raise ValidationError(_message(operation, violations))
    _refuse_in_own_words(operation, params)


def _message(operation: str, violations: Sequence[Violation]) -> str:
    is_newer = operation in STOPS_AT and not any(violation.kind == "null" for violation in violations)
    nameless = NAMELESS.get(operation, {}) if is_newer else {}
    as_json = is_newer and operation in ECHOED_AS_JSON
    texts: list[str] = []
    for violation in violations[:VIOLATIONS_MAX]:
        top = violation.place.top
        if is_newer and violation.kind in ("length", "value") and top in STOPS_AT[operation]:
            return _counted([violation.newer_text()])
        if violation.kind == "enum" and top in nameless:
            text = f"Failed to satisfy constraint: Member must satisfy enum value set: {nameless[top]}"
            if (operation, top) in NAMELESS_STOPS:
                return text if operation in UNCOUNTED else _counted([text])
            texts.append(text)
        else:
            texts.append(violation.older_text(as_json=as_json))
    return _counted(texts)


def _counted(texts: list[str]) -> str:
    return f"{len(texts)} validation error{'' if len(texts) == 1 else 's'} detected: {'; '.join(texts)}"


# --- sentences written by hand ----------------------------------------------------------------------------


def _refuse_in_own_words(operation: str, params: Mapping[str, Any]) -> None:
    if operation == "BatchWriteItem" and not params["RequestItems"]:
        # Most regions in October 2026; for BatchGetItem nearly all have the newer wording (parity).
        raise ValidationError("The requestItems parameter is required for BatchWriteItem")
    if operation == "TagResource" and not params["Tags"]:
        raise ValidationError("Atleast one Tag needs to be provided as Input.")  # dynalite
    if operation == "UntagResource":
        if not params["TagKeys"]:
            raise ValidationError("Atleast one Tag Key needs to be provided as Input.")  # ack
        for key in params["TagKeys"]:
            _require_tag_key(key)
    if operation in ("CreateTable", "TagResource"):
        for tag in params.get("Tags") or ():
            _require_tag_key(tag.get("Key"))
            value = tag.get("Value")
            if value is None or utf16_units(value) > TAG_VALUE_LENGTH_MAX:
                raise ValidationError(f"The Tag Value provided is invalid, Value: {value or 'null'}")  # ack


def _require_tag_key(key: str | None) -> None:
    # ack: "The Tag Key provided is invalid, Key: null", and for '' "… Key: ".
    if key is None:
        raise ValidationError("The Tag Key provided is invalid, Key: null")
    if not 1 <= utf16_units(key) <= TAG_KEY_LENGTH_MAX:
        raise ValidationError(f"The Tag Key provided is invalid, Key: {key}")
