"""Whole databases as files: a copy of one that is in use, and putting a copy in the place of one.

An interrupted copy leaves the existing files as they were, and at most a file named `….partial`, which the next
copy removes.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from singletable import errors
from singletable.storage.file import failures
from singletable.storage.file.connections import connect_for_reading, connect_unchanging
from singletable.storage.file.durable_files import (
    claimed,
    no_file,
    put_in_place,
    read_back,
    remove,
    sha256_of,
    sync_directory,
    sync_file,
)
from singletable.storage.file.encryption import (
    FileKey,
    header_of,
    is_encrypted,
    is_plain,
    missing_key,
    open_encrypted,
)
from singletable.storage.file.formats import check_readable
from singletable.storage.file.given_keys import copy_envelope, key_of, promote_envelope
from singletable.storage.file.page_copies import (
    CompleteFile,
    Progress,
    copy_connection,
    no_progress,
    put_copy_in_place,
    read_sums,
    sums_path,
)
from singletable.storage.file.page_sums import summed
from singletable.storage.file.write_ahead_log import check_log_belongs, check_log_whole

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

_LOCK_OFFSET: Final = 1 << 30
_LOCK_BYTES: Final = 512

# --- making a copy ----------------------------------------------------------------------------


def back_up_file(
    path: str, copy: str, *, force: bool, progress: Progress = no_progress, key: FileKey | None = None
) -> CompleteFile:
    """Copy a database as it is at one moment, while others write to it. The copy has the key of the file."""
    failures.require_file(path)
    key = key_of(path, key)
    check_free(copy, force=force)
    check_differ(path, copy)
    _check_not_open(copy, key)
    try:
        check_log_belongs(path, key)
        if key is None:
            check_log_whole(path)
        source = connect_for_reading(path, key)
        try:
            check_readable(source, path)
            with told(copy), claimed_temporary(copy) as made:
                copied = copy_connection(source, made, progress, key)
                with alone(copy, key):
                    copy_envelope(path, copy)
                    put_copy_in_place(made, copy, copied)
                    promote_envelope(copy)
                return copied
        finally:
            source.close(True)
    except apsw.Error as error:
        raise failures.translate(error, path) from error


# --- putting one back ---------------------------------------------------------------------------


def restore_file(
    backup: str, path: str, *, force: bool, progress: Progress = no_progress, key: FileKey | None = None
) -> CompleteFile:
    """Put a copy at a path that has no database yet, or one that nobody has open."""
    failures.require_file(backup)
    key = key_of(backup, key)
    check_free(path, force=force)
    if not force:
        check_log_belongs(path, key)  # of a file that is gone: it goes with the restore
    check_differ(backup, path)
    with told(sums_path(backup)):
        sums = read_sums(backup)
    if not sums:
        raise _no_sum(backup)
    _check_not_open(path, key)
    with told(path), claimed_temporary(path) as made:
        copied = _copy_bytes(backup, made, progress)
        if copied.sha256 not in sums:
            raise errors.CorruptDatabaseError(
                f"{backup} is damaged: its SHA-256 is not the one in {sums_path(backup)}",
                hint="restore another backup; `singletable check` tells what of this one can still be read",
            )
        if sha256_of(made, lambda done, total: progress("verifying", done, total)) != copied.sha256:
            raise errors.StorageFailedError(
                f"{path}: the disk does not hold what was written to it",
                hint="look at the disk and at the system's log; nothing was changed",
            )
        _check_ours(made, backup, key)
        with alone(path, key):
            copy_envelope(backup, path)
            put_in_place(made, path)
            promote_envelope(path)
        return copied


def _no_sum(backup: str) -> errors.StorageFailedError:
    sums = sums_path(backup)
    if os.path.exists(sums):
        what = f"{sums} does not name it: a checksum belongs to the name that the file was made with"
        trust = "give it that name again; or, if you trust the file, make a checksum"
    else:
        what, trust = f"{sums} does not exist", "if you trust the file, make one"
    make = f"sha256sum {shlex.quote(backup)} > {shlex.quote(sums)}"
    return errors.StorageFailedError(f"there is no checksum of {backup}: {what}", hint=f"{trust}: {make}")


def _copy_bytes(source: str, target: str, progress: Progress) -> CompleteFile:
    digest = hashlib.sha256()
    done, total = 0, os.stat(source).st_size
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for chunk in read_back(source):
            digest.update(chunk)
            file.write(chunk)
            done += len(chunk)
            progress("copying", done, total)
    sync_file(target)
    return CompleteFile(done, digest.hexdigest())


def _check_ours(made: str, backup: str, key: FileKey | None) -> None:
    try:
        connection = connect_unchanging(made, key)
        try:
            check_readable(connection, backup)
        finally:
            connection.close(True)
    except apsw.Error as error:
        raise failures.translate(error, backup) from error


def _check_not_open(path: str, key: FileKey | None) -> None:
    connection = _connect_alone(path, key) if os.path.exists(path) else None
    if connection is not None:
        connection.close(True)


@contextmanager
def alone(path: str, key: FileKey | None) -> Iterator[apsw.Connection | None]:
    """Hold a database that is to be replaced, so that nobody has it open; SQLite's log beside it goes.

    A log that stayed would be taken for that of the new file.
    """
    connection = _connect_alone(path, key) if os.path.exists(path) else None
    try:
        if connection is not None:
            # Closing it must not remove the log of the first process that opens the new file.
            keep_log(connection)
        _remove_log(path)
        yield connection
    finally:
        if connection is not None:
            connection.close(True)


def _connect_alone(path: str, key: FileKey | None) -> apsw.Connection | None:
    """Open a file exclusively, after a full checkpoint; None if it cannot be read as a database.

    Of an encrypted file whose key is not known it cannot be told whether somebody has it open: it is not replaced.
    """
    header = header_of(path)
    if is_plain(header):
        key = None
    elif key is None and is_encrypted(header):
        raise missing_key(path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    whole = os.path.abspath(path)
    try:
        check_log_belongs(path, key)
        if key is None:
            connection = apsw.Connection(whole, flags=flags, vfs=summed())
        else:
            connection = open_encrypted(whole, key, flags, None)
    except (errors.ForeignLogError, errors.DamagedDataError):
        return None
    try:
        # Every open connection, also an idle one, holds a lock that excludes this mode.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return connection
    except apsw.BusyError:
        connection.close(True)
        raise _is_open(path) from None
    except apsw.Error:
        connection.close(True)
        return None  # that may be why it is replaced


@contextmanager
def held_alone(path: str) -> Iterator[apsw.Connection | None]:
    """Hold a file that nobody else has open, and its log, as they are; None if SQLite cannot open it.

    Neither is written: no checkpoint is made, also not when it ends.
    """
    log = f"{os.path.realpath(path)}-wal"
    had_log = os.path.exists(log)
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=summed())
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        keep_log(connection)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK").fetchall()
        except apsw.BusyError:
            raise _is_open(path) from None
        except apsw.Error:
            with _locked(path):
                yield None
        else:
            yield connection
    finally:
        connection.close(True)
        if not had_log and os.path.exists(log) and not os.path.getsize(log):
            remove(log)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold the bytes of a file that SQLite locks ("File Locking And Concurrency", 3): it cannot do so itself."""
    with open(path, "rb+") as file:
        try:
            if fcntl is not None:  # on Windows, an open file cannot be replaced
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCK_BYTES, _LOCK_OFFSET)
        except OSError:
            raise _is_open(path) from None
        yield


