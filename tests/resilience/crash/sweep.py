"""A process that sweeps a table whose items have all expired, until it is killed.

usage: python -m resilience.crash.sweep FILE

Each report is how many items are left. It sweeps in the smallest pieces, and writes items that stay between them.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from resilience.crash.backfill import HastyClock
from singletable import Database

TABLE = "swept"
INDEX = "ByColour"
ITEMS = 4000
ATTRIBUTE = "expires"

STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def kept_item(number: int) -> Any:
    return {"PK": {"S": f"kept#{number}"}, "SK": {"S": "x"}, "Colour": {"S": "kept"}}


def main(path: str) -> None:
    db = Database.open(path, clock=HastyClock(), ttl_sweep_s=0.01)
    number = 0
    while True:
        db.put_item(TableName=TABLE, Item=kept_item(number))
        number += 1
        items = db.describe_table(TableName=TABLE)["Table"]["ItemCount"]
        os.write(1, f"{items}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
