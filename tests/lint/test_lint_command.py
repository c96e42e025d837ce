"""`singletable lint` and `singletable rule`, as people and programs use them."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
import yaml

from singletable.cli import main
from singletable.lint.target import of_design

DESIGN = """\
blueprint = 2
name = "Games"

[table]
name = "games"
sk = "SK"

[[entities]]
name = "Level"
discriminator = "Level"
attributes = [
    { name = "game", stored = "game", type = "str", format = "uuid" },
    { name = "level", stored = "level", type = "int", samples = [9, 10] },
]

[[entities.places]]
name = "key"
pk = { attributes = ["PK"], template = "GAME#{game}" }
sk = { attributes = ["SK"], template = "LEVEL#{level}" }
"""


@pytest.fixture(autouse=True)
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with a design that has one defect."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "games.toml"
    file.write_text(DESIGN)
    return file


def _run(*arguments: str) -> int:
    try:
        return main(["lint", *arguments])
    except SystemExit as exit_:
        return int(str(exit_.code))


def test_finding_has_place_reason_repair_and_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("games.toml", "--prove") == 1
    said = capsys.readouterr()
    assert said.out.startswith("games.toml:13:5: KEY101 E attribute Level.level: ")
    assert "LEVEL#10 sorts before LEVEL#9" in said.out
    assert "a query returns LEVEL#10, LEVEL#9" in said.out
    assert said.err == "1 error in 1 design\n"


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_programs_read_line_and_code(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("games.toml", "--format", form) == 1
    data = json.loads(capsys.readouterr().out)
    if form == "json":
        assert (data["findings"][0]["code"], data["findings"][0]["line"]) == ("KEY101", 13)
    else:
        result = data["runs"][0]["results"][0]
        assert result["ruleId"] == "KEY101"
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 13


def test_annotation_of_a_workflow_has_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("games.toml", "--format", "github") == 1
    assert capsys.readouterr().out.startswith("::error file=games.toml,line=13,col=5,title=KEY101 ")


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("games.toml", "--format", "markdown") == 1
    assert "| attribute Level.level, entity Level | KEY101 | E |" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [("--ignore", "KEY1"), ("--select", "PAT")])
def test_rules_are_chosen_by_what_codes_begin_with(arguments: tuple[str, ...]) -> None:
    assert _run("games.toml", *arguments) == 0


def test_comment_with_a_reason_suppresses_and_one_without_is_told(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = '    { name = "level"'
    design.write_text(DESIGN.replace(at, f"    # lint: ignore KEY101 - levels end at 9\n{at}"))
    assert _run("games.toml") == 0
    design.write_text(DESIGN.replace(at, f"    # lint: ignore KEY101\n{at}"))
    assert _run("games.toml") == 1
    assert "LNT001" in capsys.readouterr().out


def test_baseline_accepts_what_is_there_and_reports_what_is_new(design: Path) -> None:
    assert _run("games.toml", "--write-baseline", "accepted.json") == 0
    design.write_text("# a comment moves every line\n" + DESIGN)
    assert _run("games.toml", "--baseline", "accepted.json") == 0
    design.write_text(DESIGN.replace('"level"', '"step"').replace("{level}", "{step}"))
    assert _run("games.toml", "--baseline", "accepted.json") == 1


def test_settings_name_targets_and_rules(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.singletable.lint]\ntargets = ["games.toml"]\n')
    assert _run() == 1
    settings.write_text('[tool.singletable.lint]\ntargets = ["games.toml"]\nignore = ["KEY101"]\n')
    assert _run() == 0
    settings.write_text('[tool.singletable.lint]\nignored = ["KEY101"]\n')
    assert _run("games.toml") == 2


@pytest.mark.parametrize(
    "arguments",
    [(), ("missing.toml",), ("games.toml", "--select", "FOO"), ("games.toml", "--baseline", "games.toml")],
)
def test_wrong_use_is_told_with_a_hint(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "hint:" in said.err


TYPED = """\
from singletable import Key


class GamePK(Key, template="GAME#{game}"):
    game: str


class LevelSK(Key, template="LEVEL#{level}#{level}#{missing}"):
    level: int
