"""A pass that makes what is kept of the items that are there: locks, numbers, copies and derived items.

Each item is checked as `verify` checks it, and put right while nothing has changed. Whoever begins again finds
what is done to be right. A unique value that two items have already is for people: it is listed, and ends the run.
"""

from __future__ import annotations

from collections.abc import Generator
from hashlib import blake2b
from typing import Any, Final, TypeVar

from singletable.client.calls import Call, Steps, Together, read_units
from singletable.design.kept.aggregate import aggregates_of
from singletable.design.kept.kind import Finding, Invariant
from singletable.design.kept.unique import locks_of
from singletable.design.model.entity import Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.session.session import Session
from singletable.design.upkeep.verify import kept_invariants, verified_by
from singletable.design.values.items import Item, shown_key
from singletable.errors import DesignError, IndexMissingError, TableMissingError
from singletable.migrate.applying import failure
from singletable.migrate.passes import SAMPLES_MAX, Pass
from singletable.migrate.steps import Backfill, MigrationStep, Recompute, RenameAttributes

T = TypeVar("T")

_METERED: Final = frozenset(
    {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem", "TransactWriteItems"}
)


class RecomputePass(Pass):
    """A pass over all items of a table, for what is kept of them."""

    def __init__(self, step: Recompute, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.step = step
        self._taken: dict[bytes, str] = {}  # by a dry run: locks, and who would have them

    def _deal(self, items: list[Item]) -> Steps[None]:
        for stored in items:
            try:
                item = self._imagined(stored)
            except DesignError as error:
                self._add(seen=1)
                self._fail(failure(self._key(stored), error))
                continue
            schema = self._session.catalog.schema_of(item)
            self._add(seen=1)
            if schema is None:
                self._note_stranger(stored)
            checks = [] if schema is None else checks_of_step(self._session, schema, self.step)
            if schema is None or not checks:
                continue
            meter = Meter()
            try:
                yield from meter.measured(self._recomputed(schema, item, checks))
            except (IndexMissingError, TableMissingError):
                raise  # not about this item
            except DesignError as error:
                self._fail(failure(self._key(item), error))
            yield from self._pay(meter.units, 1)
            yield from self._lease.keep()

    def _recomputed(self, schema: EntitySchema, item: Item, checks: list[Invariant]) -> Steps[None]:
        """Put right what is kept of one item; in a dry run, say what would be."""
        entity = schema.to_entity(item)
        if self._writes:
            found = yield from verified_by(self._session, schema, entity, checks, repair=True)
            wrong: list[tuple[Any, bool]] = [(each, each.is_repairable) for each in found]
            shared: dict[str, str] = {}
        else:
            findings: list[Finding] = []
            for check in checks:
                findings += yield from check.find(self._session, entity)
            shared = self._imagined_locks(schema, entity, item)
            wrong = [(each, bool(each.actions) and each.field not in shared) for each in findings]
        if any(is_repairable for _, is_repairable in wrong):
            self._note_change(schema, item, [each for each, is_repairable in wrong if is_repairable])
        left = [
            shared.get(each.field) or _left(entity, each)
            for each, is_repairable in wrong
            if not is_repairable
        ]
        if left:
            self._fail(failure(self._key(item), "; ".join(left)))

    def _note_change(self, schema: EntitySchema, item: Item, wrong: list[Any]) -> None:
        self._add(changed=1)
        if len(self.outcome.samples) < SAMPLES_MAX:
            fields = [each.field or each.entity for each in wrong]
            self.outcome.samples.append(
                {"entity": schema.name, "key": self._shown(item), "recomputes": fields}
            )

    def _imagined_locks(self, schema: EntitySchema, entity: Entity, item: Item) -> dict[str, str]:
        """Take the locks of an item as if they were written; say by their fields which another item has."""
        uniques = self.step.entities.get(schema.name, ())
        is_over = schema.is_expired(item, self._session.now_us() / 1_000_000)
        if is_over or not any(unique.name in uniques for unique in schema.uniques):
            return {}
        mine, shared = shown_key(self._key(item)), {}
        for lock in locks_of(self._session.catalog, schema, entity).values():
            digest = blake2b(shown_key(lock.key).encode(), digest_size=16).digest()
            other = self._taken.setdefault(digest, mine)
            if other != mine:
                values = " and ".join(f"{name} {value!r}" for name, value in lock.values.items())
                shared[", ".join(lock.values)] = f"{values} is also that of {other}"
        return shared

    def _shown(self, item: Item) -> dict[str, Any]:
        return {name: next(iter(value.values())) for name, value in self._key(item).items()}


def _left(entity: Entity, wrong: Any) -> str:
    """Say what nobody can put right: a unique value that another item has too, or a child that cannot be read."""
    if isinstance(wrong.found, str):
        return f"{wrong.field or wrong.entity} cannot be worked out: {wrong.found}"
    names = [name for name in wrong.field.split(", ") if hasattr(entity, name)]
    values = " and ".join(f"{name} {getattr(entity, name)!r}" for name in names)
    other = shown_key(wrong.found) if isinstance(wrong.found, dict) else "another item"
    return f"{values or wrong.field} is also that of {other}"


def checks_of_step(session: Session, schema: EntitySchema, step: Recompute) -> list[Invariant]:
    """Return the checks that a step makes of the items of an entity."""
    derived = {*step.derived.get(schema.name, ())}
    derived |= {schema.name} & {name for made in step.derived.values() for name in made}
    return kept_invariants(session, schema, step.entities.get(schema.name, ()), derived)


def counted_by_step(session: Session, step: Recompute) -> set[str]:
    """Name the entities that numbers of a step are made from: without one of their items, those are wrong."""
    return {
        each.link.child.name
        for each in aggregates_of(session.catalog).all
        if each.field in step.entities.get(each.link.parent.name, ())
    }


def waits_for(session: Session, step: Recompute, earlier: list[MigrationStep]) -> MigrationStep | None:
    """Return a step without which a dry run cannot count: it writes what this one reads."""
    places = [
        (each.link.child.name, each.place.name)
        for each in aggregates_of(session.catalog).all
        if each.field in step.entities.get(each.link.parent.name, ())
    ]
    for one in earlier:
        match one:
            case RenameAttributes():
                return one
            case Backfill(entities) if any(place in entities.get(child, ()) for child, place in places):
                return one
    return None


class Meter:
    """Adds up the units of the calls that pass through it, and asks for them where nobody has."""

    def __init__(self) -> None:
        self.units = 0.0

    def measured(self, steps: Steps[T]) -> Steps[T]:
        """Go through steps, and measure them."""
        answer: Any = None
        error: Exception | None = None
        try:
            while True:
                try:
                    step = steps.throw(error) if error is not None else steps.send(answer)
                except StopIteration as end:
                    value: T = end.value
                    return value
                answer, error = None, None
                try:
                    answer = yield _metered(step)
                except Exception as raised:
                    error = raised
                    continue
                for each in answer if isinstance(answer, list) else [answer]:
                    self.units += read_units(each or {})
        finally:
            if isinstance(steps, Generator):
                steps.close()


def _metered(step: Any) -> Any:
    match step:
        case Call(operation, params) if operation in _METERED and "ReturnConsumedCapacity" not in params:
            return Call(operation, {**params, "ReturnConsumedCapacity": "TOTAL"})
        case Together(calls):
            return Together(tuple(_metered(call) for call in calls))
        case _:
            return step
