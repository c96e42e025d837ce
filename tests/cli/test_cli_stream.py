"""`singletable stream`: records as they come, consumers, dead letters; from files that others are writing."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli import main
from singletable.clock import ManualClock
from support.by_hand import opened_by_hand
from support.consuming import TABLE, Choosy, Event, by_hand, create_logged, delete, put, set_stream
from support.paths import FIXTURES
from support.serving import TIMEOUT_S, CommandProcess

START = "2023-11-14T22:13:20.000000Z"  # of a ManualClock


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A database with some changes, and a consumer that could not take one of them."""
    path = str(tmp_path / "app.db")
    with Database.open(path, clock=ManualClock()) as db:
        create_logged(db)
        put(db, "a", "b", colour="red")
        put(db, "a", size="2")
        db.put_item(
            TableName=TABLE, Item={"id": {"S": "c\x1b[2J"}, "odd name": {"B": b"abc"}, "n": {"N": "7"}}
        )
        delete(db, "b")
        by_hand(db, Choosy(["b"]), retries=0).drain()
    return path


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_tail_prints_a_line_for_each_record(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stream", "tail", file, TABLE, "--no-follow"]) == 0
    assert lines_of(capsys) == [
        f'{START}  INSERT  id="a"  colour="red"',
        f'{START}  INSERT  id="b"  colour="red"',
        f'{START}  MODIFY  id="a"  -colour, +size="2"',
        f'{START}  INSERT  id="c\\u001b[2J"  n=7, "odd name"=b64"YWJj"',
        f'{START}  REMOVE  id="b"',
    ]


def test_tail_as_json_prints_the_records_that_a_handler_is_given(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stream", "tail", file, TABLE, "--no-follow", "--json"]) == 0
    printed = [json.loads(line) for line in lines_of(capsys)]
    events: list[Event] = []
    with Database.open(file, clock=ManualClock()) as db:
        by_hand(db, events.append, "another").drain()
    assert printed == events[0]["Records"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--no-follow", "--from", "latest"], []),
        (["--no-follow", "--from", "start", "--limit", "2"], ["INSERT", "INSERT"]),
        (["--no-follow", "--from", "100000000000000000003"], ["MODIFY", "INSERT", "REMOVE"]),
        (["--no-follow", "--from", "100000000000000000005"], ["REMOVE"]),
        (["--from", "start", "--limit", "5"], ["INSERT", "INSERT", "MODIFY", "INSERT", "REMOVE"]),
    ],
    ids=" ".join,
)
def test_tail_from_a_place(
    file: str, capsys: pytest.CaptureFixture[str], options: list[str], expected: list[str]
) -> None:
    assert main(["stream", "tail", file, TABLE, *options]) == 0
    assert [line.split()[1] for line in lines_of(capsys)] == expected


@pytest.mark.parametrize(
    "number",
    [
        "000000000000000000001",
        "100000000000000000000",
        "100000000000000000006",
        "100000000000000005000",
        "199999999999999999999",
        "200000000000000000000",
        "999999999999999999999",
    ],
)
def test_tail_refuses_what_is_no_sequence_number_of_the_table(
    file: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stream", "tail", file, TABLE, "--no-follow", "--from", number]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"error: ST701: {number} is no sequence number of table {TABLE!r}\n\n"
        "hint: its last record has 100000000000000000005; --from start begins with the oldest that is kept, "
        "--from latest with what comes\npage: docs/errors/ST701.md\n"
    )


def test_tail_of_an_empty_log_begins_with_the_first_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "app.db")
    with Database.open(path) as db:
        create_logged(db)
    assert main(["stream", "tail", path, TABLE, "--no-follow", "--from", "100000000000000000001"]) == 0
    assert main(["stream", "tail", path, TABLE, "--no-follow", "--from", "100000000000000000002"]) == 2
    assert "hint: it has no records yet; " in capsys.readouterr().err


ODD = "äöü 漢字 \U0001f469\u200d\U0001f680 \x7f\x9b\u2028\u202e\x00"
ODD_TEXT = '"äöü 漢字 \U0001f469\u200d\U0001f680 \\u007f\\u009b\\u2028\\u202e\\u0000"'


def test_text_is_printed_as_it_is_but_for_what_controls_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "app.db")
    with Database.open(path) as db:
        create_logged(db)
        db.put_item(TableName=TABLE, Item={"id": {"S": ODD}, "ä b\x9b": {"S": "ß"}})
    assert main(["stream", "tail", path, TABLE, "--no-follow"]) == 0
    (line,) = capsys.readouterr().out.split("\n")[:-1]
    assert line.endswith(f'INSERT  id={ODD_TEXT}  "ä b\\u009b"="ß"')


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_output_that_cannot_encode_gets_escapes(tmp_path: Path, options: tuple[str, ...]) -> None:
    with Database.open(tmp_path / "app.db") as db:
        create_logged(db)
        put(db, "ä\U0001f469")
    arguments = ("stream", "tail", "app.db", TABLE, "--no-follow", *options)
    with CommandProcess(*arguments, cwd=tmp_path, PYTHONIOENCODING="ascii") as tail:
        out, err = tail.process.communicate(timeout=30)
    assert (tail.process.returncode, err) == (0, "")
    assert '"\\u00e4\\ud83d\\udc69"' in out
    if options:
        assert json.loads(out)["dynamodb"]["Keys"] == {"id": {"S": "ä\U0001f469"}}


