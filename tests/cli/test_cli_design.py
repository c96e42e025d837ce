"""`singletable create-table` and `singletable diff`: the table of a design, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from singletable import Database
from singletable.cli import main
from singletable.storage.file.given_keys import use_key
from singletable.wire.types import ProvisionedThroughput

PROGRAM = """
from singletable import (
    Create, Design, Entity, Index, Key, Keys, Query, SortKey, Table, Unique, pattern,
)

class NotesTable(Table):
    name = "notes-{stage}"
    tags = {"team": "a"}
    SETTINGS

class NotesPK(Key, template="NOTES"):
    pass

class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str

class TitlePK(Key, template="TITLE#{title}"):
    title: str

class Note(Entity):
    key = Keys(NotesPK, NoteSK)
    unique_title = Unique(TitlePK)
    note_id: str
    title: str

class Notes(Design):
    table = NotesTable
    entities = (Note,)

    @pattern("1 Add a note")
    def add(self, note_id: str) -> Create[Note]:
        return Create(Note(note_id=note_id, title=note_id))

    @pattern("2 All notes")
    def all(self) -> Query[Note]:
        return Note.key.query(NotesPK())
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
    assert "error: ST502: the table notes-dev is not as the design says\n  index more:" in printed.err
    assert "\nhint: keys and indexes" in printed.err
    assert printed.err.endswith("\npage: docs/errors/ST502.md\n")
    assert json.loads(printed.out)["error"]["number"] == "ST502"


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


@pytest.fixture
def key_of_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have all files encrypted, as this system asks for."""
    monkeypatch.setattr("singletable.cli.keys.forbid_core_dumps", lambda: None)
    monkeypatch.setenv("SINGLETABLE_KEY_FILE", "key")
    (folder / "key").write_text("5a" * 32)
    use_key(bytes.fromhex("5a" * 32))
    yield
    use_key(None)


@pytest.mark.usefixtures("key_of_files")
def test_system_is_named_as_it_is_and_knows_its_environment(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["create-table", "lunch-cache", "lunch.db"]) == 0
    assert "lunch-cache-dev is ready" in capsys.readouterr().err
    assert main(["diff", "lunch_cache", "lunch.db"]) == 0
    assert main(["diff", "lunch_cache", "lunch.db", "--env", "environment=prod"]) == 1


@pytest.mark.usefixtures("key_of_files")
def test_billing_and_capacity_of_a_stage_are_no_difference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = ["--billing", "PROVISIONED", "--capacity", "5,7"]
    assert main(["create-table", "lunch_cache", "lunch.db"]) == 0
    assert main(["diff", "lunch_cache", "lunch.db", *stage]) == 1
    units: ProvisionedThroughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}
    with Database.open("lunch.db") as db:
        names = [
            each["IndexName"]
            for each in db.describe_table(TableName="lunch-cache-dev")["Table"]["GlobalSecondaryIndexes"]
        ]
        db.update_table(
            TableName="lunch-cache-dev",
            BillingMode="PROVISIONED",
            ProvisionedThroughput=units,
            GlobalSecondaryIndexUpdates=[
                {"Update": {"IndexName": name, "ProvisionedThroughput": units}} for name in names
            ],
        )
    capsys.readouterr()
    assert main(["diff", "lunch_cache", "lunch.db"]) == 1
    assert "billing: the design says PAY_PER_REQUEST, and there is PROVISIONED" in capsys.readouterr().out
    assert main(["diff", "lunch_cache", "lunch.db", *stage]) == 0
    assert "billing and capacity are those of the stage" in capsys.readouterr().err
    assert main(["diff", "lunch_cache", "lunch.db", "--billing", "PROVISIONED"]) == 2
    assert "nothing says how much" in capsys.readouterr().err
    assert main(["diff", "lunch_cache", "lunch.db", "--capacity", "5,7"]) == 2
    assert "which is billed by its requests" in capsys.readouterr().err


# --- capabilities by hand -------------------------------------------------------------------------------

OPENING = {
    "create-table": ["create-table", "notes_first:Notes", "notes.db"],
    "diff": ["diff", "notes_first:Notes", "notes.db"],
    "migrate-run": ["migrate", "run", "notes_first:Notes", "notes.db"],
    "migrate-status": ["migrate", "status", "notes_first:Notes", "notes.db"],
    "migrate-verify": ["migrate", "verify", "notes_first:Notes", "notes.db"],
    "seed": ["seed", "lunch_cache", "--target", "new.db"],
    "seed-all": ["seed", "all", "--target", "new.db"],
    "run": ["run", "notes_first:Notes.add", "--note-id", "n1", "--target", "notes.db"],
    "run-dry": ["run", "notes_first:Notes.add", "--note-id", "n1", "--dry-run"],
    "draw": ["draw", "notes_first:Notes", "notes.db"],
}


@pytest.mark.parametrize("words", OPENING.values(), ids=OPENING.keys())
def test_every_command_that_opens_a_target_takes_capabilities(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    main(["migrate", "new", "notes_first:Notes", "First"])
    capsys.readouterr()
    assert main([*words, "--capabilities", "found.json"]) == 2
    assert (
        "error: ST504: the capabilities cannot be read: found.json: No such file" in capsys.readouterr().err
    )
    (folder / "found.json").write_text('{"capabilities": {"tags": false}}')
    assert main([*words, "--capabilities", "found.json", "--without", "streams,encryption"]) in (0, 1)
    assert "error" not in capsys.readouterr().err


def test_settings_of_features_that_are_taken_away_are_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["create-table", "notes_first:Notes", "notes.db", "--json"]
    assert main([*words, "--without", "tags, point-in-time-recovery", "--without", "streams"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["applied"] == ["table notes-dev", "billing PAY_PER_REQUEST"]
    assert report["skipped"] == [
        "stream NEW_AND_OLD_IMAGES (the target does not know it)",
        "point-in-time recovery 35 days (the target does not know it)",
        "tag team (the target does not know it)",
    ]


def test_pattern_without_transactions_takes_the_other_path(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "notes_first:Notes.add", "--note-id", "n1", "--dry-run", "--json"]
    sent = []
    for options in ([], ["--without", "transactions"]):
        assert main([*words, *options]) == 0
        sent.append([each["operation"] for each in json.loads(capsys.readouterr().out)["requests"]])
    assert sent[0] == ["TransactWriteItems"]
    assert "TransactWriteItems" not in sent[1]


def test_next_page_is_asked_for_with_the_same_capabilities(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["create-table", "notes_first:Notes", "notes.db"])
    for number in range(2):
        main(["run", "notes_first:Notes.add", "--note-id", f"n{number}", "--target", "notes.db"])
    capsys.readouterr()
    (folder / "found.json").write_text("{}")
    options = ["--without", "tags,streams", "--capabilities", "found.json"]
    assert main(["run", "notes_first:Notes.all", "--limit", "1", "--target", "notes.db", *options]) == 0
    assert "--without tags,streams --capabilities found.json --limit 1" in capsys.readouterr().err


def test_feature_that_there_is_not_is_named_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["diff", "notes_first:Notes", "notes.db", "--without", "tags,magic"])
    assert left.value.code == 2
    assert "there is no capability 'magic': there are transactions, time_to_live" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["diff", "create-table"])
def test_help_gives_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"examples:\n  singletable {command}" in capsys.readouterr().out
