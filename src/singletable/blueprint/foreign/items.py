"""Samples in plain JSON and in DynamoDB's JSON, and the types that attributes have in either.

Plain JSON has no sets, no binary and no numbers of 38 digits: a set is a list, binary is base64, and a number that
no float holds is a text. At the top of an item the type of its attribute tells what they are.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from singletable.blueprint.entities import AttributeBlueprint, ModelBlueprint
from singletable.blueprint.foreign.nodes import Node

TYPES: Final = ("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
_SETS: Final = ("SS", "NS", "BS")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_WHOLE: Final = re.compile(r"-?\d+")
_DIGITS_MAX: Final = 200
_DEPTH_MAX: Final = 32  # Amazon DynamoDB nests documents 32 deep (developer guide, "Service quotas")
_PYTHON: Final = {
    "S": "str", "B": "bytes", "BOOL": "bool", "NULL": "None", "L": "list", "M": "dict",
    "SS": "set[str]", "BS": "set[bytes]",
}  # fmt: skip
_STORED: Final = {
    "str": "S", "int": "N", "float": "N", "Decimal": "N", "bool": "BOOL", "bytes": "B", "None": "NULL",
    "list": "L", "tuple": "L", "dict": "M", "Mapping": "M", "datetime": "S", "date": "S", "time": "S", "UUID": "S",
}  # fmt: skip

Lost = tuple[str, str]  # what plain JSON does not have, and what it is there


# --- in -------------------------------------------------------------------------------------------------


def plain_item(node: Node) -> tuple[dict[str, Any], dict[str, str], list[Lost]]:
    """Return an item of DynamoDB's JSON as plain JSON, the type of each attribute, and what is lost further in."""
    lost: list[Lost] = []
    item: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name, value in node.members():
        kinds[name], item[name] = _plain(value, lost, is_top=True)
    return item, kinds, lost


def _plain(node: Node, lost: list[Lost], *, is_top: bool = False) -> tuple[str, Any]:
    members = list(node.members())
    if len(members) != 1 or members[0][0] not in TYPES:
        raise node.wrong(f"a value with its type, one of {', '.join(TYPES)}")
    kind, value = members[0]
    if not is_top and kind in (*_SETS, "B"):
        lost.append((f"the {kind} at {value.shown}", "a list" if kind in _SETS else "a text"))
    match kind:
        case "S" | "B":
            return kind, value.text()
        case "N":
            return kind, _plain_number(value, lost, is_top=is_top)
        case "BOOL":
            if value.value in ("true", "false"):
                return kind, value.value == "true"
            if not isinstance(value.value, bool):
                raise value.wrong("true or false")
            return kind, value.value
        case "NULL":
            return kind, None
        case "L":
            return kind, [_plain(each, lost)[1] for each in value.each()]
        case "M":
            return kind, {name: _plain(each, lost)[1] for name, each in value.members()}
        case "NS":
            return kind, [_plain_number(each, lost, is_top=is_top) for each in value.each()]
        case _:
            return kind, list(value.texts())


def _plain_number(node: Node, lost: list[Lost], *, is_top: bool) -> int | float | str:
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    text = node.text()
    if len(text) > _DIGITS_MAX or not _NUMBER.fullmatch(text):
        lost.append((f"the number at {node.shown}", "a text"))
        return text
    if _WHOLE.fullmatch(text) and text == str(int(text)):
        return int(text)
    number = float(text)
    if math.isfinite(number) and Decimal(repr(number)) == Decimal(text):
        return number
    if not is_top:
        lost.append((f"the number at {node.shown}", "a text"))
    return text


def python_type(kind: str, values: Sequence[Any]) -> str:
    """Return the type that an attribute of this type has in Python, as text."""
    if kind not in ("N", "NS"):
        return _PYTHON[kind]
    numbers = [each for value in values for each in (value if isinstance(value, list) else [value])]
    known = [each for each in numbers if isinstance(each, int | float)]
    number = "int" if known and all(isinstance(each, int) for each in known) else "float"
    return number if kind == "N" else f"set[{number}]"


# --- out ------------------------------------------------------------------------------------------------


def stored_type(attribute: AttributeBlueprint, models: Iterable[ModelBlueprint] = ()) -> str:
    """Return the type that an attribute is stored with: the one that is said, or that of its type in Python."""
    if attribute.dynamodb in TYPES:
        return attribute.dynamodb
    if attribute.format.startswith("epoch"):
        return "N"
    whole = attribute.type.removesuffix(" | None").strip()
    base, _, inner = whole.partition("[")
    if base in ("set", "frozenset"):
        item = _STORED.get(inner.partition("]")[0], "S")
        return f"{item}S" if item in ("S", "N", "B") else "SS"
    if model := next((each for each in models if each.name == base), None):
        values = model.values
        is_number = bool(values) and all(isinstance(each, int | float) for each in values)
        return "M" if model.attributes else "N" if is_number else "S"
    return _STORED.get(base, "S")


def typed_item(item: Mapping[str, Any], types: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return plain JSON as DynamoDB's JSON, and the attributes that have no place in it."""
    written: dict[str, Any] = {}
    refused: list[str] = []
    for name, value in item.items():
        typed = _typed(value, types.get(name, ""), _DEPTH_MAX)
        if typed is None:
            refused.append(name)
        else:
            written[name] = typed
    return written, refused


def _typed(value: Any, kind: str, depth: int) -> dict[str, Any] | None:
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float() | Decimal():
            return {"N": str(value)} if math.isfinite(value) and len(str(value)) <= _DIGITS_MAX else None
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case str():
            is_number = kind == "N" and len(value) <= _DIGITS_MAX and _NUMBER.fullmatch(value)
            return {"N" if is_number else "B" if kind == "B" else "S": value}
        case Mapping():
            if depth == 0:
                return None
            members = {str(name): _typed(each, "", depth - 1) for name, each in value.items()}
            return None if None in members.values() else {"M": members}
        case list() | tuple() | set() | frozenset():
            if depth == 0:
                return None
            if kind in _SETS and (texts := _set_members(list(value), kind)):
                return {kind: texts}
            listed = [_typed(each, "", depth - 1) for each in value]
            return None if None in listed else {"L": listed}
        case _:
            return None


def _set_members(values: Sequence[Any], kind: str) -> list[str]:
    """Return the members of a set as texts; none if it can be no set."""
    if kind == "NS":
        typed = [_typed(each, "N", 0) for each in values if isinstance(each, int | float | str)]
        texts = [str(each["N"]) for each in typed if each is not None and "N" in each]
    else:
        texts = [each for each in values if isinstance(each, str)]
    return texts if len(texts) == len(values) == len(set(texts)) else []