def test_tail_follows_what_another_process_writes(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db") as db:
        create_logged(db)
        put(db, "before")
        arguments = ("stream", "tail", "app.db", TABLE, "--from", "start", "--json")
        with CommandProcess(*arguments, cwd=tmp_path) as tail:
            shown = [json.loads(tail.read_line())]
            put(db, "after")
            delete(db, "after")
            shown += [json.loads(tail.read_line()) for _ in range(2)]
            assert [record["eventName"] for record in shown] == ["INSERT", "INSERT", "REMOVE"]
            code, rest, said = tail.end(signal.SIGINT)
    assert (code, rest, said) == (130, "", "")


def test_tail_ends_when_its_table_is_deleted(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db") as db:
        create_logged(db)
        put(db, "a")
        with CommandProcess("stream", "tail", "app.db", TABLE, "--from", "start", cwd=tmp_path) as tail:
            assert "INSERT" in tail.read_line()
            db.delete_table(TableName=TABLE)
            _, said = tail.process.communicate(timeout=30)
    assert (tail.process.returncode, said) == (0, f"table {TABLE} was deleted\n")


def test_reader_that_leaves_ends_the_tail(file: str) -> None:
    command = f"{sys.executable} -m singletable stream tail {file} {TABLE} --no-follow | head -1"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


def test_records_that_are_gone_are_told(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    with opened_by_hand(file) as connection:
        connection.execute("DELETE FROM log_1 WHERE seq <= 2")
    assert main(["stream", "tail", file, TABLE, "--no-follow", "--from", "100000000000000000001"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 3
    assert printed.err == "records 100000000000000000001 to 100000000000000000002 are not kept any more\n"


def test_consumers_are_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stream", "consumers", file]) == 0
    (line,) = lines_of(capsys)
    assert line == f"{TABLE}  follower  0 records behind (0.0 s)  2 dead letters  0 missed  idle"
    assert main(["stream", "consumers", file, TABLE, "--json"]) == 0
    (shown,) = map(json.loads, lines_of(capsys))
    assert shown == {
        "table": TABLE,
        "name": "follower",
        "position": "100000000000000000005",
        "records_behind": 0,
        "seconds_behind": 0.0,
        "dead_letters": 2,
        "missed": 0,
        "holder": None,
    }


def test_dead_letters_are_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stream", "dead-letters", file, TABLE, "follower"]) == 0
    first, second = lines_of(capsys)
    assert first.startswith(f'{START}  INSERT  id="b"  after ')
    assert first.endswith(' tries: "ValueError: cannot take b"')
    assert "REMOVE" in second
    assert main(["stream", "dead-letters", file, TABLE, "follower", "--json"]) == 0
    shown: list[Any] = [json.loads(line) for line in lines_of(capsys)]
    with Database.open(file, clock=ManualClock()) as db:
        letters = db.dead_letters(TABLE, "follower")
    assert [letter["record"] for letter in shown] == [letter.record for letter in letters]
    assert [letter["tries"] for letter in shown] == [letter.tries for letter in letters]


def test_nothing_to_list_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "app.db")
    with Database.open(path) as db:
        create_logged(db)
        by_hand(db, Choosy([]))
    assert main(["stream", "dead-letters", path, TABLE, "follower"]) == 0
    assert main(["stream", "consumers", path]) == 0
    with Database.open(path) as db:
        db.forget_consumer(TABLE, "follower")
    assert main(["stream", "consumers", path]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1
    assert printed.err == "consumer follower has put nothing aside\nthere are no consumers\n"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["tail", "app.db", "nothing"], "there is no table 'nothing'", f"the tables of this file: {TABLE}"),
        (["tail", "none.db", TABLE], "none.db does not exist", "give the path of a database file"),
        (["tail", ".", TABLE], ". is a directory", "give the path of a database file"),
        (["consumers", "app.db", "nothing"], "there is no table 'nothing'", "the tables"),
        (["dead-letters", "app.db", TABLE, "nobody"], "has no consumer 'nobody'", "stream consumers app.db"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_is_not_there_is_an_error(
    file: str,
    arguments: list[str],
    message: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(file).parent)
    assert main(["stream", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert f"hint: {hint}" in printed.err.replace("singletable ", "")
    assert not Path("none.db").exists()


def test_table_whose_changes_are_not_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "app.db")
    with Database.open(path) as db:
        db.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    assert main(["stream", "tail", path, TABLE]) == 2
    (line,) = re.findall(r"^hint: turn its stream on: (.*)", capsys.readouterr().err, re.MULTILINE)
    subprocess.run(["bash", "-c", line], check=True, timeout=TIMEOUT_S)
    assert main(["stream", "tail", path, TABLE, "--no-follow"]) == 0


def test_records_of_a_stream_that_is_off_can_still_be_read(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Database.open(file, clock=ManualClock()) as db:
        set_stream(db, on=False)
    assert main(["stream", "tail", file, TABLE, "--no-follow"]) == 0
    assert len(lines_of(capsys)) == 5


def test_file_of_an_older_format_is_not_upgraded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.db"
    old.write_bytes((FIXTURES / "format-2.sqlite").read_bytes())
    before = old.read_bytes()
    assert main(["stream", "consumers", str(old)]) == 2
    assert "has format 2" in capsys.readouterr().err
    assert old.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [[], ["tail"], ["tail", "x.db", "t", "--from", "12"], ["tail", "x.db", "t", "--limit", "0"]],
    ids=" ".join,
)
def test_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["stream", *arguments])
    assert ended.value.code == 2
    assert "hint: see singletable stream" in capsys.readouterr().err
