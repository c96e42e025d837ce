"""A file that cannot be used gets one clear sentence of the right type."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from resilience.crash import children
from resilience.crash.tables import create_plain
from singletable import Database
from singletable.errors import (
    CorruptDatabaseError,
    DamagedDataError,
    DatabaseError,
    FileMovedError,
    ForeignLogError,
    NewerFormatError,
    NotADatabaseError,
    ReadOnlyDatabaseError,
    StorageFailedError,
)
from singletable.storage.file.connections import connect_for_reading
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.open_files import OpenFiles
from singletable.storage.file.page_sums import summed
from singletable.storage.file.viewing import FileView
from support.clear_errors import assert_clear, assert_clear_words

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


def _refused(path: Path, kind: type[DatabaseError]) -> None:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(kind) as caught:
        Database.open(path)
    assert type(caught.value) is kind
    assert_clear(caught.value, path)
    after = path.read_bytes() if path.is_file() else None
    assert after == before, "a file that is not ours was changed"


# --- not a database ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"PK,SK\na,b\n" * 100, PNG, b"x", b"SQLite format 3\x00", bytes(8192), b"{}"],
    ids=["text", "png", "one byte", "only the magic", "zeros", "json"],
)
def test_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    _refused(path, NotADatabaseError)


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE users(name)", "PRAGMA application_id = 1196444487", "PRAGMA user_version = 3"],
    ids=["tables", "application id", "only a version"],
)
def test_sqlite_file_of_another_program_is_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.sqlite"
    other = apsw.Connection(str(path))
    other.execute(statement).fetchall()
    other.execute("VACUUM").fetchall()
    other.close()
    _refused(path, NotADatabaseError)


def test_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    path.touch()
    with Database.open(path) as db:
        create_plain(db, "things")
    with Database.open(path) as db:
        assert db.list_tables()["TableNames"] == ["things"]


def test_directory_is_refused(tmp_path: Path) -> None:
    _refused(tmp_path, NotADatabaseError)


def test_path_in_a_missing_directory_is_refused(tmp_path: Path) -> None:
    _refused(tmp_path / "missing" / "app.db", StorageFailedError)


def test_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DatabaseError) as caught:
        Database.open(tmp_path / "file" / "app.db")
    assert_clear(caught.value, tmp_path / "file" / "app.db")


def test_new_file_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        for suffix in ("", "-wal", "-shm"):
            assert stat.S_IMODE(os.stat(f"{path}{suffix}").st_mode) == 0o600


# --- other versions ---------------------------------------------------------------------


def test_file_of_a_newer_format_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
    raw = apsw.Connection(str(path), vfs=summed())
    newer = raw.pragma("user_version") + 1
    raw.pragma("user_version", newer)
    raw.close()
    with pytest.raises(NewerFormatError, match=str(newer)) as caught:
        Database.open(path)
    assert_clear(caught.value, path)
    raw = apsw.Connection(str(path))
    assert raw.pragma("user_version") == newer
    raw.close()


# --- not to be written ------------------------------------------------------------------


@pytest.fixture
def public_directory() -> Iterator[Path]:
    """A directory that everybody can reach; pytest's own belong to the user who runs it."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o777)
    yield directory
    directory.chmod(0o700)
    shutil.rmtree(directory)


def _open_unprivileged(path: Path) -> tuple[str, str, str]:
    name, message, hint = json.loads(children.run("unprivileged", path))
    return name, message, hint


def _make_for_all(path: Path) -> None:
    with Database.open(path) as db:
        create_plain(db, "other")
    path.chmod(0o666)


def _read_only_file(directory: Path) -> Path:
    path = directory / "app.db"
    _make_for_all(path)
    path.chmod(0o444)
    return path


def _read_only_directory(directory: Path) -> Path:
    path = directory / "app.db"
    _make_for_all(path)
    directory.chmod(0o555)
    return path


def _new_file_in_read_only_directory(directory: Path) -> Path:
    directory.chmod(0o555)
    return directory / "app.db"


def _unreadable_file(directory: Path) -> Path:
    path = directory / "app.db"
    _make_for_all(path)
    path.chmod(0o000)
    return path


