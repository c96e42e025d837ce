"""`singletable demo`: all installed systems behind one server, with what runs beside them and what to try."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from singletable.cli.demo_systems import Running, run_systems
from singletable.cli.messages import python_here, started_by
from singletable.cli.serving import export_lines, print_ready, ready_line, run_server, server_log
from singletable.database import Database
from singletable.server import ServerSettings
from singletable.systems import installed_systems

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from singletable.server import Address


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
