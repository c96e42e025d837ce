"""Which items of a table a picture shows: some collections of each kind, each with its first items.

Everything is bounded: the items that are looked at, the collections, the items of each, and the counting.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from singletable.client import Call, Steps, Together
from singletable.design.values.items import Item

_PAGES_MAX: Final = 20  # of one scan, however short they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a table is read for each view, and how much of that is shown."""

    scanned_max: int = 1000  # items, to find collections
    collections_max: int = 12
    alike_max: int = 2  # collections with the same template
    items_max: int = 100  # of a collection, that are read
    rows_max: int = 12  # of them, that are shown
    rows_alike_max: int = 3  # of one entity behind each other


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where to read: a table or an index of it, and the attributes of its keys."""

    table: str
    index: str | None
    partition: tuple[str, ...]
    wanted: tuple[str, ...]  # attributes that tell the entity of an item

    def params(self) -> dict[str, Any]:
        """Return the parameters that all requests to this place share."""
        return {"TableName": self.table, **({} if self.index is None else {"IndexName": self.index})}


@dataclass(frozen=True, slots=True)
class FoundCollection:
    """A collection: its partition key, its first items, and how many more there are."""

    partition: Item
    kind: int
    items: tuple[Item, ...]
    more_count: int = 0
    is_counted: bool = True  # otherwise there are more than that


@dataclass(frozen=True, slots=True)
class Sample:
    """Collections of a place, in the order of their kinds."""

    found: tuple[FoundCollection, ...]
    hidden_count: int  # collections that were seen, and are not among them
    scanned_count: int
    is_whole: bool  # whether all items were looked at


def sample_items(place: KeyPlace, kind_of: Callable[[Item], int], limits: Limits) -> Steps[Sample]:
    """Read some collections of each kind."""
    partitions, scanned_count, is_whole = yield from _partitions(place, kind_of, limits)
    chosen = _chosen(partitions, limits)
    found = yield from _read(place, chosen, limits)
    return Sample(tuple(found), len(partitions) - len(chosen), scanned_count, is_whole)


Partition = tuple[int, Item]  # its kind, and its key


def _partitions(
    place: KeyPlace, kind_of: Callable[[Item], int], limits: Limits
) -> Steps[tuple[list[Partition], int, bool]]:
    names = {f"#n{number}": name for number, name in enumerate(place.wanted)}
    params = place.params() | {
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": names,
    }
    seen: dict[str, Partition] = {}
    count = 0
    for _ in range(_PAGES_MAX):
        answer = yield Call("Scan", {**params, "Limit": limits.scanned_max - count})
        for item in answer.get("Items", ()):
            key = {name: item[name] for name in place.partition}
            seen.setdefault(json.dumps(key, sort_keys=True, default=repr), (kind_of(item), key))
        count += len(answer.get("Items", ()))
        if "LastEvaluatedKey" not in answer:
            return list(seen.values()), count, True
        if count >= limits.scanned_max:
            break
        params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return list(seen.values()), count, False


def _chosen(partitions: list[Partition], limits: Limits) -> list[Partition]:
    """Choose some of each kind. One of every kind comes before a second of any, as far as there is room."""
    places: dict[int, int] = {}
    numbered: list[tuple[int, Partition]] = []
    for kind, key in partitions:
        places[kind] = places.get(kind, 0) + 1
        if places[kind] <= limits.alike_max:
            numbered.append((places[kind], (kind, key)))
    numbered.sort(key=lambda each: (each[0], each[1][0]))
    shown = numbered[: limits.collections_max]
    shown.sort(key=lambda each: (each[1][0], each[0]))
    return [partition for _, partition in shown]


def _read(place: KeyPlace, chosen: list[Partition], limits: Limits) -> Steps[list[FoundCollection]]:
    if not chosen:
        return []
    queries = [{**place.params(), **_condition(key), "Limit": limits.items_max} for _, key in chosen]
    answers = yield Together(tuple(Call("Query", query) for query in queries))
    found: list[FoundCollection] = []
    for (kind, key), query, answer in zip(chosen, queries, answers, strict=True):
        more, is_counted = yield from _more(query, answer)
        found.append(FoundCollection(key, kind, tuple(answer["Items"]), more, is_counted))
    return found


def _condition(key: Item) -> dict[str, Any]:
    names = {f"#k{number}": name for number, name in enumerate(key)}
    values = {f":v{number}": value for number, value in enumerate(key.values())}
    equal = " AND ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    return {
        "KeyConditionExpression": equal,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def _more(query: dict[str, Any], answer: dict[str, Any]) -> Steps[tuple[int, bool]]:
    """Count the items behind a page, in one request: a megabyte of them, or all."""
    if "LastEvaluatedKey" not in answer:
        return 0, True
    params = {name: value for name, value in query.items() if name != "Limit"}
    params |= {"Select": "COUNT", "ExclusiveStartKey": answer["LastEvaluatedKey"]}
    counted = yield Call("Query", params)
    return counted["Count"], "LastEvaluatedKey" not in counted
