"""The `singletable` command.

Every subcommand is a module that is imported when it is named, so that `--version` and `--help` cost nothing
else. Exit codes: 0; 1 when the answer is no; 2 for wrong use or a failure; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from typing import TYPE_CHECKING

from singletable.cli.keys import given_key
from singletable.cli.messages import say_failure
from singletable.cli.output import visible_output
from singletable.cli.parser import build_parser
from singletable.errors import SingleTableError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    with visible_output():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    # Filled while the command is parsed: what fails then, as the import of a subcommand, is told as it says.
    given = sys.argv[1:] if argv is None else argv
    arguments = argparse.Namespace(command=None, debug="--debug" in given)
    try:
        return _run_or_tell(argv, arguments)
    except KeyboardInterrupt:
        if arguments.debug:
            raise
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left, as `head` does: nobody is there to be told.
        _give_up_output()
        return FAILED


def _run_or_tell(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    """Run a command; tell what stopped it, or show where."""
    try:
        return _run(argv, arguments)
    except Exception as error:
        if arguments.debug:
            # Not by raising: Python would print what the error names as it is.
            traceback.print_exc()
            return FAILED
        if isinstance(error, BrokenPipeError):
            raise
        _tell(error, as_json=_is_result_json(arguments))
        return FAILED


def _run(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    parser = build_parser()
    parser.parse_args(argv, arguments)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return FAILED
    with given_key(arguments):
        code: int = arguments.run(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _tell(error: Exception, *, as_json: bool) -> None:
    if isinstance(error, SingleTableError):
        failure = error
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        # Files that commands write tell it themselves: it is the disk that stdout leads to.
        _give_up_output()
        as_json = False
        failure = SingleTableError(
            "the disk is full: what was to be written is not all there", hint="make room and try again"
        )
    else:
        failure = SingleTableError(
            f"{type(error).__name__}: {error}", hint="run it again with --debug to see where"
        )
    say_failure(failure, as_json=as_json)


def _give_up_output() -> None:
    # Python would complain once more when it flushes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_result_json(arguments: argparse.Namespace) -> bool:
    """Tell whether one JSON object is awaited on stdout. Among lines of records, an error would pass for one."""
    prints_records = arguments.command in ("history", "stream") or getattr(arguments, "all", False)
    return getattr(arguments, "json", False) and not prints_records
