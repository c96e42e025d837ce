"""`singletable draw`: pictures from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from singletable.cli import main
from singletable_systems.kefir.model.entities import User
from singletable_systems.kefir.model.keys import UserId
from singletable_systems.kefir.reactions.handlers import Kefir

DESIGN = "singletable_systems.kefir:Kefir"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the command is run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def file(folder: Path) -> str:
    """A file with one user in it."""
    with Kefir.open("kefir.db", stage="dev") as db:
        db.create(User(user_id=UserId("ada"), email="ada@example.org"))
    return "kefir.db"


def test_svg_is_printed_without_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "kefir"]) == 0
    printed = capsys.readouterr()
    assert ElementTree.fromstring(printed.out).tag.endswith("svg")
    assert printed.err == ""


def test_system_and_its_design_are_the_same_picture(capsys: pytest.CaptureFixture[str]) -> None:
    pictures = []
    for name in ("lunch_cache", "lunch-cache", "singletable_systems.lunch_cache.model.design:LunchCache"):
        assert main(["draw", name]) == 0
        pictures.append(capsys.readouterr().out)
    assert pictures[0] == pictures[1] == pictures[2]


@pytest.mark.parametrize(
    ("name", "begins"), [("k.svg", "<svg "), ("k.html", "<!doctype html>"), ("K.HTML", "<!doc")]
)
def test_name_of_the_file_decides_what_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, begins: str
) -> None:
    assert main(["draw", DESIGN, "--out", name]) == 0
    assert (folder / name).read_text(encoding="utf-8").startswith(begins)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{name} is written\n")


def test_one_view_is_drawn_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "kefir", "--view", "GSI1", "--json"]) == 0
    assert [view["name"] for view in json.loads(capsys.readouterr().out)["views"]] == ["GSI1"]


def test_json_is_printed_beside_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "kefir", "--json", "--out", "k.svg"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Kefir"
    assert (folder / "k.svg").exists()


def test_items_of_a_file_are_drawn(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "kefir", file, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["subtitle"] == "items of kefir-app-dev-table"
    partitions = [each["partition"]["text"] for each in data["views"][0]["collections"]]
    assert partitions == ["USER#ada", "EMAIL#ada@example.org"]


def test_environment_names_the_table(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "kefir", file, "--env", "stage=prod"]) == 2
    assert "the table kefir-app-prod-table is not there" in capsys.readouterr().err


WRONG = {
    "no system": (["draw", "kefr"], "there is no system 'kefr'", "systems: kefir, lunch_cache"),
    "no module": (["draw", "nowhere:Kefir"], "there is no module 'nowhere'", ""),
    "no design": (["draw", f"{DESIGN}s"], "has no design 'Kefirs'", "its designs: "),
    "no view": (["draw", "kefir", "--view", "GSI9"], "no view 'GSI9'", "its views: table, GSI1, GSI2"),
    "no folder": (
        ["draw", "kefir", "--out", "no/k.svg"],
        "no/k.svg cannot be written",
        "a folder that is there",
    ),
    "no file": (
        ["draw", "kefir", "no.db"],
        "there is no file no.db",
        "singletable seed kefir --target no.db",
    ),
}


@pytest.mark.parametrize(("arguments", "message", "hint"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_told_and_makes_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert hint in printed.err
    assert list(folder.iterdir()) == []


def test_file_that_is_no_picture_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["draw", "kefir", "--out", "kefir.png"])
    assert ended.value.code == 2
    assert "'kefir.png' is no picture: its name ends with .svg or .html" in capsys.readouterr().err
