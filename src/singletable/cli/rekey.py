"""`singletable rekey`: an encrypted database gets another key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, file_name
from singletable.cli.keys import read_key_file, required_key
from singletable.cli.messages import say
from singletable.storage.file.rekeying import rekey_file

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  (umask 077; openssl rand -hex 32 >new.key)
  singletable rekey app.db --key-file app.key --new-key-file new.key

Nobody may have the database open. A kill at any moment leaves the file whole, with the old key or the new one.
Keep the old key as long as you keep backups that were made with it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `rekey`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    parser.add_argument(
        "--new-key-file", metavar="FILE", type=file_name, required=True, help="the key that it is to get"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Give one file another key."""
    rekey_file(arguments.file, required_key(), read_key_file(arguments.new_key_file))
    if arguments.json:
        print(json.dumps({"file": arguments.file, "encrypted": True}))
    else:
        say(
            f"{arguments.file} has the key of {arguments.new_key_file} now; its older backups have the old one"
        )
    return 0
