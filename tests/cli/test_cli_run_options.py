"""The options of `singletable run`: made from the parameters of a pattern, read and validated by their types."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from designs.options import Options
from singletable.clock import ManualClock
from support.run_commands import Run, command

NOW_US = 1_737_369_000_123_456  # 2025-01-20T10:30:00.123456Z
DESIGN = "designs.options:Options"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, in a folder with an empty table, at a known time."""
    monkeypatch.chdir(tmp_path)
    for name in ("SINGLETABLE_TARGET", "AWS_ENDPOINT_URL_DYNAMODB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("singletable.cli.run.SystemClock", lambda: ManualClock(NOW_US))
    Options.open("options.db").close()
    return command(capsys)


# --- values ---------------------------------------------------------------------------------------------

VALUES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "new-type": (["--note-id", "n7"], {"noteId": "n7"}),
    "default": ([], {"noteId": "n1"}),
    "text": (["--text", "a b"], {"text": "a b"}),
    "text-with-hyphen": (["--text=--json"], {"text": "--json"}),
    "empty-text": (["--text", ""], {"text": ""}),
    "underscore": (["--note_id", "n8"], {"noteId": "n8"}),
    "last-of-two": (["--text", "a", "--text", "b"], {"text": "b"}),
    "int": (["--count", "7"], {"count": 7}),
    "decimal": (["--amount", "37.50"], {"amount": Decimal("37.5")}),
    "negative": (["--amount", "-0.5"], {"amount": Decimal("-0.5")}),
    "38-digits": (
        ["--amount", "12345678901234567890123456789012345678"],
        {"amount": 12345678901234567890123456789012345678},
    ),
    "many-decimals": (
        ["--amount", "0.12345678901234567890123456789012345678"],
        {"amount": Decimal("0.12345678901234567890123456789012345678")},
    ),
    "float": (["--share", "0.1"], {"share": Decimal("0.1")}),
    "flag": (["--flag"], {"flag": True}),
    "flag-before-another": (["--flag", "--text", "a"], {"flag": True, "text": "a"}),
    "flag-false": (["--flag", "false"], {"flag": False}),
    "time-of-another-zone": (["--at", "2025-01-20T10:30:00+02:00"], {"at": "2025-01-20T08:30:00.000Z"}),
    "time-in-utc": (["--at", "2025-01-20T10:30Z"], {"at": "2025-01-20T10:30:00.000Z"}),
    "time-without-offset": (["--at", "2025-01-20 10:30"], {"at": "2025-01-20T10:30:00.000Z"}),
    "time-of-day": (["--at", "2025-01-20"], {"at": "2025-01-20T00:00:00.000Z"}),
    "now": (["--at", "now"], {"at": "2025-01-20T10:30:00.123Z"}),
    "later": (["--at", "+2h"], {"at": "2025-01-20T12:30:00.123Z"}),
    "earlier": (["--at", "-3d"], {"at": "2025-01-17T10:30:00.123Z"}),
    "earlier-by-two-units": (["--at=-1d12h"], {"at": "2025-01-18T22:30:00.123Z"}),
    "date": (["--day", "2024-02-29"], {"day": "2024-02-29"}),
    "today": (["--day", "today"], {"day": "2025-01-20"}),
    "a-week-ago": (["--day", "-1w"], {"day": "2025-01-13"}),
    "span": (["--lasting", "1h30m"], {"lastingS": 5400}),
    "iso-span": (["--lasting", "PT2H"], {"lastingS": 7200}),
    "enum": (["--colour", "dark-blue"], {"colour": "dark-blue"}),
    "literal-number": (["--stage", "2"], {"stage": 2}),
    "list": (["--names", "a", "b c"], {"names": ["a", "b c"]}),
    "list-of-options": (["--names", "a", "--text", "t", "--names", "b"], {"names": ["a", "b"], "text": "t"}),
    "set-of-numbers": (["--numbers", "3", "1", "3"], {"numbers": [1, 3]}),
    "model": (["--place", '{"street_name": "A"}'], {"place": {"streetName": "A"}}),
    "bytes": (["--content", "aGk="], {"content": "aGk="}),
    "uuid": (
        ["--ident", "00000000000000000000000000000001"],
        {"ident": "00000000-0000-0000-0000-000000000001"},
    ),
}


