"""Do something in a process whose files may not grow beyond a size, as on a disk that is full.

usage: python -m resilience.crash.cramped BYTES backup FILE
       python -m resilience.crash.cramped BYTES copy FILE DEST
       python -m resilience.crash.cramped BYTES restore COPY FILE

Prints the name of the error as JSON, and whether it has a hint.
"""

from __future__ import annotations

import json
import resource
import sys

from singletable import Database
from singletable.errors import DatabaseError
from singletable.storage.file.file_copies import back_up_file, restore_file


def _back_up(path: str, limit: int) -> None:
    with Database.open(path) as db:
        db.list_tables()  # SQLite makes its own files before there is too little room
        _limit(limit)
        try:
            db.create_backup(TableName="accounts", BackupName="cramped")
        finally:
            _limit(resource.RLIM_INFINITY)
            assert db.list_backups()["BackupSummaries"] == []
            db.put_item(TableName="accounts", Item={"id": {"S": "after"}})
            db.create_backup(TableName="accounts", BackupName="with-room")


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def main(size: str, what: str, path: str, *more: str) -> None:
    try:
        if what == "backup":
            _back_up(path, int(size))
        else:
            _limit(int(size))
            (back_up_file if what == "copy" else restore_file)(path, more[0], force=True)
    except DatabaseError as error:
        print(json.dumps([type(error).__name__, error.hint is not None]))
    else:
        print(json.dumps(["done", False]))


if __name__ == "__main__":
    main(*sys.argv[1:])
