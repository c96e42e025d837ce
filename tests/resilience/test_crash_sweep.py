"""A sweep of expired items that was killed goes on after the next open, and deletes none of them twice."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.children import Reports, start
from resilience.crash.sweep import ATTRIBUTE, INDEX, ITEMS, STREAM, TABLE
from resilience.crash.verify import assert_index_agrees, assert_sound, read_pages
from singletable import Database
from singletable.clock import SystemClock
from singletable.storage.log import EXPIRED
from support.expiring import enable, log_of
from support.sample_tables import attributes, index, key_schema

_POLLS_MAX = 6000


def _make_table(path: Path) -> None:
    """Make a table whose items have all expired; nobody sweeps it yet."""
    now_s = SystemClock().now_us() // 1_000_000
    with Database.open(path, durability="relaxed", ttl_sweep_s=None) as db:
        db.create_table(
            TableName=TABLE,
            KeySchema=key_schema("PK", "SK"),
            AttributeDefinitions=attributes(PK="S", SK="S", Colour="S"),
            GlobalSecondaryIndexes=[index(INDEX, "Colour")],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification=STREAM,
        )
        enable(db, TABLE, ATTRIBUTE)
        for first in range(0, ITEMS, 25):
            requests: list[Any] = [
                {
                    "PutRequest": {
                        "Item": {
                            "PK": {"S": f"item#{number}"},
                            "SK": {"S": "x"},
                            "Colour": {"S": f"colour#{number % 5}"},
                            ATTRIBUTE: {"N": str(now_s - 1000 + number % 100)},
                        }
                    }
                }
                for number in range(first, first + 25)
            ]
            db.batch_write_item(RequestItems={TABLE: requests})


def _kill_after(path: Path, reports_max: int) -> None:
    """Run the process that sweeps; kill it after so many reports, or when little is left."""
    with Reports([start("sweep", path)]) as reports:
        for count, line in enumerate(reports.lines(), 1):
            if count == reports_max or int(line) < ITEMS // 4:
                reports.kill()
        reports.assert_killed()


def _wait_until_swept(db: Database) -> None:
    never = threading.Event()
    for _ in range(_POLLS_MAX):
        if not any(ATTRIBUTE in item for item in read_pages(db.scan, TableName=TABLE)):
            return
        never.wait(0.01)
    raise AssertionError("the sweep does not go on")


def _kill_and_resume(path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    _make_table(path)
    for _ in range(kills):
        _kill_after(path, random.randint(1, 40))
        assert_sound(path)
    with Database.open(path, ttl_sweep_s=None) as db:
        swept_before = sum(1 for entry in log_of(db, TABLE) if entry.event == EXPIRED)
    assert 0 < swept_before < ITEMS, "no kill fell into the sweep"
    with Database.open(path) as db:
        _wait_until_swept(db)
        found = list(read_pages(db.scan, TableName=TABLE))
        assert {item["PK"]["S"].partition("#")[0] for item in found} <= {"kept"}
        assert_index_agrees(db, TABLE, INDEX, ("Colour",), found, whole=True)
        expired = Counter(entry.pk for entry in log_of(db, TABLE) if entry.event == EXPIRED)
        assert len(expired) == ITEMS
        assert set(expired.values()) == {1}, "an item was deleted twice"
        sequence = [entry.seq for entry in log_of(db, TABLE)]
        assert sequence == list(range(1, len(sequence) + 1))
    assert_sound(path)


def test_killed_sweep_resumes_after_reopen(tmp_path: Path) -> None:
    _kill_and_resume(tmp_path / "swept.db", seed=1, kills=3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 22))
def test_sweep_killed_several_times_resumes_after_reopen(tmp_path: Path, seed: int) -> None:
    _kill_and_resume(tmp_path / "swept.db", seed, kills=5)
