"""What models share: estimates of how often things are done, in the units in which documents state them.

A month has 30 days, as in the documents. Users are busy at the same hours: the busiest second is taken to be ten
times the mean, and a worker is as busy at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict, Unpack

from singletable import Entity, Load, Rate, Writes
from singletable.systems import Service

DAYS: Final = 30
PEAK: Final = 10
_MONTH_S: Final = DAYS * 86_400
_PEAK_TEXT: Final = f"; at the peak {PEAK} times the mean"

# How often, or how often, how many items one call reads, and the sentence that these rest on.
Times = float | tuple[float, float, str]
Loads = Mapping[type[Entity] | str, Writes | Load]


class LoadOptions(TypedDict, total=False):
    """What a load may say beside how often and why; by the names that `Load` has for it."""

    hottest: float | None
    fails: float | None
    items: float | None
    changes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Makes loads of what people do: of so many users, or of nobody knows how many."""

    users: int | None = None

    def monthly(self, times: float, because: str, **more: Unpack[LoadOptions]) -> Load:
        """Return the load of what all of them together do so often in a month."""
        return Load(
            because=because + _PEAK_TEXT,
            peak=times / _MONTH_S * PEAK,
            monthly=times if self.users is None else None,
            per_user=None if self.users is None else times / self.users,
            **more,
        )

    def daily(self, times: float, because: str, **more: Unpack[LoadOptions]) -> Load:
        """Return the load of what all of them together do so often in a day."""
        return self.monthly(times * DAYS, because, **more)

    def per_user(self, monthly: float, because: str, **more: Unpack[LoadOptions]) -> Load:
        """Return the load of what each user does so often in a month."""
        assert self.users is not None
        return self.monthly(monthly * self.users, because, **more)

    def each_daily(self, because: str, **times: Times) -> dict[type[Entity] | str, Writes | Load]:
        """Return the loads of several patterns that rest on one sentence, by their names."""
        return {name: self._each(self.daily, each, because) for name, each in times.items()}

    def each_per_user(self, because: str, **monthly: Times) -> dict[type[Entity] | str, Writes | Load]:
        """Return the loads of several patterns that rest on one sentence, by their names."""
        return {name: self._each(self.per_user, each, because) for name, each in monthly.items()}

    @staticmethod
    def _each(estimate: Callable[..., Load], times: Times, because: str) -> Load:
        if not isinstance(times, tuple):
            return estimate(times, because)
        often, items, why = times
        return estimate(often, f"{because}; {why}", items=items)


def worker(monthly: float, because: str, **more: Unpack[LoadOptions]) -> Load:
    """Return the load of what a worker does, however many users there are."""
    return Load(because=because, peak=monthly / _MONTH_S, monthly=monthly, **more)


# How often, why, the function or functions, the patterns that they ask, the entities that they write, and the
# steps of one call (`singletable.systems.steps`).
Row = tuple[
    float, str, Callable[..., Any] | tuple[Callable[..., Any], ...], str, tuple[type[Entity], ...], str
]


def services(estimate: Callable[[float, str], Load], *rows: Row) -> tuple[Service, ...]:
    """Return services, each under the name of the first of its functions."""
    return tuple(
        Service(
            _all(calls)[0].__qualname__,
            _all(calls),
            estimate(times, because),
            tuple(asks.split()),
            writes,
            steps=steps,
        )
        for times, because, calls, asks, writes, steps in rows
    )


def _all(calls: Callable[..., Any] | tuple[Callable[..., Any], ...]) -> tuple[Callable[..., Any], ...]:
    return calls if isinstance(calls, tuple) else (calls,)


def rates_of(loads: Loads, users: int | None = None) -> dict[type[Entity], Rate]:
    """Return the mean rates of writing a second that follow from loads."""
    return {
        entity: Rate(*(_per_second(load, users) for load in (writes.create, writes.update, writes.delete)))
        for entity, writes in _writes(loads)
    }


def _writes(loads: Loads) -> Iterator[tuple[type[Entity], Writes]]:
    for of, load in loads.items():
        if isinstance(of, type) and isinstance(load, Writes):
            yield of, load


def _per_second(load: Load | None, users: int | None) -> float:
    if load is None:
        return 0.0
    monthly = (load.per_user or 0.0) * (users or 0) if load.monthly is None else load.monthly
    return monthly / _MONTH_S
