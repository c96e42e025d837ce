"""What requests must cost, computed from the sizes of the items that they read. No engine is asked.

A page ends with its Limit, or with the item that brings it to 1 MB; it is paid for in blocks of 4 KB, half a unit
each, a whole one where the read is consistent (AWS guide, "DynamoDB read and write operations").
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from singletable.client import Call
from singletable.design.values.items import item_bytes
from singletable.values.sizes import stored_item_bytes

Item = Mapping[str, Any]
Place = tuple[str, str]  # the texts of PK and SK

PAGE_BYTES = 1024 * 1024
LARGE_ITEMS_MAX = 32  # a page of no more ends by what is stored of them, one of more by their sizes
BLOCK_BYTES = 4096


@dataclass(frozen=True)
class Cost:
    """Units, and the number of items that were read."""

    units: float
    read: int


def place_of(item: Item) -> Place:
    return item["PK"]["S"], item["SK"]["S"]


def stored_bytes(item: Item, sort: str) -> int:
    """Return what is stored of an item, as it was recorded (values/sizes.py)."""
    texts = json.loads(json.dumps(item, default=lambda value: b64encode(value).decode()))
    return stored_item_bytes(texts, {sort})


def is_full(items: int, page_bytes: int, stored: int, *, is_local: bool) -> bool:
    """Tell whether a page ends behind so many items, of these sizes. DynamoDB Local goes by the sizes alone."""
    if is_local or items > LARGE_ITEMS_MAX:
        return page_bytes >= PAGE_BYTES
    return stored >= PAGE_BYTES


def block_units(read_bytes: int, *, consistent: bool = False) -> float:
    """Return the units of one request that reads so many bytes."""
    blocks = max(1, math.ceil(read_bytes / BLOCK_BYTES))
    return blocks * (1.0 if consistent else 0.5)


class Costs:
    """Computes what requests cost on a table. DynamoDB Local asks nothing for a page without items."""

    def __init__(self, items: Iterable[Item], *, is_local: bool) -> None:
        self._is_local = is_local
        self._empty_page_units = 0.0 if is_local else 0.5
        self._items = {place_of(item): item for item in items}
        self._bytes = {place: item_bytes(dict(item)) for place, item in self._items.items()}
        self._partitions: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
        for item in self._items.values():
            for partition, sort in _INDEXES.values():
                if partition in item and sort in item:
                    self._partitions[partition, item[partition]["S"]].append(item)
        self._ordered: dict[tuple[KeyCondition, bool], list[Item]] = {}
        self._stored_bytes: dict[tuple[Place, str], int] = {}

    def of(self, calls: Sequence[Call], ranks: Mapping[Place, int]) -> Cost:
        """Add up calls. `ranks` tells the order of items that an index holds under one key."""
        costs = [self._of(call, ranks) for call in calls]
        return Cost(sum(cost.units for cost in costs), sum(cost.read for cost in costs))

    def _of(self, call: Call, ranks: Mapping[Place, int]) -> Cost:
        consistent = call.params.get("ConsistentRead", False)
        if call.operation == "GetItem":
            size = self._bytes.get(place_of(call.params["Key"]))
            return Cost(block_units(size or 0, consistent=consistent), int(size is not None))
        if call.operation == "BatchGetItem":
            return self._of_batch(call.params)
        assert call.operation == "Query"
        page = self._page(call.params, ranks)
        if not page:
            return Cost(self._empty_page_units * (2 if consistent else 1), 0)
        size = sum(self._bytes[place_of(item)] for item in page)
        return Cost(block_units(size, consistent=consistent), len(page))

    def _of_batch(self, params: Mapping[str, Any]) -> Cost:
        """Each item is paid for by itself, and what is not there as a page without items."""
        cost = Cost(0.0, 0)
        for keys in params["RequestItems"].values():
            consistent = keys.get("ConsistentRead", False)
            for size in (self._bytes.get(place_of(key)) for key in keys["Keys"]):
                if size is None:
                    cost = Cost(cost.units + self._empty_page_units * (2 if consistent else 1), cost.read)
                else:
                    cost = Cost(cost.units + block_units(size, consistent=consistent), cost.read + 1)
        return cost

    def _page(self, params: Mapping[str, Any], ranks: Mapping[Place, int]) -> list[Item]:
        """Return the items that a query reads, whatever its filter makes of them."""
        rows = self._rows(params, ranks)
        start = params.get("ExclusiveStartKey")
        if start is not None:
            rows = rows[[place_of(row) for row in rows].index(place_of(start)) + 1 :]
        page: list[Item] = []
        page_bytes = stored = 0
        sort = KeyCondition.of(params).sort
        for row in rows[: params.get("Limit")]:
            page.append(row)
            page_bytes += self._bytes[place_of(row)]
            stored += self._stored(row, sort)
            if is_full(len(page), page_bytes, stored, is_local=self._is_local):
                break
        return page

    def _stored(self, item: Item, sort: str) -> int:
        name = (place_of(item), sort)
        if name not in self._stored_bytes:
            self._stored_bytes[name] = stored_bytes(item, sort)
        return self._stored_bytes[name]

    def _rows(self, params: Mapping[str, Any], ranks: Mapping[Place, int]) -> list[Item]:
        """Return what a query reads, in its order; the table stays as it is."""
        condition, forward = KeyCondition.of(params), params.get("ScanIndexForward", True)
        if (condition, forward) not in self._ordered:
            sort = condition.sort
            rows = [
                row for row in self._partitions[condition.partition, condition.pk] if condition.holds(row)
            ]
            rows.sort(key=lambda row: (row[sort]["S"].encode(), ranks.get(place_of(row), 0)))
            self._ordered[condition, forward] = rows if forward else rows[::-1]
        return self._ordered[condition, forward]


_INDEXES: dict[str | None, tuple[str, str]] = {
    None: ("PK", "SK"),
    **{f"GSI{number}": (f"GSI{number}PK", f"GSI{number}SK") for number in range(1, 6)},
}


@dataclass(frozen=True)
class KeyCondition:
    """The key condition of a query, in the four forms that patterns have."""

    partition: str
    sort: str
    pk: str
    low: str = ""
    high: str | None = None
    prefix: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> KeyCondition:
        expression = params["KeyConditionExpression"]
        names = [params["ExpressionAttributeNames"][alias] for alias in re.findall("#[0-9]+", expression)]
        values = [
            params["ExpressionAttributeValues"][alias]["S"] for alias in re.findall(":[0-9]+", expression)
        ]
        partition, sort = _INDEXES[params.get("IndexName")]
        assert names in ([partition], [partition, sort])
        match re.sub("[#:][0-9]+", "_", expression):
            case "_ = _":
                return cls(partition, sort, values[0])
            case "_ = _ AND _ = _":
                return cls(partition, sort, values[0], low=values[1], high=values[1])
            case "_ = _ AND begins_with(_, _)":
                return cls(partition, sort, values[0], prefix=values[1])
            case "_ = _ AND _ BETWEEN _ AND _":
                return cls(partition, sort, values[0], low=values[1], high=values[2])
            case other:
                raise AssertionError(other)

    def holds(self, item: Item) -> bool:
        """Tell whether an item of the partition is within the bounds."""
        sort = item[self.sort]["S"].encode()
        is_below = self.high is None or sort <= self.high.encode()
        return sort.startswith(self.prefix.encode()) and sort >= self.low.encode() and is_below


def shown_condition(params: Mapping[str, Any]) -> str:
    """Write a key condition with its names and texts in their places."""
    names: Mapping[str, str] = params["ExpressionAttributeNames"]
    values: Mapping[str, Any] = params["ExpressionAttributeValues"]

    def shown(alias: re.Match[str]) -> str:
        return names[alias[0]] if alias[0] in names else str(values[alias[0]]["S"])

    return re.sub("[#:][0-9]+", shown, params["KeyConditionExpression"])
