"""Conditions and expressions as documents write them: operators by many names, placeholders, plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from singletable.blueprint.patterns import KeyCondition

_USUAL: Final = {
    "==": "=",
    "eq": "=",
    "equal": "=",
    "equals": "=",
    "is": "=",
    "begins with": "begins_with",
    "beginswith": "begins_with",
    "begins": "begins_with",
    "starts with": "begins_with",
    "startswith": "begins_with",
    "prefix": "begins_with",
    "between": "BETWEEN",
    "lt": "<",
    "le": "<=",
    "lte": "<=",
    "gt": ">",
    "ge": ">=",
    "gte": ">=",
    "ne": "<>",
    "!=": "<>",
}
_NAME: Final = r"(?P<{}>#?[A-Za-z_][\w.-]*)"
_VALUE: Final = r"(?P<{}>:\w+|\"[^\"]*\"|'[^']*'|[^\s(),]+)"
_CLAUSE: Final = re.compile(
    rf"\b(?P<function>begins_with|contains|attribute_type)\s*"
    rf"\(\s*{_NAME.format('prefixed')}\s*,\s*{_VALUE.format('prefix')}\s*\)"
    rf"|{_NAME.format('between')}\s+BETWEEN\s+{_VALUE.format('low')}\s+AND\s+{_VALUE.format('high')}"
    rf"|{_NAME.format('compared')}\s*(?P<sign><=|>=|<>|=|<|>)\s*{_VALUE.format('value')}",
    re.IGNORECASE,
)


def usual_operator(written: str) -> str:
    """Return the usual name of an operator: `Begins With` is begins_with. One that nobody knows stays as it is."""
    word = re.sub(r"[\s_]+", " ", written.strip().lower())
    return _USUAL.get(word, written.strip())


def spelled_out(expression: str, names: Mapping[str, str]) -> str:
    """Return an expression with attributes in the place of their placeholders; #ttl alone is ttl."""
    for placeholder, name in names.items():
        expression = re.sub(rf"{re.escape(placeholder)}\b", name, expression)
    return re.sub(r"#(?=[A-Za-z_])", "", expression)


def named(expression: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the attributes that an expression names, each once; of a path, the first."""
    text = re.sub(r"\b\w+\s*\(|:\w+|\.\w+|\b(?:AND|OR|NOT|BETWEEN|IN)\b", " ", spelled_out(expression, names))
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_][\w-]*", text)))


def fields_of(condition: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the fields that a condition compares."""
    if condition is None:
        return frozenset()
    parts = [*condition.get("conditions", ()), condition.get("condition")]
    found = {condition["field"]} if isinstance(condition.get("field"), str) else set()
    return frozenset(found.union(*(fields_of(part) for part in parts)))


def conditions_of(expression: str, names: Mapping[str, str]) -> tuple[KeyCondition, ...]:
    """Return the conditions of a key condition expression; a placeholder's value is not known."""
    return tuple(_conditions(expression, names))


def _conditions(expression: str, names: Mapping[str, str]) -> Iterator[KeyCondition]:
    for found in _CLAUSE.finditer(expression):
        if (name := found["prefixed"]) is not None:
            operator, values = found["function"].lower(), [found["prefix"]]
        elif (name := found["between"]) is not None:
            operator, values = "BETWEEN", [found["low"], found["high"]]
        else:
            name, operator, values = found["compared"], found["sign"], [found["value"]]
        is_known = not any(value.startswith(":") for value in values)
        templates = tuple(value.strip("\"'") for value in values) if is_known else ()
        yield KeyCondition(names.get(name, name), operator, templates)
