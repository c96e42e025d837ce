"""The colour of each entity: the same in all views, in light and in dark, with a text that can be read on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from singletable.drawing.picture import UNKNOWN

# The first seven are those of Okabe and Ito, which people with any colour vision tell apart. Each of the others is
# the one furthest from all before it, to the worst of normal, red-, green- and blue-blind eyes.
PALETTE: Final = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#4b3a8c",
    "#8d1c11", "#4fe0cb", "#77586c", "#99c68f", "#927fe7", "#b54436", "#8dccf9", "#713654",
    "#b7e18c", "#88718d", "#63b376", "#eabf3a", "#c79ea9", "#45558a", "#e77f3e", "#5f765a",
)  # fmt: skip
_UNKNOWN_COLOUR: Final = "#8c959f"
_DARK, _LIGHT = "#000000", "#ffffff"


@dataclass(frozen=True, slots=True)
class Colour:
    """The colour of an entity, and that of text on it."""

    fill: str
    text: str


def colours_of(entities: Sequence[str]) -> dict[str, Colour]:
    """Give each entity its colour. From the 25th on they come again: their names tell them apart."""
    found = {name: colour(PALETTE[place % len(PALETTE)]) for place, name in enumerate(entities)}
    return {UNKNOWN: colour(_UNKNOWN_COLOUR), **found}


def colour(fill: str) -> Colour:
    """Return a colour with the text on it that has the higher contrast, which is 4.5 at least."""
    return Colour(fill, max(_DARK, _LIGHT, key=lambda text: contrast(fill, text)))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it: from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(fill: str) -> float:
    red, green, blue = (_linear(int(fill[place : place + 2], 16) / 255) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
