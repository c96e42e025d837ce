"""The shapes that attribute values have inside the package: DynamoDB's JSON, in one normal form.

A value is a dict with exactly one type tag. Numbers are plain decimals without superfluous zeros, binary
values are base64 text, sets are lists in the order of their members. Items are never changed in place.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

KeyType: TypeAlias = Literal["S", "N", "B"]

Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]

KEY_TYPES: Final[frozenset[str]] = frozenset(("S", "N", "B"))
SCALAR_TYPES: Final[frozenset[str]] = KEY_TYPES | {"BOOL", "NULL"}
SET_TYPES: Final[frozenset[str]] = frozenset(("SS", "NS", "BS"))
ATTRIBUTE_TYPES: Final[frozenset[str]] = frozenset(
    ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"),
)
