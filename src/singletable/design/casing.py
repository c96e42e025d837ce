"""How Python names are stored: the documents' own names, by a rule that a design states once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, get_args

Casing = Literal["snake", "camel", "pascal", "kebab"]


def stored_name(name: str, casing: Casing) -> str:
    """Return the name under which a field is stored: `batch_id` as `batchId`."""
    return _RULES[casing](name)


def is_casing(casing: object) -> bool:
    return casing in get_args(Casing)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(_capital, others))


def _pascal(name: str) -> str:
    return "".join(map(_capital, name.split("_")))


def _capital(word: str) -> str:
    # Not str.capitalize, which would make the rest of the word small.
    return word[:1].upper() + word[1:]


_RULES: Final[dict[str, Callable[[str], str]]] = {
    "snake": lambda name: name,
    "camel": _camel,
    "pascal": _pascal,
    "kebab": lambda name: name.replace("_", "-"),
}
