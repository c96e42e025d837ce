"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial
from singletable_systems.perfectit.consuming import workers
from singletable_systems.perfectit.design import PerfectIt
from singletable_systems.perfectit.seeding import seed
from singletable_systems.perfectit.seeding.samples import samples

_BEST: Final = Trial(
    "PerfectIt: the best cards by votes; a new vote is in this list a moment later",
    "SINGLETABLE run perfectit.top_voted --limit 3 --target URL",
)

SYSTEM: Final = System(
    name="perfectit",
    title="PerfectIt: cards that say how to do things perfectly, with votes, comments and collections",
    design=PerfectIt,
    seed=seed,
    environment={"environment": "main"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    trials=(_BEST,),
    samples=samples,
)
