"""Batches on their way, and what their timelines tell."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from singletable_systems.kefir.model.entities import Batch, BatchEvent
from singletable_systems.kefir.model.keys import BatchId, Status, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.batches import Brewing

Change = Callable[[Brewing, UserId, BatchId], Batch]

BRING: dict[Status, Change] = {
    "active": Brewing.resume,
    "in_fridge": Brewing.to_fridge,
    "ready": Brewing.ready,
    "archived": Brewing.archive,
}


def stored(db: Kefir, batch: Batch) -> Batch:
    return db.own_batch(batch.user_id, batch.batch_id).one()


def timeline(db: Kefir, batch: Batch) -> list[BatchEvent]:
    return list(db.events(batch.batch_id).consistent().all())


def told(db: Kefir, batch: Batch) -> list[str]:
    """Return the timeline in short."""
    return [
        event.note
        or f"{event.type} {event.from_stage}-{event.to_stage} {event.from_status}-{event.to_status}"
        for event in timeline(db, batch)
    ]


def is_chain(db: Kefir, batch: Batch) -> bool:
    """Tell whether the changes of a timeline follow from one another, and lead to what is stored."""
    changes = [event for event in timeline(db, batch) if event.type != "note"]
    statuses = [("", "active"), *((str(each.from_status), str(each.to_status)) for each in changes)]
    is_linked = all(before[1] == after[0] for before, after in pairwise(statuses))
    now = stored(db, batch)
    return is_linked and statuses[-1][1] == now.status and now.version == 1 + len(changes)