READ_ONLY = {
    "read-only file": _read_only_file,
    "read-only directory": _read_only_directory,
    "new file in a read-only directory": _new_file_in_read_only_directory,
    "unreadable file": _unreadable_file,
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_place_that_cannot_be_written_is_refused(public_directory: Path, name: str) -> None:
    path = READ_ONLY[name](public_directory)
    kind, message, hint = _open_unprivileged(path)
    assert kind == ReadOnlyDatabaseError.__name__, message
    assert_clear_words(message, hint, path)


def test_place_that_can_be_written_is_opened_without_powers(public_directory: Path) -> None:
    """The other tests would prove nothing if this program were refused everywhere."""
    path = public_directory / "app.db"
    _make_for_all(path)
    assert _open_unprivileged(path)[0] == "opened"


# --- truncated ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a database with some hundred pages."""
    path = tmp_path_factory.mktemp("sound") / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        for number in range(100):
            db.put_item(TableName="things", Item={"PK": {"S": f"{number}"}, "Payload": {"S": "x" * 3000}})
    return path.read_bytes()


@pytest.mark.parametrize(
    "kept_bytes", [1, 15, 99, 100, 511, 512, 1024, 4095, 4096, 4097, 8192, 50_000, -4096, -1]
)
def test_truncated_file_is_refused_or_found_damaged(tmp_path: Path, sound: bytes, kept_bytes: int) -> None:
    path = tmp_path / "app.db"
    path.write_bytes(sound[:kept_bytes])
    with pytest.raises((CorruptDatabaseError, DamagedDataError, NotADatabaseError)) as caught:
        _read_all(path)
    assert_clear(caught.value, path)


def _read_all(path: Path) -> None:
    with Database.open(path) as db:
        for number in range(100):
            answer = db.get_item(TableName="things", Key={"PK": {"S": f"{number}"}})
            assert "Item" in answer, "an item is silently gone"


# --- removed, renamed or replaced while it is open ------------------------------------------------


def _remove(path: Path) -> None:
    path.unlink()


def _rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def _replace(path: Path) -> None:
    other = path.with_name("other.db")
    with Database.open(other) as db:
        create_plain(db, "others")
    other.replace(path)


def _rename_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("renamed"))


def _remove_log(path: Path) -> None:
    path.with_name("app.db-wal").unlink()


def _remove_shared_memory(path: Path) -> None:
    path.with_name("app.db-shm").unlink()


def _write_until_refused(db: Database) -> list[str]:
    """Write until that is refused, and return what was acknowledged: at most what fits into a moment."""
    acknowledged: list[str] = []
    try:
        for number in range(100_000):
            db.put_item(TableName="things", Item={"PK": {"S": f"late {number}"}})
            acknowledged.append(f"late {number}")
    except FileMovedError as error:
        assert_clear(error, Path(db.path).parent)
        return acknowledged
    raise AssertionError("nothing was refused")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "folder").mkdir()
    with Database.open(tmp_path / "folder" / "app.db") as db:
        create_plain(db, "things")
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        yield db


@pytest.mark.parametrize(
    "move", [_remove, _rename, _replace, _rename_folder, _remove_log, _remove_shared_memory]
)
def test_nothing_is_written_to_a_file_that_is_not_in_its_place(
    opened: Database, move: Callable[[Path], None]
) -> None:
    assert opened.get_item(TableName="things", Key={"PK": {"S": "a"}})["Item"] == {"PK": {"S": "a"}}
    move(Path(opened.path))
    _write_until_refused(opened)
    assert isinstance(opened.trouble(), FileMovedError)
    with pytest.raises(FileMovedError):
        create_plain(opened, "more")
    # What was acknowledged can be read by those who have a connection.
    assert opened.get_item(TableName="things", Key={"PK": {"S": "a"}})["Item"] == {"PK": {"S": "a"}}


def test_trouble_is_seen_without_a_write(opened: Database) -> None:
    assert opened.trouble() is None
    Path(opened.path).unlink()
    assert isinstance(opened.trouble(), FileMovedError)


# --- written over while it is open ----------------------------------------------------------------------


def _copy_over(source: Path, target: Path) -> None:
    """Copy as another program does it: the file stays, and what is in it is another one."""
    subprocess.run(["cp", source, target], check=True)


@pytest.fixture
def other(tmp_path: Path, sound: bytes) -> Path:
    """Another database. It is the larger one: who reads behind the end of a file that has shrunk is killed."""
    path = tmp_path / "other.db"
    path.write_bytes(sound)
    return path


