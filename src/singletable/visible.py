"""Texts of others, such as names and values, as people may see them: nothing in them steers, turns or hides.

A terminal obeys control characters. Marks of direction let a text read as another one. Characters without width
let two names look the same. Each becomes the escape that JSON has for it; so JSON stays JSON, of the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

# Marks of direction; characters without width; those that end lines or paragraphs; tags; halves of surrogate
# pairs, and what is no character. U+200C and U+200D stay: they shape Persian and Indian letters, and emoji.
_HIDDEN: Final = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f\ud800-\udfff"
)
_STEERING: Final = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_HIDDEN}]")
_BREAKING: Final = re.compile(f"[\x00-\x1f\x7f-\x9f{_HIDDEN}]")


def visible(text: str) -> str:
    """Return a text with escapes for what steers, turns or hides. Its lines and tabs stay."""
    return _STEERING.sub(_escape, text)


def visible_in_line(text: str) -> str:
    """Return a text with such escapes that also stays in its line."""
    return _BREAKING.sub(_escape, text)


def is_visible(character: str) -> bool:
    """Tell whether a character is shown as it is, also in a line."""
    return _BREAKING.match(character) is None


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def meant(given: str, known: Iterable[str]) -> str:
    """Return a sentence that names what was probably meant; nothing if no name is near."""
    near = get_close_matches(given, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]}? " if near else ""
