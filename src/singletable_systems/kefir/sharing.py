"""Sharing: batches that their owners show to everybody, without saying whose they are."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from singletable.errors import NotFoundError
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.entities import Batch
from singletable_systems.kefir.errors import BatchNotFoundError
from singletable_systems.kefir.keys import BatchId, Stage, Status, UserId


class SharedBatch(BaseModel):
    """What everybody may see of a batch that is shared. Whose it is is not among it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    batch_id: BatchId
    name: str
    stage: Stage
    status: Status
    public_note: str | None
    water_volume_ml: Decimal
    sugar_grams: Decimal
    fruits: str | None
    temperature_c: Decimal
    start_time: datetime
    target_hours_stage1: Decimal
    bottle_count: int | None
    bottle_volume_ml: Decimal | None
    temperature_c_stage2: Decimal | None
    start_time_stage2: datetime | None
    target_hours_stage2: Decimal | None


class Sharing:
    """What owners share, and what others see of it."""

    def __init__(self, db: Kefir) -> None:
        self._db = db

    def share(self, user_id: UserId, batch_id: BatchId, note: str | None = None) -> Batch:
        """Show a batch to everybody who knows its id, with a note for them. Sharing it again replaces the note."""
        return self._change(user_id, batch_id, is_public=True, public_note=note or None)

    def unshare(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Show a batch to nobody else any more, from now on; its public note is deleted."""
        return self._change(user_id, batch_id, is_public=False, public_note=None)

    def shared(self, batch_id: BatchId) -> SharedBatch:
        """Return what everybody may see of a batch; one that is not shared is not there.

        Just after it was shared it may not be found yet. It is looked at again in the table, since the index may
        show for a moment what its owner has taken back.
        """
        found = self._db.public_batch(batch_id).maybe()
        batch = None if found is None else self._db.own_batch(found.user_id, batch_id).maybe()
        if batch is None or not batch.is_public:
            raise BatchNotFoundError(batch_id)
        return SharedBatch.model_validate(batch)

    def _change(self, user_id: UserId, batch_id: BatchId, **changes: Any) -> Batch:
        try:
            return self._db.update(self._db.own_batch(user_id, batch_id), **changes).entity
        except NotFoundError as error:
            raise BatchNotFoundError(batch_id) from error
