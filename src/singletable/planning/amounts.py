"""Numbers that vary: at least, as expected, at most. Sizes, counts and units of a plan are such numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that varies: at least, as expected, at most."""

    low: float
    mean: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Amount:
        """Return a number that does not vary."""
        return cls(value, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether it does not vary."""
        return self.low == self.high

    def __contains__(self, value: float) -> bool:
        return self.low - 1e-9 <= value <= self.high + 1e-9

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.low + other.low, self.mean + other.mean, self.high + other.high)

    def __mul__(self, factor: float | Amount) -> Amount:
        by = factor if isinstance(factor, Amount) else Amount.exactly(factor)
        return Amount(self.low * by.low, self.mean * by.mean, self.high * by.high)

    def __str__(self) -> str:
        if self.is_exact:
            return f"{self.mean:,.6g}"
        return f"{self.mean:,.6g} ({self.low:,.6g} to {self.high:,.6g})"

    def at_most(self, bound: float) -> Amount:
        """Return the number, cut off at a bound."""
        return Amount(min(self.low, bound), min(self.mean, bound), min(self.high, bound))

    def or_nothing(self) -> Amount:
        """Return the number of something that may not happen at all; it is expected to."""
        return Amount(0.0, self.mean, self.high)

    def at_worst(self) -> Amount:
        """Return the number of something that is not expected, and possible."""
        return Amount(0.0, 0.0, self.high)


NOTHING = Amount.exactly(0.0)


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum."""
    return sum(amounts, start=NOTHING)


def stepped(amount: Amount, step: float, *, least: float = 1.0) -> Amount:
    """Return how many whole steps an amount takes, each begun one counted: 5 KB are two steps of 4 KB.

    Of sizes that vary, half a step more than the mean is expected: sizes end anywhere in their last step. That is
    exact where all of them end in the same one.
    """

    def steps(value: float) -> float:
        return max(least, float(-(-value // step)))

    low, high = steps(amount.low), steps(amount.high)
    mean = low if low == high else min(max(amount.mean / step + 0.5, low), high)
    return Amount(low, mean, high)
