"""`singletable encrypt`: a plain database becomes an encrypted one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, file_name
from singletable.cli.keys import required_key
from singletable.cli.messages import say
from singletable.storage.file.rekeying import encrypt_file

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  (umask 077; openssl rand -hex 32 >app.key)
  singletable encrypt app.db --key-file app.key
  singletable serve app.db --key-file app.key

Nobody may have the database open. A kill at any moment leaves the plain file or the encrypted one, whole.
Backups that were made before stay as they are: plain. The disk may still hold what was there before.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `encrypt`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Encrypt one file."""
    encrypt_file(arguments.file, required_key())
    if arguments.json:
        print(json.dumps({"file": arguments.file, "encrypted": True}))
    else:
        say(f"{arguments.file} is encrypted; without its key, nobody can read it any more")
    return 0
