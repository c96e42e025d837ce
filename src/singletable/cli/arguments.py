"""Arguments that several commands have: files, counts, regions and accounts. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def add_file_and_table(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of a command that looks at one table of a file."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    parser.add_argument("table", metavar="TABLE", help="the table")
    add_key(parser)


def add_backups(parser: argparse.ArgumentParser) -> None:
    """Describe --backups of a file that is there."""
    parser.add_argument(
        "--backups",
        metavar="FOLDER",
        type=file_name,
        help="where its backups are kept (default: FILE.backups)",
    )


def add_key(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe where the key of an encrypted file is. A key as an argument would be seen in `ps`."""
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        type=file_name,
        help="the key of an encrypted database: 64 hexadecimal digits, or a passphrase "
        "(default: $SINGLETABLE_KEY_FILE, if it is set)",
    )
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that has the key itself")


def add_region_and_account(parser: argparse.ArgumentParser) -> None:
    """Describe what ARNs are made of."""
    parser.add_argument(
        "--region",
        type=_region,
        default="us-east-1",
        help="the region that the ARNs of tables name (default: %(default)s)",
    )
    parser.add_argument(
        "--account",
        type=_account,
        default="000000000000",
        help="the account that the ARNs of tables name (default: %(default)s)",
    )


def file_name(text: str) -> str:
    """Take a path, but for an empty one."""
    # As in `singletable serve "$DATABASE"` with the variable not set.
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return text


def count(text: str) -> int:
    """Take a number of things that somebody wants to see."""
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and 1 <= int(text) <= 1_000_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000000")
    return int(text)


def _region(text: str) -> str:
    from singletable.wire.arns import check_region

    return checked(check_region, text)


def _account(text: str) -> str:
    from singletable.wire.arns import check_account

    return checked(check_account, text)


def checked(check: Callable[[str], str], text: str) -> str:
    """Take what a function takes that raises ValueError."""
    try:
        return check(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
