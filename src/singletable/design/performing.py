"""How actions reach the target: one by itself, or several as a transaction; and what a refusal means.

Over a network an answer can be lost, and botocore asks again. A transaction has a token, by which the target knows
it. A put that is refused the second time, by the very item that it wrote the first time, was carried out.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.answers import backoff, read_units
from singletable.design.session import TRANSIENT, Session, throttled_transaction
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, decode
from singletable.design.uniqueness import LockChange, reclaimed
from singletable.errors import (
    ApiError,
    CancellationReason,
    ConditionFailedError,
    InvalidWriteError,
    OtherApiError,
    TransactionCanceledError,
)

TRANSACTION_ACTIONS_MAX: Final = 100
ATTEMPTS_MAX: Final = 10

_OPERATIONS: Final = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
_CONFLICT: Final = (
    "TransactionConflictException"  # a transaction is under way with the item of a single write
)

# --- one action ----------------------------------------------------------------------------------------


def perform(session: Session, action: Action) -> Steps[tuple[Item | None, float]]:
    """Carry out one action by itself; return the new item of an update, and the units."""
    try:
        answer = yield from ask_until_free(Call(_OPERATIONS[action.kind], _alone(session, action)))
    except ConditionFailedError as error:
        stored = dict(error.item) if error.item else (yield from _not_shown(session, action))
        if stored is not None and was_written(action, stored, error):
            return None, 0.0
        raise action.refused(stored) from error
    finally:
        # Also after an error: the write may have been carried out, and its answer lost.
        session.cache.forget(action.key)
    return answer.get("Attributes"), read_units(answer)


def _not_shown(session: Session, action: Action) -> Steps[Item | None]:
    """Read the item that stands in the way. DynamoDB shows it with the refusal; not every other target does."""
    if session.client.is_trusted:
        return None
    return (yield from read_item(session, action.key))


def ask_until_free(call: Call) -> Steps[dict[str, Any]]:
    """Make a call; again, while a transaction is under way with the same item."""
    pauses = backoff()
    for _ in range(ATTEMPTS_MAX):
        try:
            answer: dict[str, Any] = yield call
        except OtherApiError as error:
            if error.code != _CONFLICT:
                raise
            yield next(pauses)
        else:
            return answer
    raise _kept_changing()


def was_written(action: Action, stored: Item, error: ApiError) -> bool:
    """Tell whether a put that is refused was carried out before: it was sent again, and its item is there."""
    return action.kind == "Put" and error.retries > 0 and is_same(stored, action.params["Item"])


def is_same(stored: Item, item: Item) -> bool:
    """Tell whether two items are equal, however their numbers are written."""
    return stored.keys() == item.keys() and all(
        value.keys() == item[name].keys() and decode(value) == decode(item[name])
        for name, value in stored.items()
    )


def _params(session: Session, action: Action) -> dict[str, Any]:
    params: dict[str, Any] = {"TableName": session.table, **action.params}
    if action.kind != "Put":
        params["Key"] = action.key
    if "ConditionExpression" in params:
        params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return params


def _alone(session: Session, action: Action) -> dict[str, Any]:
    params = {**_params(session, action), "ReturnConsumedCapacity": "TOTAL"}
    if action.kind == "Update":
        params["ReturnValues"] = "ALL_NEW"
    return params


def request_of(session: Session, actions: Sequence[Action]) -> Any:
    """Return the request that carries out actions; a list of them where the target has no transactions."""
    if len(actions) == 1:
        return _alone(session, actions[0])
    if session.client.capabilities.transactions:
        return _transaction(session, actions)
    return [_alone(session, action) for action in actions]


def _kept_changing() -> InvalidWriteError:
    return InvalidWriteError("other transactions kept changing the same items", hint="try again later")


# --- a transaction -------------------------------------------------------------------------------------


def transact(session: Session, actions: Sequence[Action]) -> Steps[float]:
    """Carry out actions on different items: all of them, or none. Return the units."""
    left = list(actions)
    pauses = backoff()
    for _ in range(ATTEMPTS_MAX):
        _check_count(left)
        if not left:
            return 0.0
        try:
            answer = yield Call("TransactWriteItems", _transaction(session, left))
        except TransactionCanceledError as error:
            canceled = error
            remaining = yield from _without_refused(session, left, error)
            if len(remaining) == len(left) and all(map(operator.is_, left, remaining)):
                yield next(pauses)
            left = remaining
        else:
            return read_units(answer)
        finally:
            session.cache.clear()
    raise throttled_transaction(session.table, canceled) or _kept_changing() from canceled


def _transaction(session: Session, actions: Sequence[Action]) -> dict[str, Any]:
    return {
        "TransactItems": [{action.kind: _params(session, action)} for action in actions],
        "ReturnConsumedCapacity": "TOTAL",
    }


def _without_refused(
    session: Session, actions: list[Action], error: TransactionCanceledError
) -> Steps[list[Action]]:
    """Return what to try after a refusal: without what may lapse, with locks that nobody needs taken over.

    Raise what the refusal means, if it is final. The same actions are returned where they only met others.
    """
    refused: dict[int, CancellationReason] = {}
    for number, reason in enumerate(error.reasons):
        if reason.code == "ConditionalCheckFailed":
            refused[number] = reason
        elif reason.code not in ("None", *TRANSIENT):
            raise error
    remaining: list[Action] = []
    for number, action in enumerate(actions):
        if number not in refused:
            remaining.append(action)
        elif not action.lapses:
            remaining.append((yield from _insisting(session, action, refused[number], error)))
    return remaining


def _insisting(
    session: Session, action: Action, reason: CancellationReason, error: TransactionCanceledError
) -> Steps[Action]:
    """Return the action by which a lock that nobody needs is taken over; raise what else the refusal means."""
    stored = dict(reason.item) if reason.item else (yield from _not_shown(session, action))
    if isinstance(action.made_from, LockChange):
        again = yield from reclaimed(session, action, stored)
        if again is not None:
            return again
    raise action.refused(stored) from error


def _check_count(actions: Sequence[Action]) -> None:
    if len(actions) > TRANSACTION_ACTIONS_MAX:
        raise InvalidWriteError(
            f"a transaction has {TRANSACTION_ACTIONS_MAX} actions at most, and this one has {len(actions)} with "
            "its locks, counters and derived items",
            hint="make several transactions of it",
        )
