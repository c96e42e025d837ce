"""One plain form of texts, for stored texts and for search terms: `Đánh bóng` is `danh bong`."""

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
    """Return a text in lower case and without accents, with a space for every character but letters and digits."""
    # A decomposed text may need folding (the sign for a trade mark), and a folded text decomposing (İ).
    folded = unicodedata.normalize("NFKD", text).casefold()
    letters = unicodedata.normalize("NFKD", folded).translate(_LETTERS)
    kept = (letter if letter.isalnum() else " " for letter in letters if not unicodedata.combining(letter))
    return "".join(kept)