@pytest.mark.parametrize(("words", "stored"), VALUES.values(), ids=VALUES.keys())
def test_option_is_read_by_the_type_of_its_parameter(
    words: list[str], stored: dict[str, Any], run: Run
) -> None:
    ran = run("run", f"{DESIGN}.keep", *words, "--json")
    assert ran.code == 0, ran.err
    (item,) = ran.json["items"]
    kept = {"noteId": "n1", "entityType": "Note", "schemaVersion": 2, "SK": "HEAD", **stored}
    assert item == {**kept, "PK": f"NOTE#{kept['noteId']}"}
    assert ran.json["write"] == "put"


def test_entity_is_read_by_a_name_that_its_items_had(run: Run) -> None:
    ran = run("run", f"{DESIGN}.put_note", "--note", '{"entityType": "Remark", "noteId": "n1"}', "--json")
    assert ran.code == 0, ran.err
    assert ran.json["items"][0]["entityType"] == "Note"


def test_model_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "place.json").write_text('{"street_name": "Ågatan", "number": 3}', encoding="utf-8")
    ran = run("run", f"{DESIGN}.keep", "--place", "@place.json", "--json")
    assert ran.json["items"][0]["place"] == {"streetName": "Ågatan", "number": 3}


@pytest.mark.parametrize(
    "given",
    [
        {"note_id": "n1", "place": {"street_name": "A"}, "content": "aGk=", "amount": 1.10},
        {"noteId": "n1", "place": {"streetName": "A"}, "content": "aGk=", "amount": 1.10},
    ],
    ids=["python-names", "stored-names"],
)
def test_entity_is_read_by_either_names(given: dict[str, Any], run: Run) -> None:
    ran = run("run", f"{DESIGN}.put_note", "--note", json.dumps(given), "--json")
    assert ran.code == 0, ran.err
    (item,) = ran.json["items"]
    assert (item["noteId"], item["place"], item["content"]) == ("n1", {"streetName": "A"}, "aGk=")
    assert item["amount"] == Decimal("1.1")


def test_printed_item_can_be_given_back(run: Run, tmp_path: Path) -> None:
    given = {"note_id": "n1", "long": {"a": 0.125}, "at": "2025-01-20T10:30:00Z", "numbers": [1, 2]}
    first = run("run", f"{DESIGN}.put_note", "--note", json.dumps(given), "--json")
    (item,) = json.loads(first.out)["items"]
    assert item["long"] == {"a": 0.125}  # stored compressed, shown as what it holds
    (tmp_path / "note.json").write_text(json.dumps(item))
    again = run("run", f"{DESIGN}.put_note", "--note", "@note.json", "--json")
    assert again.json["items"] == first.json["items"]


def test_parameter_called_like_an_option_of_the_command_has_another_name(run: Run) -> None:
    for number in range(5):
        assert run("run", f"{DESIGN}.put_line", "--note", "NOTE#n1", "--number", str(number)).code == 0
    ran = run("run", f"{DESIGN}.lines", "--note-id", "n1", "--param-limit", "3", "--limit", "2", "--json")
    assert [item["number"] for item in ran.json["items"]] == [0, 1]
    shown = run("run", f"{DESIGN}.lines", "--help").out
    assert "--param-limit is the parameter limit: the command has an option of that name itself." in shown
    assert "--param-json" in shown
    assert "needs --param-limit INTEGER" in run("run", f"{DESIGN}.lines", "--note-id", "n1").err


def test_many_values_of_a_pattern_that_takes_any_number(run: Run) -> None:
    for note in ("a", "b"):
        run("run", f"{DESIGN}.put_line", "--note", f"NOTE#{note}", "--number", "1")
    ran = run("run", f"{DESIGN}.lines_of", "--note-ids", "b", "a", "--json")
    assert [item["noteId"] for item in ran.json["items"]] == ["b", "a"]


