"""Names and values of others, printed by every command: nothing in them steers a terminal, turns text or hides."""

from __future__ import annotations

import argparse
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from designs.hostile import HOSTILE, Hostile, Note
from singletable import Database
from singletable.cli import main
from singletable.cli.parser import build_parser
from singletable.server import Address
from singletable.visible import visible, visible_in_line
from support.by_hand import opened_by_hand
from support.consuming import Event
from support.price_lists import offer_file
from support.run_commands import Run, command
from support.serving import TIMEOUT_S, CommandProcess, HttpSocket

FILE, KEPT = f"{HOSTILE}.db", f"{HOSTILE}.kept"
ODD_BYTE = "\udcff"  # of a name that is no UTF-8
DESIGN = "designs.hostile:Hostile"
OTHER = "designs.hostile:Other"
BLUEPRINT, MODEL, TEMPLATE = "hostile.toml", "model.json", "template.json"
PRICE_LIST = "list.json"
TORN = "torn.db"
HOSTILE_PRICES = f"""
prices = 1
[sources]
s = {{ title = {json.dumps(HOSTILE)}, date = 2026-01-02 }}
[regions.us-east-1.BOTH]
pitr = {{ usd = 1, per = "GB-month", source = "s" }}
"""
# They shape letters of Persian and of Indian scripts, and emoji.
JOINERS = "\u200c\u200d"


def hidden_in(printed: str) -> list[str]:
    """Return what of a text cannot be seen, but for its lines, by what Unicode says of it."""
    return sorted(
        f"U+{ord(each):04X}"
        for each in set(printed)
        if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each not in f"\n\t{JOINERS}"
    )


# --- the commands ----------------------------------------------------------------------------------------------

