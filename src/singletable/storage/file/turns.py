"""Turns of several processes at the write lock.

SQLite has no queue for the lock: a waiter must poll, and a process that writes without a pause gives the others
only a gap of microseconds between two transactions. So the waiter polls often (SQLite's own busy_timeout sleeps up
to 100 ms, and waited 1.6 to 2.4 s), and a writer that has seen others at the lock takes a turn of a few
milliseconds, and then leaves them a gap that is wide enough. A process that writes alone never pays for this.

We wait for a process that holds the lock and works. A process that was stopped (SIGSTOP, Ctrl-Z, a debugger) may
never go on: the first waiter waits for it shortly, later ones not at all.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from singletable import limits

_ASK_S: Final = 0.0002
_ASK_SELDOM_S: Final = 0.001
_ASK_OFTEN_TRIES: Final = 2_000
_LOOK_S: Final = 0.25  # between two looks at the holder; to read /proc/locks takes 30 us
_TURN_S: Final = 0.005
_GAP_S: Final = 0.0005
_REMEMBER_S: Final = 0.25


class Turns:
    """The turns of one connection at the write lock."""

    __slots__ = (
        "_contended_s",
        "_is_patient",
        "_look_s",
        "_path",
        "_stopped",
        "_turn_began_s",
        "_waiting_since_s",
    )

    def __init__(self, path: str) -> None:
        self._path = path
        self._contended_s = float("-inf")
        self._turn_began_s = 0.0
        self._waiting_since_s = 0.0
        self._look_s = 0.0
        self._is_patient = True
        self._stopped: Holder | None = None  # the stopped holder that was waited for in vain

    def wait(self, tries: int) -> bool:
        """Wait a little for the lock, and tell whether to ask again. SQLite calls it (a busy handler)."""
        now_s = time.monotonic()
        if tries == 0:
            self._waiting_since_s = now_s
            self._look_s = now_s if self._stopped else now_s + min(_LOOK_S, limits.STOPPED_HOLDER_WAIT_S)
        self._contended_s = self._turn_began_s = now_s
        if not self._is_patient:
            return False
        waited_s = now_s - self._waiting_since_s
        if now_s >= self._look_s and self._is_in_vain(waited_s):
            return False
        time.sleep(_ASK_S if tries < _ASK_OFTEN_TRIES else _ASK_SELDOM_S)
        return waited_s < limits.HOLDER_WAIT_S

    def _is_in_vain(self, waited_s: float) -> bool:
        """Tell whether the lock is held by a process that was stopped, and that was waited for long enough."""
        self._look_s = time.monotonic() + _LOOK_S
        holder = find_holder(self._path)
        if holder is None or not holder.is_stopped:
            self._stopped = None
            return False
        if holder != self._stopped and waited_s < limits.STOPPED_HOLDER_WAIT_S:
            return False
        self._stopped = holder
        return True

    def is_contended(self) -> bool:
        """Tell whether others were seen at the lock lately."""
        return time.monotonic() - self._contended_s < _REMEMBER_S

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Do not wait for the lock in this block: raise an error if it is not free at once."""
        self._is_patient = False
        try:
            yield
        finally:
            self._is_patient = True

    def leave_gap(self) -> None:
        """Let others have the lock first, if any were seen at it lately and this turn has lasted."""
        now_s = time.monotonic()
        if now_s - self._contended_s < _REMEMBER_S and now_s - self._turn_began_s > _TURN_S:
            time.sleep(_GAP_S)
            self._turn_began_s = time.monotonic()


# --- the holder of the lock ---------------------------------------------------------------------------

# SQLite locks bytes of the -shm file, this one for the writer ("WAL-mode File Format", 2.3.1). It locks bytes of
# the database itself for writing only when it makes the file, or closes it as the last process.
_WRITER_BYTE: Final = 120
_COMMAND_LENGTH_MAX: Final = 15  # the kernel's own


class Holder(NamedTuple):
    """A process that holds the write lock of a database."""

    pid: int
    command: str
    is_stopped: bool


def find_holder(path: str) -> Holder | None:
    """Return the holder of the write lock of a database; None if there is none, or on systems other than Linux.

    To ask as SQLite does, by F_GETLK, takes a descriptor, and closing that would drop the locks of this process.
    """
    real = os.path.realpath(path)
    candidates = [*_write_locks(f"{real}-shm"), *_write_locks(real)]
    # The lock on the writer's byte comes first; another lock matters only where nobody holds that.
    for _, pid in sorted(candidates, key=lambda lock: lock[0] != _WRITER_BYTE):
        return Holder(pid, _command(pid), _is_stopped(pid))
    return None


def _write_locks(path: str) -> list[tuple[int, int]]:
    """Return the locks for writing on a file: the first byte, and the process."""
    found: list[tuple[int, int]] = []
    with contextlib.suppress(OSError):
        status = os.stat(path)
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
        with open("/proc/locks", encoding="ascii", errors="replace") as locks:
            for line in locks:
                # 1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120; a waiter has "->" behind the number
                fields = line.split()
                if len(fields) != 8 or fields[1] != "POSIX" or fields[3] != "WRITE":
                    continue
                pid, (on, _, inode) = int(fields[4]), fields[5].rpartition(":")
                # Some file systems have another device for their files than for themselves (Btrfs, overlays).
                if inode == str(status.st_ino) and (on == device or _has_open(pid, path)):
                    found.append((int(fields[6]), pid))
    return found


def _has_open(pid: int, path: str) -> bool:
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        return any(os.readlink(f"{folder}/{name}") == path for name in os.listdir(folder))
    return False


def _command(pid: int) -> str:
    """Return the name of a program, never its arguments: they may hold secrets."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read(4 * _COMMAND_LENGTH_MAX).rstrip("\n")
        return "".join(letter if letter.isprintable() else "?" for letter in name)
    return "unknown"


def _is_stopped(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        # 4711 (a name) T ...: stopped by a signal, or by a debugger (proc(5))
        return file.read().rpartition(b") ")[2][:1] in (b"T", b"t")
    return False
