"""What the rules share: groups of complaints as patterns, and questions about a case."""

from __future__ import annotations

from typing import Any

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference
from golden.side_by_side.designs import Design
from golden.side_by_side.requests import Script
from golden.side_by_side.service_model import breaks_constraint, has_wrong_type

# What is wrong with a request in itself, and what is wrong with a key when it is held against a table.
FORM = (
    "(Invalid (Condition|Update|Filter|Projection|KeyCondition)Expression: "
    ".*|ExpressionAttribute(Names|Values) .*|Value provided in ExpressionAttribute(Names|Values) "
    "unused .*|not a number|too many digits|Number .*flow.*|duplicates|One or more parameter values "
    "were invalid: (An (string|number) set|Binary sets|Null attribute).*|The parameter cannot be "
    "converted to a numeric value.*|Attempting to store more than 38 .*|(One or more parameter "
    "values were invalid: )?Input collection .*|Supplied AttributeValue .*|Empty attribute "
    "name|Attribute name is too large.*)"
)
VALUE_FAULTS = (
    "(not a number|too many digits|Number .*flow.*|duplicates|One or more parameter values were "
    "invalid: (An (string|number) set|Binary sets|Null attribute).*|The parameter cannot be "
    "converted to a numeric value.*|Attempting to store more than 38 .*|Supplied AttributeValue "
    ".*|Empty attribute name|Attribute name is too large.*|(One or more parameter values were "
    "invalid: )?Input collection .*)"
)
LEGACY_FAULTS = (
    "(One or more parameter values were invalid: (ComparisonOperator .* is not valid for .* "
    "AttributeValue type|Invalid number of argument.*|AttributeValues inside AttributeValueList must "
    "be of same type|Invalid comparison operator|Value (must|cannot|or) .*)|ConditionalOperator (can only "
    "be used when|cannot be used without) .*|The BETWEEN condition was provided .*|no comparison)"
)
KEY_FAULTS = (
    "(The number of conditions on the keys is invalid|One of the required keys was not given a "
    "value|Invalid attribute value type|One or more parameter values were invalid: (Type mismatch "
    "for key|Cannot update attribute .*|Type mismatch for Index Key.*)|One or more parameter values "
    r"are not valid\. .*|Hash primary key values must be under 2048 bytes.*|The provided key element "
    "does not match the schema|missing key|key too long|wrong type.*)"
)


def request_of(case: Case) -> Any:
    """Return the request of a case."""
    return case.script.request


def design_of(case: Case) -> Design:
    """Return the design of the table of a case."""
    assert isinstance(case.script, Script)
    return case.script.scene.design


def units(consumed: Any) -> list[float]:
    """Return every figure in a report of units, in the order of their names."""
    if isinstance(consumed, dict):
        return [unit for name in sorted(consumed) for unit in units(consumed[name])]
    if isinstance(consumed, list):
        return [unit for part in consumed for unit in units(part)]
    return [float(consumed)] if isinstance(consumed, int | float) else []


def is_mistyped(case: Case, _difference: Difference) -> bool:
    """Tell whether a member has a wrong JSON type, by the service model."""
    return has_wrong_type(case.script.operation, request_of(case))


def is_malformed(case: Case, _difference: Difference) -> bool:
    """Tell whether a constraint is broken, by the service model."""
    return breaks_constraint(case.script.operation, request_of(case))


def without_split(consumed: Any) -> Any:
    """Return a report of units without what tells reads from writes."""
    if isinstance(consumed, dict):
        return {
            name: without_split(part)
            for name, part in consumed.items()
            if name not in ("ReadCapacityUnits", "WriteCapacityUnits")
        }
    return [without_split(part) for part in consumed] if isinstance(consumed, list) else consumed


def has_update_without_action(case: Case, _difference: Difference) -> bool:
    """Tell whether a legacy update names no action."""
    updates = request_of(case).get("AttributeUpdates") or {}
    return any(isinstance(update, dict) and update.get("Action") is None for update in updates.values())
