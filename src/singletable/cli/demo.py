"""`singletable demo`: all installed systems behind one server, with what runs beside them and what to try."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.arguments import add_key, file_name
from singletable.cli.messages import python_here, started_by
from singletable.cli.output import progress_bar
from singletable.cli.seed import fill, has_items
from singletable.cli.serving import (
    add_callers,
    add_port,
    export_lines,
    print_ready,
    ready_line,
    run_server,
    server_log,
)
from singletable.database import Database
from singletable.errors import ConsumerBusyError
from singletable.server import ServerSettings
from singletable.systems import System, Worker, Workers, installed_systems

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from singletable.consumers import Consumer
    from singletable.design import Design
    from singletable.server import Address

EXAMPLES = """\
examples:
  singletable demo
  singletable demo --port 0
  singletable demo --file demo.db    to find everything again the next time

Beside the server run the consumers of changes, what deletes expired items, and the workers of the systems, such as
the one that sends reminders. SIGTERM and Ctrl-C stop all of it.
"""


_DRAINS_MAX: Final = 100
_STEPS_MAX: Final = 20
# Nobody else runs these consumers: one that was killed need not be waited for.
_LEASE_S: Final = 1.0
# A table has this tag, with the day of the data, while it is filled: if that is interrupted, it is done again.
_SEEDING: Final = "singletable:seeding"
_PATIENCE_S: Final = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `demo`."""
    add_port(parser)
    add_callers(parser)
    parser.add_argument(
        "--file",
        metavar="FILE",
        type=file_name,
        help="keep it in this file (default: in memory, nothing is kept)",
    )
    add_key(parser)
    parser.add_argument("--json", action="store_true", help="print the ready line as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Seed all systems, serve them, show them."""

    def on_ready(address: Address) -> None:
        if arguments.json:
            print_ready(address, arguments.file, as_json=True)
        else:
            print("\n".join(_screen(address, arguments.file, running)), flush=True)

    with (
        server_log(as_json=False, debug=arguments.debug),
        Database.open(arguments.file or ":memory:") as database,
        run_systems(database, installed_systems().values()) as running,
    ):
        settings = ServerSettings(
            port=arguments.port,
            checks_signatures=False,
            allow_hosts=arguments.allow_hosts,
            cors_origins=arguments.cors_origins,
        )
        return run_server(database, settings, on_ready=on_ready)


def _screen(address: Address, file: str | None, systems: Sequence[Running]) -> list[str]:
    """Return what is shown: where the server is, and lines to paste, which are indented."""
    program = started_by(is_new_terminal=True)
    where = ", in this folder" if os.sep in program and not program.startswith(os.sep) else ""
    lines = [
        f"{ready_line(address, file)}; Ctrl-C stops it",
        f"{len(systems)} systems are in it, seeded and at work. In another terminal{where}:",
        f"  {program} run --list",
    ]
    if find_spec("boto3") is None:
        lines += ["boto3, by which the others reach a server:", f"  {python_here()} -m pip install boto3"]
    for running in systems:
        for trial in running.system.trials:
            lines += [f"{trial.title}:", f"  {_pasted(trial.line, program, address.url)}"]
    return [*lines, *export_lines(address)]


def _pasted(line: str, program: str, url: str) -> str:
    return line.strip().replace("SINGLETABLE", program).replace("PYTHON", python_here()).replace("URL", url)


# --- systems that run in one database: seeded, with their consumers and workers beside them -------------------


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
