"""Designs for stacks: made up from a number, with every setting that a table can have."""

from __future__ import annotations

from random import Random
from typing import Any

from singletable.blueprint import (
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyPart,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    TableBlueprint,
)

KEY = "arn:aws:kms:eu-north-1:123456789012:key/0aa0aa00-0000-0000-0000-000000000000"


def made_up(number: int) -> Blueprint:
    """Return the design of a number: another one for each."""
    random = Random(number)
    indexes = tuple(_index(random, position) for position in range(random.randint(0, 6)))
    names = {"PK", "SK"} | {name for index in indexes for name in (*index.pk, *index.sk)}
    table = _table(random, number, {name: random.choice("SSSNB") for name in sorted(names)})
    if table.billing != "PROVISIONED":
        indexes = tuple(_without_capacity(index) for index in indexes)
    return Blueprint(
        f"Design{number}",
        table,
        indexes=indexes,
        entities=(_entity(), EntityBlueprint("Free", "Free", places=(_place("FREE#{x}", None),))),
        patterns=_patterns(random, indexes),
    )


def _table(random: Random, number: int, types: dict[str, str]) -> TableBlueprint:
    is_provisioned = random.random() < 0.4
    settings: dict[str, Any] = {
        "billing": "PROVISIONED" if is_provisioned else "PAY_PER_REQUEST",
        "capacity": (random.randint(1, 50), random.randint(1, 50)) if is_provisioned else None,
        "scaling": {"read": (1, 100, 70), "write": (2, 50, 60)}
        if is_provisioned and random.random() < 0.7
        else {},
        "table_class": random.choice(["STANDARD", "STANDARD_INFREQUENT_ACCESS"]),
        "stream": random.choice([None, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]),
        "pitr_days": random.choice([None, 1, 7, 35]),
        "deletion_protection": random.random() < 0.5,
        "ttl": random.choice([None, "ttl", "expires_at"]),
        "tags": {f"tag-{each}": "value" for each in range(random.randint(0, 3))},
        "contributor_insights": random.random() < 0.3,
        "encryption": random.choice(["AWS_OWNED", "AWS_MANAGED", "CUSTOMER_MANAGED", KEY]),
    }
    if settings["encryption"] == "CUSTOMER_MANAGED":
        settings["key"] = random.choice([KEY, "alias/kitchen"])
    return TableBlueprint(f"made-up-{number}-{{stage}}", sk="SK", types=types, **settings)


def _index(random: Random, position: int) -> IndexBlueprint:
    name = random.choice(["GSI", "by-owner_", "by.day"]) + str(position)
    projection = random.choice(["ALL", "KEYS_ONLY", "INCLUDE"])
    is_local = random.random() < 0.2
    wide = random.random() < 0.3 and not is_local
    return IndexBlueprint(
        name,
        pk=("PK",)
        if is_local
        else tuple(f"{name}PK{each}" for each in range(random.randint(2, 4) if wide else 1)),
        sk=(f"{name}SK",) if is_local or random.random() < 0.8 else (),
        projection=projection,
        included=("title", "count") if projection == "INCLUDE" else (),
        capacity=(3, 4) if random.random() < 0.3 and not is_local else None,
        is_local=is_local,
    )


def _without_capacity(index: IndexBlueprint) -> IndexBlueprint:
    from dataclasses import replace

    return replace(index, capacity=None)


def _place(template: str, index: str | None) -> PlaceBlueprint:
    parts = (KeyPart("user_id", "str", "user_id"),) if "user_id" in template else ()
    return PlaceBlueprint(index or "table", KeyBlueprint(("PK",), template, parts), index=index)


def _entity() -> EntityBlueprint:
    return EntityBlueprint("Owned", "Owned", places=(_place("USER#{user_id}", None),), owner="user_id")


def _patterns(random: Random, indexes: tuple[IndexBlueprint, ...]) -> tuple[PatternBlueprint, ...]:
    operations = ["GetItem", "Query", "BatchGetItem", "Scan"]
    reads = [ReadBlueprint("Query", ("Owned",), index=index.name) for index in indexes]
    reads += [
        ReadBlueprint(each, ("Owned",))
        for each in random.sample(operations, random.randint(1, len(operations)))
    ]
    return tuple(
        PatternBlueprint(str(number), f"pattern {number}", reads=(read,))
        for number, read in enumerate(reads, 1)
    )
