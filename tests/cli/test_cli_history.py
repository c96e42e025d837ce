"""`singletable history`: the versions of an item, for people and for programs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli import main
from singletable.cli.history import read_item_key
from singletable.clock import ManualClock, SystemClock
from support.past_tables import turn_on
from support.sample_tables import create_single, item, n, s
from support.serving import TIMEOUT_S

KEY = item("user#1", "profile")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file with an item that was made, changed and deleted, a minute after another, and not long ago."""
    path = str(tmp_path / "app.db")
    clock = ManualClock(SystemClock().now_us() // 3_600_000_000 * 3_600_000_000 - 3_600_000_000)
    with Database.open(path, durability="relaxed", clock=clock) as db:
        create_single(db)
        turn_on(db)
        db.put_item(TableName="single", Item={**KEY, "name": s("Ann\x1b[1m"), "age": n(1)})
        clock.advance(60)
        db.put_item(TableName="single", Item={**KEY, "name": s("Anna"), "e-mail": s("a@b")})
        clock.advance(60)
        db.delete_item(TableName="single", Key=KEY)
        create_single(db, "other")
        db.create_table(
            TableName="numbers",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
            BillingMode="PAY_PER_REQUEST",
        )
        turn_on(db, "numbers")
        db.put_item(TableName="numbers", Item={"id": n(-7)})
    return path


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["history", *arguments]) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_versions_are_listed_newest_first_with_what_changed(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = output(capsys, file, "single", "user#1", "profile")
    lines = out.splitlines()
    assert [line.partition("Z  ")[2] or line for line in lines] == [
        "REMOVE",
        '  - PK: "user#1"',
        '  - SK: "profile"',
        '  - "e-mail": "a@b"',
        '  - name: "Anna"',
        "MODIFY",
        "  - age: 1",
        '  + "e-mail": "a@b"',
        '    name: "Ann\\u001b[1m" -> "Anna"',
        "INSERT",
        '  + PK: "user#1"',
        '  + SK: "profile"',
        "  + age: 1",
        '  + name: "Ann\\u001b[1m"',
    ]
    assert err == ""


def test_oldest_can_be_first_and_their_number_limited(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = output(capsys, file, "single", "user#1", "profile", "--oldest-first", "--limit", "1", "--json")
    (line,) = out.splitlines()
    assert json.loads(line)["event"] == "INSERT"


def test_json_has_one_version_a_line(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = output(capsys, file, "single", "user#1", "profile", "--json")
    removed, modified, inserted = map(json.loads, out.splitlines())
    assert [version["event"] for version in (removed, modified, inserted)] == ["REMOVE", "MODIFY", "INSERT"]
    assert modified["changes"] == {
        "age": {"before": n(1), "after": None},
        "e-mail": {"before": None, "after": s("a@b")},
        "name": {"before": s("Ann\x1b[1m"), "after": s("Anna")},
    }
    assert removed["after"] is None
    assert inserted["before"] is None
    assert modified["before"] == inserted["after"] == {**KEY, "name": s("Ann\x1b[1m"), "age": n(1)}
    assert modified["at"].endswith(":01:00.000000Z")


@pytest.mark.parametrize(
    "words",
    [
        ["user#1", "profile"],
        ["PK=user#1", "SK=profile"],
        ["SK=profile", "user#1"],
        ['{"PK": "user#1", "SK": "profile"}'],
        ['{"PK": {"S": "user#1"}, "SK": {"S": "profile"}}'],
    ],
    ids=["values", "names", "a name and a value", "plain JSON", "typed JSON"],
)
def test_key_can_be_written_in_many_ways(
    file: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = output(capsys, file, "single", *words, "--json")
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize("word", ["-7", "id=-7", '{"id": -7}', '{"id": {"N": "-7.0"}}'])
def test_key_that_is_a_number_is_read_as_one(
    file: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = output(capsys, file, "numbers", word, "--json")
    assert json.loads(out)["after"] == {"id": n(-7)}


def test_item_without_versions_exits_1(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = output(capsys, file, "single", "user#2", "profile", code=1)
    assert out == ""
    assert err == "the item has not changed since the past of its table is kept\n"


def test_without_recovery_it_says_what_to_enable(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = output(capsys, file, "other", "user#1", "profile", code=2)
    assert err.startswith(
        "error: ST801: the past of table 'other' is not kept: point-in-time recovery is off\n\n"
        "hint: turn it on: "
    )
    assert err.endswith("\npage: docs/errors/ST801.md\n")
    (line,) = re.findall(r"turn it on: (.*)", err)
    subprocess.run(["bash", "-c", line], check=True, timeout=TIMEOUT_S)
    _, err = output(capsys, file, "other", "user#1", "profile", code=1)
    assert err == "the item has not changed since the past of its table is kept\n"


def test_table_that_there_is_none_of_is_told_with_those_there_are(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = output(capsys, file, "none", "x", code=2)
    assert err == (
        f"error: ST801: {file} has no table 'none'\n\nhint: its tables: numbers, other, single\n"
        "page: docs/errors/ST801.md\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["user#1"],
        ["a", "b", "c"],
        ['{"PK": "a"}'],
        ["{"],
        ['{"PK": "a", "SK": null}'],
        ['{"PK": "a", "SK": {}}'],
    ],
)
def test_what_is_no_key_is_refused_with_an_example(
    file: str, words: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = output(capsys, file, "single", *words, code=2)
    assert err == (
        f"error: ST801: {' '.join(words)!r} is no key of the table single\n\n"
        "hint: its key is PK, a string and SK, a string: write PK=… SK=…\n"
        "page: docs/errors/ST801.md\n"
    )


@pytest.mark.parametrize("words", [["x"], ['{"id": {"S": "1"}}']])
def test_types_of_a_key_are_told(file: str, words: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = output(capsys, file, "numbers", *words, code=2)
    assert "\nhint: its key is id, a number: write id=…\n" in err


@pytest.mark.parametrize(
    "words",
    [
        ["AP8=", "b64x"],
        ['b64"AP8="', "b64x"],
        ["b64AP8=", "b64x"],
        ['id=b64"AP8="', "at=b64x"],
        ['{"id": "b64\\"AP8=\\"", "at": "b64x"}'],
    ],
)
def test_binary_key_is_taken_as_it_is_printed(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "app.db")
    with Database.open(path) as db:
        db.create_table(
            TableName="binary",
            KeySchema=[
                {"AttributeName": "id", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "id", "AttributeType": "B"},
                {"AttributeName": "at", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        turn_on(db, "binary")
        db.put_item(TableName="binary", Item={"id": {"B": b"\x00\xff"}, "at": s("b64x")})
    out, _ = output(capsys, path, "binary", *words)
    assert '+ id: b64"AP8="\n' in out


def test_base64_that_begins_like_the_mark_is_taken_whole(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db") as db:
        db.create_table(
            TableName="binary",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "B"}],
            BillingMode="PAY_PER_REQUEST",
        )
        table = db._session.store.catalog.get("binary")
        assert table is not None
        assert read_item_key(["b64A"], table) == {"id": {"B": "b64A"}}
        assert read_item_key(["b64b64A"], table) == {"id": {"B": "b64A"}}
        assert read_item_key(['b64"b64A"'], table) == {"id": {"B": "b64A"}}


def test_file_that_does_not_exist_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.db"
    _, err = output(capsys, str(path), "single", "a", "b", code=2)
    assert err == (
        f"error: ST807: {path} does not exist\n\nhint: give the path of a database file\n"
        "page: docs/errors/ST807.md\n"
    )
    assert not path.exists()
