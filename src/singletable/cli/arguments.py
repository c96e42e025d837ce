"""The arguments of the command: names, defaults, help. Imports nothing heavy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from singletable import __version__
from singletable.cli.design_arguments import add_create_table, add_diff
from singletable.cli.draw_arguments import add_draw
from singletable.cli.messages import say_error
from singletable.cli.migrate_arguments import add_migrate
from singletable.cli.run_arguments import add_run
from singletable.cli.seed_arguments import add_seed
from singletable.limits import INDEX_DELAY_S_MAX, TTL_SWEEP_S_MAX, TTL_SWEEP_S_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DESCRIPTION = "A durable, DynamoDB-compatible database in one file."

_EXAMPLES = """\
examples:
  singletable demo                     a server with whole systems in it, and what to try
  singletable serve app.db             serve a file to any AWS SDK; it is made if it does not exist
  singletable serve --port 0 --json    in memory, on any free port, the address as JSON
  singletable check app.db             is every item, index and count of the file right?
  singletable clock app.db             would a clock that is far ahead take something away?
  singletable backup app.db copy.db    a copy of the whole file, while others use it
  singletable stream tail app.db users the changes of a table, as they come
  singletable history app.db users u1  the versions of an item, and what changed
  singletable diff app:Shop app.db     is the table of a design as the design says?
  singletable migrate plan app:Shop    what has changed in a design since the newest migration
  singletable seed kefir               fill the table of a system with made-up data
  singletable run kefir.due            run an access pattern of a system; --list names them all
  singletable probe http://host:8000   what does this DynamoDB really do, and what would break?
  singletable draw kefir >kefir.svg    a picture of the item collections of a system, or of any design

exit codes: 0, 1 if the answer is no, 2 for wrong use or a failure, 130 after Ctrl-C
"""

_SERVE_EXAMPLES = """\
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

_CHECK_EXAMPLES = """\
examples:
  singletable check app.db
  singletable check app.db --json | jq .problems

exit codes: 0 the file is sound, 1 it has problems (one line each), 2 it cannot be read
"""

_CLOCK_EXAMPLES = """\
examples:
  singletable clock app.db
  singletable clock app.db --confirm
  singletable clock app.db --confirm --yes --json

A clock that is more than a week ahead of what the file has seen is wrong, or the file was not open for so long.
Nothing expires or is trimmed by it until it is confirmed, here or with Database.confirm_clock. Others may use the
file meanwhile: a server that has it open believes the clock a second later.

exit codes: 0 the clock is believed, or confirmed now; 1 it has to be confirmed; 2 for wrong use or a failure
"""

_STREAM_EXAMPLES = """\
examples:
  singletable stream tail app.db orders                       the changes of a table, as they come
  singletable stream tail app.db orders --no-follow --json    those that are there, for programs
  singletable stream consumers app.db
  singletable stream dead-letters app.db orders mailer
"""

_TAIL_EXAMPLES = """\
examples:
  singletable stream tail app.db orders
  singletable stream tail app.db orders --from start --limit 10
  singletable stream tail app.db orders --json | jq .dynamodb.NewImage

Other processes may be writing the file. --json prints each record as AWS Lambda passes it to a function.
"""

_CONSUMERS_EXAMPLES = """\
examples:
  singletable stream consumers app.db
  singletable stream consumers app.db orders --json | jq .records_behind
"""

_DEAD_LETTERS_EXAMPLES = """\
examples:
  singletable stream dead-letters app.db orders mailer
  singletable stream dead-letters app.db orders mailer --json | jq .error

db.redrive(table, name, handler) runs a handler over them again.
"""

_HISTORY_EXAMPLES = """\
examples:
  singletable history app.db shop customer#1 profile
  singletable history app.db shop PK=customer#1 SK=profile
  singletable history app.db shop '{"PK": "customer#1", "SK": "profile"}' --json | jq .changes

KEY is the values of the table's key in their order, or NAME=VALUE, or JSON, plain or typed ({"PK": {"S": "…"}}).
Binary values are base64, with or without the b64 that stands in front of them where versions are printed.
Versions are kept while point-in-time recovery is on: update-continuous-backups turns it on.

exit codes: 0, 1 if no version is kept, 2 for wrong use or a failure
"""