def _is_open(path: str) -> errors.DatabaseBusyError:
    return errors.DatabaseBusyError(
        f"{path} is open in another process", hint="stop what uses it, and try again"
    )


def keep_log(connection: apsw.Connection) -> None:
    keep = ctypes.c_int(1)
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))


def _remove_log(path: str) -> None:
    for ending in ("-wal", "-shm"):
        remove(path + ending)
    sync_directory(os.path.dirname(path) or ".")


def replace_kept(made: str, path: str, kept: str) -> None:
    """Put a file in the place of another one, which is kept under a new name, with its log.

    At each moment the path has the one or the other. The log stays beside the path until that has the new file, to
    which it does not belong, and which is not opened with it; `end_replacing` takes it away, also after a kill.
    """
    for ending in ("", "-wal"):
        if os.path.exists(path + ending) and os.path.getsize(path + ending):
            _link(path + ending, kept + ending)
    sync_directory(os.path.dirname(kept) or ".")
    put_in_place(made, path)
    _remove_log(path)


def end_replacing(path: str, kept: str) -> bool:
    """End what a killed process has begun with `replace_kept`. Return False if the path still has the old file."""
    if not os.path.exists(path) or not os.path.exists(kept):
        return True
    if os.path.samefile(path, kept):
        for ending in ("-wal", ""):
            remove(kept + ending)
        return False
    if all(os.path.exists(one) for one in (f"{path}-wal", f"{kept}-wal")) and os.path.samefile(
        f"{path}-wal", f"{kept}-wal"
    ):
        _remove_log(path)
    return True


def _link(path: str, name: str) -> None:
    """Give a file a second name; where there are none, make a copy."""
    remove(name)
    try:
        os.link(path, name)
    except OSError:
        shutil.copyfile(path, name)
        os.chmod(name, stat.S_IMODE(os.stat(path).st_mode))
        sync_file(name)


# --- files ----------------------------------------------------------------------------------------


def check_free(path: str, *, force: bool) -> None:
    if os.path.isdir(path):
        raise errors.StorageFailedError(f"{path} is a directory", hint="give the path of a file in it")
    what = no_file(path)
    if what is not None and os.path.lexists(path):
        # Also with force: to put a file in the place of /dev/null would break the system.
        raise errors.StorageFailedError(f"{path} {what}", hint="give the path of a file")
    if what is None and not force:
        raise errors.StorageFailedError(f"{path} exists", hint="give another path, or --force to replace it")


def check_differ(source: str, target: str) -> None:
    if os.path.exists(target) and os.path.samefile(source, target):
        raise errors.StorageFailedError(
            f"{source} and {target} are one file", hint="give the path of another one"
        )


@contextmanager
def claimed_temporary(path: str) -> Iterator[str]:
    """Yield a temporary path beside the target. The leftover of an earlier, interrupted copy is removed."""
    made = f"{path}.partial"
    with claimed(f"{made}.lock") as is_ours:
        if not is_ours:
            raise errors.DatabaseBusyError(
                f"{path} is being written by another process", hint="wait for that, or give another path"
            )
        remove(made)
        try:
            yield made
        finally:
            with contextlib.suppress(OSError):
                remove(made)


@contextmanager
def told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failures.failed_files(error, path) from error
