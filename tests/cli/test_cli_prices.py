"""`singletable prices`: what is printed, what is written, and how it ends."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from singletable.client import connecting
from singletable.planning.price_list import import_price_list
from singletable.planning.prices import packaged_prices, parse_prices
from support.price_lists import get_products, offer_file
from support.run_commands import Run, command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return command(capsys)


@pytest.fixture
def price_list(tmp_path: Path) -> Path:
    path = tmp_path / "index.json"
    path.write_text(json.dumps(offer_file()), encoding="utf-8")
    return path


def test_show_lists_the_regions_on_stdout_and_helps_on_stderr(run: Run) -> None:
    ran = run("prices", "show")
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert rows[0] == ["region", "writes", "reads", "storage", "newest"]
    assert [row[0] for row in rows[1:]] == sorted(packaged_prices().regions)
    assert ["us-west-2", "0.625", "0.125", "0.25", "2026-09-05"] in rows
    assert "--region shows all" in ran.err


def test_show_of_a_region_has_every_price_with_date_and_source(run: Run) -> None:
    ran = run("prices", "show", "--region", "eu-north-1")
    assert (ran.code, ran.err) == (0, "")
    assert "STANDARD                   write_request" in ran.out
    assert "0.000698 per unit-hour" in ran.out
    assert "[1] AWS price list, https://pricing.us-east-1.amazonaws.com/" in ran.out


def test_show_as_json_has_the_same_for_programs(run: Run) -> None:
    ran = run("prices", "show", "--region", "us-east-2", "--json")
    assert (ran.code, ran.err) == (0, "")
    region = ran.json["regions"]["us-east-2"]
    price = region["STANDARD"]["write_request"]
    assert (price["usd"], price["per"], price["date"]) == (Decimal("0.625"), "million units", "2026-05-01")
    assert region["free_tier"]["storage_gb"] == 25


def test_unknown_region_is_wrong_use(run: Run) -> None:
    ran = run("prices", "show", "--region", "eu-nrth-1", "--json")
    assert ran.code == 2
    assert ran.json["error"]["message"] == "there are no prices of eu-nrth-1"
    assert "hint: did you mean eu-north-1?" in ran.err


def test_imported_prices_are_a_table_that_show_takes(run: Run, price_list: Path, tmp_path: Path) -> None:
    out = tmp_path / "prices.toml"
    ran = run("prices", "import", str(price_list), "--out", str(out))
    assert (ran.code, ran.out) == (0, "")
    assert f"{out} is written: 1 regions" in ran.err
    shown = run("prices", "show", "--prices", str(out), "--region", "eu-west-3")
    assert shown.code == 0
    assert "[1] AWS price list, AmazonDynamoDB in eu-west-3, version 20260911124422" in shown.out
    assert "eu-west-3" in run("prices", "show", "--prices", str(out)).out
    assert run("prices", "show", "--region", "eu-west-3").code == 2


def test_import_prints_a_table_where_no_file_is_named(run: Run, price_list: Path) -> None:
    ran = run("prices", "import", str(price_list))
    assert (ran.code, ran.err) == (0, "")
    assert parse_prices(ran.out) == import_price_list(offer_file())
    as_json = run("prices", "import", str(price_list), "--json").json
    assert as_json["regions"]["eu-west-3"]["STANDARD"]["write_request"]["usd"] == Decimal("0.7423")


@pytest.mark.parametrize("text", ["", "[]", "{}", "prices = 1", "\x00"])
def test_import_of_another_file_is_refused(text: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text(text, encoding="utf-8")
    ran = run("prices", "import", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {path}: this is no")
    assert "hint: https://pricing.us-east-1.amazonaws.com/offers/" in ran.err


class _Pricing:
    """Answers as the price list API does; what it is asked is checked in test_planning_prices.py."""

    def get_products(self, **asked: Any) -> dict[str, Any]:
        region = asked["Filters"][0]["Value"]
        return {"PriceList": get_products(region=region) if region == "eu-west-3" else []}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting.BotoConnection, "client", lambda *_: _Pricing())


@pytest.mark.usefixtures("answered")
def test_fetched_prices_are_those_of_the_price_list(run: Run) -> None:
    ran = run("prices", "fetch", "--region", "eu-west-3", "--region", "eu-west-9")
    assert (ran.code, ran.err) == (0, "")
    assert parse_prices(ran.out) == import_price_list(offer_file())


@pytest.mark.usefixtures("answered")
def test_fetch_of_a_region_without_products_finds_none(run: Run) -> None:
    ran = run("prices", "fetch", "--region", "eu-west-9")
    assert (ran.code, ran.out) == (2, "")
    assert "no price of it was found" in ran.err


def test_fetch_without_credentials_says_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    ran = run("prices", "fetch", "--region", "eu-west-3")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ST508: There are no credentials for AWS's price list API")
