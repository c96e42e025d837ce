"""Bounds of ranges of key texts, exact in the order of DynamoDB: by the bytes of UTF-8.

Code points are in the order of their bytes, so texts are compared as they are. No key text holds U+10FFFF (the
codecs refuse it), and none is longer than a sort key may be: bounds stay within that length too.
"""

from __future__ import annotations

from typing import Final

from singletable import limits

GREATEST: Final = "\U0010ffff"

# The greatest text of so many bytes, which fills up what a bound may still be long.
_GREATEST_OF: Final = ("", "\x7f", "\u07ff", "\uffff", GREATEST)


def next_prefix(text: str) -> str:
    """Return the smallest text above every text that begins with this one."""
    beginning = text.rstrip(GREATEST)
    if not beginning:
        raise ValueError(f"nothing is above every text that begins with {text!r}")
    bound = beginning[:-1] + _character_after(beginning[-1])
    return bound if _bytes(bound) <= limits.SORT_KEY_BYTES_MAX else next_prefix(beginning[:-1])


def last_of_prefix(text: str) -> str:
    """Return the upper end, itself included, of the key texts that begin with this one."""
    return _filled(text)


def just_above(text: str) -> str:
    """Return the smallest text above this one."""
    bound = text + "\x00"
    return bound if _bytes(bound) <= limits.SORT_KEY_BYTES_MAX else next_prefix(text)


def just_below(text: str) -> str:
    """Return a text below this one that has no key text in between."""
    if not text:
        raise ValueError("nothing is below the empty text")
    if text[-1] == "\x00":
        return text[:-1]
    return _filled(text[:-1] + _character_before(text[-1]))


def _filled(text: str) -> str:
    left = max(0, limits.SORT_KEY_BYTES_MAX - _bytes(text))
    return text + _GREATEST_OF[min(left, 4)]


def _character_after(character: str) -> str:
    return "\ue000" if character == "\ud7ff" else chr(ord(character) + 1)


def _character_before(character: str) -> str:
    return "\ud7ff" if character == "\ue000" else chr(ord(character) - 1)


def _bytes(text: str) -> int:
    return len(text.encode())
