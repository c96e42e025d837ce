"""A full example of each entity of Kefir, with the ids of the design document, and what is stored of each."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from singletable_systems.kefir.model.entities import (
    Batch,
    BatchEvent,
    Device,
    DeviceInfo,
    Preferences,
    Reminder,
    User,
)
from singletable_systems.kefir.model.keys import BatchId, DeviceId, EventId, ReminderId, UserId

AT = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
STORED_AT = datetime(2024, 1, 20, 8, 0, 0, 123_000, tzinfo=UTC)  # what the clock says when they are stored

USER = User(
    user_id=UserId("123"),
    email="Ada@Example.com",
    name="Ada",
    created_at=AT,
    preferences=Preferences(notifications_enabled=True, default_temperature_c=Decimal("22.5")),
)
BATCH = Batch(
    batch_id=BatchId("abc"),
    user_id=UserId("123"),
    name="Ginger and lemon",
    stage=2,
    status="active",
    water_volume_ml=Decimal(1000),
    sugar_grams=Decimal("37.5"),
    fruits="ginger, lemon",
    temperature_c=Decimal("22.25"),
    start_time=AT,
    target_hours_stage1=Decimal(48),
    bottle_count=12,
    bottle_volume_ml=Decimal(330),
    temperature_c_stage2=Decimal("21.125"),
    start_time_stage2=AT,
    target_hours_stage2=Decimal("36.5"),
    created_at=AT,
    archived_at=AT,
    is_public=True,
    public_note="less sugar next time",
)
EVENT = BatchEvent(
    event_id=EventId("evt123"),
    batch_id=BatchId("abc"),
    type="photo",
    photo_url="https://example.com/abc.jpg",
    photo_key="photos/abc.jpg",
    note="bubbles",
    from_stage=1,
    to_stage=2,
    from_status="active",
    to_status="in_fridge",
    created_at=AT,
)
REMINDER = Reminder(
    reminder_id=ReminderId("rem123"),
    batch_id=BatchId("abc"),
    user_id=UserId("123"),
    message="taste it",
    due_at=AT,
    status="pending",
    scheduler_arn="arn:aws:scheduler:eu-north-1:000000000000:schedule/kefir/rem123",
    created_at=AT,
    sent_at=AT,
    cancelled_at=AT,
    next_try_at=AT,
    attempts=2,
    failure="no answer",
)
DEVICE = Device(
    device_id=DeviceId("dev123"),
    user_id=UserId("123"),
    platform="ios",
    push_token="ExponentPushToken[abc]",
    device_info=DeviceInfo(model="iPhone 15", os_version="17.2", app_version="1.0.3"),
    created_at=AT,
    last_seen_at=AT,
)
EXAMPLES = (USER, BATCH, EVENT, REMINDER, DEVICE)

# --- as they are stored -----------------------------------------------------------------------------------

_TEXT = "2024-01-15T10:30:00.000Z"
_NOW_TEXT = "2024-01-20T08:00:00.123Z"
_TTL = "1728642600"  # 270 days after it was seen last, in seconds

ITEMS: dict[str, dict[str, Any]] = {
    "User": {
        "PK": {"S": "USER#123"},
        "SK": {"S": "METADATA"},
        "entityType": {"S": "User"},
        "schemaVersion": {"N": "1"},
        "userId": {"S": "123"},
        "email": {"S": "Ada@Example.com"},
        "name": {"S": "Ada"},
        "createdAt": {"S": _TEXT},
        "updatedAt": {"S": _NOW_TEXT},
        "preferences": {"M": {"notificationsEnabled": {"BOOL": True}, "defaultTemperatureC": {"N": "22.5"}}},
        "version": {"N": "1"},
    },
    "Batch": {
        "PK": {"S": "USER#123"},
        "SK": {"S": "BATCH#abc"},
        "GSI1PK": {"S": "BATCH#abc"},
        "GSI1SK": {"S": f"STATUS#active#{_TEXT}"},
        "GSI2PK": {"S": "STATUS#active#2"},
        "GSI2SK": {"S": f"BATCH#{_TEXT}#abc"},
        "entityType": {"S": "Batch"},
        "schemaVersion": {"N": "1"},
        "batchId": {"S": "abc"},
        "userId": {"S": "123"},
        "name": {"S": "Ginger and lemon"},
        "stage": {"N": "2"},
        "status": {"S": "active"},
        "waterVolumeMl": {"N": "1000"},
        "sugarGrams": {"N": "37.5"},
        "fruits": {"S": "ginger, lemon"},
        "temperatureC": {"N": "22.25"},
        "startTime": {"S": _TEXT},
        "targetHoursStage1": {"N": "48"},
        "bottleCount": {"N": "12"},
        "bottleVolumeMl": {"N": "330"},
        "temperatureCStage2": {"N": "21.125"},
        "startTimeStage2": {"S": _TEXT},
        "targetHoursStage2": {"N": "36.5"},
        "createdAt": {"S": _TEXT},
        "updatedAt": {"S": _NOW_TEXT},
        "archivedAt": {"S": _TEXT},
        "isPublic": {"BOOL": True},
        "publicNote": {"S": "less sugar next time"},
        "version": {"N": "1"},
    },
    "BatchEvent": {
        "PK": {"S": "BATCH#abc"},
        "SK": {"S": f"EVENT#{_TEXT}#evt123"},
        "entityType": {"S": "BatchEvent"},
        "schemaVersion": {"N": "2"},
        "eventId": {"S": "evt123"},
        "batchId": {"S": "abc"},
        "type": {"S": "photo"},
        "photoUrl": {"S": "https://example.com/abc.jpg"},
        "photoKey": {"S": "photos/abc.jpg"},
        "note": {"S": "bubbles"},
        "fromStage": {"N": "1"},
        "toStage": {"N": "2"},
        "fromStatus": {"S": "active"},
        "toStatus": {"S": "in_fridge"},
        "createdAt": {"S": _TEXT},
    },
    "Reminder": {
        "PK": {"S": "BATCH#abc"},
        "SK": {"S": "REMINDER#rem123"},
        "GSI1PK": {"S": "USER#123"},
        "GSI1SK": {"S": f"DUE#{_TEXT}"},
        "GSI2PK": {"S": "REMINDER#PENDING#2"},
        "GSI2SK": {"S": f"DUE#{_TEXT}#rem123"},
        "entityType": {"S": "Reminder"},
        "schemaVersion": {"N": "1"},
        "reminderId": {"S": "rem123"},
        "batchId": {"S": "abc"},
        "userId": {"S": "123"},
        "message": {"S": "taste it"},
        "dueAt": {"S": _TEXT},
        "status": {"S": "pending"},
        "schedulerArn": {"S": "arn:aws:scheduler:eu-north-1:000000000000:schedule/kefir/rem123"},
        "createdAt": {"S": _TEXT},
        "sentAt": {"S": _TEXT},
        "cancelledAt": {"S": _TEXT},
        "nextTryAt": {"S": _TEXT},
        "attempts": {"N": "2"},
        "failure": {"S": "no answer"},
        "version": {"N": "1"},
    },
    "Device": {
        "PK": {"S": "USER#123"},
        "SK": {"S": "DEVICE#dev123"},
        "entityType": {"S": "Device"},
        "schemaVersion": {"N": "1"},
        "deviceId": {"S": "dev123"},
        "userId": {"S": "123"},
        "platform": {"S": "ios"},
        "pushToken": {"S": "ExponentPushToken[abc]"},
        "deviceInfo": {
            "M": {"model": {"S": "iPhone 15"}, "osVersion": {"S": "17.2"}, "appVersion": {"S": "1.0.3"}}
        },
        "createdAt": {"S": _TEXT},
        "lastSeenAt": {"S": _TEXT},
        "ttl": {"N": _TTL},
    },
}
# Added items: the locks of unique values, which say whose they are.
LOCKS: dict[str, dict[str, Any]] = {
    "KF-22": {
        "PK": {"S": "EMAIL#ada@example.com"},
        "SK": {"S": "UNIQUE"},
        "entityType": {"S": "$unique"},
        "$owner": {"S": "USER#123"},
        "$ownerSort": {"S": "METADATA"},
        "$takenAt": {"S": _NOW_TEXT},
    },
    "KF-20": {
        "PK": {"S": "PUSHTOKEN#ExponentPushToken[abc]"},
        "SK": {"S": "UNIQUE"},
        "entityType": {"S": "$unique"},
        "$owner": {"S": "USER#123"},
        "$ownerSort": {"S": "DEVICE#dev123"},
        "$takenAt": {"S": _NOW_TEXT},
        "ttl": {"N": _TTL},
    },
}
