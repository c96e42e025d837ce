"""Systems on made-up data, with a meter before them: what they take is held against what was predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from singletable.blueprint import Blueprint, EntityBlueprint
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.design import Design, Entity
from singletable.design.model.entity import STORED
from singletable.design.plans.get import Get
from singletable.errors import ApiError, DesignError
from singletable.planning.amounts import NOTHING, Amount
from singletable.planning.profile import TableProfile
from singletable.planning.sizes import EntityProfile, LockProfile
from singletable.systems import System, installed_systems
from support.design_clients import on_client
from support.metered import Bill, Meter

DAY = date(2026, 3, 4)
NOON = datetime.combine(DAY, time(12), UTC)

Item = dict[str, Any]


@dataclass
class World:
    """An open design over a meter, with data in it."""

    db: Any
    meter: Meter
    blueprint: Blueprint

    @property
    def table(self) -> str:
        return str(self.db._session.table)

    def items(self) -> list[Item]:
        """Return all items, without a bill."""
        found: list[Item] = []
        start: Any = None
        while True:
            params = {"TableName": self.table} | ({} if start is None else {"ExclusiveStartKey": start})
            answer = self.meter.inner.call("Scan", params)
            found += answer["Items"]
            start = answer.get("LastEvaluatedKey")
            if start is None:
                return found

    def sizes(self) -> dict[str | None, int]:
        """Return what the engine counts: the bytes of the table (None) and of each index."""
        told = self.meter.inner.call("DescribeTable", {"TableName": self.table})["Table"]
        found: dict[str | None, int] = {None: told["TableSizeBytes"]}
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            found |= {each["IndexName"]: each["IndexSizeBytes"] for each in told.get(kind, ())}
        return found


def opened(design: type[Design], blueprint: Blueprint, **environment: str) -> World:
    """Open a design in memory, at midnight of the day."""
    clock = ManualClock(int(datetime.combine(DAY, time(), UTC).timestamp() * 1_000_000))
    meter = Meter(open_client(":memory:", clock=clock, sleep=lambda seconds: None))
    return World(on_client(design, meter, makes_table=True, **environment), meter, blueprint)


def seeded(name: str) -> tuple[System, World]:
    """Open a system with its small data."""
    system = installed_systems()[name]
    world = opened(system.design, system.blueprint(), **system.environment)
    seed = system.seed("small", DAY)
    world.db.load(iter(seed.entities), settled=seed.is_settled)
    return system, world


def widest(profiles: Sequence[TableProfile]) -> dict[str, EntityProfile]:
    """Return a profile whose ranges hold those of a table at several moments, with the means of the first."""
    found: dict[str, EntityProfile] = {}
    for name, first in profiles[0].items():
        others = [profile[name] for profile in profiles if profile[name].count]
        if not others:
            found[name] = first
            continue
        locks = {key: lock.size for each in others for key, lock in each.locks.items()}
        shares = [(index, share) for each in others for index, share in each.shares.items()]
        found[name] = EntityProfile(
            others[0].count,
            _wide([each.item for each in others]),
            {key: _wide([each.copies[key] for each in others if key in each.copies]) for key, _ in shares},
            {key: _share([share for index, share in shares if index == key]) for key, _ in shares},
            {
                key: _wide([each.together[key] for each in others if key in each.together])
                for each in others
                for key in each.together
            },
            {key: _wide([each.per.get(key, NOTHING) for each in others]) for key in first.per},
            {key: LockProfile(others[0].count, size) for key, size in locks.items()},
        )
    return found


def _share(shares: Sequence[float]) -> float:
    """Return a share that did not change; where it did, one of which some are in the index and some are not."""
    return shares[0] if len(set(shares)) == 1 else 0.5


def _wide(amounts: Sequence[Amount]) -> Amount:
    low, high = min(each.low for each in amounts), max(each.high for each in amounts)
    return Amount(low, amounts[0].mean, high)


# --- writes of any entity -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A write that was made, and what it took."""

    kind: Any
    entity: EntityBlueprint
    fields: tuple[str, ...]
    bill: Bill

    def __str__(self) -> str:
        return f"{self.kind} {self.entity.name} {', '.join(self.fields)}"


