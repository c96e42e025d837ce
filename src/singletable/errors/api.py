"""The errors of DynamoDB itself: with a code and a message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from singletable.errors.base import SingleTableError

Item = Mapping[str, Any]

# How many of AWS's refusals begin; ONE_ERROR stands before those that its request validation counts.
INVALID: Final = "One or more parameter values were invalid: "
ONE_ERROR: Final = "1 validation error detected: "
# "User: arn:... is not authorized to perform: dynamodb:Query on resource: arn:... because ..."
_NOT_AUTHORIZED: Final = re.compile(r"not authorized to perform: ([\w:*-]+)(?: on resource: (\S+))?")


class ApiError(SingleTableError):
    """An error that DynamoDB itself would return, in its words. Subclasses name the wire code."""

    code: str
    status: int = 400
    retries: int = 0  # how often the request was sent again before it was answered so

    @property
    def page(self) -> str:
        """Return the section of the documentation that explains this error."""
        if self.number:
            return super().page
        # A private class is explained by the public class that it refines.
        name = next(cls.__name__ for cls in type(self).__mro__ if cls.__module__ == "singletable.errors")
        return f"docs/errors/api.md#{name.lower()}"


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
    """The credentials do not allow the request, or it names a resource of another account."""

    code = "AccessDeniedException"

    def __init__(self, message: str) -> None:
        super().__init__(message, hint=_permission(message))


def _permission(message: str) -> str | None:
    """Name the action that IAM does not allow, if AWS says which one it is."""
    denied = _NOT_AUTHORIZED.search(message)
    if denied is None:
        return None
    action, resource = denied.groups()
    where = f" on {resource}" if resource else ""
    return f"allow {action}{where} in a policy of this role or user, or use credentials that may do it"


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
    """The moment lies outside the span that can be restored."""

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


class OtherApiError(ApiError):
    """An error of another service than this one, by its own code."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
