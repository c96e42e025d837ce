"""The design of Kefir: its access patterns, by the numbers of the design document.

Where the document asks for something that DynamoDB cannot answer, `documented=` holds its words and `fixes=`
the defect. Nothing here scans.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from singletable import (
    Collect,
    Collection,
    Design,
    Eq,
    Get,
    Lookup,
    Merged,
    Query,
    Volume,
    collect,
    gather,
    pattern,
    shards,
)
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User
from singletable_systems.kefir.model.keys import (
    BatchId,
    BatchPK,
    BatchSK,
    DeviceId,
    DeviceSK,
    DueSK,
    EmailPK,
    EventSK,
    KefirTable,
    MetadataSK,
    NextTrySK,
    PendingPK,
    PushTokenPK,
    ReminderId,
    ReminderSK,
    Status,
    StatusPK,
    UserId,
    UserPK,
)
from singletable_systems.kefir.model.loads import LOADS, USERS
from singletable_systems.shared.model import rates_of

NEWEST_EVENTS = 20
Days = Annotated[int, Field(ge=0, le=36_500)]


class BatchView(Collection):
    """A batch with its newest events and all its reminders."""

    batch: Batch
    events: list[BatchEvent]
    reminders: list[Reminder]


class UserData(Collection):
    """What lies in a user's own partition."""

    user: User
    batches: list[Batch]
    devices: list[Device]


class BatchActivity(Collection):
    """What lies in a batch's partition: all events, and reminders of every status."""

    events: list[BatchEvent]
    reminders: list[Reminder]


