"""Kefir: batches of users, with their events, reminders and devices."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal, NewType

from pydantic import BaseModel

from singletable.design import (
    Collect,
    Collection,
    CreatedAt,
    Design,
    Digits,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Merged,
    Query,
    ShardOf,
    SortKey,
    Table,
    UpdatedAt,
    Version,
    Volume,
    auto,
    collect,
    gather,
    pattern,
    shards,
)

UserId = NewType("UserId", str)
BatchId = NewType("BatchId", str)
EventId = NewType("EventId", str)
ReminderId = NewType("ReminderId", str)
DeviceId = NewType("DeviceId", str)
Status = Literal["active", "in_fridge", "ready", "archived"]
Stage = Literal[1, 2]
Amount = Annotated[Decimal, Digits(3)]


class KefirTable(Table):
    name = "kefir-app-{stage}-table"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class BatchPK(Key, template="BATCH#{batch_id}"):
    batch_id: BatchId


class MetadataSK(SortKey, template="METADATA"):
    pass


class BatchSK(SortKey, template="BATCH#{batch_id}"):
    batch_id: BatchId


class EventSK(SortKey, template="EVENT#{created_at}#{event_id}"):
    created_at: datetime
    event_id: EventId


class ReminderSK(SortKey, template="REMINDER#{reminder_id}"):
    reminder_id: ReminderId


class DeviceSK(SortKey, template="DEVICE#{device_id}"):
    device_id: DeviceId


class StatusSK(SortKey, template="STATUS#{status}#{created_at}"):
    status: Status
    created_at: datetime


class DueSK(SortKey, template="DUE#{due_at}"):
    due_at: datetime


class StatusPK(Key, template="STATUS#{status}#{shard}"):
    status: Status
    shard: Annotated[int, ShardOf(4, by="batch_id")]


class CreatedSK(SortKey, template="BATCH#{created_at}#{batch_id}"):
    created_at: datetime
    batch_id: BatchId


class PendingPK(Key, template="REMINDER#PENDING#{shard}"):
    shard: Annotated[int, ShardOf(1, by="reminder_id")]


class DueIdSK(SortKey, template="DUE#{due_at}#{reminder_id}"):
    due_at: datetime
    reminder_id: ReminderId


class Preferences(BaseModel):
    notifications_enabled: bool
    default_temperature_c: Decimal


class User(Entity, owns=("Batch", "Device")):
    key = Keys(UserPK, MetadataSK)

    user_id: UserId
    email: str
    name: str | None = None
    preferences: Preferences | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0


class Batch(Entity, owns=("BatchEvent", "Reminder")):
    key = Keys(UserPK, BatchSK)
    by_id = KefirTable.gsi1.keys(BatchPK, StatusSK)
    by_status = KefirTable.gsi2.keys(StatusPK, CreatedSK)

    user_id: UserId
    batch_id: BatchId
    name: str
    stage: Stage = 1
    status: Status = "active"
    water_volume_ml: Amount
    sugar_grams: Amount
    fruits: str | None = None
    temperature_c: Amount
    start_time: datetime
    target_hours_stage1: Amount
    bottle_count: int | None = None
    start_time_stage2: datetime | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0
    archived_at: datetime | None = None
    is_public: bool = False
    public_note: str | None = None


class BatchEvent(Entity):
    key = Keys(BatchPK, EventSK)

    batch_id: BatchId
    event_id: EventId
    type: Literal["photo", "note", "stage_transition", "status_change"]
    note: str | None = None
    from_status: Status | None = None
    to_status: Status | None = None
    created_at: datetime


class Reminder(Entity):
    key = Keys(BatchPK, ReminderSK)
    by_user = KefirTable.gsi1.keys(UserPK, DueSK, when=Eq("status", "pending"))
    pending = KefirTable.gsi2.keys(PendingPK, DueIdSK, when=Eq("status", "pending"))

    batch_id: BatchId
    reminder_id: ReminderId
    user_id: UserId
    message: str
    due_at: datetime
    status: Literal["pending", "sent", "cancelled"] = "pending"
    created_at: CreatedAt = auto()
    sent_at: datetime | None = None


class Device(Entity):
    key = Keys(UserPK, DeviceSK)

    user_id: UserId
    device_id: DeviceId
    platform: Literal["ios", "android", "web"]
    push_token: str
    created_at: CreatedAt = auto()
    last_seen_at: datetime


class UserExport(Collection):
    user: User
    batches: list[Batch]
    devices: list[Device]


class BatchView(Collection):
    batch: Batch
    events: list[BatchEvent]
    reminders: list[Reminder]


class BatchActivity(Collection):
    events: list[BatchEvent]
    reminders: list[Reminder]


class Kefir(Design):
    table = KefirTable
    entities = (User, Batch, BatchEvent, Reminder, Device)
    volumes = {
        User: Volume(1, 1),
        Batch: Volume(10, 2),
        BatchEvent: Volume(50, 2),
        Reminder: Volume(20, 1),
        Device: Volume(3, 1),
    }

    @pattern("1 Get user by ID", consistent=True)
    def user(self, user_id: UserId) -> Get[User]:
        return User.key.get(UserPK(user_id=user_id), MetadataSK())

    @pattern("2 Get all batches for user")
    def batches(self, user_id: UserId) -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id))

    @pattern("3 Get batch by ID")
    def batch_by_id(self, batch_id: BatchId) -> Query[Batch]:
        return Batch.by_id.query(BatchPK(batch_id=batch_id))

    @pattern(
        "4 Get batches by status",
        fixes="KF-01",
        documented="GSI1PK begins_with BATCH# AND GSI1SK begins_with STATUS#<status>",
    )
    def batches_by_status(self, status: Status) -> Merged[Batch]:
        return Merged(
            [Batch.by_status.query(StatusPK(status=status, shard=shard)) for shard in shards(StatusPK)]
        )

    @pattern("5 Get events for batch, oldest or newest first")
    def events(self, batch_id: BatchId) -> Query[BatchEvent]:
        return BatchEvent.key.query(BatchPK(batch_id=batch_id))

    @pattern(
        "6 Get recent events", fixes="KF-05", documented="PK = BATCH#<batchId> AND SK > EVENT#<timestamp>"
    )
    def events_since(self, batch_id: BatchId, since: datetime) -> Query[BatchEvent]:
        return BatchEvent.key.query(BatchPK(batch_id=batch_id), gt=EventSK.prefix(created_at=since))

    @pattern("7 Get reminders for batch")
    def reminders(self, batch_id: BatchId) -> Query[Reminder]:
        return Reminder.key.query(BatchPK(batch_id=batch_id))

    @pattern("8 Get user's upcoming reminders", fixes="KF-03, KF-04")
    def upcoming(self, user_id: UserId, now: datetime, days: int | None = None) -> Query[Reminder]:
        until = None if days is None else DueSK(due_at=now + timedelta(days=days))
        return Reminder.by_user.query(UserPK(user_id=user_id), ge=DueSK(due_at=now), le=until)

    @pattern("9 Get due reminders", fixes="KF-02", documented="GSI1SK < DUE#<now> (scan or query all users)")
    def due(self, now: datetime) -> Merged[Reminder]:
        return Merged(
            [
                Reminder.pending.query(PendingPK(shard=shard), lt=DueIdSK.prefix(due_at=now))
                for shard in shards(PendingPK)
            ]
        )

    @pattern("10 Get devices for user")
    def devices(self, user_id: UserId) -> Query[Device]:
        return Device.key.query(UserPK(user_id=user_id))

    @pattern("11 Get specific device")
    def device(self, user_id: UserId, device_id: DeviceId) -> Get[Device]:
        return Device.key.get(UserPK(user_id=user_id), DeviceSK(device_id=device_id))

    @pattern("12 List user's active batches", fixes="KF-08")
    def batches_in(self, user_id: UserId, status: Status) -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id)).where(status=status)

    @pattern("13 Get batch with events and reminders")
    def batch_view(self, batch_id: BatchId) -> Collect[BatchView]:
        pk = BatchPK(batch_id=batch_id)
        return gather(
            BatchView,
            batch=Batch.by_id.query(pk),
            events=BatchEvent.key.query(pk).newest_first().limit(20),
            reminders=Reminder.key.query(pk),
        )

    @pattern("14 Export all user data")
    def export(self, user_id: UserId) -> Collect[UserExport]:
        return collect(UserExport, UserPK(user_id=user_id))

    @pattern("14b Export the activity of a batch")
    def batch_activity(self, batch_id: BatchId) -> Collect[BatchActivity]:
        return collect(BatchActivity, BatchPK(batch_id=batch_id))
