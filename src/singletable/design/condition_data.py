"""Conditions as nested mappings of JSON, as blueprints hold them."""

from __future__ import annotations

from typing import Any, assert_never

from singletable.design.annotations import plain_value
from singletable.design.conditions import (
    And,
    BeginsWith,
    Condition,
    Contains,
    Eq,
    Exists,
    Ge,
    Gt,
    In,
    Le,
    Lt,
    Ne,
    Not,
    Or,
)

_OPERATORS = {
    Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">=", Contains: "contains", BeginsWith: "begins_with",
}  # fmt: skip


def condition_data(condition: Condition) -> dict[str, Any]:
    """Return a condition as data: {"operator": "=", "field": "status", "value": "pending"}."""
    match condition:
        case And() | Or():
            kind = type(condition)
            return {"operator": kind.__name__.lower(), "conditions": _flat(condition, kind)}
        case Not(inner):
            return {"operator": "not", "condition": condition_data(inner)}
        case In(field, values):
            return {"operator": "in", "field": field, "values": plain_value(values)}
        case Exists(field):
            return {"operator": "exists", "field": field}
        case Eq() | Ne() | Lt() | Le() | Gt() | Ge() | Contains() | BeginsWith():
            operator = _OPERATORS[type(condition)]
            return {"operator": operator, "field": condition.field, "value": plain_value(condition.value)}
        case _:
            assert_never(condition)


def _flat(condition: Condition, kind: type[And] | type[Or]) -> list[dict[str, Any]]:
    """Return the members of a chain of the same word: `a & b & c` is one "and" of three."""
    if isinstance(condition, And | Or) and isinstance(condition, kind):
        return [*_flat(condition.left, kind), *_flat(condition.right, kind)]
    return [condition_data(condition)]
