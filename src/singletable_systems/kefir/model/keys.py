"""The table of Kefir and its keys: the glossary of the design. Templates are those of the design document."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NewType

from singletable import Index, Key, Normalize, ShardOf, SortKey, Table, Verbatim

UserId = NewType("UserId", str)
BatchId = NewType("BatchId", str)
EventId = NewType("EventId", str)
ReminderId = NewType("ReminderId", str)
DeviceId = NewType("DeviceId", str)

Stage = Literal[1, 2]
Status = Literal["active", "in_fridge", "ready", "archived"]


class KefirTable(Table):
    """One table for each stage of deployment."""

    name = "kefir-app-{stage}-table"
    # KF-12: the document says "AWS managed (default)"; the default is the key that AWS owns, and is free.
    encryption = "AWS_OWNED"
    pitr_days = 35  # added: KF-23
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")  # added: KF-01, KF-02


# --- partition keys -------------------------------------------------------------------------------------


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class BatchPK(Key, template="BATCH#{batch_id}"):
    batch_id: BatchId


class StatusPK(Key, template="STATUS#{status}#{shard}"):
    """Added, KF-01: batches of all users by their status, spread over shards (KF-25)."""

    status: Status
    shard: Annotated[int, ShardOf(4, by="batch_id")]


class PendingPK(Key, template="REMINDER#PENDING#{shard}"):
    """Added, KF-02: the queue of reminders that are still to be sent, of all users, in shards (KF-25)."""

    shard: Annotated[int, ShardOf(4, by="reminder_id")]


class EmailPK(Key, template="EMAIL#{email}"):
    """Added, KF-22: the lock of an email address, in either case."""

    email: Annotated[str, Normalize(str.casefold), Verbatim()]  # o#brien@example.com is one too


class PushTokenPK(Key, template="PUSHTOKEN#{push_token}"):
    """Added, KF-20: the lock of a push token, which is of one device."""

    push_token: str


# --- sort keys --------------------------------------------------------------------------------------------


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
    """KF-06: one item for each partition, so the order serves nobody; kept as documented."""

    status: Status
    created_at: datetime


class DueSK(SortKey, template="DUE#{due_at}"):
    due_at: datetime


class CreatedSK(SortKey, template="BATCH#{created_at}#{batch_id}"):
    """Added, KF-01."""

    created_at: datetime
    batch_id: BatchId


class NextTrySK(SortKey, template="DUE#{next_try_at}#{reminder_id}"):
    """Added, KF-02: at first, the next try is when it is due. With the id, so that no two are equal (KF-24)."""

    next_try_at: datetime
    reminder_id: ReminderId
