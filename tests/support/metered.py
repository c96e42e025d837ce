"""A client that writes down what each request took, by the table and each index, and which items it read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from singletable.client import Call, Client
from singletable.client.calls import Answer
from singletable.values.sizes import item_bytes
from support.design_clients import Between

READS = frozenset({"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})
METERED = READS | {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
_SHOWN = ("FilterExpression", "ProjectionExpression", "Select")  # they change what is shown, not what is read


@dataclass(frozen=True)
class Metered:
    """A request, what it took of the table (None) and of each index, and the sizes of the items that it read."""

    call: Call
    units: Mapping[str | None, float]
    sizes: tuple[int, ...] = ()

    @property
    def is_read(self) -> bool:
        return self.call.operation in READS

    @property
    def total(self) -> float:
        return sum(self.units.values())


@dataclass
class Bill:
    """What was asked while it was kept."""

    requests: list[Metered] = field(default_factory=list)

    @property
    def reads(self) -> float:
        return sum(each.total for each in self.requests if each.is_read)

    @property
    def writes(self) -> float:
        return sum(each.total for each in self.requests if not each.is_read)

    def written(self, index: str | None) -> float:
        return sum(each.units.get(index, 0.0) for each in self.requests if not each.is_read)


class Meter(Between):
    """Writes down what each request took. `with meter.bill() as bill` keeps those of a block."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner)
        self._bills: list[Bill] = []

    @contextmanager
    def bill(self) -> Iterator[Bill]:
        made = Bill()
        self._bills.append(made)
        try:
            yield made
        finally:
            self._bills.remove(made)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        if operation not in METERED or not self._bills:
            return self.inner.call(operation, params)
        asked = {**params, "ReturnConsumedCapacity": "INDEXES"}
        answer = self.inner.call(operation, asked)
        call = Call(operation, dict(params))
        found = Metered(call, _units(answer), tuple(self._sizes(call, answer)))
        for bill in self._bills:
            bill.requests.append(found)
        return answer

    def _sizes(self, call: Call, answer: Answer) -> Iterator[int]:
        """Yield the sizes of all items that a request has read; where it shows less, they are asked for whole."""
        params = call.params
        match call.operation:
            case "GetItem":
                whole = answer
                if "ProjectionExpression" in params:
                    asked = {name: params[name] for name in ("TableName", "Key")}
                    whole = self.inner.call("GetItem", asked)
                yield item_bytes(whole.get("Item", {}))
            case "BatchGetItem":
                for name, keys in params["RequestItems"].items():
                    for key in keys["Keys"]:
                        found = self.inner.call("GetItem", {"TableName": name, "Key": key})
                        yield item_bytes(found.get("Item", {}))
            case "Query" | "Scan":
                if answer.get("ScannedCount"):
                    whole = self.inner.call(call.operation, _unfiltered(params, answer["ScannedCount"]))
                    yield from map(item_bytes, whole["Items"])
            case _:
                return


def _unfiltered(params: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return a query of so many items, whole and without a filter."""
    asked = {name: value for name, value in params.items() if name not in _SHOWN} | {"Limit": count}
    used = set(re.findall(r"[#:]\w+", str(params.get("KeyConditionExpression", ""))))
    for kind in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        named = {name: value for name, value in asked.pop(kind, {}).items() if name in used}
        if named:
            asked[kind] = named
    return asked


def _units(answer: Answer) -> dict[str | None, float]:
    found: dict[str | None, float] = {}
    consumed = answer.get("ConsumedCapacity") or []
    for each in consumed if isinstance(consumed, list) else [consumed]:
        found[None] = found.get(None, 0.0) + each.get("Table", {}).get("CapacityUnits", 0.0)
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            for name, part in each.get(kind, {}).items():
                found[name] = found.get(name, 0.0) + part["CapacityUnits"]
    return found
