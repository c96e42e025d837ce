"""Equality and order of values. Sets are equal in any order of members; only S, N and B have an order."""

from __future__ import annotations

from binascii import a2b_base64

from singletable.values.numbers import compare as compare_numbers
from singletable.values.types import SET_TYPES, Value


def equal(left: Value, right: Value) -> bool:
    """Tell whether two values are equal."""
    if left == right:
        return True
    ((left_tag, left_payload),) = left.items()
    ((right_tag, right_payload),) = right.items()
    if left_tag != right_tag:
        return False
    if left_tag in SET_TYPES:
        return len(left_payload) == len(right_payload) and set(left_payload) == set(right_payload)
    if left_tag == "L":
        return len(left_payload) == len(right_payload) and all(map(equal, left_payload, right_payload))
    if left_tag == "M":
        return left_payload.keys() == right_payload.keys() and all(
            equal(member, right_payload[name]) for name, member in left_payload.items()
        )
    return False


def order(left: Value, right: Value) -> int | None:
    """Return -1, 0 or 1 as one value is less than, equal to or greater than another; None without an order."""
    ((left_tag, left_payload),) = left.items()
    right_payload = right.get(left_tag)
    if right_payload is None:
        return None
    if left_tag == "S":
        # Code points sort as their UTF-8 bytes do.
        return int(left_payload > right_payload) - int(left_payload < right_payload)
    if left_tag == "N":
        return compare_numbers(left_payload, right_payload)
    if left_tag == "B":
        left_data, right_data = a2b_base64(left_payload), a2b_base64(right_payload)
        return int(left_data > right_data) - int(left_data < right_data)
    return None


def less(left: Value, right: Value) -> bool:
    """Tell whether one value sorts before another; values without a common order never do."""
    return order(left, right) == -1
