"""Brewing: batches through their stages and states, with the timeline written for them.

A batch ferments in a jar (stage 1), then in bottles (stage 2). It is active, in the fridge, ready or archived.
Every change of it and the event that tells of it are one transaction: there is never one without the other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from singletable import Cascade, Check, Create, Update
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    NotFoundError,
    VersionConflictError,
)
from singletable.systems import Deletion, DeletionProgress, decide_again
from singletable_systems.kefir.errors import (
    BatchNotFoundError,
    ChangeRefusedError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.kefir.model.entities import Batch, BatchEvent, EventType
from singletable_systems.kefir.model.keys import BatchId, BatchPK, EventId, EventSK, Status, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.rules.batches import ALLOWED, require_amounts, require_name
from singletable_systems.kefir.services.reminders import cancel_pending
from singletable_systems.shared.services import Service

_MILLISECOND: Final = timedelta(milliseconds=1)

Changes = dict[str, Any]
Decide = Callable[[Batch, datetime], Changes]


class Brewing(Service[Kefir]):
    """The things that a user does with batches. A batch of somebody else is not found.

    Changes are idempotent: to bring a batch to a status that it has already writes nothing and no event, so a
    call can be repeated after its answer was lost. When two calls change a batch at once, the second one loses
    the optimistic lock, reads the batch again, and decides again.
    """

    # --- the batch -------------------------------------------------------------------------------

    def start(
        self,
        user_id: UserId,
        *,
        name: str,
        water_volume_ml: Decimal,
        sugar_grams: Decimal,
        target_hours_stage1: Decimal,
        temperature_c: Decimal | None = None,
        fruits: str | None = None,
        start_time: datetime | None = None,
        note: str | None = None,
    ) -> Batch:
        """Start a batch in its jar, now or at another time, at the user's own temperature if none is given.

        A note becomes the first event of its timeline.
        """
        require_name(name)
        require_amounts(
            water_volume_ml=water_volume_ml, sugar_grams=sugar_grams, target_hours_stage1=target_hours_stage1
        )
        batch = Batch(
            batch_id=BatchId(self._new_id()),  # never the caller's: events are found by this id alone
            user_id=user_id,
            name=name,
            water_volume_ml=water_volume_ml,
            sugar_grams=sugar_grams,
            fruits=fruits,
            temperature_c=self._temperature_c(user_id) if temperature_c is None else temperature_c,
            start_time=self._db.now() if start_time is None else start_time,
            target_hours_stage1=target_hours_stage1,
        )
        events = [] if note is None else [self._event(batch, "note", self._db.now(), note=_said(note))]
        try:
            self._db.transaction(Check(self._db.user(user_id)), Create(batch), *map(Create, events))
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
        return batch

    def second_stage(
        self,
        user_id: UserId,
        batch_id: BatchId,
        *,
        bottle_count: int,
        bottle_volume_ml: Decimal,
        target_hours_stage2: Decimal,
        temperature_c_stage2: Decimal | None = None,
        start_time: datetime | None = None,
    ) -> Batch:
        """Fill a batch from its jar into bottles, where it ferments again: it is active, whatever it was."""
        require_amounts(least=1, bottle_count=bottle_count)
        require_amounts(bottle_volume_ml=bottle_volume_ml, target_hours_stage2=target_hours_stage2)
        bottles: Changes = {
            "bottle_count": bottle_count,
            "bottle_volume_ml": bottle_volume_ml,
            "target_hours_stage2": target_hours_stage2,
            "temperature_c_stage2": temperature_c_stage2,
        }

        def decide(batch: Batch, at: datetime) -> Changes:
            if batch.stage == 2 and all(getattr(batch, name) == value for name, value in bottles.items()):
                return {}
            if batch.stage == 2 or batch.status == "archived":
                where = "archived" if batch.status == "archived" else "in bottles already"
                raise ChangeRefusedError(f"batch {batch_id} is {where}, and cannot be filled into bottles")
            begins = at if start_time is None else start_time
            return {"stage": 2, "status": "active", "start_time_stage2": begins, **bottles}

        return self._change(user_id, batch_id, decide)

    def to_fridge(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Put a batch into the fridge."""
        return self._bring(user_id, batch_id, "in_fridge")

    def ready(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Say that a batch is ready: to be filled into bottles, or to be drunk."""
        return self._bring(user_id, batch_id, "ready")

    def resume(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Let a batch ferment on: out of the fridge, not sour enough, or archived by mistake."""
        return self._bring(user_id, batch_id, "active")

    def archive(self, user_id: UserId, batch_id: BatchId) -> Batch:
        """Put a batch among the old ones, and cancel its pending reminders.

        If that is interrupted between the two, archiving it again cancels the rest.
        """
        batch = self._bring(user_id, batch_id, "archived")
        self._cancel_reminders(batch_id)
        return batch

    def delete(
        self, user_id: UserId, batch_id: BatchId, *, progress: DeletionProgress | None = None
    ) -> Cascade:
        """Delete a batch with its events and reminders; tell how much that was. It is idempotent."""
        deletion = Deletion(self._db, progress)
        deletion.delete(self._db.own_batch(user_id, batch_id))
        return deletion.done

    # --- the timeline ----------------------------------------------------------------------------

    def note(
        self,
        user_id: UserId,
        batch_id: BatchId,
        text: str,
        *,
        at: datetime | None = None,
        event_id: EventId | None = None,
    ) -> BatchEvent:
        """Write a note. With a time and an id of the caller's, writing it twice keeps it once."""
        return self._add(user_id, batch_id, "note", at, event_id, note=_said(text))

    def photo(
        self,
        user_id: UserId,
        batch_id: BatchId,
        *,
        photo_key: str,
        photo_url: str | None = None,
        note: str | None = None,
        at: datetime | None = None,
        event_id: EventId | None = None,
    ) -> BatchEvent:
        """Add a photo, by the key that it is stored under. Repeated like a note, it is kept once."""
        said = None if note is None else _said(note)
        return self._add(
            user_id, batch_id, "photo", at, event_id, photo_key=photo_key, photo_url=photo_url, note=said
        )

    def _add(
        self,
        user_id: UserId,
        batch_id: BatchId,
        kind: EventType,
        at: datetime | None,
        event_id: EventId | None,
        **contents: Any,
    ) -> BatchEvent:
        batch = self._batch(user_id, batch_id)
        # Never before the change that it follows, even if the clock of this machine is behind.
        moment = max(self._db.now(), batch.updated_at) if at is None else at
        event = self._event(batch, kind, moment, event_id, **contents)
        try:
            self._db.transaction(Check(self._db.own_batch(user_id, batch_id)), Create(event))
        except AlreadyExistsError:
            if self._stored(event) != event:
                raise
        except NotFoundError as error:
            raise BatchNotFoundError(batch_id) from error
        return event

    def _stored(self, event: BatchEvent) -> BatchEvent | None:
        sk = EventSK(created_at=event.created_at, event_id=event.event_id)
        plan = BatchEvent.key.get(BatchPK(batch_id=event.batch_id), sk)
        return self._db.plan(plan).consistent().maybe()

    def _event(
        self,
        batch: Batch,
        kind: EventType,
        at: datetime,
        event_id: EventId | None = None,
        **contents: Any,
    ) -> BatchEvent:
        chosen = EventId(self._new_id()) if event_id is None else event_id
        return BatchEvent(event_id=chosen, batch_id=batch.batch_id, type=kind, created_at=at, **contents)

    # --- changes ---------------------------------------------------------------------------------

    def _bring(self, user_id: UserId, batch_id: BatchId, status: Status) -> Batch:
        def decide(batch: Batch, at: datetime) -> Changes:
            if batch.status == status:
                return {}
            if status not in ALLOWED[batch.status]:
                raise ChangeRefusedError(f"batch {batch_id} is {batch.status}, and cannot become {status}")
            return {"status": status, "archived_at": at if status == "archived" else None}

        return self._change(user_id, batch_id, decide)

    def _change(self, user_id: UserId, batch_id: BatchId, decide: Decide) -> Batch:
        """Change a batch and write the event of it, together; decide again when somebody else was faster."""
        return decide_again(
            lambda: self._change_once(user_id, batch_id, decide), after=(VersionConflictError,)
        )

    def _change_once(self, user_id: UserId, batch_id: BatchId, decide: Decide) -> Batch:
        batch = self._batch(user_id, batch_id)
        # After the change before it, even if the clock of this machine is behind: the timeline keeps the
        # order of the changes.
        at = max(self._db.now(), batch.updated_at + _MILLISECOND)
        changes = decide(batch, at)
        if changes:
            event = self._event_of(batch, changes, at)
            try:
                self._db.transaction(Update(batch, updated_at=at, **changes), Create(event))
            except NotFoundError as error:
                raise BatchNotFoundError(batch_id) from error
        return batch

    def _event_of(self, batch: Batch, changes: Changes, at: datetime) -> BatchEvent:
        contents: dict[str, Any] = {}
        kind: EventType = "status_change"
        if changes["status"] != batch.status:
            contents |= {"from_status": batch.status, "to_status": changes["status"]}
        if "stage" in changes:
            kind = "stage_transition"
            contents |= {"from_stage": batch.stage, "to_stage": changes["stage"]}
        return self._event(batch, kind, at, **contents)

    def _cancel_reminders(self, batch_id: BatchId) -> None:
        for reminder in self._db.reminders(batch_id).where(status="pending").consistent().all():
            with suppress(ConditionNotMetError, NotFoundError):  # sent, cancelled or deleted meanwhile
                cancel_pending(self._db, batch_id, reminder.reminder_id)

    # --- what is stored --------------------------------------------------------------------------

    def _batch(self, user_id: UserId, batch_id: BatchId) -> Batch:
        batch = self._db.own_batch(user_id, batch_id).maybe()
        if batch is None:
            raise BatchNotFoundError(batch_id)
        return batch

    def _temperature_c(self, user_id: UserId) -> Decimal:
        user = self._db.user(user_id).maybe()
        if user is None:
            raise UserNotFoundError(user_id)
        if user.preferences is None:
            raise InvalidInputError("how warm is it? Neither the batch nor the user's preferences say so")
        return user.preferences.default_temperature_c


def _said(text: str) -> str:
    if not text.strip():
        raise InvalidInputError("a note says something")
    return text
