"""Sends actions to the target, one by itself or several as a transaction, and turns refusals into errors.

Over a network an answer can be lost, and botocore sends the request again. A transaction carries a token that
makes it idempotent. A put has none: if the retry is refused by the very item that the put wrote, the put was
carried out.

On a target without transactions (ScyllaDB's Alternator), a write with locks and counters makes its calls one after
the other. The order ensures that no unique value is ever stored twice:

1. Each lock that the write needs is claimed: put on condition that it is free, the item's own, or expired. The
   claim carries a token that only this write has.
2. Each lock that the write will give back is read.
3. The item is written, on the same condition as with transactions. If it is refused, the claims are undone: each
   lock that still carries the token is put back as it was before.
4. Counters and derived items follow. Then the locks of old values are deleted, if they are unchanged since they
   were read.

A process that dies between 1 and 3 leaves stale locks: their owner does not have the value. The next writer of the
value finds such a lock and reads the owner. It takes the lock over once the lock is older than `GRACE_S`, on
condition that it is unchanged. A process that dies after 3 leaves the lock of an old value, which is stale too, or
a counter that is behind, which `verify` repairs. A write that needs longer than `CLAIM_S` between 1 and 3 claims
again, so that nobody takes over a lock that is still in use. For this, the clocks of all writers must agree to
half a minute, and no call may hang for longer.

If the answer is lost, the writer does not know whether the item was written. It undoes nothing: the lock is either
right, or can be taken over later.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from singletable.client.calls import Answer, Call, Params, Steps, backoff, read_units
from singletable.design.kept.unique import (
    CLAIM,
    GRACE_S,
    LockChange,
    has_lock,
    if_as_seen,
    owner_key,
    reclaimed,
)
from singletable.design.plans.plan import Requests
from singletable.design.session.action import Action
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import TRANSIENT, Session, throttled_transaction
from singletable.design.session.stored_items import read_item
from singletable.design.values.items import Item, is_same_item
from singletable.errors import (
    ApiError,
    CancellationReason,
    ConditionFailedError,
    DesignError,
    InvalidWriteError,
    OtherApiError,
    TransactionCanceledError,
)

TRANSACTION_ACTIONS_MAX: Final = 100
ATTEMPTS_MAX: Final = 10

_OPERATIONS: Final = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
# A transaction is in progress on the item of a single write.
_CONFLICT: Final = "TransactionConflictException"

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
    """Read the item that refused a write. DynamoDB returns it with the refusal; not every other target does."""
    if session.client.is_trusted:
        return None
    return (yield from read_item(session, action.key))


def ask_until_free(call: Call) -> Steps[Answer]:
    """Make a call; retry with back-off while a transaction is in progress on the same item."""
    pauses = backoff()
    for _ in range(ATTEMPTS_MAX):
        try:
            answer: Answer = yield call
        except OtherApiError as error:
            if error.code != _CONFLICT:
                raise
            yield next(pauses)
        else:
            return answer
    raise _kept_changing()


def was_written(action: Action, stored: Item, error: ApiError) -> bool:
    """Tell whether a refused put was carried out before: it is a retry, and its own item is stored."""
    return action.kind == "Put" and error.retries > 0 and is_same_item(stored, action.params["Item"])


def _params(session: Session, action: Action) -> Params:
    params: Params = {"TableName": session.table, **action.params}
    if action.kind != "Put":
        params["Key"] = action.key
    if "ConditionExpression" in params:
        params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return params


def _alone(session: Session, action: Action) -> Params:
    params = {**_params(session, action), "ReturnConsumedCapacity": "TOTAL"}
    if action.kind == "Update":
        params["ReturnValues"] = "ALL_NEW"
    return params


def request_of(session: Session, actions: Sequence[Action]) -> Requests:
    """Return the request that carries out actions; a list of requests if the target has no transactions."""
    if len(actions) == 1:
        return _alone(session, actions[0])
    if session.client.capabilities.transactions:
        return _transaction(session, actions)
    return [_alone(session, action) for action in actions]


def _kept_changing() -> InvalidWriteError:
    return InvalidWriteError("other transactions kept changing the same items", hint="try again later")


# --- a transaction -------------------------------------------------------------------------------------


def transact(session: Session, actions: Sequence[Action]) -> Steps[float]:
    """Carry out actions on different items as a transaction: all of them, or none. Return the units."""
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


def _transaction(session: Session, actions: Sequence[Action]) -> Params:
    return {
        "TransactItems": [{action.kind: _params(session, action)} for action in actions],
        "ReturnConsumedCapacity": "TOTAL",
    }


def _without_refused(
    session: Session, actions: list[Action], error: TransactionCanceledError
) -> Steps[list[Action]]:
    """Return the actions to retry after a refusal: without those that may lapse, and taking over stale locks.

    If the refusal is final, raise its error. After a mere conflict with other writers, return the same actions.
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
    """Return the action that takes over a stale lock; for any other refusal, raise its error."""
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


# --- without transactions -------------------------------------------------------------------------------

CLAIM_S: Final = GRACE_S / 2  # an older claim is made again before the item is written


@dataclass(frozen=True, slots=True)
class Claim:
    """A lock that was claimed, and the lock that was stored before."""

    change: LockChange
    token: str
    before: Item | None


