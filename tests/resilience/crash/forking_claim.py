"""A process claims a file, forks, and ends without a word: its child, which lives on, does not hold the file.

usage: python -m resilience.crash.forking_claim FILE
"""

from __future__ import annotations

import os
import sys

from singletable.storage.file.durable_files import claimed


def _claim_and_die(path: str, living: int) -> None:
    with claimed(path) as is_ours:
        assert is_ours
        begun, beginning = os.pipe()
        if os.fork() == 0:
            os.write(beginning, b".")
            os.read(living, 1)  # until the test is over
        else:
            os.read(begun, 1)
        os._exit(0)


def main(path: str) -> None:
    living, ending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ending)
        _claim_and_die(path, living)
    assert os.waitpid(child, 0)[1] == 0
    with claimed(path) as is_ours:
        assert is_ours
    os.close(ending)


if __name__ == "__main__":
    main(sys.argv[1])
