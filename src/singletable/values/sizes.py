"""How many bytes a value or an item counts for (AWS guide, "DynamoDB item sizes and formats")."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from singletable.values.types import Value

# "An attribute of type List or Map requires 3 bytes of overhead, regardless of its contents", and "each List
# or Map element also requires 1 byte of overhead" (the guide).
CONTAINER_BYTES: Final = 3
ELEMENT_BYTES: Final = 1

_NUMBER_BYTES_MAX: Final = 21


def text_bytes(text: str) -> int:
    """Return the length of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def number_bytes(canonical: str) -> int:
    """Return the size of a canonical number.

    The guide says "approximately 1 byte per two significant digits + 1". Exactly: one byte, one for each pair
    of digits (pairs are counted from the decimal point, pairs of zeros at either end do not count), one more
    for a negative number, and never more than 21. So 12 and 1200 take 2 bytes, 120 and 1.2 take 3. This fits
    every literal that has been measured to the byte on the service, and DynamoDB Local to the byte.
    """
    negative = canonical[0] == "-"
    digits = canonical[1:] if negative else canonical
    if "." not in digits:
        if digits == "0":
            return 1
        size = 1 + ((len(digits) + 1) >> 1)
        if digits[-1] == "0":
            size -= (len(digits) - len(digits.rstrip("0"))) >> 1
    else:
        whole, _, fraction = digits.partition(".")
        size = 1 + ((len(fraction) + 1) >> 1)
        if whole == "0":
            size -= (len(fraction) - len(fraction.lstrip("0"))) >> 1
        else:
            size += (len(whole) + 1) >> 1
    return min(size + 1, _NUMBER_BYTES_MAX) if negative else size


def binary_bytes(content: str | bytes) -> int:
    """Return the length of bytes, or of the bytes that a canonical base64 text encodes."""
    if isinstance(content, str):
        return (len(content) >> 2) * 3 - content.count("=")
    return len(content)


def value_bytes(value: Value) -> int:
    """Return the size of a value."""
    ((tag, payload),) = value.items()
    match tag:
        case "S":
            return text_bytes(payload)
        case "N":
            return number_bytes(payload)
        case "B":
            return binary_bytes(payload)
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(map(text_bytes, payload))
        case "NS":
            return sum(map(number_bytes, payload))
        case "BS":
            return sum(map(binary_bytes, payload))
        case "L":
            return CONTAINER_BYTES + ELEMENT_BYTES * len(payload) + sum(map(value_bytes, payload))
        case _:
            return CONTAINER_BYTES + ELEMENT_BYTES * len(payload) + item_bytes(payload)


def item_bytes(item: Mapping[str, Any]) -> int:
    """Return the size of an item: its names and its values."""
    size = 0
    for name, value in item.items():
        text = value.get("S")
        if text is not None and text.isascii() and name.isascii():  # most attributes are such, so it is fast
            size += len(name) + len(text)
        else:
            size += text_bytes(name) + value_bytes(value)
    return size


# --- as it is stored ---------------------------------------------------------------------------------

_CHUNK_BYTES: Final = 3072
_CHUNK_OVERHEAD_BYTES: Final = 18
_ITEM_OVERHEAD_BYTES: Final = 2


def stored_item_bytes(item: Mapping[str, Any], sort_names: Container[str]) -> int:
    """Return the size of an item for the end of a page of 1 MB: AWS counts stored bytes there.

    The service has not published it. dynalite's tests of pages ("just under limit", "just over limit"), which ran
    against it, hold it to the byte, for tables and for all types but documents: a name counts for one byte, a text
    or a binary value has its length before it, a number and a set have a byte more, a member of a set has its
    length. Each begun piece of 3 KB has 18 bytes and the sort key once more. Nobody has recorded documents and
    truths, which came later: they count as their size here.
    """
    stored = sort = 0
    for name, value in item.items():
        if name in sort_names:
            sort += value_bytes(value)
        else:
            stored += 1 + _stored_value_bytes(value)
    pieces = 1 + (1 + stored) // _CHUNK_BYTES
    return _ITEM_OVERHEAD_BYTES + stored + pieces * (_CHUNK_OVERHEAD_BYTES + sort)


def _stored_value_bytes(value: Value) -> int:
    ((tag, payload),) = value.items()
    match tag:
        case "S":
            return _with_length(text_bytes(payload))
        case "B":
            return _with_length(binary_bytes(payload))
        case "N":
            return 1 + number_bytes(payload)
        case "SS":
            return 1 + sum([_with_length(text_bytes(text)) for text in payload])
        case "BS":
            return 1 + sum([_with_length(binary_bytes(member)) for member in payload])
        case "NS":
            return 1 + sum([1 + number_bytes(number) for number in payload])
        case _:
            return value_bytes(value)


def _with_length(size: int) -> int:
    """Return the size of some bytes and of their length, of which a byte holds seven bits."""
    return size + (1 if size < 1 << 7 else 2 if size < 1 << 14 else 3)
