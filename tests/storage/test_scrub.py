"""Damage that nobody reads is found by looking; damage that somebody reads fails that request alone."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import pytest

from singletable import Database
from singletable.errors import CorruptDatabaseError, DamagedDataError
from singletable.storage.check import check_file
from singletable.storage.file.file_copies import back_up_file
from singletable.storage.file.page_sums import PAGES_A_LOOK, page_sum
from support.sample_tables import create_plain

PAGE_BYTES = 4096
ITEMS = 400
WANTED = "item 123"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        for number in range(ITEMS):
            db.put_item(TableName="things", Item={"id": {"S": f"item {number}"}, "note": {"S": "x" * 1500}})
    return path


def damage(path: Path) -> int:
    """Change a byte of one item where it is stored; return the number of its page."""
    content = path.read_bytes()
    place = content.index(b'"%s"' % WANTED.encode())
    with path.open("r+b") as stored:
        stored.seek(place + 4)
        stored.write(b"X")
    return place // PAGE_BYTES + 1


def get(db: Database, key: str) -> object:
    return db.get_item(TableName="things", Key={"id": {"S": key}}).get("Item")


def put(db: Database, key: str) -> None:
    db.put_item(TableName="things", Item={"id": {"S": key}, "note": {"S": "y" * 1500}})


def test_every_page_of_a_closed_file_has_its_sum(file: Path) -> None:
    content = file.read_bytes()
    for start in range(0, len(content), PAGE_BYTES):
        page = content[start : start + PAGE_BYTES]
        assert int.from_bytes(page[-8:], "little") == page_sum(page, start // PAGE_BYTES + 1)


def test_item_on_a_damaged_page_is_named_and_the_rest_is_served(file: Path) -> None:
    page = damage(file)
    with Database.open(file) as db:
        with pytest.raises(DamagedDataError) as caught:
            get(db, WANTED)
        assert f'the item {{"id":{{"S":"{WANTED}"}}}} of table things' in caught.value.message
        assert f"page {page} is damaged" in caught.value.message
        served = sum(_is_served(db, f"item {number}") for number in range(ITEMS))
        assert ITEMS - 4 < served < ITEMS
        put(db, "new")
        assert get(db, "new") is not None
        assert db.metrics().damaged_reads == 1 + ITEMS - served


def _is_served(db: Database, key: str) -> bool:
    try:
        assert get(db, key) is not None, "an item is silently gone"
    except DamagedDataError:
        return False
    return True


def test_damage_while_the_file_is_open_is_found_by_the_next_read(file: Path) -> None:
    with Database.open(file) as db:
        assert get(db, WANTED) is not None
        damage(file)
        with pytest.raises(DamagedDataError):
            get(db, WANTED)


def test_write_that_needs_a_damaged_page_fails_alone(file: Path) -> None:
    damage(file)
    with Database.open(file) as db:
        outcomes: dict[str, object] = {}
        keys = [WANTED, *(f"new {number}" for number in range(7))]
        barrier = Barrier(len(keys))

        def write(key: str) -> None:
            barrier.wait()
            try:
                put(db, key)
                outcomes[key] = None
            except DamagedDataError as error:
                outcomes[key] = error

        threads = [Thread(target=write, args=(key,)) for key in keys]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert isinstance(outcomes.pop(WANTED), DamagedDataError)
        assert set(outcomes.values()) == {None}
        assert all(get(db, key) is not None for key in outcomes)


def test_file_whose_first_page_is_damaged_is_not_opened(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[200] ^= 1
    file.write_bytes(content)
    with pytest.raises(CorruptDatabaseError, match="is damaged: page 1"):
        Database.open(file)


def test_scrub_finds_what_nobody_reads(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    page = damage(file)
    pages = file.stat().st_size // PAGE_BYTES
    with Database.open(file) as db, caplog.at_level(logging.ERROR, "singletable.storage"):
        scrub = db._session.store.scrub
        for _ in range(pages // PAGES_A_LOOK + 1):
            scrub.piece(PAGES_A_LOOK)
        report = db.scrub_report()
        assert (report.passes, report.pages, set(report.damaged_pages)) == (1, pages, {page})
        assert db.metrics().damaged_pages == 1
        assert [record.message.partition(": ")[2] for record in caplog.records] == [
            f"page {page} is damaged; singletable check says what it holds"
        ]
        scrub.piece(pages)
        assert len(caplog.records) == 1, "the same page is told once"


def test_scrub_forgets_a_page_that_was_repaired(file: Path) -> None:
    sound = file.read_bytes()
    damage(file)
    with Database.open(file) as db:
        scrub = db._session.store.scrub
        scrub.piece(10_000)
        assert len(db.scrub_report().damaged_pages) == 1
        with file.open("r+b") as stored:
            stored.write(sound)
        scrub.piece(10_000)
        assert not db.scrub_report().damaged_pages
        assert db.scrub_report().passes == 2


def test_pages_that_another_program_has_saved_get_their_sums(file: Path, tmp_path: Path) -> None:
    """As sqlite3 does when it closes a file of a process that was killed: the pages of the log have no sums."""
    with Database.open(file) as db:
        for number in range(0, ITEMS, 3):
            put(db, f"item {number}")
        killed = tmp_path / "killed.db"
        for ending in ("", "-wal"):
            shutil.copy(f"{file}{ending}", f"{killed}{ending}")
    with closing(sqlite3.connect(killed)) as other:
        assert other.execute("SELECT count(*) FROM item_1").fetchone() == (ITEMS,)
    assert _pages_without_sums(killed)
    assert check_file(killed) == []
    with Database.open(killed) as db:
        assert not _pages_without_sums(killed)
        assert all(get(db, f"item {number}") is not None for number in range(ITEMS))
    assert check_file(killed) == []


def test_page_without_a_sum_that_has_lost_its_end_is_damaged(file: Path) -> None:
    page = damage(file)
    content = bytearray(file.read_bytes())
    content[page * PAGE_BYTES - 512 : page * PAGE_BYTES] = bytes(512)
    file.write_bytes(content)
    with Database.open(file) as db, pytest.raises(DamagedDataError):
        get(db, WANTED)
    assert check_file(file)


def _pages_without_sums(path: Path) -> list[int]:
    content = path.read_bytes()
    return [
        n + 1
        for n in range(len(content) // PAGE_BYTES)
        if not any(content[n * 4096 + 4088 : n * 4096 + 4096])
    ]


def test_memory_has_nothing_to_scrub() -> None:
    with Database.open(":memory:", scrub_mib_s=1) as db:
        db._session.store.scrub.piece(1)
        assert db.scrub_report().pages == 0


@pytest.mark.parametrize("pace", [0, -1, 5000, float("nan")])
def test_pace_that_cannot_be_is_refused(file: Path, pace: float) -> None:
    with pytest.raises(ValueError, match="scrub_mib_s is a number up to 4096"):
        Database.open(file, scrub_mib_s=pace)


def test_nothing_is_acknowledged_behind_a_damaged_place_of_the_log(file: Path) -> None:
    """A restart would leave out all that stands behind it, and say nothing."""
    with Database.open(file) as db:
        put(db, "item 1")
        log = Path(f"{file}-wal")
        content = bytearray(log.read_bytes())
        content[content.rindex(b'"item 1"') + 1] ^= 1
        log.write_bytes(content)
        refused: CorruptDatabaseError | None = None
        for number in range(3_000):
            try:
                put(db, f"new {number}")
            except CorruptDatabaseError as error:
                refused = error
                break
        assert refused is not None
        assert "nothing is written any more" in refused.message
        assert db.trouble() is refused
        assert get(db, "item 2") is not None
        assert get(db, "new 0") is not None
    assert next(problem.where for problem in check_file(file)) == "write-ahead log"
    with pytest.raises(CorruptDatabaseError, match="-wal is damaged"):
        back_up_file(str(file), str(file.with_name("copy.db")), force=False)
