"""The way to a service: no such target, nobody there, no credentials."""

from __future__ import annotations

from singletable.errors.base import SingleTableError


class TargetError(SingleTableError):
    """Nobody could be asked. Every subclass says it in one sentence and gives a hint."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n\nhint: {self.hint}"


class UnknownTargetError(TargetError):
    """What was to be opened is no file, no region and no endpoint."""


class TargetUnreachableError(TargetError):
    """The endpoint does not answer."""


class NotDynamoDbError(TargetError):
    """What answers at the endpoint does not speak DynamoDB's protocol."""


class CredentialsMissingError(TargetError):
    """AWS was to be asked, and there are no credentials to sign with."""


class Boto3MissingError(TargetError):
    """The target needs boto3, which is not installed."""