class Writer:
    """Writes entities of a world: each of their fields by itself, and whole ones."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._catalog = world.db._session.catalog
        self._schemas = {schema.entity.__name__: schema for schema in self._catalog.schemas.values()}
        self._kind = world.blueprint.discriminator or ""

    def updates(self) -> Iterator[Written]:
        """Change each field of an item of each entity: as it was read, and then by its key alone."""
        for entity in self.world.blueprint.entities:
            if entity.derived is None and (item := self._some(entity)) is not None:
                yield from self._updated(entity, item)

    def deletes_and_creates(self) -> Iterator[Written]:
        """Delete an item of each entity, owners last, and make it again."""
        entities = sorted(self.world.blueprint.entities, key=lambda each: len(each.owns))
        for entity in entities:
            if entity.derived is None and (item := self._some(entity)) is not None:
                yield from self._again(entity, item)

    def _some(self, entity: EntityBlueprint) -> Item | None:
        found = [item for item in self.world.items() if item[self._kind]["S"] == entity.discriminator]
        return found[len(found) // 2] if found else None

    def _read(self, entity: EntityBlueprint, item: Item) -> Entity:
        found: Entity = self._schemas[entity.name].to_entity(item)
        found.__dict__[STORED] = item
        return found

    def _stored(self, item: Item) -> Item:
        key = {name: item[name] for name in self._catalog.key_names}
        answer = self.world.meter.inner.call(
            "GetItem", {"TableName": self.world.table, "Key": key, "ConsistentRead": True}
        )
        return dict(answer["Item"])

    def _updated(self, entity: EntityBlueprint, item: Item) -> Iterator[Written]:
        for field in self._schemas[entity.name].entity.model_fields:
            for is_by_key in (False, True):
                read: Any = self._read(entity, self._stored(item))
                target = Get(type(read), *read.key) if is_by_key else read
                for value in _other_values(getattr(read, field)):
                    try:
                        with self.world.meter.bill() as bill:
                            self.world.db.update(target, {field: value})
                    except (ApiError, DesignError, TypeError, ValueError):
                        continue  # the field cannot be changed, or not to that
                    yield Written("update", entity, (field,), bill)
                    break

    def _again(self, entity: EntityBlueprint, item: Item) -> Iterator[Written]:
        schema = self._schemas[entity.name]
        read = self._read(entity, self._stored(item))
        counted = {each.field for each in entity.aggregates} | {each.field for each in entity.copies}
        left_out = counted | {entity.version or ""}
        values = {name: getattr(read, name) for name in schema.entity.model_fields if name not in left_out}
        with self.world.meter.bill() as bill:
            self.world.db.delete(read)
        yield Written("delete", entity, (), bill)
        new = schema.entity(**values)
        try:
            with self.world.meter.bill() as bill:
                self.world.db.create(new)
        except DesignError:
            return  # what it belongs to was not there, or is of another day
        yield Written("create", entity, (), bill)


_TEXTS = (
    *("active", "ready", "archived", "public", "private", "friends", "accepted", "pending", "approved"),
    *("like", "love", "PUBLISHED", "DRAFT", "ARCHIVED", "sent", "cancelled", "completed", "manual"),
)


def _other_values(value: Any) -> Iterator[Any]:
    """Yield values that a field may have instead."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (each for each in type(value) if each != value)
        case str():
            yield from (text for text in (value + "x", value[:-1], *_TEXTS) if text != value)
        case int() | float() | Decimal():
            yield from (value + 1, value - 1)
        case datetime():
            yield value + timedelta(hours=1)
        case date():
            yield value + timedelta(days=1)
        case list() if value:
            yield from (value[:-1], value * 2)
        case None:
            yield from ("x", 1, NOON, True, DAY)
        case _:
            return
