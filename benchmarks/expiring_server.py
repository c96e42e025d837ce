"""A server whose items expire when it is told: `python -m benchmarks.expiring_server FILE ITEMS`.

It prints its port. With each line on its input the clock moves on by an hour; it prints a line when so many items
more are gone.
"""

from __future__ import annotations

import sys
import threading

from benchmarks.background import wait_until
from benchmarks.expiry import Sweeps
from singletable.server import ServerSettings, serve_until_signal


def main(path: str, items: str) -> None:
    sweeps = Sweeps(path)

    def sweep_when_told() -> None:
        for number, _ in enumerate(sys.stdin, 1):
            sweeps.begin()
            wait_until(lambda wanted=number * int(items): sweeps.swept >= wanted)  # type: ignore[misc]
            print("swept", flush=True)

    threading.Thread(target=sweep_when_told, daemon=True).start()
    with sweeps.database as database:
        serve_until_signal(
            database, ServerSettings(port=0), on_ready=lambda address: print(address.port, flush=True)
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
