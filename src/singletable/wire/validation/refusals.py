"""Refuse a request as AWS does: in its order, operation by operation, and in its words.

The slow way, taken when constraints.py could not accept a request at a glance. What one operation does in its own
way is in its row (singletable.operations). The captures named are those of live_shapes.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from singletable.errors import ValidationError
from singletable.operations import OPERATIONS
from singletable.values.json_types import check_value
from singletable.wire.validation.live_shapes import live_shape
from singletable.wire.validation.member_types import (
    has_cut_number,
    plain_members,
    require_known_members,
    require_types,
    shortened,
)
from singletable.wire.validation.shapes import INPUTS
from singletable.wire.validation.violations import (
    constraint_violations,
    has_more_values,
    table_name_violations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from singletable.operations import Operation
    from singletable.wire.validation.violations import Violation

VIOLATIONS_MAX: Final = 10  # AWS lists no more (dynalite)
# A request with more values is refused for the first thing that is found: looking through 16 MB takes seconds. An
# item of 400 KB can have up to 100,000 of them.
LOOKED_AT_VALUES_MAX: Final = 200_000

# --- peculiarities of operations -----------------------------------------------------------------------

# The control plane looks at the table's name first and tells its errors alone (parity: CreateTable). ack:
# DescribeTable '' -> "2 validation errors detected: … length greater than or equal to 3; … pattern …". The older
# validator of the data plane looks at it last: BatchWriteItem with "bad!name" and an unknown enum value tells the
# enum alone (parity).

# In 2026 AWS moved some operations to a validator that goes in steps. The first step that finds errors reports
# them, and ends the validation. First the members that the row names, in their order; it names a member as the
# API does and echoes no value: "2 validation errors detected: Value at 'Limit' failed to satisfy constraint:
# Member must have value greater than or equal to 1; Value at 'TableName' failed to satisfy constraint: Member
# must have length greater than or equal to 1" (Query, Scan), "Value at 'RequestItems.t.member.Keys' …"
# (BatchGetItem). Then the first thing that is wrong with the table's name and the other members, in the older
# words: "2 validation errors detected: Value 'ab' at 'tableName' …; Value 'BOGUS' at 'returnConsumedCapacity'
# …". Then what CHECKED_LATER says. BatchWriteItem and the transactions have not moved in most regions (parity,
# and dynoxide: Scan in 20 of 33). Where a required member is missing, or a number had to be cut to 32 bits, the
# older validator still speaks, of all at once: UpdateItem with TableName '' and no Key -> "2 validation errors
# detected: Value '' at 'tableName' …; Value null at 'key' …"; Scan with Limit 0.5 -> "Value '0' at 'limit' …".

# Enums that the newer validator checks later, with the feature that they belong to, in words of their own: Select
# in pages.py; the others in legacy.py (dynoxide, parity).
CHECKED_LATER: Final = frozenset(("AttributeAction", "ComparisonOperator", "ConditionalOperator", "Select"))

# That validator names no member for this one, and prints a set of its own (parity; the slip is AWS's).
NAMELESS: Final = {"ReturnValue": "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"}

# UpdateItem tells one error at a time: all that is wrong with the table's name, pattern first; then the first of
# the members that its row names, two of them without a count (dynoxide, the same in most of seven regions).

# DeleteItem reports enum values that it knows but does not support beside the other errors of its members: "2
# validation errors detected: Value 'BOGUS' at 'returnConsumedCapacity' …; ReturnValues can only be ALL_OLD or
# NONE" (dynoxide).
NEVER_RETURNED: Final = frozenset(("ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"))
ONLY_OLD: Final = "ReturnValues can only be ALL_OLD or NONE"


# --- refusing ------------------------------------------------------------------------------------------


def refuse(operation: str, params: Mapping[str, Any], *, native: bool) -> Mapping[str, Any]:
    """Raise AWS's error for these parameters; if they are right, return them in plain types."""
    shape = live_shape(INPUTS[operation])
    if native:
        require_known_members(shape, params)
        require_types(shape, params)
        params = plain_members(shape, params)
    else:
        # A request from the wire may have a million errors.
        whole, params = params, shortened(shape, params)
        require_types(shape, params)
    row = OPERATIONS[operation]
    if row.missing and params.get(row.first[0]) is None:
        raise ValidationError(row.missing)
    violations = list(constraint_violations(shape, params))
    names = list(table_name_violations(shape, params))
    if operation == "TransactWriteItems" and not all(map(_has_one_action, params.get("TransactItems") or ())):
        names = []  # transactions.py refuses the item, before AWS looks at the names of tables (dynoxide)
    message = _message(row, params, violations, names, cut=has_cut_number(shape, params))
    if message is not None:
        raise ValidationError(message)
    _refuse_in_own_words(operation, params)
    return params if native else whole


def refuse_types(operation: str, params: Mapping[str, Any], *, native: bool) -> None:
    """Raise SerializationError if anything in the parameters has a wrong JSON type, values included."""
    if has_more_values(params, LOOKED_AT_VALUES_MAX):
        return  # they are refused anyway, for the first error
    require_types(live_shape(INPUTS[operation]), params, lambda value: check_value(value, native=native))


def _message(
    row: Operation,
    params: Mapping[str, Any],
    violations: list[Violation],
    names: list[Violation],
    *,
    cut: bool,
) -> str | None:
    if row.is_newer and not cut and all(one.kind != "null" for one in violations):
        return _newer_message(row, params, violations, names)
    if names and ((row.first == ("TableName",) and not row.is_newer) or not violations):
        violations = names
    return _counted([violation.older_text(as_json=False) for violation in violations])


def _newer_message(
    row: Operation, params: Mapping[str, Any], violations: list[Violation], names: list[Violation]
) -> str | None:
    first = [text for member in row.first for text in _newer_texts(violations, member)]
    if first:
        return _counted(first)
    violations = [violation for violation in violations if violation.shape.name not in CHECKED_LATER]
    if not row.one_at_a_time:
        texts = [_text(row, violation) for violation in names[:1] + violations]
        if texts and row.name == "DeleteItem" and params.get("ReturnValues") in NEVER_RETURNED:
            texts.append(ONLY_OLD)
        return _counted(texts)
    if names:
        return _counted([_text(row, violation) for violation in reversed(names)])
    for member in row.one_at_a_time:
        for violation in violations:
            if violation.place.top == member:
                text = _text(row, violation)
                return text if member in row.uncounted else _counted([text])
    return _counted([_text(row, violation) for violation in violations])


def _newer_texts(violations: Sequence[Violation], member: str) -> list[str]:
    """Return the message about a member: at most one."""
    for violation in violations:
        if violation.place.top == member and violation.kind in ("length", "value"):
            return [violation.newer_text()]
    return []


def _text(row: Operation, violation: Violation) -> str:
    allowed = NAMELESS.get(violation.shape.name)
    if allowed is not None:
        return f"Failed to satisfy constraint: Member must satisfy enum value set: {allowed}"
    return violation.older_text(as_json=row.echoes_json)


def _counted(texts: list[str]) -> str | None:
    """Return the texts as one message; None if there are no texts."""
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
