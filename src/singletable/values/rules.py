"""Every rule that DynamoDB has for an attribute value, and its words for each that is broken.

DynamoDB words some refusals in two ways. The older wording is that of BatchWriteItem, TransactWriteItems,
TransactGetItems and PartiQL; the other operations have a newer one (both recorded from the service by
dynoxide in several regions in October 2026).
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from singletable.errors import INVALID, ValidationError
from singletable.limits import ATTRIBUTE_NAME_BYTES_MAX, NESTING_LEVELS_MAX
from singletable.values.json_types import (
    attributes_of,
    binary_of,
    boolean_of,
    members_of,
    structure_of,
    text_of,
    utf8_of,
)
from singletable.values.numbers import NOT_A_NUMBER, normalize
from singletable.values.refused import ValueRefusedError
from singletable.values.sets import in_order
from singletable.values.sizes import CONTAINER_BYTES, ELEMENT_BYTES, number_bytes
from singletable.values.types import ATTRIBUTE_TYPES, SET_TYPES, Item, Value

_NO_TYPE: Final = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
_SEVERAL_TYPES: Final = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
_NULL_NOT_TRUE: Final = f"{INVALID}Null attribute value types must have the value of true"
# The two spaces are DynamoDB's.
_EMPTY_SETS: Final = {
    "SS": f"{INVALID}An string set  may not be empty",
    "NS": f"{INVALID}An number set  may not be empty",
    "BS": f"{INVALID}Binary sets should not be empty",
}
_NULL_MEMBERS: Final = {
    "SS": f"{INVALID}An string set may not have a null string as a member",
    "NS": f"{INVALID}An number set may not have a null string as a member",
    "BS": f"{INVALID}Binary sets may not contain null values",
}
_TOO_DEEP: Final = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
_EMPTY_NAME: Final = "Empty attribute name"
_NAME_TOO_LONG: Final = f"Attribute name is too large, must be less than {ATTRIBUTE_NAME_BYTES_MAX + 1} bytes"


class Source:
    """Where a value comes from: from Python or as JSON, and from an operation of which wording."""

    # A plain class, because a dataclass would add 0.6 ms to the import.
    __slots__ = ("native", "older")

    def __init__(self, *, native: bool, older: bool) -> None:
        self.native = native
        self.older = older


def checked_attributes(raw: object, source: Source, level: int) -> tuple[Item, int]:
    """Return a checked copy of an item or map and the size of its names and values."""
    item: Item = {}
    size = 0
    for name, value in attributes_of(raw).items():
        plain_name = text_of(name)
        size += checked_name_bytes(plain_name)
        item[plain_name], value_size = checked_value(value, source, level)
        size += value_size
    return item, size


def checked_value(raw: object, source: Source, level: int) -> tuple[Value, int]:
    """Return a checked copy of an attribute value and its size.

    `level` counts the containers around the value; the item itself is the first.
    """
    # Unknown members are ignored, and a member that is null counts as absent.
    present = [
        (tag, payload)
        for tag, payload in structure_of(raw).items()
        if payload is not None and tag in ATTRIBUTE_TYPES
    ]
    if not present:
        raise ValidationError(_NO_TYPE)
    if len(present) > 1:
        raise _several_types(dict(present), native=source.native)
    tag, payload = present[0]
    if tag in ("L", "M"):
        return _checked_container(tag, payload, source, level)
    if tag in SET_TYPES:
        return _checked_set(tag, payload, source)
    return _checked_scalar(tag, payload, source)


def check_names(item: Item) -> None:
    """Raise for a name anywhere in an item, itself checked otherwise, that is empty or too long."""
    for name, value in item.items():
        checked_name_bytes(name)
        for member in value.get("L", ()):
            check_names({name: member})
        check_names(value.get("M", {}))


def checked_name_bytes(name: str) -> int:
    """Return the size of the name of an attribute, or raise its error."""
    if not name:
        raise ValueRefusedError(_EMPTY_NAME)
    size = len(utf8_of(name))
    if size > ATTRIBUTE_NAME_BYTES_MAX:
        raise ValueRefusedError(_NAME_TOO_LONG)
    return size


def _checked_scalar(tag: str, payload: object, source: Source) -> tuple[Value, int]:
    if tag == "S":
        text = text_of(payload)
        return {"S": text}, len(utf8_of(text))
    if tag == "N":
        number = _checked_number(text_of(payload), older=source.older)
        return {"N": number}, number_bytes(number)
    if tag == "B":
        data = binary_of(payload, native=source.native)
        return {"B": _base64(data)}, len(data)
    truth = boolean_of(payload)
    if tag == "BOOL":
        return {"BOOL": truth}, 1
    if not truth:
        # The word "false" is refused outside the envelope, the JSON value inside it.
        raise ValueRefusedError(_NULL_NOT_TRUE) if payload is False else ValidationError(_NULL_NOT_TRUE)
    return {"NULL": True}, 1


def _checked_number(text: str, *, older: bool) -> str:
    if older and not text:
        raise ValidationError(NOT_A_NUMBER)
    return normalize(text)


def _checked_set(tag: str, payload: object, source: Source) -> tuple[Value, int]:
    raw_members = members_of(payload, native=source.native)
    if not raw_members:
        raise ValueRefusedError(_EMPTY_SETS[tag])
    if None in raw_members:
        raise ValueRefusedError(_NULL_MEMBERS[tag])
    if tag == "BS":
        binaries = [binary_of(member, native=source.native) for member in raw_members]
        if len(set(binaries)) != len(binaries):
            raise ValueRefusedError(_binary_duplicates(binaries, older=source.older))
        return {"BS": [_base64(data) for data in sorted(binaries)]}, sum(map(len, binaries))
    texts = [text_of(member) for member in raw_members]
    if tag == "SS":
        size = sum([len(utf8_of(text)) for text in texts])
        if len(set(texts)) != len(texts):
            raise ValueRefusedError(_text_duplicates(texts, older=source.older))
        return {"SS": sorted(texts)}, size
    numbers = [_checked_number(text, older=source.older) for text in texts]
    # 1 and 1.0 are one number.
    if len(set(numbers)) != len(numbers):
        raise ValueRefusedError(_number_duplicates(older=source.older))
    return {"NS": in_order("NS", numbers)}, sum(map(number_bytes, numbers))


def _checked_container(tag: str, payload: object, source: Source, level: int) -> tuple[Value, int]:
    # A value may stand inside 31 lists and maps, and the last of them may not be empty: the item is a level, and
    # so are the contents of a container (DynamoDB Local draws the line there too).
    if level >= NESTING_LEVELS_MAX:
        raise ValueRefusedError(_TOO_DEEP)
    if tag == "M":
        item, size = checked_attributes(payload, source, level + 1)
        return {"M": item}, CONTAINER_BYTES + ELEMENT_BYTES * len(item) + size
    members: list[Value] = []
    size = CONTAINER_BYTES
    for member in members_of(payload, native=False):
        value, value_size = checked_value(member, source, level + 1)
        members.append(value)
        size += ELEMENT_BYTES + value_size
    return {"L": members}, size


def _several_types(present: Mapping[str, Any], *, native: bool) -> ValidationError:
    """Return the error of a value of several types: first an empty set, a number, a false NULL."""
    for tag, message in _EMPTY_SETS.items():
        if tag in present and not members_of(present[tag], native=native):
            return ValidationError(message)
    numbers = [present["N"]] if "N" in present else []
    numbers += members_of(present["NS"], native=native) if "NS" in present else []
    for number in numbers:
        try:
            _checked_number(text_of(number), older=True)
        except ValidationError as error:
            return ValidationError(error.message)
    if "NULL" in present and not boolean_of(present["NULL"]):
        return ValidationError(_NULL_NOT_TRUE)
    return ValidationError(_SEVERAL_TYPES)


def _text_duplicates(texts: Sequence[str], *, older: bool) -> str:
    if older:
        return f"{INVALID}Input collection [{', '.join(texts)}] contains duplicates."
    import orjson

    quoted = [orjson.dumps(text).decode() for text in _in_duplicate_order(texts)]
    return f"{INVALID}Input collection [{', '.join(quoted)}] contains duplicates."


def _binary_duplicates(binaries: Sequence[bytes], *, older: bool) -> str:
    if older:
        shown = ", ".join([_base64(data) for data in binaries])
    else:
        shown = ",".join([f'"{_base64(data)}"' for data in _in_duplicate_order(binaries)])
    return f"{INVALID}Input collection [{shown}]of type BS contains duplicates."


def _number_duplicates(*, older: bool) -> str:
    if older:
        return "Input collection contains duplicates"
    return f"{INVALID}Input collection contains duplicates."


def _in_duplicate_order(members: Sequence[Any]) -> list[Any]:
    """Order members as the newer message does: sorted up to the first repeat, it, and the rest as sent."""
    read: set[Any] = set()
    for place, member in enumerate(members):
        if member in read:
            return [*sorted(read), *members[place:]]
        read.add(member)
    return list(members)


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()
