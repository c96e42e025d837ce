"""Colours that everybody can tell apart, texts that can be read on them, and texts that fit."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.drawing.colours import PALETTE, colours_of, contrast
from singletable.drawing.texts import cut, shortened, shown, text_width

Matrix = tuple[tuple[float, float, float], ...]

# What people see who lack one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1.
EYES: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.3039),
    ),
}
JUST_NOTICEABLE = 0.02  # in Oklab


def seen(colour: str, eyes: Matrix) -> tuple[float, float, float]:
    """Return a colour in Oklab, as these eyes see it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    r, g, b = (
        min(1.0, max(0.0, sum(factor * c for factor, c in zip(row, linear, strict=True)))) for row in eyes
    )
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def nearest(colours: tuple[str, ...], eyes: Matrix) -> float:
    return min(math.dist(seen(one, eyes), seen(other, eyes)) for one, other in combinations(colours, 2))


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
def test_colours_differ_to_all_eyes(eyes: Matrix) -> None:
    assert nearest(PALETTE[:8], eyes) > 3.5 * JUST_NOTICEABLE
    assert nearest(PALETTE, eyes) > 2 * JUST_NOTICEABLE


def test_palette_has_24_colours() -> None:
    assert len(set(PALETTE)) == len(PALETTE) == 24


def test_text_on_every_colour_can_be_read() -> None:
    for colour in colours_of([f"E{number}" for number in range(24)]).values():
        assert contrast(colour.fill, colour.text) >= 4.5


def test_entity_keeps_its_colour_and_the_25th_begins_again() -> None:
    names = [f"E{number}" for number in range(25)]
    colours = colours_of(names)
    assert colours["E0"].fill == colours["E24"].fill == PALETTE[0]
    assert colours["E7"] == colours_of(names[:8])["E7"]


@given(st.text(), st.floats(min_value=10, max_value=500), st.booleans())
def test_cut_text_is_no_wider_than_there_is_room(text: str, width: float, is_mono: bool) -> None:
    found = cut(text, width, 10.0, is_mono=is_mono)
    assert found == text or found.endswith("…")
    assert text_width(found, 10.0, is_mono=is_mono) <= width + 1e-6
    assert text.startswith(found.removesuffix("…"))


@given(st.text(alphabet=st.characters()))
def test_what_is_shown_has_nothing_that_xml_refuses(text: str) -> None:
    for character in shown(text):
        code = ord(character)
        assert 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
        assert not 0x7F <= code < 0xA0


def test_shortened_text_says_that_it_is() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
