"""TransactGetItems and TransactWriteItems as DynamoDB shapes."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import orjson

from singletable import limits
from singletable.engine import transactions
from singletable.engine.requests import Action, ConditionCheck, PutItem, TransactGetItems, TransactWriteItems
from singletable.engine.results import WritesResult
from singletable.errors import SerializationError, ValidationError
from singletable.wire.forms import Form, take_key
from singletable.wire.operations.batches import writes_answer
from singletable.wire.operations.items import parse_delete, parse_get, parse_put, parse_update
from singletable.wire.parameters import (
    Answer,
    OperationContext,
    Outcome,
    Params,
    Run,
    Waiting,
    as_given,
    condition_only,
    consumed_capacity,
    report,
    reports_collections,
    returns_on_failure,
    table_name,
)


def transact_get_items(session: OperationContext, params: Params, form: Form) -> Outcome:
    request = TransactGetItems(
        gets=[parse_get(item["Get"], form, older=True) for item in params["TransactItems"]],
        report=report(params),
    )
    result = transactions.transact_get_items(session.store, request, session.patience, session.throttle)
    answer: Answer = {
        "Responses": [{} if item is None else {"Item": form.item(item)} for item in result.items]
    }
    if request.report != "NONE":
        names = as_given(item["Get"]["TableName"] for item in params["TransactItems"])
        answer["ConsumedCapacity"] = [
            consumed_capacity(part, request.report, names[part.table], split="ReadCapacityUnits")
            for part in result.consumed
        ]
    returned = sum(item is not None for item in result.items)
    return Outcome(answer, result.consumed, returned=returned)


def transact_write_items(session: OperationContext, params: Params, form: Form) -> Waiting:
    request = _request(params, form)

    def render(result: WritesResult) -> Outcome:
        split = "ReadCapacityUnits" if result.is_repeated else "WriteCapacityUnits"
        answer = writes_answer(result, request.report, _names(params), form, split=split)
        return Outcome(answer, result.consumed, is_read=result.is_repeated or None)

    return transactions.transact_write(request, session.throttle), render


def _names(params: Params) -> dict[str, str]:
    items = params["TransactItems"]
    return as_given(action["TableName"] for item in items for kind in _ACTIONS if (action := item.get(kind)))


def _request(params: Params, form: Form) -> TransactWriteItems:
    items = params["TransactItems"]
    kinds = [_kind(item) for item in items]
    actions = [_ACTIONS[kind](item[kind], form, older=True) for kind, item in zip(kinds, items, strict=True)]
    _check_payload(actions)
    token = params.get("ClientRequestToken") or None
    return TransactWriteItems(
        actions=actions,
        token=token,
        digest=_digest(params["TransactItems"]) if token else b"",
        report=report(params),
        reports_collections=reports_collections(params),
    )


def _check_payload(actions: Sequence[Action]) -> None:
    # DynamoDB Local says the sentence once, and tells the size up to the item that was too much. The service says
    # it twice, as a client recorded it: "Transaction payload size cannot exceed 4MB. Payload Size: : Transaction
    # payload size cannot exceed 4MB. Payload Size: 4306456".
    payload_bytes = 0
    for action in actions:
        payload_bytes += action.item_bytes if isinstance(action, PutItem) else 0
        if payload_bytes > limits.TRANSACTION_BYTES_MAX:
            sentence = "Transaction payload size cannot exceed 4MB. Payload Size: "
            raise ValidationError(f"{sentence}: {sentence}{payload_bytes}")


def _check(params: Params, form: Form, *, older: bool) -> ConditionCheck:
    condition = condition_only(params, form, older=older)
    if condition is None:
        raise ValidationError("The expression can not be empty;")
    return ConditionCheck(
        table=table_name(params["TableName"]),
        key=take_key(params["Key"], form, older=older),
        condition=condition,
        returns_on_failure=returns_on_failure(params),
    )


_ACTIONS: dict[str, Callable[..., Action]] = {
    "ConditionCheck": _check,
    "Put": parse_put,
    "Update": parse_update,
    "Delete": parse_delete,
}


def _kind(item: Params) -> str:
    """Return the kind of action of an item of a transaction. All kinds are checked before any item is read."""
    given = [name for name in _ACTIONS if item.get(name) is not None]
    if not given:
        raise ValidationError(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    if len(given) > 1:
        raise ValidationError("TransactItems can only contain one of Check, Put, Update or Delete")
    return given[0]


def _digest(items: Any) -> bytes:
    """Return a digest that tells two different requests with one token apart."""
    # A name may be a member of an enum that is a `str` too: to orjson only `str` itself is one.
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    try:
        text = orjson.dumps(items, default=_plain, option=options)
    except orjson.JSONEncodeError as error:  # nothing has checked members outside attribute values yet
        raise SerializationError(f"A value of the request cannot be sent: {error}") from None
    return blake2b(text, digest_size=16).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return b2a_base64(bytes(value), newline=False).decode()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


RUN: Final[dict[str, Run]] = {
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
}
