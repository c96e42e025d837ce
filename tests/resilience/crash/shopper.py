"""A process that writes to shops as fast as it can, and tells each operation before and after. It runs until it is
killed.

usage: python -m resilience.crash.shopper FILE|URL WRITER SEED
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime

from designs.shops import Shops
from resilience.crash.shopping import operations, perform


def main(target: str, writer: str, seed: str) -> None:
    db = Shops.open(target)
    for operation in operations(int(writer), int(seed)):
        # One small write to the pipe each, so lines stay whole.
        os.write(1, f"{writer} {json.dumps(operation)}\n".encode())
        outcome = perform(db, datetime.now(UTC), operation)
        os.write(1, f"{writer} {outcome}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
