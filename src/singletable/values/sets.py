"""The order in which the members of a set are kept.

A set has none of its own, but the service answers with its members sorted: text and bytes by their bytes, numbers
by their value (DynamoDB Local does too). Kept in that order, equal sets are equal lists.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Iterable

from singletable.values.keys import number_key_bytes


def in_order(tag: str, members: Iterable[str]) -> list[str]:
    """Return the payload of a set of type `tag`, with its members in order."""
    if tag == "SS":
        return sorted(members)
    return sorted(members, key=number_key_bytes if tag == "NS" else a2b_base64)
