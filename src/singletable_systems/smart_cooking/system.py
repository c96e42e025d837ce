"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial, Worker
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.seeding import seed
from singletable_systems.smart_cooking.seeding.samples import samples
from singletable_systems.smart_cooking.trending import Trending

_FEED: Final = Trial(
    "Smart Cooking: the newest public posts; four other lists share their index",
    "SINGLETABLE run smart_cooking.public_feed --limit 3 --target URL",
)


def workers(db: SmartCooking) -> tuple[Worker, ...]:
    """Return what runs beside an open Smart Cooking: the ranking is counted anew."""
    return (Trending(db).worker(),)


SYSTEM: Final = System(
    name="smart_cooking",
    title="Smart Cooking: recipes from what is at home, with ratings, cooking history, friends and feeds",
    design=SmartCooking,
    seed=seed,
    environment={"environment": "dev"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    samples=samples,
    trials=(_FEED,),
)