_BACKUP_EXAMPLES = """\
examples:
  singletable backup app.db /mnt/backups/app-monday.db
  singletable backup app.db copy.db --force --json

The copy is that of one moment, also while others write. It is read back from the disk before it gets its name;
its checksum is beside it: sha256sum -c copy.db.sha256
"""

_RESTORE_EXAMPLES = """\
examples:
  singletable restore /mnt/backups/app-monday.db app.db
  singletable restore copy.db app.db --force

The checksum beside the copy is verified before anything else. FILE is replaced at once or not at all, and only
if no process has it open.
"""

_PROBE_EXAMPLES = """\
examples:
  singletable probe http://127.0.0.1:8000
  singletable probe dynamodb://eu-north-1 --yes --out found.json
  singletable probe http://127.0.0.1:8000 --json | jq .capabilities
  singletable create-table app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --capabilities found.json

A table named singletable-probe- and something random is made, tried with a few thousand requests, and taken away,
also after Ctrl-C. No other table is touched. Elsewhere than on this machine it is asked about, or needs --yes.

exit codes: 0 all that designs need holds, 1 something breaks (with the features that it costs), 2 for wrong use or
a failure
"""

_DEMO_EXAMPLES = """\
examples:
  singletable demo
  singletable demo --port 0
  singletable demo --file demo.db    to find everything again the next time

Beside the server run the consumers of changes, what deletes expired items, and the workers of the systems, such as
the one that sends reminders. SIGTERM and Ctrl-C stop all of it.
"""


CONNECTIONS_MAX = 2048  # as in ServerSettings, which is too heavy to be imported for a --help

_REGION_HELP = "the region that the ARNs of tables name (default: %(default)s)"
_ACCOUNT_HELP = "the account that the ARNs of tables name (default: %(default)s)"


class _Parser(argparse.ArgumentParser):
    """Wrong use is told like every other error."""

    leaves_rest = False  # what it does not know is no mistake: the command finds it as `rest`

    def error(self, message: str) -> NoReturn:
        say_error(message, hint=f"see {self.prog} --help")
        sys.exit(2)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        found, rest = super().parse_known_args(args, namespace)
        if self.leaves_rest:
            found.rest, rest = rest, []
        return found, rest


