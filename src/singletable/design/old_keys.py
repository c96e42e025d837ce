"""Keys that items were stored by before: where they are as long as a migration has not reached them.

    key = Keys(BoxPK, LetterSK, was=(OldBoxPK, OldLetterSK))

Writes use the new keys. Reads know only those too, so the old ones must follow from them: every part of an old key
is a part of the new one, or a shard, of which all are tried. Pure: nothing here asks anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from singletable.design.key_parts import Part
from singletable.design.keys import Key, NoSortKey, key_of_stored
from singletable.design.markers import ShardOf
from singletable.errors import DeclarationError


def check_old_keys(where: str, new: tuple[type[Key], ...], old: tuple[type[Key], ...]) -> None:
    """Refuse old keys that do not follow from the new ones, when the class is created."""
    known = {part.name for key in new for part in key.parts}
    for key in (*new, *old):
        if key.template is None and key is not NoSortKey:
            raise DeclarationError(f"{where}: was= is for keys with templates, and {key.shown()} has none")
    for key in old:
        for part in key.parts:
            if part.name not in known and part.reads not in known and not isinstance(part.source, ShardOf):
                shown = ", ".join(each.shown() for each in new)
                raise DeclarationError(
                    f"{where}: the old key {key.shown()} does not follow from {shown}: it has no {part.reads!r}",
                    hint="leave out was=, and run the migration before the code that reads the new keys",
                )


def old_keys(old: type[Key], new: tuple[Key, ...]) -> Iterator[Key]:
    """Return the old keys that an item of these new ones may have."""
    values = {part.name: getattr(key, part.name) for key in new for part in key.parts}
    sources = {part.name: part.source for key in new for part in key.parts}
    choices = [_choices(part, values, sources) for part in old.parts]
    for chosen in product(*choices):
        yield key_of_stored(old, dict(zip((part.name for part in old.parts), chosen, strict=True)))


def _choices(part: Part, values: Mapping[str, Any], sources: Mapping[str, Any]) -> list[Any]:
    """Return the values that a part of an old key may have."""
    if part.source is None or (part.name in values and sources[part.name] == part.source):
        return [values[part.name]]
    if part.reads in values and sources[part.reads] is None:
        return [part.of(values)]
    if isinstance(part.source, ShardOf):
        return list(range(part.source.count))
    return [values[part.name]]
