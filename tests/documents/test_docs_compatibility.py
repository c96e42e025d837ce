"""docs/reference/compatibility.md names every operation and parameter, and says of each what is true."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest
from botocore.loaders import Loader

from documents.blocks import ROOT
from golden.vectors.catalogue import all_vectors
from singletable import Database
from singletable.operations import (
    OPERATIONS,
    PARAMETER_REMARKS,
    SERVED,
    UNSERVED_PARAMETERS,
    operation_refusal,
    parameter_refusal,
)

GENERATOR: Final = ROOT / "scripts" / "generate_compatibility.py"
MODELS: Final = {
    name: Loader().load_service_model(name, "service-2") for name in ("dynamodb", "dynamodbstreams")
}
SHAPES: Final[dict[str, Any]] = {**MODELS["dynamodbstreams"]["shapes"], **MODELS["dynamodb"]["shapes"]}
KEY: Final = {"p": {"S": "a"}}


def test_page_is_what_the_generator_writes() -> None:
    subprocess.run([sys.executable, str(GENERATOR), "--check"], check=True, cwd=ROOT)


@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - SERVED.keys()))
def test_operation_that_is_not_served_says_so(operation: str) -> None:
    with Database.open(":memory:") as database:
        status, body = database.answer(operation, b"{}")
    answer = json.loads(body)
    assert status == 400
    assert answer["__type"].endswith("#UnknownOperationException")
    assert answer["message"] == operation_refusal(operation)


# --- parameters -----------------------------------------------------------------------------------------


def parameters(shape: str) -> Iterator[tuple[str, str]]:
    """Yield the name and shape of every member that a shape holds, at any depth."""
    described = SHAPES[shape]
    for part in ("member", "value"):
        if part in described and shape != "AttributeValue":
            yield from parameters(described[part]["shape"])
    for name, member in described.get("members", {}).items():
        if shape != "AttributeValue":
            yield name, member["shape"]
            yield from parameters(member["shape"])


def input_shape(operation: str) -> str:
    (shape,) = (
        model["operations"][operation]["input"]["shape"]
        for model in MODELS.values()
        if operation in model["operations"]
    )
    assert isinstance(shape, str)
    return shape


def test_parameters_that_the_table_names_exist() -> None:
    known = {name for operation in SERVED for name, _ in parameters(input_shape(operation))}
    assert known >= UNSERVED_PARAMETERS.keys() | PARAMETER_REMARKS.keys()


def sample(shape: str) -> Any:
    """Return the smallest value that fits a shape of the model."""
    described = SHAPES[shape]
    match described["type"]:
        case "structure":
            return {
                name: sample(described["members"][name]["shape"]) for name in described.get("required", ())
            }
        case "list":
            return [sample(described["member"]["shape"])]
        case "map":
            return {"a": sample(described["value"]["shape"])}
        case "boolean":
            return True
        case "integer" | "long":
            return described.get("min", 1)
        case _:
            return described["enum"][0] if "enum" in described else "a" * max(3, described.get("min", 1))


REFUSED: Final = [
    (operation, name, member["shape"])
    for operation in ("CreateTable", "UpdateTable")
    for name, member in SHAPES[input_shape(operation)]["members"].items()
    if name in UNSERVED_PARAMETERS
]


@pytest.mark.parametrize(
    ("operation", "name", "shape"), REFUSED, ids=[f"{operation}-{name}" for operation, name, _ in REFUSED]
)
def test_parameter_that_is_not_served_says_so(operation: str, name: str, shape: str) -> None:
    table = {
        "TableName": "table",
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    with Database.open(":memory:") as database:
        if operation == "UpdateTable":
            database.create_table(**table)  # type: ignore[arg-type]
            table = {"TableName": "table"}
        status, body = database.answer(operation, json.dumps({**table, name: sample(shape)}).encode())
    assert (status, json.loads(body)["message"]) == (400, parameter_refusal(name))


# --- the vectors prove it -----------------------------------------------------------------------------------


def paths(shape: str, path: str = "") -> Iterator[str]:
    """Yield what can be said in a shape, as the page does."""
    described = SHAPES[shape]
    if shape == "AttributeValue":
        return
    for part in ("member", "value"):
        if part in described:
            yield from paths(described[part]["shape"], path)
    for name, member in described.get("members", {}).items():
        inner = f"{path}.{name}" if path else name
        yield inner
        if name not in UNSERVED_PARAMETERS:
            yield from paths(member["shape"], inner)


def said(shape: str, value: Any, path: str = "") -> Iterator[str]:
    """Yield what a request says, by the same paths."""
    described = SHAPES[shape]
    if shape == "AttributeValue":
        return
    if isinstance(value, list) and "member" in described:
        for element in value:
            yield from said(described["member"]["shape"], element, path)
    if isinstance(value, dict) and "value" in described:
        for element in value.values():
            yield from said(described["value"]["shape"], element, path)
    for name, member in described.get("members", {}).items():
        if isinstance(value, dict) and name in value:
            inner = f"{path}.{name}" if path else name
            yield inner
            yield from said(member["shape"], value[name], inner)


@pytest.mark.parametrize("operation", sorted(SERVED))
def test_every_parameter_that_is_served_stands_in_a_vector(operation: str) -> None:
    shape = input_shape(operation)
    proven = {
        path
        for vector in all_vectors().values()
        for name, request in (
            (vector.operation, vector.request),
            *(("CreateTable", table) for table in vector.tables),
            *vector.before,
        )
        if name == operation
        for path in said(shape, request)
    }
    assert {
        path for path in paths(shape) if path.rpartition(".")[2] not in UNSERVED_PARAMETERS
    } - proven == set()


@pytest.mark.parametrize("operation", sorted(SERVED))
def test_every_operation_has_vectors_of_answers_and_of_errors(operation: str) -> None:
    vectors = [vector for vector in all_vectors().values() if vector.operation == operation]
    assert any(vector.error is None for vector in vectors)
    if SHAPES[input_shape(operation)].get("members"):
        assert any(vector.error is not None for vector in vectors)


# --- settings without effect ----------------------------------------------------------------------------------


def test_throughput_is_no_limit() -> None:
    with Database.open(":memory:") as database:
        database.create_table(
            TableName="table",
            KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        )
        for _ in range(20):  # far beyond one unit a second
            database.put_item(TableName="table", Item=KEY)


def test_page_links_to_every_served_operation() -> None:
    page = (ROOT / "docs" / "reference" / "compatibility.md").read_text(encoding="utf-8")
    assert all(f"\n### {operation}\n" in page for operation in SERVED)
