"""A process that writes to a table while days pass for it and its log is trimmed, until it is killed.

usage: python -m resilience.crash.trim FILE TIME_US FIRST  (what its clock says, and the number of its first write)

Each report is `written NUMBER`, `read SEQUENCE`, or `before TIME_US`: the clock does not come to that while what
has become old is taken away, in the smallest pieces, between the writes of another thread.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from singletable.engine.stream_records import sequence_position

TABLE = "trimmed"
ITEMS = 40
READER = "reader"  # reads all of it, in small batches and late
IDLER = "idler"  # reads nothing, and holds the log back for less than a stream does
HOLD_S = 7 * 24 * 3600
IDLER_HOLD_S = 2 * 3600

_STEP_S = 4 * 3600
_BEHIND_S_MAX = (
    2 * 24 * 3600
)  # the reader leaves records for later: for more than a day, for less than its hold
_SLACK_S = 600  # for what the clock ticks on while it is looked at


class TickingClock(ManualClock):
    """A clock that is moved by hand, and on which every look takes long: nothing is done in large pieces."""

    def now_us(self) -> int:
        self._tick()
        return super().now_us()

    def elapsed_us(self) -> int:
        self._tick()
        return super().elapsed_us()

    def _tick(self) -> None:
        self.time_us += 20_000
        self._elapsed_us += 20_000


def numbered_item(number: int) -> Any:
    return {"id": {"S": f"item#{number % ITEMS}"}, "version": {"N": str(number)}}


def sequences_of(event: Any) -> list[int]:
    """Return the numbers in the log of the records of an event."""
    return [sequence_position(record["dynamodb"]["SequenceNumber"]) or 0 for record in event["Records"]]


def report(*lines: str) -> None:
    """Print lines in one small write, so that those of several threads stay whole."""
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


def _write_on(db: Database, number: int) -> None:
    try:
        while True:
            db.put_item(TableName=TABLE, Item=numbered_item(number))
            report(f"written {number}")
            number += 1
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(3)


def main(path: str, time_us: str, first: str) -> None:
    clock = TickingClock(int(time_us))
    db = Database.open(path, durability="relaxed", clock=clock)
    reader = db.consume(
        TABLE,
        lambda event: report(*[f"read {sequence}" for sequence in sequences_of(event)]),
        READER,
        batch_size=20,
        hold_s=HOLD_S,
        lease_s=0.1,
        background=False,
    )
    threading.Thread(target=_write_on, args=(db, int(first)), daemon=True).start()
    while True:
        report(f"before {clock.time_us + (_STEP_S + _SLACK_S) * 1_000_000}")
        clock.advance(_STEP_S)
        while reader.status().seconds_behind > _BEHIND_S_MAX:
            reader.run_once()


if __name__ == "__main__":
    main(*sys.argv[1:])
