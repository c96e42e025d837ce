"""A disk on which a chosen call fails: an I/O error, a short write, no room left, or the end of the process.

Writes and truncates fail where they happen, in the system calls of SQLite's own VFS (xSetSystemCall): SQLite
sees errno, takes its own way through the error, and decides what it means. An exception raised by a Python
VFS would do more than that: apsw raises it again even where SQLite had survived the error (a checkpoint that
fails after its COMMIT), so a commit that is there would look as if it had failed.

SQLite does not call fsync through that table. Syncs therefore fail with an exception in xSync, and only where
SQLite passes the error on as well: the sync of a commit. A sync of a checkpoint is not counted.

The VFS stands on "unix", below the one that encrypts, which SQLite Multiple Ciphers puts on top by itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import apsw

FAULTY = "faulty"


class Fault(Enum):
    IO_ERROR = errno.EIO
    DISK_FULL = errno.ENOSPC
    SHORT_WRITE = -1  # half of the bytes are written, then an I/O error
    KILL = -2  # half of the bytes are written, then SIGKILL


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changes a file, as it was made."""

    kind: str  # write, truncate, sync
    file: str  # what the name adds to the database's: "", "-wal", "-shm", "-journal"

    @property
    def is_of_commit(self) -> bool:
        """Whether a commit cannot have succeeded without it (checkpoints and shared memory can wait)."""
        return self.file in ("-wal", "-journal")


class FaultyDisk:
    """Counts the calls that change the files of one database, and fails those it is told to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.calls: list[Call] = []
        self.failed: list[Call] = []
        self._fault: Fault | None = None
        self._first = self._last = 0
        self._tails: set[int] = set()  # descriptors whose short write is to fail when it goes on
        self.reads_fail = False

    def arm(self, fault: Fault, *, at: int, calls: int = 1) -> None:
        """Fail so many calls, beginning with the at-th from now (the next one is 1)."""
        self._fault = fault
        self._first = len(self.calls) + at
        self._last = self._first + calls - 1

    def disarm(self) -> None:
        self._fault = None
        self._tails.clear()

    def take(self, kind: str, file: str) -> Fault | None:
        """Note a call; return the fault it must suffer."""
        call = Call(kind, file)
        self.calls.append(call)
        if self._fault is None or not self._first <= len(self.calls) <= self._last:
            return None
        self.failed.append(call)
        return self._fault

    def file_of(self, descriptor: int) -> str | None:
        """Return which file of the database the descriptor is open on; None for any other."""
        found = os.fstat(descriptor)
        for suffix in ("-wal", "", "-shm", "-journal"):
            try:
                known = os.stat(f"{self._path}{suffix}")
            except FileNotFoundError:
                continue
            if (known.st_dev, known.st_ino) == (found.st_dev, found.st_ino):
                return suffix
        return None

    # --- what stands in for the system calls ----------------------------------------

    def write(self, real: Callable[..., int], descriptor: int, data: int, size: int, offset: int) -> int:
        file = self.file_of(descriptor)
        if file is None:
            return real(descriptor, data, size, offset)
        if descriptor in self._tails:
            self._tails.discard(descriptor)
            return _fail(errno.EIO)
        match self.take("write", file):
            case None:
                return real(descriptor, data, size, offset)
            case Fault.SHORT_WRITE:
                self._tails.add(descriptor)
                return real(descriptor, data, max(size // 2, 1), offset)
            case Fault.KILL:
                real(descriptor, data, size // 2, offset)
                os.kill(os.getpid(), signal.SIGKILL)
                raise AssertionError("still alive")
            case fault:
                return _fail(fault.value)

    def truncate(self, real: Callable[..., int], descriptor: int, size: int) -> int:
        file = self.file_of(descriptor)
        fault = None if file is None else self.take("truncate", file)
        if fault is None:
            return real(descriptor, size)
        if fault is Fault.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        return _fail(errno.EIO)

    def read(self, real: Callable[..., int], descriptor: int, data: int, size: int, offset: int) -> int:
        if self.reads_fail and self.file_of(descriptor) is not None:
            return _fail(errno.EIO)
        return real(descriptor, data, size, offset)


def _fail(error_number: int) -> int:
    ctypes.set_errno(error_number)
    return -1


_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)


class _FaultyFile(apsw.VFSFile):
    """A file whose sync can fail."""

    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._suffix = {apsw.SQLITE_OPEN_WAL: "-wal", apsw.SQLITE_OPEN_MAIN_JOURNAL: "-journal"}.get(
            flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL)
        )
        self._is_written = False

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._is_written = True
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        # A checkpoint syncs the log too, before it copies it, when nothing was written since the last commit.
        if self._suffix is not None and self._is_written:
            fault = self._disk.take("sync", self._suffix)
            if fault is Fault.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            if fault is not None:
                error = apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
                error.args = ("disk I/O error",)  # as SQLite words it
                raise error
        self._is_written = False
        super().xSync(flags)


class FaultyVFS(apsw.VFS):
    """A VFS of the name FAULTY, on a FaultyDisk."""

    def __init__(self, disk: FaultyDisk) -> None:
        super().__init__(FAULTY, "unix")
        self._disk = disk
        self._kept: list[object] = []  # SQLite holds pointers to these

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _FaultyFile(self._disk, name, flags)

    def replace_system_calls(self) -> None:
        """Put the disk between SQLite and the system, in the whole process."""
        replacements = [
            ("pwrite", _WRITE, self._disk.write),
            ("pwrite64", _WRITE, self._disk.write),
            ("pread", _WRITE, self._disk.read),
            ("pread64", _WRITE, self._disk.read),
            ("ftruncate", _TRUNCATE, self._disk.truncate),
        ]
        for name, prototype, replacement in replacements:
            address = self.xGetSystemCall(name)
            if not address:
                continue  # there is either pwrite or pwrite64
            real = prototype(address)
            hook = prototype(lambda *arguments, real=real, call=replacement: call(real, *arguments))
            self._kept.append(hook)
            pointer = ctypes.cast(hook, ctypes.c_void_p).value
            assert pointer is not None
            assert self.xSetSystemCall(name, pointer)

    def restore_system_calls(self) -> None:
        self.xSetSystemCall(None, 0)
        self.unregister()


@contextmanager
def faulty_disk(path: Path) -> Iterator[FaultyDisk]:
    """Have the database at the path (opened with vfs=FAULTY) stand on a disk that can fail."""
    disk = FaultyDisk(path)
    vfs = FaultyVFS(disk)
    vfs.replace_system_calls()
    try:
        yield disk
    finally:
        vfs.restore_system_calls()
