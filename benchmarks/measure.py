"""Interleaved timing: every contender runs a small chunk in turn, so that a noisy second hits them all.

Each call is timed on its own. A round is a number of turns, some tenths of a second; in each round, the
medians of two contenders have a ratio. The result is the median of these ratios, with the lowest and the
highest: a machine that changes its pace between rounds (a disk does) leaves it alone.
"""

from __future__ import annotations

import gc
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(slots=True, kw_only=True)
class Contender:
    """Something to time: `run` is called with what `prepare` made outside the clock."""

    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], object]
    rounds_ns: list[list[int]] = field(default_factory=list)

    def all_ns(self) -> list[int]:
        return [duration for round_ns in self.rounds_ns for duration in round_ns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long to measure: `rounds` of `turns`, each a chunk of calls for every contender."""

    rounds: int
    turns: int
    calls: int

    def shorter(self, divisor: int) -> Plan:
        return Plan(rounds=self.rounds, turns=max(1, self.turns // divisor), calls=self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one contender took, in microseconds a call."""

    name: str
    median_us: float
    p99_us: float
    mean_us: float
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A subject against its floor; `ratio_max` or `ratio_min` is the target, where there is one."""

    name: str
    subject: Summary
    floor: Summary
    ratio: float
    ratio_low: float
    ratio_high: float
    ratio_max: float | None = None
    ratio_min: float | None = None

    @property
    def reached(self) -> bool | None:
        if self.ratio_min is not None:
            return self.ratio >= self.ratio_min
        return None if self.ratio_max is None else self.ratio <= self.ratio_max


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A figure that stands for itself; `value_max` is the target, where there is one."""

    name: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    value_max: float | None = None

    @property
    def reached(self) -> bool | None:
        return None if self.value_max is None else self.value <= self.value_max


Result = Comparison | Reading


def interleave(contenders: Sequence[Contender], plan: Plan, *, warm_up: bool = True) -> None:
    """Run every contender in turn; the timings stand in the contenders. A round of warm-up is dropped."""
    for contender in contenders:
        contender.rounds_ns = []
    with garbage_collected_between_rounds():
        for number in range(plan.rounds + warm_up):
            for contender in contenders:
                contender.rounds_ns.append([])
            for turn in range(plan.turns):
                # Nobody always runs in the wake of the same neighbour.
                first = (number + turn) % len(contenders)
                for contender in (*contenders[first:], *contenders[:first]):
                    inputs = [contender.prepare() for _ in range(plan.calls)]
                    contender.rounds_ns[-1] += time_each(contender.run, inputs)
            gc.collect()
    if warm_up:
        for contender in contenders:
            del contender.rounds_ns[0]


def time_each(run: Callable[[Any], object], inputs: Sequence[Any]) -> list[int]:
    """Time every call; what it returns is dropped inside the clock, for that is work too."""
    clock = time.perf_counter_ns
    durations_ns = []
    for value in inputs:
        start_ns = clock()
        run(value)
        durations_ns.append(clock() - start_ns)
    return durations_ns


@contextmanager
def garbage_collected_between_rounds() -> Iterator[None]:
    """Keep the collector out of the timings, and the benchmark's own objects out of the collector."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def summary(contender: Contender) -> Summary:
    durations_ns = sorted(contender.all_ns())
    return Summary(
        name=contender.name,
        median_us=round(statistics.median(durations_ns) / 1000, 2),
        p99_us=round(durations_ns[int(len(durations_ns) * 0.99)] / 1000, 2),
        mean_us=round(statistics.fmean(durations_ns) / 1000, 2),
        calls=len(durations_ns),
    )


def compare(
    name: str,
    *,
    subject: Contender,
    floor: Contender,
    ratio_max: float | None = None,
    ratio_min: float | None = None,
) -> Comparison:
    """Set two contenders of one interleaved run against each other."""
    ratios = [
        statistics.median(subject_ns) / statistics.median(floor_ns)
        for subject_ns, floor_ns in zip(subject.rounds_ns, floor.rounds_ns, strict=True)
    ]
    return Comparison(
        name=name,
        subject=summary(subject),
        floor=summary(floor),
        ratio=round(statistics.median(ratios), 3),
        ratio_low=round(min(ratios), 3),
        ratio_high=round(max(ratios), 3),
        ratio_max=ratio_max,
        ratio_min=ratio_min,
    )
