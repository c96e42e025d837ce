"""Kefir's table as its design document describes it, with items as the document's own code writes them.

One index, no discriminator, no versions, no locks. Times are to the second as in the document's sample key
(003:346), or to the millisecond as `toISOString()` writes them (003:286); keys are made from either. Reminders are
in GSI1 whatever their status (KF-04), and the statuses of events are free text (KF-27).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from singletable import Entity
from singletable.client import Client
from singletable_systems.kefir import Batch, BatchEvent, Device, Reminder, User

STAGE = "old"
TABLE = "kefir-app-old-table"
# Far ahead, so that no target whose clock is the machine's takes devices away that have not expired by this clock.
NOW = datetime(2040, 1, 20, tzinfo=UTC)
Old = dict[str, Any]  # an item, in plain values


def make_table(client: Client) -> None:
    """Make the table of 003:9-19: on demand, one index."""
    names = ("PK", "SK", "GSI1PK", "GSI1SK")
    client.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
            "KeySchema": schema("PK", "SK"),
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "GSI1",
                    "KeySchema": schema("GSI1PK", "GSI1SK"),
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        },
    )


def schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


def put(client: Client, *items: Old) -> None:
    """Store items as somebody else would."""
    for item in items:
        client.call("PutItem", {"TableName": TABLE, "Item": marshalled(item)["M"]})


def marshalled(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case dict():
            return {"M": {name: marshalled(inner) for name, inner in value.items()}}
        case _:
            return {"S": value}


# --- one item each, by the document's templates --------------------------------------------------------------


def user(user_id: str, email: str, created: str = "2039-12-01T08:00:00Z", **more: Any) -> Old:
    return {
        "PK": f"USER#{user_id}",
        "SK": "METADATA",
        "userId": user_id,
        "email": email,
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def batch(user_id: str, batch_id: str, status: str, created: str, **more: Any) -> Old:
    return {
        "PK": f"USER#{user_id}",
        "SK": f"BATCH#{batch_id}",
        "GSI1PK": f"BATCH#{batch_id}",
        "GSI1SK": f"STATUS#{status}#{created}",
        "batchId": batch_id,
        "userId": user_id,
        "name": f"Batch {batch_id}",
        "stage": 1,
        "status": status,
        "waterVolumeMl": 1000,
        "sugarGrams": Decimal("37.5"),
        "temperatureC": 22,
        "startTime": created,
        "targetHoursStage1": 48,
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def event(batch_id: str, event_id: str, created: str, kind: str = "note", **more: Any) -> Old:
    return {
        "PK": f"BATCH#{batch_id}",
        "SK": f"EVENT#{created}#{event_id}",
        "eventId": event_id,
        "batchId": batch_id,
        "type": kind,
        "createdAt": created,
        **more,
    }


def reminder(batch_id: str, reminder_id: str, user_id: str, due: str, status: str, **more: Any) -> Old:
    return {
        "PK": f"BATCH#{batch_id}",
        "SK": f"REMINDER#{reminder_id}",
        "GSI1PK": f"USER#{user_id}",
        "GSI1SK": f"DUE#{due}",
        "reminderId": reminder_id,
        "batchId": batch_id,
        "userId": user_id,
        "message": "Taste it",
        "dueAt": due,
        "status": status,
        "createdAt": "2040-01-02T10:00:00Z",
        **more,
    }


def device(user_id: str, device_id: str, token: str, seen: str, **more: Any) -> Old:
    return {
        "PK": f"USER#{user_id}",
        "SK": f"DEVICE#{device_id}",
        "deviceId": device_id,
        "userId": user_id,
        "platform": "ios",
        "pushToken": token,
        "createdAt": "2039-12-01T08:00:00Z",
        "lastSeenAt": seen,
        **more,
    }


# --- the table -------------------------------------------------------------------------------------------------

USERS = [
    user(
        "123",
        "Ada@Example.com",
        name="Ada",
        preferences={"notificationsEnabled": True, "defaultTemperatureC": Decimal("21.5"), "theme": "dark"},
    ),
    user("456", "grace@example.com", "2039-12-01T08:00:00.250Z"),
    user("789", "o#brien@example.com"),
]
BATCHES = [
    batch("123", "abc", "active", "2040-01-02T10:00:00Z", fruits="fig", importedFrom="paper"),
    batch("123", "def", "active", "2040-01-02T10:00:00.500Z", isPublic=True, publicNote="Try it"),
    batch("456", "ghi", "active", "2040-01-02T10:00:00.000Z"),
    batch(
        "456",
        "jkl",
        "in_fridge",
        "2040-01-01T10:00:00Z",
        stage=2,
        bottleCount=4,
        bottleVolumeMl=330,
        temperatureCStage2=20,
        startTimeStage2="2040-01-03T10:00:00Z",
        targetHoursStage2=24,
    ),
    batch("456", "mno", "ready", "2040-01-01T10:00:00Z"),
    batch("123", "pqr", "archived", "2039-06-01T10:00:00Z", archivedAt="2039-07-01T10:00:00Z"),
]
EVENTS = [
    event("abc", "evt123", "2024-01-15T10:30:00Z", note="First bubbles"),  # 003:346, to the letter
    event("abc", "evt122", "2024-01-15T10:30:00.500Z", note="Half a second later"),
    event("abc", "evt125", "2024-01-15T10:30:00Z", note="At the same moment"),
    event("abc", "evt124", "2024-01-15T10:30:00.000Z", note="At the same moment, by other code"),
    event("abc", "evt999", "2024-01-15T10:29:59.999Z", "photo", photoUrl="https://x/1.jpg", photoKey="1.jpg"),
    event("abc", "evt200", "2024-01-15T10:30:01Z", "stage_transition", fromStage=1, toStage=2),
    event("def", "evt1", "2040-01-04T10:00:00Z", "status_change", fromStatus="Active", toStatus="in fridge"),
    event("def", "evt2", "2040-01-04T10:00:00Z", "status_change", fromStatus="fizzing", toStatus="ready"),
    event(
        "def", "evt3", "2040-01-05T10:00:00.250Z", "status_change", fromStatus="ready", toStatus="archived"
    ),
]
REMINDERS = [
    reminder("abc", "r1", "123", "2040-01-21T09:00:00Z", "pending", schedulerArn="arn:aws:scheduler:1"),
    reminder("abc", "r2", "123", "2040-01-21T08:59:59.999Z", "pending"),
    reminder("def", "r3", "123", "2040-01-21T09:00:00.000Z", "pending"),
    reminder("abc", "r4", "123", "2040-01-22T09:00:00Z", "sent", sentAt="2040-01-22T09:00:01Z"),
    reminder("def", "r5", "123", "2040-01-23T09:00:00.500Z", "cancelled", cancelledAt="2040-01-10T09:00:00Z"),
    reminder("ghi", "r6", "456", "2040-01-19T09:00:00Z", "pending"),
    reminder("ghi", "r7", "456", "2040-01-19T08:00:00.001Z", "pending"),
    reminder("ghi", "r8", "456", "2040-01-19T07:00:00Z", "sent", sentAt="2040-01-19T07:00:02.120Z"),
    reminder("jkl", "r9", "456", "2040-01-20T00:00:00Z", "pending"),
]
DEVICES = [
    device("123", "phone", "ExponentPushToken[a]", "2040-01-19T10:00:00Z", deviceInfo={"model": "iPhone 42"}),
    device("123", "laptop", "ExponentPushToken[b]", "2040-01-18T10:00:00.750Z", platform="web"),
    device("456", "phone", "ExponentPushToken[c]", "2039-12-24T10:00:00Z", platform="android"),
    # Silent for longer than 270 days; who has the phone now has its token.
    device("789", "phone", "ExponentPushToken[a]", "2038-12-24T10:00:00Z"),
]
ITEMS = [*USERS, *BATCHES, *EVENTS, *REMINDERS, *DEVICES]


# --- the same, as the design has it ------------------------------------------------------------------------------

_WORDS: dict[str, dict[str, Any]] = {
    "evt1": {"from_status": "active", "to_status": "in_fridge"},
    "evt2": {"from_status": None, "to_status": "ready", "note": "from fizzing"},
}


def entities() -> Iterator[Entity]:
    """Make what these items say, without reading them through the design."""
    kinds: list[tuple[type[Entity], list[Old]]] = [
        (User, USERS),
        (Batch, BATCHES),
        (BatchEvent, EVENTS),
        (Reminder, REMINDERS),
        (Device, DEVICES[:3]),  # the token of the last one is that of another device
    ]
    for kind, items in kinds:
        for item in items:
            values = snake_names(item)
            values |= _WORDS.get(item.get("eventId", ""), {})
            yield kind(**{name: value for name, value in values.items() if name in kind.model_fields})


def snake_names(values: Old) -> Old:
    """temperatureCStage2 -> temperature_c_stage2, inside of maps too"""
    named = {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): values[name] for name in values}
    return {name: snake_names(value) if isinstance(value, dict) else value for name, value in named.items()}
