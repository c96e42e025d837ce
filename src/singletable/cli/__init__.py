"""The `singletable` command.

Every subcommand is a module that is imported when it is used, so that `--version` and `--help` cost nothing
else. Exit codes: 0; 1 when the answer is no; 2 for wrong use or a failure; 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from singletable.cli.arguments import build_parser
from singletable.cli.messages import say_error
from singletable.cli.output import escape_unencodable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main"]

FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return FAILED
    from singletable.errors import SingleTableError

    escape_unencodable()
    if arguments.debug:
        return _run(arguments)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left, as `head` does: nobody is there to be told. Python would complain
        # once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except SingleTableError as error:
        hint = getattr(error, "hint", None)
        # Some errors end with their hint when they are shown as text.
        say_error(str(error).removesuffix(f"\n\nhint: {hint}"), hint=hint)
        return FAILED
    except Exception as error:
        say_error(f"{type(error).__name__}: {error}", hint="run it again with --debug to see where")
        return FAILED


def _run(arguments: argparse.Namespace) -> int:
    command = import_module(f"singletable.cli.{arguments.command.replace('-', '_')}")
    code: int = command.run(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code
