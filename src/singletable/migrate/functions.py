"""Functions of a project that a migration calls: for what no comparison of two designs can know.

    def complete(db: Shop, order: Order) -> Iterator[Write]:
        if order.receipt is None:
            yield Update(order, receipt=db.receipt_of(order))

A function is handed the stored items of the entities that its second parameter names, one by one, and returns the
writes that are missing; a list of writes is one transaction. It reads what it likes through the open design, and
writes nothing itself: so it can be rehearsed, and be called again. Where all is well, it returns nothing. A verify
that names it asks it once more.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args, get_type_hints

from singletable.client.calls import Call, Steps, Work, read_units
from singletable.design.design import Design
from singletable.design.model.entity import Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get
from singletable.design.values.items import Item
from singletable.design.writes.transaction import write, write_together
from singletable.design.writes.write import Create, Put, Write, WritePlan
from singletable.errors import (
    AlreadyExistsError,
    ApiError,
    CapabilityError,
    ConditionNotMetError,
    ConsumerError,
    DatabaseError,
    IndexMissingError,
    MigrationError,
    NotFoundError,
    SingleTableError,
    TableMissingError,
    TargetError,
    VersionConflictError,
)
from singletable.migrate.applying import failure
from singletable.migrate.forms import plain
from singletable.migrate.passes import SAMPLES_MAX, Pass
from singletable.migrate.recomputing import Meter

_ATTEMPTS: Final = 10
_RACES: Final = (AlreadyExistsError, ConditionNotMetError, NotFoundError, VersionConflictError)
_NOT_ABOUT_AN_ITEM: Final = (
    ApiError,
    CapabilityError,
    ConsumerError,
    DatabaseError,
    IndexMissingError,
    MigrationError,
    TableMissingError,
    TargetError,
)
_EXAMPLE: Final = "def complete(db: Shop, order: Order) -> Iterable[Write]"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a project, and the entities that it is handed."""

    name: str
    call: Callable[[Any, Any], Iterable[Any] | None]
    kinds: tuple[type[Entity], ...]

    def writes(self, db: Design, entity: Entity) -> list[list[Write]]:
        """Return what the function would have written for an entity: transactions."""
        found: list[list[Write]] = []
        for each in self.call(db, entity) or ():
            together = list(each) if isinstance(each, list | tuple) else [each]
            for one in together:
                if not isinstance(one, WritePlan):
                    raise MigrationError(
                        f"{self.name} returned {type(one).__name__}: it returns writes, or lists of writes",
                        hint="Create, Put, Update, Delete",
                    )
            found += [together] if together else []
        return found


def find_function(name: str, design: type[Design]) -> Function:
    """Import the function that MODULE:FUNCTION names, and read off which entities of a design it is handed."""
    where, _, attribute = name.partition(":")
    try:
        found = getattr(_imported(where), attribute) if where and attribute else None
    except (ImportError, AttributeError) as error:
        raise MigrationError(
            f"the function {name} is not there: {error}",
            hint="name it MODULE:FUNCTION, as Python imports it from where the command is run",
        ) from error
    if not callable(found):
        raise MigrationError(f"{name} is no function", hint="name it MODULE:FUNCTION")
    return Function(name, found, _kinds(name, found, design))


def _imported(where: str) -> Any:
    # As `python -m` does: what is beside the user can be imported.
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(where)
    finally:
        sys.path.remove(os.getcwd())


def _kinds(name: str, function: Callable[..., Any], design: type[Design]) -> tuple[type[Entity], ...]:
    try:
        parameters = list(inspect.signature(function).parameters)
        annotation = get_type_hints(function).get(parameters[1])
    except (IndexError, NameError, TypeError, ValueError) as error:
        raise MigrationError(
            f"{name} does not take the open design and an entity: {error}", hint=_EXAMPLE
        ) from error
    kinds = tuple(kind for kind in get_args(annotation) or (annotation,) if isinstance(kind, type))
    unknown = [kind.__name__ for kind in kinds if not (issubclass(kind, Entity) and kind in design.entities)]
    if not kinds or unknown:
        what = f"{', '.join(unknown)}, which {design.__name__} does not have" if unknown else "nothing"
        raise MigrationError(
            f"the second parameter of {name} says which entities it is handed, and it says {what}",
            hint=_EXAMPLE,
        )
    return kinds


