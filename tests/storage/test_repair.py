"""`singletable repair`: what comes back of a damaged file, what is told to be lost, and that nothing is invented."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from singletable.storage.repair.file import RepairReport, repair_file
from support.damaged_files import Sound, all_of, damage, key_text, make_sound

NOW_US = 1_700_100_000_000_000


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return make_sound(tmp_path_factory.mktemp("sound"))


def _repaired(sound: Sound, pages: list[int], seed: int, folder: Path) -> RepairReport | None:
    """Damage pages, repair, and compare; None if the bytes were the same by chance."""
    random, content = Random(seed), sound.content
    for page in pages:
        content = damage(content, page, random)
    if content == sound.content:
        return None
    path = folder / "damaged.db"
    path.write_bytes(content)
    report = repair_file(
        str(path), out=str(folder / f"{seed}.db"), backups=f"{sound.path}.backups", now_us=NOW_US
    )
    assert path.read_bytes() == content
    assert_told(sound, report)
    return report


def assert_told(sound: Sound, report: RepairReport) -> None:
    """Each item is what it was, or is listed with what became of it."""
    assert report.repaired is not None
    path = Path(report.repaired)
    assert check_file(path) == []
    clock = ManualClock(NOW_US)
    with Database.open(path, durability="relaxed", clock=clock) as db:
        for table in report.tables:
            expected, versions = sound.items[table.name], sound.versions[table.name]
            stored = all_of(db, table.name)
            lost = {key_text(key) for key in table.lost}
            back = {key_text(one.key): one.recovered for one in table.brought_back}
            older = {key for key, recovered in back.items() if recovered.may_be_older}
            assert stored.keys() <= expected.keys()
            assert back.keys() <= stored.keys()
            assert not lost & stored.keys()
            assert table.kept == len(stored) - len(back)
            for key, item in stored.items():
                assert item in versions[key] if key in older else item == expected[key]
            if table.lost_without_key is not None:
                assert len(expected.keys() - stored.keys() - lost) == table.lost_without_key
        assert {table.name for table in report.tables} == {*sound.items, "empty"}
        described = db.describe_continuous_backups(TableName="recovered")["ContinuousBackupsDescription"]
        window = described["PointInTimeRecoveryDescription"]
        earliest = window["EarliestRestorableDateTime"].timestamp()
        for at_us, items in sound.past:
            if at_us / 1_000_000 >= earliest:
                assert all_of(db.at(at_us / 1_000_000), "recovered") == items
        clock.advance(60)


def test_each_kind_of_page_comes_back_or_is_told(sound: Sound, tmp_path: Path) -> None:
    for seed, pages in enumerate(sound.pages.values()):
        page = Random(seed).choice(pages)
        _repaired(sound, [page], seed, tmp_path)
