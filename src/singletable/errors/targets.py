"""The way to a service: no such target, nobody there, no credentials, no end of throttling."""

from __future__ import annotations

from collections.abc import Sequence

from singletable.errors.api import ThrottledError, ThrottlingReason
from singletable.errors.base import SingleTableError


class TargetError(SingleTableError):
    """Nobody could be asked. Every subclass says it in one sentence and gives a hint."""

    number = "ST504"

    hint: str

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)


class UnknownTargetError(TargetError):
    """What was to be opened is no file, no region and no endpoint."""

    number = "ST505"


class TargetUnreachableError(TargetError):
    """The endpoint does not answer."""

    number = "ST506"


class NotDynamoDbError(TargetError):
    """What answers at the endpoint does not speak DynamoDB's protocol."""

    number = "ST507"


class CredentialsMissingError(TargetError):
    """AWS was to be asked, and there are no credentials to sign with."""

    number = "ST508"


class CredentialsInvalidError(TargetError):
    """The service does not know the credentials. `code` is the service's own."""

    number = "ST509"

    def __init__(self, message: str, *, hint: str, code: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class CredentialsExpiredError(CredentialsInvalidError):
    """The credentials were good for a while, and that is over."""

    number = "ST510"


class SignatureError(TargetError):
    """The service does not take the signature of the request. `code` is the service's own."""

    number = "ST511"

    def __init__(self, message: str, *, hint: str, code: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Boto3MissingError(TargetError):
    """The target needs boto3, which is not installed."""

    number = "ST512"


class TargetThrottledError(TargetError, ThrottledError):
    """The target takes no more for now, however often it is asked. `reasons` name the limits, if it does."""

    number = "ST513"

    def __init__(
        self,
        message: str,
        reasons: Sequence[ThrottlingReason] = (),
        *,
        hint: str,
        code: str = "ThrottlingException",
    ) -> None:
        SingleTableError.__init__(self, message, hint=hint)
        self.reasons = tuple(reasons)
        self.code = code
