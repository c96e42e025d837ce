"""A VFS on which the sync of a commit can fail, or take as long as a test wants.

It stands on "unix"; a connection that names its VFS gets that one alone, without the layer that encrypts. Only
syncs of the log and the journal after a write are counted: those whose failure SQLite passes on. The sync of a
checkpoint may fail without harm to the commit before it, but apsw would raise it all the same.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from support.serving import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTY_SYNC = "faulty-sync"


class FaultySyncs:
    """Counts the syncs of commits, fails those it is told to, and holds them at a gate while that is closed."""

    def __init__(self) -> None:
        self.count = 0
        self.failed = 0
        self._fail: range = range(0)
        self._is_gate_closed = False
        self._arrived = threading.Semaphore(0)
        self._let_go = threading.Semaphore(0)

    def arm(self, *, at: int, calls: int = 1) -> None:
        """Fail so many syncs, beginning with the at-th from now (the next one is 1)."""
        self._fail = range(self.count + at, self.count + at + calls)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Close the gate for as long as the block lasts."""
        self._arrived, self._let_go = threading.Semaphore(0), threading.Semaphore(0)
        self._is_gate_closed = True
        try:
            yield
        finally:
            self._is_gate_closed = False
            self._let_go.release()

    def wait_for_one(self) -> None:
        """Wait until a sync stands at the gate. It is counted, and fails, only behind it."""
        assert self._arrived.acquire(timeout=TIMEOUT_S), "no sync came to the gate"

    def let_one_go(self) -> None:
        """Let the sync at the gate go on."""
        self._let_go.release()

    def take(self) -> None:
        """Note a sync; raise what SQLite's own VFS reports when fsync fails, if it is to fail."""
        if self._is_gate_closed:
            self._arrived.release()
            assert self._let_go.acquire(timeout=TIMEOUT_S), "nobody has opened the gate"
        self.count += 1
        if self.count in self._fail:
            self.failed += 1
            error = apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
            error.args = ("disk I/O error",)  # as SQLite words it
            raise error


class _File(apsw.VFSFile):
    def __init__(self, syncs: FaultySyncs, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._syncs = syncs
        self._is_counted = bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))
        self._is_written = False

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._is_written = True

    def xSync(self, flags: int) -> None:  # noqa: N802
        # A checkpoint syncs the log too, before it copies it, when nothing was written since the last commit.
        if self._is_counted and self._is_written:
            self._syncs.take()
        self._is_written = False
        super().xSync(flags)


class _VFS(apsw.VFS):
    def __init__(self, syncs: FaultySyncs) -> None:
        super().__init__(FAULTY_SYNC, "unix")
        self._syncs = syncs

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self._syncs, name, flags)


@contextmanager
def faulty_syncs() -> Iterator[FaultySyncs]:
    """Have databases opened with vfs=FAULTY_SYNC stand on a disk whose syncs can fail."""
    syncs = FaultySyncs()
    vfs = _VFS(syncs)
    try:
        yield syncs
    finally:
        vfs.unregister()
