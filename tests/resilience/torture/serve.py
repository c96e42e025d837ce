"""A server with other bounds than those of the command.

usage: python -m resilience.torture.serve FILE DURABILITY SETTINGS
       (SETTINGS: the bounds of ServerSettings, as JSON)
"""

from __future__ import annotations

import json
import sys
from typing import Literal, cast

from singletable import Database
from singletable.cli.serving import print_ready, run_server, server_log
from singletable.server import Address, ServerSettings


def main(arguments: list[str]) -> int:
    file, durability, settings = arguments
    chosen = cast("Literal['full', 'relaxed']", durability)

    def on_ready(address: Address) -> None:
        print_ready(address, file, as_json=True)

    with server_log(as_json=False, debug=False), Database.open(file, durability=chosen) as database:
        bounds = ServerSettings(**{"port": 0, **json.loads(settings)})
        return run_server(database, bounds, on_ready=on_ready)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
