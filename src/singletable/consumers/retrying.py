"""How often a batch that fails is tried again, and how long is waited in between."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`retries` more tries, each after about twice the time; None: for ever, as AWS Lambda does by itself."""

    retries: int | None
    backoff_s: float
    backoff_s_max: float

    def __post_init__(self) -> None:
        if self.retries is not None and self.retries < 0:
            raise ValueError("retries is a number from 0, or None to try for ever")
        if not 0 <= self.backoff_s <= self.backoff_s_max:
            raise ValueError("backoff_s is a number of seconds from 0 to backoff_s_max")

    def goes_on(self, failures: int) -> bool:
        """Tell whether a batch that has failed so often is tried again."""
        return self.retries is None or failures <= self.retries

    def wait_s(self, failures: int) -> float:
        """Return how long is waited after that many failures. Those who failed together do not return together."""
        longest_s = min(self.backoff_s_max, self.backoff_s * 2.0 ** min(failures - 1, 64))
        return random.uniform(longest_s / 2, longest_s)
