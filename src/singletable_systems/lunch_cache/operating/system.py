"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.operating.loads import SERVICES
from singletable_systems.lunch_cache.operating.roles_and_alarms import surroundings
from singletable_systems.lunch_cache.operating.seeding import samples, seed, workers

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
    services=SERVICES,
    targets=("aws", "aws-local", "singletable"),
    documents=Path(__file__).parents[1] / "model",
    surroundings=surroundings,
)
