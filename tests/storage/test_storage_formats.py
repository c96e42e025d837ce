"""Making a file, recognising one, refusing what is not one."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from singletable import Database, errors
from singletable.clock import ManualClock
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.check import check_file
from singletable.storage.definitions import stream_label
from singletable.storage.file import formats
from singletable.storage.file.connections import Location, connect
from singletable.storage.file.page_sums import page_sum
from singletable.storage.log import INSERTED, MODIFIED, REMOVED, Entry, entries_after, select_logs
from singletable.storage.streams import Shard, select_shards, select_streams
from support.backed_up import restored
from support.paths import FIXTURES
from support.sample_tables import create_plain

FORMAT_1 = FIXTURES / "format-1.sqlite"
FORMAT_2 = FIXTURES / "format-2.sqlite"
FORMAT_3 = FIXTURES / "format-3.sqlite"
FORMAT_3_END_US = 1_700_000_000_000_000
FORMAT_2_END_US = 1_700_000_009_123_456  # when the last change in it was made


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
    connection = connect(Location(str(path)))
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
    """The fixture was written by the code that made format 1. All steps to the newest format are taken."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_1, path)
    with Database.open(path) as db:
        assert db._session.store.read(lambda execute, _: formats.format_version(execute)) == 4
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


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[Database]:
    """The fixture was written by the code that made format 2; it is opened a second after its last change."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_2, path)
    with Database.open(path, clock=ManualClock(FORMAT_2_END_US + 1_000_000)) as db:
        yield db
    assert check_file(path) == []


def log_of(db: Database, name: str) -> list[Entry]:
    def work(execute: Execute, catalog: Catalog) -> list[Entry]:
        table = catalog.get(name)
        assert table is not None
        return list(entries_after(execute, table.id, after=0, rows_max=100))

    return db._session.store.read(work)


def test_file_of_format_2_keeps_its_items_and_indexes(upgraded: Database) -> None:
    assert upgraded.list_tables()["TableNames"] == ["orders", "plain", "quiet"]
    assert upgraded.scan(TableName="plain")["Items"] == [{"id": {"B": b"\x01\x02"}, "n": {"N": "5"}}]
    assert [item["id"]["S"] for item in upgraded.scan(TableName="quiet")["Items"]] == ["b", "a"]
    orders = {(item["PK"]["S"], item["SK"]["S"]): item for item in upgraded.scan(TableName="orders")["Items"]}
    assert sorted(orders) == [("a", "0"), ("a", "2"), ("early", "1")]
    assert orders["a", "0"]["tags"] == {"BS": [b"x", b"y"]}
    assert orders["a", "2"]["data"] == {"B": b"\x02"}
    by_index = {
        name: [item["SK"]["S"] for item in upgraded.scan(TableName="orders", IndexName=name)["Items"]]
        for name in ("GSI1", "LSI1")
    }
    assert by_index == {"GSI1": ["2", "0"], "LSI1": ["2"]}
    assert upgraded.check() == []


def test_log_of_format_2_becomes_that_of_the_newest_stream(upgraded: Database) -> None:
    entries = log_of(upgraded, "orders")
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.event for entry in entries] == [INSERTED, INSERTED, INSERTED, MODIFIED, REMOVED]
    assert [entry.at_us for entry in entries] == [
        FORMAT_2_END_US - back * 1_000_000 for back in (4, 3, 2, 1, 0)
    ]
    before = orjson.loads(entries[3].before or b"")
    assert before == {
        "PK": {"S": "a"},
        "SK": {"S": "0"},
        "GSI1PK": {"S": "g"},
        "LSI1SK": {"S": "x"},
        "data": {"B": "AA=="},
    }
    upgraded.put_item(TableName="orders", Item={"PK": {"S": "new"}, "SK": {"S": "1"}})
    assert log_of(upgraded, "orders")[-1].seq == 6


DAY_US = 24 * 3600 * 1_000_000


@pytest.mark.parametrize(
    ("later_from", "kept"),
    [
        pytest.param(6, {4: INSERTED, 5: MODIFIED, 6: REMOVED}, id="its last two changes"),
        pytest.param(8, {6: REMOVED}, id="no change of it"),
    ],
)
def test_upgrade_moves_of_a_log_what_its_stream_still_shows(
    tmp_path: Path, later_from: int, kept: dict[int, int]
) -> None:
    """And the newest entry that it no longer shows, as trimming does: numbers go on behind it."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_2, path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE log SET at = at + ? WHERE seq >= ?", (2 * DAY_US, later_from))
    connection.close()
    with Database.open(path, clock=ManualClock(FORMAT_2_END_US + 2 * DAY_US)) as db:
        assert {entry.seq: entry.event for entry in log_of(db, "orders")} == kept
        db.put_item(TableName="orders", Item={"PK": {"S": "new"}, "SK": {"S": "1"}})
        assert log_of(db, "orders")[-1].seq == 7
        assert db.check() == []
    assert check_file(path) == []


