"""`singletable backup` and `singletable restore`: copies of whole databases; and those before an upgrade."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Event, Thread

import apsw
import pytest

from resilience.crash.children import Reports, start
from resilience.crash.mover import ACCOUNTS, BALANCE, open_accounts
from singletable import Database
from singletable.cli import main
from singletable.clock import ManualClock
from singletable.errors import DiskFullError
from singletable.storage.check import check_file
from singletable.storage.file import failures
from singletable.storage.file.durable_files import claimed
from singletable.storage.file.file_copies import back_up_file
from singletable.storage.file.page_sums import summed
from support.paths import FIXTURES
from support.sample_tables import all_items

FORMAT_1 = FIXTURES / "format-1.sqlite"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        open_accounts(db)
    return tmp_path / "app.db"


def _total(path: Path) -> int:
    assert check_file(path) == []
    with Database.open(path) as db:
        items = all_items(db, "scan", TableName="accounts")
    return sum(int(item["balance"]["N"]) for item in items)


def test_copy_and_its_checksum(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = file.with_name("copy.db")
    assert main(["backup", str(file), str(copy), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "file": str(file),
        "copy": str(copy),
        "bytes": copy.stat().st_size,
        "sha256": printed["sha256"],
        "checksum": f"{copy}.sha256",
    }
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--status", "-c", "copy.db.sha256"], check=True, cwd=file.parent)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _total(copy) == ACCOUNTS * BALANCE


def test_copy_made_while_another_process_writes_is_of_one_moment(file: Path) -> None:
    with Reports([start("mover", file, 3)]) as reports:
        lines = reports.lines()
        for number in range(5):
            next(lines)
            copy = file.with_name(f"copy-{number}.db")
            assert main(["backup", str(file), str(copy)]) == 0
            assert _total(copy) == ACCOUNTS * BALANCE


def test_copy_is_not_overwritten_without_force(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = file.with_name("copy.db")
    copy.write_bytes(b"something else")
    assert main(["backup", str(file), str(copy)]) == 2
    assert "exists" in capsys.readouterr().err
    assert copy.read_bytes() == b"something else"
    assert main(["backup", str(file), str(copy), "--force"]) == 0
    assert check_file(copy) == []


def test_restore_puts_the_copy_back(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    with Database.open(file) as db:
        db.delete_table(TableName="accounts")
    assert main(["restore", str(copy), str(file)]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["restore", str(copy), str(file), "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == copy.stat().st_size
    assert _total(file) == ACCOUNTS * BALANCE
    assert main(["restore", str(copy), str(file.with_name("new.db"))]) == 0
    assert _total(file.with_name("new.db")) == ACCOUNTS * BALANCE


def test_restore_refuses_a_file_that_is_open_elsewhere(file: Path) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    command = [sys.executable, "-m", "singletable", "restore", str(copy), str(file), "--force"]
    with Database.open(file) as db:
        db.put_item(TableName="accounts", Item={"id": {"S": "kept"}})
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert "is open in another process" in refused.stderr
        assert "Item" in db.get_item(TableName="accounts", Key={"id": {"S": "kept"}})
    assert check_file(file) == []
    subprocess.run(command, check=True)
    with Database.open(file) as db:
        assert "Item" not in db.get_item(TableName="accounts", Key={"id": {"S": "kept"}})


def test_copy_does_not_replace_a_file_that_is_open_elsewhere(file: Path) -> None:
    other = file.with_name("other.db")
    with Database.open(other) as db:
        open_accounts(db)
        command = [sys.executable, "-m", "singletable", "backup", str(file), str(other), "--force"]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert "is open in another process" in refused.stderr
        db.put_item(TableName="accounts", Item={"id": {"S": "kept"}})
    assert check_file(other) == []
    with Database.open(other) as db:
        assert "Item" in db.get_item(TableName="accounts", Key={"id": {"S": "kept"}})
    subprocess.run(command, check=True)
    assert _total(other) == ACCOUNTS * BALANCE


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_file_is_not_put_in_its_own_place(
    file: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    link = file.with_name("link.db")
    link.symlink_to(file)
    for other in (file, link):
        assert main([command, str(file), str(other), "--force"]) == 2
        assert "are one file" in capsys.readouterr().err
    assert _total(file) == ACCOUNTS * BALANCE


def test_restore_over_a_file_whose_process_was_killed_leaves_no_log_behind(file: Path) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    with Reports([start("mover", file, 3)]) as reports:
        for count, _ in enumerate(reports.lines()):
            if count == 50:
                reports.kill()
    assert file.with_name("app.db-wal").exists()
    assert main(["restore", str(copy), str(file), "--force"]) == 0
    assert not file.with_name("app.db-wal").exists()
    assert file.read_bytes() == copy.read_bytes()
    assert _total(file) == ACCOUNTS * BALANCE


def test_damaged_file_is_replaced(file: Path) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    file.write_bytes(b"\0" * 5000)
    assert main(["restore", str(copy), str(file), "--force"]) == 0
    assert _total(file) == ACCOUNTS * BALANCE


@pytest.mark.parametrize("seed", range(5))
def test_damaged_copy_is_not_restored(file: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    contents = bytearray(copy.read_bytes())
    contents[Random(seed).randrange(len(contents))] ^= 4
    copy.write_bytes(contents)
    assert main(["restore", str(copy), str(file), "--force"]) == 2
    assert "is damaged: its SHA-256" in capsys.readouterr().err
    assert _total(file) == ACCOUNTS * BALANCE


def test_copy_without_checksum_is_not_restored(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    copy.with_name("copy.db.sha256").unlink()
    assert main(["restore", str(copy), str(file.with_name("new.db"))]) == 2
    printed = capsys.readouterr().err
    assert f"there is no checksum of {copy}: {copy}.sha256 does not exist\n" in printed
    assert "hint: if you trust the file, make one: sha256sum" in printed


def test_copy_under_another_name_is_not_restored(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, renamed = file.with_name("copy.db"), file.with_name("renamed.db")
    main(["backup", str(file), str(copy)])
    copy.rename(renamed)
    copy.with_name("copy.db.sha256").rename(file.with_name("renamed.db.sha256"))
    assert main(["restore", str(renamed), str(file.with_name("new.db"))]) == 2
    printed = capsys.readouterr().err
    assert f"{renamed}.sha256 does not name it: a checksum belongs to the name" in printed
    assert "does not exist" not in printed


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_folder_that_does_not_exist_is_named(
    file: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = file.with_name("copy.db")
    main(["backup", str(file), str(copy)])
    wanted = file.parent / "none" / "x.db"
    assert main([command, str(file if command == "backup" else copy), str(wanted)]) == 2
    printed = capsys.readouterr().err
    assert f"error: ST807: {wanted}: the folder {wanted.parent} does not exist\n" in printed
    assert "\nhint: make the folder, or give another path\n" in printed


def test_full_disk_is_told_in_words_for_commands_too() -> None:
    told = failures.translate(apsw.FullError("FullError: database or disk is full"), "copy.db")
    assert isinstance(told, DiskFullError)
    assert told.message.startswith("copy.db: the disk is full; ")
    assert told.hint == "make room and try again"
    assert "request" not in told.message


def test_file_of_another_program_is_neither_copied_nor_restored(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello " * 1000)
    assert main(["backup", str(other), str(tmp_path / "copy.db")]) == 2
    assert main(["backup", str(tmp_path / "missing.db"), str(tmp_path / "copy.db")]) == 2
    assert main(["backup", str(tmp_path), str(tmp_path / "copy.db")]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_progress_is_shown_on_a_terminal(file: Path) -> None:
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-m", "singletable", "backup", str(file), str(file.with_name("copy.db"))]
    subprocess.run(command, stderr=other_end, check=True)
    os.close(other_end)
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:
        pass  # how the end of a terminal is told
    os.close(terminal)
    assert b"copying   [##############################] 100 %" in shown
    assert b"verifying [" in shown


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_killed_command_leaves_what_was_there(file: Path, command: str) -> None:
    copy = file.with_name("copy.db")
    assert main(["backup", str(file), str(copy)]) == 0
    before = {path: path.read_bytes() for path in (file, copy)}
    pair = [str(file), str(copy)] if command == "backup" else [str(copy), str(file)]
    random = Random(5)
    for _ in range(12):
        child = subprocess.Popen(
            [sys.executable, "-m", "singletable", command, *pair, "--force"], stderr=subprocess.DEVNULL
        )
        try:
            child.wait(random.uniform(0.05, 0.5))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
        # What is restored is the copy, which differs from its source in the mark of the log.
        for path, contents in before.items():
            assert path.read_bytes()[4096:] in (contents[4096:], before[copy][4096:])
        assert main(["restore", str(copy), str(file.with_name("other.db")), "--force"]) == 0
    assert main([command, *pair, "--force"]) == 0
    assert _total(file) == ACCOUNTS * BALANCE
    assert [path.name for path in file.parent.iterdir() if ".partial" in path.name] == []


def test_old_format_is_copied_before_it_is_upgraded(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "old.db"
    shutil.copy(FORMAT_1, path)
    (tmp_path / "old.db.backups").mkdir()
    (tmp_path / "old.db.backups" / "format-1-20220101T000000Z.db.partial").write_bytes(b"left by a kill")
    with Database.open(path, clock=clock):
        pass
    copy = tmp_path / "old.db.backups" / "format-1-20231114T221320Z.db"
    assert sorted(file.name for file in copy.parent.iterdir()) == [copy.name, f"{copy.name}.sha256"]
    first, second = copy.read_bytes(), FORMAT_1.read_bytes()
    assert first[100:] == second[100:]  # the header counts changes
    again = tmp_path / "again.db"
    assert main(["restore", str(copy), str(again)]) == 0
    with Database.open(again, clock=clock) as db, Database.open(path, clock=clock) as upgraded:
        assert db.list_tables() == upgraded.list_tables()
        assert db.check() == []


def test_copies_of_old_formats_are_pruned_by_the_schedule(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "old.db"
    shutil.copy(FORMAT_1, path)
    with Database.open(path, clock=clock) as db:
        db.backup_schedule(every="weekly", keep="90d")
        clock.advance(89 * 24 * 3600)
        assert len(list((tmp_path / "old.db.backups").glob("format-1-*"))) == 2
        clock.advance(2 * 24 * 3600)
        assert list((tmp_path / "old.db.backups").glob("format-1-*")) == []


def test_file_is_not_upgraded_without_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(FORMAT_1, path)
    in_the_way = tmp_path / "backups"
    in_the_way.write_text("a file, where the folder is to be")
    with pytest.raises(Exception, match="backups"):
        Database.open(path, backups=in_the_way)
    assert path.read_bytes()[100:] == FORMAT_1.read_bytes()[100:]


@pytest.mark.soak
def test_copy_of_a_file_over_the_page_of_the_locks(tmp_path: Path) -> None:
    """SQLite leaves out the page at 1 GiB, where its locks are."""
    path = str(tmp_path / "large.db")
    with Database.open(path, durability="relaxed"):
        pass
    large = apsw.Connection(path, vfs=summed())
    large.execute("CREATE TABLE filler(bytes); INSERT INTO filler VALUES (zeroblob(550000000))").fetchall()
    large.execute("INSERT INTO filler SELECT * FROM filler").fetchall()
    large.close()
    assert os.path.getsize(path) > 1 << 30
    copied = back_up_file(path, str(tmp_path / "copy.db"), force=False)
    assert copied.bytes == os.path.getsize(path)


def test_who_makes_a_backup_waits_for_who_only_looks(tmp_path: Path) -> None:
    """Cleaning up holds the mark of a backup for a moment; its maker must not take that for another maker."""
    path = str(tmp_path / "mark")
    waiting, taken = Event(), []

    def make() -> None:
        waiting.set()
        with claimed(path, patience_s=60) as is_ours:
            taken.append(is_ours)

    with claimed(path) as is_ours:
        assert is_ours
        maker = Thread(target=make)
        maker.start()
        waiting.wait()
        with claimed(path) as is_ours_too:
            assert not is_ours_too
        assert taken == []
    maker.join()
    assert taken == [True]
