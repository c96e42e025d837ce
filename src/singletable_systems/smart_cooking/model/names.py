"""Names of ingredients: their one normal form, for writes and for reads, `Thịt gà` is `thit ga`; what may be one.

000 writes `thit-ga` and 002 `thit ga` (SC-15): separators of words make no difference here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.systems import plain_text
from singletable_systems.smart_cooking.errors import InvalidInputError

NAME_LETTERS_MAX: Final = 100
_STEM_LETTERS_MIN: Final = 3  # "gas" is not the plural of "ga", which is a hen
NORMAL_BYTES_MAX: Final = 1_000  # with the prefix of the key, a normal form fits into a sort key


def normalize(text: str) -> str:
    """Return a text in lower case and without accents, its words of letters and digits joined by single spaces."""
    return " ".join(plain_text(text).split())


def has_normal_form(text: str) -> bool:
    """Tell whether a text has letters, and not more than a key can hold."""
    return 0 < len(normalize(text).encode(errors="replace")) <= NORMAL_BYTES_MAX


def require_name(text: str) -> str:
    """Return a name without the spaces around it; refuse one that has no letters, or very many."""
    name = " ".join(text.split())
    if not normalize(name):
        raise InvalidInputError(f"{text!r} is no name: it has no letters")
    if len(name) > NAME_LETTERS_MAX or not has_normal_form(name):
        raise InvalidInputError(f"a name may have {NAME_LETTERS_MAX} letters, and this one has {len(name)}")
    return name


def singular_and_plural(normalized_name: str) -> list[str]:
    """Return a normal name, and what it may be in the singular and in the plural: "peanuts" and "peanut".

    Simple English forms in s, by rule and not by meaning: some of them are no words, and do no harm.
    """
    return list(dict.fromkeys([normalized_name, *_forms(normalized_name)]))


def _forms(name: str) -> Iterator[str]:
    for ending, other in (("s", ""), ("es", ""), ("ies", "y")):
        stem = name.removesuffix(ending)
        if stem != name and len(stem) >= _STEM_LETTERS_MIN:
            yield stem + other
    yield from (name + "s", name + "es")
    if name.endswith("y"):
        yield name[:-1] + "ies"
