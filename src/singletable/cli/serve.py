"""`singletable serve`: a database behind the DynamoDB wire protocol."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

from singletable.cli.messages import say_error
from singletable.cli.serving import (
    print_ready,
    run_server,
    say_how_to_connect,
    server_log,
    warn_if_reachable,
)
from singletable.database import Database
from singletable.engine.backup_schedule import Rate
from singletable.server import ServerSettings
from singletable.storage.durable_files import make_private_folders
from singletable.storage.failures import failed_files, refuse_backups_in

if TYPE_CHECKING:
    import argparse

    from singletable.server import Address


WRONG_USE = 2

_KEEP = "90d"


def run(arguments: argparse.Namespace) -> int:
    """Serve a file, or memory, until a signal."""
    file: str | None = None if arguments.file in (None, ":memory:") else arguments.file
    keep = arguments.backup_keep or _KEEP
    if arguments.backup_every is None and arguments.backup_keep is not None:
        say_error(
            "--backup-keep says how long backups of --backup-every are kept, and that is not given",
            hint=f"add --backup-every daily, or leave --backup-keep {keep} out",
        )
        return WRONG_USE
    if arguments.backup_every is not None:
        try:
            Rate.of(every=arguments.backup_every, keep=keep)
        except ValueError as error:
            say_error(str(error), hint="give a longer --backup-keep or a shorter --backup-every")
            return WRONG_USE
    if arguments.backups is not None:
        _check_backups(arguments.backups)

    def on_ready(address: Address) -> None:
        print_ready(address, file, as_json=arguments.json)
        if arguments.log == "json":
            warn_if_reachable(address)  # and nothing else: who reads JSON lines can read no others
        else:
            say_how_to_connect(address, file, arguments.region, signed=arguments.sign_check)

    # stdout is for the ready line; a process that was started without stderr has nowhere to write.
    log = None if arguments.log == "off" or sys.stderr is None else arguments.log
    with (
        server_log(as_json=log == "json", debug=arguments.debug),
        Database.open(
            ":memory:" if file is None else file,
            durability=arguments.durability,
            region=arguments.region,
            account=arguments.account,
            throttling=arguments.throttle,
            index_delay_s=arguments.index_delay / 1000,
            ttl_sweep_s=arguments.ttl_sweep,
            backups=arguments.backups,
        ) as database,
    ):
        settings = ServerSettings(
            host=arguments.host,
            port=arguments.port,
            region=arguments.region,
            checks_signatures=arguments.sign_check,
            allow_hosts=arguments.allow_hosts,
            cors_origins=arguments.cors_origins,
            log=log,
            connections_max=arguments.connections_max,
        )
        if arguments.backup_every is not None:
            database.backup_schedule(every=arguments.backup_every, keep=keep)
        return run_server(database, settings, on_ready=on_ready)


def _check_backups(folder: str) -> None:
    """Make the folder of backups; refuse one that cannot be written now, not when the first backup is due."""
    refuse_backups_in(folder)
    try:
        make_private_folders(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise failed_files(error, folder) from error
