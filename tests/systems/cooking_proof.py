"""An open Smart Cooking with its world in it, whose patterns are proved."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeAlias

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import Recipe
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.opened_designs import call, opened_design, store_all, stored_items
from systems.cooking_brute_force import CookingBruteForce
from systems.cooking_traps import NOW
from systems.cooking_world import as_stored, make_world, uses_of
from systems.pattern_proof import PatternProof, proved

Proof: TypeAlias = PatternProof[SmartCooking, CookingBruteForce]


def opened_proof(target: str) -> AbstractContextManager[Proof]:
    """Open a Smart Cooking on a fresh target, and fill it."""
    return proved(SmartCooking, target, NOW, fill, environment="test")


def fill(db: SmartCooking) -> CookingBruteForce:
    """Bring the items of the world into a table."""
    store_all(db, written_items())
    return CookingBruteForce(as_stored(make_world().entities), NOW)


@cache
def written_items() -> list[dict[str, Any]]:
    """Write the world one by one, as users would; what only the stream brings about is loaded."""
    world = make_world()
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened_design(SmartCooking, "embedded", clock, environment="test") as db:
        for entity in world.entities:
            db.create(entity)
        db.load(uses_of(each for each in as_stored(world.entities) if isinstance(each, Recipe)))
        assert db.verify().differences == ()
        for item in world.strangers:
            call(db, "PutItem", Item=item)
        return stored_items(db)
