"""Plans writes and carries them out: one action by itself, several as a transaction, or one after the other on
targets without transactions.

A write that is planned from stored data has an optimistic lock. If the data has changed, it is planned again.

Updates that writes of children make to their parents are planned at the last moment. An update stands by itself,
or is folded into another write of the parent in the same transaction. A transaction may also check an item that
it does not write, while children of that item update it. DynamoDB takes each item once in a transaction, so the
check becomes a condition of the update. Data that a stream consumer keeps has no effects here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, assert_never

from singletable.client.calls import CONFLICT_S_MAX, Steps, backoff
from singletable.design.kept.aggregate import counted_item, follow_ups, parent_actions
from singletable.design.kept.kind import ChangedMeanwhileError, ParentUpdate, Plan, Planned, kept_of
from singletable.design.model.entity import STORED, Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.plan import Requests
from singletable.design.rekeying import move_parents, move_to_key, move_to_new_key
from singletable.design.session.action import Action, DoneAlreadyError, Prepared
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_all_charged, read_charged, read_stored
from singletable.design.values.arguments import require_kind
from singletable.design.values.items import Item, KeyId, hashable, shown_key
from singletable.design.writes.delete import Checking, plan_check, plan_delete, with_check
from singletable.design.writes.perform import ATTEMPTS_MAX, one_by_one, perform, request_of, transact
from singletable.design.writes.put import plan_create, plan_put
from singletable.design.writes.update import plan_update
from singletable.design.writes.write import (
    WRITES,
    Add,
    AnyWrite,
    Append,
    Check,
    Create,
    Delete,
    LoadWrite,
    Put,
    Update,
    Write,
    key_of,
    refuse_owner,
    schema_for,
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

# Made once: a union of classes that is written where it is asked would be made anew each time.
_PUTS: Final = (Create, Put)
_WHOLE: Final = (*_PUTS, LoadWrite)
_TAKEN: Final = (*WRITES, LoadWrite)


def prepare(session: Session, write: AnyWrite, *, fresh: bool = False) -> Steps[Prepared]:
    """Plan a write; with `fresh`, from the item as it is stored now, and not as the caller has read it."""
    target = write.entity if isinstance(write, _WHOLE) else write.target
    schema = schema_for(session, target)
    if session.catalog.has_old_keys:
        yield from move_to_new_key(session, schema, target)
        yield from move_parents(session, schema, target)
    match write:
        case Create(entity):
            return (yield from plan_create(session, entity))
        case Put(entity, when):
            return (yield from plan_put(session, entity, when))
        case LoadWrite(entity):
            return (yield from plan_put(session, entity, None, loads=True))
        case Update():
            return (yield from plan_update(session, write, fresh=fresh))
        case Delete():
            return (yield from plan_delete(session, write, fresh=fresh))
        case Check(target, when):
            return plan_check(session, target, when)
        case _:
            assert_never(write)


CONFLICTS_MAX: Final = 30


def write(session: Session, wanted: AnyWrite) -> Steps[tuple[Any, float]]:
    """Plan and carry out one write; return the entity as it is stored afterwards, and the units."""
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
            # The data that the plan was made from has changed. If the caller holds a version, the caller decides.
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


def request_steps(session: Session, wanted: Write) -> Steps[Requests]:
    """Plan a write, and return the request that would carry it out. Nothing is written."""
    prepared = yield from prepare(session, wanted)
    ready = yield from resolved(session, prepared.actions)
    return request_of(
        session, merged([each for each in ready if not isinstance(each, ParentUpdate | Planned)])
    )


def write_together(session: Session, wanted: Sequence[AnyWrite]) -> Steps[tuple[list[Any], float]]:
    """Carry out several writes as one transaction: all, or none. Return the stored entities, and the units."""
    done = yield from transact_writes(session, wanted)
    return (yield from _finish(session, wanted, done))


@dataclass(frozen=True, slots=True)
class Transacted:
    """A transaction that was carried out: the plan of each write, the actions that were sent, and the units."""

    plans: list[Prepared]
    actions: list[Action]
    units: float


def transact_writes(
    session: Session, wanted: Sequence[AnyWrite], *, first: Sequence[Action] = ()
) -> Steps[Transacted]:
    """Plan writes and carry them out as one transaction, after the actions in `first`."""
    _require_transactions(session)
    for each in wanted:
        if isinstance(each, Delete):
            refuse_owner(schema_for(session, each.target), "a transaction")
    retries, conflicts = _Retries(), _Conflicts()
    is_fresh = False
    while True:
        plans = yield from _plan(session, wanted, fresh=is_fresh)
        if not all(plan.actions for plan in plans):
            _refuse_two_of_one(session, wanted)  # a write without actions is not seen by `merged`
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
        require_kind(each, _TAKEN, "a transaction takes Create, Put, Update, Delete and Check")
        try:
            prepared = yield from prepare(session, each, fresh=fresh)
        except NotFoundError:
            _refuse_two_of_one(session, wanted)  # another write of the transaction may create it
            raise
        plans.append(prepared)
    return plans


def _refuse_two_of_one(session: Session, wanted: Sequence[AnyWrite]) -> None:
    """Refuse two writes of one item: a transaction of DynamoDB takes each item once."""
    written: dict[KeyId, AnyWrite] = {}
    for each in wanted:
        target = each.entity if isinstance(each, _WHOLE) else each.target
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
    """Return a hint: the one write that replaces two writes of one item."""
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
    """Return each entity as it is stored. A transaction returns no items, so unknown ones are read."""
    unknown = [
        number
        for number, each in enumerate(wanted)
        if isinstance(each, Update) and not _is_known_after(session, each)
    ]
    keys = [done.plans[number].actions[0].key for number in unknown]
    answers = yield from read_all_charged(session, keys)
    read = dict(zip(unknown, answers, strict=True))
    results = []
    for number, (each, plan) in enumerate(zip(wanted, done.plans, strict=True)):
        if isinstance(each, _PUTS):
            results.append(plan.finish(_sent_item(done, plan.actions[0])))
        else:
            results.append(plan.finish(read[number][0] if number in read else None))
    return results, done.units + sum(units for _, units in answers)


def _sent_item(done: Transacted, own: Action) -> Item:
    """Return the item of a put as it was sent, which counts the children that are written with it."""
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
    later = [action for action in ready if isinstance(action, ParentUpdate | Planned)]
    if not later:
        return (yield from _carry_out(session, ready))
    # Without transactions, the effects follow one by one, and each is planned from the data stored by then.
    now = [action for action in ready if not isinstance(action, ParentUpdate | Planned)]
    stored, units = yield from _carry_out(session, now)
    for action in later:
        units += yield from settle(session, partial(later_plan, session, action))
    return stored, units


def settle(session: Session, plan: Plan) -> Steps[float]:
    """Plan from stored data and carry the plan out; plan again after each conflict (an optimistic lock)."""
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
    """Tell whether an update may have met a value that it cannot add to. Then it is planned from that value."""
    if isinstance(error, TransactionCanceledError):
        return any(reason.code == "ValidationError" for reason in error.reasons)
    return isinstance(error, ValidationError)


class _Conflicts:
    """Counts the conflicts of a plan. In each conflict another writer has succeeded, so conflicts end."""

    def __init__(self) -> None:
        self._count = 0
        self._pauses = backoff(seconds_max=CONFLICT_S_MAX)

    def pause(self, error: ChangedMeanwhileError) -> Steps[None]:
        """Wait before the next try (a back-off), or give up."""
        self._count += 1
        if self._count == CONFLICTS_MAX:
            raise error
        if self._count > 1:
            yield next(self._pauses)


class _Retries:
    """Counts how often a write was planned again, and decides whether another try can help."""

    def __init__(self) -> None:
        self._count = 0
        self._pauses = backoff(seconds_max=CONFLICT_S_MAX)
        self._shown: list[Any] = []

    def is_final(self, error: DesignError) -> bool:
        """Tell whether a retry would be refused again: a value is taken, it was done, or nothing changed."""
        shown = _shown_items(error.__cause__)
        is_same = bool(shown) and shown == self._shown
        self._shown = shown
        self._count += 1
        return isinstance(error, DuplicateError | DoneAlreadyError) or is_same or self._count == ATTEMPTS_MAX

    def pause(self) -> Steps[None]:
        """Wait before the next try. The first retry follows at once: the caller's data was only stale."""
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
    """Tell whether the item must be read: a transaction returns no items, and the caller's data may be stale."""
    if not isinstance(wanted, Update) or not isinstance(wanted.target, Entity):
        return isinstance(wanted, Update) and _is_relative(wanted)
    return schema_for(session, wanted.target).version is None or _is_relative(wanted)


