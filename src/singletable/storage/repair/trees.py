"""The trees of a damaged file: which pages each has, where one is missing, and the rows on those that are there.

"Database File Format" of SQLite (fileformat2.html, 1.6 and 2.1) has the forms of pages, cells and records.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from singletable.storage.repair.pages import (
    DAMAGED,
    INTERIOR_INDEX,
    INTERIOR_KINDS,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    TREE_KINDS,
    USABLE_BYTES,
    Pages,
)


class _Lost:
    """The value of a column that is on a page that cannot be read."""

    def __repr__(self) -> str:
        return "LOST"


LOST: Final = _Lost()

_LOCAL_MAX: Final = {
    LEAF_TABLE: USABLE_BYTES - 35,
    LEAF_INDEX: (USABLE_BYTES - 12) * 64 // 255 - 23,
    INTERIOR_INDEX: (USABLE_BYTES - 12) * 64 // 255 - 23,
}
_LOCAL_MIN: Final = (USABLE_BYTES - 12) * 32 // 255 - 23
_INTEGER_BYTES: Final = (0, 1, 2, 3, 4, 6, 8)
_FLOAT: Final = struct.Struct(">d")


class Row(NamedTuple):
    """A row of a table, or an entry of an index, which has no id."""

    id: int
    columns: tuple[Any, ...]

    @property
    def is_whole(self) -> bool:
        return LOST not in self.columns


@dataclass(slots=True)
class Tree:
    """A table or index: its right pages in their order, and the places of the others."""

    root: int
    pages: array[int] = field(default_factory=lambda: array("I"))
    between: list[int] = field(default_factory=list)
    """Those that only name others, as a table has them between its root and its leaves."""
    damaged: list[int] = field(default_factory=list)
    damaged_between: list[int] = field(default_factory=list)
    """Those of them that have, or may have, others below them, which then nothing names."""
    ends_damaged: bool = False
    """Whether the last page is damaged."""

    @property
    def is_whole(self) -> bool:
        return not self.damaged

    @property
    def hides_pages(self) -> bool:
        return bool(self.damaged_between)

    @property
    def named(self) -> Iterator[int]:
        """All pages of it that are known, right or damaged."""
        return chain(self.pages, self.between, self.damaged)


def read_tree(pages: Pages, root: int) -> Tree:
    """Follow a tree from its root."""
    tree = Tree(root)
    depths: dict[int, int] = {}  # of damaged pages
    leaf_depth = 0
    waiting = [(root, 0)]
    seen: set[int] = set()
    while waiting:
        number, depth = waiting.pop()
        kind = pages.kinds[number] if 0 < number <= pages.count else DAMAGED
        if kind not in TREE_KINDS or number in seen:
            tree.damaged.append(number)
            depths[number] = depth
            tree.ends_damaged = True
            continue
        seen.add(number)
        if kind in INTERIOR_KINDS:
            waiting += [(child, depth + 1) for child in reversed(children(pages, number))]
            if kind == INTERIOR_TABLE:
                tree.between.append(number)
                continue
        else:
            leaf_depth = max(leaf_depth, depth)
            tree.ends_damaged = False
        tree.pages.append(number)
    tree.damaged_between = [page for page, depth in depths.items() if depth < leaf_depth or not leaf_depth]
    return tree


def children(pages: Pages, number: int) -> list[int]:
    """Return the pages below one, in their order."""
    page = pages.page(number)
    if page is None:
        return []
    start = 100 if number == 1 else 0
    cells = [int.from_bytes(page[place : place + 4]) for place in _cell_places(page, start, 12)]
    return [*cells, int.from_bytes(page[start + 8 : start + 12])]


def unnamed_trees(pages: Pages, unnamed: Iterable[int]) -> Iterator[Tree]:
    """Put pages that nothing names together to trees, as far as they name each other."""
    left = set(unnamed)
    below = {
        child for number in left if pages.kinds[number] in INTERIOR_KINDS for child in children(pages, number)
    }
    for number in sorted(left - below):
        yield read_tree(pages, number)


# --- rows -----------------------------------------------------------------------------------------


def read_rows(pages: Pages, tree: Tree) -> Iterator[Row]:
    """Yield the rows on the right pages of a tree, in their order; of an index, in any."""
    for number in tree.pages:
        yield from rows_of_page(pages, number)


def rows_of_page(pages: Pages, number: int) -> Iterator[Row]:
    page = pages.page(number)
    if page is None:
        return
    start = 100 if number == 1 else 0
    kind = page[start]
    for place in _cell_places(page, start, 12 if kind in INTERIOR_KINDS else 8):
        if kind == INTERIOR_INDEX:
            place += 4
        size, place = _varint(page, place)
        row_id = 0
        if kind == LEAF_TABLE:
            row_id, place = _varint(page, place)
            if row_id >= 1 << 63:
                row_id -= 1 << 64
        yield Row(row_id, _columns(_payload(pages, page, place, size, _LOCAL_MAX[kind]), size))


def _cell_places(page: bytes, start: int, header_bytes: int) -> tuple[int, ...]:
    cells = int.from_bytes(page[start + 3 : start + 5])
    begin = start + header_bytes
    return struct.unpack(f">{cells}H", page[begin : begin + 2 * cells])


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1


def _payload(pages: Pages, page: bytes, place: int, size: int, local_max: int) -> bytes:
    """Return a record, as far as its overflow pages can be read."""
    if size <= local_max:
        return page[place : place + size]
    local = _LOCAL_MIN + (size - _LOCAL_MIN) % (USABLE_BYTES - 4)
    if local > local_max:
        local = _LOCAL_MIN
    parts = [page[place : place + local]]
    left = size - local
    following = int.from_bytes(page[place + local : place + local + 4])
    while left > 0:
        content = pages.page(following)
        if content is None:
            break
        part = content[4 : min(USABLE_BYTES, 4 + left)]
        parts.append(part)
        left -= len(part)
        following = int.from_bytes(content[:4])
    return b"".join(parts)


def _columns(record: bytes, size: int) -> tuple[Any, ...]:
    is_cut = len(record) < size
    header_bytes, place = _varint(record, 0)
    if header_bytes > len(record):
        return ()
    start, columns = header_bytes, []
    while place < header_bytes:
        code, place = _varint(record, place)
        value, start = _value(record, code, start, is_cut=is_cut)
        columns.append(value)
    return tuple(columns)


def _value(record: bytes, code: int, start: int, *, is_cut: bool) -> tuple[Any, int]:
    if code >= 12:
        end = start + (code - 12) // 2
        if is_cut and end > len(record):
            return LOST, end
        return record[start:end].decode("utf-8") if code % 2 else record[start:end], end
    if code == 0:
        return None, start
    if code in (8, 9):
        return code - 8, start
    end = start + (8 if code == 7 else _INTEGER_BYTES[code])
    if is_cut and end > len(record):
        return LOST, end
    if code == 7:
        return _FLOAT.unpack(record[start:end])[0], end
    return int.from_bytes(record[start:end], signed=True), end
