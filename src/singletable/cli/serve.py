"""`singletable serve`: a database behind the DynamoDB wire protocol."""

from __future__ import annotations

import argparse
import sys
import tempfile
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, add_region_and_account, checked, count, file_name
from singletable.cli.messages import say_error
from singletable.cli.serving import (
    add_callers,
    add_port,
    print_ready,
    run_server,
    say_how_to_connect,
    server_log,
    warn_if_reachable,
)
from singletable.database import Database
from singletable.engine.backup_schedule import BackupRate, interval_s
from singletable.limits import INDEX_DELAY_S_MAX, SCRUB_MIB_S_MAX, TTL_SWEEP_S_MAX, TTL_SWEEP_S_MIN
from singletable.server import ServerSettings
from singletable.storage.file.durable_files import make_private_folders
from singletable.storage.file.failures import failed_files, refuse_backups_in

if TYPE_CHECKING:
    from singletable.server import Address

EXAMPLES = """\
examples:
  singletable serve app.db
  singletable serve app.db --durability relaxed    faster; the last moments may be lost in a power cut
  singletable serve app.db --log json 2>app.log    one line for each request, for programs
  singletable serve app.db --backup-every weekly   backups of all tables, kept for 90 days
  singletable serve --no-sign-check                in memory, for curl: nothing is kept, nothing is signed

then, in another terminal:
  export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000
  export AWS_ENDPOINT_URL_DYNAMODB_STREAMS=http://127.0.0.1:8000
  aws dynamodb list-tables

SIGTERM and Ctrl-C stop it: requests that have arrived are answered, then the file is closed.
GET / says that it is healthy, GET /metrics what it does; neither needs a signature.
"""

WRONG_USE = 2

_KEEP = "90d"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `serve`."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=file_name, help="the database; without it, in memory"
    )
    add_key(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    add_port(parser)
    parser.add_argument(
        "--durability",
        choices=("full", "relaxed"),
        default="full",
        help="full: a write is on disk before it is answered (default); relaxed: soon after",
    )
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="refuse requests that come faster than AWS would take them, with AWS's exceptions",
    )
    parser.add_argument(
        "--index-delay",
        metavar="MS",
        type=_index_delay,
        default=0,
        help="let global indexes lag so many milliseconds behind their tables, as on AWS (default: %(default)s)",
    )
    parser.add_argument(
        "--ttl-sweep",
        metavar="SECONDS",
        type=_ttl_sweep,
        default=1.0,
        help="how often expired items are deleted; off: they stay (default: every %(default)g s)",
    )
    parser.add_argument(
        "--scrub",
        metavar="MIB",
        type=_scrub,
        default=1.0,
        help="how much of the file is looked at for damage each second; off: what nobody reads is not looked at "
        "(default: %(default)g MiB)",
    )
    parser.add_argument(
        "--backups",
        metavar="FOLDER",
        type=file_name,
        help="where backups of tables are kept (default: FILE.backups; in memory: nowhere, they go with it)",
    )
    parser.add_argument(
        "--backup-every",
        metavar="INTERVAL",
        type=_interval,
        help="back up all tables: weekly, daily, or a number of hours or days as 12h, 3d (default: never)",
    )
    parser.add_argument(
        "--backup-keep",
        metavar="INTERVAL",
        type=_interval,
        help="for how long backups of --backup-every are kept (default: 90d)",
    )
    add_region_and_account(parser)
    parser.add_argument(
        "--no-sign-check",
        dest="sign_check",
        action="store_false",
        help="take requests that are not signed; signatures are never verified, only asked for",
    )
    add_callers(parser)
    parser.add_argument(
        "--connections-max",
        metavar="COUNT",
        type=count,
        default=ServerSettings().connections_max,
        help="how many clients may be connected at once; fewer, where the system's limit of open files is lower "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--log",
        choices=("off", "text", "json"),
        default="off",
        help="one line on stderr for each request, for people or for programs (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the ready line as JSON")


def _index_delay(text: str) -> int:
    ms_max = INDEX_DELAY_S_MAX * 1000
    if not (text.isascii() and text.isdigit() and int(text) <= ms_max):
        raise argparse.ArgumentTypeError(f"{text!r} is no delay: milliseconds, from 0 to {ms_max}")
    return int(text)


def _ttl_sweep(text: str) -> float | None:
    if text == "off":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not TTL_SWEEP_S_MIN <= seconds <= TTL_SWEEP_S_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no interval: seconds, from {TTL_SWEEP_S_MIN} to {TTL_SWEEP_S_MAX}, or off"
        )
    return seconds


def _scrub(text: str) -> float | None:
    if text == "off":
        return None
    try:
        mib_s = float(text)
    except ValueError:
        mib_s = 0.0
    if not 0 < mib_s <= SCRUB_MIB_S_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no pace: MiB a second, up to {SCRUB_MIB_S_MAX}, or off"
        )
    return mib_s


def _interval(text: str) -> str:
    def check(given: str) -> str:
        interval_s(given)
        return given

    return checked(check, text)


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
            BackupRate.of(every=arguments.backup_every, keep=keep)
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
            scrub_mib_s=arguments.scrub,
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
