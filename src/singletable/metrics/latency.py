"""How long successful requests took: a histogram with bounds that grow with the value, and its percentiles.

Each decade from a microsecond to 100 seconds has 70 buckets: steps of 0.05 up to 2, of 0.1 up to 5, of 0.25 up
to 10. No bucket is wider than 5 % of its lower bound, so its middle is at most 2.5 % off any value in it. The
bounds are round numbers: those that dashboards ask for are among them, and are counted exactly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

RELATIVE_ERROR_MAX: Final = 0.025  # of a percentile, from a microsecond to 100 seconds

_MULTIPLES: Final = (*range(100, 200, 5), *range(200, 500, 10), *range(500, 1000, 25))  # hundredths
_DECADES: Final = range(8)
_HUNDREDTHS_OF_US: Final = 100_000_000  # in a second

# Bucket i holds latencies above bound i - 1 and up to bound i; the last has no upper bound.
BOUNDS_S: Final = (
    *(multiple * 10**decade / _HUNDREDTHS_OF_US for decade in _DECADES for multiple in _MULTIPLES),
    100.0,
)
_MS: Final = 1000.0
_NONE: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Statistics of SuccessfulRequestLatency. Without a request, all of them are 0."""

    count: int = 0
    sum_s: float = 0.0
    min_s: float = 0.0
    max_s: float = 0.0
    buckets: Mapping[int, int] = field(default_factory=lambda: _NONE, repr=False)  # requests by bucket

    @property
    def average_ms(self) -> float:
        return self.sum_s / self.count * _MS if self.count else 0.0

    @property
    def sum_ms(self) -> float:
        return self.sum_s * _MS

    @property
    def min_ms(self) -> float:
        return self.min_s * _MS

    @property
    def max_ms(self) -> float:
        return self.max_s * _MS

    @property
    def p50_ms(self) -> float:
        return self.percentile_ms(50)

    @property
    def p90_ms(self) -> float:
        return self.percentile_ms(90)

    @property
    def p99_ms(self) -> float:
        return self.percentile_ms(99)

    @property
    def p99_9_ms(self) -> float:
        return self.percentile_ms(99.9)

    def percentile_ms(self, percent: float) -> float:
        """Return the latency that this percentage of the requests did not exceed, to 2.5 %."""
        if not 0 < percent <= 100:
            raise ValueError(f"a percentile is above 0 and at most 100, not {percent}")
        rank = math.ceil(self.count * percent / 100)
        for bucket in sorted(self.buckets):
            rank -= self.buckets[bucket]
            if rank <= 0:
                return min(max(_middle_s(bucket), self.min_s), self.max_s) * _MS
        return 0.0

    def since(self, earlier: Latency) -> Latency:
        """Return the requests after `earlier`. Their minimum and maximum are known to their buckets only."""
        if self.count < earlier.count:  # the table was forgotten in between, and counts anew
            return self
        buckets = {
            bucket: count - earlier.buckets.get(bucket, 0)
            for bucket, count in self.buckets.items()
            if count > earlier.buckets.get(bucket, 0)
        }
        if not buckets:
            return Latency()
        return Latency(
            count=self.count - earlier.count,
            sum_s=self.sum_s - earlier.sum_s,
            min_s=max(self.min_s, _lower_s(min(buckets))),
            max_s=min(self.max_s, _upper_s(max(buckets))),
            buckets=MappingProxyType(buckets),
        )


def merged(parts: Iterable[Latency]) -> Latency:
    """Put histograms together: of several operations, or of several tables."""
    parts = [part for part in parts if part.count]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Latency()
    buckets: Counter[int] = Counter()
    for part in parts:
        buckets.update(part.buckets)
    return Latency(
        count=sum(part.count for part in parts),
        sum_s=math.fsum(part.sum_s for part in parts),
        min_s=min(part.min_s for part in parts),
        max_s=max(part.max_s for part in parts),
        buckets=MappingProxyType(dict(buckets)),
    )


def _lower_s(bucket: int) -> float:
    return BOUNDS_S[bucket - 1] if bucket else 0.0


def _upper_s(bucket: int) -> float:
    return BOUNDS_S[bucket] if bucket < len(BOUNDS_S) else math.inf


def _middle_s(bucket: int) -> float:
    return (_lower_s(bucket) + _upper_s(bucket)) / 2
