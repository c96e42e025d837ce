"""The parameters from before there were expressions, read into the values that expressions give.

They may not stand beside expressions, save for KeyConditions, which goes with a filter or projection expression.
The refusals, their words and their order are as in the tests of dynalite and ExtendDB, which ran against the
service, and as in the captures of the public conformance suite: in October 2026 PutItem, UpdateItem and DeleteItem
answered "1 validation error detected: One or more parameter values were invalid: Value must be provided when
Exists is true for Attribute: a".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from singletable.engine.requests import UpdateItem, Write
from singletable.errors import INVALID, ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.key_conditions import KeyCondition
from singletable.expressions.legacy_conditions import (
    LegacyClause,
    Operator,
    check_operands,
    legacy_condition,
    legacy_key_condition,
)
from singletable.expressions.legacy_projections import legacy_projection
from singletable.expressions.legacy_updates import Action, LegacyUpdate, check_update, legacy_update
from singletable.expressions.projections import Projection
from singletable.expressions.updates import Update
from singletable.values.reading import read_value
from singletable.values.refused import ValueRefusedError
from singletable.values.rules import checked_name_bytes
from singletable.values.types import Value
from singletable.wire.forms import Form
from singletable.wire.parameters import Params


class Vocabulary(NamedTuple):
    """The parameters of an operation in the two languages, in the order in which AWS lists them."""

    legacy: tuple[str, ...]
    expressions: tuple[str, ...]


GET: Final = Vocabulary(("AttributesToGet",), ("ProjectionExpression",))
WRITE: Final = Vocabulary(("Expected", "ConditionalOperator"), ("ConditionExpression",))
UPDATE: Final = Vocabulary(
    ("AttributeUpdates", "Expected", "ConditionalOperator"), ("UpdateExpression", "ConditionExpression")
)
QUERY: Final = Vocabulary(
    ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
    ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
)
SCAN: Final = Vocabulary(
    ("AttributesToGet", "ScanFilter", "ConditionalOperator"), ("ProjectionExpression", "FilterExpression")
)

_NAMES: Final = frozenset(name for each in (GET, WRITE, UPDATE, QUERY, SCAN) for name in each.legacy)


def uses_legacy(params: Params, vocabulary: Vocabulary) -> bool:
    """Tell whether a request has parameters of the older language, and refuse those that mix the two."""
    if _NAMES.isdisjoint(params):
        return False
    given = _present(params, vocabulary.legacy)
    refuse_mixing(given, _present(params, vocabulary.expressions))
    return bool(given)


def refuse_mixing(legacy: Iterable[str], expressions: list[str]) -> None:
    """Raise when parameters of both languages are given. Empty ones count too (dynalite's tests)."""
    if not expressions:
        return
    both = [name for name in legacy if name != "KeyConditions" or "KeyConditionExpression" in expressions]
    if both:
        raise ValueRefusedError(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(both)}}} Expression parameters: {{{', '.join(expressions)}}}"
        )


def _present(params: Params, names: Iterable[str]) -> list[str]:
    return [name for name in names if params.get(name) is not None]


def check_conditional_operator(params: Params, conditions: str) -> None:
    """Raise when a ConditionalOperator has nothing to combine, or is not a valid operator.

    The regions that have the newer validation ask this before they look at a condition, the others after (captured
    for Scan in ten regions, October 2026). They ask for a name of an operator last, and without naming the
    parameter; ALL for AND is AWS's slip (captured in most of seven regions, October 2026).
    """
    operator = params.get("ConditionalOperator")
    if operator is None:
        return
    count = len(params.get(conditions) or ())
    if count == 0:
        raise ValueRefusedError("ConditionalOperator cannot be used without Filter or Expected")
    if count == 1:
        raise ValueRefusedError(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )
    if operator not in ("AND", "OR"):
        raise ValueRefusedError("Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]")


# --- writes ----------------------------------------------------------------------------------


def add_legacy(request: Write, params: Params, form: Form) -> None:
    """Add AttributeUpdates and Expected to a write that is parsed already without them.

    AttributeUpdates come first (dynalite's tests).
    """
    if isinstance(request, UpdateItem):
        request.update = _attribute_updates(params.get("AttributeUpdates"), form)
    expected = params.get("Expected")
    if expected:
        clauses = [_expected_clause(name, entry, form) for name, entry in expected.items()]
        request.condition = _combined(clauses, params, "Expected")


