"""Run a vector: bring an endpoint into its state, send the request, compare, clean up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from golden.vectors.matching import differences
from golden.vectors.transports import Reply, Transport
from golden.vectors.vector import Earlier, Refusal, Vector

POLL_S = 0.05

# These are over when the table is ACTIVE again, or gone: what comes next must find it so.
_CHANGES_STATE = frozenset(("CreateTable", "DeleteTable", "UpdateTable"))
# After these a table is no longer as it was made.
_CHANGES_TABLE = frozenset(
    (
        *("DeleteTable", "TagResource", "UntagResource"),
        *("UpdateContinuousBackups", "UpdateTable", "UpdateTimeToLive"),
    )
)


class UnpreparedError(Exception):
    """The endpoint could not be brought into the state that a vector starts from."""


class Runner:
    """Vectors against one endpoint. Tables are made once, and emptied between vectors."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._tables: dict[str, dict[str, Any]] = {}
        self._used: set[str] = set()
        self._answers: dict[str, dict[str, Any]] = {}  # of a vector so far, the newest of each operation

    @property
    def carries_json(self) -> bool:
        return self._transport.carries_json

    def run(self, vector: Vector) -> list[str]:
        """Return what differs; nothing, if the endpoint answers as expected."""
        try:
            self._prepare(vector)
            found = list(self._compare(vector.operation, vector.request, vector.expected))
            for step in vector.after:
                found += [
                    f"afterwards, {step.operation}: {line}"
                    for line in self._compare(step.operation, step.request, step.expected)
                ]
            return found
        finally:
            self._clean(vector)

    def close(self) -> None:
        for name in list(self._tables):
            self._delete(name)

    def _compare(self, operation: str, request: dict[str, Any], expected: Any) -> Iterator[str]:
        reply = self._send(operation, request)
        if operation in _CHANGES_STATE and reply.code is None:
            self._settled(request["TableName"])
        if isinstance(expected, Refusal):
            yield from _refusal_differences(expected, reply)
        elif reply.code is not None:
            yield f"refused: {reply.code}: {reply.message}"
        else:
            yield from differences(expected, reply.body)

    def _prepare(self, vector: Vector) -> None:
        for request in vector.tables:
            name = request["TableName"]
            if self._tables.get(name) == request:
                if name in self._used:
                    self._empty(request)
            else:
                if name in self._tables:
                    self._delete(name)
                self._require("CreateTable", request)
                self._await_active(name)
                self._tables[name] = request
        self._answers.clear()
        for name, items in vector.given.items():
            for item in items:
                self._require("PutItem", {"TableName": name, "Item": item})
        for operation, request in vector.before:
            self._require(operation, request)
            if operation in _CHANGES_STATE:
                self._settled(request["TableName"])

    def _clean(self, vector: Vector) -> None:
        for name in vector.makes:
            self._delete(name)
        operations = {vector.operation, *(step.operation for step in vector.after)}
        operations.update(operation for operation, _ in vector.before)
        for request in vector.tables:
            name = request["TableName"]
            self._used.add(name)
            if not _CHANGES_TABLE.isdisjoint(operations):
                self._delete(name)

    def _empty(self, table: dict[str, Any]) -> None:
        name = table["TableName"]
        keys = [element["AttributeName"] for element in table["KeySchema"]]
        start: dict[str, Any] = {}
        while True:
            page = self._require("Scan", {"TableName": name, **start}).body
            for item in page["Items"]:
                self._require("DeleteItem", {"TableName": name, "Key": {key: item[key] for key in keys}})
            if "LastEvaluatedKey" not in page:
                break
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        self._used.discard(name)

    def _delete(self, name: str) -> None:
        """Delete a table if it is there, and wait until it is gone."""
        self._tables.pop(name, None)
        self._used.discard(name)
        description = self._description(name)
        if description is None:
            return
        if description.get("DeletionProtectionEnabled"):
            self._require("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
        self._transport.send("DeleteTable", {"TableName": name})
        while self._description(name) is not None:
            time.sleep(POLL_S)

    def _await_active(self, name: str) -> None:
        if self._settled(name) is None:
            raise UnpreparedError(f"{name} is not there")

    def _settled(self, name: str) -> dict[str, Any] | None:
        """Return the description of a table once nothing of it changes any more; None if it is not there."""
        while (description := self._description(name)) is not None:
            states = [index["IndexStatus"] for index in description.get("GlobalSecondaryIndexes", ())]
            if {description["TableStatus"], *states} == {"ACTIVE"}:
                break
            time.sleep(POLL_S)
        return description

    def _description(self, name: str) -> dict[str, Any] | None:
        reply = self._transport.send("DescribeTable", {"TableName": name})
        description: dict[str, Any] | None = reply.body.get("Table") if reply.code is None else None
        return description

    def _require(self, operation: str, request: dict[str, Any]) -> Reply:
        reply = self._send(operation, request)
        if reply.code is not None:
            raise UnpreparedError(f"{operation} was refused: {reply.code}: {reply.message}")
        return reply

    def _send(self, operation: str, request: dict[str, Any]) -> Reply:
        reply = self._transport.send(operation, self._resolved(request))
        self._answers[operation] = reply.body
        return reply

    def _resolved(self, value: Any) -> Any:
        """Return a value of a request with what earlier answers have in it."""
        if isinstance(value, Earlier):
            try:
                return value.within(self._answers[value.operation])
            except (LookupError, TypeError) as error:
                raise UnpreparedError(f"the answer to {value.operation} lacks {value.path}") from error
        if isinstance(value, dict):
            return {name: self._resolved(inner) for name, inner in value.items()}
        return [self._resolved(inner) for inner in value] if isinstance(value, list) else value


def _refusal_differences(expected: Refusal, reply: Reply) -> Iterator[str]:
    if reply.code is None:
        yield f"accepted instead of {expected.code}: {expected.message}, with {reply.body!r}"
        return
    if reply.code != expected.code:
        yield f"code: expected {expected.code}, got {reply.code}"
    if reply.status != expected.status:
        yield f"status: expected {expected.status}, got {reply.status}"
    yield from differences(expected.message, reply.message, "message")
    yield from differences(expected.members, reply.members)
