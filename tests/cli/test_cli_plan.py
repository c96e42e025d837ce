"""`singletable plan`: what a design costs, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from singletable.cli import main
from support.run_commands import Run, command
from support.serving import CommandProcess

SHOPS = "designs.busy_shops:Shops"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the command is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return command(capsys)


def test_plan_is_printed_for_a_terminal_of_80_columns(run: Run) -> None:
    ran = run("plan", "kefir", "--users", "1000")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Kefir for 1,000 users: $")
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("target", ["kefir", "kefir:documented", SHOPS, "shop.toml", "shop.json"])
def test_every_kind_of_target_is_planned(run: Run, target: str) -> None:
    run("blueprint", "show", SHOPS, "--out", "shop.toml")
    run("blueprint", "show", SHOPS, "--json", "--out", "shop.json")
    assert run("plan", target, "--json").json["plan"] == 1


@pytest.mark.parametrize(("users", "number"), [("1000", 1e3), ("10k", 1e4), ("1M", 1e6), ("1,500", 1_500)])
def test_users_are_written_as_people_do(run: Run, users: str, number: float) -> None:
    assert run("plan", "kefir", "--users", users, "--json").json["users"] == number


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--users", "0"], "no number of users"),
        (["--users", "many"], "no number of users"),
        (["--users", "1e99"], "no number of users"),
        (["--budget", "-1"], "no amount of USD"),
        (["--budget", "nan"], "no amount of USD"),
        (["--billing", "free"], "invalid choice"),
        (["--json", "--html"], "not allowed with"),
        (["--svg", "pie"], "invalid choice"),
        (["--region", "eu-nort-1"], "did you mean eu-north-1?"),
        (["--explain", "dues"], "did you mean due?"),
        (["--since", "none.json"], "none.json cannot be read"),
        (["--prices", "none.toml"], "none.toml cannot be read"),
        (["--data", "none.db"], "there is no file none.db"),
        (["--measured", "kefir.db"], "no address of a server"),
        (["--measured", "http://127.0.0.1:9", "--budget", "1"], "--measured does not go with --budget"),
        (["--measured", "http://127.0.0.1:9", "--markdown"], "--measured does not go with --markdown"),
        (["--compare-documented", "--html"], "--compare-documented does not go with --html"),
        (["--compare-documented", "--svg", "heat"], "--compare-documented does not go with --svg"),
        (["--out", "no/where.txt"], "cannot be written"),
        (
            ["--region", "us-east-2", "--billing", "provisioned", "--table-class", "infrequent-access"],
            "prices import",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_told_in_a_sentence_with_what_to_do(run: Run, arguments: list[str], said: str) -> None:
    ran = run("plan", "kefir", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert said in ran.err
    assert "\nhint: " in ran.err


def test_budget_decides_the_exit_code(run: Run) -> None:
    over = run("plan", "kefir", "--users", "1M", "--budget", "1", "--json")
    assert over.code == 1
    assert over.json["is_over_budget"] is True
    assert over.err.startswith("over the budget of $1.00 by $")
    within = run("plan", "kefir", "--users", "1M", "--budget", "$9000")
    assert within.code == 0
    assert within.err.startswith("within the budget of $9,000.00")
    assert "within the budget" in within.out


def test_options_change_the_bill(run: Run) -> None:
    def mode(*options: str) -> str:
        data = run("plan", "perfectit", "--users", "1M", "--json", *options).json
        return f"{data['region']}, {data['billing']}, {data['table_class']}"

    assert mode() == "us-east-1, on-demand, STANDARD"
    assert mode("--region", "eu-north-1", "--billing", "auto").startswith("eu-north-1, ")
    assert (
        mode("--billing", "provisioned", "--reserved", "1")
        == "us-east-1, provisioned, reserved for 1 year, STANDARD"
    )
    assert mode("--table-class", "infrequent-access").endswith("STANDARD_INFREQUENT_ACCESS")
    free = run("plan", "kefir", "--json", "--free-tier").json["usd_month"]
    assert free < run("plan", "kefir", "--json").json["usd_month"]


def test_price_that_is_missing_is_said_in_the_plan(run: Run) -> None:
    ran = run("plan", "kefir", "--region", "eu-west-2")
    assert ran.code == 0
    assert "left out:\n  - point-in-time recovery: its price in eu-west-2 is not in the table" in ran.out


def test_arithmetic_of_a_line(run: Run) -> None:
    ran = run("plan", "kefir", "--explain", "due")
    assert ran.out.startswith("due, ")
    for part in ("one call", "a month", "what that costs", "the busiest second"):
        assert f"\n{part}\n" in ran.out
    [found] = run("plan", "kefir", "--explain", "due", "--json").json["explained"]
    assert found["name"] == "due"
    three = run("plan", "kefir", "--explain", "Batch", "--json").json["explained"]
    assert {each["name"] for each in three} == {"create Batch", "update Batch", "delete Batch"}


def test_line_without_a_load_says_that_it_has_none(run: Run) -> None:
    run("blueprint", "show", SHOPS, "--json", "--out", "shop.json")
    data = json.loads(Path("shop.json").read_text(encoding="utf-8"))
    data["loads"] = [load for load in data["loads"] if load["of"] != "order"]
    Path("silent.json").write_text(json.dumps(data), encoding="utf-8")
    ran = run("plan", "silent.json", "--explain", "order")
    assert ran.code == 2
    assert "patterns without a load: order" in ran.err
    assert "hint: declare a load of it" in ran.err


def test_difference_to_an_earlier_plan(run: Run) -> None:
    assert (
        run("plan", "kefir", "--users", "1000", "--json", "--out", "plan.json").err
        == "plan.json is written\n"
    )
    ran = run("plan", "kefir", "--users", "10k", "--since", "plan.json")
    assert "since the earlier plan: $" in ran.out
    assert "users: 1,000, now 10,000" in ran.out
    assert (
        "| changed | before | now | |"
        in run("plan", "kefir", "--users", "10k", "--since", "plan.json", "--markdown").out
    )
    assert run("plan", "kefir", "--users", "10k", "--since", "plan.json", "--json").json["since"]["lines"]
    Path("other.json").write_text("{}", encoding="utf-8")
    wrong = run("plan", "kefir", "--since", "other.json")
    assert wrong.code == 2
    assert "other.json is no plan of this release" in wrong.err


def test_page_and_plots_are_written(run: Run, folder: Path) -> None:
    assert run("plan", "lunch_cache", "--html", "--out", "plan.html").code == 0
    assert (folder / "plan.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("plan", "lunch_cache", "--svg", "users").out.startswith("<svg ")


def test_other_prices_count_before_those_of_the_release(run: Run) -> None:
    table = """prices = 1
