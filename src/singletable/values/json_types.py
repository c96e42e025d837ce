"""The JSON (or Python) type of everything in an attribute value, with DynamoDB's words for a wrong one.

DynamoDB checks types while it reads the request, before any rule about values; a wrong type anywhere is a
SerializationException. The texts are those that dynalite recorded from the service. For a list in a wrong
place the service has since stopped sending a message; the old text is kept, because it says what is wrong.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from singletable.errors import SerializationError
from singletable.limits import NESTING_LEVELS_MAX
from singletable.values.types import SET_TYPES

_MODEL: Final = "com.amazonaws.dynamodb.v20120810"
_UNEXPECTED_MAP: Final = "Start of structure or map found where not expected"
UNPAIRED_SURROGATE: Final = "A string is not valid Unicode: it contains an unpaired surrogate"

# In any case; dynalite and dynoxide recorded these words as the ones that are taken.
_TRUE_WORDS: Final = frozenset(("true", "t", "yes", "y", "1"))
_FALSE_WORDS: Final = frozenset(("false", "f", "no", "n", "0"))


def text_of(payload: object) -> str:
    """Return a string payload as a plain `str`."""
    if not isinstance(payload, str):
        raise _not_convertible(payload, "String")
    return str.__str__(payload)


def utf8_of(text: str) -> bytes:
    """Return a text in UTF-8, or raise when it has an unpaired surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        # JSON can spell half of a surrogate pair and Python can hold it; UTF-8 and our files cannot.
        raise SerializationError(UNPAIRED_SURROGATE) from None


def boolean_of(payload: object) -> bool:
    """Return a boolean payload; DynamoDB also takes some words for one."""
    if isinstance(payload, bool):
        return payload
    if isinstance(payload, str):
        word = payload.lower()
        if word in _TRUE_WORDS:
            return True
        if word in _FALSE_WORDS:
            return False
        raise SerializationError("Unexpected token received from parser")
    raise _not_convertible(payload, "Boolean")


def binary_of(payload: object, *, native: bool) -> bytes:
    """Return a binary payload: bytes from Python callers (text as boto3 encodes it), base64 from JSON."""
    if native and isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload)
    if isinstance(payload, str):
        return utf8_of(payload) if native else _from_base64(payload)
    if isinstance(payload, Mapping):
        raise SerializationError(_UNEXPECTED_MAP)
    if _is_list(payload):
        raise SerializationError("Unrecognized collection type class java.nio.ByteBuffer")
    raise SerializationError("only base-64-encoded strings are convertible to bytes")


def members_of(payload: object, *, native: bool) -> Sequence[Any]:
    """Return the members of a list or set payload. Python sets have no order, so they come sorted."""
    if isinstance(payload, list | tuple):
        return payload
    if native and isinstance(payload, set | frozenset):
        try:
            return sorted(payload)
        except TypeError:
            return list(payload)
    if isinstance(payload, Mapping):
        raise SerializationError(_UNEXPECTED_MAP)
    raise SerializationError("Unexpected field type")


def attributes_of(payload: object) -> Mapping[str, Any]:
    """Return the attributes of an item, a key or a map payload."""
    if not isinstance(payload, Mapping):
        if _is_list(payload):
            raise SerializationError(
                f"Unrecognized collection type java.util.Map<java.lang.String, {_MODEL}.AttributeValue>"
            )
        raise SerializationError("Unexpected field type")
    for name in payload:
        utf8_of(text_of(name))
    return payload


def structure_of(raw: object) -> Mapping[str, Any]:
    """Return an attribute value as the structure it must be; null is an empty one."""
    if raw is None:
        return {}
    if isinstance(raw, Mapping):
        return raw
    if _is_list(raw):
        raise SerializationError(f"Unrecognized collection type class {_MODEL}.AttributeValue")
    raise SerializationError("Unexpected value type in payload")


def check_attributes(raw: object, *, native: bool, level: int = 1) -> None:
    """Raise for the first wrong type anywhere in an item or a map."""
    for value in attributes_of(raw).values():
        check_value(value, native=native, level=level)


def check_value(raw: object, *, native: bool, level: int = 1) -> None:
    """Raise for the first wrong type anywhere in an attribute value."""
    for tag, payload in structure_of(raw).items():
        if payload is None:
            continue
        if tag in ("S", "N"):
            utf8_of(text_of(payload))
        elif tag in ("BOOL", "NULL"):
            boolean_of(payload)
        elif tag == "B":
            binary_of(payload, native=native)
        elif tag in SET_TYPES:
            _check_set(tag, payload, native=native)
        # Deeper than the limit no type is looked at: a Python structure may contain itself.
        elif tag == "M" and level < NESTING_LEVELS_MAX:
            check_attributes(payload, native=native, level=level + 1)
        elif tag == "L" and level < NESTING_LEVELS_MAX:
            for member in members_of(payload, native=False):
                check_value(member, native=native, level=level + 1)


def _check_set(tag: str, payload: object, *, native: bool) -> None:
    for member in members_of(payload, native=native):
        if member is None:
            continue
        if tag == "BS":
            binary_of(member, native=native)
        else:
            utf8_of(text_of(member))


def _is_list(payload: object) -> bool:
    return isinstance(payload, list | tuple | set | frozenset)


def _not_convertible(payload: object, java_class: str) -> SerializationError:
    if isinstance(payload, Mapping):
        return SerializationError(_UNEXPECTED_MAP)
    if _is_list(payload):
        return SerializationError(f"Unrecognized collection type class java.lang.{java_class}")
    if isinstance(payload, bool):
        token = "TRUE_VALUE" if payload else "FALSE_VALUE"
    elif isinstance(payload, int):
        token = "NUMBER_VALUE"
    elif isinstance(payload, float):
        token = "DECIMAL_VALUE"
    else:
        # Only a Python caller can hand over something that JSON has no word for.
        token = type(payload).__name__
    return SerializationError(f"{token} cannot be converted to {java_class}")


def _from_base64(text: str) -> bytes:
    if len(text) % 4:
        raise SerializationError(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
        )
    try:
        data = a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError):
        data = None
    # Canonical text has no bits behind its last byte ("YR==" would lose some).
    if data is None or b2a_base64(data, newline=False) != text.encode():
        raise SerializationError("Invalid last non-pad Base64 character dectected")
    return data
