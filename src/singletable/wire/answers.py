"""A JSON request in, a JSON answer out: what any transport of the DynamoDB protocol needs."""

from __future__ import annotations

import logging
from typing import Any, Final, NamedTuple

import orjson

from singletable.errors import (
    AccessDeniedError,
    ApiError,
    ConditionFailedError,
    DatabaseError,
    InternalServerError,
    SerializationError,
    TransactionCanceledError,
)
from singletable.wire.forms import JSON
from singletable.wire.operations import execute
from singletable.wire.parameters import Answer, Session

_log = logging.getLogger("singletable")

_DYNAMODB: Final = "com.amazonaws.dynamodb.v20120810#"
_CORAL: Final = "com.amazon.coral.service#"
_VALIDATE: Final = "com.amazon.coral.validate#"
# Where AWS names an error from its framework rather than from the service.
_NAMESPACES: Final = {
    "AccessDeniedException": _CORAL,
    "SerializationException": _CORAL,
    "UnknownOperationException": _CORAL,
    "ValidationException": _VALIDATE,
}


class WireAnswer(NamedTuple):
    """An HTTP status and the body that goes with it."""

    status: int
    body: bytes


def answer(session: Session, operation: str, body: bytes) -> WireAnswer:
    """Answer one request. Whatever is wrong with it becomes an answer too."""
    try:
        return WireAnswer(200, orjson.dumps(execute(session, operation, _parse(body), JSON)))
    except ApiError as error:
        return error_answer(error)
    except DatabaseError as error:
        _log.error("%s: %s", operation, error.message)
        _log.debug("where it failed", exc_info=error)
        return error_answer(InternalServerError(error.message))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        params = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        raise SerializationError("") from None
    if not isinstance(params, dict):
        raise SerializationError("")
    return params


def error_answer(error: ApiError) -> WireAnswer:
    """Render an error as AWS does, with the extras that its type carries."""
    answer: Answer = {"__type": _NAMESPACES.get(error.code, _DYNAMODB) + error.code}
    if error.message:
        # The framework's own errors spell it with a capital letter.
        is_framework = isinstance(error, AccessDeniedError | SerializationError)
        answer["Message" if is_framework else "message"] = error.message
    if isinstance(error, ConditionFailedError) and error.item is not None:
        answer["Item"] = error.item
    if isinstance(error, TransactionCanceledError):
        answer["Message"] = answer.pop("message")
        answer["CancellationReasons"] = [_reason(reason) for reason in error.reasons]
    return WireAnswer(error.status, orjson.dumps(answer))


def _reason(reason: Any) -> Answer:
    answer: Answer = {"Code": reason.code}
    if reason.message is not None:
        answer["Message"] = reason.message
    if reason.item is not None:
        answer["Item"] = reason.item
    return answer
