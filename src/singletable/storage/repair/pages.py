"""The pages of a damaged file that are right, read without SQLite, which would stop at the first wrong one.

Only pages that fit their sums count, and pages of the write-ahead log that SQLite would replay. The file is not
written, and no lock of it is taken here.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from singletable.storage.file.durable_files import Progress
from singletable.storage.file.page_sums import SUM_BYTES, is_saved_whole, page_sum
from singletable.storage.file.write_ahead_log import CommittedFrames

PAGE_BYTES: Final = 4096
USABLE_BYTES: Final = PAGE_BYTES - SUM_BYTES
INTERIOR_INDEX: Final = 2
INTERIOR_TABLE: Final = 5
LEAF_INDEX: Final = 10
LEAF_TABLE: Final = 13
TREE_KINDS: Final = frozenset((INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE))
INTERIOR_KINDS: Final = frozenset((INTERIOR_INDEX, INTERIOR_TABLE))
DAMAGED: Final = 255  # in place of the kind of a page
_LOCK_PAGE: Final = (1 << 30) // PAGE_BYTES + 1
_FREE_PAGES_MAX: Final = USABLE_BYTES // 4 - 2  # that one page of the freelist names
_FREELIST: Final = struct.Struct(">2I")


class FreePages(NamedTuple):
    """The pages that are in no table; whether they are all known."""

    pages: frozenset[int]
    is_complete: bool


class Pages:
    """The newest right version of each page of a file that nobody writes to."""

    def __init__(self, path: str, progress: Progress) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.log = CommittedFrames(path)
            self._takes_unsummed = self._is_saved_by_others()
            # A part of a page at the end is one that was cut.
            in_file = -(-os.fstat(self._file).st_size // PAGE_BYTES)
            self.count = self.log.pages_after or in_file
            self.kinds = bytearray(self.count + 1)
            self.fitting = 0
            for number in range(1, self.count + 1):
                page = self._right(number)
                self.kinds[number] = DAMAGED if page is None else page[100 if number == 1 else 0]
                progress(number, self.count)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._file)

    def page(self, number: int) -> bytes | None:
        """Return a page; None if it is damaged, or beyond the end."""
        if not 0 < number <= self.count or self.kinds[number] == DAMAGED:
            return None
        return self._right(number)

    @property
    def header(self) -> bytes:
        """The first bytes of the file as they stand there."""
        return self._read(1)[:100]

    @property
    def damaged(self) -> list[int]:
        return [number for number in range(1, self.count + 1) if self.kinds[number] == DAMAGED]

    def _is_saved_by_others(self) -> bool:
        """Tell what `is_saved_by_others` of page_sums.c tells: whether pages may have zeros for a sum."""
        page = self._read(2)
        return len(page) == PAGE_BYTES and is_saved_whole(page, 2)

    def _read(self, number: int) -> bytes:
        try:
            return os.pread(self._file, PAGE_BYTES, (number - 1) * PAGE_BYTES)
        except OSError:
            return b""  # a disk that does not even read it

    def _right(self, number: int) -> bytes | None:
        in_log = self.log.page(number)
        if in_log is not None:
            return in_log
        page = self._read(number)
        if number == _LOCK_PAGE:
            return bytes(PAGE_BYTES)
        if len(page) < PAGE_BYTES:
            return None
        stored = int.from_bytes(page[-SUM_BYTES:], "little")
        if stored == page_sum(page, number):
            self.fitting += 1
            return page
        is_taken = stored == 0 and (self._takes_unsummed or is_saved_whole(page, number))
        return page if is_taken else None

    # --- pages that are in use by nothing ---------------------------------------------------------

    def free(self, *, placed: set[int]) -> FreePages:
        """Return the free pages. `placed` are the damaged pages that are known to be in use.

        Where the header is damaged, or a page of the list, its other pages are known by their form: such a page
        begins with the number of another one, or zero, and then names pages.
        """
        header = self.page(1)
        found: set[int] = set()
        if header is None:
            for number in self._freelist_like():
                found |= {number, *(self._named_by(number) or ())}
            return FreePages(frozenset(found), is_complete={1, *self.damaged} <= {1, *placed})
        trunk, total = _FREELIST.unpack(header[32:40])
        while trunk and trunk not in found:
            named = self._named_by(trunk)
            if named is None:
                break
            found |= {trunk, *named}
            content = self.page(trunk)
            assert content is not None
            trunk = int.from_bytes(content[:4])
        if len(found) == total:
            return FreePages(frozenset(found), is_complete=True)
        for number in self._freelist_like():
            found |= {number, *(self._named_by(number) or ())}
        return FreePages(frozenset(found), is_complete=len(found) == total)

    def _freelist_like(self) -> Iterator[int]:
        for number in range(2, self.count + 1):
            if self.kinds[number] == 0 and self._named_by(number) is not None:
                yield number

    def _named_by(self, number: int) -> tuple[int, ...] | None:
        """Return the free pages that a page of the freelist names; None if it is no such page."""
        page = self.page(number)
        if page is None:
            return None
        following, named = _FREELIST.unpack(page[:8])
        if following > self.count or named > _FREE_PAGES_MAX:
            return None
        pages = struct.unpack(f">{named}I", page[8 : 8 + 4 * named])
        is_list = len(set(pages)) == named and all(1 < one <= self.count for one in pages)
        return pages if is_list and (named or following) else None
