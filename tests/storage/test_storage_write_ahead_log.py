"""A write-ahead log is replayed into the file that it belongs to, and into no other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from resilience.crash.children import run, start
from resilience.crash.powercut_vfs import POWERCUT, powercut_disk
from resilience.crash.tables import create_plain
from singletable import Database
from singletable.cli import main
from singletable.errors import ForeignLogError
from singletable.storage.file.page_sums import summed
from singletable.storage.file.write_ahead_log import check_log_belongs
from support.clear_errors import assert_clear


def _put(db: Database, number: int, letter: str = "x") -> None:
    db.put_item(TableName="things", Item={"PK": {"S": f"{number}"}, "Payload": {"S": letter * 3000}})


def _fill(db: Database, numbers: range) -> None:
    for number in numbers:
        _put(db, number)


def _copy(source: Path, target: Path, *endings: str) -> None:
    """Copy files of a database that is open, from outside: to close a file here would drop the locks on it."""
    for ending in endings:
        subprocess.run(["cp", f"{source}{ending}", f"{target}{ending}"], check=True)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A file with its log beside it, as a process leaves it that is killed."""
    live, killed = tmp_path / "live.db", tmp_path / "killed.db"
    with Database.open(live) as db:
        create_plain(db, "things")
        _fill(db, range(50))
        _copy(live, killed, "", "-wal")
    return killed


def _refused(path: Path) -> None:
    before = {file: file.read_bytes() for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()}
    with pytest.raises(ForeignLogError) as caught:
        Database.open(path)
    assert_clear(caught.value, path)
    assert {file: file.read_bytes() for file in before} == before
    assert path.exists() == (path in before)


def test_log_of_a_killed_process_is_replayed(killed: Path) -> None:
    with Database.open(killed) as db:
        assert db.describe_table(TableName="things")["Table"]["ItemCount"] == 50
        assert db.check() == []


