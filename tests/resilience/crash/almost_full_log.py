"""A database whose log is about to be copied into the file, so that a short workload meets a checkpoint.

SQLite copies the log back when it reaches 1000 pages. A database that is closed has no log; but file and log,
copied together while nobody writes, are a database as a killed process leaves it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all, create_plain
from resilience.crash.workload import Workload
from singletable import Database

_LOG_BYTES = 940 * 4120  # a page and its header
_FILLER_BYTES = 30_000


@dataclass(frozen=True)
class Template:
    """Such a database, and the number of operations of writer 0 that are in it."""

    path: Path
    workload: Workload
    operations: int

    def copy_to(self, directory: Path) -> Path:
        """Put a copy into the directory."""
        path = directory / "app.db"
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{self.path}{suffix}", f"{path}{suffix}")
        return path

    def progress(self) -> Progress:
        """Return how far its writer is."""
        progress = Progress(self.workload, writer=0)
        for number in range(1, self.operations + 1):
            _, outcome = progress.state.after(self.workload.operation(0, number))
            progress.acknowledge(number, outcome)
        return progress


def make_template(directory: Path, workload: Workload, operations: int = 20) -> Template:
    path = directory / "original.db"
    copy = directory / "template.db"
    with Database.open(path, durability="relaxed") as db:
        create_all(db)
        create_plain(db, "filler")
        for number in range(1, operations + 1):
            perform(db, workload.operation(0, number))
        log = Path(f"{path}-wal")
        filled = 0
        while log.stat().st_size < _LOG_BYTES:
            filled += 1
            payload = {"S": f"{filled:0{_FILLER_BYTES}}"}
            db.put_item(TableName="filler", Item={"PK": {"S": "x"}, "Payload": payload})
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    return Template(copy, workload, operations)
