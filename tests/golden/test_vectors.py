"""The golden cases, in the process and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.credentials import Credentials

from golden.vectors.catalogue import all_vectors
from golden.vectors.matching import anything, matching
from golden.vectors.running import Runner
from golden.vectors.tables import HASH
from golden.vectors.transports import HttpTransport, NativeTransport
from golden.vectors.vector import Refusal, Vector, then, validation
from singletable import Database
from singletable.clock import ManualClock
from singletable.server import BackgroundServer

VECTORS = all_vectors()


@pytest.fixture(scope="module", params=["native", "http"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with Database.open(":memory:", clock=ManualClock()) as database:
        match request.param:
            case "native":
                yield Runner(NativeTransport(database))
            case _:
                with BackgroundServer(database) as address:
                    yield Runner(HttpTransport(address.url, Credentials("any", "thing"), "us-east-1"))
        assert database.check() == []


@pytest.mark.parametrize("name", VECTORS)
def test_answer_is_that_of_aws(runner: Runner, name: str) -> None:
    if VECTORS[name].wire_only and not runner.carries_json:
        pytest.skip("no Python value can say this")
    assert runner.run(VECTORS[name]) == []


WRONG_EXPECTATIONS: dict[str, Any] = {
    "another value": {"answer": {"Item": {"p": {"S": "b"}}}},
    "a member more": {"answer": {"Item": {"p": {"S": "a"}}, "More": 1}},
    "a member less": {"answer": {}},
    "an error": {"error": validation("The provided key element does not match the schema")},
    "another text": {"answer": {"Item": {"p": {"S": matching("b+")}}}},
    "another state": {"answer": anything, "after": [then("DescribeTable", {"TableName": "Hash"}, {})]},
}


@pytest.mark.parametrize("wrong", WRONG_EXPECTATIONS.values(), ids=WRONG_EXPECTATIONS)
def test_vector_that_expects_something_else_fails(runner: Runner, wrong: dict[str, Any]) -> None:
    """A runner that agreed with everything would prove nothing."""
    item = {"p": {"S": "a"}}
    vector = Vector(
        "get", "GetItem", {"TableName": "Hash", "Key": item}, tables=[HASH], given={"Hash": [item]}, **wrong
    )
    assert runner.run(vector) != []


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("ValidationException", "Requested resource not found"),
        Refusal("ResourceNotFoundException", "Not found"),
        Refusal("ResourceNotFoundException", "Requested resource not found", status=500),
        Refusal("ResourceNotFoundException", "Requested resource not found", Item={}),
    ],
    ids=["code", "message", "status", "members"],
)
def test_vector_that_expects_another_error_fails(runner: Runner, refusal: Refusal) -> None:
    vector = Vector("get", "GetItem", {"TableName": "Missing", "Key": {"p": {"S": "a"}}}, error=refusal)
    assert runner.run(vector) != []
