"""Python values as DynamoDB's attribute values, and back; and the size of an item."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from singletable.design.values.arguments import shown_value
from singletable.errors import InvalidWriteError, ItemTooLargeError, LargeItemWarning
from singletable.limits import ITEM_BYTES_MAX, KIB
from singletable.values import sizes
from singletable.values.sizes import value_bytes

AttributeValue = dict[str, Any]
Item = dict[str, AttributeValue]
ModelEncode = Callable[[BaseModel], Item]

NULL: Final[AttributeValue] = {"NULL": True}

_EXPONENT_MAX: Final = 200  # of what is written out; DynamoDB takes no number that has a greater one


def time_text(value: datetime) -> str:
    """Return the one text of a time: UTC, with milliseconds, so that texts sort as times do."""
    if value.tzinfo is not UTC:
        if value.utcoffset() is None:
            raise InvalidWriteError(
                f"{value.isoformat()} has no time zone, so it cannot be stored",
                hint="datetime.now(UTC), or value.replace(tzinfo=UTC) if it is in UTC",
            )
        value = value.astimezone(UTC)
    return f"{value.isoformat(timespec='milliseconds')[:23]}Z"


def number_text(value: int | float | Decimal) -> str:
    """Return a number as DynamoDB stores it: without an exponent, and without zeros behind the last digit.

    A float has the digits that Python shows of it. DynamoDB Local keeps numbers inside of maps as they are sent,
    so one text of each number is sent everywhere.
    """
    if isinstance(value, float):
        value = Decimal(repr(value))
    if not isinstance(value, Decimal):
        return str(value)
    if not value.is_finite():
        raise InvalidWriteError(f"{value} is no number that can be stored")
    if not value:
        return "0"
    text = str(value)
    if "E" in text:
        if abs(value.adjusted()) > _EXPONENT_MAX:
            return text
        text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def encode(value: object, model_item: ModelEncode) -> AttributeValue:
    """Return the attribute value of a Python value. `model_item` stores the models inside it."""
    simple = _ENCODERS.get(type(value))
    if simple is not None:
        return simple(value)
    if isinstance(value, BaseModel):
        return {"M": model_item(value)}
    if isinstance(value, Mapping):
        return {"M": {_member_name(name): encode(inner, model_item) for name, inner in value.items()}}
    if isinstance(value, list | tuple):
        return {"L": [encode(inner, model_item) for inner in value]}
    if isinstance(value, set | frozenset):
        return _set(value)
    if isinstance(value, enum.Enum):
        return encode(value.value, model_item)
    for base, encoder in _ENCODERS.items():
        if isinstance(value, base):
            return encoder(value)
    return encode(_jsonable(value), model_item)


def decode(value: AttributeValue) -> Any:
    """Return the Python value of an attribute value: numbers are int, or Decimal when they have a fraction."""
    for tag, content in value.items():
        return content if tag == "S" else _DECODERS[tag](content)
    raise ValueError("an attribute value is empty")


def decode_any(value: AttributeValue | None) -> Any:
    """Return the Python value of an attribute value; None of an attribute that is not there."""
    return None if value is None else decode(value)


def shown_key(key: Item) -> str:
    """Return a key of the table as people write it: `USER#1 / PROFILE`."""
    return " / ".join(str(text) for value in key.values() for text in value.values())


def is_empty(value: object) -> bool:
    """Tell whether a value is stored as no attribute: None, and a set without members."""
    return value is None or (isinstance(value, set | frozenset) and not value)


def _jsonable(value: object) -> object:
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError:
        raise InvalidWriteError(f"{type(value).__name__} is no type that can be stored") from None


def _member_name(name: object) -> str:
    """Return the text of a dict's key. A read converts it back to the type of the field."""
    plain = of_enum(name)
    if isinstance(plain, datetime):
        return time_text(plain)
    if plain == "":
        raise InvalidWriteError(
            "a name inside a dict is empty, and DynamoDB has no attributes without a name"
        )
    return str(plain)


def of_enum(value: object) -> Any:
    """Return the value of a member of an enum; any other value as it is."""
    return value.value if isinstance(value, enum.Enum) else value


