"""The file or the process, not the request."""

from __future__ import annotations

from singletable.errors.base import SingleTableError


class DatabaseError(SingleTableError):
    """Something is wrong with the database itself, or with what was asked of it. Subclasses say what."""

    number = "ST801"


class NotADatabaseError(DatabaseError):
    """The file is no SQLite database, or one of another program."""

    number = "ST802"


class NewerFormatError(DatabaseError):
    """The file was written by a newer release."""

    number = "ST803"


class CorruptDatabaseError(DatabaseError):
    """The file is damaged."""

    number = "ST804"


class ReadOnlyDatabaseError(DatabaseError):
    """The file or its directory cannot be written."""

    number = "ST805"


class DiskFullError(DatabaseError):
    """There is no room on the disk; nothing of the request was written."""

    number = "ST806"


class StorageFailedError(DatabaseError):
    """The operating system reported an I/O error; nothing of the request was acknowledged."""

    number = "ST807"


class DatabaseBusyError(DatabaseError):
    """Another process held the write lock for too long."""

    number = "ST808"


class DatabaseClosedError(DatabaseError):
    """The database was closed."""

    number = "ST809"


class ForkedDatabaseError(DatabaseError):
    """An in-memory database cannot follow its process into a forked child."""

    number = "ST810"


class FileMovedError(DatabaseError):
    """The file was moved, replaced or overwritten while it was open; nothing is written to it any more."""

    number = "ST811"


class ForeignLogError(DatabaseError):
    """The write-ahead log beside the file belongs to another one; nothing was opened."""

    number = "ST812"


class DamagedDataError(DatabaseError):
    """A page of the file has other bytes than were written; whatever does not need that page goes on."""

    number = "ST813"


class FileKeyError(DatabaseError):
    """The file is encrypted, and its key is missing or another one; or a key was given for a file that is not."""

    number = "ST814"
