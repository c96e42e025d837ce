"""`singletable decrypt`: an encrypted database becomes a plain one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, file_name
from singletable.cli.keys import required_key
from singletable.cli.messages import say
from singletable.storage.file.rekeying import decrypt_file

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable decrypt app.db --key-file app.key

Nobody may have the database open. A kill at any moment leaves the encrypted file or the plain one, whole.
Backups that were made before stay as they are: encrypted, with this key.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `decrypt`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Decrypt one file."""
    decrypt_file(arguments.file, required_key())
    if arguments.json:
        print(json.dumps({"file": arguments.file, "encrypted": False}))
    else:
        say(f"{arguments.file} is a plain file now: whoever has it can read it")
    return 0
