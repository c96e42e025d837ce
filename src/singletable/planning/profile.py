"""A profile: what a table really has of each entity. A plan that is given one reckons with real sizes.

Items are told apart by the discriminator. Locks of unique values are counted with the entity that owns them, and
items of no entity by themselves. Sizes are those of AWS's guide ("DynamoDB item sizes and formats"): names and
values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from singletable.blueprint import Blueprint, EntityBlueprint, IndexBlueprint, UniqueBlueprint
from singletable.client import Call, Client, Steps
from singletable.client.calls import read_units
from singletable.planning.amounts import NOTHING, Amount
from singletable.planning.fields import links
from singletable.planning.sizes import EntityProfile, LockProfile
from singletable.values.sizes import text_bytes, value_bytes

Item = Mapping[str, Any]  # {"PK": {"S": "USER#u1"}}

LOCK: Final = "$unique"  # the discriminator of locks
_PAGE_ITEMS: Final = 1_000
_PLACEHOLDER: Final = re.compile(r"\{\w+(?::[^{}]*)?\}")


class TableProfile(Mapping[str, EntityProfile]):
    """The profile of each entity, by its name; `others` are items of none of them: their number and size."""

    def __init__(self, entities: Mapping[str, EntityProfile], others: LockProfile) -> None:
        self._entities = dict(entities)
        self.others = others

    def __getitem__(self, name: str) -> EntityProfile:
        return self._entities[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities)

    def __len__(self) -> int:
        return len(self._entities)


class Pacing(Protocol):
    """How fast a table may be read: `singletable.migrate.pacing.Pacer` is one."""

    def page_items(self, most: int) -> int: ...
    def pay(self, *, units: float, items: int) -> Steps[None]: ...


def profile_items(blueprint: Blueprint, items: Iterable[Item]) -> TableProfile:
    """Profile items in DynamoDB's JSON. An entity of which there are none has a count of 0."""
    tally = _Tally(blueprint)
    for item in items:
        tally.add(item)
    return tally.profile()


def profile_table(
    client: Client, blueprint: Blueprint, table: str, *, pacing: Pacing | None = None
) -> TableProfile:
    """Read a whole table, page by page and no faster than told, and profile its items. Nothing is written."""
    return client.run(_read(blueprint, table, pacing))


def _read(blueprint: Blueprint, table: str, pacing: Pacing | None) -> Steps[TableProfile]:
    tally = _Tally(blueprint)
    start: Any = None
    while True:
        most = _PAGE_ITEMS if pacing is None else pacing.page_items(_PAGE_ITEMS)
        params = {"TableName": table, "Limit": most, "ReturnConsumedCapacity": "TOTAL"}
        if start is not None:
            params["ExclusiveStartKey"] = start
        answer = yield Call("Scan", params)
        for item in answer["Items"]:
            tally.add(item)
        start = answer.get("LastEvaluatedKey")
        if start is None:
            return tally.profile()
        if pacing is not None:
            yield from pacing.pay(units=read_units(answer), items=len(answer["Items"]))


# --- counting -------------------------------------------------------------------------------------------


class _Sizes:
    """Sizes as they come: their number, the smallest, the sum, the largest."""

    __slots__ = ("count", "high", "low", "sum")

    def __init__(self) -> None:
        self.count, self.low, self.sum, self.high = 0, 0, 0, 0

    def add(self, size: int) -> None:
        self.low = size if self.count == 0 else min(self.low, size)
        self.high = max(self.high, size)
        self.sum += size
        self.count += 1

    def amount(self) -> Amount:
        return Amount(self.low, self.sum / self.count, self.high) if self.count else NOTHING

    def profile(self) -> LockProfile:
        return LockProfile(self.count, self.amount())


class _Entity:
    """What was seen of an entity."""

    def __init__(self) -> None:
        self.items = _Sizes()
        self.copies: dict[str, _Sizes] = {}
        self.partitions: dict[str | None, Counter[str]] = {None: Counter()}
        self.parents: dict[str, Counter[str]] = {}
        self.locks: dict[str, _Sizes] = {}

    def profile(self, counts: Mapping[str, int]) -> EntityProfile:
        count = self.items.count
        return EntityProfile(
            count,
            self.items.amount(),
            {index: sizes.amount() for index, sizes in self.copies.items()},
            {index: sizes.count / count for index, sizes in self.copies.items()} if count else {},
            {index: _spread(held) for index, held in self.partitions.items() if held},
            {name: _belonging(held, counts[name]) for name, held in self.parents.items()},
            {name: sizes.profile() for name, sizes in self.locks.items()},
        )


