"""How large an item is, and what to say of one that is too large."""

from __future__ import annotations

import warnings
from typing import Any, Final

from singletable.design.stored_values import AttributeValue, Item
from singletable.errors import ItemTooLargeError, LargeItemWarning
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
            return text_bytes(content)
        case "N":
            return number_bytes(content)
        case "B":
            return len(content)
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(map(text_bytes, content))
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


def item_bytes(item: Item) -> int:
    """Return the size of an item, as DynamoDB counts it."""
    return sum(text_bytes(name) + attribute_bytes(value) for name, value in item.items())


def check_size(item: Item, entity: type[Any]) -> None:
    """Refuse an item that is larger than DynamoDB takes; warn of one that is large."""
    size = item_bytes(item)
    if size <= ITEM_BYTES_LARGE:
        return
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
