"""`python` and `singletable` that start at once, for tests that start many.

They are programs in a directory for the PATH, processes like the real ones: they have streams, a directory, an
environment and an end of their own, and take signals. What they do not show is how the interpreter and the entry
point start; `test_cli_serve.py` and `test_cli_command.py` start the real ones.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

HERE: Final = Path(__file__).parent
PROGRAMS: Final = {"python": "", "singletable": "-m singletable"}


@contextmanager
def warm_commands() -> Iterator[Path]:
    """Yield the directory with the programs, which work until the block ends."""
    with TemporaryDirectory() as folder:
        programs, address = Path(folder), f"{folder}/server"
        client = shlex.join([sys.executable, "-IS", str(HERE / "warm_client.py"), address])
        for name, words in PROGRAMS.items():
            (programs / name).write_text(f'#!/bin/sh\nexec {client} {words} "$@"\n')
            (programs / name).chmod(0o755)
        with subprocess.Popen(
            [sys.executable, str(HERE / "warm_server.py"), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Whoever interrupts the tests interrupts the programs, not what they are forked from.
            start_new_session=True,
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield programs
            server.communicate()
        assert server.returncode == 0
