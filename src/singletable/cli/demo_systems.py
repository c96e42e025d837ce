"""Systems that run in one database: seeded, with their consumers and workers beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.filling import fill, has_items
from singletable.cli.progress import progress_bar
from singletable.errors import ConsumerBusyError
from singletable.systems import System, Worker, Workers

if TYPE_CHECKING:
    from singletable.consumers import Consumer
    from singletable.database import Database
    from singletable.design import Design

_DRAINS_MAX: Final = 100
_STEPS_MAX: Final = 20
# Nobody else runs these consumers: one that was killed need not be waited for.
_LEASE_S: Final = 1.0
# A table has this tag, with the day of the data, while it is filled: if that is interrupted, it is done again.
_SEEDING: Final = "singletable:seeding"
_PATIENCE_S: Final = 10.0


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
def run_systems(
    database: Database, systems: Iterable[System], *, patience_s: float = _PATIENCE_S
) -> Iterator[list[Running]]:
    """Seed systems whose tables are empty or half full, and run what belongs to them until the block ends.

    When the block begins, everything that is due has been done once; but for changes of which there are so many
    that somebody would lose patience. Those are handled while the systems run.
    """
    with ExitStack() as stack:
        running = [_started(stack, database, system) for system in systems]
        for each in running:
            for worker in each.workers:
                with suppress(Exception):  # tried again at once, and logged, by the thread that it gets
                    _work_off(worker)
            for consumer in each.consumers:
                _catch_up(consumer, patience_s)
        # Stopped first: a worker may still write what a consumer is to see.
        stack.enter_context(Workers(worker for each in running for worker in each.workers))
        yield running


def _work_off(worker: Worker) -> None:
    """Let a worker do what there is to do, but not for ever: it goes on in its thread."""
    for _ in range(_STEPS_MAX):
        if not worker.run_step().more:
            return


def _started(stack: ExitStack, database: Database, system: System) -> Running:
    environment: dict[str, Any] = {**system.environment}
    db = stack.enter_context(system.design.open(database, **environment))
    _seed(db, database, system)
    consumers = (stack.enter_context(db.consume(lease_s=_LEASE_S)),) if system.has_handlers else ()
    return Running(system, db, consumers, tuple(system.workers(db)))


def _seed(db: Design, database: Database, system: System) -> None:
    arn = database.describe_table(TableName=db.session.table)["Table"]["TableArn"]
    tags = {tag["Key"]: tag["Value"] for tag in database.list_tags_of_resource(ResourceArn=arn)["Tags"]}
    if _SEEDING not in tags and has_items(db):
        return
    day = tags.get(_SEEDING, db.now().date().isoformat())
    database.tag_resource(ResourceArn=arn, Tags=[{"Key": _SEEDING, "Value": day}])
    made = system.seed("small", date.fromisoformat(day))
    with progress_bar() as show:
        fill(db, system, made, lambda done: show(system.name, done, made.count))
    database.untag_resource(ResourceArn=arn, TagKeys=[_SEEDING])


def _catch_up(consumer: Consumer, patience_s: float) -> None:
    """Wait until a consumer has handled everything, also what its handlers have written; but not for ever."""
    with suppress(ConsumerBusyError):  # it goes on in its thread
        for _ in range(_DRAINS_MAX):
            consumer.drain(patience_s)
            if not consumer.status().records_behind:
                return
