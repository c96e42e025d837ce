"""Errors that a boto3 client gets, counted by CloudWatch: as lines of a log in its embedded metric format.

CloudWatch counts refused requests (UserErrors) for an account and region, and for no table. A function that counts
them itself can be watched: CloudWatch Logs makes metrics of such lines, wherever Lambda's log goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from singletable.clock import Clock, SystemClock

NAMESPACE: Final = "singletable"
METRIC: Final = "RequestErrors"
DIMENSIONS: Final = (("TableName",), ("TableName", "Operation"), ("TableName", "Operation", "Error"))
UNREACHED: Final = "NoAnswer"

# What an application asks for with its conditions, and CloudWatch counts by table.
_EXPECTED: Final = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})
_EVENTS: Final = ("after-call.dynamodb.*", "after-call-error.dynamodb.*")


def count_errors(
    boto_client: Any, table: str, *, write: Callable[[str], object] = print, clock: Clock | None = None
) -> None:
    """Write a line for every request of a boto3 client that fails after all retries, conditions aside."""
    time = clock or SystemClock()

    def answered(parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        error = (parsed.get("Error") or {}).get("Code")
        if error is not None and error not in _EXPECTED:
            write(error_line(table, model.name, error, at_ms=time.now_us() // 1000))

    def unreached(event_name: str, **_: Any) -> None:
        operation = event_name.rpartition(".")[2]
        write(error_line(table, operation, UNREACHED, at_ms=time.now_us() // 1000))

    events = boto_client.meta.events
    for event, listener in zip(_EVENTS, (answered, unreached), strict=True):
        # Once, however often a design is opened with the client.
        events.register(event, listener, unique_id=f"singletable-{event}-{table}")


def error_line(table: str, operation: str, error: str, *, at_ms: int) -> str:
    """Return an error as a line of a log (CloudWatch guide, "Specification: Embedded metric format")."""
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(each) for each in DIMENSIONS],
        "Metrics": [{"Name": METRIC, "Unit": "Count"}],
    }
    line = {
        "_aws": {"Timestamp": at_ms, "CloudWatchMetrics": [directive]},
        "TableName": table,
        "Operation": operation,
        "Error": error,
        METRIC: 1,
    }
    return json.dumps(line, separators=(",", ":"))