# --- what is refused ------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[list[str], str, str]] = {
    "choice": (["keep", "--colour", "rad"], "--colour: 'rad' is none of red, dark-blue", "did you mean red?"),
    "number-choice": (["keep", "--stage", "3"], "--stage: '3' is none of 1, 2", "keep --help"),
    "int": (["keep", "--count", "x"], "--count 'x': Input should be a valid integer", "it is int"),
    "too-large": (
        ["keep", "--count", "100"],
        "--count '100': Input should be less than or equal to 99",
        "int",
    ),
    "decimal": (["keep", "--amount", "1,5"], "--amount '1,5': Input should be a valid decimal", "Decimal"),
    "flag": (["keep", "--flag", "perhaps"], "--flag 'perhaps': Input should be a valid boolean", "bool"),
    "time": (["keep", "--at", "yesterday"], "--at: 'yesterday' is no time", "(without an offset: UTC)"),
    "far-time": (["keep", "--at", "+99999999w"], "--at: '+99999999w' is no time", "ISO 8601"),
    "date": (["keep", "--day", "2025-02-30"], "--day: '2025-02-30' is no date", "today"),
    "bytes": (["keep", "--content", "?"], "--content: '?' is no base64", "keep --help"),
    "member": (["keep", "--numbers", "1", "x"], "--numbers '1 x': ", "it is set[int]"),
    "json": (["keep", "--place", "{"], "--place: the value is no JSON", "@FILE.json"),
    "no-file": (["keep", "--place", "@none.json"], "--place: none.json cannot be read", "keep --help"),
    "model": (["keep", "--place", "{}"], "--place: street_name: Field required", "it is Place"),
    "entity": (["put_note", "--note", "[]"], "--note: Note is a JSON object", "put_note --help"),
    "attribute": (["put_note", "--note", '{"noteIdd": "a"}'], "has no 'noteIdd'. did you mean noteId", "see"),
    "other-entity": (["put_note", "--note", '{"entityType": "Line"}'], "its entityType is Line", "see"),
    "field": (
        ["put_note", "--note", '{"noteId": "a", "count": "x"}'],
        "--note: this is no Note: count: Input should be a valid integer",
        "see",
    ),
    "missing": (["change_text"], "needs --note-id TEXT --text TEXT", "change_text --help"),
    "unknown": (["change_text", "--tex", "a"], "does not take --tex", "did you mean --text? its options: --"),
    "word": (["keep", "more"], "does not take more", "its options: --note-id"),
    "no-value": (["keep", "--text"], "argument --text: expected one argument", "keep --help"),
    "key": (["put_line", "--note", "USER#1", "--number", "1"], "ST204", ""),
    "separator": (["delete_note", "--note-id", "a#b", "--dry-run"], "ST203", "separator"),
    "limit": (["lines_of", "--note-ids", "a", "--limit", "0"], "'0' is no number from 1", "run --help"),
    "one-item": (["keep", "--limit", "1", "--all"], "keep writes, and has no pages", "--limit and --all out"),
    "by-keys": (
        ["some_lines", "--note-id", "a", "--numbers", "1", "--cursor", "x"],
        "has no pages",
        "--cursor",
    ),
    "all-of-a-page": (["lines_of", "--note-ids", "a", "--all", "--limit", "1"], "everything", "--limit and"),
    "order": (["lines_of", "--note-ids", "a", "--newest-first"], "has an order of its own", "--newest-first"),
    "cursor": (["lines_of", "--note-ids", "a", "--cursor", "x"], "ST401", "begin without a cursor"),
}


@pytest.mark.parametrize(("words", "message", "hint"), REFUSED.values(), ids=REFUSED.keys())
def test_wrong_option_is_refused_by_name(words: list[str], message: str, hint: str, run: Run) -> None:
    pattern, *rest = words
    ran = run("run", f"{DESIGN}.{pattern}", *rest)
    assert (ran.code, ran.out) == (2, "")
    error, _, shown = ran.err.partition("\n\nhint: ")
    assert error.startswith("error: ")
    assert message in error
    assert hint in shown


def test_both_orders_at_once_are_refused(run: Run) -> None:
    orders = ("--newest-first", "--oldest-first")
    ran = run("run", f"{DESIGN}.lines", "--note-id", "a", "--param-limit", "1", *orders)
    assert ran.code == 2
    assert "at once" in ran.err


UNKNOWN = {
    "pattern": (
        "kefir.batches_by_statu",
        "kefir has no pattern 'batches_by_statu'",
        "kefir.batches_by_status",
    ),
    "part-of-a-name": ("kefir.token", "kefir has no pattern 'token'", "kefir.device_by_push_token"),
    "nothing-near": ("kefir.xyzzy", "kefir has no pattern 'xyzzy'", "--list kefir names them all"),
    "system": ("kefirr.due", "there is no system 'kefirr'", "systems: kefir, lunch_cache"),
    "only-a-system": ("kefir", "kefir has several patterns", "singletable run --list kefir"),
    "module": ("nowhere.at_all:Notes.x", "there is no module 'nowhere.at_all'", "imported"),
    "design": ("designs.options:Other.x", "designs.options has no design 'Other'", "Options"),
    "pattern-of-a-design": (f"{DESIGN}.lines-off", "has no pattern 'lines-off'", f"{DESIGN}.lines_of"),
    "no-module": (":Options.keep", "is no MODULE:DESIGN", "--list"),
}


