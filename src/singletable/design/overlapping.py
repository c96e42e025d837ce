"""Which entities can have an item under a key that an item of another one could have too. Pure.

Two templates overlap where one text is a key of both: `USER#{user_id}` and `{kind}#{name}`. What is written there
has to ask first whose item it would replace; everything else need not.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Final

from singletable.design.keys import Key, NoSortKey
from singletable.design.relations import HASH, lock_sort
from singletable.design.schema import EntitySchema
from singletable.design.template_parts import Part

Holds = Callable[[str], bool]
Unit = tuple[
    Holds, str, bool
]  # which characters, the one character if it is literal, whether any number of them
Shape = tuple[Sequence[Unit] | None, Sequence[Unit] | None]  # of the two keys; None: any text

_SAMPLES: Final = string.ascii_letters + string.digits + "#-_/:.| é"


def overlapping_entities(schemas: Iterable[EntitySchema[Any]]) -> frozenset[EntitySchema[Any]]:
    """Return the entities whose keys in the table may be those of another one, or of a lock."""
    shapes = [(schema, shape) for schema in schemas for shape in _shapes(schema)]
    locks = [shape for schema, _ in shapes for shape in _locks(schema)]
    found = {schema for schema, shape in shapes if any(_overlap(shape, lock) for lock in locks)}
    for (one, shape), (other, another) in combinations(shapes, 2):
        if one is not other and _overlap(shape, another):
            found |= {one, other}
    return frozenset(found)


def _shapes(schema: EntitySchema[Any]) -> list[Shape]:
    keys = schema.key.keys
    return [(_units(pk), _units(sk)) for pk, sk in ((keys.pk, keys.sk), *([keys.was] if keys.was else ()))]


def _locks(schema: EntitySchema[Any]) -> list[Shape]:
    has_sort_key = schema.table.sk is not None
    return [
        (_units(lock.key), _lock_units(sort) if has_sort_key else ())
        for lock in schema.locks.values()
        for sort in (lock.sort, lock.was)
        if sort is not None
    ]


def _lock_units(sort: str) -> Sequence[Unit]:
    """Return the units of a lock's sort key: of a hash, as many as it has digits."""
    before, found, after = sort.partition(HASH)
    digits = len(lock_sort(HASH, "")) if found else 0
    return [*_literal(before), *[(string.hexdigits.__contains__, "", False)] * digits, *_literal(after)]


def _overlap(one: Shape, other: Shape) -> bool:
    return all(
        first is None or second is None or _have_common_text(first, second)
        for first, second in zip(one, other, strict=True)
    )


# --- two templates ---------------------------------------------------------------------------------------


def _units(key: type[Key]) -> Sequence[Unit] | None:
    if key is NoSortKey:
        return ()
    if key.compiled is None:
        return None
    return [unit for part in key.compiled.parts for unit in _part_units(part)]


def _part_units(part: Part) -> list[Unit]:
    if isinstance(part, str):
        return _literal(part)
    holds = part.codec.may_hold
    width = part.codec.width_fixed
    if width is not None:
        return [(holds, "", False)] * width
    return [(holds, "", False), (holds, "", True)]


def _literal(text: str) -> list[Unit]:
    return [(character.__eq__, character, False) for character in text]


def _have_common_text(one: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Go through both at once, as far as there is a character that both may have next."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        at = waiting.pop()
        if at == (len(one), len(other)):
            return True
        for following in _following(one, other, *at):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def _following(
    one: Sequence[Unit], other: Sequence[Unit], first: int, second: int
) -> Iterable[tuple[int, int]]:
    left = one[first] if first < len(one) else None
    right = other[second] if second < len(other) else None
    if left is not None and left[2]:
        yield first + 1, second
    if right is not None and right[2]:
        yield first, second + 1
    if left is not None and right is not None and _share_character(left, right):
        yield first + (not left[2]), second + (not right[2])


def _share_character(left: Unit, right: Unit) -> bool:
    samples = left[1] or right[1] or _SAMPLES
    return any(left[0](sample) and right[0](sample) for sample in samples)
