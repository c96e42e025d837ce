"""Deleting with all that belongs to it, while others may still write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from singletable.design import Cascade, Delete, Design, Entity, Get

DeletionProgress = Callable[[Cascade], object]


class Deletion:
    """Deletes items with the items that they own (a cascade), and counts them; `progress` gets the counts."""

    def __init__(self, db: Design, progress: DeletionProgress | None = None) -> None:
        self._db = db
        self._progress = progress
        self.done = Cascade()

    def delete(self, target: Get[Any]) -> None:
        """Delete an item and its owned items; then look again for items that were added before it was gone.

        A writer that adds an owned item checks, in the same transaction, that the owner exists. So after the
        second look nothing is left, and nothing can be added.
        """
        self._delete(target)
        if self._db.delete_plan(target).total:
            self._delete(target)

    def delete_together(self, *entities: Entity) -> None:
        """Delete items in one transaction: items that own nothing, and only make sense together."""
        units = self._db.transaction(*(Delete(entity) for entity in entities)).units
        counts = Counter(self.done.counts) + Counter(type(entity).__name__ for entity in entities)
        self.done = Cascade(dict(counts), self.done.units + units)
        if self._progress is not None:
            self._progress(self.done)

    def _delete(self, target: Get[Any]) -> None:
        counts, units = Counter(self.done.counts), self.done.units

        def tell(part: Cascade) -> None:
            self.done = Cascade(dict(counts + Counter(part.counts)), units + part.units)
            if self._progress is not None:
                self._progress(self.done)

        self._db.delete(target, progress=tell)
