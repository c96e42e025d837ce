"""An open Kefir with its world in it, whose patterns are proved."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TypeAlias

from singletable_systems.kefir.reactions.handlers import Kefir
from support.opened_designs import store
from systems.brute_force import BruteForce
from systems.kefir_world import NOW, as_stored, make_world
from systems.pattern_proof import PatternProof, proved

Proof: TypeAlias = PatternProof[Kefir, BruteForce]


def opened_proof(target: str) -> AbstractContextManager[Proof]:
    """Open a Kefir on a fresh target, and fill it."""
    return proved(Kefir, target, NOW, _fill, stage="test")


def _fill(db: Kefir) -> BruteForce:
    world = make_world()
    for entity in world.entities:
        db.create(entity)
    for item in world.strangers:
        store(db, item)
    return BruteForce(map(as_stored, world.entities), NOW)
