"""How the writes of a `Once` are carried out: together with a guard that remembers the change they are for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.committing import transact_writes, write
from singletable.design.guards import DoneAlreadyError, guard_action, is_done, one_behind
from singletable.design.once import Once
from singletable.design.preparing import key_of, schema_for
from singletable.design.replaying import carry_out
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item
from singletable.design.streams import SingleWrite
from singletable.design.writes import Check, Create, Delete, Update, Write
from singletable.errors import (
    AlreadyExistsError,
    CapabilityError,
    DesignError,
    InvalidWriteError,
    NotFoundError,
)


class Occasion:
    """One change, as one handler gets it: names what is done once for it."""

    def __init__(self, handler: str, event_id: str) -> None:
        self._handler = handler
        self._event_id = event_id
        self._names: set[str] = set()
        self._unnamed = count()

    def guard_name(self, once: Once) -> str:
        """Return what a `Once` is remembered by: its name, or which one it is of those without one."""
        name = str(next(self._unnamed)) if once.name is None else f"={once.name}"
        if name in self._names:
            raise InvalidWriteError(
                f"the handler {self._handler} yields Once(..., name={once.name!r}) twice for one change",
                hint="make one of them, or give them names of their own",
            )
        self._names.add(name)
        return f"{self._event_id}#{self._handler}#{name}"


def carry_out_once(session: Session, once: Once, changed: Item, guard_name: str) -> Steps[None]:
    """Carry out the writes of a `Once`, unless that was done before; `changed` is the key of the changed item."""
    _require_expiry(session)
    if not session.client.capabilities.transactions:
        yield from _one_by_one(session, once, changed, guard_name)
        return
    guard = guard_action(session, guard_name)
    try:
        yield from _together(session, once, changed, guard)
    except DoneAlreadyError:
        return
    except DesignError:
        # A plan may fail by what is different now, before it comes to the guard.
        if not (yield from is_done(session, guard)):
            raise


def _require_expiry(session: Session) -> None:
    if session.catalog.ttl is None:
        raise InvalidWriteError(
            f"{session.catalog.name} has no time to live, so what remembers a Once would stay for ever",
            hint="ttl: Ttl = None in one of its entities",
        )


def _together(session: Session, once: Once, changed: Item, guard: Action) -> Steps[None]:
    try:
        yield from transact_writes(session, once.writes, first=[guard])
    except NotFoundError:
        yield from _create(session, once)
        writes = yield from _without_moot(session, once.writes, changed)
        if len(writes) == len(once.writes) and not once.missing:
            raise
        if writes:
            yield from transact_writes(session, writes, first=[guard])


def _create(session: Session, once: Once) -> Steps[None]:
    """Create what is missing. Whoever creates it meanwhile has done the same."""
    for entity in once.missing:
        try:
            yield from write(session, Create(entity.model_copy()))
        except AlreadyExistsError:
            continue


def _without_moot(session: Session, writes: Sequence[Write], changed: Item) -> Steps[list[Write]]:
    """Leave out what rightly finds nothing: a deletion, and an update of the changed item, which is gone."""
    kept = []
    for each in writes:
        if isinstance(each, Update | Delete):
            key = key_of(schema_for(session, each.target), each.target)
            is_moot = isinstance(each, Delete) or key == changed
            if is_moot and (yield from read_item(session, key)) is None:
                continue
        kept.append(each)
    return kept


# --- without transactions -------------------------------------------------------------------------------


def _one_by_one(session: Session, once: Once, changed: Item, guard_name: str) -> Steps[None]:
    """Carry out each write behind a guard of its own, so that one that fails is tried again, and no other."""
    for number, each in enumerate(_singles(session, once)):
        guard = guard_action(session, f"{guard_name}#{number}")
        try:
            yield from one_behind(session, guard, _single(session, once, each, changed))
        except DoneAlreadyError:
            continue


def _singles(session: Session, once: Once) -> list[SingleWrite]:
    if any(isinstance(each, Check) for each in once.writes):
        raise CapabilityError(
            f"{session.client!r} has no transactions, and Check is a part of one",
            hint="leave it out, or open the design on a target that has transactions",
        )
    return [each for each in once.writes if not isinstance(each, Check)]


def _single(session: Session, once: Once, wanted: SingleWrite, changed: Item) -> Steps[None]:
    try:
        yield from carry_out(session, wanted, changed)
    except NotFoundError:
        if not once.missing:
            raise
        yield from _create(session, once)
        yield from carry_out(session, wanted, changed)
