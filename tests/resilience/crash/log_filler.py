"""Write large items until killed, so that the write-ahead log is begun anew again and again.

usage: python -m resilience.crash.log_filler FILE IS_FIRST      (with 1: only make the table)
"""

from __future__ import annotations

import itertools
import sys

from resilience.crash.tables import create_plain
from singletable import Database


def main(path: str, is_first: str) -> None:
    with Database.open(path, durability="relaxed") as db:
        if is_first == "1":
            create_plain(db, "things")
            return
        for number in itertools.count():
            item = {"PK": {"S": f"{number % 300}"}, "Payload": {"S": "x" * 9000}}
            db.put_item(TableName="things", Item=item)
            print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
