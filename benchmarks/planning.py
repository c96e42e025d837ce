"""The planner: how long a plan of a large design takes, 200 entities with 500 patterns; and its page."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.measure import Reading
from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyPart,
    LoadBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    TableBlueprint,
    VolumeBlueprint,
)
from singletable.planning import PlanOptions, cost_over_users, make_plan
from singletable.planning.reports.html import html

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENTITIES = 200
PATTERNS = 500
INDEXES = ("GSI1", "GSI2", "GSI3")
ATTRIBUTES = 12
ROUNDS = 7
QUICK_ROUNDS = 3
PLAN_S_MAX = 1.0


def large_blueprint(entities: int = ENTITIES, patterns: int = PATTERNS) -> Blueprint:
    """Return a design of this size: each entity in the table and in an index, each pattern with a load."""
    names = [f"Entity{number}" for number in range(entities)]
    return Blueprint(
        name="Large",
        table=TableBlueprint("large", sk="SK", types={"PK": "S", "SK": "S"}, pitr_days=35),
        indexes=tuple(IndexBlueprint(name, (f"{name}PK",), (f"{name}SK",)) for name in INDEXES),
        entities=tuple(_entity(name, number) for number, name in enumerate(names)),
        patterns=tuple(_pattern(number, names[number % entities]) for number in range(patterns)),
        volumes=tuple(VolumeBlueprint(name, 10, 2, per="user", upto_kb=8) for name in names),
        loads=(
            *(
                LoadBlueprint("pattern", f"pattern{number}", monthly_per_user=30)
                for number in range(patterns)
            ),
            *(LoadBlueprint("create", name, monthly_per_user=5) for name in names),
            *(LoadBlueprint("update", name, monthly_per_user=10) for name in names),
        ),
        users=1_000,
    )


def _entity(name: str, number: int) -> EntityBlueprint:
    index = INDEXES[number % len(INDEXES)]
    return EntityBlueprint(
        name=name,
        discriminator=name,
        places=(
            PlaceBlueprint("home", _key("PK", "USER#{user_id}"), _key("SK", f"{name}#{{item_id}}")),
            PlaceBlueprint(
                "by_time", _key(f"{index}PK", f"{name}#{{item_id}}"), _key(f"{index}SK", "{made_at}"), index
            ),
        ),
        attributes=(
            AttributeBlueprint("user_id", "user_id", "str"),
            AttributeBlueprint("item_id", "item_id", "str"),
            AttributeBlueprint("made_at", "made_at", "datetime"),
            *(AttributeBlueprint(f"field{each}", f"field{each}", "str") for each in range(ATTRIBUTES)),
        ),
    )


def _key(attribute: str, template: str) -> KeyBlueprint:
    fields = [each.partition("}")[0] for each in template.split("{")[1:]]
    return KeyBlueprint((attribute,), template, tuple(KeyPart(name, "str", name) for name in fields))


def _pattern(number: int, entity: str) -> PatternBlueprint:
    operation = "Query" if number % 2 else "GetItem"
    read = ReadBlueprint(operation, (entity,), pk="USER#{user_id}", limit=20 if number % 2 else None)
    return PatternBlueprint(str(number), f"Pattern {number}", method=f"pattern{number}", reads=(read,))


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Reading]:
    """Measure the plan of a large design, and its page with the cost over users."""
    blueprint = large_blueprint()
    rounds = QUICK_ROUNDS if quick else ROUNDS
    plan = make_plan(blueprint, PlanOptions(users=1_000_000))
    planned = [_seconds(lambda: make_plan(blueprint, PlanOptions(users=1_000_000))) for _ in range(rounds)]
    say("plans are measured")
    drawn = [_seconds(lambda: html(plan, cost_over_users(plan))) for _ in range(rounds)]
    say("pages are measured")
    return [
        _reading(f"a plan of {ENTITIES} entities and {PATTERNS} patterns, with heat", planned, PLAN_S_MAX),
        _reading("its page, with the cost of 11 numbers of users", drawn, None),
    ]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _reading(name: str, seconds: list[float], most: float | None) -> Reading:
    return Reading(
        name=name,
        unit="s",
        value=round(statistics.median(seconds), 3),
        low=round(min(seconds), 3),
        high=round(max(seconds), 3),
        value_max=most,
    )
