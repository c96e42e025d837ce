"""Idempotent writes of handlers: a stream delivers a record at least once, so a handler may repeat its writes.

    @on(Comment)
    def count(self, change: Change[Comment]) -> Iterator[Once]:
        if change.kind == "create":
            totals = DayTotals(day=change.entity.created_at.date())
            yield Once(Update(totals, comments=Add(1)), missing=(totals,))

`Once` has a guard: an item that is written in the transaction that it guards, and refuses to be written again.
Without transactions it goes first: a consumer that dies behind it leaves something undone, and never done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final, TypeAlias

from singletable.client.calls import Steps
from singletable.design.kept.derived import delete_action
from singletable.design.model.entity import Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.session.action import Action, DoneAlreadyError
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_item
from singletable.design.values.arguments import require_kind, require_members
from singletable.design.values.items import AttributeValue, Item, is_empty
from singletable.design.writes.cascade import delete_steps
from singletable.design.writes.perform import perform
from singletable.design.writes.transaction import settle, transact_writes, write
from singletable.design.writes.write import (
    WRITES,
    Add,
    Append,
    Check,
    Create,
    Delete,
    Put,
    Update,
    Write,
    key_of,
    schema_for,
)
from singletable.errors import (
    AlreadyExistsError,
    CapabilityError,
    DesignError,
    InvalidWriteError,
    NotFoundError,
    VersionConflictError,
)

SingleWrite: TypeAlias = Create[Any] | Put[Any] | Update[Any] | Delete[Any]
SINGLE_WRITES: Final = (Create, Put, Update, Delete)


@dataclass(frozen=True, slots=True, init=False)
class Once:
    """Carry out writes together, and only the first time that a change is delivered.

    The writes are one transaction with a guard item, which remembers the change. A handler that yields several
    `Once` for one change must yield them in the same order each time, or give each a `name`. If a write finds no
    item, the items of `missing` are created first.
    """

    writes: tuple[Write, ...]
    name: str | None
    missing: tuple[Entity, ...]

    def __init__(self, *writes: Write, name: str | None = None, missing: Iterable[Entity] = ()) -> None:
        object.__setattr__(self, "writes", writes)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "missing", tuple(missing))
        self._check()

    def _check(self) -> None:
        what = "Once takes Create, Put, Update, Delete and Check"
        if not self.writes:
            raise TypeError(f"{what}, and is given nothing")
        require_members(self.writes, WRITES, what)
        require_members(self.missing, Entity, "what is created where it is missing is an entity")
        if self.name is not None:
            require_kind(self.name, str, "the name of what is done once is a text")


GUARD_NAME: Final = "$upkeep"  # the value of a guard's discriminator
GUARD_S: Final = 2 * 24 * 3600  # a stream keeps a record for one day


def carry_out(session: Session, wanted: SingleWrite, changed: Item) -> Steps[None]:
    """Carry out a write that a handler yields for a changed item; `changed` is the key of that item.

    A write that was carried out before counts as done: the item already has the wanted state, or is gone. An
    update of the changed item itself also counts as done if the item was deleted since: a stream lags behind.
    """
    try:
        if isinstance(wanted, Delete):
            yield from delete_steps(session, wanted)
        else:
            yield from write(session, wanted)
    except NotFoundError:
        if not _is_moot(session, wanted, changed):
            raise
    except (AlreadyExistsError, VersionConflictError):
        if not (yield from _is_done(session, wanted)):
            raise


def _is_moot(session: Session, wanted: SingleWrite, changed: Item) -> bool:
    """Tell whether a write may find no item: then it has nothing to do."""
    if isinstance(wanted, Update):
        return key_of(schema_for(session, wanted.target), wanted.target) == changed
    return isinstance(wanted, Delete)


def _is_done(session: Session, wanted: SingleWrite) -> Steps[bool]:
    match wanted:
        case Create(entity) | Put(entity):
            schema = schema_for(session, entity)
            values = {name: entity.__dict__.get(name) for name in _given(schema, entity)}
            return (yield from _holds(session, schema, key_of(schema, entity), values))
        case Update(target=target, changes=changes):
            if any(isinstance(value, Add | Append) for value in changes.values()):
                return False
            schema = schema_for(session, target)
            return (yield from _holds(session, schema, key_of(schema, target), changes))
        case Delete():
            return False


def _given(schema: EntitySchema, entity: Entity) -> set[str]:
    """Name the fields that the handler has set, without the times and versions that every write fills in."""
    filled = {*schema.created, *schema.updated}
    if schema.version is not None:
        filled.add(schema.version.name)
    return (entity.model_fields_set & schema.fields.keys()) - filled


def _holds(session: Session, schema: EntitySchema, key: Item, values: Mapping[str, object]) -> Steps[bool]:
    """Tell whether the stored item has these values."""
    item = yield from read_item(session, key)
    if item is None or session.catalog.schema_of(item) is not schema:
        return False
    stored = schema.to_entity(item)
    return all(
        getattr(stored, name) == value
        or _encoded(schema, name, value) == item.get(schema.fields[name].stored)
        for name, value in values.items()
    )


def _encoded(schema: EntitySchema, name: str, value: object) -> AttributeValue | None:
    return None if is_empty(value) else schema.fields[name].encode(value)


class Occasion:
    """One change for one handler. It names the guards of the `Once` writes."""

    def __init__(self, handler: str, event_id: str) -> None:
        self._handler = handler
        self._event_id = event_id
        self._names: set[str] = set()
        self._unnamed = count()

    def guard_name(self, once: Once) -> str:
        """Return the name of a guard: the name of the `Once`, or its number among those without a name."""
        name = str(next(self._unnamed)) if once.name is None else f"={once.name}"
        if name in self._names:
            raise InvalidWriteError(
                f"the handler {self._handler} yields Once(..., name={once.name!r}) twice for one change",
                hint="make one of them, or give them names of their own",
            )
        self._names.add(name)
        return f"{self._event_id}#{self._handler}#{name}"


def carry_out_once(session: Session, once: Once, changed: Item, guard_name: str) -> Steps[None]:
    """Carry out the writes of a `Once`, unless its guard exists; `changed` is the key of the changed item."""
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
        # After a first delivery the items have changed, so planning may fail before the guard is checked.
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
    """Create the missing items. If another process creates one meanwhile, that is as good."""
    for entity in once.missing:
        try:
            yield from write(session, Create(entity.model_copy()))
        except AlreadyExistsError:
            continue


def _without_moot(session: Session, writes: Sequence[Write], changed: Item) -> Steps[list[Write]]:
    """Leave out writes that may find no item: deletions, and updates of the changed item if it is gone."""
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
    """Carry out each write with a guard of its own, so that a retry repeats only the write that failed."""
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


def guard_action(session: Session, name: str) -> Action:
    """Return the action that puts a guard; it is refused, with a DoneAlreadyError, if the guard exists."""
    catalog, table = session.catalog, session.catalog.table
    key: Item = {table.pk: {"S": f"UPKEEP#{name}"}}
    if table.sk is not None:
        key[table.sk] = {"S": "GUARD"}
    item = {**key, catalog.discriminator: {"S": GUARD_NAME}}
    if catalog.ttl is not None:
        item[catalog.ttl] = {"N": str(session.now_s() + GUARD_S)}
    into = Placeholders()
    params = {"Item": item, "ConditionExpression": f"attribute_not_exists({into.name(table.pk)})"}
    return Action("Put", key, into.add_to(params), lambda _: DoneAlreadyError("this was done before"))


def carry_out_first(session: Session, name: str, action: Action) -> Steps[None]:
    """Carry out an action once under this name; do nothing if it was done before, or the item does not exist."""
    guard = guard_action(session, name)
    try:
        if session.client.capabilities.transactions:
            yield from settle(session, partial(_planned, [guard, action]))
        else:
            # A consumer that dies between the two leaves a counter that is behind; `verify` repairs it.
            yield from perform(session, guard)
            yield from settle(session, partial(_planned, [action]))
    except (DoneAlreadyError, NotFoundError):
        return  # it was done before, or the parent does not exist


def _planned(actions: list[Action]) -> Steps[list[Action]]:
    yield from ()
    return actions


def is_done(session: Session, guard: Action) -> Steps[bool]:
    """Tell whether a guard exists, so its writes were carried out."""
    return (yield from read_item(session, guard.key)) is not None


def one_behind(session: Session, guard: Action, steps: Steps[None]) -> Steps[None]:
    """Put a guard and run steps, without a transaction; if the steps are refused, delete the guard again."""
    yield from perform(session, guard)
    try:
        yield from steps
    except DesignError:
        yield from perform(session, delete_action(guard.key))
        raise
