"""The words that a card is found by without a search engine: those of its title, its tags and its category.

A word is found whole, in any case and without accents. Words of the description and the instructions are in the
search index only. A card has fifty words at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from singletable.systems import plain_text

TOKENS_MAX: Final = 50
TOKEN_LETTERS_MIN: Final = 2
TOKEN_LETTERS_MAX: Final = 40


def token(word: str) -> str:
    """Return a word in the form in which it is looked for: Öl! is ol."""
    return " ".join(plain_text(word).split())[:TOKEN_LETTERS_MAX]


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without accents, each once."""
    found = plain_text(text).split()
    return [word[:TOKEN_LETTERS_MAX] for word in dict.fromkeys(found) if len(word) >= TOKEN_LETTERS_MIN]


def tokens(title: str, tags: Iterable[str], category: str) -> list[str]:
    """Return the words that a card is found by, those of the title first."""
    return list(dict.fromkeys(words(" ".join((title, *tags, category)))))[:TOKENS_MAX]
