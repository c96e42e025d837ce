"""`singletable backup`: a copy of a whole database, while others use it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.messages import say
from singletable.cli.progress import progress_bar
from singletable.storage.file_copies import back_up_file
from singletable.storage.page_copies import sums_path

if TYPE_CHECKING:
    import argparse


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
