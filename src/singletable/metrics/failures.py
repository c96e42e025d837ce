"""Which metric a failed request belongs to."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from singletable.errors import ApiError

_SERVER_STATUS_MIN: Final = 500
# "A throttled request will result in an HTTP 400 status code. All such events are reflected in the
# ThrottledRequests metric, but not in the UserErrors metric" (guide, "ThrottledRequests").
_THROTTLING_CODES: Final = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException"})


class Failure(Enum):
    """Why a request had no success, as CloudWatch counts it."""

    USER_ERROR = auto()
    SYSTEM_ERROR = auto()
    THROTTLED = auto()
    CONDITION_FAILED = auto()


def failure_of(error: BaseException) -> Failure:
    """Tell which metric counts this error.

    "All such events [HTTP 400] are reflected in the UserErrors metric, except for …
    ProvisionedThroughputExceededException … ConditionalCheckFailedException" (guide, "UserErrors"). So a cancelled
    transaction is a user error, for any reasons. An error outside the API is an HTTP 500.
    """
    if not isinstance(error, ApiError) or error.status >= _SERVER_STATUS_MIN:
        return Failure.SYSTEM_ERROR
    if error.code == "ConditionalCheckFailedException":
        return Failure.CONDITION_FAILED
    if error.code in _THROTTLING_CODES:
        return Failure.THROTTLED
    return Failure.USER_ERROR
