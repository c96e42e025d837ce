"""Optimistic concurrency: the loser of a race between writers decides again, by the state that the winner left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

TRIES_MAX: Final = 20


def decide_again(work: Callable[[], T], *, after: tuple[type[Exception], ...]) -> T:
    """Do a piece of work and return its result; retry after these errors, up to a maximum of tries."""
    for _ in range(TRIES_MAX - 1):
        try:
            return work()
        except after:
            continue
    return work()