class KefirDesign(Design):
    """Batches of water kefir, their timelines, reminders and devices. `Kefir` adds the handlers."""

    table = KefirTable
    entities = (User, Batch, BatchEvent, Reminder, Device)
    volumes = {
        User: Volume(1, 1, per="user", because="003:326 1 User = 1 KB"),
        Batch: Volume(10, 2, per="user", because="003:327 10 Batches = 20 KB"),
        BatchEvent: Volume(
            50, 2, per="user", upto_kb=3, because="003:328 50 Events = 100 KB, of 1-3 (003:320)"
        ),
        Reminder: Volume(20, 1, per="user", because="003:329 20 Reminders = 20 KB"),
        Device: Volume(3, 1, per="user", because="003:330 3 Devices = 3 KB"),
    }
    for_users = USERS
    loads = LOADS
    rates = rates_of(LOADS, USERS)

    # --- users -----------------------------------------------------------------------------------

    @pattern("1 Get user by ID", consistent=True, documented="PK = USER#<userId> AND SK = METADATA")
    def user(self, user_id: UserId) -> Get[User]:
        return User.key.get(UserPK(user_id=user_id), MetadataSK())

    @pattern("16 Get user by email", fixes="KF-22")
    def user_by_email(self, email: str) -> Lookup[User]:
        """The user who has an email address, in either case."""
        return User.unique_email.get(EmailPK(email=email))

    # --- batches ---------------------------------------------------------------------------------

    @pattern(
        "2 Get all batches for user", documented="PK = USER#<userId> AND SK begins_with BATCH#", fixes="X-10"
    )
    def batches(self, user_id: UserId) -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id))

    @pattern("3 Get batch by ID", documented="GSI1PK = BATCH#<batchId>")
    def batch_by_id(self, batch_id: BatchId) -> Query[Batch]:
        return Batch.by_id.query(BatchPK(batch_id=batch_id))

    @pattern("3b Get a batch of its owner, as it is now", consistent=True, fixes="KF-07")
    def own_batch(self, user_id: UserId, batch_id: BatchId) -> Get[Batch]:
        return Batch.key.get(UserPK(user_id=user_id), BatchSK(batch_id=batch_id))

    @pattern(
        "4 Get batches by status",
        documented="GSI1PK begins_with BATCH# AND GSI1SK begins_with STATUS#<status>",
        fixes="KF-01",
    )
    def batches_by_status(self, status: Status) -> Merged[Batch]:
        return Merged(
            [Batch.by_status.query(StatusPK(status=status, shard=shard)) for shard in shards(StatusPK)]
        )

    @pattern(
        "12 List user's active batches",
        documented="PK = USER#<userId> AND SK begins_with BATCH#, FilterExpression #status = :status",
        fixes="KF-08",
    )
    def batches_in(self, user_id: UserId, status: Status = "active") -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id)).where(Eq("status", status))

    @pattern(
        "13 Get batch with events and reminders",
        documented="GSI1PK = BATCH#<batchId>; "
        "PK = BATCH#<batchId> AND SK begins_with EVENT#, newest 20; REMINDER#",
    )
    def batch_view(self, batch_id: BatchId) -> Collect[BatchView]:
        pk = BatchPK(batch_id=batch_id)
        return gather(
            BatchView,
            batch=Batch.by_id.query(pk),
            events=BatchEvent.key.query(pk).newest_first().limit(NEWEST_EVENTS),
            reminders=Reminder.key.query(pk),
        )

    @pattern("15 Get a batch that its owner shares with everybody", fixes="KF-21, KF-07")
    def public_batch(self, batch_id: BatchId) -> Query[Batch]:
        return Batch.by_id.query(BatchPK(batch_id=batch_id)).where(Eq("is_public", True))

    # --- events ----------------------------------------------------------------------------------

    @pattern(
        "5 Get events for batch, oldest or newest first",
        documented="PK = BATCH#<batchId> AND SK begins_with EVENT#",
    )
    def events(self, batch_id: BatchId) -> Query[BatchEvent]:
        return BatchEvent.key.query(BatchPK(batch_id=batch_id))

    @pattern(
        "6 Get recent events", documented="PK = BATCH#<batchId> AND SK > EVENT#<timestamp>", fixes="KF-05"
    )
    def events_since(self, batch_id: BatchId, since: datetime) -> Query[BatchEvent]:
        """Events after a moment; those of the moment itself are known already."""
        return BatchEvent.key.query(BatchPK(batch_id=batch_id), gt=EventSK.prefix(created_at=since))

    # --- reminders -------------------------------------------------------------------------------

    @pattern("7 Get reminders for batch", documented="PK = BATCH#<batchId> AND SK begins_with REMINDER#")
    def reminders(self, batch_id: BatchId) -> Query[Reminder]:
        return Reminder.key.query(BatchPK(batch_id=batch_id))

    @pattern("7b Get a reminder, as it is now", consistent=True, fixes="KF-26")
    def reminder(self, batch_id: BatchId, reminder_id: ReminderId) -> Get[Reminder]:
        return Reminder.key.get(BatchPK(batch_id=batch_id), ReminderSK(reminder_id=reminder_id))

    @pattern(
        "8 Get user's upcoming reminders",
        documented="GSI1PK = USER#<userId> AND GSI1SK begins_with DUE# AND GSI1SK > DUE#<now>",
        fixes="KF-03, KF-04",
    )
    def upcoming(self, user_id: UserId, now: datetime, days: Days | None = None) -> Query[Reminder]:
        """Pending reminders from now on; of so many days, or all."""
        until = None if days is None else DueSK(due_at=now + timedelta(days=days))
        return Reminder.by_user.query(UserPK(user_id=user_id), ge=DueSK(due_at=now), le=until)

    @pattern("9 Get due reminders", documented="GSI1SK < DUE#<now> (scan or query all users)", fixes="KF-02")
    def due(self, now: datetime) -> Merged[Reminder]:
        """Pending reminders of all users that are to be sent now, the oldest first.

        Those that somebody is sending, and those that were put off, are not among them.
        """
        before = NextTrySK.prefix(next_try_at=now)
        return Merged(
            [Reminder.pending.query(PendingPK(shard=shard), lt=before) for shard in shards(PendingPK)]
        )

    # --- devices ---------------------------------------------------------------------------------

    @pattern("10 Get devices for user", documented="PK = USER#<userId> AND SK begins_with DEVICE#")
    def devices(self, user_id: UserId) -> Query[Device]:
        return Device.key.query(UserPK(user_id=user_id))

    @pattern("11 Get specific device", documented="PK = USER#<userId> AND SK = DEVICE#<deviceId>")
    def device(self, user_id: UserId, device_id: DeviceId) -> Get[Device]:
        return Device.key.get(UserPK(user_id=user_id), DeviceSK(device_id=device_id))

    @pattern("17 Get device by push token", fixes="KF-20")
    def device_by_push_token(self, push_token: str) -> Lookup[Device]:
        return Device.unique_push_token.get(PushTokenPK(push_token=push_token))

    # --- export ----------------------------------------------------------------------------------

    @pattern("14 Export all user data", documented="PK = USER#<userId>", fixes="KF-10")
    def user_data(self, user_id: UserId) -> Collect[UserData]:
        return collect(UserData, UserPK(user_id=user_id))

    @pattern("14b Export the events and reminders of a batch", fixes="KF-09, KF-10")
    def batch_activity(self, batch_id: BatchId) -> Collect[BatchActivity]:
        return collect(BatchActivity, BatchPK(batch_id=batch_id))