def test_log_of_format_2_is_taken_away_in_the_background(tmp_path: Path) -> None:
    """All of it in the transaction that upgrades would take long: nobody has ever trimmed it."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_2, path)
    place = Location(str(path), "relaxed")
    connection = connect(place)
    formats.prepare(connection, place, FORMAT_2_END_US)
    assert connection.execute("SELECT name FROM dropped").fetchall() == [("old_log",)]
    assert connection.execute("SELECT count(*) FROM old_log").fetchall() == [(8,)]
    connection.close()
    assert check_file(path) == []
    with Database.open(path, clock=ManualClock(FORMAT_2_END_US)) as db:
        db._session.store.background.time_moved()
        tables = db._session.store.read(
            lambda execute, catalog: execute(
                "SELECT name FROM sqlite_schema WHERE name GLOB '*log*'"
            ).fetchall()
        )
        assert sorted(tables) == [("catalog",), ("log",), ("log_2",), ("log_2_item",)]
    assert check_file(path) == []


def test_change_after_the_upgrade_is_not_dated_before_the_log(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_2, path)
    with Database.open(path, clock=ManualClock(FORMAT_2_END_US - DAY_US)) as db:
        db.put_item(TableName="orders", Item={"PK": {"S": "new"}, "SK": {"S": "1"}})
        # A chore of the background may have taken the next moment.
        assert log_of(db, "orders")[-1].at_us > FORMAT_2_END_US


def test_stream_of_format_2_is_registered_with_one_shard(upgraded: Database) -> None:
    described = upgraded.describe_table(TableName="orders")["Table"]
    (stream,) = upgraded._session.store.read(lambda execute, catalog: select_streams(execute))
    shards = upgraded._session.store.read(lambda execute, catalog: select_shards(execute, stream.id))
    began_us = 1_700_000_003_123_456
    assert shards == [Shard(stream.id, 0, None, 0, 1, 1, None, began_us, None)]
    assert (stream.table_name, stream.view, stream.ended_us) == ("orders", "NEW_IMAGE", None)
    assert stream.label_us == 1_700_000_003_123_000
    assert stream_label(stream.label_us) == described["LatestStreamLabel"] == "2023-11-14T22:13:23.123"
    assert stream.table.key_names == ("PK", "SK")


def test_only_tables_with_a_stream_have_a_log_after_the_upgrade(upgraded: Database) -> None:
    """Of a deleted table and of a stream that is off, nobody could read the entries."""
    store = upgraded._session.store
    orders = store.catalog.get("orders")
    assert orders is not None
    assert store.read(lambda execute, catalog: select_logs(execute)) == [orders.id]


def test_new_streams_and_tables_can_be_made_in_an_upgraded_file(upgraded: Database) -> None:
    create_plain(upgraded, "new")
    stream: Any = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    upgraded.update_table(TableName="new", StreamSpecification=stream)
    upgraded.put_item(TableName="new", Item={"id": {"S": "a"}})
    assert [entry.seq for entry in log_of(upgraded, "new")] == [1]
    assert upgraded.check() == []


@pytest.mark.parametrize(("fixture", "version"), [(FORMAT_1, 1), (FORMAT_2, 2)], ids=["format 1", "format 2"])
def test_upgrade_that_fails_leaves_the_old_file(
    fixture: Path, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = formats.UPGRADES[version]

    def fail(execute: Execute) -> None:
        upgrade(execute)
        execute("DELETE FROM catalog")
        raise RuntimeError("half way")

    path = tmp_path / "app.db"
    shutil.copy(fixture, path)
    with monkeypatch.context() as patch:
        patch.setattr(formats, "UPGRADES", {**formats.UPGRADES, version: fail})
        with pytest.raises(RuntimeError, match="half way"):
            Database.open(path)
    with Database.open(path) as db:
        assert len(db.list_tables()["TableNames"]) == version + 1
    assert check_file(path) == []


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


# --- format 4: pages that end with their sums --------------------------------------------------------------


@pytest.fixture
def format_3(tmp_path: Path) -> Path:
    """A file with a backup of its table, both written by the code that made format 3."""
    path = tmp_path / "app.db"
    shutil.copy(FORMAT_3, path)
    shutil.copytree(f"{FORMAT_3}.backups", f"{path}.backups")
    return path


def _has_sums(path: Path) -> bool:
    content = path.read_bytes()
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    return all(int.from_bytes(page[-8:], "little") == page_sum(page, n) for n, page in enumerate(pages, 1))


def test_file_of_format_3_gets_sums_when_it_is_opened(format_3: Path) -> None:
    assert not _has_sums(format_3)
    with Database.open(format_3, clock=ManualClock(FORMAT_3_END_US)) as db:
        items = db.query(
            TableName="orders",
            IndexName="ByGroup",
            KeyConditionExpression="#g = :g",
            ExpressionAttributeNames={"#g": "Group"},
            ExpressionAttributeValues={":g": {"S": "g"}},
        )["Items"]
        assert [(item["SK"]["S"], len(item["Note"]["S"])) for item in items] == [
            ("0", 10),
            ("1", 10),
            ("2", 10),
            ("3", 6000),
            ("4", 10),
        ]
        assert [entry.event for entry in log_of(db, "orders")] == [INSERTED] * 6 + [REMOVED]
    assert _has_sums(format_3)
    assert check_file(format_3) == []


def test_backup_of_a_table_from_format_3_can_be_restored(format_3: Path) -> None:
    with Database.open(format_3, clock=ManualClock(FORMAT_3_END_US)) as db:
        (backup,) = db.list_backups()["BackupSummaries"]
        assert len(restored(db, backup["BackupArn"])) == 6
        assert db.check() == []
