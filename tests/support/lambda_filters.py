"""Lambda's event filters, evaluated as its guide has them ("Filter rule syntax"), for the operators in use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def passes(patterns: Iterable[Mapping[str, Any]], record: Mapping[str, Any]) -> bool:
    """Tell whether Lambda hands a record on: "a record that matches any of the filters"; all do without one."""
    found = list(patterns)
    return not found or any(matches(pattern, record) for pattern in found)


def matches(pattern: Mapping[str, Any], event: object) -> bool:
    """All names of a pattern must match; a list is of alternatives; only leaves are compared."""
    for name, wanted in pattern.items():
        inside = event.get(name) if isinstance(event, Mapping) else None
        if isinstance(wanted, Mapping):
            if not matches(wanted, inside if isinstance(inside, Mapping) else {}):
                return False
            continue
        assert isinstance(wanted, list), "a leaf of a pattern is a list"
        assert wanted, "Lambda refuses an empty list"
        assert not isinstance(inside, Mapping), "comparisons work on leaves only"
        if not any(_holds(rule, inside) for rule in wanted):
            return False
    return True


def _holds(rule: object, value: object) -> bool:
    if not isinstance(rule, Mapping):
        return value is not None and value == rule
    ((operator, operand),) = rule.items()
    match operator:
        case "exists":
            return (value is not None) is operand
        case "prefix":
            return isinstance(value, str) and value.startswith(operand)
        case "anything-but":
            return value is not None and value not in operand
    raise AssertionError(f"{operator} is not evaluated here")
