"""Atomic files: after a power cut each is complete or absent. And reading a file back from the disk."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from singletable.limits import MIB

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where a file that is open cannot be taken away
    fcntl = None  # type: ignore[assignment]

Progress = Callable[[int, int], None]
"""Called with the amount that is done, and the total."""

_CHUNK_BYTES: Final = MIB
_CLAIM_POLL_S: Final = 0.001


def no_file(path: str) -> str | None:
    """Say why there is no file at a path, as the end of a sentence; None if there is one."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        is_link = os.path.islink(path)
        return f"is a link to {os.readlink(path)}, which does not exist" if is_link else "does not exist"
    except OSError as error:
        is_loop = error.errno == errno.ELOOP
        return "is a link that leads back to itself" if is_loop else f"cannot be reached: {error.strerror}"
    if stat.S_ISREG(mode):
        return None
    return "is a directory" if stat.S_ISDIR(mode) else "is a pipe, a socket or a device, and no file"


def make_private_folders(path: str) -> None:
    """Make a folder, and those above it, which only their owner may enter. One that is there stays as it is."""
    above = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(above):
        make_private_folders(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    else:
        os.chmod(path, 0o700)  # the umask may have taken from its owner too


def make_private_file(path: str) -> None:
    """Make an empty file that only its owner may read, before anything is in it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    os.chmod(path, 0o600)


def sync_file(path: str) -> None:
    """Make sure that the contents of a file are on the disk."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:  # fsync on macOS leaves the data in the drive's cache
        fcntl.fcntl(descriptor, full_sync)
    else:
        os.fsync(descriptor)


def sync_directory(path: str) -> None:
    """Make sure that a new file is still in its directory after a power cut, where directories can be synced."""
    if os.name != "posix":
        return
    # Some file systems refuse it, as SQLite knows too, which passes over that when it makes its own files.
    with contextlib.suppress(OSError):
        directory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def put_in_place(made: str, path: str) -> None:
    """Rename a complete and synced file atomically, over any file that had the name before."""
    os.replace(made, path)
    sync_directory(os.path.dirname(path) or ".")


def write_whole(path: str, contents: bytes) -> None:
    """Write a small file: it is there with all of its contents, or it is as it was."""
    made = f"{path}.new"
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(contents)
        _sync(descriptor)
    finally:
        os.close(descriptor)
    put_in_place(made, path)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


# --- reading back -----------------------------------------------------------------------------


def read_back(path: str, chunk_bytes: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the contents of a synced file as the disk has them, not as the system remembers them, where it can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        while chunk := os.read(descriptor, chunk_bytes):
            yield chunk
    finally:
        os.close(descriptor)


def sha256_of(path: str, progress: Progress | None = None) -> str:
    """Return the SHA-256 of a file as it is on the disk."""
    digest = hashlib.sha256()
    done, total = 0, os.stat(path).st_size
    for chunk in read_back(path):
        digest.update(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done, total)
    return digest.hexdigest()


# --- lock files -----------------------------------------------------------------------------------


_claims: set[int] = set()


def _leave_claims_to_parent() -> None:
    """In a forked child, close the inherited lock files: else a lock would outlive the parent's work."""
    while _claims:
        os.close(_claims.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_claims_to_parent)


@contextmanager
def claimed(path: str, *, patience_s: float = 0.0) -> Iterator[bool]:
    """Hold a lock file during a piece of work, and yield whether the lock was free. The file goes with the work.

    It is a lock of the operating system, so it ends with its process in any case. `patience_s` waits for processes
    that hold the lock only for a moment, to see whether anybody is at work.
    """
    descriptor = _claim(path, time.monotonic() + patience_s)
    if descriptor is None:
        yield False
        return
    _claims.add(descriptor)
    try:
        yield True
    finally:
        if descriptor in _claims:  # and so not in a child
            remove(path)
            _claims.discard(descriptor)
            os.close(descriptor)


def _claim(path: str, until_s: float) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            if time.monotonic() >= until_s:
                return None
            time.sleep(_CLAIM_POLL_S)
            continue
        # The holder before may have removed the file between the two calls: then this descriptor has no name.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        os.close(descriptor)
