"""The two maps of placeholders that come with a request: ExpressionAttributeNames and ExpressionAttributeValues.

Everything here is refused before any expression is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from singletable.errors import ValidationError
from singletable.expressions.refusals import ExpressionRefusedError
from singletable.limits import ATTRIBUTE_NAME_BYTES_MAX, KIB, PLACEHOLDER_BYTES_MAX, SUBSTITUTION_BYTES_MAX
from singletable.values.json_types import utf8_of
from singletable.values.refused import ValueRefusedError
from singletable.values.sizes import value_bytes
from singletable.values.types import Value

NAMES: Final = "ExpressionAttributeNames"
VALUES: Final = "ExpressionAttributeValues"

_KEY: Final = {NAMES: re.compile(r"#[A-Za-z0-9_]+"), VALUES: re.compile(r":[A-Za-z0-9_]+")}
_KEYS_REMEMBERED_MAX: Final = 4096
_BOUND_BYTES_MAX: Final = 256 * KIB


def check_given_with_expressions(
    names: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None,
    expressions: Sequence[tuple[str, str | None]],
) -> None:
    """Raise when placeholders come without an expression that could use them.

    The expressions are all those that the operation knows, in the order of DynamoDB's messages, each with its
    text or None: for Query that is ProjectionExpression, FilterExpression, KeyConditionExpression.
    """
    if names is not None and all(text is None for _, text in expressions):
        raise ExpressionRefusedError(f"{NAMES} can only be specified when using expressions")
    taking = [(parameter, text) for parameter, text in expressions if parameter != "ProjectionExpression"]
    if values is not None and taking and all(text is None for _, text in taking):
        missing = " and ".join(parameter for parameter, _ in taking)
        verb = "are" if len(taking) > 1 else "is"
        raise ExpressionRefusedError(
            f"{VALUES} can only be specified when using expressions: {missing} {verb} null"
        )


def checked_names_bytes(names: Mapping[str, str]) -> int:
    """Return the size of a map of names, or raise its error."""
    _check_keys(NAMES, names)
    size = 0
    for key, name in names.items():
        if not name:
            raise ExpressionRefusedError(
                f"{NAMES} contains invalid value: Empty attribute name for key {key}"
            )
        name_size = len(name) if name.isascii() else len(utf8_of(name))
        if name_size > ATTRIBUTE_NAME_BYTES_MAX:
            raise ExpressionRefusedError(
                f"{NAMES} contains invalid value: Attribute name is too large, "
                f"must be less than {ATTRIBUTE_NAME_BYTES_MAX + 1} bytes for key {key}"
            )
        size += len(key) + name_size
    if size > SUBSTITUTION_BYTES_MAX:
        raise ExpressionRefusedError(f"{NAMES} exceeds max size")
    return size


def check_value_keys(values: Mapping[str, Any]) -> None:
    """Raise the error of the keys of a map of values."""
    _check_keys(VALUES, values)


def read_values(
    values: Mapping[str, Any], normalize: Callable[[Any], Value], *, older: bool
) -> dict[str, Value]:
    """Return the values in canonical form, or raise the error of the map.

    `normalize` brings one value into canonical form, or raises a ValidationError. BatchWriteItem and transactions
    run an `older` validation, which names the key of every wrong value; the current one names it only for a value
    with no type or with two types (measured on the service in October 2026).
    """
    _check_keys(VALUES, values)
    normal: dict[str, Value] = {}
    for key, value in values.items():
        try:
            normal[key] = normalize(value)
        except ValidationError as error:
            if isinstance(error, ValueRefusedError) and not older:
                raise
            raise ValidationError(
                f"{VALUES} contains invalid value: {error.message} for key {key}"
            ) from error
    return normal


def checked_values_bytes(values: Mapping[str, Value]) -> int:
    """Return an upper bound of the size of all values, or raise when they are too large with their keys."""
    bound = 0
    for value in values.values():
        (payload,) = value.values()
        # No character takes more than four bytes. The exact size is worked out only where it could matter.
        bound += 4 * len(payload) if type(payload) is str else value_bytes(value)
    if bound > _BOUND_BYTES_MAX:
        bound = sum(map(value_bytes, values.values()))
        if bound + sum(map(len, values)) > SUBSTITUTION_BYTES_MAX:
            raise ExpressionRefusedError(f"{VALUES} exceeds max size")
    return bound


def _check_keys(parameter: str, entries: Mapping[str, Any]) -> None:
    if not entries:
        raise ExpressionRefusedError(f"{parameter} must not be empty")
    for key in entries:
        # Only keys of a legal length are worth remembering.
        find_problem = _key_problem if len(key) <= PLACEHOLDER_BYTES_MAX else _key_problem.__wrapped__
        problem = find_problem(parameter, key)
        if problem is not None:
            raise ExpressionRefusedError(f"{parameter} contains invalid key: {problem}")


@lru_cache(maxsize=_KEYS_REMEMBERED_MAX)
def _key_problem(parameter: str, key: str) -> str | None:
    if not key:
        return "The expression attribute map contains an empty key;"
    key_bytes = len(utf8_of(key))
    if key_bytes > PLACEHOLDER_BYTES_MAX:
        # DynamoDB Local 3.3 says how long the key of a name is, but not how long the key of a value.
        figure = f" size of key: {key_bytes}" if parameter == NAMES else ""
        return f"The expression attribute map contains a key that is too long;{figure}"
    if _KEY[parameter].fullmatch(key) is None:
        return f'Syntax error; key: "{key}"'
    return None