def one_by_one(session: Session, actions: Sequence[Action]) -> Steps[tuple[Item | None, float]]:
    """Carry out actions one after the other; return the new item of an update, and the units."""
    spent = _Units()
    claims: list[Claim] = []
    try:
        after = yield from _claim_all(session, actions, claims, spent)
        stored = None
        for action in actions:
            if action.order == "item":
                stored = spent.add((yield from perform(session, action)))
    except (DesignError, ApiError) as error:
        if _is_certain(error):
            for claim in reversed(claims):
                yield from _undo(session, claim)
        raise
    for action in after:
        try:
            spent.add((yield from perform(session, action)))
        except DesignError:
            if not isinstance(action.made_from, LockChange):
                raise  # but a lock that another item took over is left alone
    return stored, spent.units


@dataclass(slots=True)
class _Units:
    units: float = 0.0

    def add(self, answer: tuple[Item | None, float]) -> Item | None:
        self.units += answer[1]
        return answer[0]


def _is_certain(error: DesignError | ApiError) -> bool:
    """Tell whether an error proves that nothing was written, not even by an earlier try whose answer was lost."""
    answer = error.__cause__ if isinstance(error, DesignError) else error
    return not isinstance(answer, ApiError) or (answer.status < 500 and answer.retries == 0)


# --- claiming ------------------------------------------------------------------------------------------


def _claim_all(
    session: Session, actions: Sequence[Action], claims: list[Claim], spent: _Units
) -> Steps[list[Action]]:
    """Claim the locks. Return the actions that follow the item, on condition that locks are unchanged by then."""
    token = session.new_token()
    for _ in range(ATTEMPTS_MAX):
        begun_us = session.client.clock.elapsed_us()
        for action in actions:
            if action.order == "claim":
                yield from _claim(session, action, token, claims, spent)
        after = yield from _to_follow(session, actions)
        if session.client.clock.elapsed_us() - begun_us < CLAIM_S * 1_000_000:
            return after
    raise InvalidWriteError(
        f"the target took longer than {CLAIM_S:.0f} s to lock unique values, {ATTEMPTS_MAX} times",
        hint="try again later",
    )


def _claim(session: Session, action: Action, token: str, claims: list[Claim], spent: _Units) -> Steps[None]:
    change: LockChange = action.made_from
    for _ in range(ATTEMPTS_MAX):
        params = {
            "TableName": session.table,
            **action.params,
            "Item": {**action.params["Item"], CLAIM: {"S": token}},
            "ReturnValues": "ALL_OLD",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ReturnConsumedCapacity": "TOTAL",
        }
        try:
            answer = yield from ask_until_free(Call("PutItem", params))
        except ConditionFailedError as error:
            stored = yield from _stored_lock(session, change, error)
            if stored is None:
                continue  # it was given back meanwhile
            if _token(stored) == token:
                # An earlier try took it over, and its answer was lost.
                _note(claims, Claim(change, token, None))
                return
            again = yield from reclaimed(session, action, stored)
            if again is None:
                raise action.refused(stored) from error
            action = again
        else:
            spent.add((None, read_units(answer)))
            _note(claims, Claim(change, token, answer.get("Attributes")))
            return
        finally:
            session.cache.forget(change.key)
    raise InvalidWriteError("others kept changing the same lock", hint="try again later")


def _note(claims: list[Claim], claim: Claim) -> None:
    """Remember the lock from before this write's claims, never a lock that this write has put itself."""
    if claim.before is None or _token(claim.before) != claim.token:
        claims[:] = [known for known in claims if known.change.key != claim.change.key]
        claims.append(claim)


def _stored_lock(session: Session, change: LockChange, error: ConditionFailedError) -> Steps[Item | None]:
    """Return the lock that refused a claim; it is read if the target does not return it with the refusal."""
    if error.item:
        return dict(error.item)
    return (yield from read_item(session, change.key))


def _token(lock: Item) -> Any:
    return lock.get(CLAIM, {}).get("S")


def _to_follow(session: Session, actions: Sequence[Action]) -> Steps[list[Action]]:
    locks: list[Action] = []
    others: list[Action] = []
    for action in actions:
        if action.order != "after":
            continue
        if not isinstance(action.made_from, LockChange):
            others.append(action)
            continue
        lock = yield from read_item(session, action.key)
        owner = None if lock is None else owner_key(session.catalog, lock)
        if lock is not None and owner in [
            owner_key(session.catalog, each) for each in action.made_from.owners
        ]:
            locks.append(if_as_seen(action, lock))
    return [*others, *locks]


# --- undoing -------------------------------------------------------------------------------------------


def _undo(session: Session, claim: Claim) -> Steps[None]:
    """Put a lock back as it was, unless its owner has the value after all: another writer wrote the same."""
    change = claim.change
    assert change.takes is not None
    owner = owner_key(session.catalog, change.takes.owner)
    assert owner is not None
    before = claim.before
    is_own = before is not None and owner_key(session.catalog, before) == owner
    if not is_own and (yield from has_lock(session, owner, change.key)):
        return
    into = Placeholders()
    condition = f"{into.name(CLAIM)} = {into.value({'S': claim.token})}"
    if is_own:
        action = Action("Put", change.key, {"Item": before}, _lost)
    else:
        action = Action("Delete", change.key, {}, _lost)
    params = into.add_to({**action.params, "ConditionExpression": condition})
    try:
        yield from perform(session, replace(action, params=params))
    except DesignError:
        return  # another writer has the lock by now


def _lost(stored: Item | None) -> DesignError:
    return InvalidWriteError("the lock has changed hands")
