"""Repair: what comes back of a damaged file, what is told to be lost, and that nothing is invented."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from singletable import Database, errors
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from singletable.storage.repair.file import RepairReport, repair_file
from support.damaged_files import PAGE_BYTES, Sound, all_of, damage, key_text, make_sound

NOW_US = 1_700_100_000_000_000


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return make_sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return make_sound(tmp_path_factory.mktemp("small"), scale=5)


def _damaged(sound: Sound, pages: list[int], seed: int) -> bytes:
    random, content = Random(seed), sound.content
    for page in pages:
        content = damage(content, page, random)
    return content


def _but_catalog(sound: Sound) -> list[int]:
    catalog = {page for (tree, _), pages in sound.pages.items() if tree == "catalog" for page in pages}
    return [page for page in range(1, sound.page_count + 1) if page not in catalog]


def _holds(path: Path | str, content: bytes) -> bool:
    """Compare without the difference, which takes pytest minutes to show."""
    return Path(path).read_bytes() == content


def _repair(
    sound: Sound, pages: list[int], seed: int, folder: Path, *, backups: bool = True
) -> RepairReport | None:
    """Damage pages, repair, and compare with what was; None if the bytes are the same by chance."""
    content = _damaged(sound, pages, seed)
    if content == sound.content:
        return None
    path = folder / "damaged.db"
    path.write_bytes(content)
    kept = f"{sound.path}.backups" if backups else str(folder / "none")
    report = repair_file(str(path), out=str(folder / f"{seed}.db"), backups=kept, now_us=NOW_US)
    assert _holds(path, content)
    _assert_told(sound, report)
    return report


def _assert_told(sound: Sound, report: RepairReport) -> None:
    """Each item is what it was, or it is listed with what became of it."""
    assert report.repaired is not None
    path = Path(report.repaired)
    assert path.read_bytes()[18:21] == b"\2\2\x08"
    assert check_file(path) == []
    with Database.open(path, durability="relaxed", clock=ManualClock(NOW_US + 60_000_000)) as db:
        assert {table.name for table in report.tables} == {*sound.items, "empty"}
        for table in report.tables:
            expected, versions = sound.items[table.name], sound.versions[table.name]
            stored = all_of(db, table.name)
            lost = {key_text(key) for key in table.lost}
            back = {key_text(one.key): one.recovered for one in table.brought_back}
            assert stored.keys() <= expected.keys()
            assert lost <= expected.keys() - stored.keys()
            assert back.keys() <= stored.keys()
            assert table.kept == len(stored) - len(back)
            for key, item in stored.items():
                may_be_older = key in back and back[key].may_be_older
                assert item in versions[key] if may_be_older else item == expected[key]
            if table.lost_without_key is not None:
                assert len(expected) - len(stored) - len(lost) == table.lost_without_key
        _assert_past_is_right(sound, db)


def _assert_past_is_right(sound: Sound, db: Database) -> None:
    described = db.describe_continuous_backups(TableName="recovered")["ContinuousBackupsDescription"]
    earliest_s = described["PointInTimeRecoveryDescription"]["EarliestRestorableDateTime"].timestamp()
    for at_us, items in sound.past:
        at_s = at_us / 1_000_000
        if at_s >= earliest_s:
            assert all_of(db.at(at_s), "recovered") == items


# --- damage ---------------------------------------------------------------------------------------------


def test_a_page_of_each_kind_comes_back_or_is_told(sound: Sound, tmp_path: Path) -> None:
    for seed, ((tree, kind), pages) in enumerate(sound.pages.items()):
        if tree == "catalog":
            continue  # without it, a file is refused unless streams and backups have all of it
        report = _repair(sound, [Random(seed).choice(pages)], seed, tmp_path)
        if report is None:
            continue
        if kind == "internal" or not tree.startswith("item"):
            assert not any(table.lost for table in report.tables), (tree, kind)
            assert not any(table.brought_back for table in report.tables), (tree, kind)
        assert not any(table.lost_without_key for table in report.tables), (tree, kind)
        assert not report.unattributed


@pytest.mark.parametrize(("number", "seed"), [*((2, seed) for seed in range(12)), (10, 404)])
def test_some_pages_at_once_come_back_or_are_told(
    sound: Sound, tmp_path: Path, number: int, seed: int
) -> None:
    """The last one: items whose row ids are known, and others, come back from the log together."""
    pages = Random(seed).sample(_but_catalog(sound), number)
    _repair(sound, pages, seed, tmp_path, backups=bool(seed % 2))


@pytest.mark.soak
@pytest.mark.parametrize("number", [1, 2, 3, 5, 10, 40])
def test_many_pages_at_once_come_back_or_are_told(sound: Sound, tmp_path: Path, number: int) -> None:
    for seed in range(500):
        _repair(sound, Random(seed).sample(_but_catalog(sound), number), seed, tmp_path)
        (tmp_path / f"{seed}.db").unlink(missing_ok=True)


def test_a_definition_that_is_lost_comes_from_stream_or_backup(sound: Sound, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    page = sound.pages["catalog", "leaf"][0]
    path.write_bytes(_damaged(sound, [page], 1))
    with pytest.raises(errors.CorruptDatabaseError, match=r"definition of table \d+ is lost") as caught:
        repair_file(str(path), backups=f"{sound.path}.backups", now_us=NOW_US)
    assert "--backups" in str(caught.value.hint)
    with Database.open(sound.path, durability="relaxed", clock=ManualClock(NOW_US)) as db:
        for table in ("twin", "recovered", "empty"):
            db.create_backup(TableName=table, BackupName="all")
    report = repair_file(str(path), backups=f"{sound.path}.backups", now_us=NOW_US)
    assert report.tables
    assert check_file(path) == []


def test_items_whose_table_cannot_be_told_are_left_out_and_listed(small: Sound, tmp_path: Path) -> None:
    """The schema of a small file is on its first page. `plain` and `twin` have equal keys, and `plain` more."""
    report = _repair(small, [1], 3, tmp_path)
    assert report is not None
    told = {name for _, names in report.unattributed for name in names}
    assert told <= {"plain", "twin"}


def test_writes_that_are_only_in_the_log_are_kept(sound: Sound, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    path.write_bytes(sound.content)
    with Database.open(path, durability="relaxed", clock=ManualClock(NOW_US)) as db:
        db.put_item(TableName="plain", Item={"id": {"S": "new"}})
        log = Path(f"{path}-wal").read_bytes()
        content = path.read_bytes()
    (tmp_path / "again").mkdir()
    path = tmp_path / "again" / "app.db"
    page = sound.pages["item_2", "leaf"][0]
    damaged = damage(content, page, Random(5))
    path.write_bytes(damaged)
    Path(f"{path}-wal").write_bytes(log)
    report = repair_file(str(path), now_us=NOW_US)
    assert report.kept is not None
    assert _holds(report.kept, damaged)
    assert _holds(f"{report.kept}-wal", log)
    assert not Path(f"{path}-wal").exists()
    with Database.open(path, durability="relaxed", clock=ManualClock(NOW_US)) as db:
        assert all_of(db, "plain").keys() == sound.items["plain"].keys() | {key_text({"id": {"S": "new"}})}


def test_damage_in_the_middle_of_the_log_is_told(sound: Sound, tmp_path: Path) -> None:
    path, copy = tmp_path / "app.db", tmp_path / "copy.db"
    path.write_bytes(sound.content)
    with Database.open(path, durability="relaxed", clock=ManualClock(NOW_US)) as db:
        for number in range(5):
            db.put_item(TableName="plain", Item={"id": {"S": f"new{number}"}})
        log = bytearray(Path(f"{path}-wal").read_bytes())
        copy.write_bytes(path.read_bytes())
    log[len(log) // 2] ^= 1
    Path(f"{copy}-wal").write_bytes(log)
    report = repair_file(str(copy), now_us=NOW_US)
    assert not report.is_all_back
    assert any(note.startswith("the write-ahead log is damaged") for note in report.notes)
    assert check_file(copy) == []


def test_a_backup_that_is_newer_than_the_last_change_is_exact(tmp_path: Path) -> None:
    clock, path = ManualClock(NOW_US), tmp_path / "app.db"
    with Database.open(path, durability="relaxed", clock=clock) as db:
        db.create_table(
            TableName="table",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        db.update_continuous_backups(
            TableName="table", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        clock.advance(1)
        db.put_item(TableName="table", Item={"id": {"S": "before"}, "text": {"S": "x" * 2_000}})
        clock.advance(1)
        db.create_backup(TableName="table", BackupName="between")
        clock.advance(1)
        db.put_item(TableName="table", Item={"id": {"S": "after"}, "text": {"S": "y" * 1_000}})
    content = path.read_bytes()
    at = content.index(b"x" * 2_000)
    path.write_bytes(content[:at] + b"z" + content[at + 1 :])
    report = repair_file(str(path), now_us=NOW_US + 60_000_000)
    (table,) = report.tables
    (back,) = table.brought_back
    assert (back.key, back.recovered.source, back.recovered.may_be_older) == (
        {"id": {"S": "before"}},
        "backup",
        False,
    )
    assert table.lost == [{"id": {"S": "after"}}]


# --- the file, at each moment ---------------------------------------------------------------------------


def test_sound_file_is_left_alone(sound: Sound, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    path.write_bytes(sound.content)
    report = repair_file(str(path), now_us=NOW_US)
    assert report.is_sound
    assert report.is_all_back
    assert _holds(path, sound.content)
    assert os.listdir(tmp_path) == ["app.db"]


def test_file_without_sums_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).parent.parent / "fixtures" / "format-2.sqlite", path)
    with pytest.raises(errors.NotADatabaseError, match="has no checksums"):
        repair_file(str(path), now_us=NOW_US)


def test_file_that_is_open_elsewhere_is_refused(sound: Sound, tmp_path: Path, warm_programs: Path) -> None:
    """Also one whose header is damaged, which SQLite does not open any more."""
    path = tmp_path / "app.db"
    path.write_bytes(_damaged(sound, [17], 0))
    with Database.open(path, durability="relaxed", clock=ManualClock(NOW_US)) as db:
        for damage_more in ("", "header"):
            db.list_tables()
            if damage_more:  # by another process: to close a file here would end the locks of the database
                subprocess.run(
                    ["dd", f"of={path}", "conv=notrunc", "status=none"],
                    input=damage_more.encode(),
                    check=True,
                )
            repair = [str(warm_programs / "singletable"), "repair", str(path)]
            said = subprocess.run(repair, capture_output=True, text=True, check=False)
            assert (said.returncode, said.stdout) == (2, "")
            assert "is open in another process" in said.stderr
        assert [name for name in os.listdir(tmp_path) if "damaged" in name or "partial" in name] == []


def test_full_disk_leaves_the_damaged_file(small: Sound, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    content = _damaged(small, [20], 0)
    for size in (0, PAGE_BYTES * 10, len(content) // 2):
        path.write_bytes(content)
        # SQLite knows of no limit for the size of a file: to it, that is a write that has failed.
        assert _in_child(partial(_repair_cramped, path, size)) in ("DiskFullError", "StorageFailedError")
        assert _holds(path, content)
        assert os.listdir(tmp_path) == ["app.db"]


def _repair_cramped(path: Path, size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    repair_file(str(path), now_us=NOW_US)


def test_kill_leaves_the_damaged_file_or_the_repaired_one(small: Sound, tmp_path: Path) -> None:
    path, log = tmp_path / "app.db", tmp_path / "app.db-wal"
    content = _damaged(small, [20], 0)
    states = []
    for moment in range(200):
        for leftover in tmp_path.iterdir():
            leftover.unlink()
        path.write_bytes(content)
        log.write_bytes(b"a log that SQLite finds nothing in")
        ended = _in_child(partial(_repair_until, path, moment))
        if ended != "killed":
            break
        kept = list(tmp_path.glob("app.db.damaged-*Z"))
        if _holds(path, content):
            states.append("damaged")
            assert log.read_bytes()
        else:
            states.append("repaired")
            assert [_holds(one, content) for one in kept] == [True]
            assert check_file(path) == []
        again = repair_file(str(path), now_us=NOW_US + 5_000_000)
        assert again.is_sound == (states[-1] == "repaired")
        assert not log.exists() or not log.read_bytes()  # the check of a file leaves an empty one
        assert not list(tmp_path.glob("*.partial")) + list(tmp_path.glob("*.partial-*"))
    assert ended == "done"
    assert states == sorted(states)
    assert states.count("damaged") > 5
    assert states.count("repaired") > 1


def _repair_until(path: Path, moment: int) -> None:
    """Repair, and be killed at the so-manieth look at files of the folder."""
    left = moment

    def look(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        is_file = event in ("open", "os.link", "os.rename", "os.remove", "os.chmod")
        if is_file and str(arguments[0]).startswith(str(path)):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.addaudithook(look)
    repair_file(str(path), now_us=NOW_US)


def _in_child(work: Callable[[], object]) -> str:
    """Do something in a forked process; return how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            os.write(writing, b"done")
        except BaseException as error:  # of whatever kind: the parent compares
            os.write(writing, type(error).__name__.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said or "killed"