def _spread(held: Counter[str]) -> Amount:
    return Amount(min(held.values()), held.total() / len(held), max(held.values()))


def _belonging(held: Counter[str], parents: int) -> Amount:
    """Return how many items a parent has. Parents that nobody names have none."""
    if not held:
        return NOTHING
    parents = max(parents, len(held))
    return Amount(
        min(held.values()) if len(held) == parents else 0, held.total() / parents, max(held.values())
    )


class _Tally:
    """Counts items, one after the other; it keeps none of them."""

    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint
        self._keys = tuple(filter(None, (blueprint.table.pk, blueprint.table.sk)))
        self._entities = {entity.name: _Entity() for entity in blueprint.entities}
        self._named = {
            name: entity.name for entity in blueprint.entities for name in (*entity.was, entity.discriminator)
        }
        self._projected = {index.name: self._projection(index) for index in blueprint.indexes}
        self._uniques = [
            (entity, unique, _constant(unique)) for entity in blueprint.entities for unique in entity.uniques
        ]
        self._links: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for child, parent, fields in links(blueprint):
            stored = {each.name: each.stored for each in child.attributes}
            named = (parent.name, tuple(stored[name] for name in fields))
            self._links.setdefault(child.name, []).append(named)
            self._entities[child.name].parents[parent.name] = Counter()
        self._others = _Sizes()

    def add(self, item: Item) -> None:
        sizes = {name: text_bytes(name) + value_bytes(value) for name, value in item.items()}
        kind = item.get(self._blueprint.discriminator or "", {}).get("S", "")
        if kind == LOCK and (owner := self._owner(item)) is not None:
            entity, unique = owner
            self._entities[entity.name].locks.setdefault(unique.name, _Sizes()).add(sum(sizes.values()))
        elif (name := self._named.get(kind)) is not None:
            self._count(self._entities[name], item, sizes)
            for parent, fields in self._links.get(name, ()):
                self._entities[name].parents[parent][str([item.get(each) for each in fields])] += 1
        else:
            self._others.add(sum(sizes.values()))

    def profile(self) -> TableProfile:
        counts = {name: entity.items.count for name, entity in self._entities.items()}
        found = {name: entity.profile(counts) for name, entity in self._entities.items()}
        return TableProfile(found, self._others.profile())

    def _count(self, seen: _Entity, item: Item, sizes: Mapping[str, int]) -> None:
        seen.items.add(sum(sizes.values()))
        seen.partitions[None][str(item.get(self._blueprint.table.pk))] += 1
        for index in self._blueprint.indexes:
            # An item is in an index only if it has all of the index's key attributes (AWS guide, "Take advantage
            # of sparse indexes").
            if any(name not in item for name in (*index.pk, *index.sk)):
                continue
            projected = self._projected[index.name]
            held = sum(size for name, size in sizes.items() if projected is None or name in projected)
            seen.copies.setdefault(index.name, _Sizes()).add(held)
            pk = str([item[name] for name in index.pk])
            seen.partitions.setdefault(index.name, Counter())[pk] += 1

    def _projection(self, index: IndexBlueprint) -> frozenset[str] | None:
        """Return the attributes that an index holds; None for all of them."""
        if index.projection == "ALL":
            return None
        included = index.included if index.projection == "INCLUDE" else ()
        return frozenset((*self._keys, *index.pk, *index.sk, *included))

    def _owner(self, item: Item) -> tuple[EntityBlueprint, UniqueBlueprint] | None:
        """Find the unique value that a lock is of: by the constant text of its key."""
        text = str(item.get(self._keys[0], {}).get("S", ""))
        fitting = [each for each in self._uniques if text.startswith(each[2])]
        best = max(fitting, key=lambda each: len(each[2]), default=None)
        return None if best is None else best[:2]


def _constant(unique: UniqueBlueprint) -> str:
    return _PLACEHOLDER.split(unique.template, maxsplit=1)[0].replace("{{", "{").replace("}}", "}")