[sources]
here = { date = "2026-01-01", title = "a contract" }
[regions.us-east-1.STANDARD]
write_request = { usd = 1000.0, per = "million units", source = "here" }
"""
    Path("prices.toml").write_text(table, encoding="utf-8")
    data = run("plan", "kefir", "--prices", "prices.toml", "--json").json
    assert data["prices"]["write_request"]["source"] == "a contract"
    assert data["usd_month"] > run("plan", "kefir", "--json").json["usd_month"]


def test_sizes_and_numbers_come_from_a_table(run: Run) -> None:
    assert main(["seed", "lunch_cache", "--day", "2026-11-16"]) == 0
    ran = run("plan", "lunch_cache", "--data", "lunch_cache.db", "--json")
    assert ran.code == 0
    stored = {part["entity"]: part["items"][1] for part in ran.json["stored"] if part["index"] is None}
    assert stored["WeeklyMenu"] > 0
    wrong = run("plan", "kefir", "--data", "lunch_cache.db")
    assert wrong.code == 2
    assert "lunch_cache.db has no table like kefir-app-{" in wrong.err


def test_heat_that_a_server_has_counted(run: Run, folder: Path, warm_programs: Path) -> None:
    assert main(["seed", "lunch_cache", "--day", "2026-11-16"]) == 0
    with CommandProcess(
        "serve", "lunch_cache.db", "--port", "0", cwd=folder, program=warm_programs / "singletable"
    ) as server:
        url = server.read_through("export AWS_ENDPOINT_URL_DYNAMODB_STREAMS=")[-1].partition("=")[2]
        assert run("run", "lunch_cache.write_probe", "--probe", "1", "--target", url).code == 0
        ran = run("plan", "lunch_cache", "--measured", url)
        data = run("plan", "lunch_cache", "--measured", url, "--json").json
    assert ran.code == 0
    assert f"{url}/metrics, counted for " in ran.out
    assert data["places"]


def test_figures_of_a_document_are_compared(run: Run) -> None:
    ran = run("plan", "kefir", "--compare-documented")
    assert ran.code == 0
    assert " figures, compared in " in ran.out.splitlines()[0]
    assert run("plan", "kefir:documented", "--compare-documented", "--json").json["figures"]
    assert run("plan", "kefir", "--compare-documented", "--markdown").out.startswith("| figure |")
    none = run("plan", SHOPS, "--compare-documented")
    assert none.code == 2
    assert "states no figures" in none.err
