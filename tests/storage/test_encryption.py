"""Encrypted files: what a thief finds in them, whose key opens them, and what damage becomes."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resilience.crash.faulty_disk import Fault, faulty_disk
from singletable import Database
from singletable.cli import main
from singletable.errors import (
    CorruptDatabaseError,
    DamagedDataError,
    DatabaseBusyError,
    DatabaseError,
    FileKeyError,
    ForeignLogError,
    StorageFailedError,
)
from singletable.storage.check import check_file
from singletable.storage.file.encryption import FileKey, seal, unseal
from singletable.storage.file.file_copies import back_up_file, restore_file
from singletable.storage.file.given_keys import LocalKeys, key_for
from singletable.storage.file.rekeying import decrypt_file, encrypt_file, rekey_file, rewrap_key
from singletable.storage.repair.file import repair_file
from support.paths import TESTS

KEY = b"\x5a" * 31 + b"K"
OTHER_KEY = b"\xa5" * 32
PASSPHRASE = "correct horse battery staple"
TABLE = "zebra-accounts"
SECRETS = (
    "zebra-accounts",
    "zebraKey",
    "zebra-key-",
    "zebraSort",
    "zebraAttribute",
    "zebra-value-",
    "zebraIndex",
)


def make_table(db: Database) -> None:
    """Make a table with all that writes to files: an index, a stream, recovery, a time to live."""
    db.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "zebraKey", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "zebraKey", "AttributeType": "S"},
            {"AttributeName": "zebraSort", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "zebraIndex",
                "KeySchema": [{"AttributeName": "zebraSort", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    db.update_continuous_backups(
        TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


def item(number: int) -> dict[str, Any]:
    return {
        "zebraKey": {"S": f"zebra-key-{number}"},
        "zebraSort": {"S": f"zebra-value-{number % 7}"},
        "zebraAttribute": {"S": "zebra-value-" * 20},
    }


def fill(db: Database, count: int = 60) -> None:
    for number in range(count):
        db.put_item(TableName=TABLE, Item=item(number))


def get(db: Database, number: int) -> Any:
    return db.get_item(TableName=TABLE, Key={"zebraKey": item(number)["zebraKey"]}).get("Item")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    with Database.open(path, durability="relaxed", key=KEY) as db:
        make_table(db)
        fill(db)
    return path


# --- a thief ------------------------------------------------------------------------------------------

# Ends in the middle of its work: by a signal that would write a core, with its log beside the file.
VICTIM = """
import os, resource, signal, sys, logging
logging.basicConfig(filename="app.log", level=logging.DEBUG)
from resilience.crash.faulty_disk import Fault, faulty_disk
from singletable import Database
from singletable.cli.keys import forbid_core_dumps
from singletable.errors import SingleTableError
from singletable.storage.file.file_copies import back_up_file
from singletable.storage.file.encryption import FileKey
from storage import test_encryption as t

key = bytes.fromhex(sys.stdin.readline()) or None
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
if key:
    forbid_core_dumps()
db = Database.open("app.db", key=key)
t.make_table(db)
t.fill(db)
db.create_backup(TableName=t.TABLE, BackupName="weekly")
db._session.store.workers.wait()
back_up_file("app.db", "copy.db", force=False, key=key and FileKey(key))
db.query(TableName=t.TABLE, IndexName="zebraIndex", KeyConditionExpression="zebraSort = :v",
         ExpressionAttributeValues={":v": {"S": "zebra-value-1"}})
with db.at(db.clock.now_us() / 1e6) as past:
    past.query(TableName=t.TABLE, IndexName="zebraIndex", KeyConditionExpression="zebraSort = :v",
               ExpressionAttributeValues={":v": {"S": "zebra-value-1"}})
t.fill(db, 5)
try:
    Database.open("app.db", key=b"short")
except SingleTableError as error:
    print(error, repr(error), db, db._session.store._place)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGABRT)