def _set(members: set[object] | frozenset[object]) -> AttributeValue:
    values = [of_enum(member) for member in members]
    if not values:
        return {"L": []}  # DynamoDB has no empty sets; a list is read as a set too
    if all(isinstance(value, bytes) for value in values):
        return {"BS": sorted(values)}
    if all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in values):
        return {"NS": [number_text(value) for value in sorted(values)]}
    texts = [time_text(value) if isinstance(value, datetime) else _jsonable(value) for value in values]
    if all(isinstance(text, str) for text in texts):
        return {"SS": sorted(texts)}
    raise InvalidWriteError("a set is of texts, of numbers or of bytes: DynamoDB knows no others")


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


_ENCODERS: Final[dict[type[Any], Callable[[Any], AttributeValue]]] = {
    str: lambda value: {"S": value},
    bool: lambda value: {"BOOL": value},
    int: lambda value: {"N": str(value)},
    Decimal: lambda value: {"N": number_text(value)},
    float: lambda value: {"N": number_text(value)},
    datetime: lambda value: {"S": time_text(value)},
    date: lambda value: {"S": value.isoformat()},
    bytes: lambda value: {"B": value},
    type(None): lambda value: NULL,
}

_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "N": _number,
    "BOOL": lambda value: value,
    "NULL": lambda value: None,
    "B": lambda value: bytes(value),
    "M": lambda value: {name: decode(inner) for name, inner in value.items()},
    "L": lambda value: [decode(inner) for inner in value],
    "SS": set,
    "NS": lambda value: {_number(text) for text in value},
    "BS": lambda value: {bytes(member) for member in value},
}


def sortable(value: AttributeValue) -> Any:
    """Return the value of a key in a form that Python sorts in DynamoDB's order."""
    # Python orders texts by code point, which is the order of their UTF-8 bytes, and so DynamoDB's.
    return Decimal(value["N"]) if "N" in value else value["S"]


KeyId = tuple[tuple[str, str, object], ...]


def hashable(key: Item) -> KeyId:
    """Return a key of the table in a hashable form."""
    parts = [
        (name, tag, Decimal(value) if tag == "N" else value)  # "7.0" is stored as "7"
        for name, tagged in key.items()
        for tag, value in tagged.items()
    ]
    parts.sort()
    return tuple(parts)


ITEM_BYTES_LARGE: Final = 100 * KIB


def attribute_bytes(value: AttributeValue) -> int:
    """Return the size of an attribute's value, as DynamoDB counts it; refuse a text that cannot be stored."""
    try:
        return value_bytes(value)
    except UnicodeEncodeError as error:
        raise _half_a_character(error) from error


def item_bytes(item: Item) -> int:
    """Return the size of an item, as DynamoDB counts it; refuse a text that cannot be stored."""
    try:
        return sizes.item_bytes(item)
    except UnicodeEncodeError as error:
        raise _half_a_character(error) from error


def _half_a_character(error: UnicodeEncodeError) -> InvalidWriteError:
    return InvalidWriteError(
        f"{shown_value(error.object)} cannot be stored: it holds one half of a character that has two",
        hint="texts that were cut, or read with errors='surrogateescape', hold such halves",
    )


def check_size(item: Item, entity: type[object]) -> int:
    """Refuse an item that is larger than DynamoDB takes; warn of one that is large; return its size."""
    size = item_bytes(item)
    if size <= ITEM_BYTES_LARGE:
        return size
    name, value = max(item.items(), key=lambda pair: attribute_bytes(pair[1]))
    largest = f"{name} takes {attribute_bytes(value) / KIB:.1f} KB of it"
    if size > ITEM_BYTES_MAX:
        raise ItemTooLargeError(
            f"an item of {entity.__name__} has {size / KIB:.1f} KB, and 400 KB are possible: {largest}",
            hint="mark the field Compressed(), or keep what is in it elsewhere and store where that is",
        )
    warnings.warn(
        f"{LargeItemWarning.number}: an item of {entity.__name__} has {size / KIB:.1f} KB: {largest}. Each write "
        "pays for all of it, in the table and in every index",
        LargeItemWarning,
        stacklevel=2,
    )
    return size


def is_same_item(stored: Item, item: Item) -> bool:
    """Tell whether two items are equal, even if their numbers are written differently."""
    return stored.keys() == item.keys() and all(
        value.keys() == item[name].keys() and decode(value) == decode(item[name])
        for name, value in stored.items()
    )
