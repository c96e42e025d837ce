"""Hold the write lock of a database until nobody has more to say.

usage: python -m resilience.crash.lock_holder FILE      (says "held", and ends with its input)
"""

from __future__ import annotations

import sys

import apsw


def main(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("BEGIN IMMEDIATE").fetchall()
    print("held", flush=True)
    sys.stdin.read()
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
