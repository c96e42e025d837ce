"""Texts as they are drawn: which characters can be shown, how wide they are, and where they are cut.

The font of a viewer is unknown. Widths are estimates for wide fonts, so that a text rather ends early than runs
over its edge.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from singletable.visible import is_visible

ELLIPSIS: Final = "…"
_ROUNDING: Final = 1e-6  # rounding error of a sum of widths that is compared with itself

_NARROW: Final = frozenset("iljtfrI.,:;'|!()[]/\\ `")
_WIDE: Final = frozenset("mwMW@%—…")


def shown(text: str) -> str:
    """Return a text with something to see for every character that XML, or the eye, does not take."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the pictures of control characters
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if not is_visible(character) or code & 0xFFFE == 0xFFFE:
        return f"\\u{{{code:x}}}"
    return character


def text_width(text: str, size: float, *, is_mono: bool) -> float:
    """Estimate how wide a text is, in pixels, in a font of this size."""
    return size * sum(_width(character, is_mono) for character in text)


def _width(character: str, is_mono: bool) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.2 if is_mono else 1.0
    if is_mono:
        return 0.61
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.98
    return 0.72 if character.isupper() else 0.61


def fitting(text: str, width: float, size: float, *, is_mono: bool) -> int:
    """Return how many characters of a text there is room for."""
    room = width
    for place, character in enumerate(text):
        room -= size * _width(character, is_mono)
        if room < -_ROUNDING:
            return place
    return len(text)


def cut(text: str, width: float, size: float, *, is_mono: bool) -> str:
    """Return the text, or as much of it as there is room for, with an ellipsis."""
    if fitting(text, width, size, is_mono=is_mono) == len(text):
        return text
    room = width - text_width(ELLIPSIS, size, is_mono=is_mono)
    return text[: fitting(text, room, size, is_mono=is_mono)].rstrip() + ELLIPSIS


def shortened(text: str, characters_max: int) -> str:
    """Return the text, or its beginning with an ellipsis."""
    return text if len(text) <= characters_max else text[: characters_max - 1].rstrip() + ELLIPSIS
