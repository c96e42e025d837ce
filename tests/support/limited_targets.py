"""Endpoints that lack what others have: the real server, with some operations refused as unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from singletable import Database
from singletable.client import Call, EmbeddedClient
from singletable.client.calls import Answer
from singletable.client.capabilities import Capabilities
from singletable.errors import DatabaseError, UnknownOperationError
from singletable.metrics import MetricsSnapshot
from singletable.server import BackgroundServer
from singletable.storage.write_groups import OpenGroup
from singletable.wire.answers import WireAnswer
from singletable.wire.execution import Execution

TRANSACTIONS = frozenset({"TransactWriteItems", "TransactGetItems"})
# What ScyllaDB's Alternator does not know (its docs/alternator/compatibility.md).
UNKNOWN_TO_ALTERNATOR = TRANSACTIONS | {
    "CreateBackup", "DeleteBackup", "DescribeBackup", "ListBackups", "RestoreTableFromBackup",
    "RestoreTableToPointInTime", "UpdateContinuousBackups",
}  # fmt: skip


class LimitedDatabase:
    """What a server needs of a database; operations that it is not to know are answered as unknown."""

    def __init__(self, database: Database, unknown: frozenset[str]) -> None:
        self._database = database
        self._unknown = unknown

    @property
    def is_in_memory(self) -> bool:
        return self._database.is_in_memory

    def trouble(self) -> DatabaseError | None:
        return self._database.trouble()

    def metrics(self) -> MetricsSnapshot:
        return self._database.metrics()

    def refused(self, *, throttled: bool) -> None:
        self._database.refused(throttled=throttled)

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        return self.refusal(operation) or self._database.answer(operation, body)

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        return self.refusal(operation) or self._database.begin(operation, body)

    def apply_writes(self, waiting: Sequence[Execution]) -> OpenGroup[Any] | None:
        return self._database.apply_writes(waiting)

    def commit_writes(self, waiting: Sequence[Execution], group: OpenGroup[Any]) -> list[WireAnswer]:
        return self._database.commit_writes(waiting, group)

    def answer_writes(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
        return self._database.answer_writes(waiting)

    def refusal(self, operation: str) -> WireAnswer | None:
        if operation not in self._unknown:
            return None
        code = "com.amazonaws.dynamodb.v20120810#UnknownOperationException"
        message = f"Unsupported operation {operation}"
        return WireAnswer(400, orjson.dumps({"__type": code, "message": message}))


class ForgetfulDatabase(LimitedDatabase):
    """Takes some settings and forgets them, and refuses others in an UpdateTable. Both by their parameters.

    ExtendDB 0.1.0 forgets the SSESpecification of a new table, refuses it afterwards, and has everything else that
    tells it from DynamoDB Local.
    """

    def __init__(
        self,
        database: Database,
        *,
        forgets: frozenset[str] = frozenset(),
        refuses: frozenset[str] = frozenset(),
        unknown: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(database, unknown)
        self._forgets = forgets
        self._refuses = refuses

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        return self.refusal(operation) or self._altered(operation, body) or super().answer(operation, body)

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        return self.refusal(operation) or self._altered(operation, body) or super().begin(operation, body)

    def _altered(self, operation: str, body: bytes) -> WireAnswer | None:
        params = orjson.loads(body)
        if operation in ("CreateTable", "UpdateTable") and self._refuses & params.keys():
            code = "com.amazon.coral.validate#ValidationException"
            refused = ", ".join(sorted(self._refuses & params.keys()))
            return WireAnswer(400, orjson.dumps({"__type": code, "message": f"Unsupported: {refused}"}))
        match operation:
            case "CreateTable":
                return self._database.answer(operation, orjson.dumps(self._forgotten(params)))
            case "UpdateTable" if (kept := self._forgotten(params)) != params:
                if len(kept) > 1:
                    return self._database.answer(operation, orjson.dumps(kept))
                described = self._database.describe_table(TableName=params["TableName"])
                answer = {"TableDescription": described["Table"]}
                return WireAnswer(200, orjson.dumps(answer, default=str))
            case "TagResource" if "Tags" in self._forgets:
                return WireAnswer(200, b"{}")
            case "UpdateContinuousBackups" if "PointInTimeRecoverySpecification" in self._forgets:
                return self._database.answer(
                    "DescribeContinuousBackups", orjson.dumps({"TableName": params["TableName"]})
                )
            case _:
                return None

    def _forgotten(self, params: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in params.items() if name not in self._forgets}
        if "Projection" in self._forgets:
            for index in kept.get("GlobalSecondaryIndexes", ()):
                index["Projection"] = {"ProjectionType": "ALL"}
        return kept


@contextmanager
def forgetful_endpoint(database: Database, **settings: frozenset[str]) -> Iterator[str]:
    """Serve a database that forgets or refuses some settings; yield the URL."""
    with BackgroundServer(ForgetfulDatabase(database, **settings)) as address:
        yield address.url


@contextmanager
def limited_endpoint(database: Database, unknown: frozenset[str] = TRANSACTIONS) -> Iterator[str]:
    """Serve a database without some operations; yield the URL."""
    with BackgroundServer(LimitedDatabase(database, unknown)) as address:
        yield address.url


class LimitedClient(EmbeddedClient):
    """A database in the process without transactions: whoever asks for one all the same is refused."""

    def __init__(self, database: Database, unknown: frozenset[str] = TRANSACTIONS, **more: Any) -> None:
        limited = Capabilities(transactions=not unknown & TRANSACTIONS)
        super().__init__(database, owns=False, capabilities=limited, **more)
        self._unknown = unknown
        self.calls: list[Call] = []

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        self.calls.append(Call(operation, dict(params)))
        if operation in self._unknown:
            raise UnknownOperationError(f"Unsupported operation {operation}")
        return super().call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        return [self.call(call.operation, call.params) for call in calls]