def test_nothing_is_written_to_a_file_that_another_was_copied_over(opened: Database, other: Path) -> None:
    path = Path(opened.path)
    _copy_over(other, path)
    _write_until_refused(opened)
    trouble = opened.trouble()
    assert trouble is not None
    assert trouble.message == (
        f"{path} was overwritten by another program while it was open: nothing is written any more"
    )
    opened.close()
    assert path.read_bytes() == other.read_bytes(), (
        "the log was brought into a file that it does not belong to"
    )
    with pytest.raises(ForeignLogError):
        Database.open(path)
    path.with_name("app.db-wal").unlink()
    _read_all(path)


def test_nothing_is_written_to_a_file_that_is_no_database_any_more(opened: Database, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"no database\n" * 100_000)
    _copy_over(tmp_path / "text", Path(opened.path))
    assert isinstance(opened.trouble(), FileMovedError)
    with pytest.raises(FileMovedError, match="overwritten"):
        opened.put_item(TableName="things", Item={"PK": {"S": "b"}})


def test_log_that_was_emptied_is_written_no_further_and_not_brought_into_the_file(opened: Database) -> None:
    path = Path(opened.path)
    opened.close()
    with Database.open(path) as db:
        db.put_item(TableName="things", Item={"PK": {"S": "in the log"}})
        os.truncate(f"{path}-wal", 0)
        _write_until_refused(db)
        trouble = db.trouble()
    assert trouble is not None
    assert trouble.message.startswith(
        f"{path}-wal was emptied by another program while the database was open"
    )
    with Database.open(path) as db:
        assert db.check() == []
        assert [item["PK"]["S"] for item in db.scan(TableName="things")["Items"]] == ["a"]


def test_log_that_was_emptied_is_seen_without_a_write(opened: Database) -> None:
    assert opened.trouble() is None
    os.truncate(f"{opened.path}-wal", 0)
    assert isinstance(opened.trouble(), FileMovedError)


def _other_program(opened: Database) -> apsw.Connection:
    connection = apsw.Connection(opened.path, vfs="unix")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # only then does it know of the log
    return connection


def test_log_that_another_program_has_truncated_by_a_checkpoint_is_no_trouble(opened: Database) -> None:
    assert opened.trouble() is None
    program = _other_program(opened)
    program.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert Path(f"{opened.path}-wal").stat().st_size == 0
    assert opened.trouble() is None
    opened.put_item(TableName="things", Item={"PK": {"S": "b"}})
    assert opened.trouble() is None
    program.close()


def test_checkpoints_of_other_processes_are_no_trouble(opened: Database) -> None:
    program = _other_program(opened)
    writers = [children.start("log_filler", opened.path, 0) for _ in range(2)]
    modes = (apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_RESTART, apsw.SQLITE_CHECKPOINT_TRUNCATE)
    try:
        for number in range(100):
            for writer in writers:
                assert writer.stdout is not None
                writer.stdout.readline()
            with contextlib.suppress(apsw.BusyError):
                program.wal_checkpoint("main", modes[number % 3])
            assert opened.trouble() is None
            opened.put_item(TableName="things", Item={"PK": {"S": f"own {number}"}})
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
        program.close()
    assert opened.check() == []


def test_link_that_leads_elsewhere_is_a_replaced_file(tmp_path: Path) -> None:
    link = tmp_path / "app.db"
    link.symlink_to("one.db")
    (tmp_path / "one.db").touch()
    with Database.open(link) as db:
        create_plain(db, "things")
        (tmp_path / "new").symlink_to("two.db")
        (tmp_path / "two.db").touch()
        (tmp_path / "new").replace(link)
        _write_until_refused(db)


def test_file_that_is_back_is_written_again_when_it_is_opened_again(opened: Database) -> None:
    path = Path(opened.path)
    path.rename(path.with_name("elsewhere.db"))
    acknowledged = _write_until_refused(opened)
    path.with_name("elsewhere.db").rename(path)
    with pytest.raises(FileMovedError):
        opened.put_item(TableName="things", Item={"PK": {"S": "b"}})
    opened.close()
    with Database.open(path) as db:
        assert db.check() == []
        db.put_item(TableName="things", Item={"PK": {"S": "b"}})
        stored = {item["PK"]["S"] for item in db.scan(TableName="things")["Items"]}
    assert stored >= {"a", "b", *acknowledged}


def test_log_that_was_removed_is_saved_by_whoever_closes_last(opened: Database) -> None:
    path = Path(opened.path)
    _remove_log(path)
    acknowledged = _write_until_refused(opened)
    opened.close()
    with Database.open(path) as db:
        assert db.check() == []
        stored = {item["PK"]["S"] for item in db.scan(TableName="things")["Items"]}
    assert stored >= {"a", *acknowledged}


