"""One plain form of texts, for what is written and for what is looked for: `Đánh bóng` is `danh bong`."""

from __future__ import annotations

import unicodedata
from typing import Final

# Letters that Unicode does not decompose into a plain one and a mark, as OpenSearch's asciifolding writes them.
_LETTERS: Final = str.maketrans(
    {
        **dict(zip("đðɗɓħ\u0131ƙłŋøŧƴ", "dddbhiklnoty", strict=True)),
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
    }
)


def plain_text(text: str) -> str:
    """Return a text in lower case and without accents, with a space for all that is no letter and no digit."""
    # What decomposes may need folding (the sign for a trade mark), and what was folded decomposing (İ).
    folded = unicodedata.normalize("NFKD", text).casefold()
    letters = unicodedata.normalize("NFKD", folded).translate(_LETTERS)
    kept = (letter if letter.isalnum() else " " for letter in letters if not unicodedata.combining(letter))
    return "".join(kept)