def _attribute_updates(updates: Mapping[str, Any] | None, form: Form) -> Update | None:
    # An empty map still makes a new item, as without the parameter.
    return legacy_update([_update(name, entry, form) for name, entry in updates.items()]) if updates else None


def _update(name: str, entry: Params, form: Form) -> LegacyUpdate:
    given: Action | None = entry.get("Action")
    action: Action = "PUT" if given is None else given
    raw = entry.get("Value")
    value = None if raw is None else _value(raw, form)
    check_update(action, value)
    _check_name(name)
    return LegacyUpdate(name, action, value)


def _expected_clause(name: str, entry: Params, form: Form) -> LegacyClause:
    problem = _expected_problem(
        entry.get("Exists"),
        entry.get("ComparisonOperator"),
        has_value=entry.get("Value") is not None,
        has_list=entry.get("AttributeValueList") is not None,
    )
    if problem is not None:
        raise ValueRefusedError(f"{INVALID}{problem} for Attribute: {name}")
    raw = entry.get("Value")
    operands = _values(entry.get("AttributeValueList"), form) if raw is None else (_value(raw, form),)
    _check_name(name)
    operator: Operator | None = entry.get("ComparisonOperator")
    if operator is None:
        operator = "EQ" if operands else "NULL"
    check_operands(operator, operands)
    return LegacyClause(name, operator, operands)


def _expected_problem(
    exists: bool | None, operator: str | None, *, has_value: bool, has_list: bool
) -> str | None:
    """Return the message for conflicting members. The two forms of a condition must not be mixed."""
    if exists is not None and operator is not None:
        return "Exists and ComparisonOperator cannot be used together"
    if has_value and has_list:
        return "Value and AttributeValueList cannot be used together"
    if has_list and operator is None:
        return "AttributeValueList can only be used with a ComparisonOperator"
    if has_value:
        return "Value cannot be used when Exists is false" if exists is False else None
    if operator is not None:
        if has_list or operator in ("NULL", "NOT_NULL"):
            return None
        return f"Value or AttributeValueList must be used with ComparisonOperator: {operator}"
    if exists is False:
        return None
    return f"Value must be provided when Exists is {'null' if exists is None else 'true'}"


# --- reads -----------------------------------------------------------------------------------


def attributes_to_get(params: Params) -> Projection | None:
    """Return AttributesToGet as a projection."""
    names = params.get("AttributesToGet")
    if names is None:
        return None
    for name in names:
        _check_name(name)
    return legacy_projection(names)


def filter_conditions(params: Params, parameter: str, form: Form) -> Condition | None:
    """Return QueryFilter or ScanFilter as a condition."""
    conditions = params.get(parameter)
    return _combined(_clauses(conditions, form), params, parameter) if conditions else None


def key_conditions(params: Params, form: Form) -> KeyCondition:
    """Return KeyConditions as a key condition."""
    clauses = _clauses(params["KeyConditions"], form)
    if not clauses:
        # DynamoDB Local 3.3; it was "Conditions can be of length 1 or 2 only" while keys had no more (dynalite).
        raise ValidationError("Conditions must be at least length 1")
    return legacy_key_condition(clauses)


def _clauses(conditions: Mapping[str, Any], form: Form) -> list[LegacyClause]:
    return [_clause(name, condition, form) for name, condition in conditions.items()]


def _clause(name: str, condition: Params, form: Form) -> LegacyClause:
    operands = _values(condition.get("AttributeValueList"), form)
    operator: Operator = condition["ComparisonOperator"]
    check_operands(operator, operands)
    if name:  # A filter may ask for an attribute without a name, which no item has (dynoxide, October 2026).
        _check_name(name)
    return LegacyClause(name, operator, operands)


# --- shared by writes and reads --------------------------------------------------------------


def _combined(clauses: list[LegacyClause], params: Params, parameter: str) -> Condition:
    return legacy_condition(clauses, any_of=params.get("ConditionalOperator") == "OR", parameter=parameter)


def _values(raw: Iterable[Any] | None, form: Form) -> tuple[Value, ...]:
    return tuple([_value(value, form) for value in raw or ()])


def _value(raw: Any, form: Form) -> Value:
    return read_value(raw, native=form.is_native)


def _check_name(name: str) -> None:
    checked_name_bytes(name)
