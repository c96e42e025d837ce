"""Connections to SQLite: how one is set up, and the readers that wait for their next request."""

from __future__ import annotations

import os
import sys
import threading
import time
import urllib.parse
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import apsw

from singletable import errors, limits
from singletable.storage.durable_files import no_file, sync_directory
from singletable.storage.turns import Turns

Durability = Literal["full", "relaxed"]
MEMORY: Final = ":memory:"

# Named, it is used as it is. The default is SQLite3 Multiple Ciphers' layer over it, which was seen to drop a
# read error and go on with a wrong page; it is for encrypted files.
PLAIN_VFS: Final = "unix" if os.name == "posix" else None
_HEADER_BYTES: Final = 100
_PAUSE_STEP_S: Final = 0.0005
_PAUSE_S_MAX: Final = 30.0
_STEPS_BETWEEN_QUESTIONS: Final = 100  # of SQLite; to copy a row takes three
_LOG_BYTES: Final = 64 * limits.MIB  # what is kept of SQLite's own log when a long read had let it grow
_MMAP_BYTES: Final = 1 << 40  # SQLite lowers it to what it was built for
# To look after three files takes 4 us, and 20 behind a sync. A commit so long behind the last look has one.
_LOOK_S: Final = 0.025


@dataclass(frozen=True, slots=True)
class Place:
    """Where a database is and how it is to be treated."""

    path: str
    durability: Durability = "full"
    vfs: str | None = None
    backups: str | None = None  # the folder of its backups; None: a temporary one

    @property
    def in_memory(self) -> bool:
        return self.path == MEMORY


def connect(place: Place, turns: Turns | None = None) -> apsw.Connection:
    """Open a connection for reading and writing. Each is used by one thread at a time."""
    # Without CREATE: a file that has gone is an error, not a new and empty database.
    # With URI: so the file of a backup can be attached with a layer of its own. A path itself is never one.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(place.path, flags=flags, vfs=place.vfs or PLAIN_VFS)
    try:
        # Plans do not depend on what is bound: otherwise SQLite makes a new one for each LIMIT that it gets.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.set_busy_handler((turns or Turns(place.path)).wait)
        connection.execute(
            "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
            f"PRAGMA mmap_size = {_MMAP_BYTES}"
        ).fetchall()
        if place.in_memory:
            connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF").fetchall()
        else:
            _make_durable(connection, place.durability)
    except BaseException:
        connection.close(True)
        raise
    return connection


def connect_for_reading(path: str) -> apsw.Connection:
    """Open an existing file without any means to change it."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=PLAIN_VFS)
    connection.set_busy_handler(Turns(path).wait)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.CantOpenError:
        # In a directory that cannot be written, a file that nobody has open can still be read as it is.
        connection.close(True)
        if os.path.exists(path + "-wal"):
            raise
        connection = connect_unchanging(path)
    except BaseException:
        connection.close(True)
        raise
    return connection


def connect_unchanging(path: str) -> apsw.Connection:
    """Open a file that nobody writes to, without locks, and without a trace beside it."""
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?immutable=1"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=PLAIN_VFS)


def _make_durable(connection: apsw.Connection, durability: Durability) -> None:
    level = "FULL" if durability == "full" else "NORMAL"
    connection.execute(f"PRAGMA synchronous = {level}; PRAGMA journal_size_limit = {_LOG_BYTES}").fetchall()
    if sys.platform == "darwin":
        # fsync on macOS leaves the data in the drive's cache.
        connection.execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON").fetchall()


def create_file(path: str) -> None:
    """Make an empty file that only its owner may read, unless there is one.

    An existing file is not touched: closing a descriptor of it would drop the locks that SQLite holds on it
    for other connections of this process (POSIX advisory locks).
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        sync_directory(os.path.dirname(path) or ".")
    except (FileExistsError, IsADirectoryError):
        what = no_file(path)
        if what is not None:
            hint = "give the path of a file in it" if os.path.isdir(path) else "give the path of a file"
            raise errors.NotADatabaseError(f"{path} {what}", hint=hint) from None
        # SQLite takes a file too short for its header to be an empty one, and would write over it.
        if 0 < os.stat(path).st_size < _HEADER_BYTES:
            raise errors.NotADatabaseError(
                f"{path} is not a singletable database", hint="give the path of another file"
            ) from None
    except (FileNotFoundError, NotADirectoryError):
        what = no_file(os.path.dirname(path)) or "is a file"
        raise errors.StorageFailedError(
            f"{path} cannot be made: its directory {what}", hint="make the directory first"
        ) from None
    except OSError as error:
        raise errors.ReadOnlyDatabaseError(
            f"{path} cannot be made: {error.strerror}", hint="check the permissions of its directory"
        ) from None


_GONE_HINT: Final = "put it back, with its -wal beside it, and open it again"
_REPLACED_HINT: Final = "put the old file back, or leave the new one; then open it again"
_BESIDE_HINT: Final = (
    "close the database everywhere: whoever is last saves what was committed; then open it again"
)


