"""A damaged file: a request works or says that the file is damaged, and the checker finds what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from resilience.crash.perform import perform
from resilience.crash.tables import create_all
from resilience.crash.verify import read_pages
from resilience.crash.workload import EVENTS, LEDGER, SHARED, Workload
from singletable import Database
from singletable.errors import (
    ApiError,
    CorruptDatabaseError,
    DamagedDataError,
    DatabaseError,
    NotADatabaseError,
)
from singletable.storage.check import check_file

PAGE_BYTES = 4096
WORKLOAD = Workload(51, large=0.05, large_bytes=20_000)
DAMAGED = (CorruptDatabaseError, DamagedDataError, NotADatabaseError)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a database in which every kind of page is there."""
    path = tmp_path_factory.mktemp("sound") / "app.db"
    with Database.open(path) as db:
        create_all(db)
        for number in range(1, 41):
            for writer in range(4):
                perform(db, WORKLOAD.operation(writer, number))
    assert not check_file(path)
    return path.read_bytes()


def _requests(db: Database) -> list[Callable[[], object]]:
    def scan(table: str, index: str | None = None) -> Callable[[], object]:
        where = {"TableName": table} if index is None else {"TableName": table, "IndexName": index}
        return lambda: list(read_pages(db.scan, **where))

    writes = [partial(perform, db, WORKLOAD.operation(5, number)) for number in range(1, 15)]
    return [
        scan(LEDGER),
        scan(EVENTS),
        scan(SHARED),
        scan(LEDGER, "ByGroup"),
        scan(LEDGER, "ByFlag"),
        *writes,
    ]


def _use(path: Path) -> list[DatabaseError]:
    """Open the file and do everything with it; return what was raised: only that it is damaged is allowed."""
    try:
        db = Database.open(path)
    except DAMAGED as error:
        return [error]
    raised: list[DatabaseError] = []
    with db:
        for request in _requests(db):
            try:
                request()
            except DAMAGED as error:
                raised.append(error)
            except ApiError:
                # A table or an item that damage has hidden is reported as missing.
                pass
    assert all(error.hint and "\n" not in error.message for error in raised)
    return raised


def _is_found(path: Path) -> bool:
    """Tell whether the checker finds the damage; it raises where there is nothing left to check."""
    try:
        return bool(check_file(path))
    except DAMAGED:
        return True


def _flip(content: bytes, random: Random, flips: int) -> bytes:
    damaged = bytearray(content)
    page = random.randrange(len(content) // PAGE_BYTES)
    for _ in range(flips):
        damaged[page * PAGE_BYTES + random.randrange(PAGE_BYTES)] ^= 1 << random.randrange(8)
    return bytes(damaged)


def _damage_and_use(directory: Path, sound: bytes, seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        path = directory / f"{seed}.db"
        path.write_bytes(_flip(sound, random, random.choice((1, 3, 40))))
        is_found = _is_found(path)
        raised = _use(path)
        assert is_found or not raised, f"seed {seed}: the checker missed what a request met: {raised[0]}"
        path.unlink()


def test_flipped_bits_are_survived_or_reported(tmp_path: Path, sound: bytes) -> None:
    _damage_and_use(tmp_path, sound, range(60))


@pytest.mark.soak
def test_many_flipped_bits_are_survived_or_reported(tmp_path: Path, sound: bytes) -> None:
    _damage_and_use(tmp_path, sound, range(1000, 4000))


@pytest.mark.parametrize("filling", [b"\x00", b"\xff"], ids=["zeros", "ones"])
def test_checker_finds_every_page_that_is_lost(tmp_path: Path, sound: bytes, filling: bytes) -> None:
    path = tmp_path / "app.db"
    missed = []
    for start in range(0, len(sound), PAGE_BYTES):
        path.write_bytes(sound[:start] + filling * PAGE_BYTES + sound[start + PAGE_BYTES :])
        if not _is_found(path):
            missed.append(start // PAGE_BYTES + 1)
    assert not missed


def test_pages_that_changed_places_are_found(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "app.db"
    pages = [sound[start : start + PAGE_BYTES] for start in range(0, len(sound), PAGE_BYTES)]
    random = Random(1)
    for _ in range(20):
        one, other = random.sample(range(1, len(pages)), 2)
        swapped = list(pages)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        path.write_bytes(b"".join(swapped))
        assert _is_found(path), f"pages {one + 1} and {other + 1}"
        _use(path)