@pytest.mark.parametrize(("name", "message", "hint"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_pattern_gets_the_nearest_names(name: str, message: str, hint: str, run: Run) -> None:
    ran = run("run", name)
    assert (ran.code, ran.out) == (2, "")
    error, _, shown = ran.err.partition("\n\nhint: ")
    assert message in error
    assert hint in shown


# --- what is printed ------------------------------------------------------------------------------------


def test_nothing_that_is_stored_controls_a_terminal(run: Run) -> None:
    for text in ("red \x1b[31m", "two\nlines", "turned \u202e round", " spaces "):
        ran = run("run", f"{DESIGN}.keep", "--text", text)
        assert f"  text    {json.dumps(text)}\n" in ran.out
    ran = run("run", f"{DESIGN}.keep", "--text", "å 日本 \U0001f34b")
    assert "  text    å 日本 \U0001f34b\n" in ran.out


def test_long_values_are_cut_where_there_are_several_items(run: Run) -> None:
    for number in (1, 2):
        run("run", f"{DESIGN}.put_line", "--note", f"NOTE#{'x' * 90}", "--number", str(number))
    ran = run("run", f"{DESIGN}.lines_of", "--note-ids", "x" * 90, "--all")
    assert ran.out.count(f"noteId: {'x' * 57}...  number: ") == 2
    assert ran.err.startswith("2 items, ")


def test_item_read_by_its_key_is_not_cut(run: Run) -> None:
    text = " ".join(["word"] * 60)
    lines = run("run", f"{DESIGN}.keep", "--text", text).out.splitlines()
    assert " ".join(" ".join(lines).split()).endswith(text)
    assert max(map(len, lines)) <= 100


# --- writes that must know what is stored -----------------------------------------------------------------


def test_update_of_what_is_not_there_is_refused(run: Run) -> None:
    ran = run("run", f"{DESIGN}.change_text", "--note-id", "n9", "--text", "a")
    assert ran.code == 1
    assert ran.err.startswith("error: ST302: ")


def test_dry_run_of_an_update_shows_what_is_known_without_reading(run: Run) -> None:
    words = ("run", f"{DESIGN}.change_text", "--note-id", "n9", "--text", "a", "--dry-run", "--json")
    (request,) = run(*words).json["requests"]
    assert request["operation"] == "UpdateItem"
    assert request["params"]["Key"] == {"PK": {"S": "NOTE#n9"}, "SK": {"S": "HEAD"}}


# --- help -----------------------------------------------------------------------------------------------


def test_help_of_a_pattern_shows_its_options_with_their_types(run: Run) -> None:
    ran = run("run", f"{DESIGN}.keep", "--help")
    assert (ran.code, ran.err) == (0, "")
    text = " ".join(ran.out.split())
    for shown in (
        "1 Keep what is given",
        "--note-id TEXT NoteId, str; default: n1",
        "--stage 1|2 default: none",
        "--colour red|dark-blue default: none",
        "--amount NUMBER Decimal; default: none",
        "--at TIME datetime; default: none",
        "--flag [true|false] bool; default: none",
        "--names TEXT [TEXT ...] Sequence[str]; several values",
        "--place JSON Place; default: none",
        "without an offset it is UTC",
        "@FILE.json",
        "--explain",
    ):
        assert shown in text


def test_help_of_a_pattern_says_what_it_needs_and_repairs(run: Run) -> None:
    text = run("run", "kefir.batches-by-status", "-h").out
    assert "--status active|in_fridge|ready|archived" in text
    assert "required" in text
    assert "fixes: KF-01" in text
    assert "--now TIME datetime; default: now" in " ".join(run("run", "kefir.due", "--help").out.split())


def test_percent_in_a_title_is_no_format(run: Run) -> None:
    assert "a % of them" in run("run", f"{DESIGN}.lines", "--help").out


def test_help_of_the_command_gives_examples(run: Run) -> None:
    ran = run("run", "--help")
    assert ran.code == 0
    assert "examples:\n  singletable run --list" in ran.out
    assert run("run").code == 2