"""


def test_design_that_is_refused_when_imported_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "refused_games.py").write_text(TYPED)
    assert _run("refused_games:Games", "--json") == 1
    found = json.loads(capsys.readouterr().out)["findings"][0]
    assert found["code"].startswith("ST")
    assert (found["file"], found["line"]) == ("refused_games.py", 8)


def test_finding_in_a_typed_design_has_the_line_of_python() -> None:
    from singletable.systems import find_system

    system = find_system("kefir")
    target = of_design("kefir", system.design, system.blueprint())
    names = [entity.name for entity in target.blueprint.entities]
    batch = target.blueprint.entities[names.index("Batch")]
    field = [each.name for each in batch.attributes].index("status")
    where = target.where(("entities", names.index("Batch"), "attributes", field))
    assert Path(where.file).read_text().splitlines()[where.line - 1].strip().startswith("status:")


def test_page_of_a_rule_is_printed_and_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "key101"]) == 0
    assert capsys.readouterr().out.startswith("# KEY101: ")
    assert main(["rule"]) == 0
    assert "KEY101  E  A number in a sort key has no fixed width" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("class Games(\n", "LNT002", 1),
        ("import nothing_of_this_name\n", "LNT002", 1),
        ("x = 1\ny = x / 0\n", "LNT002", 2),
        (TYPED, "ST", 8),
    ],
    ids=["a mistake of Python", "a package that is not there", "a module that fails", "a declaration"],
)
def test_other_designs_are_linted_when_one_cannot_be_imported(
    tmp_path: Path, text: str, code: str, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"games_that_fail_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    assert _run(f"{name}:Games", "games.toml", "--json") == 1
    failed, found = json.loads(capsys.readouterr().out)["findings"]
    assert failed["code"].startswith(code)
    assert (failed["file"], failed["line"]) == (f"{name}.py", line)
    assert (found["code"], found["file"]) == ("KEY101", "games.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("blueprint = 2\n[table\n", 2),
        ('blueprint = 2\nname = "X"\ncolour = 1\n[table]\nname = "x"\n', 3),
        ("", None),
        ("[project]\n", None),
        ('blueprint = 9\nname = "X"\n[table]\nname = "x"\n', None),
    ],
    ids=["no TOML", "an unknown member", "nothing", "another file", "a newer form"],
)
def test_file_that_is_no_blueprint_is_a_finding_and_others_are_linted(
    tmp_path: Path, text: str, line: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.toml").write_text(text)
    assert _run("wrong.toml", "games.toml", "--json") == 1
    failed, found = json.loads(capsys.readouterr().out)["findings"]
    assert (failed["code"], failed["line"]) == ("LNT002", line)
    assert found["code"] == "KEY101"


def test_settings_of_a_folder_above_name_files_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.singletable.lint]\ntargets = ["games.toml"]\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert _run() == 1
    assert capsys.readouterr().out.startswith("../games.toml:13:5: KEY101 ")


TRANSACTION = """
[[patterns]]
number = "1"
title = "Add two levels"
operation = "TransactWriteItems"
is_transaction = true
writes = [{ operation = "PutItem", entity = "Level", count = 2 }]
"""


def test_target_that_the_design_does_not_name_can_be_asked_for(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design.write_text(DESIGN + TRANSACTION)
    assert _run("games.toml", "--select", "CAP") == 0
    assert _run("games.toml", "--select", "CAP", "--target", "alternator") == 1
    assert "ScyllaDB Alternator has no transactions" in capsys.readouterr().out


def test_sarif_has_each_rule_once_and_results_that_keep_their_identity(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (design.parent / "a b.toml").write_text(DESIGN)
    results = []
    for text in (DESIGN, f"# moved\n{DESIGN}"):
        design.write_text(text)
        assert _run("games.toml", "a b.toml", "--format", "sarif") == 1
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        (rule,) = run["tool"]["driver"]["rules"]
        assert rule["defaultConfiguration"] == {"level": "error"}
        assert rule["help"]["markdown"].startswith("# KEY101: ")
        results.append(run["results"])
    before, after = ([each["partialFingerprints"] for each in found] for found in results)
    assert before == after
    assert before[0] != before[1]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results[0]]
    assert uris == ["games.toml", "a%20b.toml"]


BASE = """\
from singletable import Entity, Index, Key, Table


class Games(Table):
    name = "games"
    unused = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class GamePK(Key, template="GAME#{game}"):
    game: str


class Named(Entity):
    game: str
    title: str
"""
DERIVED = """\
from base_of_games import GamePK, Games, Named

from singletable import Design, Get, Keys, SortKey, pattern


class MetaSK(SortKey, template="META"):
    pass


class Game(Named):
    key = Keys(GamePK, MetaSK)
    level: int = 0


class Arcade(Design):
    table = Games
    entities = (Game,)

    @pattern("1 Get a game")
    def game(self, game: str) -> Get[Game]:
        return Game.key.get(GamePK(game=game), MetaSK())
"""


def test_parts_of_a_typed_design_stand_at_their_lines_whatever_module_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "base_of_games.py").write_text(BASE)
    (tmp_path / "derived_games.py").write_text(DERIVED)
    design = importlib.import_module("derived_games").Arcade
    target = of_design("derived_games:Arcade", design, design.blueprint())
    names = [each.name for each in target.blueprint.entities[0].attributes]
    found = {
        path: f"{Path(target.where(path).file).name}:{target.where(path).line}"
        for path in (
            ("table",),
            ("indexes", 0),
            ("entities", 0),
            ("entities", 0, "places", 0),
            ("entities", 0, "attributes", names.index("title")),
            ("entities", 0, "attributes", names.index("level")),
            ("patterns", 0, "reads", 0),
        )
    }
    assert list(found.values()) == [
        "base_of_games.py:4",
        "base_of_games.py:6",
        "derived_games.py:10",
        "derived_games.py:11",
        "base_of_games.py:15",
        "derived_games.py:12",
        "derived_games.py:19",
    ]
    assert _run("derived_games:Arcade") == 1
    assert capsys.readouterr().out.startswith("base_of_games.py:6:5: IDX202 ")
    assert _run("no_module_of_this_name:Arcade") == 2


def test_hook_runs_the_command_on_blueprints() -> None:
    root = Path(__file__).resolve().parents[2]
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    command, *arguments = hook["entry"].split()
    assert (command, arguments) == ("singletable", ["lint"])
    chosen = re.compile(hook["files"])
    wanted = ["designs/shop.toml", "a/blueprints/shop.json", "shop.blueprint.toml"]
    assert [each for each in [*wanted, "pyproject.toml", "designs/shop.py"] if chosen.search(each)] == wanted