class _Version(argparse.Action):
    """Prints the version on stdout."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> NoReturn:
        print(f"singletable {__version__}")
        sys.exit(0)


def build_parser() -> argparse.ArgumentParser:
    """Describe the command and its subcommands."""
    parser = _Parser(
        prog="singletable",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _add_serve(commands)
    _add_check(commands)
    _add_clock(commands)
    _add_backup(commands)
    _add_restore(commands)
    _add_stream(commands)
    _add_history(commands)
    add_create_table(commands, _add)
    add_diff(commands, _add)
    add_migrate(commands, _add)
    add_seed(commands, _add)
    add_run(commands, _add)
    add_draw(commands, _add)
    _add_probe(commands)
    _add_demo(commands)
    return parser


def _add_serve(commands: argparse._SubParsersAction[_Parser]) -> None:
    serve = _add(commands, "serve", "serve a database to AWS SDKs and the AWS CLI", _SERVE_EXAMPLES)
    serve.add_argument(
        "file", metavar="FILE", nargs="?", type=_file, help="the database; without it, in memory"
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    _add_port(serve)
    serve.add_argument(
        "--durability",
        choices=("full", "relaxed"),
        default="full",
        help="full: a write is on disk before it is answered (default); relaxed: soon after",
    )
    serve.add_argument(
        "--throttle",
        action="store_true",
        help="refuse requests that come faster than AWS would take them, with AWS's exceptions",
    )
    serve.add_argument(
        "--index-delay",
        metavar="MS",
        type=_index_delay,
        default=0,
        help="let global indexes lag so many milliseconds behind their tables, as on AWS (default: %(default)s)",
    )
    serve.add_argument(
        "--ttl-sweep",
        metavar="SECONDS",
        type=_ttl_sweep,
        default=1.0,
        help="how often expired items are deleted; off: they stay (default: every %(default)g s)",
    )
    serve.add_argument(
        "--backups",
        metavar="FOLDER",
        type=_file,
        help="where backups of tables are kept (default: FILE.backups; in memory: nowhere, they go with it)",
    )
    serve.add_argument(
        "--backup-every",
        metavar="INTERVAL",
        type=_interval,
        help="back up all tables: weekly, daily, or a number of hours or days as 12h, 3d (default: never)",
    )
    serve.add_argument(
        "--backup-keep",
        metavar="INTERVAL",
        type=_interval,
        help="for how long backups of --backup-every are kept (default: 90d)",
    )
    serve.add_argument("--region", type=_region, default="us-east-1", help=_REGION_HELP)
    serve.add_argument("--account", type=_account, default="000000000000", help=_ACCOUNT_HELP)
    serve.add_argument(
        "--no-sign-check",
        dest="sign_check",
        action="store_false",
        help="take requests that are not signed; signatures are never verified, only asked for",
    )
    _add_callers(serve)
    serve.add_argument(
        "--connections-max",
        metavar="COUNT",
        type=_count,
        default=CONNECTIONS_MAX,
        help="how many clients may be connected at once; fewer, where the system's limit of open files is lower "
        "(default: %(default)s)",
    )
    serve.add_argument(
        "--log",
        choices=("off", "text", "json"),
        default="off",
        help="one line on stderr for each request, for people or for programs (default: %(default)s)",
    )
    serve.add_argument("--json", action="store_true", help="print the ready line as JSON")


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = _add(commands, "check", "verify a file: items, indexes, counts, log", _CHECK_EXAMPLES)
    check.add_argument("file", metavar="FILE", type=_file, help="the database")
    check.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_clock(commands: argparse._SubParsersAction[_Parser]) -> None:
    clock = _add(commands, "clock", "say what a clock that is far ahead would take away", _CLOCK_EXAMPLES)
    clock.add_argument("file", metavar="FILE", type=_file, help="the database")
    clock.add_argument(
        "--confirm", action="store_true", help="believe the clock, and take away what that makes too old"
    )
    clock.add_argument("--yes", action="store_true", help="do not ask before something is taken away")
    clock.add_argument(
        "--backups", metavar="FOLDER", type=_file, help="where its backups are kept (default: FILE.backups)"
    )
    clock.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_stream(commands: argparse._SubParsersAction[_Parser]) -> None:
    stream = _add(commands, "stream", "the changes of a table, and who follows them", _STREAM_EXAMPLES)
    below = stream.add_subparsers(
        dest="stream_command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    tail = _add(below, "tail", "print the changes of a table as they come", _TAIL_EXAMPLES)
    _add_file_and_table(tail)
    tail.add_argument(
        "--from",
        dest="start",
        metavar="WHERE",
        type=_start,
        help="start: the oldest record that is kept; latest: what comes from now on; or the sequence number of a "
        "record (default: latest, or start with --no-follow)",
    )
    tail.add_argument(
        "--follow",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="wait for more when all is printed",
    )
    tail.add_argument("--limit", metavar="COUNT", type=_count, help="end after so many records")
    tail.add_argument("--region", type=_region, default="us-east-1", help=_REGION_HELP)
    tail.add_argument("--account", type=_account, default="000000000000", help=_ACCOUNT_HELP)
    tail.add_argument("--json", action="store_true", help="print one record a line, as JSON")
    consumers = _add(below, "consumers", "list consumers and how far they have come", _CONSUMERS_EXAMPLES)
    consumers.add_argument("file", metavar="FILE", type=_file, help="the database")
    consumers.add_argument("table", metavar="TABLE", nargs="?", help="only those of this table")
    consumers.add_argument("--json", action="store_true", help="print one consumer a line, as JSON")
    dead = _add(
        below, "dead-letters", "list the records that a consumer has put aside", _DEAD_LETTERS_EXAMPLES
    )
    _add_file_and_table(dead)
    dead.add_argument("name", metavar="NAME", help="the consumer")
    dead.add_argument("--json", action="store_true", help="print one record a line, as JSON")


def _add_file_and_table(parser: _Parser) -> None:
    parser.add_argument("file", metavar="FILE", type=_file, help="the database")
    parser.add_argument("table", metavar="TABLE", help="the table")


def _add_backup(commands: argparse._SubParsersAction[_Parser]) -> None:
    backup = _add(commands, "backup", "copy a whole database while others use it", _BACKUP_EXAMPLES)
    backup.add_argument("file", metavar="FILE", type=_file, help="the database")
    backup.add_argument("copy", metavar="DEST", type=_file, help="where the copy is to be")
    backup.add_argument("--force", action="store_true", help="replace what is there")
    backup.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_restore(commands: argparse._SubParsersAction[_Parser]) -> None:
    restore = _add(commands, "restore", "put a copy of a database back", _RESTORE_EXAMPLES)
    restore.add_argument(
        "copy", metavar="BACKUP", type=_file, help="a file that `singletable backup` has made"
    )
    restore.add_argument("file", metavar="FILE", type=_file, help="where the database is to be")
    restore.add_argument("--force", "--yes", action="store_true", help="replace the database that is there")
    restore.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_history(commands: argparse._SubParsersAction[_Parser]) -> None:
    history = _add(commands, "history", "list the versions of an item, with what changed", _HISTORY_EXAMPLES)
    _add_file_and_table(history)
    history.add_argument(
        "key", metavar="KEY", nargs="+", help="the key of the item, in any of the ways below"
    )
    history.add_argument("--oldest-first", action="store_true", help="begin with the oldest that is kept")
    history.add_argument("--limit", metavar="COUNT", type=_count, help="print no more than so many")
    history.add_argument("--json", action="store_true", help="print each version as one line of JSON")


def _add_probe(commands: argparse._SubParsersAction[_Parser]) -> None:
    probe = _add(commands, "probe", "try what a target really does, on a table of its own", _PROBE_EXAMPLES)
    probe.add_argument(
        "target", metavar="TARGET", type=_file, help="an URL, dynamodb://REGION, a file, or :memory:"
    )
    probe.add_argument("--json", action="store_true", help="print what was found as JSON")
    probe.add_argument(
        "--out", metavar="FILE", type=_file, help="write it to a file, which --capabilities takes"
    )
    probe.add_argument("--yes", action="store_true", help="do not ask before a table is made elsewhere")


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    demo = _add(commands, "demo", "serve all installed systems, seeded, and say what to try", _DEMO_EXAMPLES)
    _add_port(demo)
    _add_callers(demo)
    demo.add_argument(
        "--file",
        metavar="FILE",
        type=_file,
        help="keep it in this file (default: in memory, nothing is kept)",
    )
    demo.add_argument("--json", action="store_true", help="print the ready line as JSON")


def _add(
    commands: argparse._SubParsersAction[_Parser],
    name: str,
    summary: str,
    examples: str,
    *,
    leaves_rest: bool = False,
    **settings: Any,
) -> _Parser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **settings,
    )
    parser.leaves_rest = leaves_rest
    # Suppressed: a default here would undo a --debug in front of the subcommand.
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
    return parser


def _add_port(parser: _Parser) -> None:
    parser.add_argument(
        "--port", type=_port, default=8000, help="the port; 0 takes a free one (default: %(default)s)"
    )


def _add_callers(parser: _Parser) -> None:
    parser.add_argument(
        "--allow-host",
        dest="allow_hosts",
        metavar="NAME",
        type=_host,
        action="append",
        default=[],
        help="a name by which clients reach the server, such as that of its container; may be given again, "
        "* allows any (default: localhost, IP addresses, and --host)",
    )
    parser.add_argument(
        "--cors-origin",
        dest="cors_origins",
        metavar="ORIGIN",
        type=_origin,
        action="append",
        default=[],
        help="let web pages of this origin call the server, such as http://localhost:3000; may be given again, "
        "* allows all, as AWS does (default: none)",
    )


def _host(text: str) -> str:
    from singletable.server.callers import checked_host

    return _checked(checked_host, text)


def _origin(text: str) -> str:
    from singletable.server.callers import checked_origin

    return _checked(checked_origin, text)


def _file(text: str) -> str:
    # As in `singletable serve "$DATABASE"` with the variable not set.
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return text


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and 1 <= int(text) <= 1_000_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000000")
    return int(text)


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


def _start(text: str) -> str:
    if text not in ("start", "latest") and not (text.isascii() and text.isdigit() and len(text) == 21):
        raise argparse.ArgumentTypeError(f"{text!r} is no start, latest or sequence number of 21 digits")
    return text


def _interval(text: str) -> str:
    from singletable.engine.backup_schedule import interval_s

    def check(given: str) -> str:
        interval_s(given)
        return given

    return _checked(check, text)


def _region(text: str) -> str:
    from singletable.wire.arns import check_region

    return _checked(check_region, text)


def _account(text: str) -> str:
    from singletable.wire.arns import check_account

    return _checked(check_account, text)


def _checked(check: Callable[[str], str], text: str) -> str:
    try:
        return check(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
