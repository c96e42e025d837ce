"""A program that uses a design as it is meant: every checker accepts it, and knows the types of what it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import assert_type

from designs.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    BatchPK,
    BatchSK,
    BatchView,
    Device,
    DeviceId,
    EventId,
    EventSK,
    Kefir,
    MetadataSK,
    Reminder,
    StatusPK,
    User,
    UserExport,
    UserId,
    UserPK,
)
from designs.lunch import LunchCache, WeeklyMenu
from singletable.design import BatchGet, Collect, Get, Merged, Page, Put, Query, Written, shards

now = datetime.now(UTC)
user_id = UserId("u1")
batch_id = BatchId("b1")

# The times that the layer fills in, and the version, need not be given.
user = User(user_id=user_id, email="a@example.org")
batch = Batch(
    user_id=user_id,
    batch_id=batch_id,
    name="first",
    water_volume_ml=Decimal(900),
    sugar_grams=Decimal("37.5"),
    temperature_c=Decimal(20),
    start_time=now,
    target_hours_stage1=Decimal(48),
)
event = BatchEvent(batch_id=batch_id, event_id=EventId("e1"), type="note", note="fizzy", created_at=now)

db = Kefir.open(":memory:")

assert_type(db, Kefir)
assert_type(db.user(user_id), Get[User])
assert_type(db.user(user_id).one(), User)
assert_type(db.user(user_id).maybe(), User | None)
assert_type(db.batches(user_id), Query[Batch])
assert_type(db.batches(user_id).newest_first().page(limit=20), Page[Batch])
assert_type(db.batches(user_id).page().items, list[Batch])
assert_type(db.batches(user_id).where(status="active").first(), Batch | None)
assert_type(db.batches_by_status("active"), Merged[Batch])
assert_type(list(db.batches_by_status("active").all()), list[Batch])
assert_type(db.export(user_id), Collect[UserExport])
assert_type(db.export(user_id).one().batches, list[Batch])
assert_type(db.batch_view(batch_id).one(), BatchView)
assert_type(db.device(user_id, DeviceId("d1")).one(), Device)

assert_type(db.create(batch), Written[Batch])
assert_type(db.put(event).entity, BatchEvent)
assert_type(db.update(batch, status="ready").entity, Batch)
assert_type(
    db.update(Batch.key.get(UserPK(user_id=user_id), BatchSK(batch_id=batch_id)), status="ready").entity,
    Batch,
)

# Plans that are made by hand.
assert_type(Batch.key.get(UserPK(user_id=user_id), BatchSK(batch_id=batch_id)), Get[Batch])
assert_type(Batch.by_id.query(BatchPK(batch_id=batch_id)), Query[Batch])
assert_type(
    BatchEvent.key.query(BatchPK(batch_id=batch_id), gt=EventSK.prefix(created_at=now)), Query[BatchEvent]
)
assert_type(Batch.key.batch_get([(UserPK(user_id=user_id), BatchSK(batch_id=batch_id))]), BatchGet[Batch])
assert_type(Batch.key.batch_get([(UserPK(user_id=user_id), BatchSK(batch_id=batch_id))]).all(), list[Batch])
assert_type(
    Merged([Batch.by_status.query(StatusPK(status="ready", shard=shard)) for shard in shards(StatusPK)]),
    Merged[Batch],
)

# A pattern that writes.
menu = WeeklyMenu(restaurant="niagara", year=2025, week=3, cached_at=now)
assert_type(LunchCache.open(":memory:").store(menu), Put[WeeklyMenu])
assert_type(LunchCache.open(":memory:").store(menu).run(), Written[WeeklyMenu])

# The keys of an entity.
assert_type(batch.key, tuple[UserPK, BatchSK])
assert_type(user.key[1], MetadataSK)
assert_type(UserPK.parse("USER#u1"), UserPK)
assert_type(UserPK(user_id=user_id).user_id, UserId)


async def read_later() -> None:
    assert_type(await db.user(user_id).aone(), User)
    assert_type((await db.batches(user_id).apage()).items, list[Batch])
    async for reminder in db.due(now).aall():
        assert_type(reminder, Reminder)
    assert_type(await db.acreate(user), Written[User])
