"""Files that commands are given and make: what is no file is one sentence, and who may read what was made."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from singletable import Database
from singletable.cli import main
from singletable.storage.file.page_copies import copy_connection
from support.run_commands import command
from support.targets import no_aws_settings

# Where each command takes the path of a database, of a copy or of a folder: PATH stands for it.
DATABASES = [
    "check PATH",
    "serve PATH --port 0",
    "demo --file PATH --port 0",
    "backup PATH copy.db",
    "backup app.db PATH",
    "backup app.db PATH --force",
    "restore PATH new.db",
    "repair PATH",
    "restore kept.db PATH",
    "restore kept.db PATH --force",
    "stream consumers PATH",
    "stream tail PATH things",
    "history PATH things a",
    "seed lunch_cache --target PATH",
    "run lunch_cache.history --restaurant niagara --target PATH",
    "draw lunch_cache PATH",
    "diff lunch_cache PATH",
    "create-table lunch_cache PATH",
    "migrate status kefir PATH",
    "migrate run kefir PATH",
    "probe PATH",
]
FOLDERS = [
    "serve new.db --port 0 --backups PATH",
    "migrate new kefir Title --folder PATH",
    "migrate plan kefir --folder PATH",
    "migrate run kefir new.db --folder PATH",
]


def dangling(path: Path) -> str:
    path.symlink_to("nowhere")
    return "link to nowhere, which does not exist"


def looping(path: Path) -> str:
    path.symlink_to(path.name)
    return "link that leads back to itself"


def pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is a pipe, a socket or a device, and no file"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a database and a copy of it."""
    monkeypatch.chdir(tmp_path)
    with Database.open("app.db"):
        pass
    assert main(["backup", "app.db", "kept.db"]) == 0
    with no_aws_settings():
        yield tmp_path


@pytest.mark.parametrize("odd", [dangling, looping, pipe], ids=lambda odd: odd.__name__)
@pytest.mark.parametrize("line", DATABASES)
def test_what_is_no_file_is_one_sentence(
    line: str, odd: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "odd"
    said = odd(path)  # type: ignore[operator]
    before = os.lstat(path)
    ran = command(capsys)(*line.replace("PATH", "odd").split())
    assert (ran.code, ran.out) == (2, "")
    assert re.match(r"error: ST80\d: \S*odd is a (.*)\n\nhint: give ", ran.err), ran.err
    assert said in ran.err
    assert os.path.samestat(before, os.lstat(path))  # nothing was put in its place, also not by force
    assert not (folder / "nowhere").exists()


@pytest.mark.parametrize("odd", [dangling, looping, pipe], ids=lambda odd: odd.__name__)
@pytest.mark.parametrize("line", FOLDERS)
def test_what_is_no_folder_is_one_sentence(
    line: str, odd: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd(folder / "odd")  # type: ignore[operator]
    ran = command(capsys)(*line.replace("PATH", "odd").split())
    assert (ran.code, ran.out) == (2, "")
    assert re.match(r"error: ST\d+: .*\bodd\b.*\n\nhint: (give|name) .*folder", ran.err), ran.err


@pytest.mark.parametrize("leads", ["missing/picture.svg", "picture.svg", "/dev/full", "."])
def test_picture_that_cannot_be_written_is_one_sentence(
    leads: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "picture.svg").symlink_to(leads)
    ran = command(capsys)("draw", "kefir", "--out", "picture.svg")
    assert (ran.code, ran.out) == (2, "")
    written = re.escape(f"error: picture.svg, which is a link to {leads}, cannot be written: ")
    assert re.match(written + r"[\w ]+\n\nhint: name a file in a folder that is there\n", ran.err), ran.err


@pytest.mark.parametrize(
    "line",
    [
        "seed lunch_cache --target PATH",
        "run lunch_cache.history --restaurant niagara --target PATH",
        "diff lunch_cache PATH",
        "migrate status kefir PATH",
    ],
)
def test_place_that_cannot_be_reached_is_no_missing_file(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = command(capsys)(*line.replace("PATH", "app.db/new.db").split())
    assert (ran.code, ran.out) == (2, "")
    assert "new.db cannot be made: its directory is a file\n\nhint: " in ran.err


@pytest.mark.parametrize("line", ["run --list kefir", "run --list kefir --json", "draw kefir"])
def test_disk_that_is_full_is_one_sentence(line: str, folder: Path) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "singletable", *line.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 2
    # Before it stands what is said beside the output, if that was held back until the end.
    assert re.search(
        r"^error: the disk is full: .*\n\nhint: make room and try again\n\Z", ran.stderr, re.MULTILINE
    )


# --- who may read what was made ------------------------------------------------------------------------------


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    value: int = request.param
    before = os.umask(value)
    yield value
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {str(each.relative_to(folder)): stat.S_IMODE(each.stat().st_mode) for each in folder.rglob("*")}


def test_databases_and_their_backups_are_of_their_owner_alone(umask: int, tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db", backups=tmp_path / "above" / "backups") as db:
        db.create_table(
            TableName="things",
            AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        db.create_backup(TableName="things", BackupName="first")
        assert main(["backup", str(tmp_path / "app.db"), str(tmp_path / "copy.db")]) == 0
        made = modes(tmp_path)
    assert {made.pop(each) for each in ("above", "above/backups", "above/backups/things")} == {0o700}
    assert len([each for each in made if each.endswith(".db")]) == 3
    assert set(made.values()) == {0o600}


def test_copy_is_of_its_owner_alone_while_it_is_made(umask: int, tmp_path: Path) -> None:
    seen = set()
    with Database.open(tmp_path / "app.db"):
        source = apsw.Connection(str(tmp_path / "app.db"))
        copy = tmp_path / "copy.db"
        copy_connection(source, str(copy), lambda *_: seen.add(stat.S_IMODE(copy.stat().st_mode)))
        source.close()
    assert seen == {0o600}


def test_folder_that_was_there_stays_as_it_was(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o750)
    assert main(["serve", "--backups", str(shared), "--port", "0", "--host", "300.0.0.1"]) == 2
    assert stat.S_IMODE(shared.stat().st_mode) == 0o750


def test_pictures_and_migrations_are_for_whom_the_umask_says(
    umask: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = command(capsys)
    for line in ("draw kefir --out a.svg", "draw kefir --out a.html", "migrate new kefir Title --folder m"):
        assert run(*line.split()).code == 0
    made = modes(folder)
    assert {made["a.svg"], made["a.html"], made["m/0001_title.json"]} == {0o666 & ~umask}
    assert made["m"] == 0o777 & ~umask
