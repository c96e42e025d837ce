"""The `singletable` command.

Every subcommand is a module that is imported when it is used, so that `--version` and `--help` cost nothing
else. Exit codes: 0; 1 when the answer is no; 2 for wrong use or a failure; 130 after Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

from singletable.cli.arguments import build_parser
from singletable.cli.messages import say_failure
from singletable.cli.output import visible_output

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main"]

FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    with visible_output():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return FAILED
    if arguments.debug:
        return _run_or_trace(arguments)
    try:
        return _run_or_tell(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left, as `head` does: nobody is there to be told.
        _give_up_output()
        return FAILED


def _run_or_trace(arguments: argparse.Namespace) -> int:
    """Run a command; show where it failed. Not by raising: Python would print what the error names as it is."""
    try:
        return _run(arguments)
    except Exception:
        traceback.print_exc()
        return FAILED


def _run_or_tell(arguments: argparse.Namespace) -> int:
    """Run a command; tell what stopped it."""
    from singletable.errors import SingleTableError

    as_json = _is_result_json(arguments)
    try:
        return _run(arguments)
    except BrokenPipeError:
        raise
    except SingleTableError as error:
        failure = error
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            said, hint = (
                "the disk is full: what was to be written is not all there",
                "make room and try again",
            )
            # Files that commands write tell it themselves: it is the disk that stdout leads to.
            _give_up_output()
            as_json = False
        else:
            said, hint = f"{type(error).__name__}: {error}", "run it again with --debug to see where"
        failure = SingleTableError(said, hint=hint)
    say_failure(failure, as_json=as_json)
    return FAILED


def _give_up_output() -> None:
    # Python would complain once more when it flushes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_result_json(arguments: argparse.Namespace) -> bool:
    """Tell whether one JSON object is awaited on stdout. Among lines of records, an error would pass for one."""
    prints_records = arguments.command in ("history", "stream") or getattr(arguments, "all", False)
    return getattr(arguments, "json", False) and not prints_records


def _run(arguments: argparse.Namespace) -> int:
    command = import_module(f"singletable.cli.{arguments.command.replace('-', '_')}")
    code: int = command.run(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code
