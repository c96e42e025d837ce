"""A process that makes, restores and deletes backups, and deletes tables, until it is killed.

usage: python -m resilience.crash.backup_maker FILE      (prints a line for each step that was done)
"""

from __future__ import annotations

import itertools
import os
import sys

from singletable import Database, limits


def main(path: str) -> None:
    limits.SMALL_BACKUP_BYTES = -1  # type: ignore[misc]  # every backup is made in a thread, as that of a large table
    with Database.open(path, durability="relaxed") as db:
        for number in itertools.count():
            details = db.create_backup(TableName="accounts", BackupName=f"b-{number}")["BackupDetails"]
            os.write(1, b"begun\n")
            db._session.store.workers.wait()
            os.write(1, f"made {details['BackupArn']}\n".encode())
            target = f"restored-{os.getpid()}-{number}"
            db.restore_table_from_backup(TargetTableName=target, BackupArn=details["BackupArn"])
            os.write(1, b"restoring\n")
            while db.describe_table(TableName=target)["Table"]["TableStatus"] != "ACTIVE":
                pass
            db.update_continuous_backups(
                TableName=target, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
            )
            os.write(1, b"restored\n")
            db.delete_table(TableName=target)
            os.write(1, b"deleting\n")
            db._session.store.workers.wait()
            if number % 2:
                db.delete_backup(BackupArn=details["BackupArn"])
                os.write(1, f"deleted {details['BackupArn']}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
