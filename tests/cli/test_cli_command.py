"""The command itself: versions, help, wrong use, failures."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from singletable.cli import main
from singletable.cli.messages import WrongUseError, say, say_failure
from singletable.errors import (
    CorruptDatabaseError,
    ResourceInUseError,
    SignatureError,
    SingleTableError,
    TableMissingError,
)


def exit_code(*arguments: str) -> int:
    """Run the command in this process, also where argparse leaves by SystemExit."""
    try:
        return main(arguments)
    except SystemExit as left:
        return int(left.code or 0)


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    assert capsys.readouterr().out == f"singletable {version('singletable')}\n"


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_load_nothing_heavy(argument: str) -> None:
    script = (
        "import sys\n"
        "from singletable.cli import main\n"
        f"try: main(['{argument}'])\n"
        "except SystemExit: pass\n"
        "print('loaded', *sorted({'asyncio', 'apsw', 'orjson', 'httptools', 'uvloop'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "loaded"


def test_subcommand_is_imported_when_it_is_named() -> None:
    script = (
        "import sys\n"
        "from singletable.cli import main\n"
        "commands = {'singletable.cli.backup', 'singletable.cli.restore', 'singletable.cli.serve'}\n"
        "for argument in ('--help', 'backup'):\n"
        "    try: main([argument])\n"
        "    except SystemExit: pass\n"
        "    print('loaded', *sorted(commands & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = [line for line in ran.stdout.splitlines() if line.startswith("loaded")]
    assert loaded == ["loaded", "loaded singletable.cli.backup"]


def test_subcommand_that_cannot_be_imported_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "singletable.cli.check", None)
    assert exit_code("check", "app.db") == 2
    assert capsys.readouterr().err.startswith("error: ModuleNotFoundError: ")


@pytest.mark.parametrize("words", [["--debug", "check", "any.db"], ["check", "any.db", "--debug"]], ids=str)
def test_debug_shows_where_a_subcommand_could_not_be_imported(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "singletable.cli.check", None)
    assert main(words) == 2
    assert "Traceback" in capsys.readouterr().err


def test_command_for_any_target_loads_no_engine_before_it_knows_the_target() -> None:
    script = (
        "import importlib, sys\n"
        "for command in ('run', 'draw', 'plan', 'diff', 'migrate', 'probe', 'seed', 'create_table'):\n"
        "    importlib.import_module(f'singletable.cli.{command}')\n"
        "    print(command, *{'apsw', 'singletable.database'} & set(sys.modules))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["run", "draw", "plan", "diff", "migrate", "probe", "seed", "create_table"]


@pytest.mark.parametrize("command", [(), ("serve",), ("check",), ("demo",)], ids=" ".join)
def test_help_gives_examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*command, "--help") == 0
    help_text = capsys.readouterr().out
    assert "examples:\n  singletable" in help_text


def test_no_command_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code() == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: singletable")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "error: argument COMMAND: invalid choice: 'nonsense'"),
        (
            ["serve", "--port", "65536"],
            "error: argument --port: '65536' is no port: a number from 0 to 65535",
        ),
        (["serve", "--port", "-1"], "error: argument --port: '-1' is no port"),
        (["serve", "--durability", "none"], "error: argument --durability: invalid choice: 'none'"),
        (["serve", "--region", "nowhere"], "error: argument --region: 'nowhere' is no region"),
        (["serve", "--account", "12"], "error: argument --account: '12' is no account: it has 12 digits"),
        (["serve", ""], "error: argument FILE: the name of the file is empty"),
        (["check", ""], "error: argument FILE: the name of the file is empty"),
        (["check"], "error: the following arguments are required: FILE"),
        (["demo", "--nonsense"], "error: unrecognized arguments: --nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(message)
    assert "\n\nhint: see singletable" in printed.err


@pytest.mark.parametrize("command", ["serve", "check"])
@pytest.mark.parametrize(
    "content", [b"this is no database at all" * 100, b"\x00" * 4096], ids=["text", "zeros"]
)
def test_file_that_is_no_database_gets_one_sentence(
    command: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    assert exit_code(command, str(file)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "notes.txt" in err
    assert "Traceback" not in err
    assert file.read_bytes() == content


def test_debug_shows_where_it_happened(tmp_path: Path) -> None:
    for arguments in (["--debug", "check"], ["check", "--debug"]):
        ran = subprocess.run(
            [sys.executable, "-m", "singletable", *arguments, str(tmp_path / "missing.db")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.stderr.startswith("Traceback")


SHOWN: dict[str, tuple[SingleTableError, str, dict[str, str | None]]] = {
    "number": (
        TableMissingError("the table is not there", hint="create_table() makes it"),
        "error: ST501: the table is not there\n\nhint: create_table() makes it\npage: docs/errors/ST501.md\n",
        {"number": "ST501", "code": None, "page": "docs/errors/ST501.md"},
    ),
    "no-hint": (
        CorruptDatabaseError("kefir.db is damaged"),
        "error: ST804: kefir.db is damaged\n\npage: docs/errors/ST804.md\n",
        {"number": "ST804", "code": None, "page": "docs/errors/ST804.md"},
    ),
    "code": (
        ResourceInUseError("Table is being created"),
        "error: ResourceInUseException: Table is being created\n\npage: docs/errors/api.md#resourceinuseerror\n",
        {"number": None, "code": "ResourceInUseException", "page": "docs/errors/api.md#resourceinuseerror"},
    ),
    "number-and-code": (
        SignatureError("the signature is wrong", hint="check the clock", code="InvalidSignatureException"),
        "error: ST511: the signature is wrong\n\nhint: check the clock\npage: docs/errors/ST511.md\n",
        {"number": "ST511", "code": "InvalidSignatureException", "page": "docs/errors/ST511.md"},
    ),
    "neither": (
        WrongUseError("this pattern has no pages", hint="leave --limit out"),
        "error: this pattern has no pages\n\nhint: leave --limit out\n",
        {"number": None, "code": None, "page": None},
    ),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_every_error_is_shown_in_one_form(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    error, text, data = SHOWN[kind]
    say_failure(error)
    assert capsys.readouterr() == ("", text)
    say_failure(error, as_json=True)
    printed = capsys.readouterr()
    assert printed.err == text
    assert json.loads(printed.out) == {"error": {"message": error.message, "hint": error.hint, **data}}


def test_command_that_was_asked_for_json_answers_with_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "missing.db")
    assert exit_code("check", path, "--json") == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["error"]["number"] == "ST807"
    assert printed.err.startswith(f"error: ST807: {path} does not exist\n\nhint: ")
    # Where every line of stdout is a record, an error would pass for one.
    assert exit_code("stream", "consumers", path, "orders", "--json") == 2
    assert capsys.readouterr().out == ""


def test_failure_nobody_thought_of_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("singletable.cli.check.check_file", lambda *_, **__: 1 / 0)
    assert exit_code("check", "any.db") == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: ZeroDivisionError: division by zero\n\nhint: ")
    assert "--debug" in printed


def test_reader_that_leaves_early_is_no_failure_to_shout_about(tmp_path: Path) -> None:
    pipeline = '"$0" -m singletable --help | true; "$0" -m singletable check missing.db --json | true'
    ran = subprocess.run(
        ["bash", "-c", pipeline, sys.executable], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "Traceback" not in ran.stderr


# --- commands in hints, which can be pasted ---------------------------------------------------------------------

PROGRAM = Path(sys.executable).with_name("singletable")


def hint_of(*words: str, cwd: Path, path: str = os.defpath) -> str:
    """Run a command that says which other one to run; return the hint."""
    ran = subprocess.run(
        words, capture_output=True, text=True, cwd=cwd, env={**os.environ, "PATH": path}, check=False
    )
    found = re.search(r"^hint: (.*)", ran.stderr, re.MULTILINE)
    assert found is not None, ran.stderr
    return found[1]


def test_command_of_a_hint_begins_with_what_this_one_was_started_by(tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(PROGRAM.parents[1])
    plain = hint_of("singletable", "check", cwd=tmp_path, path=f"{PROGRAM.parent}:{os.defpath}")
    assert "singletable" in plain
    assert "/" not in plain.partition("singletable")[0]
    relative = hint_of(".venv/bin/singletable", "check", cwd=tmp_path)
    assert relative == plain.replace("singletable", ".venv/bin/singletable", 1)
    absolute = hint_of(str(PROGRAM), "check", cwd=tmp_path)
    assert absolute == plain.replace("singletable", str(PROGRAM), 1)
    module = hint_of(sys.executable, "-m", "singletable", "check", cwd=tmp_path)
    assert module == plain.replace("singletable", f"{sys.executable} -m singletable", 1)


@pytest.mark.parametrize(
    "words", [["run", "kefir.nothing"], ["run", "kefir.due", "--target", "no.db"]], ids=str
)
def test_hint_of_any_error_names_what_the_command_was_started_by(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["venv/bin/singletable", *words])
    assert exit_code(*words) == 2
    assert re.search(r"^hint: .*?(\S*\bsingletable) ", capsys.readouterr().err, re.MULTILINE)[1] == (  # type: ignore[index]
        "venv/bin/singletable"
    )


def test_only_a_command_is_taken_for_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["venv/bin/singletable"])
    say(
        "notes.txt is not a singletable database; singletable run x, /opt/singletable check y, singletable-seed"
    )
    assert capsys.readouterr().err == (
        "notes.txt is not a singletable database; venv/bin/singletable run x, /opt/singletable check y, "
        "singletable-seed\n"
    )


def test_commands_of_hints_name_all_that_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["designs.kefir:Kefir", "my file.db", "--env", "stage=dev", "--folder", "my folder"]
    assert exit_code("migrate", "status", *words) == 2
    (made,) = re.findall(r"^hint: singletable (.*) makes it$", capsys.readouterr().err, re.MULTILINE)
    assert exit_code(*shlex.split(made)) == 2
    (written,) = re.findall(
        r"^hint: singletable (.*) writes the first$", capsys.readouterr().err, re.MULTILINE
    )
    assert exit_code(*shlex.split(written)) == 0
    assert exit_code(*shlex.split(made)) == 0
    assert exit_code("migrate", "status", *words) == 0
