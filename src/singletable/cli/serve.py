"""`singletable serve`: a database behind the DynamoDB wire protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from singletable.cli.serving import print_ready, run_server, say_how_to_connect
from singletable.database import Database
from singletable.server import ServerSettings

if TYPE_CHECKING:
    import argparse

    from singletable.server import Address


def run(arguments: argparse.Namespace) -> int:
    """Serve a file, or memory, until a signal."""
    file: str | None = None if arguments.file in (None, ":memory:") else arguments.file

    def on_ready(address: Address) -> None:
        print_ready(address, file, as_json=arguments.json)
        say_how_to_connect(address, file, arguments.region)

    with Database.open(
        ":memory:" if file is None else file,
        durability=arguments.durability,
        region=arguments.region,
        account=arguments.account,
    ) as database:
        settings = ServerSettings(host=arguments.host, port=arguments.port)
        return run_server(database, settings, on_ready=on_ready, debug=arguments.debug)
