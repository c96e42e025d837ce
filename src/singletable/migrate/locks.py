"""A pass that moves the locks of unique values from the sort keys that they had to those that they have now.

Each lock is moved by itself, so that its value is locked at every moment. When all have moved, the table says so,
and from then on nobody looks for old ones. Whoever begins again finds what is done to be right.
"""

from __future__ import annotations

from typing import Any

from singletable.client.calls import Steps
from singletable.design.kept.unique import is_lock, lock_move, mark_moved, old_forms, old_locks
from singletable.design.model.schema import LockForm
from singletable.design.session.session import Session
from singletable.design.upkeep.verify import move_lock
from singletable.design.values.items import Item
from singletable.errors import DesignError, IndexMissingError, TableMissingError
from singletable.migrate.applying import failure
from singletable.migrate.forms import plain
from singletable.migrate.passes import SAMPLES_MAX, Pass
from singletable.migrate.recomputing import Meter
from singletable.migrate.steps import MoveLocks


class LockPass(Pass):
    """A pass over all locks of a table."""

    def __init__(self, step: MoveLocks, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lock_forms = _forms(self._session, step)

    def _is_passed_over(self, item: Item) -> bool:
        return not is_lock(self._session, item)

    def _deal(self, items: list[Item]) -> Steps[None]:
        for lock in items:
            self._add(seen=1)
            if self._lock_forms.isdisjoint(old_forms(self._session, lock)):
                continue
            key, meter = self._session.catalog.key_in(lock), Meter()
            try:
                if (yield from meter.measured(self._moved(key))):
                    self._note_move(key)
            except (IndexMissingError, TableMissingError):
                raise  # not about this lock
            except DesignError as error:
                self._fail(failure(key, error))
            yield from self._pay(meter.units, 1)
            yield from self._lease.keep()

    def _moved(self, key: Item) -> Steps[bool]:
        """Move one lock; in a dry run, say whether it would be."""
        if self._writes:
            return (yield from move_lock(self._session, key))
        return bool((yield from lock_move(self._session, key)))

    def _note_move(self, key: Item) -> None:
        self._add(moved=1)
        if len(self.outcome.samples) < SAMPLES_MAX:
            self.outcome.samples.append({"lock": plain(key)})


def end_move(session: Session, step: MoveLocks) -> Steps[bool]:
    """Say in the table that all locks have moved; tell whether some may have been put under old keys meanwhile."""
    forms = _forms(session, step)
    if not forms:
        return False
    session.known_locks.forget()
    left = yield from old_locks(session)
    yield from mark_moved(session, forms)
    return not forms.isdisjoint(left)


def _forms(session: Session, step: MoveLocks) -> frozenset[LockForm]:
    """Return what a step moves, as far as a later version of the design still has it."""
    return frozenset(
        form for form in session.catalog.old_locks if form.name in step.entities.get(form.entity, ())
    )
