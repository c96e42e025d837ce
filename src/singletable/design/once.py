"""Writes that a handler asks for once: however often a change is delivered, they are carried out a single time.

    @on(Comment)
    def count(self, change: Change[Comment]) -> Iterator[Once]:
        if change.kind == "create":
            totals = DayTotals(day=change.entity.created_at.date())
            yield Once(Update(totals, comments=Add(1)), missing=(totals,))

Nothing here carries them out: that is in `singletable.design.doing_once`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from singletable.design.arguments import require_kind, require_members
from singletable.design.entity import Entity
from singletable.design.writes import WRITES, Write


@dataclass(frozen=True, slots=True, init=False)
class Once:
    """Carry out writes together, and only the first time that a change is delivered.

    They are one transaction with an item that remembers the change. A handler that yields several for one change
    yields them in the same order each time, or gives each a `name`. Where a write finds no item, those of
    `missing` are created first.
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
