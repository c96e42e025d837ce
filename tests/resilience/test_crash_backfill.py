"""An index that was being filled when its process was killed is filled to the end after the next open."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from resilience.crash.backfill import INDEX, ITEMS, TABLE, numbered_item, wait_until_active, written_number
from resilience.crash.children import Reports, start
from resilience.crash.verify import assert_index_agrees, assert_sound, read_pages
from resilience.crash.workload import Item
from singletable import Database


def _make_table(path: Path) -> None:
    with Database.open(path, durability="relaxed") as db:
        db.create_table(
            TableName=TABLE,
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        for first in range(0, ITEMS, 25):
            items = [numbered_item(number, 0) for number in range(first, first + 25)]
            db.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": item}} for item in items]})


def _kill_after(path: Path, first: int, reports_max: int, until: str = "") -> tuple[int, str]:
    """Run the process that adds the index and writes; kill it; return its last write and the status then."""
    last, status = str(first - 1), ""
    with Reports([start("backfill", path, first)]) as reports:
        for count, line in enumerate(reports.lines(), 1):
            last, status = line.split()
            if count == reports_max or status == until:
                reports.kill()
        reports.assert_killed()
    return int(last), status


def _verify(db: Database, last: int) -> None:
    found = {item["PK"]["S"]: item for item in read_pages(db.scan, TableName=TABLE)}
    expected: dict[str, Item] = {f"item#{number}": numbered_item(number, 0) for number in range(ITEMS)}
    for write in range(1, last + 1):
        item = numbered_item(written_number(write), write)
        expected[item["PK"]["S"]] = item
    in_flight = numbered_item(written_number(last + 1), last + 1)
    if found[in_flight["PK"]["S"]] == in_flight:
        expected[in_flight["PK"]["S"]] = in_flight
    assert found == expected
    assert_index_agrees(db, TABLE, INDEX, ("Colour", "Rank"), found.values(), whole=True)


def _kill_and_resume(path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    _make_table(path)
    last = 0
    statuses = set()
    for _ in range(kills):
        last, status = _kill_after(path, last + 1, random.randint(1, 12))
        statuses.add(status)
        assert_sound(path)
    assert "CREATING" in statuses, "the index was filled before the first kill"
    with Database.open(path) as db:
        wait_until_active(db, TABLE)
        _verify(db, last)
    assert_sound(path)


def test_killed_backfill_resumes_after_reopen(tmp_path: Path) -> None:
    _kill_and_resume(tmp_path / "filled.db", seed=1, kills=2)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 22))
def test_backfill_killed_several_times_resumes_after_reopen(tmp_path: Path, seed: int) -> None:
    _kill_and_resume(tmp_path / "filled.db", seed, kills=4)


def test_backfill_runs_on_while_writers_write(tmp_path: Path) -> None:
    path = tmp_path / "filled.db"
    _make_table(path)
    last, status = _kill_after(path, 1, 50_000, until="ACTIVE")
    assert status == "ACTIVE"
    with Database.open(path) as db:
        wait_until_active(db, TABLE)
        _verify(db, last)
    assert_sound(path)
