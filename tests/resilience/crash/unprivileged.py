"""Try to open a database without the powers of root, who may write to any file.

usage: python -m resilience.crash.unprivileged FILE      (prints the name, message and hint of the error as JSON)
"""

from __future__ import annotations

import json
import os
import sys

from resilience.crash.tables import create_plain
from singletable import Database
from singletable.errors import DatabaseError

_NOBODY = 65534


def main(path: str) -> None:
    with Database.open(":memory:") as db:  # loads every module that is needed, while they may be read
        create_plain(db, "things")
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    try:
        with Database.open(path) as db:
            db.list_tables()
            create_plain(db, "things")
    except DatabaseError as error:
        print(json.dumps([type(error).__name__, error.message, error.hint]))
    else:
        print(json.dumps(["opened", "", ""]))


if __name__ == "__main__":
    main(sys.argv[1])
