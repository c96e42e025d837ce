"""A JSON request in, a JSON answer out: the DynamoDB protocol for any transport."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from singletable.errors import (
    AccessDeniedError,
    ApiError,
    ConditionFailedError,
    DatabaseError,
    InternalServerError,
    SerializationError,
    ThrottledError,
    ThrottlingError,
    TransactionCanceledError,
    ValidationError,
)
from singletable.limits import ITEM_BYTES_MAX, MIB
from singletable.metrics import Failure
from singletable.operations import OPERATIONS
from singletable.storage.write_groups import GroupedWrite
from singletable.wire.execution import Execution
from singletable.wire.forms import JSON
from singletable.wire.parameters import Answer, OperationContext
from singletable.wire.validation.violations import has_more_values

_log = logging.getLogger("singletable")

_LONG_BODY_BYTES: Final = MIB
# A value has a byte at least, and is two: a map with its type, and its contents. As much again for placeholders.
_ITEM_VALUES_MAX: Final = 4 * ITEM_BYTES_MAX

_DYNAMODB: Final = "com.amazonaws.dynamodb.v20120810#"
_CORAL: Final = "com.amazon.coral.service#"
_VALIDATE: Final = "com.amazon.coral.validate#"
_AVAILABILITY: Final = "com.amazon.coral.availability#"
# Where AWS names an error from its framework rather than from the service.
_NAMESPACES: Final = {
    "AccessDeniedException": _CORAL,
    "SerializationException": _CORAL,
    "ThrottlingException": _AVAILABILITY,
    "UnknownOperationException": _CORAL,
    "ValidationException": _VALIDATE,
}


# Files in the folder of backups, once that has no place any more: those of one backup, and the folder of a table.
_BACKUP: Final = re.compile(r"(?:the backup )?the backups[/\\]([\w.-]+)[/\\](\d+-[0-9a-f]+)\.\w+")
_OF_TABLE: Final = re.compile(r"the backups[/\\]([\w.-]+)")


class WireAnswer(NamedTuple):
    """An HTTP status and the body that goes with it."""

    status: int
    body: bytes


def answer(session: OperationContext, operation: str, body: bytes) -> WireAnswer:
    """Answer one request. An error becomes an answer too."""
    begun = begin_answer(session, operation, body)
    if isinstance(begun, WireAnswer):
        return begun
    return answer_written((begun,), session.store.write_together((begun.work,)))[0]


def begin_answer(session: OperationContext, operation: str, body: bytes) -> WireAnswer | Execution:
    """Answer a request that does not write; read one that does: when its work is done, `answer_written`."""
    try:
        params = _parse(body)
        if len(body) > _LONG_BODY_BYTES:
            _check_item_values(operation, params)
        execution = Execution(session, operation, params, JSON)
    except (SerializationError, ValidationError) as error:
        session.metrics.failed(operation, None, Failure.USER_ERROR)
        return error_answer(error)
    try:
        outcome = execution.begin()
        if outcome is None:
            return execution
        answered = execution.finish(outcome)
        is_empty = not answered and OPERATIONS[operation].returns == "nothing"
        return WireAnswer(200, b"" if is_empty else orjson.dumps(answered))
    except Exception as error:
        return _failed(execution, execution.fail(error))


def answer_written(waiting: Sequence[Execution], written: Sequence[GroupedWrite[Any]]) -> list[WireAnswer]:
    """Answer writes that are done. No answer leaves before the transaction of its write has ended."""
    return [_written(execution, each) for execution, each in zip(waiting, written, strict=True)]


def _written(execution: Execution, written: GroupedWrite[Any]) -> WireAnswer:
    try:
        return WireAnswer(200, orjson.dumps(execution.finish_written(written)))
    except Exception as error:
        return _failed(execution, execution.fail(error))


def _failed(execution: Execution, failure: Exception) -> WireAnswer:
    if isinstance(failure, ApiError):
        return error_answer(failure)
    if not isinstance(failure, DatabaseError):
        try:
            raise failure
        finally:
            del failure  # which knows this frame: so both go at once, with all that was read
    _log.error("%s: %s", execution.operation, failure.message)
    _log.debug("where it failed", exc_info=failure)
    return error_answer(InternalServerError(_without_paths(execution.session, failure.message)))


def _without_paths(session: OperationContext, message: str) -> str:
    """Return the message of an error without the paths of files: only the log names them."""
    message = session.store.backups.folder.hidden(message).replace(session.store.path, "the database")
    return _OF_TABLE.sub(r"the backups of table \1", _BACKUP.sub(r"the backup \2 of table \1", message))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        params = orjson.loads(
            body
        )  # an empty body is no JSON either (dynalite 4.0 and dynoxide 3.2, after AWS)
    except orjson.JSONDecodeError:
        raise SerializationError("") from None
    if not isinstance(params, dict):
        raise SerializationError("")
    return params


def _check_item_values(operation: str, params: dict[str, Any]) -> None:
    """Refuse at once a request with more values than one item can hold: to read them all takes seconds."""
    row = OPERATIONS.get(operation)
    if row is not None and row.is_of_one_item and has_more_values(params, _ITEM_VALUES_MAX):
        raise ValidationError("Item size has exceeded the maximum allowed size")


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
    if isinstance(error, ThrottledError):
        # The one error of the framework among these begins its members with a small letter (AWS's service model).
        name = "throttlingReasons" if isinstance(error, ThrottlingError) else "ThrottlingReasons"
        answer[name] = [{"reason": reason.reason, "resource": reason.resource} for reason in error.reasons]
    return WireAnswer(error.status, orjson.dumps(answer))


def _reason(reason: Any) -> Answer:
    answer: Answer = {"Code": reason.code}
    if reason.message is not None:
        answer["Message"] = reason.message
    if reason.item is not None:
        answer["Item"] = reason.item
    return answer
