"""The state machine itself: an engine that does one thing wrong is found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import singletable
from resilience.model.endpoints import Endpoint
from resilience.model.machine_reads import ModelMachine
from resilience.model.refusals import RefusedError

pytestmark = pytest.mark.soak

Method = Callable[..., dict[str, Any]]
Fault = Callable[[str, Method, dict[str, Any]], dict[str, Any]]


def skip_after_cursor(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    answer = method(**request)
    if operation == "query" and "ExclusiveStartKey" in request and len(answer.get("Items", ())) > 1:
        answer["Items"] = answer["Items"][1:]
        answer["Count"] -= 1
    return answer


def forget_tokens(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    request.pop("ClientRequestToken", None)
    return method(**request)


def ignore_direction(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    request.pop("ScanIndexForward", None)
    return method(**request)


def repeat_a_segment(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    if operation == "scan" and request.get("Segment") == 2:
        request["Segment"] = 1
    return method(**request)


def end_a_scan_early(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    answer = method(**request)
    if operation == "scan" and answer["ScannedCount"] == 3:
        answer.pop("LastEvaluatedKey", None)
    return answer


def return_too_much(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    if request.get("ReturnValues") == "UPDATED_OLD":
        request["ReturnValues"] = "ALL_OLD"
    return method(**request)


def lose_a_write(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    if operation == "transact_write_items" and len(request["TransactItems"]) > 2:
        request["TransactItems"] = request["TransactItems"][:-1]
    return method(**request)


def project_too_little(operation: str, method: Method, request: dict[str, Any]) -> dict[str, Any]:
    answer = method(**request)
    if "IndexName" in request:
        for item in answer.get("Items", ()):
            item.pop("n1", None)
    return answer


FAULTS: list[Fault] = [
    skip_after_cursor,
    forget_tokens,
    ignore_direction,
    repeat_a_segment,
    end_a_scan_early,
    return_too_much,
    lose_a_write,
    project_too_little,
]


class Faulty:
    """A database with a fault in it."""

    def __init__(self, fault: Fault) -> None:
        self.database = singletable.Database.open(":memory:")
        self.fault = fault

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        method = getattr(self.database, operation)
        if operation == "close":
            return method  # type: ignore[no-any-return]
        return lambda **request: self.fault(operation, method, request)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_fault_is_found(fault: Fault) -> None:
    class FaultyMachine(ModelMachine):
        def open(self) -> Endpoint:
            return Endpoint(Faulty(fault))

        def close(self) -> None:
            self.endpoint.client.close()

    with pytest.raises((AssertionError, RefusedError)):
        run_state_machine_as_test(
            FaultyMachine,
            settings=settings(
                max_examples=500,
                stateful_step_count=30,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
