"""Sharing: batches that their owners show to everybody, without saying whose they are."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from singletable.errors import NotFoundError
from singletable_systems.kefir.errors import BatchNotFoundError
from singletable_systems.kefir.model.entities import Batch
from singletable_systems.kefir.model.keys import BatchId, Stage, Status, UserId
from singletable_systems.kefir.reactions.handlers import Kefir

# The fields of a batch that nobody but its owner sees. A new field is shown, or stands here.
NOT_SHARED: Final = frozenset({"user_id", "created_at", "updated_at", "archived_at", "is_public", "version"})


class SharedBatch(BaseModel):
    """The fields of a shared batch that everybody may see. The owner is not one of them."""

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
    """Owners share batches, and others read them."""

    def __init__(self, db: Kefir) -> None:
        self._db = db

    def share(self, user_id: UserId, batch_id: BatchId, note: str | None = None) -> Batch:
        """Show a batch to everybody who knows its id, with a note for them. Sharing it again replaces the note."""
        return self._change(user_id, batch_id, is_public=True, public_note=note or None)

    def unshare(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Show a batch to nobody else any more, from now on; its public note is deleted."""
        return self._change(user_id, batch_id, is_public=False, public_note=None)

    def shared(self, batch_id: BatchId) -> SharedBatch:
        """Return the public fields of a batch; one that is not shared is not found.

        The index is eventually consistent: just after a batch was shared it may not be found yet. Once found,
        the batch is read from the table too, since the index may still show one that its owner no longer
        shares.
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
