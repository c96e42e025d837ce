"""`singletable restore`: a copy of a database in the place where it is to be used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, file_name
from singletable.cli.messages import say
from singletable.cli.output import progress_bar
from singletable.storage.file.file_copies import restore_file

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable restore /mnt/backups/app-monday.db app.db
  singletable restore copy.db app.db --force

The checksum beside the copy is verified before anything else. FILE is replaced at once or not at all, and only
if no process has it open.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `restore`."""
    parser.add_argument(
        "copy", metavar="BACKUP", type=file_name, help="a file that `singletable backup` has made"
    )
    parser.add_argument("file", metavar="FILE", type=file_name, help="where the database is to be")
    add_key(parser)
    parser.add_argument("--force", "--yes", action="store_true", help="replace the database that is there")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Put one copy back; say what came of it."""
    with progress_bar() as progress:
        copied = restore_file(arguments.copy, arguments.file, force=arguments.force, progress=progress)
    if arguments.json:
        result = {
            "copy": arguments.copy,
            "file": arguments.file,
            "bytes": copied.bytes,
            "sha256": copied.sha256,
        }
        print(json.dumps(result))
    else:
        say(f"{arguments.file} is what {arguments.copy} holds: {copied.bytes:,} bytes, verified")
    return 0
