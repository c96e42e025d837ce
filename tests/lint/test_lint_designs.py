"""The designs that judge the linter: each loads, in right ones nothing is found, planted defects have places."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.blueprint import Blueprint
from singletable.blueprint.forms import BlueprintError
from singletable.blueprint.tables import IndexBlueprint
from singletable.lint import Finding, lint

DESIGNS = Path(__file__).parent / "designs"
RIGHT = sorted([*DESIGNS.glob("good/*.toml"), *DESIGNS.glob("tricky/*.toml")])
WRONG = sorted(DESIGNS.glob("bad/seen_*.toml"))
EXPECTED = tomllib.loads((DESIGNS / "bad" / "expected.toml").read_text())["defects"]


def _read(path: Path) -> Blueprint:
    return Blueprint.from_toml(path.read_text())


def _schema(pk: tuple[str, ...], sk: tuple[str, ...]) -> list[dict[str, str]]:
    keys = [{"AttributeName": name, "KeyType": "HASH"} for name in pk]
    return keys + [{"AttributeName": name, "KeyType": "RANGE"} for name in sk]


def _index(index: IndexBlueprint) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    params = {"IndexName": index.name, "KeySchema": _schema(index.pk, index.sk), "Projection": projection}
    return params | ({"ProvisionedThroughput": _throughput(index.capacity)} if index.capacity else {})


def _throughput(capacity: tuple[int, ...]) -> dict[str, int]:
    return {"ReadCapacityUnits": capacity[0], "WriteCapacityUnits": capacity[1]}


def _create_table(blueprint: Blueprint) -> dict[str, Any]:
    table = blueprint.table
    params: dict[str, Any] = {
        "TableName": table.name.replace("{", "").replace("}", ""),
        "KeySchema": _schema((table.pk,), (table.sk,) if table.sk else ()),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in table.types.items()
        ],
        "BillingMode": table.billing,
    }
    if table.capacity:
        params["ProvisionedThroughput"] = _throughput(table.capacity)
    if table.stream:
        params["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    for name, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        if found := [_index(index) for index in blueprint.indexes if index.is_local is is_local]:
            params[name] = found
    return params


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_design_loads_and_has_planted_defects(path: Path) -> None:
    blueprint = _read(path)
    assert Blueprint.from_toml(blueprint.to_toml()) == blueprint
    assert any(defect["file"] == path.name for defect in EXPECTED)


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_table_of_right_design_is_created(path: Path) -> None:
    blueprint = _read(path)
    params = _create_table(blueprint)
    with Database.open(":memory:") as db:
        db.create_table(**params)
        described = db.describe_table(TableName=params["TableName"])["Table"]
    indexes = [
        *described.get("GlobalSecondaryIndexes", ()),
        *described.get("LocalSecondaryIndexes", ()),
    ]
    assert {index["IndexName"] for index in indexes} == {index.name for index in blueprint.indexes}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_found_in_right_design(path: Path) -> None:
    blueprint = _read(path)
    assert [(each.code, each.places(blueprint), each.message) for each in lint(blueprint)] == []


def _title(defect: dict[str, Any]) -> str:
    return f"{defect['file'].removesuffix('.toml')}-{defect['topic'].replace(' ', '-')}"


def _is_about(blueprint: Blueprint, found: Finding, defect: dict[str, Any]) -> bool:
    told = f"{found.message} {found.because} {found.repair}".lower()
    at_place = set(found.places(blueprint)) & set(defect["places"])
    return bool(at_place) and any(word.lower() in told for word in defect["mentions"])


@pytest.mark.parametrize("defect", EXPECTED, ids=_title)
def test_planted_defect_is_found_at_its_place(defect: dict[str, Any]) -> None:
    blueprint = _read(DESIGNS / "bad" / defect["file"])
    assert any(_is_about(blueprint, found, defect) for found in lint(blueprint))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_nothing_else_is_found_in_wrong_design(path: Path) -> None:
    blueprint = _read(path)
    planted = [defect for defect in EXPECTED if defect["file"] == path.name]
    others = [
        found for found in lint(blueprint) if not any(_is_about(blueprint, found, each) for each in planted)
    ]
    assert [(each.code, each.places(blueprint), each.message) for each in others] == []


def test_every_planted_defect_names_a_design_that_is_there() -> None:
    assert {defect["file"] for defect in EXPECTED} == {path.name for path in WRONG}
    assert all(
        defect["severity"] in "EWDN" and defect["places"] and defect["mentions"] for defect in EXPECTED
    )


def _without_each_part(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each part: of members, and of the first of several."""
    members = (
        data.items() if isinstance(data, dict) else enumerate(data[:1]) if isinstance(data, list) else ()
    )
    for name, part in members:
        yield (*path, name)
        yield from _without_each_part(part, (*path, name))


def _empty(part: Any) -> Any:
    return type(part)() if isinstance(part, list | str) else 0


def test_design_with_a_part_that_is_empty_or_missing_is_linted() -> None:
    text = (DESIGNS / "bad" / "seen_forum.toml").read_text()
    linted = 0
    for path in _without_each_part(json.loads(Blueprint.from_toml(text).to_json())):
        for change in (None, _empty):
            data = json.loads(Blueprint.from_toml(text).to_json())
            holder = reduce(getitem, path[:-1], data)
            if change is None:
                del holder[path[-1]]
            else:
                holder[path[-1]] = change(holder[path[-1]])
            try:
                blueprint = Blueprint.from_json(json.dumps(data))
            except BlueprintError:
                continue
            linted += 1
            assert all(each.places(blueprint) for each in lint(blueprint))
    assert linted > 90