def test_log_of_another_file_is_refused(tmp_path: Path, killed: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        _fill(db, range(3))
    _copy(killed, path, "-wal")
    _refused(path)
    path.with_name("app.db-wal").rename(tmp_path / "aside")
    with Database.open(path) as db:
        assert db.describe_table(TableName="things")["Table"]["ItemCount"] == 3
        assert db.check() == []


@pytest.mark.parametrize("command", ["check", "backup", "history"])
def test_commands_refuse_the_log_of_another_file(
    tmp_path: Path, killed: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
    _copy(killed, path, "-wal")
    rest = {"check": [], "backup": [str(tmp_path / "copy.db")], "history": ["things", "1"]}[command]
    assert main([command, str(path), *rest]) == 2
    assert "ST812" in capsys.readouterr().err


@pytest.mark.parametrize("make", [Path.touch, lambda path: None], ids=["empty", "missing"])
def test_log_of_a_file_that_is_not_there_is_kept(
    tmp_path: Path, killed: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "app.db"
    make(path)
    _copy(killed, path, "-wal")
    _refused(path)


def test_log_of_a_later_state_of_the_file_is_refused(tmp_path: Path) -> None:
    live, restored = tmp_path / "live.db", tmp_path / "restored.db"
    with Database.open(live) as db:
        create_plain(db, "things")
        _fill(db, range(20))
    shutil.copy(live, restored)
    with Database.open(live) as db:
        _fill(db, range(20, 2_000))  # the log is copied into the file, and begun anew, more than once
        _copy(live, restored, "-wal")
    _refused(restored)


@pytest.mark.parametrize("how", ["backup", "vacuum"])
def test_log_is_refused_beside_a_copy_made_while_it_was_written(tmp_path: Path, how: str) -> None:
    live, copy = tmp_path / "live.db", tmp_path / "copy.db"
    with Database.open(live) as db:
        create_plain(db, "things")
        _fill(db, range(20))
        if how == "backup":
            assert main(["backup", str(live), str(copy)]) == 0
        else:
            apsw.Connection(str(live)).execute("VACUUM INTO ?", (str(copy),))
        _put(db, 1, "y")
        _copy(live, copy, "-wal")
    _refused(copy)


def test_restore_does_not_take_the_log_of_a_moved_file_away_unasked(
    tmp_path: Path, killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, path = tmp_path / "backup.db", tmp_path / "app.db"
    assert main(["backup", str(killed), str(backup)]) == 0
    _copy(killed, path, "-wal")
    assert main(["restore", str(backup), str(path)]) == 2
    assert "ST812" in capsys.readouterr().err
    assert path.with_name("app.db-wal").exists()
    assert main(["restore", str(backup), str(path), "--force"]) == 0
    with Database.open(path) as db:
        assert db.check() == []


def test_restore_does_not_replay_the_log_of_another_file(tmp_path: Path, killed: Path) -> None:
    path, bad = tmp_path / "app.db", tmp_path / "bad.db"
    with Database.open(path) as db:
        create_plain(db, "things")
    before = path.read_bytes()
    _copy(killed, path, "-wal")
    bad.write_bytes(b"no backup")
    bad.with_name("bad.db.sha256").write_text(f"{'0' * 64}  bad.db\n")
    assert main(["restore", str(bad), str(path), "--force"]) == 2
    assert path.read_bytes() == before


def test_log_of_a_release_without_marks_is_taken(tmp_path: Path) -> None:
    live, killed = tmp_path / "live.db", tmp_path / "killed.db"
    with Database.open(live) as db:
        create_plain(db, "things")
    raw = apsw.Connection(str(live), vfs=summed())
    raw.execute("DELETE FROM meta WHERE name LIKE 'wal_mark%'").fetchall()
    raw.close()
    with Database.open(live) as db:
        _fill(db, range(10))  # the first of them gives the file its first mark
        _copy(live, killed, "", "-wal")
    with Database.open(killed) as db:
        assert db.describe_table(TableName="things")["Table"]["ItemCount"] == 10


@pytest.mark.parametrize("durability", ["full", "relaxed"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_no_power_cut_leaves_a_log_that_is_refused(tmp_path: Path, durability: str, seed: int) -> None:
    random = Random(seed)
    with powercut_disk() as disk:
        db = Database.open(tmp_path / "app.db", vfs=POWERCUT, durability=durability)  # type: ignore[arg-type]
        create_plain(db, "things")
        for number in range(600):
            _put(db, random.randrange(400), random.choice("abc"))
            if random.random() < 0.02:
                db.close()
                db = Database.open(tmp_path / "app.db", vfs=POWERCUT, durability=durability)  # type: ignore[arg-type]
            if number % 4 == 0:
                image = tmp_path / f"{number}"
                image.mkdir()
                disk.image(image, random=random)
                if (image / "app.db").exists():
                    check_log_belongs(str(image / "app.db"))
                shutil.rmtree(image)
        db.close()
        assert disk.checkpointed_writes > 100, "the log was never copied into the file"


def test_no_kill_of_two_processes_leaves_a_log_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    run("log_filler", path, 1)
    for kill in (0, 2, 5):
        children = [start("log_filler", path, 0) for _ in range(2)]
        for child in children:
            assert child.stdout is not None
            for _ in range(40 * (kill + 1)):
                child.stdout.readline()
        for child in children:
            child.kill()
            child.communicate()
        check_log_belongs(str(path))
    with Database.open(path) as db:
        assert db.check() == []


def test_every_log_has_the_mark_of_the_file_it_began_with(tmp_path: Path) -> None:
    """What a kill leaves at any moment can be told from the log of another file: no log is without a mark."""
    path, image, other = tmp_path / "app.db", tmp_path / "image.db", tmp_path / "other.db"
    with Database.open(other) as db:
        create_plain(db, "things")
    with Database.open(path) as db:
        create_plain(db, "things")
        for number in range(400):
            db.put_item(TableName="things", Item={"PK": {"S": f"{number}"}, "Payload": {"S": "x" * 20_000}})
            if number % 13 == 0:
                shutil.copy(other, image)
                _copy(path, image, "-wal")
                with pytest.raises(ForeignLogError):
                    check_log_belongs(str(image))
