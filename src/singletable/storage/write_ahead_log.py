"""SQLite's write-ahead log beside a database (`-wal`): the mark by which it is known to belong to it.

SQLite replays whatever log lies there into the file, also that of another one, and damages it. So a file has a
random mark in its table `meta`, and the first write into a new log gives it another one, with the one before
beside it. What a log has of the page of `meta` so tells the mark of the file that it began with. The file must
have that mark, or one of the log's own, where some of the log was brought into the file already.

What cannot be told is taken: a log without that page, or of a release that had no marks.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Execute, scalar
from singletable.storage.connections import connect_unchanging

# "The WAL Format" (SQLite's fileformat2.html, 4.1): a header, then frames of a header and a page each.
_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682  # and the next number, for checksums of big-endian words
_PAGE_BYTES: Final = 4096
_META_PAGE: Final = 2  # the first table that is made gets it, and keeps it
_CHECKPOINT_PAGES: Final = 1000  # SQLite's own default
_NOOP: Final = apsw.SQLITE_CHECKPOINT_NOOP
_COMMITS_A_LOOK: Final = 8  # between two looks at the length of the log, each of which takes 0.2 us
_TRIES_MAX: Final = 5
_TELLING: Final = (1, _META_PAGE)

_Pages = Iterator[tuple[int, bytes]]

MADE: Final = 1  # the mark before the first one of a file that was made with marks
_NONE: Final = 0  # the mark before the first one of a file that a release without marks has made


# --- marks ---------------------------------------------------------------------------------------


def new_mark(random_bits: Callable[[int], int]) -> int:
    """Return a mark: 38 random bits and a checksum, by which one is known that a power cut has torn."""
    bits = random_bits(38)
    return 1 << 61 | bits << 23 | _checksum(bits)


def _checksum(bits: int) -> int:
    return zlib.crc32(bits.to_bytes(8)) & 0x7FFFFF


def _is_whole(mark: int) -> bool:
    return mark >> 61 == 1 and mark & 0x7FFFFF == _checksum(mark >> 23 & (1 << 38) - 1)


def write_mark(execute: Execute, mark: int, *, is_new_file: bool = False) -> None:
    """Give a file another mark, in the transaction that is open."""
    execute(schema.NOTE_MARK_BEFORE, (MADE if is_new_file else _NONE,))
    execute(schema.NOTE_MARK, (mark,))
    # The same again: with that the page of the header is written, by which copies with other pages are known.
    execute(f"PRAGMA user_version = {scalar(execute('PRAGMA user_version'))}").fetchall()


def change_mark(execute: Execute, mark: int) -> None:
    """Give a copy of a file a mark of its own, where it has one: the log of the other is not to fit it."""
    if execute(schema.SELECT_META_PAGE).fetchall():
        execute(schema.CHANGE_MARK, (mark,))


class LogMarks:
    """When the next write of a connection is to give the file another mark: when SQLite may begin its log anew.

    SQLite does that with the first write behind a checkpoint that was complete, so checkpoints are made here, and
    not by SQLite itself. (To be told of commits by SQLite's hook cost 1.7 us for each, 4 % of a small one.)
    """

    __slots__ = ("_commits", "_connection", "_marked", "_path", "is_due", "is_shared")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._path = f"{os.path.realpath(path)}-wal"
        self._connection = connection
        self._commits = 0
        self._marked: bytes | None = None  # the salts of the log that has the mark
        self.is_due = True
        self.is_shared = (
            False  # other processes have written since the last commit, and may have begun it anew
        )
        connection.wal_autocheckpoint(0)

    def committed(self) -> None:
        """Learn of a commit, which had a mark if one was due; copy the log into the file when it is long."""
        if self.is_due:
            self.is_due = self.is_shared = False
            self._marked = _read_salts(self._path)
        elif self.is_shared:
            self.is_shared = False
            self.is_due = _read_salts(self._path) != self._marked
        self._commits += 1
        if self._commits == _COMMITS_A_LOOK:
            self._commits = 0
            checkpoint = self._connection.wal_checkpoint
            try:
                if checkpoint("main", _NOOP)[0] >= _CHECKPOINT_PAGES:
                    in_log, in_file = checkpoint("main")
                    self.is_due = self.is_due or in_log == in_file
            except apsw.Error:
                pass  # as of SQLite's own: what it cannot do, for lack of room or for readers, the next one does


def _read_salts(path: str) -> bytes | None:
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read(_HEADER.size)[16:24]
    return None


# --- does a log belong to its file? -----------------------------------------------------------------


class _Main(NamedTuple):
    """What a file says of itself, without its log."""

    has_meta: bool
    mark: int | None
    schema_version: int


_EMPTY: Final = _Main(has_meta=False, mark=None, schema_version=0)


class _Marks(NamedTuple):
    mark: int | None
    before: int


def check_log_belongs(path: str) -> None:
    """Raise a ForeignLogError if SQLite would replay a log into a file that it does not belong to."""
    real = os.path.realpath(path)
    log = f"{real}-wal"
    for _ in range(_TRIES_MAX):
        header = _read_header(log)
        if header is None:
            return
        main = _read_main(real)  # before the log: what of it is in the file was in the log first
        if main is None:
            return
        if main is not _EMPTY and _find_contradiction(main, _telling_pages(log)) is None:
            return
        reason = _find_contradiction(main, _pages_committed(log))
        if reason is None:
            return
        # Others may have the file open. While a log is the same one, frames are only added to it.
        if header == _read_header(log):
            raise _foreign(path, log, reason)


def _foreign(path: str, log: str, reason: str) -> errors.ForeignLogError:
    name = os.path.basename(log)
    return errors.ForeignLogError(
        f"{path} cannot be opened with the {name} beside it: {reason}",
        hint=f"bring back the file that {name} belongs to; or move {name} away, to go on without it",
    )


def _read_main(path: str) -> _Main | None:
    """Read a file as it is without its log; None if that cannot be read, as in the middle of a checkpoint."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return _EMPTY
    try:
        connection = connect_unchanging(path)
        try:
            roots: list[Any] = connection.execute(schema.SELECT_META_PAGE).fetchall()
            version: list[Any] = connection.execute("PRAGMA schema_version").fetchall()
            if not roots:
                return _Main(has_meta=False, mark=None, schema_version=version[0][0])
            marks: list[Any] = connection.execute(schema.SELECT_MARK).fetchall()
        finally:
            connection.close(True)
    except apsw.Error:
        return None
    mark = marks[0][0] if marks else None
    if roots[0][0] != _META_PAGE or (mark is not None and not _is_whole(mark)):
        return None
    return _Main(has_meta=True, mark=mark, schema_version=version[0][0])


def _find_contradiction(main: _Main, pages: _Pages) -> str | None:
    """Return why a log with these pages cannot be that of a file; None if it can be."""
    first: _Marks | None = None
    marks: set[int | None] = set()
    newest_schema: int | None = None
    for page, content in pages:
        if main is _EMPTY:  # a file has its first page before it has a log
            return "it holds the last writes of a file that is not there"
        if page == 1:
            newest_schema = max(newest_schema or 0, int.from_bytes(content[40:44]))
        elif page == _META_PAGE and (found := _read_marks(content)) is not None:
            first = first or found
            marks.add(found.mark)
    if newest_schema is not None and main.schema_version > newest_schema:
        return "the file is a copy, made without it"
    if first is None or main.mark in marks:
        return None
    if first.mark is None:
        begun_with = main.mark is None
    elif first.before == MADE:
        begun_with = not main.has_meta
    elif first.before == _NONE:
        begun_with = main.mark is None
    else:
        begun_with = main.mark == first.before
    return None if begun_with else "it holds writes of another file, or of another state of this one"


def _read_marks(page: bytes) -> _Marks | None:
    """Read the marks from the page of `meta`; None if it is another page, or cannot be understood."""
    rows = dict(_read_rows(page))
    if "catalog_version" not in rows:
        return None
    mark, before = rows.get("wal_mark"), rows.get("wal_mark_before", _NONE)
    if any(value is not None and value > MADE and not _is_whole(value) for value in (mark, before)):
        return None
    return _Marks(mark, before)


def _read_rows(page: bytes) -> Iterator[tuple[str, int]]:
    """Yield the rows of a leaf that hold a text and a whole number ("Database File Format", 1.6 and 2.1)."""
    if page[0] != 10:
        return
    for cell in range(int.from_bytes(page[3:5])):
        start = int.from_bytes(page[8 + 2 * cell : 10 + 2 * cell])
        if start > _PAGE_BYTES - 4:
            continue  # torn
        _, header_bytes, text_type, number_type = page[start : start + 4]
        if header_bytes != 3 or text_type < 13 or text_type % 2 == 0:
            continue
        text_start = start + 4
        number_start = text_start + (text_type - 13) // 2
        name = page[text_start:number_start].decode("utf-8", "replace")
        if number_type in (8, 9):
            yield name, number_type - 8
        elif number_type in _NUMBER_BYTES:
            yield (
                name,
                int.from_bytes(page[number_start : number_start + _NUMBER_BYTES[number_type]], signed=True),
            )


_NUMBER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


# --- the log ------------------------------------------------------------------------------------------


def _read_header(log: str) -> bytes | None:
    """Return the header of a log; None if SQLite would find nothing in it."""
    try:
        with open(log, "rb", buffering=0) as file:
            header = file.read(_HEADER.size)
    except OSError:
        return None  # there is none; or SQLite cannot read it either, and says so
    if len(header) < _HEADER.size or header[8:12] != _PAGE_BYTES.to_bytes(4):
        return None
    return header if _sum_of(header[:24], (0, 0), header) == struct.unpack(">2I", header[24:]) else None


def _sum_of(data: bytes, seed: tuple[int, int], header: bytes) -> tuple[int, int]:
    """Return SQLite's checksum of a log ("Checksum Algorithm", 4.4)."""
    order = ">" if header[3] & 1 else "<"
    one, two = seed
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for at in range(0, len(words), 2):
        one = (one + words[at] + two) & 0xFFFFFFFF
        two = (two + words[at + 1] + one) & 0xFFFFFFFF
    return one, two


def _telling_pages(log: str) -> _Pages:
    """Yield the pages of a log that tell whose it is, also of what was never committed. 3 us for a frame."""
    with contextlib.suppress(OSError), open(log, "rb", buffering=0) as file:
        salts = file.read(_HEADER.size)[16:24]
        while len(frame := file.read(_FRAME.size)) == _FRAME.size and frame[8:16] == salts:
            page = int.from_bytes(frame[:4])
            if page not in _TELLING:
                file.seek(_PAGE_BYTES, os.SEEK_CUR)
            elif (
                len(content := file.read(_PAGE_BYTES)) == _PAGE_BYTES
            ):  # not the one at which a writer was killed
                yield page, content


def _pages_committed(log: str) -> _Pages:
    """Yield all pages of the transactions that SQLite would replay. 200 us for a frame."""
    with contextlib.suppress(OSError), open(log, "rb") as file:
        header = file.read(_HEADER.size)
        chain = struct.unpack(">2I", header[24:])
        of_transaction: list[tuple[int, bytes]] = []
        while len(frame := file.read(_FRAME.size + _PAGE_BYTES)) == _FRAME.size + _PAGE_BYTES:
            page, pages_after, _, _, *sums = _FRAME.unpack(frame[: _FRAME.size])
            content = frame[_FRAME.size :]
            chain = _sum_of(content, _sum_of(frame[:8], chain, header), header)
            if frame[8:16] != header[16:24] or chain != tuple(sums):
                return
            of_transaction.append((page, content))
            if pages_after:  # the last frame of a transaction
                yield from of_transaction
                of_transaction.clear()
