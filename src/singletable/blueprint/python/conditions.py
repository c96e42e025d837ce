"""Conditions of a blueprint as expressions of Python: Eq("status", "pending") & Exists("due_at")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from singletable.blueprint.entities import Condition
from singletable.blueprint.python.keys import UnfitError
from singletable.blueprint.python.names import literal, quoted
from singletable.blueprint.python.types import Typed, takes

_OPERATORS: Final = {
    "=": "Eq",
    "<>": "Ne",
    "<": "Lt",
    "<=": "Le",
    ">": "Gt",
    ">=": "Ge",
    "in": "In",
    "exists": "Exists",
    "contains": "Contains",
    "begins_with": "BeginsWith",
}
_ORDERED: Final = frozenset({"str", "int", "float", "Decimal", "datetime", "date", "UUID", "bytes"})


class Asked(Protocol):
    """A field that a condition can ask for."""

    @property
    def name(self) -> str: ...
    @property
    def typed(self) -> Typed: ...
    @property
    def is_optional(self) -> bool: ...
    @property
    def constraints(self) -> Mapping[str, Any]: ...
    @property
    def is_plain(self) -> bool: ...


# Returns the expression of a parameter, by its name; raises UnfitError where there is none.
Given = Callable[[str, Typed], str]


def condition_text(
    condition: Condition, fields: Mapping[str, Asked], use: Callable[[str], str], given: Given | None = None
) -> str:
    """Return a condition as an expression; refuse one that no item, or no design, can have."""
    return _text(condition, fields, use, given, 0)


def _text(
    condition: Any, fields: Mapping[str, Asked], use: Callable[[str], str], given: Given | None, depth: int
) -> str:
    if not isinstance(condition, Mapping) or depth > 30:
        raise UnfitError("the condition is none")
    operator = condition.get("operator")
    if operator in ("and", "or"):
        members = condition.get("conditions")
        if not isinstance(members, list | tuple) or len(members) < 2:
            raise UnfitError(f"the condition joins fewer than two by {operator}")
        texts = [_text(each, fields, use, given, depth + 1) for each in members]
        inner = [f"({text})" if " | " in text or " & " in text else text for text in texts]
        return (" & " if operator == "and" else " | ").join(inner)
    if operator == "not":
        text = _text(condition.get("condition"), fields, use, given, depth + 1)
        return f"~({text})" if " | " in text or " & " in text else f"~{text}"
    name = _OPERATORS.get(str(operator))
    field = fields.get(str(condition.get("field")))
    if name is None:
        raise UnfitError(f"the condition has the operator {operator}")
    if field is None:
        raise UnfitError(f"the condition asks for {condition.get('field')}, which is no attribute of it")
    if name == "Exists":
        return f"{use(name)}({quoted(field.name)})"
    return f"{use(name)}({', '.join([quoted(field.name), *_asked(name, condition, field, given)])})"


def _asked(name: str, condition: Condition, field: Asked, given: Given | None) -> list[str]:
    if "parameter" in condition:
        if given is None:
            raise UnfitError(f"the condition asks for {condition['parameter']}, which nobody gives")
        expression = given(str(condition["parameter"]), field.typed)
        return [f"*{expression}" if name == "In" else expression]
    values = condition.get("values") if name == "In" else (condition.get("value"),)
    if not isinstance(values, list | tuple) or not values:
        raise UnfitError("the condition names no values")
    texts = []
    for value in values:
        text = literal(value)
        if text is None or not _can_be(name, value, field):
            raise UnfitError(
                f"{field.name} is {field.typed.text}, which {condition.get('operator')} {value} is not for"
            )
        texts.append(text)
    return texts


def _can_be(name: str, value: Any, field: Asked) -> bool:
    typed = field.typed
    if typed.base == "Any":
        return value is not None and name in ("Eq", "Ne", "In")
    if name in ("Eq", "Ne", "In"):
        if value is None:
            return field.is_optional
        return takes(typed, value, field.constraints) if name != "Ne" else takes(typed, value)
    if not field.is_plain:
        return False
    if name in ("Lt", "Le", "Gt", "Ge"):
        return value is not None and typed.base in _ORDERED and takes(typed, value)
    if not isinstance(value, str):
        member = typed.member
        return name == "Contains" and member is not None and takes(member, value)
    if typed.base == "str":
        return True
    member = typed.member
    return name == "Contains" and member is not None and takes(member, value)
