"""Mistakes in the use of a design. A checker reports each marked line, and no other."""

from __future__ import annotations

from datetime import UTC, datetime

from designs.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    BatchPK,
    BatchSK,
    DeviceId,
    DeviceSK,
    DueSK,
    EventId,
    EventSK,
    Kefir,
    MetadataSK,
    Reminder,
    StatusPK,
    User,
    UserId,
    UserPK,
)
from designs.lunch import MenuPK, WeeklyMenu
from singletable.design import Query

now = datetime.now(UTC)
user_id = UserId("u1")
batch_id = BatchId("b1")
db = Kefir.open(":memory:")

# The wrong partition.
Batch.key.query(BatchPK(batch_id=batch_id))  # error
Batch.by_id.query(UserPK(user_id=user_id))  # error
Batch.key.get(BatchPK(batch_id=batch_id), BatchSK(batch_id=batch_id))  # error
Reminder.pending.query(StatusPK(status="ready", shard=0))  # error

# The wrong id.
UserPK(user_id=batch_id)  # error
UserPK(user_id="u1")  # error
db.batches(batch_id)  # error
db.device(user_id, batch_id)  # error
EventSK(created_at="2025-01-20", event_id=EventId("e1"))  # error
StatusPK(status="lost", shard=0)  # error

# A misspelt field.
UserPK(userid=user_id)  # error
UserPK(user_id).render()  # error
EventSK(created_at=now)  # error
User(user_id=user_id, email="a@example.org", nam="A")  # error
User(user_id=user_id)  # error
User(user_id=user_id, email="a@example.org").nam  # error
UserPK(user_id=user_id).userid  # error
db.btches(user_id)  # error

# A get without its sort key, with that of another entity, or with one that the table does not have.
User.key.get(UserPK(user_id=user_id))  # error
Batch.key.get(UserPK(user_id=user_id), MetadataSK())  # error
WeeklyMenu.key.get(MenuPK(restaurant="niagara", year=2025, week=3), MetadataSK())  # error
Batch.key.batch_get([UserPK(user_id=user_id)])  # error

# The sort key of another entity as a bound.
Batch.key.query(UserPK(user_id=user_id), EventSK.prefix(created_at=now))  # error
Batch.key.query(UserPK(user_id=user_id), ge=EventSK(created_at=now, event_id=EventId("e1")))  # error
other = (DueSK(due_at=now), DeviceSK(device_id=DeviceId("d1")))
Reminder.by_user.query(UserPK(user_id=user_id), between=other)  # error

# What is read has a type.
names: list[str] = db.batches(user_id).page().items  # error
event: BatchEvent = db.user(user_id).one()  # error
batch: Batch = db.user(user_id).maybe()  # error
db.export(user_id).one().events  # error
query: Query[User] = db.batches(user_id)  # error

# What is written is an entity.
db.create("u1")  # error
db.put(UserPK(user_id=user_id))  # error
db.create(db.user(user_id))  # error
db.update(user_id, name="A")  # error
db.transaction(db.user(user_id).one())  # error

# A key never changes.
UserPK(user_id=user_id).user_id = user_id  # error
