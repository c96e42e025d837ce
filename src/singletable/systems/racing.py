"""Races of several who write: who was slower decides again by what the faster one has left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

TRIES_MAX: Final = 20


def decide_again(work: Callable[[], T], *, after: tuple[type[Exception], ...]) -> T:
    """Return what a piece of work returns; do it again after these errors, until they come too often."""
    for _ in range(TRIES_MAX - 1):
        try:
            return work()
        except after:
            continue
    return work()
