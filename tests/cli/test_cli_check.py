"""`singletable check`: a sound file, a file with problems, a file that is none."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import singletable
from singletable.cli import main
from support.by_hand import opened_by_hand

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A sound database with three items."""
    path = str(tmp_path / "app.db")
    with singletable.Database.open(path) as database:
        database.create_table(
            TableName="things",
            AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for key in ("a", "b", "c"):
            database.put_item(TableName="things", Item={"PK": {"S": key}})
    return path


def spoil(file: str) -> None:
    """Make the stored count of items wrong, behind the engine's back."""
    with opened_by_hand(file) as connection:
        connection.execute("UPDATE counter SET items = items + 1")
        assert connection.changes() > 0


def test_sound_file_has_no_lines_and_exits_0(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", file]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"{file} is sound\n"


def test_each_problem_is_a_line_and_the_exit_is_1(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(file)
    assert main(["check", file]) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1
    assert "things" in printed.out
    assert printed.err == f"{file} has 1 problem\n"


def test_sound_file_as_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", file, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"file": file, "sound": True, "problems": [], "clock_held": False}
    assert printed.err == ""


def test_problems_as_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(file)
    assert main(["check", file, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["sound"] is False
    (problem,) = found["problems"]
    assert sorted(problem) == ["what", "where"]


@pytest.mark.parametrize("name", ["missing.db", ":memory:", "."])
def test_what_is_no_file_is_one_sentence_and_exits_2(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", name]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: ST807: {name} ")
    assert list(tmp_path.iterdir()) == []


def test_truncated_file_is_not_called_sound(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.truncate(file, 5000)
    assert main(["check", file]) in (1, 2)
    printed = capsys.readouterr()
    assert "sound" not in printed.err
    assert "Traceback" not in printed.err


def test_terminal_sees_progress_and_a_clean_last_line(file: str) -> None:
    ours, its = pty.openpty()
    arguments = [sys.executable, "-m", "singletable", "check", file]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=its) as checking:
        os.close(its)
        shown = b""
        while not shown.endswith(b"sound\r\n"):
            shown += os.read(ours, 65536)
        assert checking.stdout is not None
        assert checking.stdout.read() == b""
    os.close(ours)
    progress, _, verdict = shown.decode().rpartition("\x1b[K")
    assert "checking 100 %" in progress
    assert verdict == f"{file} is sound\r\n"