def _is_known_after(session: Session, wanted: Update[Any]) -> bool:
    """Tell whether the whole item is known after an update: its version guards the fields that did not change.

    That is not so for an item with counted numbers: they change without a new version.
    """
    target = wanted.target
    if not isinstance(target, Entity) or STORED not in target.__dict__:
        return False
    schema = schema_for(session, target)
    return schema.version is not None and not schema.kept.counted and not _is_relative(wanted)


def _is_relative(wanted: Update[Any]) -> bool:
    return any(isinstance(value, Add | Append) for value in wanted.changes.values())


# --- one action for each item ----------------------------------------------------------------------------


def merged(actions: Sequence[Action]) -> list[Action]:
    """Merge actions on the same item: a transaction of DynamoDB takes each item once."""
    if len(actions) == 1:
        return [*actions]
    by_key: dict[KeyId, Action] = {}
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
    # The caller's own writes were checked before, so one of these is an effect of a write of another item.
    raise InvalidWriteError(
        f"{first.kind} and {second.kind} of one transaction are about the same item, {shown_key(first.key)}, "
        "which is derived or counted",
        hint="make two transactions of it",
    )


# --- updates of parents ---------------------------------------------------------------------------------


def resolved(session: Session, actions: list[Action]) -> Steps[list[Action]]:
    """Plan the actions that depend on other items, at the last moment: updates of parents, and their effects.

    On targets without transactions they are planned later, one by one after the item. Then this only checks that
    the parents exist.
    """
    updates = [action for action in actions if isinstance(action, ParentUpdate)]
    if not updates:
        return actions
    if session.client.capabilities.transactions:
        return (yield from _resolved_together(session, actions))
    for update in updates:
        if update.needs_parent and (yield from read_stored(session, update.schema, update.key)) is None:
            raise update.no_parent()
    return actions