# Every command that there is, as it prints names and values of others: when it succeeds, and when it fails.
LINES: dict[str, list[list[str]]] = {
    "api": [
        [f"{HOSTILE}:{HOSTILE}"],
        [DESIGN, "--target", HOSTILE],
        [DESIGN, "--target", FILE, "--auth", HOSTILE],
        [DESIGN, "--target", FILE, "--host", HOSTILE],
    ],
    "alarms": [
        [BLUEPRINT, "--region", "eu-north-1"],
        [DESIGN, "--region", HOSTILE],
        [f"{HOSTILE}.toml", "--region", "eu-north-1", "--json"],
    ],
    "backup": [[FILE, f"{HOSTILE}.copy"], [FILE, f"{HOSTILE}.json", "--json"], [HOSTILE, f"{HOSTILE}.copy"]],
    "blueprint diff": [[DESIGN, OTHER], [BLUEPRINT, OTHER, "--json"], [DESIGN, f"{HOSTILE}.toml"]],
    "blueprint from-cloudformation": [[f"{HOSTILE}.yaml"], [TEMPLATE], [TEMPLATE, "--table", HOSTILE]],
    "blueprint from-table": [
        [FILE, "hostile"],
        [FILE, "hostile", "--json"],
        [FILE, "hostile", "--format", "markdown"],
        [FILE, HOSTILE],
        [HOSTILE, "hostile"],
    ],
    "blueprint from-terraform": [[f"{HOSTILE}.tf"], [TEMPLATE], [BLUEPRINT]],
    "blueprint from-workbench": [[MODEL], [MODEL, "--table", HOSTILE], [BLUEPRINT], [f"{HOSTILE}.json"]],
    "blueprint schema": [["--out", f"{HOSTILE}.json"], ["--out", f"{HOSTILE}/no.json"]],
    "blueprint show": [
        [DESIGN],
        [BLUEPRINT, "--json"],
        [BLUEPRINT, "--format", "markdown"],
        [BLUEPRINT, "--format", "svg"],
        [BLUEPRINT, "--format", "html"],
        [f"{HOSTILE}:documented"],
        ["wrong.toml"],
        ["wrong.json"],
    ],
    "blueprint to-python": [[BLUEPRINT], [BLUEPRINT, "--out", f"{HOSTILE}.py"], [HOSTILE]],
    "blueprint to-workbench": [[DESIGN], [BLUEPRINT, "--out", f"{HOSTILE}.model"]],
    "check": [[FILE], [FILE, "--json"], ["damaged.db"], ["damaged.db", "--json"], [HOSTILE], [ODD_BYTE]],
    "clock": [[FILE], [FILE, "--json"], [HOSTILE], [FILE, "--confirm"]],
    "create-table": [
        [DESIGN, f"new{FILE}"],
        [DESIGN, f"more{FILE}", "--json"],
        [f"{HOSTILE}:X", FILE],
        [DESIGN, f"http://{HOSTILE}"],
    ],
    "demo": [["--port", HOSTILE]],  # that it runs has a test of its own, below
    "deploy": [
        [BLUEPRINT, "--region", "eu-north-1"],
        [DESIGN, "--region", HOSTILE, "--json"],
        [DESIGN, "--region", "eu-north-1", "--tag", f"a={HOSTILE}"],
        [DESIGN, "--region", "eu-north-1", "--diff", f"{HOSTILE}.json"],
    ],
    "diff": [[DESIGN, FILE], [OTHER, FILE, "--json"], [DESIGN, HOSTILE], [DESIGN, FILE, "--env", HOSTILE]],
    "draw": [
        [DESIGN],
        [DESIGN, "--target", FILE],
        [DESIGN, "--target", FILE, "--json"],
        [DESIGN, "--out", f"{HOSTILE}.svg"],
        [DESIGN, "--out", f"{HOSTILE}/no.svg"],
        [DESIGN, "--view", HOSTILE],
    ],
    "history": [
        [FILE, "hostile", f"USER#{HOSTILE}", f"NOTE#{HOSTILE}"],
        [FILE, "hostile", f"USER#{HOSTILE}", f"NOTE#{HOSTILE}", "--json"],
        [FILE, "hostile", HOSTILE],
        [FILE, HOSTILE, HOSTILE],
    ],
    "migrate new": [
        [OTHER, HOSTILE, "--folder", f"{HOSTILE}.new"],
        [OTHER, HOSTILE, "--folder", f"{HOSTILE}.more", "--json"],
    ],
    "migrate plan": [[OTHER], [OTHER, "--json"], [OTHER, "--folder", HOSTILE]],
    "migrate run": [
        [DESIGN, f"run{FILE}"],
        [OTHER, FILE, "--dry-run", "--json"],
        [DESIGN, FILE, "--folder", HOSTILE],
    ],
    "migrate status": [[DESIGN, FILE], [DESIGN, FILE, "--json"], [DESIGN, HOSTILE]],
    "migrate verify": [[DESIGN, FILE], [DESIGN, FILE, "--json"]],
    "prices fetch": [["--region", HOSTILE]],
    "prices import": [
        [f"{HOSTILE}.json"],
        [BLUEPRINT],
        [PRICE_LIST],
        [PRICE_LIST, "--json"],
        [PRICE_LIST, "--out", f"{HOSTILE}.p"],
    ],
    "prices show": [
        ["--region", HOSTILE],
        ["--prices", "prices.toml", "--region", "us-east-1"],
        ["--prices", "prices.toml", "--json"],
        ["--prices", "wrong.toml"],
    ],
    "lint": [
        [DESIGN],
        [BLUEPRINT, "--json"],
        [BLUEPRINT, "--format", "github"],
        [BLUEPRINT, "--format", "markdown"],
        [BLUEPRINT, "--format", "sarif"],
        [BLUEPRINT, "--prove"],
        [BLUEPRINT, "--select", HOSTILE],
        [BLUEPRINT, "--baseline", f"{HOSTILE}.json"],
        [f"{HOSTILE}:X"],
        [f"{HOSTILE}.toml"],
    ],
    "plan": [
        [DESIGN],
        [BLUEPRINT, "--json"],
        [BLUEPRINT, "--markdown"],
        [BLUEPRINT, "--html"],
        [BLUEPRINT, "--svg", "heat"],
        [DESIGN, "--data", FILE, "--json"],
        [DESIGN, "--explain", HOSTILE],
        [DESIGN, "--since", HOSTILE],
        [DESIGN, "--region", HOSTILE],
        [DESIGN, "--measured", f"http://{HOSTILE}"],
        [DESIGN, "--compare-documented"],
        [DESIGN, "--out", f"{HOSTILE}/no.txt"],
        [f"{HOSTILE}.toml"],
    ],
    "probe": [[FILE, "--out", f"{HOSTILE}/found"], [HOSTILE], [f"http://{HOSTILE}.example", "--yes"]],
    "decrypt": [[FILE], [FILE, "--key-file", f"{HOSTILE}.key"], [TORN, "--key-env", "HOSTILE"]],
    "encrypt": [[FILE], [FILE, "--key-file", f"{HOSTILE}.key"], [TORN, "--key-env", "HOSTILE"]],
    "rekey": [
        [FILE, "--new-key-file", f"{HOSTILE}.key"],
        [FILE, "--key-file", f"{HOSTILE}.key", "--new-key-file", f"{HOSTILE}.key"],
        [TORN, "--key-env", "HOSTILE", "--new-key-file", HOSTILE],
    ],
    "repair": [
        [FILE],
        [TORN, "--out", f"{HOSTILE}.repaired"],
        [TORN, "--json", "--backups", HOSTILE],
        [HOSTILE],
    ],
    "restore": [[KEPT, f"{HOSTILE}.restored"], [HOSTILE, FILE], [FILE, f"{HOSTILE}.other"]],
    "rule": [["KEY101"], ["KEY101", "--json"], [HOSTILE], [HOSTILE, "--json"]],
    "roles": [
        [BLUEPRINT, "--region", "eu-north-1"],
        [DESIGN, "--region", HOSTILE, "--json"],
        [DESIGN, "--region", "eu-north-1", "--only", HOSTILE],
    ],
    "run": [
        [f"{DESIGN}.notes", "--target", FILE],
        [f"{DESIGN}.notes", "--target", FILE, "--limit", "1", "--explain"],
        [f"{DESIGN}.notes", "--target", FILE, "--json", "--explain"],
        [f"{DESIGN}.notes", "--target", FILE, "--all", "--json"],
        [f"{DESIGN}.notes", "--target", FILE, "--dry-run"],
        [f"{DESIGN}.notes", "--help"],
        [f"{DESIGN}.{HOSTILE}"],
        [f"{DESIGN}.notes", "--target", HOSTILE],
        ["--list", DESIGN],
        ["--list", DESIGN, "--json"],
    ],
    "seed": [["lunch_cache", "--target", f"seed{FILE}"], ["lunch_cache", "--target", f"seed{FILE}"], [HOSTILE]],
    "serve": [["--backups", FILE]],  # that it runs has a test of its own, below
    "stream consumers": [[FILE], [FILE, "--json"], [FILE, HOSTILE]],
    "stream dead-letters": [
        [FILE, "hostile", HOSTILE],
        [FILE, "hostile", HOSTILE, "--json"],
        [FILE, "hostile", "x"],
    ],
    "stream tail": [
        [FILE, "hostile", "--no-follow"],
        [FILE, "hostile", "--no-follow", "--json"],
        [FILE, "hostile", "--from", HOSTILE],
        [FILE, HOSTILE],
    ],
}  # fmt: skip


