"""Copies of whole databases, page by page: from a connection to a new file, with a checksum beside it.

A copy is written under another name, brought to the disk, read back from there and compared, and only then gets
its name. The checksum is its SHA-256, in the form that `sha256sum -c` reads.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import apsw

from singletable import errors
from singletable.storage.file import failures
from singletable.storage.file.durable_files import (
    make_private_file,
    put_in_place,
    read_back,
    sync_file,
    write_whole,
)
from singletable.storage.file.encryption import FileKey, open_encrypted
from singletable.storage.file.page_sums import ciphered_over, give_sums, has_sums, summed_over
from singletable.storage.file.write_ahead_log import change_mark, new_mark

Phase = Literal["copying", "verifying"]
Progress = Callable[[Phase, int, int], None]
"""Called with the name of the step, how many of its bytes or pages are done, and the total."""

_PAGES_A_STEP: Final = 256

PAGE_BYTES: Final = 4096


class CompleteFile(NamedTuple):
    """A file that is complete: its size, and its checksum."""

    bytes: int
    sha256: str


def no_progress(phase: Phase, done: int, total: int) -> None:
    pass


def sums_path(path: str) -> str:
    """Return where the checksum of a file stands."""
    return f"{path}.sha256"


def copy_connection(
    source: apsw.Connection, path: str, progress: Progress = no_progress, key: FileKey | None = None
) -> CompleteFile:
    """Write the state that a connection sees now to a new file, and verify that. `key` is that of both."""
    written = WrittenFile(path, key)
    try:
        source.execute("BEGIN").fetchall()
        try:
            # Its transaction keeps the connection to one state, so the copy never has to begin again.
            source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            _copy_pages(source, written, progress)
        finally:
            source.execute("ROLLBACK").fetchall()
        sha256 = written.verify(lambda done, total: progress("verifying", done, total))
        return CompleteFile(os.stat(path).st_size, sha256)
    finally:
        written.forget()


def _copy_pages(source: apsw.Connection, written: WrittenFile, progress: Progress) -> None:
    try:
        make_private_file(written.path)
        target = written.connect()
        try:
            target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").fetchall()
            if has_sums(source):
                give_sums(target)
            with target.backup("main", source, "main") as pages:
                while not pages.done:
                    pages.step(_PAGES_A_STEP)
                    progress("copying", pages.page_count - pages.remaining, pages.page_count)
            change_mark(target.execute, new_mark(written.number_of_contents))
        finally:
            target.close(True)
    except apsw.Error as error:
        raise failures.translate(error, written.path) from error


def put_copy_in_place(made: str, copy: str, copied: CompleteFile) -> None:
    """Give a copy its name. At no moment is there one under it to which no checksum fits."""
    old = read_sums(copy) if os.path.exists(copy) else []
    _write_sums(copy, [copied.sha256, *old])
    put_in_place(made, copy)
    _write_sums(copy, [copied.sha256])


def _write_sums(path: str, sums: list[str]) -> None:
    name = os.path.basename(path)
    write_whole(sums_path(path), "".join(f"{one}  {name}\n" for one in sums).encode())


def read_sums(path: str) -> list[str]:
    """Return the checksums that may be those of a file: two, when its making was interrupted at the last step."""
    try:
        with open(sums_path(path), encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip("\n").partition(" ") for line in file]
    except FileNotFoundError:
        return []
    name = os.path.basename(path)
    return [one.lower() for one, _, of in lines if os.path.basename(of.lstrip(" *")) == name]


# --- a layer below SQLite (a VFS) that remembers the pages written to a file ----------------------


_BASE_VFS: Final = "unix" if os.name == "posix" else ""
_NAME: Final = "singletable-written"
_DIGEST_BYTES: Final = 16
# SQLite keeps its locks there, and never writes the page ("Database File Format", 1.4).
_LOCK_PAGE_OFFSET: Final = 1 << 30


class _File(apsw.VFSFile):
    """A file of which the digests of written pages are kept, one behind the other in the order of the pages."""

    def __init__(self, name: Any, flags: list[int], digests: bytearray | None) -> None:
        super().__init__(_BASE_VFS, name, flags)
        self._digests = digests

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        if self._digests is not None:
            place = _place(offset)
            self._digests.extend(bytes(max(0, place.stop - len(self._digests))))
            self._digests[place] = _digest(data)


class _WrittenPages(apsw.VFS):
    """For files that SQLite writes once, from nothing, in whole pages and without a journal: copies, backups."""

    def __init__(self) -> None:
        super().__init__(_NAME, _BASE_VFS)
        self.watched: dict[str, bytearray] = {}

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return _File(name, flags, self.watched.get(path or ""))


_vfs: _WrittenPages | None = None
_making = threading.Lock()


def _layer() -> _WrittenPages:
    global _vfs
    with _making:
        if _vfs is None:
            _vfs = _WrittenPages()
        return _vfs


def _place(offset: int) -> slice:
    """Return where the digest of the page at an offset stands."""
    start = offset // PAGE_BYTES * _DIGEST_BYTES
    return slice(start, start + _DIGEST_BYTES)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


class WrittenFile:
    """A file that SQLite is going to write, under a path that nothing has yet."""

    def __init__(self, path: str, key: FileKey | None = None) -> None:
        self.path = os.path.abspath(path)
        self._digests = bytearray()
        self._key = key
        _layer().watched[self.path] = self._digests
        self.vfs = summed_over(_NAME) if key is None else ciphered_over(_NAME)

    def connect(self) -> apsw.Connection:
        """Return a connection that writes it."""
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if self._key is not None:
            return open_encrypted(self.path, self._key, flags, _NAME)
        return apsw.Connection(self.path, flags=flags, vfs=self.vfs)

    def forget(self) -> None:
        """Remember nothing of it any more."""
        _layer().watched.pop(self.path, None)
        self._digests.clear()

    def number_of_contents(self, bits: int) -> int:
        """Return a fingerprint of the contents, of so many bits. The header's page does not count."""
        number = hashlib.blake2b(self._digests[_DIGEST_BYTES:], digest_size=8).digest()
        return int.from_bytes(number) >> (64 - bits)

    def verify(self, progress: Callable[[int, int], None] | None = None) -> str:
        """Bring the file to the disk, read it from there, compare; return its SHA-256."""
        sync_file(self.path)
        whole = hashlib.sha256()
        offset, total = 0, os.stat(self.path).st_size
        for chunk in read_back(self.path, 256 * PAGE_BYTES):
            whole.update(chunk)
            for start in range(0, len(chunk), PAGE_BYTES):
                self._verify_page(offset + start, chunk[start : start + PAGE_BYTES])
            offset += len(chunk)
            if progress is not None:
                progress(offset, total)
        pages = len(self._digests) // _DIGEST_BYTES
        if offset != pages * PAGE_BYTES:
            raise errors.StorageFailedError(
                f"{self.path}: the disk holds {offset // PAGE_BYTES} pages, and {pages} were written",
                hint="look at the disk and at the system's log; nothing was kept of this copy",
            )
        return whole.hexdigest()

    def _verify_page(self, offset: int, page: bytes) -> None:
        if self._digests[_place(offset)] != _digest(page) and offset != _LOCK_PAGE_OFFSET:
            raise errors.StorageFailedError(
                f"{self.path}: the disk does not hold what was written to it, at byte {offset}",
                hint="look at the disk and at the system's log; nothing was kept of this copy",
            )
