"""Systems that run in one database: seeded, with their consumers and workers beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.seed import fill, has_items
from singletable.systems import System, Worker, Workers

if TYPE_CHECKING:
    from singletable.consumers import Consumer
    from singletable.database import Database
    from singletable.design import Design

_DRAINS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Running:
    """A system that runs."""

    system: System
    db: Design
    consumers: tuple[Consumer, ...]
    workers: tuple[Worker, ...]

    @property
    def beside(self) -> list[str]:
        """Say what runs beside the server."""
        consumers = [f"the consumer {consumer.name} of its changes" for consumer in self.consumers]
        return [*consumers, *(f"{worker.name} every {worker.every_s:g} s" for worker in self.workers)]


@contextmanager
def run_systems(database: Database, systems: Iterable[System]) -> Iterator[list[Running]]:
    """Seed systems whose tables are empty, and run what belongs to them until the block ends.

    When the block begins, everything that is due has been done once.
    """
    with ExitStack() as stack:
        running = [_started(stack, database, system) for system in systems]
        for each in running:
            for worker in each.workers:
                worker.step()
            for consumer in each.consumers:
                _catch_up(consumer)
        # Stopped first: a worker may still write what a consumer is to see.
        stack.enter_context(Workers(worker for each in running for worker in each.workers))
        yield running


def _started(stack: ExitStack, database: Database, system: System) -> Running:
    environment: dict[str, Any] = {**system.environment}
    db = stack.enter_context(system.design.open(database, **environment))
    consumers = (stack.enter_context(db.consume()),) if system.has_handlers else ()
    if not has_items(db):
        fill(db, system, "small", db.now().date())
    for consumer in consumers:
        _catch_up(consumer)
    return Running(system, db, consumers, tuple(system.workers(db)))


def _catch_up(consumer: Consumer) -> None:
    """Wait until a consumer has handled everything, also what its handlers have written."""
    for _ in range(_DRAINS_MAX):
        consumer.drain()
        if not consumer.status().records_behind:
            return
