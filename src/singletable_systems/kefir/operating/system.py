"""The system as the command line runs it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from singletable.stack import with_roles_and_alarms
from singletable.systems import Scheduled, System, Trial
from singletable_systems.kefir.operating.functions import (
    DISPATCHER,
    SCHEDULE_GROUP,
    SCHEDULE_ROLE,
    SCHEDULE_TARGET,
    dispatcher,
    prepare,
)
from singletable_systems.kefir.operating.loads import SERVICES
from singletable_systems.kefir.operating.roles_and_alarms import alarms, policies
from singletable_systems.kefir.operating.seeding import samples, seed
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import workers

_BATCH: Final = Trial(
    "Kefir: a jar of Ada's was done at midnight, and a worker has reminded her",
    "SINGLETABLE run kefir.batch_view --batch-id ada-09 --target URL",
)

SYSTEM: Final = System(
    name="kefir",
    title="Kefir: batches of water kefir, their timelines, reminders and devices",
    design=Kefir,
    seed=seed,
    environment={"stage": "dev"},
    migrations=Path(__file__).with_name("migrations"),
    workers=workers,
    scheduled=(Scheduled(DISPATCHER, 1, dispatcher, "Sends the reminders that are due"),),
    prepare=prepare,
    variables={
        SCHEDULE_GROUP: "{schedule_group}",
        SCHEDULE_TARGET: "{workers}",
        SCHEDULE_ROLE: "{schedules_role}",
    },
    samples=samples,
    trials=(_BATCH,),
    services=SERVICES,
    targets=("aws", "aws-local", "singletable"),
    documents=Path(__file__).parents[1] / "model",
    surroundings=partial(with_roles_and_alarms, policies=policies, alarms=alarms),
)
