"""All that stands on the log at once, in processes that are killed: it tells one story afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.children import Reports, start
from resilience.crash.mixture import (
    COPY,
    COUNTS,
    INDEX,
    PAIRS,
    TABLE,
    consume,
    create_tables,
    digest_at,
)
from resilience.crash.verify import assert_index_agrees, assert_sound, read_pages
from singletable import Database
from singletable.engine.stream_records import sequence_number
from singletable.storage.log import EXPIRED
from support.backed_up import assert_only_whole_backups, restored
from support.expiring import log_of
from support.streamed_tables import records_of, shards_of

WAIT_S = 60.0


def _by_key(items: list[Any]) -> dict[str, Any]:
    return {item["PK"]["S"]: item for item in items}


@dataclass
class MixtureLoop:
    """One file, used in every way at once by processes that are killed again and again."""

    path: Path
    seed: int
    written: int = 0
    moments: dict[int, str] = field(default_factory=dict)
    backups: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        with Database.open(self.path, durability="relaxed") as db:
            create_tables(db)

    def kill_after(self, reports_max: int) -> None:
        with Reports([start("mixture", self.path, self.seed, self.written + 1)]) as reports:
            for count, line in enumerate(reports.lines(), 1):
                self._take(*line.split())
                if count == reports_max:
                    reports.kill()
            reports.assert_killed()
        assert_sound(self.path)
        with Database.open(self.path, durability="relaxed", ttl_sweep_s=None) as db:
            self._verify(db)
        assert_sound(self.path)

    def _take(self, word: str, *rest: str) -> None:
        match word:
            case "written":
                assert int(rest[0]) == self.written + 1
                self.written += 1
            case "moment":
                self.moments[int(rest[0])] = rest[1]
            case _:
                self.backups.append(rest[0])

    def _verify(self, db: Database) -> None:
        for consumer in consume(db, batch_size=100):
            consumer.drain(WAIT_S)
        items = list(read_pages(db.scan, TableName=TABLE))
        log = log_of(db, TABLE)
        assert list(read_pages(db.scan, TableName=COPY)) == items, "the copy differs from the table"
        counts = {item["PK"]["S"]: item["times"]["N"] for item in read_pages(db.scan, TableName=COUNTS)}
        assert counts == {sequence_number(entry.seq): "1" for entry in log}
        assert _by_key(_replayed(db)) == _by_key(items), "the stream differs from the table"
        assert_index_agrees(db, TABLE, INDEX, ("Colour",), items, whole=True)
        _assert_pairs(items)
        for at_us, digest in self.moments.items():
            assert digest_at(db, at_us) == digest, "the past has changed"

    def finish(self) -> None:
        """Check what only a few of are worth the time: each backup is whole, and of one moment."""
        with Database.open(self.path, durability="relaxed") as db:
            (stream,) = db.list_streams()["Streams"]
            assert len(shards_of(db, stream["StreamArn"])) > 1
            assert any(entry.event == EXPIRED for entry in log_of(db, TABLE)), "nothing has expired"
            listed = {one["BackupArn"] for one in db.list_backups()["BackupSummaries"]}
            assert listed >= set(self.backups)
            for number, arn in enumerate(self.backups[-3:]):
                _assert_pairs(restored(db, arn, f"again-{number}"))
            assert db.check() == []
        assert_only_whole_backups(Path(f"{self.path}.backups"))


def _replayed(db: Database) -> list[Any]:
    """Return the items that the records of the stream leave, from the first to the last."""
    (stream,) = db.list_streams()["Streams"]
    items: dict[str, Any] = {}
    for record in records_of(db, stream["StreamArn"]):
        change = record["dynamodb"]
        key = change["Keys"]["PK"]["S"]
        assert items.get(key) == change.get("OldImage"), "a record is missing, or out of order"
        items.pop(key, None)
        if record["eventName"] != "REMOVE":
            items[key] = change["NewImage"]
    return list(items.values())


def _assert_pairs(items: list[Any]) -> None:
    """Two items that are written together are there together, or neither of them is."""
    numbers = {item["PK"]["S"]: item["number"]["N"] for item in items}
    for number in range(PAIRS):
        assert numbers.get(f"pair#{number}#a") == numbers.get(f"pair#{number}#b")


def _kill_repeatedly(path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    loop = MixtureLoop(path, seed)
    for _ in range(kills):
        loop.kill_after(random.randint(20, 150))
    loop.finish()


def test_killed_again_and_again_all_of_it_agrees(tmp_path: Path) -> None:
    _kill_repeatedly(tmp_path / "mixed.db", seed=1, kills=4)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 16))
def test_killed_twenty_times_all_of_it_agrees(tmp_path: Path, seed: int) -> None:
    _kill_repeatedly(tmp_path / "mixed.db", seed, kills=20)
