"""`singletable run`: access patterns of the systems, from the command line, on a file and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.cli.patterns.plain_json import json_line, plain_item, shown_item
from singletable.cli.run import reserved_options
from singletable.cli.seed import fill
from singletable.design import Entity
from singletable.design.describe.samples import sample
from singletable.pattern_texts.parameters import parameters_of
from singletable.server import BackgroundServer
from singletable.systems import System, find_system, installed_systems
from support.run_commands import Run, command
from support.targets import no_aws_settings

# The command has the clock of the machine: reminders are due by it, and menus have not expired.
DAYS = {"lunch_cache": date(2099, 1, 20)}
DAY = date(2025, 1, 20)
NOW = "2025-01-20T12:00:00Z"
KEYS = {"items", "cursor", "units", "read", "thrown_away"}


@dataclass(frozen=True, slots=True)
class Seeded:
    """All systems in one database: in a file, and where it is served."""

    file: str
    url: str

    def target(self, kind: str) -> str:
        return self.file if kind == "file" else self.url


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    file = str(tmp_path_factory.mktemp("systems") / "both.db")
    with ExitStack() as stack:
        database = stack.enter_context(Database.open(file, ttl_sweep_s=None))
        for system in installed_systems().values():
            with system.design.open(database, **environment_of(system)) as db:
                fill(db, system, system.seed("small", DAYS.get(system.name, DAY)))
        address = stack.enter_context(BackgroundServer(database))
        stack.enter_context(no_aws_settings())
        yield Seeded(file, address.url)


def environment_of(system: System) -> dict[str, Any]:
    return dict(system.environment)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("SINGLETABLE_TARGET", "AWS_ENDPOINT_URL_DYNAMODB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return command(capsys)


@pytest.fixture(params=["file", "http"])
def on(request: pytest.FixtureRequest, seeded: Seeded) -> tuple[str, str]:
    """The option that names a target with both systems."""
    return ("--target", seeded.target(request.param))


@pytest.fixture
def on_file(seeded: Seeded) -> tuple[str, str]:
    return ("--target", seeded.file)


def some_user(run: Run, on: tuple[str, str]) -> dict[str, Any]:
    """A batch that is active, and so a user who has one."""
    ran = run("run", "kefir.batches_by_status", "--status", "active", "--limit", "1", "--json", *on)
    (item,) = ran.json["items"]
    assert isinstance(item, dict)
    return item


# --- reading --------------------------------------------------------------------------------------------


def test_pattern_is_run_and_its_answer_is_a_contract(run: Run, on: tuple[str, str]) -> None:
    ran = run("run", "kefir.batches-by-status", "--status", "active", "--limit", "3", "--json", *on)
    assert ran.code == 0
    assert set(ran.json) == KEYS
    assert len(ran.json["items"]) == 3
    assert {(item["entityType"], item["status"]) for item in ran.json["items"]} == {("Batch", "active")}
    assert all(item["PK"] == f"USER#{item['userId']}" for item in ran.json["items"])
    assert isinstance(ran.json["cursor"], str)
    assert ran.json["units"] > 0
    assert ran.json["read"] >= 3
    assert ran.json["thrown_away"] == 0


PAGED = {
    "query": ["kefir.batches", "--user-id", "USER"],
    "shards": ["kefir.batches_by_status", "--status", "archived"],
    "newest-first": ["kefir.batches_by_status", "--status", "archived", "--newest-first"],
    "until-now": ["kefir.due", "--now", "now"],
    "left-out-now": ["kefir.due"],
    "filter": ["kefir.batches_in", "--user-id", "USER", "--status", "archived"],
    "index": ["lunch_cache.history", "--restaurant", "niagara"],
    "oldest-first": ["lunch_cache.history", "--restaurant", "niagara", "--oldest-first"],
}


@pytest.mark.parametrize("words", PAGED.values(), ids=PAGED.keys())
def test_printed_cursors_lead_to_everything(words: list[str], run: Run, on: tuple[str, str]) -> None:
    if "USER" in words:
        user = some_user(run, on)["userId"]
        words = [user if word == "USER" else word for word in words]
    everything = run("run", *words, "--all", "--json", *on)
    assert everything.code == 0
    summary = json.loads(everything.err)
    assert summary["items"] == len(everything.lines) > 0
    limit = max(2, len(everything.lines) // 5)
    command_words = ["run", *words, "--limit", str(limit), "--json", *on]
    found: list[Any] = []
    pages = 0
    while command_words:
        ran = run(*command_words)
        assert ran.code == 0, ran.err
        found += ran.json["items"]
        pages += 1
        command_words = ran.next_page
        assert bool(command_words) == (ran.json["cursor"] is not None)
    assert found == everything.lines
    assert pages >= len(found) / limit


def test_newest_first_is_the_other_way_round(run: Run, on_file: tuple[str, str]) -> None:
    words = ("run", "kefir.batches_by_status", "--status", "archived", "--all", "--json", *on_file)
    assert run(*words, "--newest-first").lines == run(*words).lines[::-1]


def test_answer_is_that_of_the_design(run: Run, seeded: Seeded, on: tuple[str, str]) -> None:
    system = find_system("kefir")
    with system.design.open(seeded.file, **environment_of(system)) as db:
        plan = db.batches_by_status("archived")  # type: ignore[attr-defined]
        expected = [item_of(system, entity) for entity in plan.all()]
    ran = run("run", "kefir.batches_by_status", "--status", "archived", "--all", "--json", *on)
    assert ran.lines == expected


def item_of(system: System, entity: Entity) -> Any:
    schema = system.design.catalog.schema_for(type(entity))
    return json.loads(json_line(plain_item(shown_item(schema, entity))), parse_float=Decimal)


def test_people_get_a_block_for_each_item_as_wide_as_the_terminal(
    run: Run, on: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", "kefir.batches_by_status", "--status", "active", "--limit", "2", *on)
    narrow, wide = run(*words), None
    monkeypatch.setenv("COLUMNS", "160")
    wide = run(*words)
    for ran, columns in ((narrow, 100), (wide, 160)):
        lines = ran.out.splitlines()
        assert sum(line.startswith("Batch  PK=USER#") for line in lines) == 2
        assert max(map(len, lines)) <= columns
        assert any(len(line) > columns * 0.7 for line in lines)
        assert "status: active" in ran.out
        assert "GSI1PK" not in ran.out
        assert ran.err.startswith("2 items, ")
        assert "next page: singletable run kefir.batches_by_status --status active --target" in ran.err
    assert len(wide.out.splitlines()) < len(narrow.out.splitlines())


def test_collection_is_grouped_by_its_fields(run: Run, on: tuple[str, str]) -> None:
    batch = some_user(run, on)["batchId"]
    ran = run("run", "kefir.batch_view", "--batch-id", batch, *on)
    assert ran.code == 0
    heads = [line for line in ran.out.splitlines() if not line.startswith(" ")]
    assert [head.partition(":")[0] for head in heads] == ["batch", "events", "reminders"]
    assert f"  Batch  PK=USER#{batch.rpartition('-')[0]}" in ran.out
    answer = run("run", "kefir.batch_view", "--batch-id", batch, "--json", *on).json
    assert set(answer) == KEYS | {"fields"}
    kinds = [item["entityType"] for item in answer["items"]]
    fields = answer["fields"]
    assert kinds == ["Batch"] + ["BatchEvent"] * fields["events"] + ["Reminder"] * fields["reminders"]
    assert fields["batch"] == 1


def test_what_is_read_by_keys_is_found_or_missing(run: Run, on: tuple[str, str]) -> None:
    (menu,) = run(
        "run", "lunch_cache.history", "--restaurant", "niagara", "--limit", "1", "--json", *on
    ).json["items"]
    week = ("--year", str(menu["year"]), "--week", str(menu["week"]))
    words = ("run", "lunch_cache.menus", *week, *on, "--restaurants", "niagara", "nowhere")
    ran = run(*words)
    assert ran.code == 0
    assert ran.out.startswith(f"WeeklyMenu  pk={menu['pk']}\n")
    assert f"not found: pk=nowhere-{menu['year']}-{menu['week']:02}\n" in ran.err
    answer = run(*words, "--json").json
    assert set(answer) == KEYS | {"missing"}
    assert answer["items"] == [menu]
    assert answer["missing"] == [{"pk": f"nowhere-{menu['year']}-{menu['week']:02}"}]
    assert run("run", "lunch_cache.menus", *week, *on, "--restaurants", "nowhere").code == 1


def test_one_item_is_shown_in_full(run: Run, on: tuple[str, str]) -> None:
    user = some_user(run, on)["userId"]
    ran = run("run", "kefir.user", "--user-id", user, *on)
    assert ran.code == 0
    assert ran.out.startswith(f"User  PK=USER#{user} SK=METADATA\n  userId       {user}\n")
    assert ran.err == "1 item, 1 unit, 1 read, 0 thrown away\n"


PEOPLE = ("mai", "an", "binh")
ONE_AT_ONCE = {
    "get": (["smart_cooking.user", "--user-id", "mai"], 1),
    "lookup": (["smart_cooking.user_by_email", "--email", "mai@example.com"], 1),
    "keys": (["smart_cooking.users", "--user-ids", *PEOPLE], 2),
    "collection": (["smart_cooking.recipe_view", "--recipe-id", "r000001"], 6),  # it is whole, or not there
}


@pytest.mark.parametrize(("words", "count"), ONE_AT_ONCE.values(), ids=ONE_AT_ONCE.keys())
def test_limit_is_allowed_where_there_are_no_pages(
    words: list[str], count: int, run: Run, on: tuple[str, str]
) -> None:
    ran = run("run", *words, "--limit", "2", "--json", *on)
    assert (ran.code, len(ran.json["items"])) == (0, count)


def test_bookkeeping_is_shown_if_it_is_asked_for(run: Run, on: tuple[str, str]) -> None:
    words = ("run", "smart_cooking.recipe", "--recipe-id", "r000001", *on)
    hidden = {f"{field}_{what}" for field in ("average_rating", "rating_step") for what in ("sum", "count")}
    (item,) = run(*words, "--json").json["items"]
    assert hidden.isdisjoint(item)
    assert {"average_rating", "rating_count", "rating_step", "version"} <= item.keys()
    (whole,) = run(*words, "--json", "--all-fields").json["items"]
    assert whole.keys() - item.keys() == hidden
    assert "average_rating_sum" not in run(*words).out
    assert "average_rating_sum" in run(*words, "--all-fields").out
    listed = ("run", "smart_cooking.recipes_of", "--user-id", "an", *on)
    assert "average_rating_sum" not in run(*listed, "--all", "--json").out
    page = run(*listed, "--limit", "1", "--all-fields")
    assert "average_rating_sum: " in page.out
    assert "--all-fields --cursor=" in page.err


def test_form_of_a_value_is_told_in_words(run: Run, on: tuple[str, str]) -> None:
    week = ("--year", "2025", "--week", "3", *on)
    ran = run("run", "lunch_cache.menu", "--restaurant", "La Cantina", *week)
    assert ran.code == 2
    assert ran.err.startswith(
        "error: --restaurant 'La Cantina': it should be lower case letters and digits, with hyphens between words"
    )
    several = run("run", "lunch_cache.menus", "--restaurants", "niagara", "La Cantina", *week)
    assert "1: it should be lower case letters and digits" in several.err
    assert "^[" not in ran.err + several.err


@pytest.mark.parametrize(
    "words", [["kefir.user", "--user-id", "nobody"], ["kefir.batch_view", "--batch-id", "b0"]]
)
def test_nothing_found_by_key_exits_1(words: list[str], run: Run, on: tuple[str, str]) -> None:
    ran = run("run", *words, *on)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("nothing, ")
    ran = run("run", *words, *on, "--json")
    assert ran.code == 1
    assert ran.json["items"] == []


def test_empty_page_is_no_failure(run: Run, on: tuple[str, str]) -> None:
    ran = run("run", "kefir.batches", "--user-id", "nobody", *on, "--json")
    assert ran.code == 0
    assert (ran.json["items"], ran.json["cursor"]) == ([], None)


# --- requests -------------------------------------------------------------------------------------------


def test_explain_shows_each_request_that_was_sent(run: Run, on: tuple[str, str]) -> None:
    ran = run("run", "kefir.due", "--now", NOW, "--explain", "--json", *on)
    assert set(ran.json) == KEYS | {"explain"}
    sent = ran.json["explain"]
    assert {(each["operation"], each["index"]) for each in sent} == {("Query", "GSI2")}
    shards = [each["params"]["ExpressionAttributeValues"][":0"]["S"] for each in sent]
    assert shards == [f"REMINDER#PENDING#{shard}" for shard in range(4)]
    assert set(sent[0]) == {"operation", "table", "index", "params", "units", "read", "error"}
    assert all(each["table"] == each["params"]["TableName"] == "kefir-app-dev-table" for each in sent)
    assert sum(each["units"] for each in sent) == ran.json["units"]
    assert sum(each["read"] for each in sent) == ran.json["read"]


def test_explain_for_people_is_beside_the_data(run: Run, on: tuple[str, str]) -> None:
    plain = run("run", "kefir.due", "--now", NOW, *on)
    ran = run("run", "kefir.due", "--now", NOW, "--explain", *on)
    assert ran.out == plain.out
    assert "1. Query on index GSI2 of kefir-app-dev-table: " in ran.err
    assert '{"TableName":"kefir-app-dev-table",' in ran.err
    assert "4 requests, " in ran.err


def test_explain_of_everything_is_in_the_last_summary(run: Run, on_file: tuple[str, str]) -> None:
    ran = run("run", "kefir.due", "--now", NOW, "--all", "--explain", "--json", *on_file)
    summary = json.loads(ran.err)
    assert set(summary) == {"items", "units", "read", "thrown_away", "explain"}
    assert len(summary["explain"]) >= 4


def test_dry_run_sends_nothing_and_needs_no_target(run: Run, tmp_path: Path) -> None:
    for target in ([], ["--target", "none.db"], ["--target", "http://127.0.0.1:1", "--env", "stage=prod"]):
        ran = run("run", "kefir.batches_by_status", "--status", "ready", "--dry-run", *target)
        assert ran.code == 0
        assert ran.out.count("Query on index GSI2 of kefir-app-") == 4
        assert "nothing was sent" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_requests_of_a_dry_run_are_those_that_are_sent(run: Run, on: tuple[str, str]) -> None:
    words = ("run", "kefir.upcoming", "--user-id", "nobody", "--now", NOW, "--json", *on)
    rehearsed = run(*words, "--dry-run").json
    sent = run(*words, "--explain").json["explain"]
    assert set(rehearsed) == {"requests"}
    members = ("operation", "table", "index", "params")
    assert rehearsed["requests"] == [{name: each[name] for name in members} for each in sent]


# --- writing --------------------------------------------------------------------------------------------


def test_write_says_what_was_written_and_its_units(run: Run, on: tuple[str, str]) -> None:
    probe = ("--probe", "42", *on)
    ran = run("run", "lunch_cache.write_probe", *probe)
    assert ran.code == 0
    assert ran.out.startswith("HealthProbe  pk=HEALTH#00000000000000000042\n")
    assert ran.err == "created, 1 unit\n"
    again = run("run", "lunch_cache.write_probe", *probe, "--json")
    assert again.code == 1
    assert set(again.json) == KEYS | {"write", "refused"}
    assert again.json["refused"]["number"] == "ST301"
    assert again.json["refused"]["page"] == "docs/errors/ST301.md"
    assert "error: ST301: " in again.err
    explained = run("run", "lunch_cache.write_probe", *probe, "--json", "--explain")
    (sent,) = explained.json["explain"]
    assert (sent["operation"], sent["error"]) == ("PutItem", "ConditionFailedError")
    gone = run("run", "lunch_cache.delete_probe", *probe, "--yes", "--json", "--explain")
    assert gone.code == 0
    assert [each["operation"] for each in gone.json["explain"]] == ["DeleteItem"]
    assert run("run", "lunch_cache.read_probe", *probe).code == 1


def test_older_menu_is_refused(run: Run, on_file: tuple[str, str], tmp_path: Path) -> None:
    (menu,) = run(
        "run", "lunch_cache.history", "--restaurant", "niagara", "--limit", "1", "--json", *on_file
    ).json["items"]
    menu = json.loads(json.dumps(menu, default=float))
    (tmp_path / "menu.json").write_text(json.dumps(menu))
    (tmp_path / "older.json").write_text(json.dumps({**menu, "cachedAt": "2001-01-01T00:00:00Z"}))
    ran = run("run", "lunch_cache.store_menu", "--menu", "@menu.json", "--json", *on_file)
    assert (ran.code, ran.json["items"]) == (0, [json.loads(json.dumps(menu), parse_float=Decimal)])
    ran = run("run", "lunch_cache.store_menu", "--menu", "@older.json", *on_file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: ST305: ")


def test_delete_is_asked_about(run: Run, on_file: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    probe = ("--probe", "43", *on_file)
    run("run", "lunch_cache.write_probe", *probe)
    nobody = run("run", "lunch_cache.delete_probe", *probe)
    assert nobody.code == 2
    assert "--yes" in nobody.err
    for answer, code in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        assert run("run", "lunch_cache.delete_probe", *probe).code == code
        assert run("run", "lunch_cache.read_probe", *probe).code == 1 - code


class Terminal:
    def __init__(self, answer: str) -> None:
        self._answer = answer

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._answer


# --- targets --------------------------------------------------------------------------------------------


def test_target_is_taken_from_the_environment_or_is_a_file_here(
    run: Run, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", "kefir.due", "--now", NOW, "--limit", "1")
    missing = run(*words)
    assert missing.code == 2
    assert missing.err == (
        "error: ST504: there is no file kefir.db\n\nhint: singletable seed kefir makes it\n"
        "page: docs/errors/ST504.md\n"
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", seeded.url)
    assert run(*words).code == 0
    monkeypatch.setenv("SINGLETABLE_TARGET", "elsewhere.db")
    assert "no file elsewhere.db\n\nhint: singletable seed kefir --target elsewhere.db" in run(*words).err
    assert run(*words, "--target", seeded.file).code == 0


def test_nothing_is_made_where_nothing_is(run: Run, tmp_path: Path) -> None:
    run("run", "kefir.due")
    run("run", "designs.options:Options.lines_of", "--note-ids", "a")
    assert list(tmp_path.iterdir()) == []


def test_missing_table_gets_the_command_that_makes_it(run: Run, seeded: Seeded) -> None:
    ran = run("run", "kefir.due", "--target", seeded.file, "--env", "stage=other")
    assert ran.code == 2
    assert "the table kefir-app-other-table is not there" in ran.err
    assert f"hint: singletable seed kefir --target {seeded.file} --env stage=other makes it" in ran.err
    ran = run("run", "designs.options:Options.lines_of", "--note-ids", "a", "--target", seeded.file)
    assert f"hint: singletable create-table designs.options:Options {seeded.file} makes it" in ran.err


def test_environment_that_a_table_elsewhere_needs_is_asked_for(run: Run, seeded: Seeded) -> None:
    ran = run("run", "designs.options:Options.lines_of", "--note-ids", "a", "--target", seeded.url)
    assert ran.code == 2
    assert "--env stage=prod" in ran.err


def test_endpoint_that_does_not_answer_is_one_sentence(run: Run) -> None:
    ran = run("run", "kefir.due", "--target", "ftp://nowhere")
    assert ran.code == 2
    assert ran.err.startswith("error: ")


# --- all patterns ---------------------------------------------------------------------------------------

ALL = [(system, name) for system, each in installed_systems().items() for name in each.design.patterns()]
each_pattern = pytest.mark.parametrize(("system", "name"), ALL, ids=[f"{each}.{name}" for each, name in ALL])


def words_of(system: System, name: str) -> list[str]:
    """A command with made-up values for all parameters of a pattern."""
    method = getattr(system.design, name)
    words = []
    for parameter in parameters_of(method, name, reserved_options()):
        value = sample(parameter.annotation, parameter.name, 0)
        values = value if parameter.is_list else [value]
        words += [parameter.option, *(text_of(system, each) for each in values)]
    return words


def text_of(system: System, value: Any) -> str:
    if isinstance(value, Entity):
        schema = system.design.catalog.schema_for(type(value))
        return json_line(plain_item(shown_item(schema, value)))
    if isinstance(value, tuple):
        return ",".join(text_of(system, each) for each in value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


@each_pattern
def test_every_pattern_can_be_run(system: str, name: str, run: Run, on_file: tuple[str, str]) -> None:
    words = words_of(find_system(system), name)
    rehearsed = run("run", f"{system}.{name}", *words, "--dry-run", "--json", *on_file)
    assert rehearsed.code == 0, rehearsed.err
    assert len(rehearsed.json["requests"]) >= 1
    assert not any(each["operation"] == "Scan" for each in rehearsed.json["requests"])
    ran = run("run", f"{system}.{name}", *words, "--yes", "--json", "--explain", *on_file)
    assert ran.code in (0, 1), ran.err
    assert set(ran.json) >= KEYS
    assert rehearsed.json["requests"][0]["operation"] == ran.json["explain"][0]["operation"]


def test_list_names_every_pattern(run: Run) -> None:
    ran = run("run", "--list")
    assert ran.code == 0
    names = [line.split()[0] for line in ran.out.splitlines() if not line.startswith(" ")]
    assert sorted(names) == sorted(f"{system}.{name}" for system, name in ALL)
    assert "kefir.batches_by_status" in ran.out
    assert "4  Get batches by status (fixes KF-01)\n    --status active|in_fridge|ready|archived\n" in ran.out
    assert "--user-id TEXT [--now TIME] [--days INTEGER]" in ran.out


def test_list_as_json_is_a_contract(run: Run) -> None:
    ran = run("run", "--list", "lunch-cache", "--json")
    patterns = {each["pattern"]: each for each in ran.json["patterns"]}
    assert all(name.startswith("lunch_cache.") for name in patterns)
    menu = patterns["lunch_cache.menu"]
    assert set(menu) == {"pattern", "number", "title", "parameters", "fixes", "documented"}
    assert (menu["number"], menu["fixes"]) == ("2", ["LC-02", "LC-10"])
    assert [each["option"] for each in menu["parameters"]] == ["--restaurant", "--year", "--week"]
    assert menu["parameters"][1] == {
        "name": "year",
        "option": "--year",
        "type": "int",
        "required": True,
        "default": None,
        "choices": [],
        "several": False,
    }


def test_list_of_a_design_and_of_nothing(run: Run) -> None:
    ran = run("run", "--list", "designs.options:Options")
    assert ran.out.startswith("designs.options:Options.keep ")
    assert run("run", "--list", "kefr").code == 2
    assert run("run", "--list", "kefir", "--status", "x").code == 2
