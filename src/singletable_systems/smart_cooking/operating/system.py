"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import Bucket, Scheduled, System, Trial, Worker
from singletable_systems.smart_cooking.operating.functions import ARCHIVE_BUCKET, prepare, trending
from singletable_systems.smart_cooking.operating.loads import SERVICES
from singletable_systems.smart_cooking.operating.roles_and_alarms import ARCHIVE, surroundings
from singletable_systems.smart_cooking.operating.seeding import seed
from singletable_systems.smart_cooking.operating.seeding.samples import samples
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.trending import Trending

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
    scheduled=(Scheduled("smart-cooking-trending", 10, trending, "Counts the ranking anew"),),
    prepare=prepare,
    buckets=(Bucket(ARCHIVE, ARCHIVE_BUCKET),),
    samples=samples,
    trials=(_FEED,),
    services=SERVICES,
    targets=("aws", "aws-local", "singletable"),
    documents=Path(__file__).parents[1] / "model",
    surroundings=surroundings,
)
