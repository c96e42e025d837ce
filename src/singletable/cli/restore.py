"""`singletable restore`: a copy of a database in the place where it is to be used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.messages import say
from singletable.cli.progress import progress_bar
from singletable.storage.file_copies import restore_file

if TYPE_CHECKING:
    import argparse


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
