"""Fork while a backup is being made: both sides go on.

usage: python -m resilience.crash.forking_backup FILE      (prints how many backups there are at the end)
"""

from __future__ import annotations

import os
import sys

from resilience.crash.mover import open_accounts
from singletable import Database, limits


def main(path: str) -> None:
    limits.SMALL_BACKUP_BYTES = -1  # type: ignore[misc]  # every backup is made in a thread, as that of a large table
    db = Database.open(path, durability="relaxed")
    open_accounts(db)
    db.create_backup(TableName="accounts", BackupName="parent")
    child = os.fork()
    db.create_backup(TableName="accounts", BackupName="after" if child else "child")
    db._session.store.workers.wait()
    assert db.check() == []
    if child == 0:
        db.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    print(len(db.list_backups()["BackupSummaries"]))
    db.close()


if __name__ == "__main__":
    main(sys.argv[1])
