"""Every error that this package raises on purpose.

SingleTableError
├── ApiError                            what DynamoDB itself would answer: a code and a message
│   ├── ValidationError
│   ├── SerializationError
│   ├── UnknownOperationError
│   ├── AccessDeniedError
│   ├── ConditionFailedError
│   ├── TransactionCanceledError
│   ├── IdempotentParameterMismatchError
│   ├── ResourceNotFoundError
│   ├── ResourceInUseError
│   ├── LimitExceededError
│   ├── TableAlreadyExistsError
│   ├── TableNotFoundError
│   ├── TableInUseError
│   ├── BackupNotFoundError
│   ├── BackupInUseError
│   ├── InvalidRestoreTimeError
│   ├── RecoveryUnavailableError
│   ├── ContinuousBackupsUnavailableError
│   ├── ExpiredIteratorError
│   ├── TrimmedDataAccessError
│   ├── ThrottledError                  only where throttling was asked for
│   │   ├── ThroughputExceededError
│   │   └── ThrottlingError
│   └── InternalServerError
├── ConsumerError                       a consumer of changes, not a request
│   ├── NotLoggedError
│   ├── ConsumerBusyError
│   └── ConsumerEndedError
└── DatabaseError                       the file or the process, not the request
    ├── NotADatabaseError
    ├── NewerFormatError
    ├── CorruptDatabaseError
    ├── ReadOnlyDatabaseError
    ├── DiskFullError
    ├── StorageFailedError
    ├── DatabaseBusyError
    ├── DatabaseClosedError
    └── ForkedDatabaseError
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

Item = Mapping[str, Any]

# How many of AWS's refusals begin; ONE_ERROR stands before those that its request validation counts.
INVALID: Final = "One or more parameter values were invalid: "
ONE_ERROR: Final = "1 validation error detected: "


class SingleTableError(Exception):
    """Base of every error this package raises on purpose."""


# --- what DynamoDB would answer ---------------------------------------------------


class ApiError(SingleTableError):
    """An error that DynamoDB itself would return. Subclasses name the wire code."""

    code: ClassVar[str]
    status: ClassVar[int] = 400

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ValidationError(ApiError):
    """The request is malformed or asks for something that is not allowed."""

    code = "ValidationException"


class SerializationError(ApiError):
    """A value of the request has the wrong JSON type, or the body is no JSON."""

    code = "SerializationException"


class UnknownOperationError(ApiError):
    """There is no operation of this name."""

    code = "UnknownOperationException"


class AccessDeniedError(ApiError):
    """The request names what belongs to another account."""

    code = "AccessDeniedException"


class ConditionFailedError(ApiError):
    """A condition of the request did not hold."""

    code = "ConditionalCheckFailedException"

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("The conditional request failed")
        self.item = item
        self.units: Mapping[str, float] = {}  # of writing that were consumed all the same, by table


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """Why one action of a transaction did not go through; code "None" where it would have."""

    code: str
    message: str | None = None
    item: Item | None = None

    def with_item(self, item: Item | None) -> CancellationReason:
        return CancellationReason(self.code, self.message, item)


class TransactionCanceledError(ApiError):
    """A transaction was cancelled; there is one reason for each of its actions."""

    code = "TransactionCanceledException"

    def __init__(self, reasons: Sequence[CancellationReason]) -> None:
        codes = ", ".join(reason.code for reason in reasons)
        super().__init__(
            f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
        )
        self.reasons = tuple(reasons)
        self.units: Mapping[str, float] = {}  # of writing that were consumed all the same, by table


class IdempotentParameterMismatchError(ApiError):
    """A client request token was used again with another request."""

    code = "IdempotentParameterMismatchException"


class ResourceNotFoundError(ApiError):
    """The table or index does not exist (or is not ready)."""

    code = "ResourceNotFoundException"


class ResourceInUseError(ApiError):
    """The resource exists already, or is being changed."""

    code = "ResourceInUseException"


class LimitExceededError(ApiError):
    """Too many control-plane operations, or too many resources."""

    code = "LimitExceededException"


class TableAlreadyExistsError(ApiError):
    """A restore is to make a table of a name that is taken."""

    code = "TableAlreadyExistsException"


class TableNotFoundError(ApiError):
    """The table that is to be backed up or restored does not exist."""

    code = "TableNotFoundException"


class TableInUseError(ApiError):
    """The table is being made or deleted."""

    code = "TableInUseException"


class BackupNotFoundError(ApiError):
    """There is no such backup."""

    code = "BackupNotFoundException"


class BackupInUseError(ApiError):
    """The backup is being made, or a table is being restored from it."""

    code = "BackupInUseException"


class InvalidRestoreTimeError(ApiError):
    """The moment lies outside of what can be restored."""

    code = "InvalidRestoreTimeException"


class RecoveryUnavailableError(ApiError):
    """Point-in-time recovery is not on for the table."""

    code = "PointInTimeRecoveryUnavailableException"


class ContinuousBackupsUnavailableError(ApiError):
    """Recovery cannot be changed at the moment."""

    code = "ContinuousBackupsUnavailableException"


class ExpiredIteratorError(ApiError):
    """A shard iterator is older than 15 minutes."""

    code = "ExpiredIteratorException"


class TrimmedDataAccessError(ApiError):
    """The records asked for are older than a stream keeps them."""

    code = "TrimmedDataAccessException"


@dataclass(frozen=True, slots=True)
class ThrottlingReason:
    """Which limit refused a request, and the ARN of the table or index that it belongs to."""

    reason: str
    resource: str


class ThrottledError(ApiError):
    """Requests come faster than a table, an index or a partition may be read or written: try again later."""

    def __init__(self, message: str, reasons: Sequence[ThrottlingReason]) -> None:
        super().__init__(message)
        self.reasons = tuple(reasons)


class ThroughputExceededError(ThrottledError):
    """A table with provisioned throughput was throttled."""

    code = "ProvisionedThroughputExceededException"


class ThrottlingError(ThrottledError):
    """A table that is paid per request was throttled."""

    code = "ThrottlingException"


class InternalServerError(ApiError):
    """The storage below failed while the request was being carried out."""

    code = "InternalServerError"
    status = 500


# --- consumers of changes --------------------------------------------------------------


class ConsumerError(SingleTableError):
    """A consumer cannot do what it was asked to. It is said in one sentence, and most often with a hint."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotLoggedError(ConsumerError):
    """The changes of the table are not logged, so nothing can follow them."""


class ConsumerBusyError(ConsumerError):
    """Another process or thread runs the handler of this consumer."""


class ConsumerEndedError(ConsumerError):
    """The consumer was stopped, or what it reads is gone."""


# --- the file or the process ---------------------------------------------------------


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
