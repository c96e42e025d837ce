"""The file or the process, not the request."""

from __future__ import annotations

from singletable.errors.base import SingleTableError


class DatabaseError(SingleTableError):
    """Something is wrong with the database itself. Every subclass says it in one sentence and gives a hint."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotADatabaseError(DatabaseError):
    """The file is no SQLite database, or one of another program."""


class NewerFormatError(DatabaseError):
    """The file was written by a newer release."""


class CorruptDatabaseError(DatabaseError):
    """The file is damaged."""


class ReadOnlyDatabaseError(DatabaseError):
    """The file or its directory cannot be written."""


class DiskFullError(DatabaseError):
    """There is no room on the disk; nothing of the request was written."""


class StorageFailedError(DatabaseError):
    """The operating system reported an I/O error; nothing of the request was acknowledged."""


class DatabaseBusyError(DatabaseError):
    """Another process held the write lock for too long."""


class DatabaseClosedError(DatabaseError):
    """The database was closed."""


class ForkedDatabaseError(DatabaseError):
    """An in-memory database cannot follow its process into a forked child."""