class FunctionPass(Pass):
    """A pass over all items of a table, for what functions make of them.

    `is_check` looks at the form of items, too: that is a verify.
    """

    def __init__(
        self, db: Design, functions: Sequence[Function], *arguments: Any, is_check: bool, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._db = db
        self._functions = functions
        self._is_check = is_check
        self._failed: list[str] = []  # of one page

    def _deal(self, items: list[Item]) -> Steps[None]:
        self._failed = []
        if self._is_check:
            yield from super()._deal(items)
        for stored in items:
            if not self._is_check:
                self._add(seen=1, unknown=int(not self._knows(stored)))
            schema = self._session.catalog.schema_of(stored)
            wanted = [] if schema is None else self._handed(schema)
            if schema is None or not wanted:
                continue
            try:
                for function in wanted:
                    yield from self._completed(function, schema, stored)
            except _NOT_ABOUT_AN_ITEM:
                raise
            except SingleTableError as error:
                key = self._key(stored)
                if not self._has_failed(key):
                    self._fail(failure(key, getattr(error, "message", str(error))))
            yield from self._lease.keep()

    def _fail(self, text: str) -> None:
        self._failed.append(text)
        super()._fail(text)

    def _has_failed(self, key: Item) -> bool:
        """Tell whether an item of this page is a failure already: a verify may have found it unreadable."""
        return any(text.startswith(failure(key, "")) for text in self._failed)

    def _handed(self, schema: EntitySchema) -> list[Function]:
        return [function for function in self._functions if schema.entity in function.kinds]

    def _completed(self, function: Function, schema: EntitySchema, stored: Item) -> Steps[None]:
        """Write what a function returns for an item; call it again, if others have changed something meanwhile."""
        item: Item | None = stored
        for attempt in range(_ATTEMPTS):
            if item is None or schema.is_expired(item, self._session.now_us() / 1_000_000):
                return
            entity = schema.to_entity(item)
            writes: list[list[Write]] = yield Work(partial(function.writes, self._db, entity))
            if not writes:
                return
            if self._is_check and attempt == 0:
                # A writer may have done since the page was read what the function misses.
                item = yield from self._read_again(stored)
                continue
            try:
                if self._writes:
                    yield from self._written(writes)
            except _RACES:
                if attempt + 1 == _ATTEMPTS:
                    raise
                item = yield from self._read_again(stored)
                continue
            self._note_writes(schema, stored, writes)
            return

    def _written(self, writes: list[list[Write]]) -> Steps[None]:
        for together in writes:
            meter = Meter()
            # By itself, a write needs no transactions of the target.
            steps: Steps[Any] = (
                write(self._session, together[0])
                if len(together) == 1
                else write_together(self._session, together)
            )
            yield from meter.measured(steps)
            yield from self._pay(meter.units, len(together))

    def _read_again(self, stored: Item) -> Steps[Item | None]:
        params = {
            "TableName": self._session.table,
            "Key": self._key(stored),
            "ConsistentRead": True,
            "ReturnConsumedCapacity": "TOTAL",
        }
        answer = yield Call("GetItem", params)
        yield from self._pay(read_units(answer), 1)
        item: Item | None = answer.get("Item")
        return item

    def _note_writes(self, schema: EntitySchema, stored: Item, writes: list[list[Write]]) -> None:
        self._add(changed=1)
        if len(self.outcome.samples) < SAMPLES_MAX:
            shown = [_shown(each) for together in writes for each in together]
            key = plain(self._key(stored))
            self.outcome.samples.append({"entity": schema.name, "key": key, "writes": shown})


def _shown(wanted: Any) -> str:
    target = wanted.entity if isinstance(wanted, Create | Put) else wanted.target
    entity = target.entity if isinstance(target, Get) else type(target)
    return f"{type(wanted).__name__} {entity.__name__}"
