"""`singletable create-table` and `singletable diff`: the table of a design, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from singletable.cli import main

PROGRAM = """
from singletable.design import Design, Entity, Index, Key, Keys, SortKey, Table

class NotesTable(Table):
    name = "notes-{stage}"
    tags = {"team": "a"}
    SETTINGS

class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str

class HeadSK(SortKey, template="HEAD"):
    pass

class Note(Entity):
    key = Keys(NotePK, HeadSK)
    note_id: str

class Notes(Design):
    table = NotesTable
    entities = (Note,)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three versions of a design, in which the command is run."""
    settings = {"first": "pass", "streamless": "stream = None", "indexed": 'more = Index("more", pk="X")'}
    for name, setting in settings.items():
        (tmp_path / f"notes_{name}.py").write_text(PROGRAM.replace("SETTINGS", setting))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table_is_made_and_does_not_differ(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["create-table", "notes_first:Notes", "notes.db", "--env", "stage=test"]) == 0
    assert "table notes-test\n" in capsys.readouterr().out
    assert main(["diff", "notes_first:Notes", "notes.db", "--env", "stage=test"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "notes.db is as the design says\n"


def test_each_difference_is_a_line_and_the_exit_is_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    capsys.readouterr()
    assert main(["diff", "notes_streamless:Notes", "notes.db"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "stream: NEW_AND_OLD_IMAGES is there, and the design has none\n"
    assert printed.err == "notes.db differs from the design in 1 thing\n"


def test_differences_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    capsys.readouterr()
    assert main(["diff", "notes_streamless:Notes", "notes.db", "--json"]) == 1
    difference = {
        "what": "stream",
        "declared": None,
        "found": "NEW_AND_OLD_IMAGES",
        "is_changeable": True,
    }
    assert json.loads(capsys.readouterr().out) == {
        "same": False,
        "differences": [difference],
        "unsupported": [],
    }


def test_comparing_with_a_file_that_is_not_there_makes_none(folder: Path) -> None:
    assert main(["diff", "notes_first:Notes", "notes.db"]) == 1
    assert not (folder / "notes.db").exists()


def test_settings_of_a_table_that_is_there_are_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    capsys.readouterr()
    assert main(["create-table", "notes_streamless:Notes", "notes.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "table": "notes-dev",
        "applied": ["stream off"],
        "skipped": [],
        "differences": [],
    }
    assert main(["create-table", "notes_streamless:Notes", "notes.db"]) == 0
    assert capsys.readouterr().err == "notes-dev is as the design says\n"


def test_other_indexes_are_refused_with_the_list_and_exit_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    capsys.readouterr()
    assert main(["create-table", "notes_indexed:Notes", "notes.db", "--json"]) == 1
    printed = capsys.readouterr()
    (difference,) = json.loads(printed.out)["differences"]
    assert difference["what"] == "index more"
    assert "error: the table notes-dev is not as the design says\n  index more:" in printed.err
    assert "\nhint: keys and indexes" in printed.err


WRONG = {
    "no-module": ("nowhere.at_all:Notes", "there is no module 'nowhere.at_all'"),
    "no-design": ("notes_first:Other", "notes_first has no design 'Other'"),
    "no-class": ("notes_first:Note", "hint: its designs: Notes"),
    "none": ("json:Notes", "hint: it has no designs at all"),
    "no-system": ("Notes", "there is no system 'Notes'"),
}


@pytest.mark.parametrize(("design", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_design_is_explained(
    design: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", design, "notes.db"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diff", "notes.py", "notes.db"], "'notes.py' is no MODULE:DESIGN"),
        (["diff", "a:Notes", "notes.db", "--env", "stage"], "'stage' is no NAME=VALUE"),
        (["create-table", "a:Notes"], "arguments are required: TARGET"),
    ],
    ids=["design", "environment", "target"],
)
def test_wrong_use_exits_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_system_is_named_as_it_is_and_knows_its_environment(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["create-table", "lunch-cache", "lunch.db"]) == 0
    assert "lunch-cache-dev is ready" in capsys.readouterr().err
    assert main(["diff", "lunch_cache", "lunch.db"]) == 0
    assert main(["diff", "lunch_cache", "lunch.db", "--env", "environment=prod"]) == 1


@pytest.mark.parametrize("command", ["diff", "create-table"])
def test_help_gives_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"examples:\n  singletable {command}" in capsys.readouterr().out
