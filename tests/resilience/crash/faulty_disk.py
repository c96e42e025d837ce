"""A disk on which a chosen call fails: an I/O error, a short write, no room left, or the end of the process.

Writes and truncates fail where they happen, in the system calls of SQLite's own VFS (xSetSystemCall): SQLite
sees errno, takes its own way through the error, and decides what it means. Files that a Python VFS opens would
not do: apsw raises the error of every call that passed through it, also where SQLite has survived the error (a
checkpoint that fails after its COMMIT), so a commit that is there would look as if it had failed.

SQLite does not call fsync through that table; faulty_sync_vfs.py makes that fail.
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
from functools import partial
from pathlib import Path
from typing import Any

import apsw

_SUFFIXES = ("-wal", "", "-shm", "-journal")


class Fault(Enum):
    IO_ERROR = errno.EIO
    DISK_FULL = errno.ENOSPC
    SHORT_WRITE = -1  # half of the bytes are written, then an I/O error
    KILL = -2  # half of the bytes are written, then SIGKILL


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changes a file, as it was made."""

    kind: str  # write, truncate
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
        self._files: tuple[str, ...] = _SUFFIXES
        self._tails: set[int] = set()  # descriptors whose short write is to fail when it goes on
        self.reads = 0
        self._failing_reads = range(0)

    def arm(self, fault: Fault, *, at: int, calls: int = 1, files: tuple[str, ...] = _SUFFIXES) -> None:
        """Fail so many calls, beginning with the at-th from now (the next one is 1), on these files."""
        self._fault = fault
        self._files = files
        self._first = len(self.calls) + at
        self._last = self._first + calls - 1

    def arm_reads(self, *, at: int, calls: int = 1) -> None:
        """Fail so many reads, beginning with the at-th from now (the next one is 1)."""
        self._failing_reads = range(self.reads + at, self.reads + at + calls)

    @property
    def read_has_failed(self) -> bool:
        return self.reads >= self._failing_reads.start

    def disarm(self) -> None:
        self._failing_reads = range(0)
        self._fault = None
        self._tails.clear()

    def take(self, kind: str, file: str) -> Fault | None:
        """Note a call; return the fault it must suffer."""
        call = Call(kind, file)
        self.calls.append(call)
        is_due = self._first <= len(self.calls) <= self._last and file in self._files
        if self._fault is None or not is_due:
            return None
        self.failed.append(call)
        return self._fault

    def file_of(self, descriptor: int) -> str | None:
        """Return which file of the database the descriptor is open on; None for any other."""
        found = os.fstat(descriptor)
        for suffix in _SUFFIXES:
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
        if self.file_of(descriptor) is not None:
            self.reads += 1
            if self.reads in self._failing_reads:
                return _fail(errno.EIO)
        return real(descriptor, data, size, offset)


def _fail(error_number: int) -> int:
    ctypes.set_errno(error_number)
    return -1


_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)


class SystemCalls:
    """The calls that SQLite makes for its files in this process, with a FaultyDisk in their place."""

    def __init__(self, disk: FaultyDisk) -> None:
        # Any VFS on top of "unix" reaches the table of that one.
        self._vfs = apsw.VFS("faulty-system-calls", "unix")
        self._hooks: list[object] = []  # SQLite holds pointers to these
        self._replace("pwrite", _WRITE, disk.write)
        self._replace("pwrite64", _WRITE, disk.write)
        self._replace("pread", _WRITE, disk.read)
        self._replace("pread64", _WRITE, disk.read)
        self._replace("ftruncate", _TRUNCATE, disk.truncate)

    def _replace(self, name: str, prototype: Any, replacement: Callable[..., int]) -> None:
        address = self._vfs.xGetSystemCall(name)
        if not address:
            return  # there is either pwrite or pwrite64
        hook = prototype(partial(replacement, prototype(address)))
        self._hooks.append(hook)
        pointer = ctypes.cast(hook, ctypes.c_void_p).value
        assert pointer is not None
        assert self._vfs.xSetSystemCall(name, pointer)

    def restore(self) -> None:
        self._vfs.xSetSystemCall(None, 0)
        self._vfs.unregister()


@contextmanager
def faulty_disk(path: Path) -> Iterator[FaultyDisk]:
    """Have the database at the path stand on a disk that can fail."""
    disk = FaultyDisk(path)
    calls = SystemCalls(disk)
    try:
        yield disk
    finally:
        calls.restore()
