"""`singletable demo`: all installed systems behind one server, with what runs beside them and what to try."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from singletable.cli.demo_systems import Running, run_systems
from singletable.cli.item_pictures import picture_of
from singletable.cli.picture import Style
from singletable.cli.serving import CREDENTIALS, print_ready, run_server
from singletable.database import Database
from singletable.server import ServerSettings
from singletable.systems import installed_systems

if TYPE_CHECKING:
    import argparse

    from singletable.server import Address


def run(arguments: argparse.Namespace) -> int:
    """Seed all systems, serve them, show them."""

    def on_ready(address: Address) -> None:
        if not arguments.json:
            for each in running:
                print("\n".join(_screen(each, address.url)))
        print_ready(address, arguments.file, as_json=arguments.json)

    with (
        Database.open(arguments.file or ":memory:") as database,
        run_systems(database, installed_systems().values()) as running,
    ):
        settings = ServerSettings(
            port=arguments.port,
            checks_signatures=False,
            allow_hosts=arguments.allow_hosts,
            cors_origins=arguments.cors_origins,
        )
        return run_server(database, settings, on_ready=on_ready, debug=arguments.debug)


def _screen(running: Running, url: str) -> list[str]:
    """Return what is shown of one system."""
    name, title = running.system.name, running.system.title
    beside = ", ".join(running.beside)
    made = running.system.seed("small", running.db.now().date())
    lines = [title, "=" * len(title), "", *picture_of(running.db, made.entities, _style()), ""]
    lines += [f"beside it: {beside}", ""] if beside else []
    if find_spec("boto3") is None:
        lines += ["boto3 is not installed here, and most of this needs it: pip install boto3", ""]
    for number, trial in enumerate(running.system.trials, start=1):
        lines += [f"{number}. {trial.title}", "", _pasted(trial.lines, url), ""]
    return [*lines, f"all its patterns: singletable run --list {name}; with --target {url} they run here", ""]


def _pasted(lines: str, url: str) -> str:
    # A Python that has what is imported, so that the lines run when they are pasted.
    python = sys.executable.removeprefix(os.path.join(os.getcwd(), ""))
    return (
        lines.strip()
        .replace("CREDENTIALS", CREDENTIALS.format(region="us-east-1"))
        .replace("PYTHON", python)
        .replace("URL", url)
    )


def _style() -> Style:
    is_terminal = sys.stdout.isatty()
    return Style(
        width=shutil.get_terminal_size().columns if is_terminal else 100,
        colour=is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        unicode=(sys.stdout.encoding or "").lower().replace("-", "") == "utf8",
    )
