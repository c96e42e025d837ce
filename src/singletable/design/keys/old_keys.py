"""Old keys (`was=`): items are stored under them until a migration has moved them.

    key = Keys(BoxPK, LetterSK, was=(OldBoxPK, OldLetterSK))

Writes use the new keys. A dual read gets the new key too, and must compute the old ones from it. So every part of
an old key must be a part of the new one, or the first letters of one, or a shard, of which all are tried. Pure:
nothing here sends requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from singletable.design.keys.key import Key, NoSortKey, key_of_stored
from singletable.design.keys.parts import Part
from singletable.design.values.markers import BucketOf, InitialOf, ShardOf
from singletable.errors import DeclarationError

Parts = Mapping[str, Part]


def check_old_keys(where: str, new: tuple[type[Key], ...], old: tuple[type[Key], ...]) -> None:
    """Refuse old keys that do not follow from the new ones, when the class is created."""
    known = _parts(new)
    for key in (*new, *old):
        if key.template is None and key is not NoSortKey:
            raise DeclarationError(f"{where}: was= is for keys with templates, and {key.shown()} has none")
    for key in old:
        for part in key.parts:
            if part.choices is None and not _has_field(part, known) and not _has_value(part, known):
                shown = ", ".join(each.shown() for each in new)
                raise DeclarationError(
                    f"{where}: the old key {key.shown()} does not follow from {shown}: it has no {part.reads!r}",
                    hint="leave out was=, and run the migration before the code that reads the new keys",
                )


def old_keys(old: type[Key], new: tuple[Key, ...]) -> Iterator[Key]:
    """Return the old keys that an item of these new ones may have."""
    values = {part.name: getattr(key, part.name) for key in new for part in key.parts}
    known = _parts(tuple(type(key) for key in new))
    choices = [_choices(part, values, known) for part in old.parts]
    for chosen in product(*choices):
        yield key_of_stored(old, dict(zip((part.name for part in old.parts), chosen, strict=True)))


def _parts(keys: tuple[type[Key], ...]) -> dict[str, Part]:
    return {part.name: part for key in keys for part in key.parts}


def _choices(part: Part, values: Mapping[str, object], known: Parts) -> Sequence[object]:
    """Return the values that a part of an old key may have."""
    if _has_value(part, known):
        return [values[part.name]]
    if _has_field(part, known):
        return [part.of(values)]
    assert part.choices is not None  # check_old_keys has seen to it
    return part.choices


def _has_field(part: Part, known: Parts) -> bool:
    """Tell whether new keys hold the field that an old part is computed from."""
    return part.source is not None and part.reads in known and known[part.reads].source is None


def _has_value(part: Part, known: Parts) -> bool:
    """Tell whether the value of an old part is that of a new one of its name, or the beginning of it."""
    new = known.get(part.name)
    if new is None:
        return False
    if part.source == new.source:
        return True
    match part.source, new.source:
        case None, ShardOf() | BucketOf():
            return not new.codec.is_omitted
        case InitialOf(of=field), InitialOf(of=same):
            return field == same and part.source.letters <= new.source.letters
        case _:
            return False
