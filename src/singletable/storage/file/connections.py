"""Connections to SQLite: how one is set up, and the readers that wait for their next request."""

from __future__ import annotations

import os
import sys
import threading
import time
import urllib.parse
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

import apsw

from singletable import errors, limits
from singletable.storage.file.durable_files import no_file, sync_directory
from singletable.storage.file.encryption import FileKey, open_encrypted
from singletable.storage.file.page_sums import has_sums, summed, summed_over
from singletable.storage.file.turns import Turns

Durability = Literal["full", "relaxed"]
MEMORY: Final = ":memory:"

_HEADER_BYTES: Final = 100
_PAUSE_STEP_S: Final = 0.0005
_PAUSE_S_MAX: Final = 30.0
_STEPS_BETWEEN_QUESTIONS: Final = 100  # of SQLite; to copy a row takes three
_LOG_BYTES: Final = 64 * limits.MIB  # SQLite's write-ahead log is cut to this after a long read let it grow
_MMAP_BYTES: Final = 1 << 40  # SQLite lowers it to what it was built for


@dataclass(frozen=True, slots=True)
class Location:
    """Where a database is and how it is to be treated."""

    path: str
    durability: Durability = "full"
    vfs: str | None = None
    backups: str | None = None  # the folder of its backups; None: a temporary one
    key: FileKey | None = field(default=None, repr=False)  # None: the file is not encrypted

    @property
    def in_memory(self) -> bool:
        return self.path == MEMORY


def connect(place: Location, turns: Turns | None = None) -> apsw.Connection:
    """Open a connection for reading and writing. Each is used by one thread at a time."""
    # Without CREATE: a file that has gone is an error, not a new and empty database.
    # With URI: so the file of a backup can be attached with a layer of its own. A path itself is never one.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX | apsw.SQLITE_OPEN_URI
    if place.key is None:
        connection = apsw.Connection(place.path, flags=flags, vfs=_layer(place))
    else:
        connection = open_encrypted(place.path, place.key, flags, place.vfs)
    try:
        # Plans do not depend on bound values: otherwise SQLite makes a new plan for each LIMIT.
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


def _layer(place: Location) -> str | None:
    if place.in_memory:
        return None
    return summed() if place.vfs is None else summed_over(place.vfs)


def connect_for_reading(path: str, key: FileKey | None = None) -> apsw.Connection:
    """Open an existing file without any means to change it."""
    flags = apsw.SQLITE_OPEN_READONLY
    if key is None:
        connection = apsw.Connection(path, flags=flags, vfs=summed())
    else:
        connection = open_encrypted(path, key, flags, None)
    connection.set_busy_handler(Turns(path).wait)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.CantOpenError:
        # In a directory that cannot be written, a file that nobody has open can still be read as it is.
        connection.close(True)
        if os.path.exists(path + "-wal"):
            raise
        connection = connect_unchanging(path, key)
    except BaseException:
        connection.close(True)
        raise
    return connection


def connect_unchanging(path: str, key: FileKey | None = None) -> apsw.Connection:
    """Open a file that nobody writes to, without locks, and without a trace beside it."""
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    if key is None:
        return apsw.Connection(uri, flags=flags, vfs=summed())
    return open_encrypted(path, key, flags, None, uri)


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


class ReadConnection:
    """A read connection, and the state of the file up to which it knows the catalog."""

    __slots__ = ("__weakref__", "_connection", "execute", "seen")

    def __init__(self) -> None:
        self._connection: apsw.Connection | None = None
        self.seen = -1

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def connection(self) -> apsw.Connection:
        assert self._connection is not None
        return self._connection

    @property
    def is_at_rest(self) -> bool:
        """Whether no transaction is open, which would hold on to an old state of the file."""
        return self._connection is not None and not self._connection.in_transaction

    def connect(self, place: Location, *, expects_sums: bool) -> None:
        connection = connect(place)
        connection.execute("PRAGMA query_only = ON").fetchall()
        if expects_sums and not has_sums(connection):
            connection.close(True)
            raise apsw.CorruptError("its header does not say any more that its pages have sums")
        self.execute = connection.execute
        self.seen = -1
        self._connection = connection

    def hold(self) -> None:
        """Begin a snapshot: read the last committed state until the end of this transaction."""
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

    def __init__(self, place: Location, check_files: Callable[[], None]) -> None:
        """`check_files` raises if the file at the path is not the one that was opened."""
        self._place = place
        self._check_files = check_files
        self._idle: list[ReadConnection] = []
        self._all: weakref.WeakSet[ReadConnection] = weakref.WeakSet()
        self._paused: list[ReadConnection] = []
        self._growing = threading.Lock()
        self._is_closed = False
        self.expects_sums = False

    def take(self) -> ReadConnection:
        try:
            reader = self._idle.pop()
        except IndexError:
            return self.take_new()
        return self._connected(reader)

    def take_new(self) -> ReadConnection:
        """Make a reader, though others may be idle."""
        return self._connected(self._grow())

    def _connected(self, reader: ReadConnection) -> ReadConnection:
        if not reader.is_connected:
            try:
                self._check_open()
                self._check_files()
                reader.connect(self._place, expects_sums=self.expects_sums)
                self._check_files()  # the file at the path may have been replaced since
            except BaseException:
                self.forget(reader)  # a kept error keeps the reader alive, and closing would wait for it
                raise
        return reader

    def give(self, reader: ReadConnection) -> None:
        """Take a reader back; one too many, or one in the middle of something, is left to be collected."""
        if reader.is_at_rest and len(self._idle) < limits.IDLE_READERS_MAX:
            self._idle.append(reader)

    def forget(self, reader: ReadConnection) -> None:
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

    def _grow(self) -> ReadConnection:
        with self._growing:
            self._check_open()
            reader = ReadConnection()
            self._all.add(reader)
            return reader

    def _check_open(self) -> None:
        if self._is_closed:
            raise apsw.ConnectionClosedError("closed")
