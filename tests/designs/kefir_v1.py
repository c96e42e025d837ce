"""Kefir as its document has it: one index, no shards. `kefir` is what it became."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from designs.kefir import (
    Amount,
    BatchId,
    BatchPK,
    BatchSK,
    DeviceId,
    DeviceSK,
    DueSK,
    EventId,
    EventSK,
    MetadataSK,
    ReminderId,
    ReminderSK,
    Stage,
    Status,
    StatusSK,
    UserId,
    UserPK,
)
from singletable.design import (
    CreatedAt,
    Design,
    Digits,
    Entity,
    Index,
    Keys,
    Query,
    Table,
    UpdatedAt,
    auto,
    pattern,
)

Temperature = Annotated[Decimal, Digits(3)]


class KefirTable(Table):
    name = "kefir-app-{stage}-table"
    pitr_days = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class User(Entity):
    key = Keys(UserPK, MetadataSK)

    user_id: UserId
    email: str
    name: str | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


class Batch(Entity):
    key = Keys(UserPK, BatchSK)
    by_id = KefirTable.gsi1.keys(BatchPK, StatusSK)

    user_id: UserId
    batch_id: BatchId
    name: str
    stage: Stage = 1
    status: Status = "active"
    water_volume_ml: Amount
    sugar_grams: Amount
    temperature_c: Temperature
    start_time: datetime
    target_hours_stage1: Amount
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


class BatchEvent(Entity):
    key = Keys(BatchPK, EventSK)

    batch_id: BatchId
    event_id: EventId
    type: Literal["photo", "note", "stage_transition", "status_change"]
    note: str | None = None
    created_at: datetime


class Reminder(Entity):
    key = Keys(BatchPK, ReminderSK)
    by_user = KefirTable.gsi1.keys(UserPK, DueSK)

    batch_id: BatchId
    reminder_id: ReminderId
    user_id: UserId
    message: str
    due_at: datetime
    status: Literal["pending", "sent", "cancelled"] = "pending"
    created_at: CreatedAt = auto()


class Device(Entity):
    key = Keys(UserPK, DeviceSK)

    user_id: UserId
    device_id: DeviceId
    platform: Literal["ios", "android", "web"]
    push_token: str
    created_at: CreatedAt = auto()
    last_seen_at: datetime


class Kefir(Design):
    table = KefirTable
    entities = (User, Batch, BatchEvent, Reminder, Device)

    @pattern("2 Get all batches for user")
    def batches(self, user_id: UserId) -> Query[Batch]:
        return Batch.key.query(UserPK(user_id=user_id))
