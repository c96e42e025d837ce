"""The files of an open database: are they still the files that were opened?"""

from __future__ import annotations

import os
import threading
import time
from typing import Final, NamedTuple

from singletable import errors
from singletable.storage.file.encryption import SALT_BYTES, FileKey, header_of
from singletable.storage.file.write_ahead_log import has_no_header, is_emptied, is_overwritten

# To look after three files takes 4 us, and 20 behind a sync. A commit so long behind the last look has one.
_LOOK_S: Final = 0.025

_GONE_HINT: Final = "put it back, with its -wal beside it, and open it again"
_REPLACED_HINT: Final = "put the old file back, or leave the new one; then open it again"
_BESIDE_HINT: Final = (
    "close the database everywhere: whoever is last saves what was committed; then open it again"
)


_OVERWRITTEN_HINT: Final = (
    "close it everywhere; then restore a backup, or move its -wal away to open what is there now"
)
_EMPTIED_HINT: Final = (
    "close the database everywhere, and open it again: what only its log had is lost; or restore a backup"
)


class _Trouble(NamedTuple):
    message: str
    hint: str
    is_overwritten: bool


class OpenFiles:
    """The files of an open database: whether each is still at its path, with the contents that SQLite wrote.

    A file that was removed, renamed or replaced can still be written by a process that has it open, and those
    writes are lost. A file that another program has overwritten is damaged further by every later write. A file
    that was once out of place counts as moved for good: others may have opened another file there meanwhile.

    The database is compared with its write-ahead log when its size or modification time has changed: only a
    checkpoint changes them.
    """

    __slots__ = (
        "_asking",
        "_has_log",
        "_key",
        "_known",
        "_main_seen",
        "_next_look_s",
        "_path",
        "_salt",
        "_trouble",
        "are_moved",
    )

    def __init__(self, path: str, key: FileKey | None = None) -> None:
        self._path = path
        self._key = key
        self._salt = b""  # of an encrypted file: its first bytes, which never change
        self._known: dict[str, tuple[int, int]] = {}
        self._next_look_s = 0.0
        self._main_seen: tuple[int, int] | None = None
        self._has_log = False
        self._asking = threading.Lock()  # while SQLite is asked, with a connection of its own
        self._trouble = _Trouble("", "", is_overwritten=False)
        self.are_moved = False

    def may_save_at_close(self) -> bool:
        """Tell whether SQLite may checkpoint the log when this process closes its last connection.

        Without our `-shm`, other processes do not see us. One that opens the file then reads our log, or none, and
        may have written and closed the file since. Our checkpoint would overwrite its pages.
        """
        self.look()
        if self._trouble.is_overwritten:
            return False
        beside = {path: known for path, known in self._known.items() if path != self._path}
        places = {path: _identity(path) for path in beside}
        if all(places[path] == known for path, known in beside.items() if path.endswith("-shm")):
            return True
        is_changed = self._main_seen is not None and _seen_from_outside(self._path) != self._main_seen
        return not is_changed and all(place is None for place in places.values())

    def learn(self) -> None:
        """Remember the database before it is opened. Another process may still remove its `-wal` and `-shm`."""
        identity = _identity(self._path)
        self._known = {} if identity is None else {self._path: identity}
        self.learn_main()

    def learn_main(self) -> None:
        """Remember size and modification time of the database, after a checkpoint of this process."""
        self._main_seen = _seen_from_outside(self._path) or self._main_seen
        if self._key is not None and not self._salt:
            self._salt = header_of(self._path)[:SALT_BYTES]

    def learn_beside(self) -> None:
        """Remember `-wal` and `-shm`. Call it while a connection that has read is open: that keeps both files."""
        real = os.path.realpath(self._path)  # it is beside this one that SQLite makes its files
        found = {path: _identity(path) for path in (f"{real}-wal", f"{real}-shm")}
        self._known = self._main() | {path: identity for path, identity in found.items() if identity}
        self.check()

    def forget_beside(self) -> None:
        """Forget `-wal` and `-shm`: the last connection removes them, and the next one makes them anew."""
        self._known = self._main()
        self._has_log = False

    def before_fork(self) -> None:
        """Wait for threads that look inside a file: no thread may be in SQLite when a child begins."""
        self._asking.acquire()

    def after_fork(self) -> None:
        self._asking.release()

    def _main(self) -> dict[str, tuple[int, int]]:
        return {path: known for path, known in self._known.items() if path == self._path}

    def may_checkpoint(self) -> bool:
        """Tell whether all files are in place. A checkpoint into a foreign file would hide that it is one."""
        return self.look() is None

    def check_if_due(self) -> None:
        """Check, unless that was done just now."""
        now_s = time.monotonic()
        if now_s >= self._next_look_s:
            self.check()
            self._next_look_s = now_s + _LOOK_S

    def check(self) -> None:
        """Raise a FileMovedError if a file is not in its place, or was not at an earlier look."""
        trouble = self.look()
        if trouble is not None:
            raise trouble

    def look(self) -> errors.FileMovedError | None:
        """Tell whether a file is not in its place, or was not at an earlier look."""
        if not self.are_moved:
            known = self._known
            found = self._look(known)
            # Another thread may close the last connection meanwhile, as before a fork; it says so first.
            if found is None or known is not self._known:
                return None
            self._trouble, self.are_moved = found, True
        return errors.FileMovedError(self._trouble.message, hint=self._trouble.hint)

    def _look(self, identities: dict[str, tuple[int, int]]) -> _Trouble | None:
        for path, known in identities.items():
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                what, hint = "removed or renamed", _GONE_HINT
            except OSError:
                continue  # it cannot be seen, which says nothing about where it is
            else:
                if (found.st_dev, found.st_ino) == known:
                    trouble = self._look_inside(path, found)
                    if trouble is None:
                        continue
                    return trouble
                what, hint = "replaced by another file", _REPLACED_HINT
            message = f"{path} was {what} while it was open: nothing is written any more"
            return _Trouble(message, hint if path == self._path else _BESIDE_HINT, is_overwritten=False)
        return None

    def _look_inside(self, path: str, found: os.stat_result) -> _Trouble | None:
        if path == self._path:
            if not self._is_overwritten(found):
                return None
            what, hint = "overwritten by another program while it was open", _OVERWRITTEN_HINT
        elif path.endswith("-wal"):
            if not self._is_emptied(path):
                return None
            what, hint = "emptied by another program while the database was open", _EMPTIED_HINT
        else:
            return None  # to read it with a descriptor of our own would drop SQLite's locks
        return _Trouble(f"{path} was {what}: nothing is written any more", hint, is_overwritten=True)

    def _is_overwritten(self, found: os.stat_result) -> bool:
        outside = _outside(found)
        if outside == self._main_seen:
            return False
        with self._asking:
            verdict = is_overwritten(self._path, self._key)
            if verdict is None and self._salt and (salt := header_of(self._path)[:SALT_BYTES]):
                verdict = salt != self._salt
        if verdict is False:
            self._main_seen = outside
        return verdict is True

    def _is_emptied(self, log: str) -> bool:
        is_headless = has_no_header(log)
        if is_headless is False:
            self._has_log = True
        if is_headless is False or not self._has_log:
            return False  # SQLite takes an earlier file without a header as no log, and begins one
        if is_headless:
            return True
        with self._asking:
            self._has_log = is_emptied(self._path, self._key)
        return self._has_log


def _outside(found: os.stat_result) -> tuple[int, int]:
    return found.st_mtime_ns, found.st_size


def _seen_from_outside(path: str) -> tuple[int, int] | None:
    try:
        return _outside(os.stat(path))
    except OSError:
        return None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
