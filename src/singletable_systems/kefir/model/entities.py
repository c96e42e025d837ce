"""The entities of Kefir, with all attributes of the design document. Additions name the defect that they mend."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from singletable import (
    CreatedAt,
    Digits,
    Entity,
    Eq,
    Keys,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    expires,
    upcast,
)
from singletable_systems.kefir.model.keys import (
    BatchId,
    BatchPK,
    BatchSK,
    CreatedSK,
    DeviceId,
    DeviceSK,
    DueSK,
    EmailPK,
    EventId,
    EventSK,
    KefirTable,
    MetadataSK,
    NextTrySK,
    PendingPK,
    PushTokenPK,
    ReminderId,
    ReminderSK,
    Stage,
    Status,
    StatusPK,
    StatusSK,
    UserId,
    UserPK,
)

Amount = Annotated[Decimal, Digits(3)]  # KF-27: 37.5 g of sugar is a number too
EventType = Literal["photo", "note", "stage_transition", "status_change"]
ReminderStatus = Literal["pending", "sent", "cancelled"]
Platform = Literal["ios", "android", "web"]


class Preferences(BaseModel):
    notifications_enabled: bool
    default_temperature_c: Amount


class User(Entity, owner="user_id", owns=("Batch", "Device"), schema_version=1):
    """Somebody who brews."""

    key = Keys(UserPK, MetadataSK)
    unique_email = Unique(EmailPK)  # added: KF-22

    user_id: UserId
    email: str
    name: str | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    preferences: Preferences | None = None
    version: Version = 0  # added: X-04


class Batch(Entity, owner="user_id", owns=("BatchEvent", "Reminder"), schema_version=1):
    """A jar of kefir: first it ferments in the jar (stage 1), then in bottles (stage 2)."""

    key = Keys(UserPK, BatchSK)
    by_id = KefirTable.gsi1.keys(BatchPK, StatusSK)
    by_status = KefirTable.gsi2.keys(StatusPK, CreatedSK)  # added: KF-01

    batch_id: BatchId
    user_id: UserId
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
    bottle_volume_ml: Amount | None = None
    temperature_c_stage2: Amount | None = None
    start_time_stage2: datetime | None = None
    target_hours_stage2: Amount | None = None

    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    archived_at: datetime | None = None

    is_public: bool | None = None
    public_note: str | None = None
    version: Version = 0  # added: X-04


class BatchEvent(Entity, schema_version=2):
    """A line of a batch's timeline: a photo, a note, or a change of its stage or status."""

    key = Keys(BatchPK, EventSK)

    event_id: EventId
    batch_id: BatchId
    type: EventType

    photo_url: str | None = None
    photo_key: str | None = None

    note: str | None = None

    from_stage: Stage | None = None
    to_stage: Stage | None = None
    from_status: Status | None = None
    to_status: Status | None = None

    created_at: datetime

    @upcast(1)
    def read_status_texts(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
        """KF-27: a status was free text once. What names none goes on as a note."""
        notes = [values["note"]] if values.get("note") else []
        for field in ("from_status", "to_status"):
            text = values.get(field)
            if text is None:
                continue
            status = str(text).strip().casefold().replace("-", "_").replace(" ", "_")
            values[field] = status if status in get_args(Status) else None
            if values[field] is None:
                notes.append(f"{field.removesuffix('_status')} {text}")
        return {**values, "note": ", ".join(notes) or None}


class Reminder(Entity, schema_version=1):
    """Something to tell the owner of a batch at a moment. Only pending ones are in the indexes."""

    key = Keys(BatchPK, ReminderSK)
    by_user = KefirTable.gsi1.keys(UserPK, DueSK, when=Eq("status", "pending"))  # sparse: KF-04, KF-11
    pending = KefirTable.gsi2.keys(PendingPK, NextTrySK, when=Eq("status", "pending"))  # added: KF-02

    reminder_id: ReminderId
    batch_id: BatchId
    user_id: UserId
    message: str
    due_at: datetime
    status: ReminderStatus = "pending"

    scheduler_arn: str | None = None

    created_at: CreatedAt = auto()
    sent_at: datetime | None = None
    cancelled_at: datetime | None = None

    # Added, for KF-02: when it is tried next, at first when it is due; how often it could not be sent, and why.
    next_try_at: datetime = Field(default_factory=lambda given: given.get("due_at"))
    attempts: int = 0
    failure: str | None = None
    version: Version = 0  # added: X-04


class DeviceInfo(BaseModel):
    model: str | None = None
    os_version: str | None = None
    app_version: str | None = None


class Device(Entity, owner="user_id", schema_version=1):
    """A phone or browser that is told of reminders."""

    key = Keys(UserPK, DeviceSK)
    unique_push_token = Unique(PushTokenPK)  # added: KF-20

    device_id: DeviceId
    user_id: UserId
    platform: Platform
    push_token: str

    device_info: DeviceInfo | None = None

    created_at: CreatedAt = auto()
    last_seen_at: datetime
    ttl: Ttl = expires(days=270, after="last_seen_at")  # added, KF-20: the tokens of silent devices go stale
