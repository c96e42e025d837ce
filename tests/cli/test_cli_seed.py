"""`singletable seed`: it fills a table once, says what it wrote, and touches no table that is in use."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli import main
from singletable.server import BackgroundServer
from singletable.storage.check import check_file
from singletable.systems import installed_systems
from singletable_systems.kefir import Kefir, User, UserId
from singletable_systems.lunch_cache import LunchCache
from support.limited_targets import forgetful_endpoint
from support.serving import TIMEOUT_S
from support.targets import no_aws_settings

KEFIR_COUNTS = {"User": 12, "Batch": 120, "BatchEvent": 600, "Reminder": 240, "Device": 36}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder, with nothing in the environment that names a target."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SINGLETABLE_TARGET", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    return tmp_path


def seed(*arguments: str) -> int:
    return main(["seed", *arguments])


def seeded_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert seed(*arguments, "--json") == 0
    written = json.loads(capsys.readouterr().out)
    assert isinstance(written, dict)
    return written


# --- what is written ---------------------------------------------------------------------------------------------


def test_file_of_the_systems_name_is_made_and_filled(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seed("kefir") == 0
    out = capsys.readouterr().out
    assert out.startswith("kefir-app-dev-table on kefir.db\nUser              12\nBatch            120\n")
    assert "\n1,008 entities, 1,056 items in " in out
    with Kefir.open("kefir.db", stage="dev") as db:
        assert db.user(UserId("ada")).one().name == "Ada Lindqvist"
        assert db.drift() == []
    assert check_file(str(here / "kefir.db")) == []


def test_json_says_what_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    written = seeded_json(capsys, "kefir", "--day", "2026-03-04")
    assert written.pop("seconds") > 0
    assert written.pop("per_second") > 0
    assert written.pop("units") > 1000
    assert written == {
        "system": "kefir",
        "target": "kefir.db",
        "table": "kefir-app-dev-table",
        "size": "small",
        "day": "2026-03-04",
        "counts": KEFIR_COUNTS,
        "total": 1008,
        "items": 1056,  # with the locks of addresses and push tokens
    }


def test_day_is_today_unless_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    before = datetime.now(UTC).date()
    written = seeded_json(capsys, "lunch-cache", "--target", ":memory:")
    assert before.isoformat() <= written["day"] <= datetime.now(UTC).date().isoformat()
    assert written["counts"]["WeeklyMenu"] in (20, 30)


def test_same_day_writes_the_same_items(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = (
        datetime.now(UTC).date().isoformat()
    )  # menus of another day would be expired, and swept at any moment
    for name in ("one.db", "two.db"):
        seeded_json(capsys, "lunch_cache", "--day", day, "--target", name)
    with Database.open("one.db") as one, Database.open("two.db") as two:
        scans = [each.scan(TableName="lunch-cache-dev")["Items"] for each in (one, two)]
    assert scans[0] == scans[1]
    assert len(scans[0]) in (20, 30)


def test_environment_names_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    written = seeded_json(capsys, "lunch_cache", "--env", "environment=prod")
    assert written["table"] == "lunch-cache-prod"


def test_target_of_the_environment_is_used(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINGLETABLE_TARGET", "other.db")
    assert seed("lunch_cache") == 0
    assert (here / "other.db").exists()
    assert not (here / "lunch_cache.db").exists()


def test_table_on_a_server_is_made_and_filled(capsys: pytest.CaptureFixture[str]) -> None:
    with Database.open(":memory:") as database, BackgroundServer(database) as address, no_aws_settings():
        assert seeded_json(capsys, "kefir", "--target", address.url)["counts"] == KEFIR_COUNTS
        table = database.describe_table(TableName="kefir-app-dev-table")["Table"]
        assert table["ItemCount"] == 1008 + 48  # with the locks of addresses and push tokens
        with LunchCache.open(address.url, create=True, environment="dev") as db:
            assert db.drift() == []
        assert seed("lunch_cache", "--target", address.url) == 0  # a table that is there, and empty


def test_system_is_seeded_where_its_encryption_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    sse = frozenset({"SSESpecification"})
    for forgetful in ({"forgets": sse}, {"refuses": sse}):
        with (
            Database.open(":memory:") as database,
            forgetful_endpoint(database, **forgetful) as url,
            no_aws_settings(),
        ):
            assert seed("lunch_cache", "--target", url) == 0
            said = "lunch-cache-dev has no encryption AWS_MANAGED: the target keeps none\n"
            assert said in capsys.readouterr().err
            assert main(["create-table", "lunch_cache", url]) == 0
            assert "skipped: encryption AWS_MANAGED (the target" in capsys.readouterr().err


# --- what is refused ---------------------------------------------------------------------------------------------


def test_table_that_has_items_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Kefir.open("kefir.db", stage="dev") as db:
        db.create(_somebody())
    assert seed("kefir") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(
        "error: the table kefir-app-dev-table on kefir.db has items already\n\nhint: --add"
    )
    with Kefir.open("kefir.db", stage="dev") as db:
        assert db.user(UserId("ada")).maybe() is None


def test_add_writes_beside_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with Kefir.open("kefir.db", stage="dev") as db:
        db.create(_somebody())
    assert seeded_json(capsys, "kefir", "--add")["total"] == 1008
    assert seeded_json(capsys, "kefir", "--add")["total"] == 1008
    with Kefir.open("kefir.db", stage="dev") as db:
        assert db.user(UserId("somebody")).maybe() is not None
        assert db.verify().is_clean
        assert len(list(db.batches(UserId("ada")).all())) == 10


def _somebody() -> User:
    return User(user_id=UserId("somebody"), email="somebody@post.example")


def test_unknown_system_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert seed("kefr") == 2
    names = ", ".join(installed_systems())
    assert f"there is no system 'kefr'\n\nhint: systems: {names}\n" in capsys.readouterr().err


WRONG = [
    ["--day", "2026-13-01"],
    ["--day", "2000-12-31"],
    ["--day", "9001-01-01"],
    ["--size", "huge"],
    ["--env", "stage"],
]


@pytest.mark.parametrize("wrong", WRONG, ids=" ".join)
def test_wrong_options_are_refused(wrong: list[str], here: Path) -> None:
    with pytest.raises(SystemExit) as error:
        seed("kefir", *wrong)
    assert error.value.code == 2
    assert list(here.iterdir()) == []


def test_environment_that_the_table_does_not_have_makes_no_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seed("kefir", "--env", "stgae=prod") == 2
    assert "it has no stgae" in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("system", ["kefir", "lunch_cache"])
@pytest.mark.parametrize("day", ["2001-01-01", "9000-12-31"])
def test_first_and_last_day_have_data(system: str, day: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert seeded_json(capsys, system, "--day", day)["total"] > 0


# --- on a terminal -----------------------------------------------------------------------------------------------


def test_terminal_gets_a_progress_bar_that_is_wiped(here: Path, warm_programs: Path) -> None:
    ours, its = pty.openpty()
    command = [str(warm_programs / "singletable"), "seed", "kefir", "--json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=its, cwd=here, timeout=TIMEOUT_S, check=True)
    os.close(its)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert json.loads(ran.stdout)["total"] == 1008
    assert "seeding   [##############################] 100 %" in shown
    assert shown.endswith("\r\x1b[K")


def test_nothing_but_a_hint_is_said_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    seed("lunch_cache", "--target", ":memory:")
    assert capsys.readouterr().err == "singletable run --list lunch_cache names what can be asked\n"
