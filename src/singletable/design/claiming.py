"""A write with locks and counters where the target has no transactions (ScyllaDB's Alternator).

One call after the other, in an order in which no value is ever stored twice:

1. Each lock that the write needs is claimed: put on condition that it is free, the item's own, or expired. The
   claim carries a token that is this write's alone.
2. Each lock that it will give back is read.
3. The item is written, on the condition that it has always had. If it is refused, the claims are undone: each
   lock that still carries the token is put back as it was before.
4. Counters and derived items follow; then the locks of old values are deleted, if they still are as they were
   read.

A process that dies leaves, between 1 and 3, locks without a value: their owner does not have it. The next who
wants the value finds such a lock, reads the owner, and takes the lock over once it is older than `GRACE_S`, on
condition that it is unchanged. After 3 it leaves the lock of an old value, for which the same holds, or a counter
that is behind, which `verify` repairs. A write that is slower than `CLAIM_S` between 1 and 3 claims again, so that
nobody takes over what is still wanted; for this the clocks of all writers must agree to half a minute, and no call
may hang for longer.

Who does not know whether the item was written (the answer was lost) undoes nothing: the lock is either right, or
can be taken over later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import uuid4

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.answers import read_units
from singletable.design.expressions import Placeholders
from singletable.design.performing import ATTEMPTS_MAX, ask_until_free, perform
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item
from singletable.design.uniqueness import (
    CLAIM,
    GRACE_S,
    LockChange,
    has_lock,
    if_as_seen,
    owner_key,
    reclaimed,
)
from singletable.errors import ApiError, ConditionFailedError, DesignError, InvalidWriteError

CLAIM_S: Final = GRACE_S / 2  # after which a claim is made again before the item is written


@dataclass(frozen=True, slots=True)
class Claim:
    """A lock that was claimed, and what was there before."""

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
                raise  # a lock that has changed hands is not ours to change
    return stored, spent.units


@dataclass(slots=True)
class _Units:
    units: float = 0.0

    def add(self, answer: tuple[Item | None, float]) -> Item | None:
        self.units += answer[1]
        return answer[0]


def _is_certain(error: DesignError | ApiError) -> bool:
    """Tell whether an error means that nothing was written, now or by an earlier try whose answer was lost."""
    answer = error.__cause__ if isinstance(error, DesignError) else error
    return not isinstance(answer, ApiError) or (answer.status < 500 and answer.retries == 0)


# --- claiming ------------------------------------------------------------------------------------------


def _claim_all(
    session: Session, actions: Sequence[Action], claims: list[Claim], spent: _Units
) -> Steps[list[Action]]:
    """Claim the locks; return what is to follow the item, on condition that locks are as they are now."""
    token = uuid4().hex
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
                continue  # given back meanwhile
            if _token(stored) == token:
                _note(claims, Claim(change, token, None))  # taken over by a try whose answer was lost
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
    """Keep in mind what was there before the first claim of this write, not what it has put there itself."""
    if claim.before is None or _token(claim.before) != claim.token:
        claims[:] = [known for known in claims if known.change.key != claim.change.key]
        claims.append(claim)


def _stored_lock(session: Session, change: LockChange, error: ConditionFailedError) -> Steps[Item | None]:
    """Return the lock that stands in the way; not every target shows it with the refusal."""
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
        if lock is not None and _is_of(session, lock, action.made_from):
            locks.append(if_as_seen(action, lock))
    return [*others, *locks]


def _is_of(session: Session, lock: Item, change: LockChange) -> bool:
    return any(
        owner_key(session.catalog, lock) == owner_key(session.catalog, owner) for owner in change.owners
    )


# --- undoing -------------------------------------------------------------------------------------------


def _undo(session: Session, claim: Claim) -> Steps[None]:
    """Put a lock back as it was. Not if its owner has the value after all: somebody else has written the same."""
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
        return  # somebody else has it by now


def _lost(stored: Item | None) -> DesignError:
    return InvalidWriteError("the lock has changed hands")
