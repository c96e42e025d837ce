"""What is measured of servers: rates, ratios of two rates, latencies; and who could not take part."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Requests a second of one server: the median of the rounds, and the lowest and the highest of them."""

    operation: str
    server: str
    rate: float
    rate_low: float
    rate_high: float
    p50_ms: float
    p99_ms: float
    requests: int
    shape: str = ""  # of the items, where more than one is measured
    version: str = ""
    server_cpu: float | None = None  # cores that the server kept busy
    elsewhere_cpu: float | None = None  # cores busy with anything but server and wrk, in the worst round

    @property
    def reached(self) -> bool | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRatio:
    """How many times as fast one server is as another: the median of the ratios of each round."""

    operation: str
    server: str
    against: str
    ratio: float
    ratio_low: float
    ratio_high: float
    ratio_min: float | None = None
    shape: str = ""

    @property
    def reached(self) -> bool | None:
        return None if self.ratio_min is None else self.ratio >= self.ratio_min


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """What one client waited beside some work: a stall is its longest wait less its median when all is quiet."""

    server: str
    beside: str
    client: str
    requests: int
    quiet_p50_ms: float
    quiet_max_ms: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    stall_ms: float
    stall_ms_max: float | None = None

    @property
    def reached(self) -> bool | None:
        return None if self.stall_ms_max is None else self.stall_ms <= self.stall_ms_max


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A server that could not be measured here, and why."""

    server: str
    why: str

    @property
    def reached(self) -> bool | None:
        return None


def ratio_of(
    operation: str,
    *,
    server: str,
    rates: Sequence[float],
    against: str,
    rates_against: Sequence[float],
    ratio_min: float | None = None,
    shape: str = "",
) -> RateRatio:
    """Set the rates of two servers against each other, round by round."""
    ratios = [rate / other for rate, other in zip(rates, rates_against, strict=True)]
    return RateRatio(
        operation=operation,
        server=server,
        against=against,
        ratio=round(statistics.median(ratios), 3),
        ratio_low=round(min(ratios), 3),
        ratio_high=round(max(ratios), 3),
        ratio_min=ratio_min,
        shape=shape,
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The value that so many percent of the sorted values do not exceed."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
