"""A process with several clients that record what they asked and got.

usage: python -m resilience.torture.recorder SEED COUNT FIRST_CLIENT CLIENTS HOST:PORT...
"""

from __future__ import annotations

import sys

from resilience.torture.histories import Recorder, record_in_threads, written
from singletable.server import Address


def main(arguments: list[str]) -> None:
    seed, count, first, clients = map(int, arguments[:4])
    addresses = [
        Address(host, int(port)) for host, _, port in (text.rpartition(":") for text in arguments[4:])
    ]
    recorders = [Recorder(client, seed) for client in range(first, first + clients)]
    record_in_threads(recorders, addresses, count)()
    for recorder in recorders:
        for name, step in recorder.steps:
            print(written(name, step))


if __name__ == "__main__":
    main(sys.argv[1:])
