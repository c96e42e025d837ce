"""SQLite's write-ahead log beside a database (`-wal`): the mark by which it is known to belong to it.

SQLite replays any log at that path into the file, also the log of another file, and so damages it. Therefore a
file has a random mark in its table `meta`. The first write into a new log gives the file another mark, and stores
the old one beside it. So the page of `meta` in a log tells the mark of the file that the log began with. The file
must have that mark, or one of the log's own marks if some of the log was checkpointed already.

A log that cannot be judged is accepted: one without that page, or from a release without marks. The log of an
encrypted file is read with the key of the file; one that this key does not decrypt belongs to another file.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Execute, scalar
from singletable.storage.file.connections import connect_for_reading, connect_unchanging
from singletable.storage.file.encryption import FileKey, PageReader
from singletable.storage.file.failures import is_short_read
from singletable.storage.file.page_sums import is_damage, is_of_read, lost_transactions

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
_FOREIGN: Final = b""  # of a page that the key of the file does not decrypt

MADE: Final = 1  # the mark before the first one of a file that was made with marks
_NONE: Final = 0  # the mark before the first one of a file that a release without marks has made


# --- marks ---------------------------------------------------------------------------------------


def new_mark(random_bits: Callable[[int], int]) -> int:
    """Return a mark: 38 random bits, and a checksum that reveals a mark torn by a power cut."""
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
    """Give a copy of a file with marks a mark of its own: the log of the original must not fit it."""
    if execute(schema.SELECT_META_PAGE).fetchall():
        execute(schema.CHANGE_MARK, (mark,))


class LogMarks:
    """When the next write of a connection is to give the file another mark: when SQLite may begin its log anew.

    SQLite does that with the first write behind a checkpoint that was complete, so checkpoints are made here, and
    not by SQLite itself. (To be told of commits by SQLite's hook cost 1.7 us for each, 4 % of a small one.)
    """

    __slots__ = (
        "_commits",
        "_connection",
        "_has_checkpointed",
        "_marked",
        "_may_checkpoint",
        "_on_damage",
        "_path",
        "is_due",
        "is_shared",
        "is_spoilt",
    )

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        *,
        may_checkpoint: Callable[[], bool],
        has_checkpointed: Callable[[], None],
        on_damage: Callable[[apsw.Error], None],
    ) -> None:
        self._path = f"{os.path.realpath(path)}-wal"
        self._connection = connection
        self._may_checkpoint = may_checkpoint
        self._has_checkpointed = has_checkpointed
        self._on_damage = on_damage
        self._commits = 0
        self._marked: bytes | None = None  # the salts of the log that has the mark
        self.is_due = True
        self.is_shared = (
            False  # other processes have written since the last commit, and may have begun it anew
        )
        self.is_spoilt = False  # by a page that could not be read
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
                if checkpoint("main", _NOOP)[0] >= _CHECKPOINT_PAGES and self._may_checkpoint():
                    in_log, in_file = checkpoint("main")
                    self.is_due = self.is_due or in_log == in_file
                    self._has_checkpointed()
            except apsw.Error as error:
                # As with SQLite's own: if readers or a full disk prevent one, the next one does it.
                if is_damage(error):
                    self._on_damage(error)
                self.is_spoilt = is_of_read(error)


def _read_salts(path: str) -> bytes | None:
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read(_HEADER.size)[16:24]
    return None


# --- does a log belong to its file? -----------------------------------------------------------------


class _Main(NamedTuple):
    """The state of a file without its log."""

    has_meta: bool
    mark: int | None
    schema_version: int


_EMPTY: Final = _Main(has_meta=False, mark=None, schema_version=0)
_NO_DATABASE: Final = _Main(has_meta=False, mark=None, schema_version=-1)


class _Marks(NamedTuple):
    mark: int | None
    before: int


def check_log_belongs(path: str, key: FileKey | None = None) -> None:
    """Raise a ForeignLogError if SQLite would replay a log into a file that it does not belong to."""
    real = os.path.realpath(path)
    log = f"{real}-wal"
    for _ in range(_TRIES_MAX):
        header = _read_header(log)
        if header is None:
            return
        main = _read_main(real, key)  # before the log: pages of a checkpoint were in the log first
        if main is None or main is _NO_DATABASE:
            return  # SQLite says so itself
        if main is not _EMPTY and _find_contradiction(main, _decrypted(_telling_pages(log), key)) is None:
            return
        reason = _find_contradiction(main, _decrypted(_pages_committed(log), key))
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


def is_overwritten(path: str, key: FileKey | None = None) -> bool | None:
    """Tell whether an open file is not the one that its log began with; None if that cannot be told.

    It takes 0.1 ms where all is well: the log is read up to the mark of the file, which stands near its begin.
    """
    real = os.path.realpath(path)
    log = f"{real}-wal"
    if _read_header(log) is None:
        return None
    main = _read_main(real, key)
    if main is None or main is _NO_DATABASE:
        return None if main is None else True
    with closing(_decrypted(_telling_pages(log), key)) as pages:
        for page, content in pages:
            if page == _META_PAGE and (found := _read_marks(content)) is not None and main.mark in found:
                return False
    try:
        check_log_belongs(path, key)
    except errors.ForeignLogError:
        return True
    return False


def has_no_header(log: str) -> bool | None:
    """Tell whether a log was emptied and then written further; None if it is empty, or cannot be read.

    SQLite writes the header before anything else. A process that goes on writing after its log was emptied leaves
    a hole there.
    """
    with contextlib.suppress(OSError), open(log, "rb", buffering=0) as file:
        header = file.read(_HEADER.size)
        if len(header) == _HEADER.size:
            return int.from_bytes(header[:4]) & ~1 != _MAGIC
    return None


def is_emptied(path: str, key: FileKey | None = None) -> bool:
    """Tell whether an empty log should not be empty. A checkpoint of another program may have truncated it.

    During a read, no checkpoint empties a log that holds pages that the file lacks: a reader of a frame prevents a
    restart of the log, and a reader of the file alone prevents checkpoints from writing into it ("walRestartHdr"
    and "walCheckpoint" of SQLite's wal.c wait for all of them).
    """
    try:
        with (
            closing(connect_for_reading(path, key)) as reader,
            closing(connect_for_reading(path, key)) as asking,
        ):
            for connection in (reader, asking):
                # Closing it must not checkpoint: the log is no longer valid.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            reader.execute("BEGIN; SELECT count(*) FROM sqlite_schema").fetchall()
            in_log, in_file = asking.wal_checkpoint("main", _NOOP)
            return in_log > in_file and has_no_header(f"{os.path.realpath(path)}-wal") is None
    except apsw.IOError as error:
        return is_short_read(error)  # of a frame that was there
    except apsw.Error:
        return False


def _read_main(path: str, key: FileKey | None) -> _Main | None:
    """Read a file as it is without its log; None if that cannot be read, as in the middle of a checkpoint."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return _EMPTY
    try:
        connection = connect_unchanging(path, key)
        try:
            roots: list[Any] = connection.execute(schema.SELECT_META_PAGE).fetchall()
            version: list[Any] = connection.execute("PRAGMA schema_version").fetchall()
            if not roots:
                return _Main(has_meta=False, mark=None, schema_version=version[0][0])
            marks: list[Any] = connection.execute(schema.SELECT_MARK).fetchall()
        finally:
            connection.close(True)
    except apsw.NotADBError:
        return _NO_DATABASE  # the first bytes, which no checkpoint changes
    except (apsw.Error, errors.DamagedDataError, errors.FileKeyError):
        return None  # the last one may mean that the only page is just being written; if not, SQLite says so
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
        if content is _FOREIGN:
            return "it was encrypted with another key"
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
    """Yield the pages of a log that tell its file, also uncommitted ones. 3 us for a frame."""
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


def _decrypted(pages: _Pages, key: FileKey | None) -> Generator[tuple[int, bytes]]:
    """Yield pages of the log of an encrypted file, as far as they tell the file, decrypted."""
    if key is None:
        yield from pages
        return
    with closing(PageReader(key)) as reader:
        for page, content in pages:
            if page in _TELLING and (text := reader.decrypt(page, content)) is not None:
                yield page, text
            else:
                yield page, _FOREIGN if page in _TELLING else content


def check_log_whole(path: str) -> None:
    """Raise if transactions stand in a log behind a frame that does not fit: SQLite would leave them out."""
    reason = find_damaged_frame(path)
    if reason is not None:
        raise errors.CorruptDatabaseError(
            f"{path}-wal is damaged: {reason}",
            hint="restore a backup; to go on without them: `singletable repair`, or open it once as relaxed",
        )


def find_damaged_frame(path: str) -> str | None:
    """Tell what is damaged in a log, if SQLite would leave out whole transactions because of it after a crash.

    Without durability "full", a power cut does that too, and nobody has made a mistake.

    It reads all of the log: 1.5 ms for the 1,000 frames after which it is saved. Another process may be writing a
    frame just then; its next look finds it right.
    """
    log = f"{os.path.realpath(path)}-wal"
    found: set[int] = set()
    lost = first = 0
    for _ in range(_TRIES_MAX):
        try:
            with (
                open(log, "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as content,  # it may be very long
            ):
                lost, first = lost_transactions(content)
        except (OSError, ValueError):
            return None  # there is none, or an empty one
        if not lost:
            return None
        found.add(first)
    if len(found) > 1:
        return None
    behind = "1 transaction stands" if lost == 1 else f"{lost} transactions stand"
    return f"{behind} behind frame {first + 1}, which does not fit"


def pages_not_saved(connection: apsw.Connection) -> set[int]:
    """Return the numbers of the pages that are to be copied from the log into the file of a connection.

    Until that is done, readers take them from the log; afterwards from the file, though the log has them still.
    """
    in_log, in_file = connection.wal_checkpoint("main", _NOOP)
    pages: set[int] = set()
    log = f"{os.path.realpath(connection.filename)}-wal"
    with contextlib.suppress(OSError), open(log, "rb", buffering=0) as file:
        for number in range(in_file, in_log):
            file.seek(_HEADER.size + number * (_FRAME.size + _PAGE_BYTES))
            pages.add(int.from_bytes(file.read(_FRAME.size)[:4]))
    return pages


def _pages_committed(log: str) -> _Pages:
    """Yield all pages of the transactions that SQLite would replay. 200 us for a frame."""
    of_transaction: list[tuple[int, bytes]] = []
    for frame in _right_frames(log):
        of_transaction.append((frame.page, frame.content))
        if frame.pages_after:  # the last frame of a transaction
            yield from of_transaction
            of_transaction.clear()


class _Frame(NamedTuple):
    offset: int
    page: int
    pages_after: int
    content: bytes


def _right_frames(log: str) -> Iterator[_Frame]:
    """Yield the frames of a log up to the first that does not fit its checksum, where SQLite stops."""
    with contextlib.suppress(OSError), open(log, "rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return  # emptied just now
        chain = struct.unpack(">2I", header[24:])
        while len(frame := file.read(_FRAME.size + _PAGE_BYTES)) == _FRAME.size + _PAGE_BYTES:
            page, pages_after, _, _, *sums = _FRAME.unpack(frame[: _FRAME.size])
            content = frame[_FRAME.size :]
            chain = _sum_of(content, _sum_of(frame[:8], chain, header), header)
            if frame[8:16] != header[16:24] or chain != tuple(sums):
                return
            yield _Frame(file.tell() - _PAGE_BYTES, page, pages_after, content)


class CommittedFrames:
    """The pages that SQLite would replay from the log beside a file; whether that is all that was committed."""

    def __init__(self, path: str) -> None:
        self._log = f"{os.path.realpath(path)}-wal"
        self._offsets: dict[int, int] = {}
        self.pages_after = 0
        """How many pages the file has with them; 0 where there are none."""
        end = _HEADER.size
        if _read_header(self._log) is not None:
            pending: dict[int, int] = {}
            for frame in _right_frames(self._log):
                pending[frame.page] = frame.offset
                end = frame.offset + _PAGE_BYTES
                if frame.pages_after:
                    self._offsets |= pending
                    self.pages_after = frame.pages_after
                    pending.clear()
        self.transactions_lost = self._count_commits(end)

    def page(self, number: int) -> bytes | None:
        """Return the newest version of a page in the log, if it has one."""
        offset = self._offsets.get(number)
        if offset is None:
            return None
        with open(self._log, "rb", buffering=0) as file:
            return os.pread(file.fileno(), _PAGE_BYTES, offset)

    def _count_commits(self, start: int) -> int:
        """Count the transactions behind a damaged frame. A frame fits the sum that the one before it tells.

        The frame that was being written when a process was killed has none behind it; without `fsync` between two
        commits, it may have one.
        """
        commits = 0
        with contextlib.suppress(OSError), open(self._log, "rb") as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return 0
            file.seek(start)
            chain: tuple[int, int] | None = None
            while len(frame := file.read(_FRAME.size + _PAGE_BYTES)) == _FRAME.size + _PAGE_BYTES:
                if frame[8:16] != header[16:24]:
                    chain = None
                    continue
                sums = struct.unpack(">2I", frame[16:24])
                if chain is not None:
                    content = frame[_FRAME.size :]
                    fits = _sum_of(content, _sum_of(frame[:8], chain, header), header) == sums
                    commits += fits and int.from_bytes(frame[4:8]) > 0
                chain = sums
        return commits
