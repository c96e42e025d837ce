"""The health check: writes a probe, reads it back and takes it away, and leaves no trace (LC-13).

A probe has a key of its own, which no restaurant has and no other check uses, and is in no index. Where it cannot
be deleted, its time to live takes it away.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from singletable.clock import Clock
from singletable.errors import SingleTableError
from singletable_systems.lunch_cache.model.design import LunchCache

Step = Literal["write", "read", "delete"]

_PROBE_BITS: Final = 63


@dataclass(slots=True)
class Health:
    """The result of a health check: how long each step took, and why one failed."""

    latency_us: dict[Step, int] = field(default_factory=dict)
    failures: dict[Step, str] = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        verdict = "healthy" if self.is_healthy else "unhealthy"
        steps = [f"{step} {took_us / 1000:.1f} ms" for step, took_us in self.latency_us.items()]
        return ", ".join([verdict, *steps, *[f"{step} failed: {why}" for step, why in self.failures.items()]])


def check_health(
    db: LunchCache, *, new_probe: Callable[[], int] = lambda: secrets.randbits(_PROBE_BITS)
) -> Health:
    """Write, read and delete a probe. A refusal or a timeout of the target is a result, and is not raised."""
    health, probe = Health(), new_probe()
    with _step(health, "write", db.clock):
        db.write_probe(probe).run()
    if health.is_healthy:
        with _step(health, "read", db.clock):
            db.read_probe(probe).one()
    # Also where writing has failed: it may have been carried out, and its answer lost.
    with _step(health, "delete", db.clock):
        db.delete_probe(probe).run()
    return health


@contextmanager
def _step(health: Health, step: Step, clock: Clock) -> Iterator[None]:
    began_us = clock.elapsed_us()
    try:
        yield
    except SingleTableError as error:
        health.failures[step] = str(error).partition("\n")[0]  # without the hint below it
    finally:
        health.latency_us[step] = clock.elapsed_us() - began_us
