"""Clients that write down what is asked: one that asks another client, and one that asks nobody."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from singletable.client import DYNAMODB, Call, Capabilities, Client
from singletable.client.base import Answer
from singletable.clock import Clock
from singletable.design.answers import read_units

_EMPTY: Final[dict[str, Answer]] = {
    "Query": {"Items": [], "Count": 0, "ScannedCount": 0},
    "BatchGetItem": {"Responses": {}},
}


@dataclass(slots=True)
class Sent:
    """A request, and what its answer says of it. Of one that was not answered there are no units."""

    operation: str
    params: Mapping[str, Any]
    units: float = 0.0
    read: int = 0
    error: str | None = None

    @property
    def index(self) -> str | None:
        found: str | None = self.params.get("IndexName")
        return found

    def data(self, table: str) -> dict[str, Any]:
        """Return it as JSON can hold it: binary values are base64."""
        return {
            "operation": self.operation,
            "table": table,
            "index": self.index,
            "params": _plain(self.params),
            "units": self.units,
            "read": self.read,
            "error": self.error,
        }


class RecordingClient(Client):
    """Asks another client, and writes down the requests in their order."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner.clock, inner.sleep, inner.random)
        self.sent: list[Sent] = []
        self._inner = inner

    @property
    def capabilities(self) -> Capabilities:
        return self._inner.capabilities

    @property
    def is_trusted(self) -> bool:
        return self._inner.is_trusted

    def lacks(self, feature: str) -> None:
        self._inner.lacks(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        sent = self._add(operation, params)
        try:
            answer = self._inner.call(operation, params)
        except Exception as error:
            sent.error = type(error).__name__
            raise
        return _answered(sent, answer)

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self.call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        sent = [self._add(call.operation, call.params) for call in calls]
        try:
            answers = self._inner.call_together(calls)
        except Exception as error:
            for each in sent:  # which of them it was, nobody says
                each.error = type(error).__name__
            raise
        return [_answered(each, answer) for each, answer in zip(sent, answers, strict=True)]

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        return self.call_together(calls)

    def close(self) -> None:
        self._inner.close()

    def _add(self, operation: str, params: Mapping[str, Any]) -> Sent:
        self.sent.append(Sent(operation, dict(params)))
        return self.sent[-1]


class DryClient(Client):
    """Asks nobody: answers as a table without items would, in which every write succeeds."""

    def __init__(self, clock: Clock, capabilities: Capabilities = DYNAMODB) -> None:
        super().__init__(clock)
        self.sent: list[Sent] = []
        self._capabilities = capabilities

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def is_trusted(self) -> bool:
        return False

    def lacks(self, feature: str) -> None:
        self._capabilities = self._capabilities.without(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        self.sent.append(Sent(operation, dict(params)))
        return dict(_EMPTY.get(operation, {}))

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self.call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        return [self.call(call.operation, call.params) for call in calls]

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        return self.call_together(calls)

    def close(self) -> None:
        """Close nothing: nothing was opened."""


def _answered(sent: Sent, answer: Answer) -> Answer:
    sent.units = read_units(answer)
    items = answer.get("Items", ())
    found = sum(map(len, answer.get("Responses", {}).values())) if sent.operation == "BatchGetItem" else 0
    sent.read = answer.get("ScannedCount", len(items)) + found + int("Item" in answer)
    return answer


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _plain(member) for name, member in value.items()}
        case list() | tuple():
            return [_plain(member) for member in value]
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value
