"""`singletable seed all`: every installed system in one target, with one summary, or nothing at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli import main
from singletable.server import BackgroundServer
from singletable.storage.check import check_file
from singletable.systems import installed_systems
from singletable_systems.kefir import Kefir, User, UserId
from support.serving import TIMEOUT_S
from support.targets import no_aws_settings

DAY = "2026-03-04"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder, with nothing in the environment that names a target."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SINGLETABLE_TARGET", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    return tmp_path


def seed_all(*arguments: str) -> int:
    return main(["seed", "all", *arguments])


def seeded(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert seed_all(*arguments, "--json") == 0
    written = json.loads(capsys.readouterr().out)
    assert isinstance(written, dict)
    return written


def item_counts(database: Database) -> dict[str, int]:
    names = database.list_tables()["TableNames"]
    return {name: database.describe_table(TableName=name)["Table"]["ItemCount"] for name in names}


def test_all_systems_are_in_one_file_and_can_be_added_to(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = seeded(capsys)
    assert [each["system"] for each in written["systems"]] == list(installed_systems())
    assert [path.name for path in here.iterdir() if path.suffix == ".db"] == ["all.db"]
    counts = {each["table"]: each["items"] for each in written["systems"]}
    with Database.open("all.db") as database:
        assert item_counts(database) == counts
    assert check_file("all.db") == []
    assert seeded(capsys, "--add")["items"] == written["items"]
    with Database.open("all.db") as database:
        assert item_counts(database) == counts


def test_summary_adds_up_and_tables_have_their_environment(capsys: pytest.CaptureFixture[str]) -> None:
    written = seeded(capsys, "--target", ":memory:", "--day", DAY, "--env", "stage=prod")
    for name in ("total", "items", "units"):
        assert written[name] == sum(each[name] for each in written["systems"])
    for each in written["systems"]:
        assert each["total"] == sum(each["counts"].values()) <= each["items"]
    assert (written["target"], written["size"], written["day"]) == (":memory:", "small", DAY)
    assert written["seconds"] > 0
    assert written["per_second"] > 0
    tables = [each["table"] for each in written["systems"]]
    assert "kefir-app-prod-table" in tables
    assert "lunch-cache-dev" in tables


def test_people_get_a_line_for_each_system_and_one_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    with Database.open(":memory:") as database, BackgroundServer(database) as address, no_aws_settings():
        assert seed_all("--target", address.url) == 0
        counts = item_counts(database)
    said = capsys.readouterr()
    head, *rows, together, speed = said.out.splitlines()
    assert head.split() == ["system", "entities", "items", "table"]
    assert [row.split()[0] for row in rows] == list(installed_systems())
    assert {row.split()[3]: row.split()[2] for row in rows} == {name: f"{counts[name]:,}" for name in counts}
    assert ["kefir", "1,008", "1,056", "kefir-app-dev-table"] in [row.split() for row in rows]
    assert together.startswith("together ")
    assert "items a second" in speed
    assert said.err == "singletable run --list names what can be asked\n"


def test_nothing_is_written_if_one_table_has_items(capsys: pytest.CaptureFixture[str]) -> None:
    with Kefir.open("all.db", stage="dev") as db:
        db.create(User(user_id=UserId("somebody"), email="somebody@post.example"))
    assert seed_all() == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(
        "error: the table kefir-app-dev-table on all.db has items already\n\nhint: --add"
    )
    with Database.open("all.db") as database:
        counts = item_counts(database)
    assert sum(counts.values()) == counts["kefir-app-dev-table"] == 2  # with the lock of the address


def test_environment_that_no_table_has_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seed_all("--env", "stgae=prod") == 2
    said = capsys.readouterr().err
    assert said.startswith("error: no table's name has stgae\n\nhint: --env takes ")
    assert "stage" in said
    assert list(here.iterdir()) == []


def test_one_bar_goes_over_all_systems(here: Path, warm_programs: Path) -> None:
    ours, its = pty.openpty()
    command = [str(warm_programs / "singletable"), "seed", "all", "--target", ":memory:", "--json"]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=its, cwd=here, timeout=TIMEOUT_S, check=True)
    os.close(its)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    parts = shown.replace("\x1b[K", "").split("\r")
    percents = [int(part.split()[-2]) for part in parts if part.endswith("%")]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    assert shown.count("100 %") == 1
