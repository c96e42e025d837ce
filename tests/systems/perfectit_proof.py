"""An open PerfectIt with its world in it, whose patterns are proved."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeAlias

from singletable.clock import ManualClock
from singletable_systems.perfectit.model.entities import CardStats, PerfectionCard
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from support.opened_designs import call, opened_design, store_all, stored_items
from systems.pattern_proof import PatternProof, proved
from systems.perfectit_brute_force import PerfectItBruteForce
from systems.perfectit_settling import scores_of, words_of
from systems.perfectit_traps import NOW
from systems.perfectit_world import make_world

Proof: TypeAlias = PatternProof[PerfectIt, PerfectItBruteForce]


def opened_proof(target: str) -> AbstractContextManager[Proof]:
    """Open a PerfectIt on a fresh target, and fill it."""
    return proved(PerfectIt, target, NOW, fill, environment="test")


def fill(db: PerfectIt) -> PerfectItBruteForce:
    """Bring the items of the world into a table."""
    store_all(db, written_items())
    return brute_force()


@cache
def written_items() -> list[dict[str, Any]]:
    """Write the world as the design does: with all numbers right, by its own account."""
    world = make_world()
    with opened_design(PerfectIt, "embedded", standing_clock(), environment="test") as db:
        db.load(world.entities, settled=True)
        assert db.verify().differences == ()
        db.load(world.late, settled=True)
        for item in world.strangers:
            call(db, "PutItem", Item=item)
        return stored_items(db)


@cache
def brute_force() -> PerfectItBruteForce:
    """Return who answers from a list: of the world, and of what the stream makes of it."""
    world = make_world()
    derived = [
        *(score for each in world.entities if isinstance(each, CardStats) for score in scores_of(each)),
        *(word for each in world.entities if isinstance(each, PerfectionCard) for word in words_of(each)),
    ]
    return PerfectItBruteForce([*world.entities, *derived, *world.late], NOW)


def standing_clock() -> ManualClock:
    return ManualClock(int(NOW.timestamp()) * 1_000_000)
