"""How planned writes are carried out: one action by itself, several as a transaction, or one after the other where
the target has none (`singletable.design.claiming`).

A write that was planned from what is stored, and is refused because that has changed, is planned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from singletable.client.calls import Steps
from singletable.design.actions import Action, Prepared
from singletable.design.answers import CONFLICT_S_MAX, backoff
from singletable.design.arguments import require_kind
from singletable.design.batch_reading import hashable
from singletable.design.claiming import one_by_one
from singletable.design.counting import Touch
from singletable.design.effects import later_plan, resolved
from singletable.design.entity import STORED, Entity
from singletable.design.guards import DoneAlreadyError
from singletable.design.performing import ATTEMPTS_MAX, perform, request_of, transact
from singletable.design.preparing import key_of, prepare, schema_for
from singletable.design.revising import ChangedMeanwhileError, Plan, Planned
from singletable.design.session import Session
from singletable.design.side_by_side import side_by_side
from singletable.design.stored_items import read_charged
from singletable.design.stored_values import Item, shown_key
from singletable.design.write_planning import refuse_owner
from singletable.design.writes import (
    WRITES,
    Add,
    AnyWrite,
    Append,
    Check,
    Create,
    Delete,
    Load,
    Put,
    Update,
    Write,
)
from singletable.errors import (
    ApiError,
    CapabilityError,
    ConditionFailedError,
    DesignError,
    DuplicateError,
    InvalidWriteError,
    NotFoundError,
    TransactionCanceledError,
    ValidationError,
)

CONFLICTS_MAX: Final = 30


def write(session: Session, wanted: AnyWrite) -> Steps[tuple[Any, float]]:
    """Plan and carry out one write; return the entity as it is stored now, and the units."""
    prepared = yield from prepare(session, wanted)
    retries, conflicts = _Retries(), _Conflicts()
    is_fresh = False
    while True:
        try:
            stored, units = yield from commit(session, prepared.actions)
        except ChangedMeanwhileError as error:
            yield from conflicts.pause(error)
            is_fresh = is_fresh or prepared.is_retried
            prepared = yield from prepare(session, wanted, fresh=is_fresh)
        except ApiError as error:
            if is_fresh or not isinstance(wanted, Update) or not _is_of_wrong_type(error):
                raise
            is_fresh = True
            prepared = yield from prepare(session, wanted, fresh=is_fresh)
        except DesignError as error:
            # What the plan was made from has changed meanwhile. With a version that is for the caller to decide.
            if not prepared.is_retried or retries.is_final(error):
                raise
            yield from retries.pause()
            is_fresh = True
            prepared = yield from prepare(session, wanted, fresh=is_fresh)
        else:
            if stored is None and len(prepared.actions) > 1 and _is_stale_after(session, wanted):
                stored, more = yield from read_charged(session, prepared.actions[0].key)
                units += more
            return prepared.finish(stored), units


def request_steps(session: Session, wanted: Write) -> Steps[Any]:
    """Plan a write, and return the request that would carry it out."""
    prepared = yield from prepare(session, wanted)
    ready = yield from resolved(session, prepared.actions)
    return request_of(session, merged([each for each in ready if not isinstance(each, Touch | Planned)]))


def write_together(session: Session, wanted: Sequence[AnyWrite]) -> Steps[tuple[list[Any], float]]:
    """Carry out several writes as one transaction: all of them, or none. Return what is stored, and the units."""
    done = yield from transact_writes(session, wanted)
    return (yield from _finish(session, wanted, done))


@dataclass(frozen=True, slots=True)
class Transacted:
    """A transaction that was carried out: what was planned for each write, and the actions that came of it."""

    plans: list[Prepared]
    actions: list[Action]
    units: float


def transact_writes(
    session: Session, wanted: Sequence[AnyWrite], *, first: Sequence[Action] = ()
) -> Steps[Transacted]:
    """Plan writes and carry them out as one transaction, with actions in front of them."""
    _require_transactions(session)
    for each in wanted:
        if isinstance(each, Delete):
            refuse_owner(schema_for(session, each.target), "a transaction")
    retries, conflicts = _Retries(), _Conflicts()
    is_fresh = False
    while True:
        plans = yield from _plan(session, wanted, fresh=is_fresh)
        if not all(plan.actions for plan in plans):
            _refuse_two_of_one(session, wanted)  # what need not be done is not seen among the actions
        try:
            planned = [action for plan in plans for action in plan.actions]
            actions = yield from resolved(session, [*first, *planned])
            try:
                once_each = merged(actions)
            except InvalidWriteError:
                _refuse_two_of_one(session, wanted)
                raise
            units = yield from transact(session, once_each)
        except ChangedMeanwhileError as error:
            yield from conflicts.pause(error)
            is_fresh = is_fresh or any(plan.is_retried for plan in plans)
        except ApiError as error:
            if is_fresh or not _is_of_wrong_type(error):
                raise
            is_fresh = True
        except DesignError as error:
            if not any(plan.is_retried for plan in plans) or retries.is_final(error):
                raise
            yield from retries.pause()
            is_fresh = True
        else:
            return Transacted(plans, once_each, units)


def _plan(session: Session, wanted: Sequence[AnyWrite], *, fresh: bool) -> Steps[list[Prepared]]:
    plans = []
    for each in wanted:
        require_kind(each, (*WRITES, Load), "a transaction takes Create, Put, Update, Delete and Check")
        try:
            prepared = yield from prepare(session, each, fresh=fresh)
        except NotFoundError:
            _refuse_two_of_one(session, wanted)  # perhaps another write of the transaction would make it
            raise
        plans.append(prepared)
    return plans


def _refuse_two_of_one(session: Session, wanted: Sequence[AnyWrite]) -> None:
    """Refuse two writes of one item: a transaction of DynamoDB has each item once."""
    written: dict[tuple[Any, ...], AnyWrite] = {}
    for each in wanted:
        target = each.entity if isinstance(each, Create | Put | Load) else each.target
        key = key_of(schema_for(session, target), target)
        name = hashable(key)
        if name not in written:
            written[name] = each
            continue
        first = written[name]
        names = (type(first).__name__, type(each).__name__)
        which = f"two {names[0]}s" if names[0] == names[1] else f"{names[0]} and {names[1]}"
        raise InvalidWriteError(
            f"{which} of one transaction are about the same item, {shown_key(key)}",
            hint=_instead(first, each),
        )


def _instead(first: AnyWrite, second: AnyWrite) -> str:
    """Say what to write instead of two writes of one item."""
    match first, second:
        case (Create() | Put(), Update()) | (Update(), Create() | Put()):
            made = first if isinstance(first, Create | Put) else second
            return f"{type(made).__name__} it with the values that the Update would set"
        case Update(), Update():
            return "make one Update of them, with all changes"
        case (Create() | Put(), Delete()) | (Delete(), Create() | Put()):
            return "Put alone replaces the item, Delete alone takes it away"
        case (Update(), Delete()) | (Delete(), Update()):
            return "Delete alone: what the Update would change is gone"
        case (Create(), Put()) | (Put(), Create()):
            return "Create alone if it must not be there yet, otherwise Put alone"
        case (Create(), Check()) | (Check(), Create()):
            return "Create alone: it demands that the item is not there yet"
        case Check(), Check():
            return "make one Check of them: when=one & other"
        case (Check(), Put() | Update() | Delete()) | (Put() | Update() | Delete(), Check()):
            return "make the condition one of the write: when=..."
        case _:
            return "leave one of them out"


def _finish(session: Session, wanted: Sequence[AnyWrite], done: Transacted) -> Steps[tuple[list[Any], float]]:
    """Return each entity as it is stored. A transaction returns nothing, so what cannot be known is read."""
    unknown = [
        number
        for number, each in enumerate(wanted)
        if isinstance(each, Update) and not _is_known_after(session, each)
    ]
    keys = [done.plans[number].actions[0].key for number in unknown]
    answers = (yield from side_by_side([read_charged(session, key) for key in keys])) if keys else []
    read = dict(zip(unknown, answers, strict=True))
    results = []
    for number, (each, plan) in enumerate(zip(wanted, done.plans, strict=True)):
        if isinstance(each, Create | Put):
            results.append(plan.finish(_sent_item(done, plan.actions[0])))
        else:
            results.append(plan.finish(read[number][0] if number in read else None))
    return results, done.units + sum(units for _, units in answers)


def _sent_item(done: Transacted, own: Action) -> Item:
    """Return the item of a put as it was sent: children that are written with their parent are counted in it."""
    if not any(each is own for each in done.actions):
        own = next(each for each in done.actions if each.key == own.key)
    item: Item = own.params["Item"]
    return item


def _require_transactions(session: Session) -> None:
    if not session.client.capabilities.transactions:
        raise CapabilityError(
            f"{session.client!r} has no transactions",
            hint="make the writes one by one: each keeps its unique values and counters without them; or open the "
            "design on a target that has transactions",
        )


def commit(session: Session, actions: list[Action]) -> Steps[tuple[Item | None, float]]:
    """Carry out actions that belong together; return the new item of a single update, and the units."""
    ready = yield from resolved(session, actions)
    later = [action for action in ready if isinstance(action, Touch | Planned)]
    if not later:
        return (yield from _carry_out(session, ready))
    # Without transactions, what depends on other items follows one by one, each planned from what is stored then.
    now = [action for action in ready if not isinstance(action, Touch | Planned)]
    stored, units = yield from _carry_out(session, now)
    for action in later:
        units += yield from _settle_one(session, action)
    return stored, units


def _settle_one(session: Session, action: Action) -> Steps[float]:
    return (yield from settle(session, lambda: later_plan(session, action)))


def settle(session: Session, plan: Plan) -> Steps[float]:
    """Carry out what is planned from what is stored; plan it again as long as that has changed meanwhile."""
    conflicts = _Conflicts()
    while True:
        try:
            _, units = yield from commit(session, (yield from plan()))
        except ChangedMeanwhileError as error:
            yield from conflicts.pause(error)
        else:
            return units


def _carry_out(session: Session, actions: list[Action]) -> Steps[tuple[Item | None, float]]:
    match merged(actions):
        case []:
            return None, 0.0
        case [action]:
            return (yield from perform(session, action))
        case several if session.client.capabilities.transactions:
            return None, (yield from transact(session, several))
        case several:
            return (yield from one_by_one(session, several))


# --- planning again ------------------------------------------------------------------------------------


def _is_of_wrong_type(error: ApiError) -> bool:
    """Tell whether an update may have met a value that it cannot add to, and is to be planned from that."""
    if isinstance(error, TransactionCanceledError):
        return any(reason.code == "ValidationError" for reason in error.reasons)
    return isinstance(error, ValidationError)


class _Conflicts:
    """How often something was planned again, because somebody else was faster. One of all is, so it ends."""

    def __init__(self) -> None:
        self._count = 0
        self._pauses = backoff(seconds_max=CONFLICT_S_MAX)

    def pause(self, error: ChangedMeanwhileError) -> Steps[None]:
        """Wait before the next try, or give up."""
        self._count += 1
        if self._count == CONFLICTS_MAX:
            raise error
        if self._count > 1:
            yield next(self._pauses)


class _Retries:
    """How often a write was planned again, and whether that can still help."""

    def __init__(self) -> None:
        self._count = 0
        self._pauses = backoff(seconds_max=CONFLICT_S_MAX)
        self._shown: list[Any] = []

    def is_final(self, error: DesignError) -> bool:
        """Tell whether a refusal would only be repeated: a value is taken, it was done, or nothing changed."""
        shown = _shown_items(error.__cause__)
        is_same = bool(shown) and shown == self._shown
        self._shown = shown
        self._count += 1
        return isinstance(error, DuplicateError | DoneAlreadyError) or is_same or self._count == ATTEMPTS_MAX

    def pause(self) -> Steps[None]:
        """Wait before the next try; the first one follows at once, since the caller's data was only old."""
        if self._count > 1:
            yield next(self._pauses)


