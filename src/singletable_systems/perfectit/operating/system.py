"""The system as the command line runs it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from singletable.stack import with_roles_and_alarms
from singletable.systems import System, Trial
from singletable_systems.perfectit.operating.loads import SERVICES
from singletable_systems.perfectit.operating.roles_and_alarms import alarms, roles
from singletable_systems.perfectit.operating.seeding import samples, seed
from singletable_systems.perfectit.operating.stream import prepare, workers
from singletable_systems.perfectit.reactions.handlers import PerfectIt

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
    prepare=prepare,
    trials=(_BEST,),
    services=SERVICES,
    targets=("aws", "aws-local", "singletable"),
    documents=Path(__file__).parents[1] / "model",
    surroundings=partial(with_roles_and_alarms, policies=lambda place: roles(place).all(), alarms=alarms),
    samples=samples,
)
