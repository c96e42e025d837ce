"""The system as the command line runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from singletable.systems import System, Trial
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.dispatching import workers
from singletable_systems.kefir.seeding import seed
from singletable_systems.kefir.seeding.samples import samples

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
    samples=samples,
    trials=(_BATCH,),
)
