"""An opinion of its own on the form of a request: botocore's service model, walked in the plainest way.

DynamoDB Local takes many requests that break the model, or fails inside. Whether a request does break it is what
the rules in settled/ ask here, so that they do not have to believe our own refusals.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session

_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")


@cache
def _input_shape(operation: str) -> Any:
    model = botocore.session.get_session().get_service_model("dynamodb")
    return model.operation_model(operation).input_shape


def has_wrong_type(operation: str, request: Any) -> bool:
    """Tell whether any member has a JSON type other than the model's. A null counts as absent."""
    return any(kind == "type" for kind in _faults(_input_shape(operation), request))


def breaks_constraint(operation: str, request: Any) -> bool:
    """Tell whether a member is missing, too short, too long, too small, too large or no word of its set."""
    return any(kind == "constraint" for kind in _faults(_input_shape(operation), request))


def _faults(shape: Any, value: Any) -> Iterator[str]:
    match shape.type_name:
        case "structure":
            yield from _structure_faults(shape, value)
        case "list":
            yield from _list_faults(shape, value)
        case "map":
            yield from _map_faults(shape, value)
        case "string":
            yield from _string_faults(shape, value)
        case "integer" | "long":
            if not isinstance(value, int) or isinstance(value, bool):
                yield "type"
            elif not _fits(shape, value):
                yield "constraint"
        case "boolean":
            if not isinstance(value, bool):
                yield "type"
        case "blob":
            if not _is_base64(value):
                yield "type"


def _structure_faults(shape: Any, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "type"
        return
    for name, member in shape.members.items():
        found = value.get(name)
        if found is not None:
            yield from _faults(member, found)
        elif name in shape.required_members:
            yield "constraint"


def _list_faults(shape: Any, value: Any) -> Iterator[str]:
    if not isinstance(value, list):
        yield "type"
        return
    if not _fits(shape, len(value)) or None in value:
        yield "constraint"
    for entry in value:
        if entry is not None:
            yield from _faults(shape.member, entry)


def _map_faults(shape: Any, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "type"
        return
    if not _fits(shape, len(value)):
        yield "constraint"
    for key, entry in value.items():
        yield from _string_faults(shape.key, key)
        if entry is None:
            yield "constraint"
        else:
            yield from _faults(shape.value, entry)


def _string_faults(shape: Any, value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield "type"
    elif shape.enum:
        if value not in shape.enum:
            yield "constraint"
    elif not _fits(shape, len(value)) or (
        shape.name in ("TableName", "TableArn") and not _TABLE_NAME.fullmatch(value)
    ):
        yield "constraint"


def _fits(shape: Any, size: int) -> bool:
    limits = shape.metadata
    return bool(limits.get("min", size) <= size <= limits.get("max", size))


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return False
    return True
