"""The names of restaurants: ten that are written down, then as many as anybody wants."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

_FIRST: Final = (
    "Niagara",
    "Gröna Lunden",
    "Mormors Kök",
    "La Cantina",
    "Åkanten",
    "Öster om ån",
    "Sjöhästen",
    "Bruket",
    "Kök & Bar 8",
    "Spisa-hos-Helena",
)
_TOWNS: Final = (
    "Malmö",
    "Lund",
    "Växjö",
    "Örebro",
    "Umeå",
    "Luleå",
    "Gävle",
    "Borås",
    "Västerås",
    "Östersund",
    "Jönköping",
)
_KINDS: Final = (
    "Krogen",
    "Köket",
    "Matsalen",
    "Gården",
    "Kvarnen",
    "Värdshuset",
    "Lunchhörnan",
    "Skafferiet",
)
_SIGNS: Final = (
    "Gyllene Gåsen",
    "Blå Dörren",
    "Tre Smeder",
    "Lilla Torg",
    "Stora Ekens",
    "Röda Stugan",
    "Gamla Bryggeriets",
    "Norra Hamnens",
    "Sjöutsiktens",
    "Järnvägens",
    "Rådhusets",
    "Tant Gröns",
    "Farbror Blås",
    "Kapten Svärds",
    "Änglarnas",
    "Björkarnas",
    "Havsörnens",
    "Fyrvaktarens",
    "Slussens",
    "Sågens",
    "Glasblåsarens",
    "Smålands",
    "Dalslands",
)


def restaurants() -> Iterator[str]:
    """Return names, each once: ten, and then two thousand and more."""
    yield from _FIRST
    for sign, kind, town in product(_SIGNS, _KINDS, _TOWNS):
        yield f"{sign} {kind} {town}"
