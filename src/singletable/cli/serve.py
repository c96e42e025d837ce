"""`singletable serve`: a database behind the DynamoDB wire protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from singletable.cli.serving import print_ready, run_server, say_how_to_connect, warn_if_reachable
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
        if arguments.log == "json":
            warn_if_reachable(address)  # and nothing else: who reads JSON lines can read no others
        else:
            say_how_to_connect(address, file, arguments.region, signed=arguments.sign_check)

    with Database.open(
        ":memory:" if file is None else file,
        durability=arguments.durability,
        region=arguments.region,
        account=arguments.account,
        throttling=arguments.throttle,
        index_delay_s=arguments.index_delay / 1000,
        ttl_sweep_s=arguments.ttl_sweep,
        backups=arguments.backups,
    ) as database:
        settings = ServerSettings(
            host=arguments.host,
            port=arguments.port,
            region=arguments.region,
            checks_signatures=arguments.sign_check,
            allows_origins=arguments.cors,
            # stdout is for the ready line; a process that was started without stderr has nowhere to write.
            log=None if arguments.log == "off" or sys.stderr is None else arguments.log,
            connections_max=arguments.connections_max,
        )
        if arguments.backup_every is not None:
            database.backup_schedule(every=arguments.backup_every, keep=arguments.backup_keep)
        return run_server(database, settings, on_ready=on_ready, debug=arguments.debug)