class OpenFiles:
    """The files of a database that is open: whether each is still the one at its path.

    One that was removed, renamed or replaced can be written by whoever has it open, and what is written is lost.
    Once one is not in its place, that stays so: others may have opened what lay there meanwhile.
    """

    __slots__ = ("_known", "_next_look_s", "_path", "_trouble", "are_moved")

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[str, tuple[int, int]] = {}
        self._next_look_s = 0.0
        self._trouble = ("", "")
        self.are_moved = False

    def learn(self) -> None:
        """Remember the database, before it is opened. What is beside it may yet go with whoever closes it last."""
        identity = _identity(self._path)
        self._known = {} if identity is None else {self._path: identity}

    def learn_beside(self) -> None:
        """Remember what SQLite has beside the database. Call it with a connection that has read: that keeps it."""
        real = os.path.realpath(self._path)  # it is beside this one that SQLite makes its files
        found = {path: _identity(path) for path in (f"{real}-wal", f"{real}-shm")}
        self._known = self._main() | {path: identity for path, identity in found.items() if identity}
        self.check()

    def forget_beside(self) -> None:
        """What stands beside the database goes with the last connection, and is made anew for the next."""
        self._known = self._main()

    def _main(self) -> dict[str, tuple[int, int]]:
        return {path: known for path, known in self._known.items() if path == self._path}

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
        message, hint = self._trouble
        return errors.FileMovedError(message, hint=hint)

    def _look(self, identities: dict[str, tuple[int, int]]) -> tuple[str, str] | None:
        for path, known in identities.items():
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                what, hint = "removed or renamed", _GONE_HINT
            except OSError:
                continue  # it cannot be seen, which says nothing about where it is
            else:
                if (found.st_dev, found.st_ino) == known:
                    continue
                what, hint = "replaced by another file", _REPLACED_HINT
            message = f"{path} was {what} while it was open: nothing is written any more"
            return message, hint if path == self._path else _BESIDE_HINT
        return None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Reader:
    """A read connection, and the state of the file up to which it knows the catalog."""

    __slots__ = ("__weakref__", "_connection", "execute", "seen")

    def __init__(self) -> None:
        self._connection: apsw.Connection | None = None
        self.seen = -1

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def is_at_rest(self) -> bool:
        """Whether no transaction is open, which would hold on to an old state of the file."""
        return self._connection is not None and not self._connection.in_transaction

    def connect(self, place: Place) -> None:
        connection = connect(place)
        connection.execute("PRAGMA query_only = ON").fetchall()
        self.execute = connection.execute
        self.seen = -1
        self._connection = connection

    def hold(self) -> None:
        """Keep to the last committed state from now on, until the end of this transaction."""
        if not self.is_at_rest:
            self.execute("ROLLBACK").fetchall()
        self.execute("BEGIN").fetchall()
        self.execute("SELECT count(*) FROM main.sqlite_schema").fetchall()

    def end_when(self, must_end: Callable[[], bool]) -> None:
        """Ask between pieces of a statement whether it is to end; it does so with an InterruptError."""
        assert self._connection is not None
        self._connection.set_progress_handler(must_end, _STEPS_BETWEEN_QUESTIONS)

    def disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(True)

    def data_version(self) -> int:
        """Return a number that changes when the last read saw another connection's commit."""
        assert self._connection is not None
        return self._connection.data_version()


class Readers:
    """The read connections of a file. A request takes one, and gives it back.

    A request that is interrupted may not come to giving it back. Nothing depends on that: a reader that nobody
    holds any more is collected, and another is made.
    """

    def __init__(self, place: Place, files: OpenFiles) -> None:
        self._place = place
        self._files = files
        self._idle: list[Reader] = []
        self._all: weakref.WeakSet[Reader] = weakref.WeakSet()
        self._paused: list[Reader] = []
        self._growing = threading.Lock()
        self._is_closed = False

    def take(self) -> Reader:
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._grow()
        if not reader.is_connected:
            try:
                self._check_open()
                self._files.check()
                reader.connect(self._place)
                self._files.check()  # what was at the path may be another file since
            except BaseException:
                self.forget(reader)  # who keeps the error keeps it too, and closing would wait for it
                raise
        return reader

    def give(self, reader: Reader) -> None:
        """Take a reader back; one too many, or one in the middle of something, is left to be collected."""
        if reader.is_at_rest and len(self._idle) < limits.IDLE_READERS_MAX:
            self._idle.append(reader)

    def forget(self, reader: Reader) -> None:
        """Close a reader that is not used again; nobody waits for it any more."""
        reader.disconnect()
        self._all.discard(reader)

    def close(self) -> None:
        self._is_closed = True
        self.pause()
        self.resume()

    def pause(self) -> None:
        """Wait for the requests that are reading, and disconnect; `take` waits until `resume`."""
        self._growing.acquire()
        deadline_s = time.monotonic() + _PAUSE_S_MAX
        while True:
            while self._idle:
                reader = self._idle.pop()
                reader.disconnect()
                self._paused.append(reader)
            if len(self._all) <= len(self._paused) or time.monotonic() > deadline_s:
                return
            time.sleep(_PAUSE_STEP_S)

    def resume(self) -> None:
        while self._paused:
            self._idle.append(self._paused.pop())
        self._growing.release()

    def _grow(self) -> Reader:
        with self._growing:
            self._check_open()
            reader = Reader()
            self._all.add(reader)
            return reader

    def _check_open(self) -> None:
        if self._is_closed:
            raise apsw.ConnectionClosedError("closed")