def commands_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Return the names of all commands, those below others too."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from [f"{name} {each}" for each in commands_of(below)] or [name]


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with files of hostile names, with hostile items, migrations, consumers and dead letters in them."""
    folder = tmp_path_factory.mktemp("hostile")
    with chdir(folder):
        assert main(["migrate", "new", DESIGN, f"First {HOSTILE}"]) == 0
        assert main(["migrate", "run", DESIGN, FILE]) == 0
        with Database.open(FILE) as database:
            fill(database)
        assert main(["backup", FILE, KEPT]) == 0
        assert main(["blueprint", "show", DESIGN, "--out", BLUEPRINT]) == 0
        assert main(["blueprint", "to-workbench", DESIGN, "--out", MODEL]) == 0
        Path("wrong.toml").write_text(
            f"blueprint = 2\nname = 'x'\n{json.dumps(HOSTILE)} = 1\n", encoding="utf-8"
        )
        Path("wrong.json").write_text(json.dumps({"blueprint": HOSTILE}), encoding="utf-8")
        table = {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": HOSTILE, HOSTILE: 1}}
        Path(TEMPLATE).write_text(json.dumps({"Resources": {HOSTILE: table}}), encoding="utf-8")
        Path(PRICE_LIST).write_text(json.dumps({**offer_file(), "version": HOSTILE}), encoding="utf-8")
        Path("prices.toml").write_text(HOSTILE_PRICES, encoding="utf-8")
        Path(TORN).write_bytes(Path(KEPT).read_bytes().replace(b'"PK":{"S":', b'"PK":{"T":'))
        shutil.copy(KEPT, "damaged.db")
        with opened_by_hand("damaged.db") as connection:
            connection.execute("UPDATE counter SET items = items + 1")
            assert connection.changes()
        yield folder


def fill(database: Database) -> None:
    def refuse(event: Event) -> None:
        raise ValueError(HOSTILE)

    consumer = database.consume("hostile", refuse, HOSTILE, retries=0, background=False)
    with Hostile.open(database) as db:
        for number in range(1, 4):
            db.put(Note(user_id=HOSTILE, note_id=HOSTILE * number, text=HOSTILE * number))
    database.put_item(
        TableName="hostile",
        Item={"PK": {"S": HOSTILE}, "SK": {"S": HOSTILE}, HOSTILE: {"M": {HOSTILE: {"SS": [HOSTILE]}}}},
    )
    consumer.drain()


def test_every_command_is_tried() -> None:
    assert sorted(LINES) == sorted(commands_of(build_parser(is_whole=True)))


@pytest.mark.parametrize("name", LINES)
def test_command_prints_no_character_that_steers_or_hides(
    name: str, hostile_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(hostile_folder)
    run: Run = command(capsys)
    printed = [run(*name.split(), *words) for words in LINES[name]]
    for ran in printed:
        assert hidden_in(ran.out) == []
        assert hidden_in(ran.err) == []
    # What is hostile was there to be printed: it is, as escapes.
    assert "1b[31m" in "".join(ran.out + ran.err for ran in printed)


def test_running_server_prints_and_logs_nothing_that_steers(tmp_path: Path) -> None:
    with CommandProcess("serve", FILE, "--port", "0", "--log", "text", cwd=tmp_path) as process:
        ready = process.read_through("export AWS_ENDPOINT_URL_DYNAMODB_STREAMS=")
        address = Address("127.0.0.1", int(ready[-1].rpartition(":")[2]))
        with HttpSocket(address) as http:
            http.ask(b"GET /\x1b[31m\xe2\x80\xae HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        code, out, err = process.end(signal.SIGTERM)
    assert code == 0
    assert hidden_in("\n".join([*ready, out, err])) == []
    assert "1b[31m" in ready[0]


def test_traceback_steers_no_terminal(
    hostile_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(hostile_folder)
    assert main(["check", HOSTILE, "--debug"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("Traceback")
    assert hidden_in(printed) == []


def test_json_with_escapes_is_the_same_value(
    hostile_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(hostile_folder)
    capsys.readouterr()
    assert main(["run", f"{DESIGN}.notes", "--target", FILE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["text"] for item in found["items"]] == [HOSTILE, HOSTILE * 2, HOSTILE * 3]


def test_terminal_shows_the_status_line_of_the_command_and_nothing_else_that_steers(tmp_path: Path) -> None:
    with Database.open(tmp_path / FILE):
        pass
    ours, its = pty.openpty()
    arguments = [sys.executable, "-m", "singletable", "check", FILE]
    with subprocess.Popen(arguments, stdout=its, stderr=its, cwd=tmp_path) as checking:
        os.close(its)
        shown = b""
        while not shown.endswith(b"sound\r\n"):
            shown += os.read(ours, 65536)
        assert checking.wait(TIMEOUT_S) == 0
    os.close(ours)
    assert shown.startswith(b"\rchecking")
    assert hidden_in(shown.decode().replace("\r\n", "\n").replace("\x1b[K", "").replace("\r", "")) == []


# --- the characters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Åsa, \u6f22\u5b57, \u0645\u0631\u062d\u0628\u0627", None),
        ("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f373", None),  # joined
        ("two\nlines\tand a tab", None),
        ("\x1b[31m", "\\u001b[31m"),
        ("a\rb", "a\\u000db"),
        ("\x85\x9b\x7f\x00", "\\u0085\\u009b\\u007f\\u0000"),
        ("\u202e\u2066", "\\u202e\\u2066"),
        ("\ufeff\u2028\udcff", "\\ufeff\\u2028\\udcff"),
        ("\U000e0041", "\\udb40\\udc41"),  # as JSON has it
    ],
    ids=ascii,
)
def test_text_is_shown(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)
    assert json.loads(f'"{visible(text)}"', strict=False) == text


def test_text_of_a_line_stays_in_its_line() -> None:
    assert visible_in_line("two\nlines\tand \u202e") == "two\\u000alines\\u0009and \\u202e"


def test_everything_that_unicode_calls_control_or_format_is_escaped_or_known_to_be_harmless() -> None:
    # Signs of Arabic, Syriac, Kaithi and hieroglyphs, which are seen; and the joiners.
    seen = {*JOINERS, *map(chr, range(0x600, 0x606)), *"\u06dd\u070f\u0890\u0891\u08e2"}
    seen |= {chr(code) for code in (0x110BD, 0x110CD, *range(0x13430, 0x13440))}
    for each in map(chr, range(0x110000)):
        if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert (visible_in_line(each) == each) == (each in seen), hex(ord(each))