"""


def _files_of_victim(folder: Path, key: bytes | None) -> dict[Path, bytes]:
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(TESTS)}
    victim = subprocess.run(
        [sys.executable, "-c", VICTIM],
        input=(key.hex() if key else "").encode() + b"\n",
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert victim.returncode == -signal.SIGABRT, victim.stderr.decode()
    (folder / "said").write_bytes(victim.stdout + victim.stderr)
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _found(files: dict[Path, bytes], secrets: list[bytes]) -> set[tuple[str, bytes]]:
    return {(path.name, secret) for path, content in files.items() for secret in secrets if secret in content}


def test_thief_finds_nothing_in_any_file_of_a_killed_process(tmp_path: Path) -> None:
    secrets = [text.encode() for text in SECRETS]
    files = _files_of_victim(tmp_path / "encrypted", KEY)
    names = {path.name for path in files}
    assert {"app.db", "app.db-wal", "app.db-shm", "copy.db", "app.log", "said"} <= names
    assert any(path.suffix == ".json" for path in files), "the backup of the table is to be among them"
    assert _found(files, [*secrets, KEY, KEY.hex().encode(), KEY.hex().upper().encode()]) == set()
    # The same thief does find things in plain files.
    plain = _found(_files_of_victim(tmp_path / "plain", None), secrets)
    assert {"app.db-wal", "copy.db"} <= {name for name, _ in plain}
    assert {secret for _, secret in plain} == set(secrets)


def test_process_that_was_given_a_key_leaves_no_core_dump() -> None:
    script = (
        "import ctypes, resource; from singletable.cli.keys import forbid_core_dumps; forbid_core_dumps();"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0])"
    )
    assert subprocess.check_output([sys.executable, "-c", script]).split() == [b"0", b"0"]


def test_key_is_never_shown() -> None:
    key = FileKey(KEY)
    assert repr(key) == str(key) == "<FileKey>"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(key)


# --- keys -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "is encrypted, and no key was given"),
        (OTHER_KEY, "cannot be read with this key"),
        (PASSPHRASE, "cannot be read with this key"),
        (b"short", "a key is 32 bytes, and this one is 5"),
        (b"", "a key is 32 bytes, and this one is 0"),
        ("secret", "a passphrase has at least 8 characters"),
    ],
    ids=["missing", "another", "passphrase", "short", "empty", "short passphrase"],
)
def test_wrong_key_is_one_sentence_and_changes_nothing(filled: Path, key: Any, message: str) -> None:
    before = filled.read_bytes()
    with pytest.raises(FileKeyError, match=message) as caught:
        Database.open(filled, key=key)
    assert caught.value.number == "ST814"
    assert caught.value.hint
    assert filled.read_bytes() == before


def test_key_for_a_plain_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    Database.open(path).close()
    for key in (KEY, PASSPHRASE, LocalKeys(tmp_path / "master.json")):
        with pytest.raises(FileKeyError, match="is not encrypted, and a key was given for it"):
            Database.open(path, key=key)
    with pytest.raises(FileKeyError, match="a database in memory"):
        Database.open(":memory:", key=KEY)


def test_passphrase_opens_the_file_and_its_copies(tmp_path: Path) -> None:
    path, copy = tmp_path / "app.db", tmp_path / "copy.db"
    with Database.open(path, key=PASSPHRASE) as db:
        make_table(db)
        fill(db, 3)
    shutil.copy(path, copy)
    with Database.open(copy, key=PASSPHRASE) as db:
        assert get(db, 2) == item(2)
    salts = {path.read_bytes()[:16], copy.read_bytes()[:16]}
    Database.open(tmp_path / "other.db", key=PASSPHRASE).close()
    assert (tmp_path / "other.db").read_bytes()[:16] not in salts


def test_wrapped_key_opens_the_file_after_the_master_key_was_rotated(tmp_path: Path) -> None:
    path, keys = tmp_path / "app.db", LocalKeys(tmp_path / "master.json")
    with Database.open(path, key=keys) as db:
        make_table(db)
        fill(db, 3)
    raw = key_for(str(path), keys).raw
    assert raw not in (envelope := Path(f"{path}.key").read_bytes())
    assert raw.hex().encode() not in envelope
    keys.rotate()
    with Database.open(path, key=keys) as db:
        assert get(db, 2) == item(2)
    with pytest.raises(FileKeyError, match="cannot unwrap the key"):
        Database.open(path, key=LocalKeys(tmp_path / "other.json"))
    Path(f"{path}.key").unlink()
    with pytest.raises(FileKeyError, match="has no wrapped key"):
        Database.open(path, key=keys)


def test_what_is_sealed_is_opened_by_its_key_alone() -> None:
    sealed = seal(b"secret", FileKey(KEY))
    assert b"secret" not in sealed
    assert unseal(sealed, FileKey(KEY)) == b"secret"
    assert unseal(sealed, FileKey(OTHER_KEY)) is None
    for place in range(24, len(sealed), 97):
        changed = sealed[:place] + bytes((sealed[place] ^ 1,)) + sealed[place + 1 :]
        assert unseal(changed, FileKey(KEY)) is None


def test_commands_take_the_key_of_a_file_or_variable(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(f"{KEY.hex()}\n")
    forbidden: list[bool] = []
    monkeypatch.setattr("singletable.cli.keys.forbid_core_dumps", lambda: forbidden.append(True))
    assert main(["check", str(filled), "--key-file", str(key_file)]) == 0
    assert forbidden
    monkeypatch.setenv("A_KEY", KEY.hex())
    assert main(["backup", str(filled), str(tmp_path / "copy.db"), "--key-env", "A_KEY"]) == 0
    monkeypatch.setenv("SINGLETABLE_KEY_FILE", str(key_file))
    assert main(["restore", str(tmp_path / "copy.db"), str(tmp_path / "again.db")]) == 0
    assert main(["history", str(filled), TABLE, "zebra-key-1", "--json"]) == 0
    capfd.readouterr()
    monkeypatch.delenv("SINGLETABLE_KEY_FILE")
    assert main(["check", str(filled)]) == 2
    said = capfd.readouterr().err
    assert "ST814" in said
    assert "is encrypted, and no key was given" in said
    with Database.open(tmp_path / "again.db", key=KEY) as db:
        assert get(db, 7) == item(7)


# --- damage ----------------------------------------------------------------------------------------------


def _flipped(path: Path, pages: range) -> Iterator[tuple[int, Path]]:
    content = path.read_bytes()
    for page in pages:
        # Of the first page, the header behind the salt is readable, and of no page is a byte without a tag.
        place = (page - 1) * 4096 + (24 if page == 1 else 0) + page * 997 % 4000
        damaged = path.with_name("damaged.db")
        damaged.write_bytes(content[:place] + bytes((content[place] ^ 1,)) + content[place + 1 :])
        yield page, damaged


def _read_all(path: Path, count: int) -> int:
    """Return how many items could not be read; none may be another than was written."""
    failed = 0
    with Database.open(path, durability="relaxed", key=KEY) as db:
        for number in range(count):
            try:
                assert get(db, number) == item(number)
            except DamagedDataError:
                failed += 1
    return failed


def test_flipped_bit_in_any_page_is_an_error_and_never_an_answer(filled: Path) -> None:
    pages = range(1, filled.stat().st_size // 4096 + 1)
    unread, refused = 0, set()
    for page, damaged in _flipped(filled, pages):
        try:
            found = [problem.where for problem in check_file(damaged, key=FileKey(KEY))]
        except DamagedDataError as error:
            found = [f"page {page}"] if f"page {page} is damaged" in str(error) else []
        assert f"page {page}" in found
        try:
            unread += _read_all(damaged, 60)
        except DamagedDataError as error:
            refused.add((page, f"page {page} is damaged" in str(error)))
        except CorruptDatabaseError as error:  # of a page that is needed to open the file
            refused.add((page, f"is damaged: page {page}" in str(error)))
    assert (1, True) in refused
    assert all(is_named for _, is_named in refused)
    assert 60 <= unread <= 200, "each item stands in one page, and is found through a few others"


def test_page_at_another_place_is_an_error(filled: Path) -> None:
    content = filled.read_bytes()
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    pages[9], pages[10] = pages[10], pages[9]
    filled.write_bytes(b"".join(pages))
    assert {"page 10", "page 11"} <= {problem.where for problem in check_file(filled, key=FileKey(KEY))}


def test_no_other_program_reads_the_file(filled: Path) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        sqlite3.connect(filled).execute("SELECT * FROM sqlite_schema")


# --- the log beside the file -------------------------------------------------------------------------------


def _killed(path: Path, folder: Path, key: bytes, number: int) -> Path:
    """Return a copy of the file and its log, as a process leaves them that is killed now."""
    with Database.open(path, durability="relaxed", key=key) as db:
        db.put_item(TableName=TABLE, Item=item(number))
        folder.mkdir()
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", folder / f"app.db{ending}")
    return folder / "app.db"


def test_log_of_another_state_of_an_encrypted_file_is_refused(filled: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    shutil.copy(filled, old)
    killed = _killed(filled, tmp_path / "killed", KEY, 100)
    with Database.open(killed, durability="relaxed", key=KEY) as db:
        assert get(db, 100) == item(100)
    killed = _killed(filled, tmp_path / "again", KEY, 101)
    shutil.copy(old, killed)  # the key is the same, and the pages of the log would fit
    with Database.open(filled, durability="relaxed", key=KEY) as db:
        db.put_item(TableName=TABLE, Item=item(102))
    with pytest.raises(ForeignLogError, match="writes of another file, or of another state"):
        Database.open(killed, key=KEY)


def test_log_of_a_file_with_another_key_is_refused(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with Database.open(other, durability="relaxed", key=OTHER_KEY) as db:
        make_table(db)
    killed = _killed(other, tmp_path / "killed", OTHER_KEY, 1)
    shutil.copy(filled, killed)
    with pytest.raises(ForeignLogError, match="encrypted with another key"):
        Database.open(killed, key=KEY)


def test_flipped_bits_in_the_log_are_errors_and_never_answers(filled: Path, tmp_path: Path) -> None:
    killed = _killed(filled, tmp_path / "killed", KEY, 100)
    log = Path(f"{killed}-wal")
    content = log.read_bytes()
    for place in range(40, len(content), 1499):
        for ending in ("", "-wal", "-shm"):
            Path(f"{killed}{ending}").unlink(missing_ok=True)
        shutil.copy(filled, killed)
        log.write_bytes(content[:place] + bytes((content[place] ^ 1,)) + content[place + 1 :])
        try:
            with Database.open(killed, durability="relaxed", key=KEY) as db:
                # As with a plain file, a log is whole up to a damaged frame: what is behind it was never written.
                assert get(db, 100) in (item(100), None)
                assert get(db, 7) == item(7)
        except DatabaseError:
            continue


# --- another key -------------------------------------------------------------------------------------------


def test_file_is_encrypted_rekeyed_and_decrypted(tmp_path: Path) -> None:
    path, keys = tmp_path / "app.db", LocalKeys(tmp_path / "master.json")
    with Database.open(path) as db:
        make_table(db)
        fill(db, 30)
    name = str(path)
    encrypt_file(name, KEY)
    _assert_is_whole(path, KEY)
    rekey_file(name, KEY, keys)
    _assert_is_whole(path, keys)
    assert b"zebra" not in path.read_bytes()
    before = path.read_bytes()
    keys.rotate()
    rewrap_key(name, keys, keys)
    assert path.read_bytes() == before, "another master key wraps the same key of the file"
    _assert_is_whole(path, keys)
    decrypt_file(name, keys)
    _assert_is_whole(path, None)
    assert not Path(f"{path}.key").exists()


def _assert_is_whole(path: Path, key: Any, count: int = 30) -> None:
    with Database.open(path, durability="relaxed", key=key) as db:
        assert db.check() == []
        assert all(get(db, number) == item(number) for number in range(count))
    assert check_file(path, key=None if key is None else key_for(str(path), key)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda name: rekey_file(name, OTHER_KEY, KEY), "cannot be read with this key"),
        (lambda name: decrypt_file(name, OTHER_KEY), "cannot be read with this key"),
        (lambda name: encrypt_file(name, KEY), "is encrypted already"),
        (lambda name: back_up_file(name, name + ".copy", force=False), "no key was given"),
        (lambda name: _restore_over(name), "no key was given"),
    ],
    ids=["rekey", "decrypt", "encrypt", "back up", "restore over it"],
)
def test_wrong_key_does_not_touch_the_log_of_a_killed_process(
    filled: Path, tmp_path: Path, change: Any, message: str
) -> None:
    killed = _killed(filled, tmp_path / "killed", KEY, 100)
    with pytest.raises(FileKeyError, match=message):
        change(str(killed))
    with Database.open(killed, durability="relaxed", key=KEY) as db:
        assert get(db, 100) == item(100)


def _restore_over(name: str) -> None:
    plain = f"{name}.plain"
    Database.open(plain).close()
    back_up_file(plain, f"{plain}.copy", force=False)
    restore_file(f"{plain}.copy", name, force=True)


def test_file_in_use_gets_no_other_key(filled: Path) -> None:
    with Database.open(filled, durability="relaxed", key=KEY) as db:
        db.put_item(TableName=TABLE, Item=item(1))
        with pytest.raises(DatabaseBusyError, match="is open in another process"):
            rekey_file(str(filled), KEY, OTHER_KEY)
    _assert_is_whole(filled, KEY)


def _rekey_and_die(path: Path, keys: LocalKeys, at: int) -> bool:
    """Give the file another key in a child that is killed at a sync, or around a rename. Return whether it was."""
    child = os.fork()
    if child == 0:
        steps = [0]

        def step() -> None:
            steps[0] += 1
            if steps[0] == at:
                os.kill(os.getpid(), signal.SIGKILL)

        replace, sync = os.replace, os.fsync

        def replace_slowly(*names: Any) -> None:
            step()
            replace(*names)
            step()

        def sync_slowly(descriptor: Any) -> None:
            step()
            sync(descriptor)

        os.replace, os.fsync = replace_slowly, sync_slowly  # type: ignore[assignment]
        rekey_file(str(path), keys, keys)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def test_kill_at_any_step_of_a_rekey_leaves_a_whole_file(tmp_path: Path) -> None:
    path, keys = tmp_path / "app.db", LocalKeys(tmp_path / "master.json")
    with Database.open(path, durability="relaxed", key=keys) as db:
        make_table(db)
        fill(db, 30)
    at, first = 1, key_for(str(path), keys)
    seen = set()
    while _rekey_and_die(path, keys, at):
        _assert_is_whole(path, keys)
        seen.add(key_for(str(path), keys) == first)
        at += 1
    assert at > 6, "there are more steps: of the wrapped key, of the file, and of their renames"
    assert seen == {True, False}
    assert key_for(str(path), keys) != first


@pytest.mark.parametrize("kind", ["encrypt", "decrypt", "rekey"])
def test_kill_in_the_middle_of_any_write_leaves_the_old_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "app.db"
    old = None if kind == "encrypt" else KEY
    with Database.open(path, durability="relaxed", key=old) as db:
        make_table(db)
        fill(db, 30)
    killed = 0
    for at in (1, 2, 7, 20, 41):
        child = os.fork()
        if child == 0:
            with faulty_disk(Path(f"{path}.partial")) as disk:
                disk.arm(Fault.KILL, at=at)
                match kind:
                    case "encrypt":
                        encrypt_file(str(path), KEY)
                    case "decrypt":
                        decrypt_file(str(path), KEY)
                    case _:
                        rekey_file(str(path), KEY, OTHER_KEY)
            os._exit(0)
        killed += os.waitpid(child, 0)[1] != 0
        _assert_is_whole(path, old)
    assert killed == 5


def test_repair_says_that_it_reads_plain_files(filled: Path) -> None:
    with pytest.raises(StorageFailedError, match="is encrypted: a repair reads plain files"):
        repair_file(str(filled), now_us=0)
