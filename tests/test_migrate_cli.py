"""`singletable migrate`: plan, new, run, status, verify; what is printed where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import singletable
from migrating import old_items
from singletable.cli import main

V1, V2 = "designs.kefir_v1:Kefir", "designs.kefir:Kefir"
TABLE = "kefir-app-dev-table"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a database of the first version, and old items in it."""
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", "new", V1, "First version"]) == 0
    assert main(["migrate", "run", V1, "kefir.db", "--env", "stage=dev"]) == 0
    with singletable.Database.open("kefir.db") as database:
        for item in old_items(4):
            database.put_item(TableName=TABLE, Item=item)
    return tmp_path


def on_table(command: str, design: str, *more: str) -> int:
    return main(["migrate", command, design, "kefir.db", "--env", "stage=dev", *more])


def test_plan_prints_a_sentence_for_each_step(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["migrate", "plan", V2]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == " 1. Add the index GSI2, and wait until it is ACTIVE."
    assert len(lines) == 4
    assert sorted(path.name for path in Path("scripts/migrations").iterdir()) == ["0001_first_version.json"]


def test_plan_of_a_design_that_has_not_changed_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["migrate", "plan", V1]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "nothing has changed since the newest migration\n")
    assert main(["migrate", "new", V1, "Nothing"]) == 0
    assert capsys.readouterr().err == "nothing has changed since the newest migration\n"
    assert main(["migrate", "plan", V1, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"steps": []}


def test_migration_is_written_rehearsed_run_and_recorded(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["migrate", "new", V2, "Add status index", "--every-item"]) == 0
    assert capsys.readouterr().out == "scripts/migrations/0002_add_status_index.json\n"
    assert on_table("status", V2) == 1
    assert capsys.readouterr().out == "0001_first_version: done\n0002_add_status_index: not begun\n"
    assert on_table("run", V2, "--dry-run", "--json") == 0
    rehearsed = json.loads(capsys.readouterr().out)[1]
    assert rehearsed["state"] == "dry run"
    assert rehearsed["steps"][2]["counts"]["moved"] == 4
    assert on_table("run", V2) == 0
    assert "0002_add_status_index: done" in capsys.readouterr().out
    assert on_table("status", V2, "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["state"]) for row in rows] == [
        ("0001_first_version", "done"),
        ("0002_add_status_index", "done"),
    ]
    assert on_table("verify", V2) == 0


def test_verify_prints_what_differs_and_exits_1(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert on_table("verify", V1) == 1
    printed = capsys.readouterr()
    assert all(json.loads(line) for line in printed.out.splitlines())
    assert printed.err == "16 items, 15 differ, 1 are of no entity\n"
    assert on_table("verify", V1, "--json") == 1
    assert json.loads(capsys.readouterr().out)["differing"] == 15


def test_destructive_step_needs_yes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["migrate", "new", V2, "Add", "--every-item"])
    on_table("run", V2)
    main(["migrate", "new", V1, "Drop"])
    capsys.readouterr()
    assert on_table("run", V1) == 1
    assert "run it again with --yes" in capsys.readouterr().err
    assert indexes() == ["GSI1", "GSI2"]
    assert on_table("run", V1, "--yes") == 0
    assert indexes() == ["GSI1"]


def indexes() -> list[Any]:
    with singletable.Database.open("kefir.db") as database:
        table = database.describe_table(TableName=TABLE)["Table"]
    return [index["IndexName"] for index in table["GlobalSecondaryIndexes"]]


def test_run_up_to_a_number_leaves_the_rest(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["migrate", "new", V2, "Add"])
    capsys.readouterr()
    assert on_table("run", V2, "--to", "0001") == 0
    assert capsys.readouterr().out == "0001_first_version: was done\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["migrate", "plan", "nowhere:Kefir"], "there is no nowhere:Kefir"),
        (["migrate", "plan", "designs.kefir:Batch"], "designs.kefir:Batch is no Design"),
        (["migrate", "status", V1, "nowhere.db"], "there is no file nowhere.db"),
        (["migrate", "run", V1, "kefir.db", "--rate", "fast"], "'fast' is no rate"),
        (["migrate", "run", V1, "kefir.db", "--to", "0009"], "there is no migration 0009"),
        (["migrate", "run", V1, "kefir.db", "--folder", "empty"], "there are no migrations in empty"),
    ],
    ids=["module", "class", "file", "rate", "id", "folder"],
)
def test_wrong_use_is_told_and_exits_2(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    capsys.readouterr()
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: ST601: {reason}")
    assert printed.err.count("hint:") <= 1


@pytest.mark.parametrize("design", ["kefir", "designs.kefir:", ":Kefir", "a:b c"])
def test_design_that_cannot_be_one_is_refused_at_once(
    design: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["migrate", "plan", design])
    assert "is no MODULE:DESIGN" in capsys.readouterr().err
