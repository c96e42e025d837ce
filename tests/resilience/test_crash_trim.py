"""A log that is trimmed while processes are killed keeps what somebody needs, and only that for long."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.children import Reports, start
from resilience.crash.trim import HOLD_S, IDLER, IDLER_HOLD_S, ITEMS, READER, TABLE, sequences_of
from resilience.crash.verify import assert_sound, read_pages
from singletable import Database
from singletable.clock import ManualClock
from singletable.engine.stream_records import sequence_position
from singletable.storage.log import Entry
from support.expiring import log_of
from support.streamed_tables import create_streamed

DAY_S = 24 * 3600


@dataclass
class TrimLoop:
    """One file whose log is trimmed by processes that are killed again and again."""

    path: Path
    time_us: int = 1_700_000_000_000_000  # the clock of the process was behind that
    written: int = -1  # the number of the last write that was acknowledged
    read: set[int] = field(default_factory=set)
    trimmed: int = 0

    def __post_init__(self) -> None:
        with Database.open(self.path, durability="relaxed", clock=ManualClock(self.time_us)) as db:
            create_streamed(db, TABLE)
            for name, hold_s in ((READER, HOLD_S), (IDLER, IDLER_HOLD_S)):
                db.consume(TABLE, lambda event: None, name, hold_s=hold_s, background=False).stop()

    def kill_after(self, writes: int) -> None:
        with Reports([start("trim", self.path, self.time_us, self.written + 1)]) as reports:
            last = self.written + writes
            for line in reports.lines():
                self._take(*line.split())
                if self.written >= last:
                    reports.kill()
            reports.assert_killed()
        self._verify()

    def _take(self, word: str, number: str) -> None:
        match word:
            case "written":
                assert int(number) == self.written + 1
                self.written = int(number)
            case "read":
                self.read.add(int(number))
            case _:
                self.time_us = int(number)

    def _verify(self) -> None:
        assert_sound(self.path)
        with Database.open(self.path, clock=ManualClock(self.time_us)) as db:
            log = log_of(db, TABLE)
            assert [entry.seq for entry in log] == list(range(log[0].seq, log[-1].seq + 1)), "a gap"
            self._assert_needed_is_there(db, log)
            self._assert_written_is_there(db)
            # The write under way when the process was killed may be there, or not.
            self.written = max(int(item["version"]["N"]) for item in read_pages(db.scan, TableName=TABLE))
            assert log[-1].seq == self.written + 1
            self.trimmed = log[0].seq - 1

    def _assert_needed_is_there(self, db: Database, log: list[Entry]) -> None:
        """What is gone is older than the oldest that is kept, of which nobody has needed anything."""
        if log[0].seq == 1:
            return
        age_s = (self.time_us - log[0].at_us) / 1_000_000
        assert age_s > DAY_S, "entries are gone that the stream was to show"
        positions = {
            status.name: sequence_position(status.position or "") or 0 for status in db.consumers(TABLE)
        }
        assert log[0].seq <= positions[READER] + 1, "entries are gone that a consumer had yet to read"
        assert log[0].seq > positions[IDLER] + 1

    def _assert_written_is_there(self, db: Database) -> None:
        versions = {int(item["version"]["N"]) for item in read_pages(db.scan, TableName=TABLE)}
        newest = range(max(0, self.written + 1 - ITEMS), self.written + 1)
        assert set(newest) <= versions | {self.written + 1 - ITEMS}, "an acknowledged write is lost"

    def finish(self) -> None:
        """Read what is left, and let the rest of the log grow old."""
        clock = ManualClock(self.time_us)
        with Database.open(self.path, clock=clock) as db:
            missed: list[Any] = []
            clock.advance(1)  # the lease of the killed process is over then
            with db.consume(
                TABLE,
                lambda event: self.read.update(sequences_of(event)),
                READER,
                on_missed=missed.append,
                background=False,
            ) as reader:
                reader.drain()
            assert missed == []
            end = log_of(db, TABLE)[-1].seq
            assert self.read == set(range(1, end + 1)), "a record was never handed over"
            clock.advance(2 * DAY_S)
            assert [entry.seq for entry in log_of(db, TABLE)] == [end], "the trim does not go on"
        assert_sound(self.path)


def _kill_repeatedly(path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    loop = TrimLoop(path)
    gone = []
    for _ in range(kills):
        loop.kill_after(random.randint(80, 300))
        gone.append(loop.trimmed)
    assert gone == sorted(gone)
    assert len(set(gone)) > 1, "no kill fell into the trim"
    loop.finish()


def test_killed_trim_takes_nothing_that_is_needed(tmp_path: Path) -> None:
    _kill_repeatedly(tmp_path / "trimmed.db", seed=1, kills=5)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 18))
def test_trim_killed_many_times_takes_nothing_that_is_needed(tmp_path: Path, seed: int) -> None:
    _kill_repeatedly(tmp_path / "trimmed.db", seed, kills=25)
