"""Deleting with all that belongs to it, while others may still write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from singletable import Cascade, Get
from singletable_systems.kefir.design import Kefir

Progress = Callable[[Cascade], object]


class Deletion:
    """Deletes items with what they own, and adds up what is gone; `progress` is told as it goes on."""

    def __init__(self, db: Kefir, progress: Progress | None = None) -> None:
        self._db = db
        self._progress = progress
        self.done = Cascade()

    def delete(self, target: Get[Any]) -> None:
        """Delete an item and what it owns; then look again for what was added before the item itself was gone.

        Who adds something demands, in the same transaction, that its owner is there. So after the second look
        there is nothing left, and nothing can come.
        """
        self._delete(target)
        if self._db.delete_plan(target).total:
            self._delete(target)

    def _delete(self, target: Get[Any]) -> None:
        counts, units = Counter(self.done.counts), self.done.units

        def tell(part: Cascade) -> None:
            self.done = Cascade(dict(counts + Counter(part.counts)), units + part.units)
            if self._progress is not None:
                self._progress(self.done)

        self._db.delete(target, progress=tell)