def _shown_items(refusal: BaseException | None) -> list[Any]:
    match refusal:
        case ConditionFailedError(item=item) if item:
            return [item]
        case TransactionCanceledError(reasons=reasons):
            return [reason.item for reason in reasons if reason.item]
        case _:
            return []


# --- what is stored afterwards ---------------------------------------------------------------------------


def _is_stale_after(session: Session, wanted: AnyWrite) -> bool:
    """Tell whether what is stored must be read: a transaction returns nothing, the caller's data may be old."""
    if not isinstance(wanted, Update) or not isinstance(wanted.target, Entity):
        return isinstance(wanted, Update) and _is_relative(wanted)
    return schema_for(session, wanted.target).version is None or _is_relative(wanted)


def _is_known_after(session: Session, wanted: Update[Any]) -> bool:
    """Tell whether all of an item is known after an update: the version that was read guards the rest of it.

    What is counted in an item does not count as versions.
    """
    target = wanted.target
    if not isinstance(target, Entity) or STORED not in target.__dict__ or _is_relative(wanted):
        return False
    schema = schema_for(session, target)
    return schema.version is not None and not session.catalog.belonging.kept(schema)


def _is_relative(wanted: Update[Any]) -> bool:
    return any(isinstance(value, Add | Append) for value in wanted.changes.values())


# --- one action for each item ----------------------------------------------------------------------------


def merged(actions: Sequence[Action]) -> list[Action]:
    """Make one action of those that a transaction could not take as two: DynamoDB wants each item once."""
    if len(actions) == 1:
        return [*actions]
    by_key: dict[tuple[Any, ...], Action] = {}
    for action in actions:
        key = hashable(action.key)
        known = by_key.get(key)
        by_key[key] = action if known is None else _merge(known, action)
    return list(by_key.values())


def _merge(first: Action, second: Action) -> Action:
    for merge in (first.merge, second.merge):
        together = None if merge is None else merge(first, second)
        if together is not None:
            return together
    # The writes of a caller were looked at before, so one of these follows from a write of another item.
    raise InvalidWriteError(
        f"{first.kind} and {second.kind} of one transaction are about the same item, {shown_key(first.key)}, "
        "which is derived or counted",
        hint="make two transactions of it",
    )
