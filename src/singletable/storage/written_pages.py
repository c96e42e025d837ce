"""A layer below SQLite that remembers what was written to a file, to hold it against what the disk has.

It is for files that SQLite writes once, from nothing, with whole pages and without a journal: copies and backups.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any, Final

import apsw

from singletable import errors
from singletable.storage.durable_files import Progress, read_back, sync_file

PAGE_BYTES: Final = 4096
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

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.vfs = _NAME
        self._digests = bytearray()
        _layer().watched[self.path] = self._digests

    def forget(self) -> None:
        """Remember nothing of it any more."""
        _layer().watched.pop(self.path, None)
        self._digests.clear()

    def number_of_contents(self, bits: int) -> int:
        """Return a number that other contents do not have, of so many bits. The header's page does not count."""
        number = hashlib.blake2b(self._digests[_DIGEST_BYTES:], digest_size=8).digest()
        return int.from_bytes(number) >> (64 - bits)

    def verify(self, progress: Progress | None = None) -> str:
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
