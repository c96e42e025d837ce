"""`singletable backup`: a copy of a whole database, while others use it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_key, file_name
from singletable.cli.messages import say
from singletable.cli.output import progress_bar
from singletable.storage.file.file_copies import back_up_file
from singletable.storage.file.page_copies import sums_path

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable backup app.db /mnt/backups/app-monday.db
  singletable backup app.db copy.db --force --json

The copy is that of one moment, also while others write. It is read back from the disk before it gets its name;
its checksum is beside it: sha256sum -c copy.db.sha256
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `backup`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    parser.add_argument("copy", metavar="DEST", type=file_name, help="where the copy is to be")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Copy one file; say what came of it."""
    with progress_bar() as progress:
        copied = back_up_file(arguments.file, arguments.copy, force=arguments.force, progress=progress)
    if arguments.json:
        result = {
            "file": arguments.file,
            "copy": arguments.copy,
            "bytes": copied.bytes,
            "sha256": copied.sha256,
            "checksum": sums_path(arguments.copy),
        }
        print(json.dumps(result))
    else:
        say(f"{arguments.copy} holds {arguments.file}: {copied.bytes:,} bytes, verified")
        say(f"its checksum is in {sums_path(arguments.copy)}")
    return 0
