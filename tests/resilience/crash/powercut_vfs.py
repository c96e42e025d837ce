"""A disk whose power can be cut: only what was synced is sure to be there afterwards.

A real kill proves little about fsync, since the page cache outlives the process. This VFS passes everything
through to the real file, so that the database works as ever, and keeps beside it what the platters hold:
the synced bytes of each file, and the writes, truncates and directory changes that are still on their way. An
image taken at any moment is what a machine could find after a power cut: the synced bytes, and any part of
the rest, sector by sector.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw

POWERCUT = "powercut"
_SECTOR_BYTES = 512


@dataclass(frozen=True, slots=True)
class Write:
    offset: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        missing = self.offset - len(content)
        if missing > 0:
            content.extend(bytes(missing))
        content[self.offset : self.offset + len(self.data)] = self.data

    def sectors(self) -> Iterator[Write]:
        """Yield the parts that reach the disk each by itself."""
        start = self.offset
        end = self.offset + len(self.data)
        while start < end:
            stop = min(end, (start // _SECTOR_BYTES + 1) * _SECTOR_BYTES)
            yield Write(start, self.data[start - self.offset : stop - self.offset])
            start = stop


@dataclass(frozen=True, slots=True)
class Truncate:
    size: int

    def apply(self, content: bytearray) -> None:
        del content[self.size :]
        content.extend(bytes(self.size - len(content)))


@dataclass(eq=False)
class _File:
    synced: bytearray = field(default_factory=bytearray)
    pending: list[Write | Truncate] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.pending:
            change.apply(self.synced)
        self.pending.clear()

    def content(self, random: Random | None) -> bytes:
        """Return the synced bytes; with a random source, also a part of what is on its way."""
        content = bytearray(self.synced)
        if random is None:
            return bytes(content)
        share = random.choice((0.0, 0.5, 0.9, 1.0))
        for change in self.pending:
            parts = change.sectors() if isinstance(change, Write) else [change]
            for part in parts:
                if random.random() < share:
                    part.apply(content)
        return bytes(content)


class PowerCutDisk:
    """What the platters hold of the files that were opened through the VFS."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, _File] = {}
        self._durable: dict[str, _File] = {}  # the directory as it was last synced
        self._renamed: list[tuple[str, _File | None]] = []  # its changes since
        self.syncs = 0
        self.checkpointed_writes = 0

    def image(self, directory: Path, *, random: Random | None = None) -> None:
        """Write what a power cut would leave; with a random source, also a part of the unsynced changes."""
        with self._lock:
            names = dict(self._durable)
            if random is not None:
                _rename(names, self._renamed[: random.randint(0, len(self._renamed))])
            contents = {name: file.content(random) for name, file in names.items()}
        for name, content in contents.items():
            (directory / Path(name).name).write_bytes(content)

    # --- what the VFS tells -----------------------------------------------------------

    def open(self, name: str) -> _File:
        with self._lock:
            if name not in self._files:
                path = Path(name)
                content = path.read_bytes() if path.exists() else b""
                file = self._files[name] = _File(synced=bytearray(content))
                if content:
                    self._durable[name] = file  # it was there before this disk was watched
                else:
                    self._renamed.append((name, file))
            return self._files[name]

    def delete(self, name: str, *, is_synced: bool) -> None:
        with self._lock:
            if self._files.pop(name, None) is not None:
                self._renamed.append((name, None))
            if is_synced:
                self._sync_directory()

    def change(self, file: _File, change: Write | Truncate, *, is_main: bool) -> None:
        with self._lock:
            file.pending.append(change)
            self.checkpointed_writes += is_main

    def sync(self, file: _File, *, with_directory: bool) -> None:
        with self._lock:
            self.syncs += 1
            file.sync()
            if with_directory:
                self._sync_directory()

    def _sync_directory(self) -> None:
        _rename(self._durable, self._renamed)
        self._renamed.clear()


def _rename(names: dict[str, _File], changes: list[tuple[str, _File | None]]) -> None:
    for name, file in changes:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


class _WatchedFile(apsw.VFSFile):
    def __init__(self, disk: PowerCutDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        assert path is not None, "a temporary file on the disk"
        self._disk = disk
        self._file = disk.open(path)
        self._is_main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        # SQLite's unix VFS syncs the directory with the first sync of a journal or log that it may have made.
        journals = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
        self._syncs_directory = bool(flags[0] & journals and flags[0] & apsw.SQLITE_OPEN_CREATE)
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._disk.change(self._file, Write(offset, bytes(data)), is_main=self._is_main)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._disk.change(self._file, Truncate(newsize), is_main=self._is_main)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._disk.sync(self._file, with_directory=self._syncs_directory)
        self._syncs_directory = False


class PowerCutVFS(apsw.VFS):
    """A VFS of the name POWERCUT, on a PowerCutDisk."""

    def __init__(self, disk: PowerCutDisk) -> None:
        super().__init__(POWERCUT, "unix")
        self._disk = disk

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _WatchedFile(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self._disk.delete(filename, is_synced=syncdir)


@contextmanager
def powercut_disk() -> Iterator[PowerCutDisk]:
    """Have databases opened with vfs=POWERCUT stand on a disk whose power can be cut."""
    disk = PowerCutDisk()
    vfs = PowerCutVFS(disk)
    try:
        yield disk
    finally:
        vfs.unregister()
