"""The command and a row for each subcommand, whose module is imported when it is named. Imports nothing heavy.

The module of a subcommand has its `EXAMPLES`, `add_arguments(parser)` and `run(arguments)`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from singletable import __version__
from singletable.cli.messages import say_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    Commands = argparse._SubParsersAction["Parser"]

_DESCRIPTION = "A durable, DynamoDB-compatible database in one file."

_EXAMPLES = """\
examples:
  singletable demo                     a server with whole systems in it, and what to try
  singletable serve app.db             serve a file to any AWS SDK; it is made if it does not exist
  singletable serve --port 0 --json    in memory, on any free port, the address as JSON
  singletable api kefir                an HTTP API of a design, with its docs page
  singletable check app.db             is every item, index and count of the file right?
  singletable clock app.db             would a clock that is far ahead take something away?
  singletable backup app.db copy.db    a copy of the whole file, while others use it
  singletable repair app.db            bring back what a damaged file still has, and list what is lost
  singletable encrypt app.db --key-file key   nobody reads it, or its backups, without the key
  singletable stream tail app.db users the changes of a table, as they come
  singletable history app.db users u1  the versions of an item, and what changed
  singletable diff app:Shop app.db     is the table of a design as the design says?
  singletable migrate plan app:Shop    what has changed in a design since the newest migration
  singletable seed kefir               fill the table of a system with made-up data
  singletable run kefir.due            run an access pattern of a system; --list names them all
  singletable probe http://host:8000   what does this DynamoDB really do, and what would break?
  singletable blueprint show kefir     a design as data; diff, from-table, from-workbench, to-python and more
  singletable lint kefir:documented    what is wrong with a design; rule KEY101 says why
  singletable plan kefir --users 10k   what it costs on AWS, line by line, and what runs hot
  singletable deploy kefir --region eu-north-1 --out stack   its table, indexes and roles as a template
  singletable prices show              what DynamoDB costs by region, with source and date
  singletable draw kefir >kefir.svg    a picture of the item collections of a system, or of any design

exit codes: 0, 1 if the answer is no, 2 for wrong use or a failure, 130 after Ctrl-C
"""


class _Row(NamedTuple):
    """A subcommand: its name, what it does in one line, and whether it shows its help itself."""

    name: str
    summary: str
    has_own_help: bool = False


_COMMANDS: Final = (
    _Row("serve", "serve a database to AWS SDKs and the AWS CLI"),
    _Row("api", "serve a design to front ends: an HTTP API with documents, from what is declared"),
    _Row("check", "verify a file: items, indexes, counts, log"),
    _Row("clock", "say what a clock that is far ahead would take away"),
    _Row("backup", "copy a whole database while others use it"),
    _Row("restore", "put a copy of a database back"),
    _Row("repair", "bring back what a damaged file still has, and list what is lost"),
    _Row("encrypt", "encrypt a database that nobody has open"),
    _Row("decrypt", "make a plain database of an encrypted one"),
    _Row("rekey", "give an encrypted database another key"),
    _Row("stream", "the changes of a table, and who follows them"),
    _Row("history", "list the versions of an item, with what changed"),
    _Row("create-table", "make the table of a design, with all its settings"),
    _Row("diff", "compare a table with its design"),
    _Row("migrate", "bring a table to another version of its design"),
    _Row("seed", "fill the table of a system with made-up data"),
    _Row("run", "run an access pattern of a system, or of any design", has_own_help=True),
    _Row("blueprint", "a design as data: shown, compared, proposed from a table, brought from elsewhere"),
    _Row("lint", "tell what is wrong with a design, before anything is built"),
    _Row("rule", "what a rule of the linter says, why, and how to repair it"),
    _Row("plan", "tell what a design costs on AWS and what runs hot, for so many users"),
    _Row(
        "deploy",
        "the stack of a design for CloudFormation, SAM or Terraform; what a new version changes; what is deployed",
    ),
    _Row("roles", "who may do what with the table of a design, as IAM takes it"),
    _Row("alarms", "the alarms of a design's table, as CloudWatch takes them"),
    _Row("prices", "what DynamoDB costs by region, with sources; read from AWS's price list"),
    _Row("draw", "draw the item collections of a design, or of its items"),
    _Row("probe", "try what a target really does, on a table of its own"),
    _Row("demo", "serve all installed systems, seeded, and say what to try"),
)


class Parser(argparse.ArgumentParser):
    """Tells wrong use like every other error; a subcommand gets its arguments when it is named."""

    leaves_rest = False  # what it does not know is no mistake: the command finds it as `rest`
    _module: str | None = None  # that of a subcommand, until it is imported

    def error(self, message: str) -> NoReturn:
        say_error(message, hint=f"see {self.prog} --help")
        sys.exit(2)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self.complete()
        found, rest = super().parse_known_args(args, namespace)
        if self.leaves_rest:
            found.rest, rest = rest, []
        return found, rest

    def complete_later(self, command: str) -> None:
        """Have the arguments of a subcommand added when they are needed."""
        self._module = f"singletable.cli.{command.replace('-', '_')}"

    def complete(self) -> None:
        """Import a subcommand, and add its arguments."""
        if self._module is not None:
            module, self._module = import_module(self._module), None
            self.epilog = module.EXAMPLES
            self.set_defaults(run=module.run)
            module.add_arguments(self)


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


def build_parser(*, is_whole: bool = False) -> argparse.ArgumentParser:
    """Describe the command; with the arguments of all subcommands, if it is to be whole."""
    parser = Parser(
        prog="singletable",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for row in _COMMANDS:
        command = add_command(commands, row.name, row.summary, add_help=not row.has_own_help)
        command.complete_later(row.name)
        if is_whole:
            command.complete()
    return parser


def add_command(
    commands: Commands, name: str, summary: str, examples: str | None = None, *, add_help: bool = True
) -> Parser:
    """Add a command below another; its arguments are still to be described."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=add_help,
    )
    # Suppressed: a default here would undo a --debug in front of the subcommand.
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
    return parser
