"""Deleting an item takes along what it owns: all of it, nothing else, and again after an interruption."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from designs.bands import Band, BandPK, Bands, BandSK, Fan, Gig, Song
from designs.clubs import Badge, Club, ClubId, Clubs, ClubSK, Member, MemberId, Round, TenantId, TenantPK
from designs.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    Device,
    DeviceId,
    EventId,
    Kefir,
    MetadataSK,
    Reminder,
    ReminderId,
    User,
    UserId,
    UserPK,
)
from singletable import Database
from singletable.client import EmbeddedClient
from singletable.client.calls import Call, Steps, Together
from singletable.client.capabilities import Capabilities
from singletable.clock import ManualClock
from singletable.design import (
    Cascade,
    Delete,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    SortKey,
    Table,
)
from singletable.design.writes.cascade import PAGE_ITEMS, delete_steps
from singletable.errors import (
    ConditionNotMetError,
    DeclarationError,
    InvalidItemError,
    NotFoundError,
    VersionConflictError,
)
from support.limited_targets import LimitedClient
from support.targets import TARGETS, opened

NOW = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.fixture(params=TARGETS)
def kefir(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened(request.param) as client:
        target = client.database if isinstance(client, EmbeddedClient) else client.endpoint  # type: ignore[attr-defined]
        with Kefir.open(target, stage="test", create=True) as db:
            yield db


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def clubs(clock: ManualClock) -> Iterator[Clubs]:
    with Clubs.open(":memory:", clock=clock, sleep=clock.advance) as db:
        yield db


# --- what is in the tables ------------------------------------------------------------------------


def fill(db: Kefir, user: str, batches: int = 2, of_each: int = 2) -> User:
    """Make a user with batches, their events and reminders, and devices."""
    user_id = UserId(user)
    owner = db.create(User(user_id=user_id, email=f"{user}@example.com")).entity
    for b in range(batches):
        batch_id = BatchId(f"{user}-b{b}")
        db.create(a_batch(user_id, batch_id))
        for n in range(of_each):
            db.create(BatchEvent(batch_id=batch_id, event_id=EventId(f"e{n}"), type="note", created_at=NOW))
            db.create(
                Reminder(
                    batch_id=batch_id,
                    reminder_id=ReminderId(f"r{n}"),
                    user_id=user_id,
                    message="stir",
                    due_at=NOW,
                    status="pending" if n else "sent",
                )
            )
    for n in range(of_each):
        db.create(
            Device(
                user_id=user_id, device_id=DeviceId(f"d{n}"), platform="ios", push_token="t", last_seen_at=NOW
            )
        )
    return owner


def a_batch(user_id: UserId, batch_id: BatchId) -> Batch:
    return Batch(
        user_id=user_id,
        batch_id=batch_id,
        name="milk",
        water_volume_ml=Decimal(1000),
        sugar_grams=Decimal(50),
        temperature_c=Decimal(22),
        start_time=NOW,
        target_hours_stage1=Decimal(24),
    )


def stored(db: Design) -> list[str]:
    """Return the keys of all items that are in the table."""
    keys: list[str] = []
    start: dict[str, Any] = {}
    while True:
        answer = db.session.client.call("Scan", {"TableName": db.session.table, **start})
        keys += [f"{item['PK']['S']} / {item['SK']['S']}" for item in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            return sorted(keys)
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def user_of(user: str) -> Get[User]:
    return User.key.get(UserPK(user_id=UserId(user)), MetadataSK())


# --- what is deleted ------------------------------------------------------------------------------


def test_delete_takes_along_everything_owned_and_nothing_else(kefir: Kefir) -> None:
    fill(kefir, "ann")
    others = stored(kefir)
    bo = fill(kefir, "bo")
    deleted = kefir.delete(bo)
    assert stored(kefir) == others
    assert deleted.entity is None
    assert deleted.units > 0


def test_delete_by_key_takes_along_what_is_owned(kefir: Kefir) -> None:
    fill(kefir, "bo")
    kefir.delete(user_of("bo"))
    assert stored(kefir) == []


def test_delete_by_key_cleans_up_what_an_owner_that_is_gone_has_left(kefir: Kefir) -> None:
    fill(kefir, "bo")
    key = {"PK": {"S": "USER#bo"}, "SK": {"S": "METADATA"}}
    kefir.session.client.call("DeleteItem", {"TableName": kefir.session.table, "Key": key})
    kefir.delete(user_of("bo"))
    assert stored(kefir) == []


def test_delete_of_a_batch_leaves_its_user_alone(kefir: Kefir) -> None:
    fill(kefir, "bo", batches=2, of_each=1)
    kefir.delete(kefir.batch_by_id(BatchId("bo-b0")).one())
    assert stored(kefir) == [
        "BATCH#bo-b1 / EVENT#2025-03-01T00:00:00.000Z#e0",
        "BATCH#bo-b1 / REMINDER#r0",
        "USER#bo / BATCH#bo-b1",
        "USER#bo / DEVICE#d0",
        "USER#bo / METADATA",
    ]


def test_delete_pages_through_more_than_fits_one_request(kefir: Kefir) -> None:
    user = fill(kefir, "bo", batches=1, of_each=0)
    events = [
        BatchEvent(batch_id=BatchId("bo-b0"), event_id=EventId(f"{n:04}"), type="note", created_at=NOW)
        for n in range(2 * PAGE_ITEMS + 10)
    ]
    for event in events:
        kefir.put(event)
    kefir.delete(user)
    assert stored(kefir) == []


def test_async_delete_does_the_same() -> None:
    async def delete(db: Kefir) -> tuple[Cascade, float]:
        plan = await db.adelete_plan(user_of("bo"))
        return plan, (await db.adelete(user_of("bo"))).units

    with Kefir.open(":memory:") as db:
        fill(db, "bo")
        plan, units = asyncio.run(delete(db))
        assert stored(db) == []
        assert plan.total == 13
        assert units > 0


def test_plan_counts_what_would_go_and_deletes_nothing(kefir: Kefir) -> None:
    fill(kefir, "ann")
    user = fill(kefir, "bo")
    before = stored(kefir)
    plan = kefir.delete_plan(user)
    assert plan.counts == {"BatchEvent": 4, "Reminder": 4, "Batch": 2, "Device": 2, "User": 1}
    assert plan.total == 13
    assert plan.units > 0
    assert stored(kefir) == before


def test_plan_of_an_owner_that_is_gone_counts_only_what_is_left(kefir: Kefir) -> None:
    user = fill(kefir, "bo", batches=0, of_each=1)
    key = {"PK": {"S": "USER#bo"}, "SK": {"S": "METADATA"}}
    kefir.session.client.call("DeleteItem", {"TableName": kefir.session.table, "Key": key})
    assert kefir.delete_plan(user).counts == {"Device": 1}


def test_progress_does_not_count_an_owner_that_is_gone(kefir: Kefir) -> None:
    fill(kefir, "bo", batches=0, of_each=1)
    key = {"PK": {"S": "USER#bo"}, "SK": {"S": "METADATA"}}
    kefir.session.client.call("DeleteItem", {"TableName": kefir.session.table, "Key": key})
    seen: list[dict[str, int]] = []
    kefir.delete(user_of("bo"), progress=lambda done: seen.append(dict(done.counts)))
    assert seen == [{"Device": 1}]


def test_progress_tells_how_far_a_long_delete_is(kefir: Kefir) -> None:
    user = fill(kefir, "bo")
    seen: list[tuple[int, dict[str, int]]] = []
    kefir.delete(user, progress=lambda done: seen.append((done.total, dict(done.counts))))
    totals = [total for total, _ in seen]
    assert totals == sorted(totals)
    assert seen[-1] == (13, {"BatchEvent": 4, "Reminder": 4, "Batch": 2, "Device": 2, "User": 1})


def test_entity_that_owns_nothing_is_deleted_with_one_request() -> None:
    with Database.open(":memory:") as database:
        client = LimitedClient(database, frozenset())
        db = Kefir.open(database)
        fill(db, "bo", batches=1)
        steps = delete_steps(db.session, Delete(db.device(UserId("bo"), DeviceId("d0"))))
        client.run(steps)
        assert [call.operation for call in client.calls] == ["DeleteItem"]


# --- what refuses it ------------------------------------------------------------------------------


def test_conflict_on_the_owners_version_is_found_before_anything_is_deleted(kefir: Kefir) -> None:
    stale = fill(kefir, "bo")
    kefir.update(user_of("bo"), name="Bo")
    before = stored(kefir)
    with pytest.raises(VersionConflictError):
        kefir.delete(stale)
    assert stored(kefir) == before


def test_condition_on_the_owner_is_checked_before_anything_is_deleted(kefir: Kefir) -> None:
    fill(kefir, "bo")
    before = stored(kefir)
    with pytest.raises(ConditionNotMetError):
        kefir.delete(user_of("bo"), when=Eq("name", "Ann"))
    with pytest.raises(NotFoundError):
        kefir.delete(user_of("nobody"), when=Eq("name", "Ann"))
    assert stored(kefir) == before


def test_key_of_another_entity_is_not_deleted() -> None:
    with Kefir.open(":memory:") as db:
        fill(db, "bo")
        item = {
            "PK": {"S": "USER#ann"},
            "SK": {"S": "METADATA"},
            "entityType": {"S": "Stranger"},
        }
        db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})
        before = stored(db)
        with pytest.raises(InvalidItemError, match="is a stranger, not a User"):
            db.delete(user_of("ann"))
        assert stored(db) == before


def test_only_items_that_agree_with_their_owner_are_deleted(kefir: Kefir) -> None:
    fill(kefir, "bo", batches=1, of_each=0)
    batch_id = BatchId("bo-b0")
    for user in ("ann", "bo"):
        kefir.create(
            Reminder(
                batch_id=batch_id,
                reminder_id=ReminderId(user),
                user_id=UserId(user),
                message="stir",
                due_at=NOW,
            )
        )
    before_users = {"PK": {"S": "BATCH#bo-b0"}, "SK": {"S": "REMINDER#old"}}
    kefir.session.client.call("PutItem", {"TableName": kefir.session.table, "Item": before_users})
    kefir.delete(kefir.batches(UserId("bo")).one())
    assert stored(kefir) == ["BATCH#bo-b0 / REMINDER#ann", "USER#bo / METADATA"]


# --- interruptions --------------------------------------------------------------------------------


def interrupted(db: Design, wanted: Delete[Any], calls: int) -> bool:
    """Carry out so many requests of a delete, and abandon it; tell whether it was done before."""
    steps = delete_steps(db.session, wanted)
    answer: Any = None
    done = 0
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return True
        assert not isinstance(step, Together), "one request at a time, or nobody knows which were made"
        answer = None
        if isinstance(step, Call):
            if done == calls:
                steps.close()
                return False
            answer = db.session.client.call(step.operation, step.params)
            done += 1


def test_delete_that_is_killed_after_any_request_is_finished_by_deleting_again() -> None:
    calls, is_done = 0, False
    while not is_done:
        with Kefir.open(":memory:") as db:
            fill(db, "ann", batches=1)
            others = stored(db)
            user = fill(db, "bo")
            is_done = interrupted(db, Delete(user), calls)
            left = stored(db)
            if not is_done:
                assert "USER#bo / METADATA" in left, "the owner goes last"
                for batch in ("bo-b0", "bo-b1"):
                    if any(key.startswith(f"BATCH#{batch} ") for key in left):
                        assert f"USER#bo / BATCH#{batch}" in left, "every owner goes after what it owns"
                db.delete(user)
            assert stored(db) == others
        calls += 1
    assert calls > 10


# --- places ---------------------------------------------------------------------------------------


def fill_club(db: Clubs, tenant: str, club: str, count: int = 3) -> Club:
    tenant_id, club_id = TenantId(tenant), ClubId(club)
    owner = db.create(Club(tenant_id=tenant_id, club_id=club_id)).entity
    for n in range(count):
        db.create(Member(tenant_id=tenant_id, club_id=club_id, member_id=MemberId(f"m{n}")))
        db.create(Round(club_id=club_id, number=n, created_at=NOW))
        db.create(Badge(badge_id=f"{club}{n}", club_id=club_id, code=f"{club}-{n}"))
    return owner


def test_only_the_owners_items_of_a_shared_partition_are_deleted(clubs: Clubs) -> None:
    fill_club(clubs, "t", "a")
    fill_club(clubs, "t", "ab")
    others = stored(clubs)
    clubs.delete(fill_club(clubs, "t", "b"))
    assert stored(clubs) == others


def test_shards_indexes_and_locks_are_all_emptied(clubs: Clubs) -> None:
    club = fill_club(clubs, "t", "a", count=7)
    assert clubs.delete_plan(club).counts == {"Member": 7, "Round": 7, "Badge": 7, "Club": 1}
    clubs.delete(club)
    assert stored(clubs) == []


def test_items_whose_time_is_over_are_deleted_too(clubs: Clubs, clock: ManualClock) -> None:
    club = fill_club(clubs, "t", "a", count=0)
    until = datetime.fromtimestamp(clock.now_us() / 1e6, UTC) + timedelta(seconds=5)
    clubs.create(Member(tenant_id=TenantId("t"), club_id=ClubId("a"), member_id=MemberId("m"), until=until))
    clock.advance(10)
    clubs.delete(club)
    assert stored(clubs) == []


def test_index_that_lags_behind_is_looked_at_until_it_shows_nothing_new(clock: ManualClock) -> None:
    engine = {"index_delay_s": 0.2, "ttl_sweep_s": None}
    with Clubs.open(":memory:", clock=clock, sleep=clock.advance, engine=engine) as db:
        club = fill_club(db, "t", "a", count=3)
        clock.advance(1)
        db.create(Badge(badge_id="late", club_id=ClubId("a"), code="late"))
        db.delete(club)
        assert [key for key in stored(db) if "late" not in key] == []
        clock.advance(1)
        db.delete(Club.key.get(TenantPK(tenant_id=TenantId("t")), ClubSK(club_id=ClubId("a"))))
        assert stored(db) == []


def test_delete_of_locked_items_that_is_killed_is_finished_by_deleting_again(clock: ManualClock) -> None:
    calls, is_done = 0, False
    while not is_done:
        with Clubs.open(":memory:", clock=clock, sleep=clock.advance) as db:
            fill_club(db, "t", "a", count=1)
            others = stored(db)
            club = fill_club(db, "t", "b", count=2)
            is_done = interrupted(db, Delete(club), calls)
            if not is_done:
                db.delete(club)
            assert stored(db) == others
        calls += 1


# --- counters, and fields that are not of the key -----------------------------------------------


@pytest.fixture(params=[True, False], ids=["transactions", "one by one"])
def bands(request: pytest.FixtureRequest) -> Iterator[Bands]:
    with Bands.open(":memory:", capabilities=Capabilities(transactions=request.param)) as db:
        yield db


def fill_band(db: Bands, band_id: str) -> Band:
    band = db.create(Band(band_id=band_id, fan_club=f"{band_id}-club")).entity
    for n in range(3):
        db.create(Song(band_id=band_id, song_id=f"s{n}"))
        db.create(Gig(band_id=band_id, gig_id=f"g{n}"))
        db.create(Fan(band_id=band_id, fan_club=f"{band_id}-club", name=f"f{n}"))
    return band


def band_of(band_id: str) -> Get[Band]:
    return Band.key.get(BandPK(band_id=band_id), BandSK())


def test_what_an_owner_counts_is_deleted_with_it(bands: Bands) -> None:
    fill_band(bands, "a")
    others = stored(bands)
    band = fill_band(bands, "b")
    assert bands.plan(band_of("b")).one().songs == 3
    bands.delete(band)
    assert stored(bands) == others
    assert bands.plan(band_of("a")).one().songs == 3


def test_what_a_gone_owner_would_count_is_deleted_all_the_same(bands: Bands) -> None:
    fill_band(bands, "b")
    key = {"PK": {"S": "BAND#b"}, "SK": {"S": "BAND"}}
    bands.session.client.call("DeleteItem", {"TableName": bands.session.table, "Key": key})
    bands.delete(band_of("b"))
    assert stored(bands) == [f"FANS#b-club#b / FAN#f{n}" for n in range(3)], (
        "what the key does not tell is left"
    )
    bands.delete(Band(band_id="b", fan_club="b-club", version=0))
    assert stored(bands) == []


def test_counter_of_a_delete_that_was_killed_tells_what_is_left() -> None:
    with Bands.open(":memory:") as db:
        band = fill_band(db, "b")
        for calls in range(20):
            interrupted(db, Delete(band_of("b")), calls)
            left = db.plan(band_of("b")).maybe()
            songs = [key for key in stored(db) if "SONG" in key]
            assert (left.songs if left else 0) == len(songs)
            if left is None:
                break
        assert stored(db) == []
        assert band.songs == 0, "as it was read"


# --- size -----------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_what_is_deleted() -> None:
    pages = 100  # ten thousand keys would take 7 MB
    with Kefir.open(":memory:") as db:
        steps = delete_steps(db.session, Delete(user_of("bo")))
        tracemalloc.start()
        try:
            answers = answer_with_devices(steps, pages)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert answers["BatchWriteItem"] == pages * PAGE_ITEMS / 25
    assert peak < 1_000_000


def answer_with_devices(steps: Steps[Any], pages: int) -> Counter[str]:
    """Answer a delete as a table would that holds a user with nothing but so many pages of devices."""
    answers: Counter[str] = Counter()
    page = 0
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return answers
        assert isinstance(step, Call)
        answers[step.operation] += 1
        answer = {}
        if step.operation == "Query":
            assert step.params["Limit"] == PAGE_ITEMS
            is_devices = "DEVICE#" in str(step.params["ExpressionAttributeValues"])
            answer = {"Items": devices(page) if is_devices else []}
            if is_devices:
                page += 1
                if page < pages:
                    answer["LastEvaluatedKey"] = {name: answer["Items"][-1][name] for name in ("PK", "SK")}


def devices(page: int) -> list[Any]:
    names = (f"DEVICE#{page:06}-{n:03}" for n in range(PAGE_ITEMS))
    return [{"PK": {"S": "USER#bo"}, "SK": {"S": name}, "entityType": {"S": "Device"}} for name in names]


# --- declarations ---------------------------------------------------------------------------------


class OtherTable(Table):
    name = "other"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class ParentPK(Key, template="PARENT#{parent_id}"):
    parent_id: str


class ChildPK(Key, template="CHILD#{child_id}"):
    child_id: str


class OnlySK(SortKey, template="ONLY"):
    pass


class ChildSK(SortKey, template="CHILD#{child_id}"):
    child_id: str


class ConfigPK(Key, template="CONFIG"):
    pass


def test_owned_entity_that_cannot_be_found_is_refused() -> None:
    class Parent(Entity, owns=("Child",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    class Child(Entity):
        key = Keys(ChildPK, OnlySK)
        child_id: str

    with pytest.raises(
        DeclarationError, match="Parent owns Child, but no key of Child is built from fields of Parent"
    ):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent, Child)


def test_partition_that_all_owners_share_is_refused() -> None:
    class Parent(Entity, owns=("Child",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    class Child(Entity):
        key = Keys(ConfigPK, ChildSK)
        child_id: str

    with pytest.raises(DeclarationError, match="no key of Child"):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent, Child)


def test_partition_that_does_not_tell_owners_apart_is_refused() -> None:
    class Parent(Entity, owns=("Grandchild",)):
        key = Keys(ParentPK, ChildSK)
        parent_id: str
        child_id: str

    class GrandchildSK(SortKey, template="GRANDCHILD#{number}"):
        number: int

    class Grandchild(Entity):
        key = Keys(ParentPK, GrandchildSK)
        parent_id: str
        number: int

    with pytest.raises(DeclarationError, match="no key of Grandchild"):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent, Grandchild)


def test_sparse_index_is_not_enough_to_find_what_is_owned() -> None:
    class Parent(Entity, owns=("Child",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    class Child(Entity):
        key = Keys(ChildPK, OnlySK)
        by_parent = OtherTable.gsi1.keys(ParentPK, ChildSK, when=Eq("is_open", True))
        child_id: str
        parent_id: str
        is_open: bool

    with pytest.raises(DeclarationError, match="does not hold every item"):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent, Child)


def test_owned_entity_that_the_design_does_not_have_is_refused() -> None:
    class Parent(Entity, owns=("Nobody",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    with pytest.raises(
        DeclarationError, match="Parent has an owns= that cannot be: Nobody is not an entity of Wrong"
    ):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent,)


def test_ownership_in_a_circle_is_refused() -> None:
    class Parent(Entity, owns=("Child",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    class Child(Entity, owns=("Parent",)):
        key = Keys(ParentPK, ChildSK)
        parent_id: str
        child_id: str

    with pytest.raises(DeclarationError, match="Parent owns Child owns Parent"):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent, Child)


def test_entity_that_owns_itself_is_refused() -> None:
    class Parent(Entity, owns=("Parent",)):
        key = Keys(ParentPK, OnlySK)
        parent_id: str

    with pytest.raises(DeclarationError, match="circle"):

        class Wrong(Design):
            table = OtherTable
            entities = (Parent,)
