"""Making a file, recognising one, refusing what is not one."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from designs import create_plain
from singletable import Database, errors
from singletable.storage import formats, schema
from singletable.storage.catalog import Execute
from singletable.storage.check import check_file

FORMAT_1 = Path(__file__).parent / "fixtures" / "format-1.sqlite"


def test_new_file_is_private_to_its_owner(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db"):
        for file in tmp_path.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_file_names_its_format(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    Database.open(path).close()
    connection = apsw.Connection(str(path))
    assert connection.execute("PRAGMA user_version").fetchall() == [(schema.FORMAT_VERSION,)]
    assert connection.execute("PRAGMA application_id").fetchall() == [(schema.APPLICATION_ID,)]
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    connection.close()


def test_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    path.touch()
    with Database.open(path) as db:
        create_plain(db)
    assert check_file(path) == []


def test_newer_format_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    Database.open(path).close()
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version = {schema.FORMAT_VERSION + 1}")
    connection.close()
    with pytest.raises(
        errors.NewerFormatError, match=f"has format {schema.FORMAT_VERSION + 1}; this release"
    ):
        Database.open(path)
    with pytest.raises(errors.NewerFormatError):
        check_file(path)


def test_sqlite_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs(x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(errors.NotADatabaseError, match="not one of singletable"):
        Database.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        pytest.param(b"hello, this is a text file\n" * 100, errors.NotADatabaseError, id="text"),
        pytest.param(b"x", errors.NotADatabaseError, id="one-byte"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(5000), errors.NotADatabaseError, id="picture"),
    ],
)
def test_file_that_is_no_database_is_refused_and_left_alone(
    tmp_path: Path, content: bytes, kind: type[errors.DatabaseError]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(kind, match="is not a singletable database") as caught:
        Database.open(path)
    assert caught.value.hint
    assert path.read_bytes() == content


def test_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.NotADatabaseError, match="is a directory"):
        Database.open(tmp_path)


def test_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.StorageFailedError, match="its directory does not exist"):
        Database.open(tmp_path / "missing" / "app.db")


def test_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'full' or 'relaxed', not 'maybe'"):
        Database.open(tmp_path / "app.db", durability="maybe")  # type: ignore[arg-type]


def test_file_of_format_1_is_upgraded_when_it_is_opened(tmp_path: Path) -> None:
    """The fixture was written by the code that made format 1."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_1, path)
    with Database.open(path) as db:
        items = db.query(
            TableName="mixed",
            KeyConditionExpression="PK = :a",
            ExpressionAttributeValues={":a": {"S": "a"}},
        )["Items"]
        by_bytes = db.get_item(TableName="keyed-by-bytes", Key={"id": {"B": b"\x01\x02"}})
    assert [item.get("data") for item in items] == [{"B": b"new"}, None, None]
    assert items[1]["nested"] == {"M": {"parts": {"L": [{"BS": [b"x", b"y"]}]}}}
    assert items[2]["text"] == {"S": 'plain "B": text'}
    assert by_bytes["Item"] == {"id": {"B": b"\x01\x02"}, "n": {"N": "5"}}
    assert check_file(path) == []


def test_upgrade_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(execute: Execute) -> None:
        execute("DELETE FROM catalog")
        raise RuntimeError("half way")

    path = tmp_path / "app.db"
    shutil.copy(FORMAT_1, path)
    with monkeypatch.context() as patch:
        patch.setattr(formats, "UPGRADES", {1: fail})
        with pytest.raises(RuntimeError, match="half way"):
            Database.open(path)
    with Database.open(path) as db:
        assert db.list_tables()["TableNames"] == ["keyed-by-bytes", "mixed"]


def test_older_file_is_not_checked_before_its_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_1, path)
    with pytest.raises(errors.NotADatabaseError, match="has format 1; only format") as caught:
        check_file(path)
    assert caught.value.hint is not None
    assert "upgrades it" in caught.value.hint


OPEN_WHEN_TOLD = """
import sys
from singletable import Database
Database
print("ready", flush=True)
for path in sys.stdin:
    with Database.open(path.strip()) as db:
        print(db.list_tables()["TableNames"], flush=True)
"""


def test_processes_that_make_one_file_at_once_all_open_it(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_WHEN_TOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    paths = "".join(f"{tmp_path / str(number)}\n" for number in range(25))
    for child in children:
        assert child.stdin is not None
        child.stdin.write(paths)
        child.stdin.flush()
    for child in children:
        answers, _ = child.communicate()
        assert answers == "[]\n" * 25
        assert child.returncode == 0
    assert check_file(tmp_path / "0") == []
