"""Fork while tables are being copied: the copies are given up, and made anew in the parent.

usage: python -m resilience.crash.forking_copy FILE thread|request
"""

from __future__ import annotations

import gc
import os
import sys
import threading

from singletable import Database, limits
from singletable.clock import SystemClock
from support.backed_up import back_up, endless_copy, fill, restored
from support.sample_tables import create_single


def _check_child(db: Database) -> None:
    gc.collect()
    # Those that its parent has made by now are there, and none of those that it is making.
    assert all(one["BackupStatus"] == "AVAILABLE" for one in db.list_backups()["BackupSummaries"])
    fill(db, 1, first=900)
    assert db.check() == []
    db.close()


def main(path: str, how: str) -> None:
    db = Database.open(path, durability="relaxed")
    for table in ("single", "other"):
        create_single(db, table)
        fill(db, 100, table)
    begun = endless_copy(setattr)
    if how == "thread":
        limits.SMALL_BACKUP_BYTES = -1  # type: ignore[misc]  # as that of a large table
        back_up(db)
        maker = None
    else:
        maker = threading.Thread(target=db.backup_all)
        maker.start()
    assert begun.wait(20)
    for table in ("single", "other"):
        fill(db, 1, table, first=500)  # so it can be told which moment a backup is of
    forked_us = SystemClock().now_us() // 1000 * 1000
    child = os.fork()
    if child == 0:
        _check_child(db)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    if maker is not None:
        maker.join()
    db._session.store.workers.wait()
    summaries = db.list_backups()["BackupSummaries"]
    assert len(summaries) == (1 if how == "thread" else 2)
    for number, summary in enumerate(summaries):
        assert summary["BackupCreationDateTime"].timestamp() * 1_000_000 >= forked_us
        assert len(restored(db, summary["BackupArn"], f"again-{number}")) in (101, 102)
    assert db.check() == []
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
