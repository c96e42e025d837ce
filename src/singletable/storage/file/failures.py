"""SQLite's errors as errors of ours: one sentence each, and a hint."""

from __future__ import annotations

import errno
import os

import apsw

from singletable import errors
from singletable.storage.file.durable_files import no_file
from singletable.storage.file.encryption import header_of, is_encrypted, missing_key
from singletable.storage.file.page_sums import damaged_place, is_damage, is_lost_read
from singletable.storage.file.turns import find_holder

_REPAIR_HINT = "run `singletable repair` on the file, or restore a backup"
_DAMAGED_HINT = "run `singletable check` on a copy of the file, or restore a backup"


def translate(error: apsw.Error, path: str) -> errors.DatabaseError:
    """Return the error that a user should see for one of SQLite's."""
    match error:
        case apsw.FullError():
            return errors.DiskFullError(
                f"{path}: the disk is full; what was to be written was not, not even in part",
                hint="make room and try again",
            )
        case _ if is_damage(error):
            where = getattr(error, "place", None)
            what = f"{damaged_place(error)} is damaged"
            return errors.DamagedDataError(
                f"{path}: {where} cannot be read: {what}" if where else f"{path}: {what}",
                hint="run `singletable repair` on the file; whatever does not need that page is served",
            )
        case _ if is_lost_read(error):
            return errors.StorageFailedError(
                f"{path}: a page could not be read",
                hint="look at the disk and at the system's log; what was acknowledged before is kept",
            )
        case apsw.NotADBError() if is_encrypted(header_of(path)):
            return missing_key(path)
        case apsw.NotADBError():
            return errors.NotADatabaseError(
                f"{path} is not a singletable database",
                hint="give the path of a database made by singletable, or of a file that does not exist yet",
            )
        case apsw.CorruptError() | apsw.FormatError() | apsw.SQLError() | apsw.MismatchError():
            # Our statements are right as long as the tables that they name are.
            return errors.CorruptDatabaseError(f"{path} is damaged: {_reason(error)}", hint=_DAMAGED_HINT)
        case apsw.ReadOnlyError():
            return errors.ReadOnlyDatabaseError(
                f"{path} cannot be written",
                hint="check the permissions of the file and of its directory",
            )
        case apsw.CantOpenError() | apsw.PermissionsError() if os.path.exists(path):
            return errors.ReadOnlyDatabaseError(
                f"{path} cannot be opened for reading and writing",
                hint="check the permissions of the file and of its directory",
            )
        case apsw.CantOpenError():
            return errors.StorageFailedError(
                f"{path} cannot be opened",
                hint="check that its directory exists and can be written",
            )
        case apsw.BusyError() | apsw.LockedError():
            return _busy(path)
        case apsw.ConnectionClosedError():
            return closed(path)
        case apsw.IOError() if is_short_read(error) and _has_empty_log(path):
            return errors.StorageFailedError(
                f"{path} cannot be read: its -wal was removed while other processes had it open",
                hint="close it everywhere: whoever is last saves what was committed; then open it again",
            )
        case _:
            return errors.StorageFailedError(
                f"{path}: reading or writing failed: {_reason(error)}",
                hint="look at the disk and at the system's log; what was acknowledged before is kept",
            )


def translate_opening(error: apsw.Error, path: str) -> errors.DatabaseError:
    """Return the error that a user should see when a file cannot be opened: nothing of it is served then."""
    if is_damage(error):
        return errors.CorruptDatabaseError(f"{path} is damaged: {damaged_place(error)}", hint=_REPAIR_HINT)
    return translate(error, path)


def is_short_read(error: apsw.IOError) -> bool:
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHORT_READ


def _has_empty_log(path: str) -> bool:
    """Tell whether the write-ahead log is empty. Other processes may still have a removed one open."""
    try:
        return os.path.getsize(f"{os.path.realpath(path)}-wal") == 0
    except OSError:
        return False


def _busy(path: str) -> errors.DatabaseBusyError:
    holder = find_holder(path)
    if holder is None:
        what = "another process held the write lock for too long"
        hint = "try again; look for a process that stopped in the middle of a write"
    elif holder.pid == os.getpid():
        what = "another connection of this process held the write lock for too long"
        hint = "end its transaction; one Database serves all threads"
    elif holder.is_stopped:
        what = f"process {holder.pid} ({holder.command}) holds the write lock, and is stopped"
        hint = f"let it go on, kill -CONT {holder.pid}, or end it, kill -KILL {holder.pid}; then try again"
    else:
        what = f"process {holder.pid} ({holder.command}) held the write lock for too long"
        hint = f"try again; see what it is: ps -fp {holder.pid}"
    return errors.DatabaseBusyError(f"{path}: {what}", hint=hint)


def failed_files(error: OSError, path: str) -> errors.DatabaseError:
    """Return the error that a user should see when files beside a database could not be read or written."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return errors.DiskFullError(f"{path}: the disk is full", hint="make room and try again")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return errors.ReadOnlyDatabaseError(
                f"{path} cannot be written: {error.strerror}", hint="check the permissions of the directory"
            )
        case errno.ENOENT | errno.ENOTDIR if not os.path.isdir(folder := os.path.dirname(path) or "."):
            what = "is a file" if os.path.exists(folder) else "does not exist"
            return errors.StorageFailedError(
                f"{path}: the folder {folder} {what}", hint="make the folder, or give another path"
            )
        case _:
            return errors.StorageFailedError(
                f"{path}: reading or writing failed: {error.strerror}",
                hint="look at the disk and at the system's log",
            )


def require_file(path: str) -> None:
    """Raise the user's error if the path has no readable file, but a directory or a dangling link."""
    what = no_file(path)
    if what is not None:
        raise errors.StorageFailedError(f"{path} {what}", hint="give the path of a database file")


def refuse_backups_in(path: str) -> None:
    """Raise the user's error if the path for backups has something else than a folder."""
    if os.path.lexists(path) and not os.path.isdir(path):
        raise errors.StorageFailedError(
            f"backups cannot be kept in {path}, which {no_file(path) or 'is a file'}",
            hint="give the path of a folder; one that does not exist yet is made",
        )


def closed(path: str) -> errors.DatabaseClosedError:
    return errors.DatabaseClosedError(f"{path} was closed", hint="open it again with Database.open")


def not_understood(path: str) -> errors.CorruptDatabaseError:
    """Return the error for stored data that we cannot have written: the file is damaged, or we have a bug."""
    return errors.CorruptDatabaseError(
        f"{path} is damaged: what is stored in it cannot be understood",
        hint="run `singletable check` on it; if that finds nothing, the mistake is ours: please report it",
    )


def _reason(error: apsw.Error) -> str:
    return str(error).removeprefix(f"{type(error).__name__}: ")
