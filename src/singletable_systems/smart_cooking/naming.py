"""What may be the name of an ingredient, whoever gives it; and the forms that an English one has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.normalizing import has_normal_form, normalize

NAME_LETTERS_MAX: Final = 100
_STEM_LETTERS_MIN: Final = 3  # "gas" is not the plural of "ga", which is a hen


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
