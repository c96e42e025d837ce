"""The system as the command line runs it."""

from __future__ import annotations

from typing import Final

from singletable.systems import System, Trial
from singletable_systems.lunch_cache.design import LunchCache
from singletable_systems.lunch_cache.seeding import seed, workers
from singletable_systems.lunch_cache.seeding.samples import samples

_HISTORY: Final = Trial(
    "Lunch Cache: the menus of a restaurant, newest first, from an index",
    "SINGLETABLE run lunch_cache.history --restaurant niagara --target URL",
)

SYSTEM: Final = System(
    name="lunch_cache",
    title="Lunch Cache: the weekly lunch menus of restaurants, cached for two weeks",
    design=LunchCache,
    seed=seed,
    environment={"environment": "dev"},
    workers=workers,
    samples=samples,
    trials=(_HISTORY,),
)
