"""`singletable blueprint`: designs as data, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from singletable.blueprint import Blueprint
from singletable.cli import main
from singletable.client import open_client
from support.paths import ROOT

Captured = pytest.CaptureFixture[str]
SHOP = """
blueprint = 2
name = "Shop"
questions = ["who deletes orders?"]
[table]
name = "shop"
sk = "SK"
[[entities]]
name = "Order"
discriminator = "Order"
attributes = [{ name = "id", stored = "id", type = "str" }]
[[entities.places]]
name = "key"
pk = { attributes = ["PK"], template = "ORDER#{id}" }
sk = { attributes = ["SK"], template = "ORDER" }
"""
MODEL = {
    "ModelName": "Shop",
    "DataModel": [
        {
            "TableName": "shop",
            "KeyAttributes": {"PartitionKey": {"AttributeName": "PK", "AttributeType": "S"}},
            "NonKeyAttributes": [{"AttributeName": "colour", "AttributeType": "S"}],
            "TableData": [{"PK": {"S": "ORDER#1"}}],
        }
    ],
}
TEMPLATE = """
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
"""
TERRAFORM = """
resource "aws_dynamodb_table" "orders" {
  name         = "orders"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  attribute {
    name = "pk"
    type = "S"
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of each kind, in which the command is run."""
    (tmp_path / "shop.toml").write_text(SHOP, encoding="utf-8")
    (tmp_path / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    (tmp_path / "template.yaml").write_text(TEMPLATE, encoding="utf-8")
    (tmp_path / "main.tf").write_text(TERRAFORM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blueprint(*arguments: str) -> int:
    return main(["blueprint", *arguments])


# --- showing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["kefir", "kefir:documented", "shop.toml"])
def test_design_is_shown_in_both_forms_alike(folder: Path, capsys: Captured, design: str) -> None:
    assert blueprint("show", design) == 0
    as_toml = Blueprint.from_toml(capsys.readouterr().out)
    assert blueprint("show", design, "--json") == 0
    assert Blueprint.from_json(capsys.readouterr().out) == as_toml


@pytest.mark.parametrize(
    ("form", "begins"), [("markdown", "# Shop\n"), ("svg", "<svg "), ("html", "<!doctype html>")]
)
def test_design_is_a_document_and_a_picture(folder: Path, capsys: Captured, form: str, begins: str) -> None:
    assert blueprint("show", "shop.toml", "--format", form, "--out", "out") == 0
    assert capsys.readouterr().err == "out is written\n"
    assert (folder / "out").read_text(encoding="utf-8").startswith(begins)


def test_published_schema_is_printed(capsys: Captured) -> None:
    assert blueprint("schema") == 0
    published = ROOT / "docs" / "reference" / "blueprint.schema.json"
    assert capsys.readouterr().out == published.read_text(encoding="utf-8")


def test_design_without_a_document_is_one_sentence(capsys: Captured) -> None:
    assert blueprint("show", "kefri:documented") == 2
    assert "kefir" in capsys.readouterr().err


# --- comparing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["kefir", "perfectit:documented"])
def test_design_does_not_differ_from_its_own_file(folder: Path, capsys: Captured, design: str) -> None:
    blueprint("show", design, "--out", "own.toml")
    capsys.readouterr()
    assert blueprint("diff", design, "own.toml") == 0
    assert capsys.readouterr().out == "no differences\n"


def test_differences_are_told_with_the_repair_and_exit_with_1(capsys: Captured) -> None:
    assert blueprint("diff", "kefir:documented", "kefir") == 1
    assert "why  KF-01: " in capsys.readouterr().out
    assert blueprint("diff", "kefir:documented", "kefir", "--json") == 1
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert {"kind", "path", "was", "now", "fixes"} <= told["parts"][0].keys()


# --- bringing in and out ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "file", "table"),
    [
        ("from-workbench", "model.json", "shop"),
        ("from-cloudformation", "template.yaml", "orders"),
        ("from-terraform", "main.tf", "orders"),
    ],
)
def test_file_of_another_tool_is_a_blueprint_with_open_questions(
    folder: Path, capsys: Captured, command: str, file: str, table: str
) -> None:
    assert blueprint(command, file) == 0
    printed = capsys.readouterr()
    found = Blueprint.from_toml(printed.out)
    assert found.table.name == table
    assert printed.err.splitlines() == [f"open: {each}" for each in found.questions]
    assert blueprint(command, file, "--table", "another") == 2
    assert "another" in capsys.readouterr().err


def test_design_goes_to_workbench_and_what_does_not_fit_is_said(folder: Path, capsys: Captured) -> None:
    assert blueprint("to-workbench", "kefir", "--out", "kefir.json") == 0
    assert "does not fit: A model has no place for patterns" in capsys.readouterr().err
    assert blueprint("from-workbench", "kefir.json", "--json") == 0
    found = Blueprint.from_json(capsys.readouterr().out)
    assert [each.name for each in found.entities] == ["User", "Batch", "BatchEvent", "Reminder", "Device"]


def test_design_goes_to_a_module_with_open_questions_as_comments(folder: Path, capsys: Captured) -> None:
    assert blueprint("to-python", "shop.toml") == 0
    text = capsys.readouterr().out
    assert "# open: who deletes orders?" in text
    assert "class Shop(Design):" in text


# --- from a table -----------------------------------------------------------------------------------------


def make_table(name: str) -> None:
    client = open_client("shop.db")
    key = {"AttributeName": "PK", "KeyType": "HASH"}
    kinds = [{"AttributeName": "PK", "AttributeType": "S"}]
    table = {"TableName": name, "KeySchema": [key], "AttributeDefinitions": kinds}
    client.call("CreateTable", {**table, "BillingMode": "PAY_PER_REQUEST"})
    for number in range(3):
        client.call("PutItem", {"TableName": name, "Item": {"PK": {"S": f"ORDER#o{number}"}}})
    client.close()


def test_only_table_of_a_file_is_surveyed(folder: Path, capsys: Captured) -> None:
    make_table("orders")
    assert blueprint("from-table", "shop.db", "--rate", "all") == 0
    printed = capsys.readouterr()
    assert [each.name for each in Blueprint.from_toml(printed.out).entities] == ["Order"]
    assert "3 items read, all, for " in printed.err
    assert "Order (3 items): all keys have one shape" in printed.err


def test_survey_in_json_says_how_sure_it_is_and_keeps_no_sample_where_none_is_wanted(
    folder: Path, capsys: Captured
) -> None:
    make_table("orders")
    assert blueprint("from-table", "shop.db", "orders", "--rate", "all", "--samples", "0", "--json") == 0
    text = capsys.readouterr().out
    (order,) = json.loads(text)["survey"]["entities"]
    assert 0 < order["sure"] < 1
    assert "ORDER#o1" not in text


def test_table_has_to_be_named_where_there_are_several_or_none(folder: Path, capsys: Captured) -> None:
    open_client("shop.db").close()
    assert blueprint("from-table", "shop.db") == 2
    assert "shop.db has no table" in capsys.readouterr().err
    make_table("orders")
    make_table("carts")
    assert blueprint("from-table", "shop.db") == 2
    assert "name one: carts, orders" in capsys.readouterr().err
    assert blueprint("from-table", "none.db") == 2
    assert "there is no file none.db" in capsys.readouterr().err


# --- hostile files ----------------------------------------------------------------------------------------

DEEP = 20_000
HOSTILE = {
    "deep": (b"[" * DEEP, "nested too deeply|this is no|it ends too early"),
    "no text": (b"\xff\xfe\x00", "is no text"),
    "null": (b"null", "this is no"),
    "wrong types": (
        b'{"blueprint": 2, "DataModel": 1, "Resources": 1, "resource": 1}',
        "line 1|this is ",
    ),
    "cycle": (b"Resources: &a {b: *a}\n", "holds itself|this is no"),
}
READERS = {
    "show": "file.toml",
    "to-python": "file.json",
    "from-workbench": "file.json",
    "from-cloudformation": "file.yaml",
    "from-terraform": "file.tf",
}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(("content", "sentence"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_file_ends_in_one_sentence(
    folder: Path, capsys: Captured, command: str, content: bytes, sentence: str
) -> None:
    (folder / READERS[command]).write_bytes(content)
    assert blueprint(command, READERS[command]) == 2
    first, *_ = printed = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: {READERS[command]}")
    assert any(each in first for each in sentence.split("|"))
    assert len(first) < 1_200
    assert [each[:5] for each in printed[1:]] == ["", "hint:"]
