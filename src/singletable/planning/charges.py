"""What one call takes: units of the table and of each index, with the arithmetic of each line as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from singletable.planning.amounts import Amount, total

Direction = Literal["read", "write"]
By = Literal["call", "stream"]


@dataclass(frozen=True, slots=True)
class Charge:
    """Units that one step of a call takes of the table, or of an index."""

    operation: str  # GetItem, Query, PutItem, …
    direction: Direction
    units: Amount
    why: str
    entity: str = ""
    index: str | None = None  # None: the table
    by: By = "call"  # a consumer of the stream takes it, after the call has ended


@dataclass(frozen=True, slots=True)
class CallUnits:
    """What one call takes, step by step. `notes` say what was assumed, and what is not counted."""

    kind: str  # pattern, create, update, delete, service
    of: str
    charges: tuple[Charge, ...]
    notes: tuple[str, ...] = ()

    def units(
        self, direction: Direction, *, by: str | None = None, index: str | Literal["*"] | None = "*"
    ) -> Amount:
        """Return the units of reading or writing: of the call alone, or with what its stream record leads to."""
        return total(
            charge.units
            for charge in self.charges
            if charge.direction == direction
            and (by is None or charge.by == by)
            and (index == "*" or charge.index == index)
        )

    @property
    def reads(self) -> Amount:
        """The read units of the call, and of what follows from it."""
        return self.units("read")

    @property
    def writes(self) -> Amount:
        """The write units of the call, and of what follows from it."""
        return self.units("write")


def many(charges: Iterable[Charge], times: Amount, *, why: str = "") -> Iterator[Charge]:
    """Yield charges of something that is done so many times."""
    for each in charges:
        text = f"{why}{each.why}"
        yield replace(each, units=each.units * times, why=text)


def together(kind: str, of: str, calls: Iterable[CallUnits]) -> CallUnits:
    """Return several calls as one."""
    found = list(calls)
    notes = dict.fromkeys(note for call in found for note in call.notes)
    return CallUnits(kind, of, tuple(charge for call in found for charge in call.charges), tuple(notes))
