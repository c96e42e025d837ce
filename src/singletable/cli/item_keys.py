"""The key of an item as people write it on a command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from singletable.errors import ApiError, DatabaseError
from singletable.wire.forms import JSON, take_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from singletable.storage.tables import Table
    from singletable.values.types import Item


_TYPES = {"S": "a string", "N": "a number", "B": "bytes in base64"}


def read_item_key(words: Sequence[str], table: Table) -> Item:
    """Return the key that some words name: values in their order, NAME=VALUE, or JSON, plain or typed."""
    try:
        named = _from_json(words[0]) if len(words) == 1 and words[0].startswith("{") else _named(words, table)
        if sorted(named) != sorted(table.key_names):
            raise ValueError
        types = {attribute.name: attribute.type for attribute in table.definition.key.attributes}
        return take_key({name: _typed(value, types[name]) for name, value in named.items()}, JSON)
    except (ValueError, ApiError):
        attributes = table.definition.key.attributes
        wanted = " and ".join(f"{attribute.name}, {_TYPES[attribute.type]}" for attribute in attributes)
        example = " ".join(f"{attribute.name}=…" for attribute in attributes)
        raise DatabaseError(
            f"{' '.join(words)!r} is no key of the table {table.name}",
            hint=f"its key is {wanted}: write {example}",
        ) from None


def _from_json(text: str) -> dict[str, Any]:
    named: dict[str, Any] = json.loads(text)
    return named


def _named(words: Sequence[str], table: Table) -> dict[str, Any]:
    """Return the values by their names; those without a name stand in the order of the key."""
    named: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name in table.key_names):
            left = [name for name in table.key_names if name not in named]
            if not left:
                raise ValueError
            name, value = left[0], word
        named[name] = value
    return named


def _typed(value: Any, key_type: str) -> Any:
    if isinstance(value, dict):
        if value.keys() != {key_type}:
            raise ValueError
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError
    return {key_type: _base64(str(value)) if key_type == "B" else str(value)}


def _base64(text: str) -> str:
    """Return base64 that may be written b64"…", as versions are printed; a shell takes the quotes away."""
    # The length of base64 is a multiple of four: with three letters more it is none, so they are not part of it.
    return text[3:].strip('"') if text.startswith("b64") and len(text.replace('"', "")) % 4 == 3 else text
