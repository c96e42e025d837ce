"""What botocore raises, as the errors of this package: the same ones that a database in this process raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004  # botocore's own
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.parsers import ResponseParserError

from singletable import errors
from singletable.errors import (
    ApiError,
    CancellationReason,
    ConditionFailedError,
    CredentialsExpiredError,
    CredentialsInvalidError,
    CredentialsMissingError,
    NotDynamoDbError,
    OtherApiError,
    SignatureError,
    SingleTableError,
    TargetError,
    TargetUnreachableError,
    ThrottledError,
    ThrottlingError,
    ThrottlingReason,
    TransactionCanceledError,
    ValidationError,
)

RAISED = (BotoCoreError, ClientError, ResponseParserError)
_NO_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)


def translated(error: Exception, endpoint: str) -> SingleTableError:
    """Return the error that stands for one of `RAISED`."""
    match error:
        case ClientError():
            return _refusal(error.response, endpoint)
        case ParamValidationError():
            return ValidationError(str(error))
        case _ if isinstance(error, _NO_CREDENTIALS):
            return CredentialsMissingError(
                f"There are no credentials for {endpoint}: {error}",
                hint="run `aws configure` or `aws sso login`, set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY",
            )
        case NoRegionError():
            return CredentialsMissingError(
                f"No region is set for {endpoint}", hint="set AWS_DEFAULT_REGION, or open dynamodb://REGION"
            )
        case ConnectionError() | HTTPClientError():
            return TargetUnreachableError(
                f"{endpoint} does not answer: {error}",
                hint="check the address and that the service runs; a write that was under way may have been "
                "carried out",
            )
        case ResponseParserError():
            return not_dynamodb(endpoint, str(error))
        case _:
            return TargetUnreachableError(
                f"{endpoint} could not be asked: {error}", hint="check the settings of boto3"
            )


def _refusal(response: Mapping[str, Any], endpoint: str) -> SingleTableError:
    error = response.get("Error", {})
    code, message = str(error.get("Code", "")), str(error.get("Message", ""))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    if not code or code.isdigit():  # the body held no code, so botocore took the status
        return not_dynamodb(endpoint, f"it answered with {status}")
    if code in _CREDENTIALS:
        return _CREDENTIALS[code](code, message, endpoint)
    kind = _kinds().get(code)
    refusal: ApiError
    if kind is None:
        refusal = OtherApiError(code, message, status=status)
    elif kind is ConditionFailedError:
        refusal = ConditionFailedError(response.get("Item"))
    elif kind is TransactionCanceledError:
        refusal = TransactionCanceledError(
            [_reason(each) for each in response.get("CancellationReasons", ())]
        )
    elif issubclass(kind, ThrottledError):
        # The two errors of throttling spell it differently.
        limits = response.get("ThrottlingReasons") or response.get("throttlingReasons") or ()
        refusal = kind(message, [_limit(each) for each in limits])
    else:
        refusal = kind(message or f"{endpoint} refused the request, and gave no reason")
    refusal.retries = response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
    refusal.message = message or refusal.message
    refusal.args = (refusal.message,)
    return refusal


# --- credentials ------------------------------------------------------------------------------------------


def _unknown(code: str, message: str, endpoint: str) -> CredentialsInvalidError:
    return CredentialsInvalidError(
        f"{endpoint} does not know the credentials: {message or code}",
        hint="`aws sts get-caller-identity` tells whose they are; check AWS_PROFILE and AWS_ACCESS_KEY_ID, that "
        "AWS_SESSION_TOKEN belongs to them, and that the account has this region enabled",
        code=code,
    )


def _expired(code: str, message: str, endpoint: str) -> CredentialsExpiredError:
    return CredentialsExpiredError(
        f"the credentials for {endpoint} have expired: {message or code}",
        hint="run `aws sso login`, or get new ones where you got these, and open the design again",
        code=code,
    )


def _signature(code: str, message: str, endpoint: str) -> SignatureError:
    return SignatureError(
        f"{endpoint} does not take the signature: {message or code}",
        hint="check the clock of this machine, AWS_SECRET_ACCESS_KEY and the region; a proxy in between must "
        "leave the headers alone",
        code=code,
    )


# DynamoDB's own (developer guide, "Error messages and codes"; dynalite's records of the service), and what AWS's
# services call them otherwise (API reference, "Common errors"; the codes that the SDKs know).
_CREDENTIALS: Final[dict[str, Callable[[str, str, str], TargetError]]] = {
    "AuthFailure": _unknown,
    "InvalidAccessKeyId": _unknown,
    "InvalidClientTokenId": _unknown,
    "InvalidToken": _unknown,
    "OptInRequired": _unknown,
    "UnrecognizedClientException": _unknown,
    "ExpiredToken": _expired,
    "ExpiredTokenException": _expired,
    "TokenRefreshRequired": _expired,
    "IncompleteSignature": _signature,
    "IncompleteSignatureException": _signature,
    "InvalidSignatureException": _signature,
    "MissingAuthenticationToken": _signature,
    "MissingAuthenticationTokenException": _signature,
    "RequestExpired": _signature,
    "RequestInTheFuture": _signature,
    "RequestTimeTooSkewed": _signature,
    "SignatureDoesNotMatch": _signature,
}


# --- parts ------------------------------------------------------------------------------------------------


def not_dynamodb(endpoint: str, what: str) -> NotDynamoDbError:
    """Return the error that stands for an answer that is not DynamoDB's."""
    return NotDynamoDbError(
        f"What answers at {endpoint} does not speak DynamoDB's protocol: {what}",
        hint="check the address and the port, and whether a proxy or a login page stands in between; "
        "`singletable serve` listens at http://127.0.0.1:8000",
    )


def _reason(reason: Mapping[str, Any]) -> CancellationReason:
    return CancellationReason(reason.get("Code", "None"), reason.get("Message"), reason.get("Item"))


def _limit(reason: Mapping[str, Any]) -> ThrottlingReason:
    return ThrottlingReason(reason.get("reason", ""), reason.get("resource", ""))


@cache
def _kinds() -> dict[str, type[ApiError]]:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ApiError)]
    # What an account is throttled by (DynamoDB's guide, "Error handling").
    return {kind.code: kind for kind in kinds if "code" in vars(kind)} | {
        "RequestLimitExceeded": ThrottlingError
    }