def later_plan(session: Session, action: Action) -> Steps[list[Action]]:
    """Plan one action by itself, on a target without transactions."""
    if isinstance(action, ParentUpdate):
        return (yield from _planned(session, action))
    if isinstance(action, Planned) and action.plan is not None:
        return (yield from action.plan())
    return [action]


def _resolved_together(session: Session, actions: list[Action]) -> Steps[list[Action]]:
    result: dict[KeyId, list[Action]] = {}
    waiting: dict[KeyId, ParentUpdate] = {}
    _sort_in(actions, result, waiting)
    while waiting:
        key = _next(session, waiting)
        update = waiting.pop(key).without_zeros()
        match result.get(key):
            case [Checking() as check]:
                checked, *others = yield from _checked(session, check, update)
                result[key] = [checked]
            case None:
                others = yield from _planned(session, update)
            case written:
                result[key] = [_folded(session, action, update) for action in written]
                others = []
        _sort_in(others, result, waiting)
    return [action for same in result.values() for action in same]


def _sort_in(
    actions: list[Action], result: dict[KeyId, list[Action]], waiting: dict[KeyId, ParentUpdate]
) -> None:
    for action in actions:
        key = hashable(action.key)
        if not isinstance(action, ParentUpdate):
            result.setdefault(key, []).append(action)
        else:
            waiting[key] = waiting[key].merged(action) if key in waiting else action


def _next(session: Session, waiting: dict[KeyId, ParentUpdate]) -> KeyId:
    """Choose a parent that no other waiting update can still change."""
    for key, update in waiting.items():
        others = [other.schema for other in waiting.values() if other is not update]
        if not any(update.schema in _ancestors(session, other) for other in others):
            return key
    return next(iter(waiting))


def _ancestors(session: Session, schema: EntitySchema) -> set[EntitySchema]:
    found: set[EntitySchema] = set()
    waiting = [schema]
    while waiting:
        for link in kept_of(session.catalog).parents(waiting.pop()):
            if link.parent not in found:
                found.add(link.parent)
                waiting.append(link.parent)
    return found


def _planned(session: Session, update: ParentUpdate) -> Steps[list[Action]]:
    """Plan the update of one parent, after it is moved to its new key."""
    if not update.deltas and not update.expects:
        return []
    if update.schema.key.keys.was is not None:
        yield from move_to_key(session, update.schema, update.key)
    return (yield from parent_actions(session, update))


# --- parents that are written in the same transaction ---------------------------------------------------


def _checked(session: Session, check: Checking, update: ParentUpdate) -> Steps[list[Action]]:
    """Plan the update of a parent that the transaction also checks. The first action is that of the parent."""
    try:
        planned = yield from _planned(session, replace(update, needs_parent=True))
    except NotFoundError as error:
        raise check.refused(None) from error
    if not planned:
        return [check]
    return [with_check(session, planned[0], check), *planned[1:]]


def _folded(session: Session, action: Action, update: ParentUpdate) -> Action:
    """Return the write of a parent, with the update that its children make folded into it."""
    if action.kind == "Delete" or isinstance(action, Checking) or not update.deltas:
        return action
    has_effects, is_read = follow_ups(session, update)
    if action.kind == "Put" and not has_effects:
        item = counted_item(session, action.params["Item"], update)
        return replace(action, params={**action.params, "Item": item})
    if action.kind in ("Update", "ConditionCheck") and not is_read:
        return _with_additions(action, update)
    name = update.schema.entity.__name__
    raise InvalidWriteError(
        f"a transaction writes {name} {shown_key(update.key)} and what it counts, and more follows from the "
        "numbers than one write can say",
        hint="make two transactions of it",
    )


def _with_additions(action: Action, update: ParentUpdate) -> Action:
    into = Placeholders.of(action.params)
    params = dict(action.params)
    text = params.get("UpdateExpression", "")
    join = ", " if " ADD " in f" {text}" else " ADD "
    params["UpdateExpression"] = f"{text}{join}{update.additions(into)}".strip()
    return replace(action, kind="Update", params=into.add_to(params))
