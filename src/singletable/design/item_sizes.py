"""How large an item is, and what to say of one that is too large."""

from __future__ import annotations

import warnings
from typing import Any, Final

from singletable.design.arguments import shown_value
from singletable.design.stored_values import AttributeValue, Item
from singletable.errors import InvalidWriteError, ItemTooLargeError, LargeItemWarning
from singletable.limits import ITEM_BYTES_MAX, KIB
from singletable.values.sizes import number_bytes, text_bytes

ITEM_BYTES_LARGE: Final = 100 * KIB
_ELEMENT_BYTES: Final = 1
_CONTAINER_BYTES: Final = 3


def attribute_bytes(value: AttributeValue) -> int:
    """Return the size of an attribute's value, as DynamoDB counts it."""
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return _text_bytes(content)
        case "N":
            return number_bytes(content)
        case "B":
            return len(content)
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(map(_text_bytes, content))
        case "NS":
            return sum(map(number_bytes, content))
        case "BS":
            return sum(map(len, content))
        case "L":
            return _CONTAINER_BYTES + sum(attribute_bytes(member) + _ELEMENT_BYTES for member in content)
        case _:
            return _CONTAINER_BYTES + sum(
                text_bytes(name) + attribute_bytes(member) + _ELEMENT_BYTES
                for name, member in content.items()
            )


def _text_bytes(text: str) -> int:
    try:
        return text_bytes(text)
    except UnicodeEncodeError as error:
        raise InvalidWriteError(
            f"{shown_value(text)} cannot be stored: it holds one half of a character that has two",
            hint="texts that were cut, or read with errors='surrogateescape', hold such halves",
        ) from error


def item_bytes(item: Item) -> int:
    """Return the size of an item, as DynamoDB counts it."""
    size = 0
    for name, value in item.items():
        text = value.get("S")
        if text is not None and text.isascii() and name.isascii():  # most attributes are such, so it is fast
            size += len(name) + len(text)
        else:
            size += text_bytes(name) + attribute_bytes(value)
    return size


def check_size(item: Item, entity: type[Any]) -> int:
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
