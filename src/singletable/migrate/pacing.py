"""How fast a migration may go: so many units, or items, a second. It waits with `Wait`, by the client's clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from singletable.client.base import Client
from singletable.client.calls import Steps, Wait
from singletable.errors import MigrationError

Unit = Literal["units", "items"]

_TEXT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(units|items)?")


@dataclass(frozen=True, slots=True)
class Pace:
    """A limit: capacity units, or items, a second."""

    per_s: float
    unit: Unit = "units"

    def __post_init__(self) -> None:
        if not self.per_s > 0:
            raise MigrationError(f"a rate is more than 0, not {self.per_s:g}")

    @classmethod
    def parse(cls, text: str) -> Pace:
        """Read `200`, `200units` or `50items`."""
        found = _TEXT.fullmatch(text.strip())
        if found is None:
            raise MigrationError(f"{text!r} is no rate", hint="200 (units a second), or 50items")
        return cls(float(found[1]), "items" if found[2] == "items" else "units")


class Pacer:
    """Keeps a pace. What is spent is paid for by waiting; time that was not used is not saved up."""

    def __init__(self, client: Client, pace: Pace | None) -> None:
        self._clock = client.clock
        self._pace = pace
        # A target that tells no units is paced by items.
        self._counts_units = (
            pace is not None and pace.unit == "units" and client.capabilities.consumed_capacity
        )
        self._free_us = self._clock.elapsed_us()

    def page_items(self, most: int) -> int:
        """Return how many items to ask for at once, so that no page takes long at this pace."""
        return most if self._pace is None else max(1, min(most, int(self._pace.per_s)))

    def spent(self, *, units: float, items: int) -> float:
        """Note what was spent; return the seconds to wait before more is."""
        if self._pace is None:
            return 0.0
        cost = units if self._counts_units else items
        now_us = self._clock.elapsed_us()
        self._free_us = max(self._free_us, now_us) + int(cost / self._pace.per_s * 1_000_000)
        return (self._free_us - now_us) / 1_000_000

    def pay(self, *, units: float, items: int) -> Steps[None]:
        """Wait for what was spent."""
        seconds = self.spent(units=units, items=items)
        if seconds > 0:
            yield Wait(seconds)
