"""Check the parameters of a request against its input shape before anything reads them.

Past `check`, a required member is there, an enum holds one of its values (save for those of CHECKED_LATER in
refusals.py), a list is a list and a name of a table is one. Only the contents of an AttributeValue are unchecked
(the values layer reads those), and the numbers of a page may not fit into 32 bits yet (`cut_number`). A request
that is right is accepted by functions compiled once for each operation; anything else is walked again by
refusals.py, which knows the words. An accepting function may say no to something right, never yes to something
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from singletable.wire.validation.live_shapes import Shape, live_shape
from singletable.wire.validation.member_types import OPAQUE, fits, is_time
from singletable.wire.validation.refusals import refuse
from singletable.wire.validation.shapes import INPUTS, SHAPES
from singletable.wire.validation.violations import (
    TABLE_NAME_LENGTH_MAX,
    TABLE_NAME_LENGTH_MIN,
    TABLE_NAME_PATTERN,
)

Accepts = Callable[[Any], bool]

_TABLE_ARN_LENGTH_MAX: Final[int] = SHAPES["TableArn"]["max"]
_table_name_match: Final = re.compile(TABLE_NAME_PATTERN).fullmatch
_table_arn_match: Final = re.compile(rf"arn:[^:]*:[^:]*:[^:]*:[^:]*:table/{TABLE_NAME_PATTERN}").fullmatch

_operations: Final[dict[str, tuple[dict[str, Accepts], tuple[str, ...]]]] = {}


def check(operation: str, params: Mapping[str, Any], *, native: bool) -> Mapping[str, Any]:
    """Return the parameters, or raise ValidationError or SerializationError, as AWS would answer.

    `native` is for calls in the process: there, a parameter that the operation does not know is an error,
    while on the wire AWS ignores it. A member that is None counts as absent.
    """
    compiled = _operations.get(operation)
    if compiled is None:
        compiled = _compile(operation)
    accepts, required = compiled
    for name, value in params.items():
        accept = accepts.get(name)
        if accept is None or not accept(value):
            break
    else:
        for name in required:
            if name not in params:
                break
        else:
            return params
    return refuse(operation, params, native=native)


# --- compiling -------------------------------------------------------------------------------------------


def _compile(operation: str) -> tuple[dict[str, Accepts], tuple[str, ...]]:
    shape = live_shape(INPUTS[operation])
    accepts = {name: _member_accepts(name, target) for name, target in shape.members.items()}
    compiled = (accepts, tuple(sorted(shape.required)))
    _operations[operation] = compiled
    return compiled


def _member_accepts(name: str, target: str) -> Accepts:
    if name == "TableName" and target == "TableArn":
        return _accepts_table_name
    return _accepts(live_shape(target))


def _accepts_table_name(value: Any) -> bool:
    if type(value) is not str:
        return False
    if TABLE_NAME_LENGTH_MIN <= len(value) <= TABLE_NAME_LENGTH_MAX and value.isascii():
        # Most names are identifiers, and that is known six times sooner than a pattern matches.
        return value.isidentifier() or _table_name_match(value) is not None or _accepts_table_arn(value)
    return _accepts_table_arn(value)


def _accepts_table_arn(value: str) -> bool:
    length = len(value) - value.rfind("/") - 1
    return TABLE_NAME_LENGTH_MIN <= length <= TABLE_NAME_LENGTH_MAX and (
        len(value) <= _TABLE_ARN_LENGTH_MAX and _table_arn_match(value) is not None
    )


def _accepts(shape: Shape) -> Accepts:
    if shape.name == OPAQUE:
        return _accepts_dict
    match shape.kind:
        case "structure":
            return _accepts_structure(shape)
        case "list":
            return _accepts_list(shape)
        case "map":
            return _accepts_map(shape)
        case "string":
            return _accepts_string(shape)
        case "integer" | "long":
            return _accepts_number(shape)
        case "boolean":
            return _accepts_bool
        case "timestamp":
            return is_time
        case kind:
            raise AssertionError(f"no input has a member of type {kind}")


def _accepts_dict(value: Any) -> bool:
    return type(value) is dict


def _accepts_dict_of_dicts(value: Any) -> bool:
    if type(value) is not dict:
        return False
    for entry in value.values():  # noqa: SIM110 - a generator costs twice as much
        if type(entry) is not dict:
            return False
    return True


def _accepts_placeholders(value: Any) -> bool:
    return _accepts_dict_of_dicts(value) and all(map(_accepts_any_string, value))


def _accepts_bool(value: Any) -> bool:
    return type(value) is bool


def _accepts_any_string(value: Any) -> bool:
    return type(value) is str


def _accepts_string(shape: Shape) -> Accepts:
    if shape.enum:
        values = frozenset(shape.enum)
        return lambda value: type(value) is str and value in values
    if shape.pattern is None and shape.minimum is None and shape.maximum is None:
        return _accepts_any_string
    low, high = _bounds(shape)
    if shape.pattern is None:
        half = high / 2  # AWS counts UTF-16 units, up to two for a character
        return lambda value: type(value) is str and low <= len(value) and len(value) <= half
    match = re.compile(shape.pattern).fullmatch
    return lambda value: (
        type(value) is str and (low <= len(value) <= high and value.isascii() and match(value) is not None)
    )


def _accepts_number(shape: Shape) -> Accepts:
    low, high = _bounds(shape)
    kind = shape.kind
    return lambda value: type(value) is int and low <= value <= high and fits(kind, value)


def _bounds(shape: Shape) -> tuple[float, float]:
    low = float("-inf") if shape.minimum is None else shape.minimum
    return low, float("inf") if shape.maximum is None else shape.maximum


def _accepts_list(shape: Shape) -> Accepts:
    accept = _accepts(live_shape(shape.element or ""))
    low, high = _bounds(shape)
    return lambda value: (
        (type(value) is list or type(value) is tuple)
        and (low <= len(value) <= high and all(map(accept, value)))
    )


def _accepts_map(shape: Shape) -> Accepts:
    element = live_shape(shape.element or "")
    key = live_shape(shape.key or "")
    if element.name == OPAQUE:
        # The values layer reads the names of attributes; those of placeholders are read by nobody else.
        return _accepts_dict_of_dicts if key.name == "AttributeName" else _accepts_placeholders
    accept_key = _accepts_table_name if key.name == "TableArn" else _accepts(key)
    accept = _accepts(element)
    low, high = _bounds(shape)
    if key.name == "TableArn":
        low = max(low, 1)  # an empty one is refused, if not as a constraint
    return lambda value: (
        type(value) is dict
        and (low <= len(value) <= high and all(map(accept_key, value)) and all(map(accept, value.values())))
    )


def _accepts_structure(shape: Shape) -> Accepts:
    accepts = {name: _member_accepts(name, target) for name, target in shape.members.items()}
    required = tuple(sorted(shape.required))

    def accept_structure(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, member in value.items():
            accept = accepts.get(name)
            if accept is None or not accept(member):
                return False
        for name in required:  # noqa: SIM110 - a generator costs twice as much
            if name not in value:
                return False
        return True

    return accept_structure