def test_closing_leaves_the_log_of_the_file_that_took_the_place(opened: Database) -> None:
    path = Path(opened.path)
    _replace(path)
    path.with_name("app.db-wal").unlink()
    path.with_name("app.db-shm").unlink()
    with Database.open(path) as other:
        create_plain(other, "more")
        opened.close()
        assert path.with_name("app.db-wal").exists()
        assert sorted(other.list_tables()["TableNames"]) == ["more", "others"]


_PUT_BESIDE = """
import sys
from singletable.storage.file.page_sums import summed
from singletable import Database
with Database.open(sys.argv[1]) as db:
    db.put_item(TableName="things", Item={"PK": {"S": "beside"}})
"""


def test_closing_leaves_what_another_process_wrote_that_could_not_see_us(opened: Database) -> None:
    path = Path(opened.path)
    opened.put_item(TableName="things", Item={"PK": {"S": "b"}})
    _remove_shared_memory(path)
    subprocess.run([sys.executable, "-c", _PUT_BESIDE, str(path)], check=True)
    opened.close()
    with Database.open(path) as db:
        assert db.check() == []
        assert {item["PK"]["S"] for item in db.scan(TableName="things")["Items"]} == {"a", "b", "beside"}


def test_closing_does_not_wait_for_a_read_that_was_refused(
    opened: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("singletable.storage.file.connections._PAUSE_S_MAX", 0.1)
    monkeypatch.setattr("singletable.storage.file.connections.time.sleep", waits.append)
    _rename(Path(opened.path))
    _write_until_refused(opened)
    with pytest.raises(FileMovedError) as refused:
        opened.get_item(TableName="things", Key={"PK": {"S": "a"}})
    opened.close()
    assert waits == [], refused  # which somebody still has


def test_forked_child_does_not_go_on_with_another_file(opened: Database) -> None:
    _replace(Path(opened.path))
    child = os.fork()
    if child == 0:
        try:
            opened.list_tables()
        except FileMovedError:
            os._exit(11)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11


@pytest.mark.parametrize("move", [_remove, _replace])
def test_who_only_looks_at_a_file_hears_that_it_is_not_there_any_more(
    opened: Database, move: Callable[[Path], None]
) -> None:
    with FileView(opened.path) as view:
        assert view.read(lambda execute, catalog: [table.name for table in catalog]) == ["things"]
        move(Path(opened.path))
        with pytest.raises(FileMovedError):
            view.read(lambda execute, catalog: None)


def test_who_only_looks_keeps_no_connection_to_a_file_that_was_replaced_meanwhile(
    opened: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[apsw.Connection] = []

    def connect_while_it_is_replaced(path: str, key: FileKey | None) -> apsw.Connection:
        made.append(connect_for_reading(path, key))
        _replace(Path(path))
        return made[0]

    monkeypatch.setattr("singletable.storage.file.viewing.connect_for_reading", connect_while_it_is_replaced)
    with pytest.raises(FileMovedError):
        FileView(opened.path)
    with pytest.raises(apsw.ConnectionClosedError):
        made[0].execute("SELECT 1")


def test_who_opens_a_file_whose_log_was_removed_hears_what_to_do(opened: Database) -> None:
    _remove_log(Path(opened.path))
    with pytest.raises(StorageFailedError, match="its -wal was removed") as caught:
        Database.open(opened.path)
    assert_clear(caught.value, Path(opened.path))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("close it everywhere")


def test_log_that_goes_with_its_last_user_is_not_missed_by_who_opens_the_file_then(opened: Database) -> None:
    files = OpenFiles(opened.path)
    files.learn()
    opened.close()
    assert not Path(f"{opened.path}-wal").exists()
    files.check()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12: threads and fork
def test_log_that_goes_with_a_fork_is_not_missed_by_who_looks_meanwhile(opened: Database) -> None:
    looked = threading.Event()
    is_over = threading.Event()
    seen: list[DatabaseError] = []

    def look() -> None:
        while not is_over.is_set() and not seen:
            trouble = opened.trouble()
            if trouble is not None:
                seen.append(trouble)
            looked.set()

    looker = threading.Thread(target=look)
    looker.start()
    looked.wait()
    try:
        for number in range(15):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            opened.put_item(TableName="things", Item={"PK": {"S": f"{number}"}})
    finally:
        is_over.set()
        looker.join()
    assert seen == []
