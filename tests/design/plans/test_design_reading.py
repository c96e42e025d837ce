"""Reading: every pattern finds exactly what is there, in its order, and says what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from designs.feed import AuthorId, AuthorPK, Badge, Feed, Post, PostId, PostSK
from designs.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    BatchPK,
    Device,
    DeviceId,
    EventId,
    EventSK,
    Kefir,
    Reminder,
    ReminderId,
    Status,
    User,
    UserId,
    UserPK,
)
from singletable.clock import ManualClock
from singletable.design import (
    Collection,
    Design,
    Entity,
    Gt,
    Merged,
    Put,
    Query,
    Usage,
    collect,
    gather,
    pattern,
)
from singletable.design.plans.reader import Reader
from singletable.errors import (
    ConsistencyError,
    DeclarationError,
    NotFoundError,
    SeveralFoundError,
    TableMissingError,
)
from support.opened_designs import call, opened_design, store
from support.targets import EVERY_TARGET

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MILLISECOND = timedelta(milliseconds=1)
STATUSES: tuple[Status, ...] = ("active", "in_fridge", "ready", "archived")
# Texts of which one begins with the other, in both orders: their partitions are neighbours.
USERS = [UserId("u1"), UserId("u10"), UserId("u"), UserId("ü1")]
BATCHES = [BatchId("b1"), BatchId("b10"), BatchId("b"), BatchId("b2")]


def users() -> Iterator[Entity]:
    for user_id in USERS:
        yield User(user_id=user_id, email=f"{user_id}@example.com", created_at=NOW, updated_at=NOW)
        for n in range(3):
            yield Device(
                user_id=user_id,
                device_id=DeviceId(f"d{n}"),
                platform="web",
                push_token=f"{user_id}{n}",
                created_at=NOW,
                last_seen_at=NOW,
            )


def batches() -> Iterator[Entity]:
    for number, user_id in enumerate(USERS):
        for n in range(6):
            yield Batch(
                user_id=user_id,
                batch_id=BatchId(f"{BATCHES[n]}" if number == 0 and n < len(BATCHES) else f"x{number}-{n}"),
                name=f"batch {n}",
                status=STATUSES[n % 4],
                water_volume_ml=Decimal(1000),
                sugar_grams=Decimal("37.5"),
                temperature_c=Decimal("22.25"),
                start_time=NOW,
                target_hours_stage1=Decimal(48),
                created_at=NOW + MINUTE * (n // 2),  # equal times, also of different users
            )


def activity() -> Iterator[Entity]:
    for batch_id in BATCHES:
        for n in range(5):
            moment = NOW + MILLISECOND * (n // 2)  # two in each millisecond
            yield BatchEvent(batch_id=batch_id, event_id=EventId(f"e{n}"), type="note", created_at=moment)
        for n in range(6):
            yield Reminder(
                batch_id=batch_id,
                reminder_id=ReminderId(f"{batch_id}-r{n}"),
                user_id=USERS[n % 3],
                message="stir",
                due_at=NOW + MINUTE * (n // 2),
                status="sent" if n == 3 else "pending",
                created_at=NOW,
            )


@pytest.fixture(scope="module", params=EVERY_TARGET)
def kefir(request: pytest.FixtureRequest) -> Iterator[tuple[Kefir, list[Any]]]:
    """A Kefir full of neighbours, with the list of everything in it."""
    with opened_design(Kefir, request.param, stage="test") as db:
        everything = [*users(), *batches(), *activity()]
        for entity in everything:
            db.create(entity)
        yield db, everything


@pytest.fixture(params=EVERY_TARGET)
def feed(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Feed]:
    with opened_design(Feed, request.param, clock) as db:
        yield db


def of(kind: type[Any], everything: Iterable[Any], **fields: Any) -> list[Any]:
    return [
        entity
        for entity in everything
        if type(entity) is kind and all(getattr(entity, name) == value for name, value in fields.items())
    ]


def keys(entities: Iterable[Any]) -> list[str]:
    return [" / ".join(part.render() for part in entity.key) for entity in entities]


def assert_same(found: Iterable[Any], expected: list[Any], *, order: Any) -> None:
    """Compare with what brute force finds. Items that the index holds under one key may come in any order."""
    rows = list(found)
    assert sorted(keys(rows)) == sorted(keys(expected))
    assert [order(row) for row in rows] == sorted(order(row) for row in expected)
    by_key = dict(zip(keys(expected), expected, strict=True))
    assert all(row == by_key[key] for key, row in zip(keys(rows), rows, strict=True))


# --- the patterns of Kefir, against brute force -----------------------------------------------------------


def test_user_by_id(kefir: tuple[Kefir, list[Any]]) -> None:
    db, everything = kefir
    for user_id in USERS:
        assert db.user(user_id).one() == of(User, everything, user_id=user_id)[0]
    assert db.user(UserId("nobody")).maybe() is None


@pytest.mark.parametrize("user_id", USERS)
def test_batches_of_a_user(kefir: tuple[Kefir, list[Any]], user_id: UserId) -> None:
    db, everything = kefir
    expected = of(Batch, everything, user_id=user_id)
    assert_same(db.batches(user_id).all(), expected, order=lambda row: row.batch_id)


@pytest.mark.parametrize("batch_id", BATCHES)
def test_batch_by_id(kefir: tuple[Kefir, list[Any]], batch_id: BatchId) -> None:
    db, everything = kefir
    assert [db.batch_by_id(batch_id).one()] == of(Batch, everything, batch_id=batch_id)


@pytest.mark.parametrize("status", STATUSES)
def test_batches_by_status(kefir: tuple[Kefir, list[Any]], status: Status) -> None:
    db, everything = kefir
    expected = of(Batch, everything, status=status)
    assert_same(
        db.batches_by_status(status).all(), expected, order=lambda row: (row.created_at, row.batch_id)
    )
    newest = keys(db.batches_by_status(status).newest_first().all())
    assert newest == keys(sorted(expected, key=lambda row: (row.created_at, row.batch_id), reverse=True))


@pytest.mark.parametrize("batch_id", BATCHES)
def test_events_of_a_batch_oldest_and_newest_first(kefir: tuple[Kefir, list[Any]], batch_id: BatchId) -> None:
    db, everything = kefir
    expected = of(BatchEvent, everything, batch_id=batch_id)
    assert_same(db.events(batch_id).all(), expected, order=lambda row: (row.created_at, row.event_id))
    newest = db.events(batch_id).newest_first().all()
    assert keys(newest) == keys(reversed(list(db.events(batch_id).all())))


@pytest.mark.parametrize("since", [NOW - MILLISECOND, NOW, NOW + MILLISECOND, NOW + MINUTE])
def test_events_since_are_strictly_after_and_no_reminders(
    kefir: tuple[Kefir, list[Any]], since: datetime
) -> None:
    db, everything = kefir
    expected = [row for row in of(BatchEvent, everything, batch_id="b1") if row.created_at > since]
    found = db.events_since(BatchId("b1"), since).all()
    assert_same(found, expected, order=lambda row: (row.created_at, row.event_id))
    assert found.usage.thrown_away == 0


@pytest.mark.parametrize("batch_id", BATCHES)
def test_reminders_of_a_batch(kefir: tuple[Kefir, list[Any]], batch_id: BatchId) -> None:
    db, everything = kefir
    expected = of(Reminder, everything, batch_id=batch_id)
    assert_same(db.reminders(batch_id).all(), expected, order=lambda row: row.reminder_id)


@pytest.mark.parametrize("user_id", USERS)
def test_upcoming_reminders_are_pending_ones(kefir: tuple[Kefir, list[Any]], user_id: UserId) -> None:
    db, everything = kefir
    pending = of(Reminder, everything, user_id=user_id, status="pending")
    for now in (NOW, NOW + MINUTE, NOW + MINUTE * 9):
        expected = [row for row in pending if row.due_at >= now]
        assert_same(db.upcoming(user_id, now).all(), expected, order=lambda row: row.due_at)
    assert_same(
        db.upcoming(user_id, NOW, 0).all(),
        [row for row in pending if row.due_at == NOW],
        order=lambda row: row.due_at,
    )


def test_due_reminders_are_pending_and_before_now(kefir: tuple[Kefir, list[Any]]) -> None:
    db, everything = kefir
    pending = of(Reminder, everything, status="pending")
    for now in (NOW, NOW + MINUTE, NOW + MINUTE + MILLISECOND, NOW + MINUTE * 9):
        expected = [row for row in pending if row.due_at < now]
        assert_same(db.due(now).all(), expected, order=lambda row: (row.due_at, row.reminder_id))


@pytest.mark.parametrize("user_id", USERS)
def test_devices_of_a_user(kefir: tuple[Kefir, list[Any]], user_id: UserId) -> None:
    db, everything = kefir
    expected = of(Device, everything, user_id=user_id)
    assert_same(db.devices(user_id).all(), expected, order=lambda row: row.device_id)
    for device in expected:
        assert db.device(user_id, device.device_id).one() == device


@pytest.mark.parametrize("status", STATUSES)
def test_batches_of_a_user_in_a_status(kefir: tuple[Kefir, list[Any]], status: Status) -> None:
    db, everything = kefir
    found = db.batches_in(USERS[0], status).all()
    expected = of(Batch, everything, user_id=USERS[0], status=status)
    assert_same(found, expected, order=lambda row: row.batch_id)
    assert found.usage.read == 6
    assert found.usage.thrown_away == 6 - len(expected)


def test_batch_view_has_the_batch_its_newest_events_and_its_reminders(kefir: tuple[Kefir, list[Any]]) -> None:
    db, everything = kefir
    view = db.batch_view(BatchId("b1")).one()
    assert [view.batch] == of(Batch, everything, batch_id="b1")
    assert [row.event_id for row in view.events] == ["e4", "e3", "e2", "e1", "e0"]
    assert_same(view.reminders, of(Reminder, everything, batch_id="b1"), order=lambda row: row.reminder_id)
    assert db.batch_view(BatchId("nothing")).maybe() is None


@pytest.mark.parametrize("user_id", USERS)
def test_export_has_everything_of_the_user_and_nothing_else(
    kefir: tuple[Kefir, list[Any]], user_id: UserId
) -> None:
    db, everything = kefir
    found = db.export(user_id).found()
    export = found.item
    assert export is not None
    assert [export.user] == of(User, everything, user_id=user_id)
    assert_same(export.batches, of(Batch, everything, user_id=user_id), order=lambda row: row.batch_id)
    assert_same(export.devices, of(Device, everything, user_id=user_id), order=lambda row: row.device_id)
    assert (found.usage.read, found.usage.thrown_away) == (10, 0)


def test_activity_of_a_batch(kefir: tuple[Kefir, list[Any]]) -> None:
    db, everything = kefir
    found = db.batch_activity(BatchId("b")).one()
    assert_same(found.events, of(BatchEvent, everything, batch_id="b"), order=lambda row: row.event_id)
    assert_same(found.reminders, of(Reminder, everything, batch_id="b"), order=lambda row: row.reminder_id)


def test_bounds_that_no_key_is_between_find_nothing_and_ask_nobody(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    moment = EventSK.prefix(created_at=NOW)
    found = db.plan(BatchEvent.key.query(BatchPK(batch_id=BatchId("b1")), gt=moment, lt=moment)).page()
    assert (found.items, found.cursor, found.usage) == ([], None, Usage())


# --- one of many ------------------------------------------------------------------------------------------


def test_first_maybe_and_one(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    events = db.events(BatchId("b1"))
    first = events.first()
    assert first is not None
    assert first.event_id == "e0"
    newest = events.newest_first().first()
    assert newest is not None
    assert newest.event_id == "e4"
    with pytest.raises(SeveralFoundError, match="finds several items"):
        events.maybe()
    with pytest.raises(SeveralFoundError):
        events.one()
    nothing = db.events(BatchId("none"))
    assert nothing.first() is None
    assert nothing.maybe() is None
    with pytest.raises(NotFoundError, match="finds nothing"):
        nothing.one()
    with pytest.raises(NotFoundError, match=r"Device of UserPK\(user_id='u1'\)"):
        db.device(USERS[0], DeviceId("none")).one()


def test_first_goes_on_when_a_filter_throws_the_beginning_away(kefir: tuple[Kefir, list[Any]]) -> None:
    db, everything = kefir
    found = db.batches(USERS[0]).where(status="archived").first()
    assert [found] == of(Batch, everything, user_id=USERS[0], status="archived")


# --- consistency ------------------------------------------------------------------------------------------


def test_consistent_read_of_an_index_is_refused(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    with pytest.raises(ConsistencyError, match="index GSI1, which is eventually consistent"):
        db.batch_by_id(BatchId("b1")).consistent()
    with pytest.raises(ConsistencyError):
        db.batches_by_status("ready").consistent()
    with pytest.raises(ConsistencyError):
        db.batch_view(BatchId("b1")).consistent()


def test_consistent_reads_of_the_table_cost_twice(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    plan = db.batches(USERS[0])
    assert plan.consistent().request()["ConsistentRead"] is True
    assert plan.consistent().page().units == plan.page().units * 2
    assert db.export(USERS[0]).consistent().found().units == db.export(USERS[0]).found().units * 2
    merged = db.plan(Merged([plan])).consistent()
    assert [request["ConsistentRead"] for request in merged.request()] == [True]


# --- what it cost -----------------------------------------------------------------------------------------


def spent(db: Design, requests: list[dict[str, Any]]) -> float:
    """Ask the target the same, and add up what it says."""
    units = 0.0
    for request in requests:
        answer = db.session.client.call("Query", request)
        units += answer["ConsumedCapacity"]["CapacityUnits"]
    return units


def test_units_are_those_that_the_target_reports(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    plan = db.batches(USERS[0])
    assert plan.page(limit=50).units == spent(db, [plan.request(limit=50)]) > 0
    merged = db.batches_by_status("active")
    assert merged.page(limit=50).units == spent(db, merged.request(limit=50)) > 0
    rows = plan.all()
    list(rows)
    assert rows.usage == Usage(spent(db, [plan.request()]), 6, 0)
    assert db.user(USERS[0]).found().usage == Usage(1.0, 1, 0)
    assert db.user(UserId("nobody")).found().usage == Usage(1.0, 0, 0)


# --- pages of a megabyte, and filters ---------------------------------------------------------------------

AUTHOR = AuthorId("a")


def post(number: int, **fields: Any) -> Post:
    values = {"author_id": AUTHOR, "post_id": PostId(f"p{number:04}"), "created_at": NOW + MINUTE * number}
    return Post(**{**values, **fields})


def test_more_than_a_megabyte_is_read_through(feed: Feed) -> None:
    for n in range(40):
        feed.put(post(n, text="x" * 60_000))
    expected = [f"p{n:04}" for n in range(40)]
    assert [row.post_id for row in feed.posts(AUTHOR).all()] == expected
    assert [row.post_id for row in feed.posts(AUTHOR).page(limit=100)] == expected
    assert [row.post_id for row in feed.posts(AUTHOR).newest_first().page(limit=39)] == expected[:0:-1]
    assert [row.post_id for row in feed.author(AUTHOR).one().posts] == expected


def test_filter_that_throws_everything_away_says_what_it_read(feed: Feed) -> None:
    feed.batch(*(Put(post(n)) for n in range(60)))
    page = feed.posts(AUTHOR).where(Gt("likes", 5)).page(limit=10)
    assert page.items == []
    assert page.cursor is None
    assert page.usage.read == page.usage.thrown_away == 60
    assert page.units > 0


def test_filter_that_throws_most_away_is_not_asked_a_few_items_at_a_time(feed: Feed) -> None:
    feed.batch(*(Put(post(n, likes=n % 50)) for n in range(300)))
    plan = feed.posts(AUTHOR).where(likes=49)
    steps = Reader(feed.session).page(plan, 5, None)
    limits: list[int] = []

    def go_on() -> None:
        step: Any = next(steps)
        while True:
            limits.append(step.params["Limit"])
            step = steps.send(feed.session.client.call(step.operation, step.params))

    with pytest.raises(StopIteration) as end:
        go_on()
    assert [row.post_id for row in end.value.value] == [f"p{n:04}" for n in range(49, 250, 50)]
    assert limits == sorted(limits)
    assert len(limits) < 10


# --- other entities of the partition, items of nobody -----------------------------------------------------


def test_items_of_other_entities_under_the_same_prefix_are_thrown_away(feed: Feed) -> None:
    feed.put(post(1))
    stranger = {"PK": {"S": "AUTHOR#a"}, "SK": {"S": "POST#9"}, "entityType": {"S": "Stranger"}}
    unknown = {"PK": {"S": "AUTHOR#a"}, "SK": {"S": "POST#8"}}
    store(feed, stranger)
    store(feed, unknown)
    page = feed.posts(AUTHOR).page()
    assert keys(page) == keys([post(1)])
    assert (page.usage.read, page.usage.thrown_away) == (3, 2)
    found = feed.author(AUTHOR).found()
    assert found.item is not None
    assert keys(found.item.posts) == keys([post(1)])
    assert (found.usage.read, found.usage.thrown_away) == (3, 2)


def test_old_items_without_a_discriminator_are_known_by_their_keys(feed: Feed) -> None:
    feed.put(post(1))
    call(
        feed,
        "UpdateItem",
        Key={name: {"S": key.render()} for name, key in zip(("PK", "SK"), post(1).key, strict=True)},
        UpdateExpression="REMOVE entityType",
    )
    assert keys(feed.posts(AUTHOR).all()) == keys([post(1)])
    assert keys(feed.author(AUTHOR).one().posts) == keys([post(1)])


# --- time to live -----------------------------------------------------------------------------------------


def test_items_whose_time_is_over_are_hidden_everywhere(feed: Feed, clock: ManualClock) -> None:
    now = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC)
    over, lasting = post(1, ttl=now), post(2, ttl=now + MINUTE)
    badge = Badge(author_id=AUTHOR, name="gold", ttl=now - MINUTE)
    for entity in (over, lasting, badge):
        feed.put(entity)
    assert feed.post(AUTHOR, over.created_at, over.post_id).maybe() is None
    assert feed.post(AUTHOR, lasting.created_at, lasting.post_id).one() == lasting
    assert keys(feed.posts(AUTHOR).all()) == keys([lasting])
    assert feed.several([over.key, lasting.key]).found().item == [None, lasting]
    assert feed.several([over.key, lasting.key]).all() == [lasting]
    page = feed.author(AUTHOR).found()
    assert page.item is not None
    assert (keys(page.item.posts), page.item.badges) == (keys([lasting]), [])
    assert page.usage.thrown_away == 2
    clock.jump(60)
    assert list(feed.posts(AUTHOR).all()) == []


# --- many keys --------------------------------------------------------------------------------------------


def test_batch_get_returns_each_key_in_its_place(feed: Feed) -> None:
    posts = [post(n) for n in range(240)]
    feed.batch(*(Put(each) for each in posts[:230]))
    wanted = [each.key for each in [*posts, *posts[:10]]]
    found = feed.several(wanted).found()
    assert found.item == [*posts[:230], *[None] * 10, *posts[:10]]
    assert found.usage.read == 230
    assert found.units in (120, 115)  # DynamoDB Local asks nothing for keys that are not there
    assert len(feed.several(wanted).all()) == 240
    assert feed.several([]).found().item == []


def test_batch_get_asks_again_for_what_is_left_unprocessed(feed: Feed) -> None:
    posts = [post(n, text="x" * 90_000, author_id=AuthorId(f"a{n}")) for n in range(220)]
    feed.batch(*(Put(each) for each in posts))  # a request returns 16 MB at most, so some wait
    assert feed.several([each.key for each in posts]).all() == posts


def test_consistent_batch_get_costs_twice(feed: Feed) -> None:
    feed.put(post(1))
    plan = feed.several([post(1).key])
    assert plan.consistent().found().units == plan.found().units * 2


# --- collections ------------------------------------------------------------------------------------------


def test_collection_of_a_part_of_the_partition_reads_only_that(kefir: tuple[Kefir, list[Any]]) -> None:
    class Gear(Collection):
        batches: list[Batch]
        devices: list[Device]

    class Profile(Collection):
        user: User | None
        devices: list[Device]

    db, everything = kefir
    gear = db.plan(collect(Gear, UserPK(user_id=USERS[0])))
    assert gear.request()["ExpressionAttributeValues"][":1"] == {"S": "BATCH#"}
    assert gear.found().usage.read == 9  # not the user
    found = db.plan(collect(Profile, UserPK(user_id=USERS[0]))).one()
    assert [found.user] == of(User, everything, user_id=USERS[0])
    assert db.plan(collect(Profile, UserPK(user_id=UserId("x")))).one() == Profile(user=None, devices=[])


def test_collection_with_one_of_many_says_so(kefir: tuple[Kefir, list[Any]]) -> None:
    class Single(Collection):
        device: Device

    db, _ = kefir
    with pytest.raises(SeveralFoundError, match="several items of Device"):
        db.plan(collect(Single, UserPK(user_id=USERS[0]))).one()


def test_collection_with_two_fields_of_one_entity_is_refused() -> None:
    class Twice(Collection):
        some: list[Device]
        others: list[Device]

    with pytest.raises(DeclarationError, match="two fields of one entity"):
        collect(Twice, UserPK(user_id=USERS[0]))


def test_collection_of_an_entity_that_is_elsewhere_is_refused(kefir: tuple[Kefir, list[Any]]) -> None:
    class Wrong(Collection):
        events: list[BatchEvent]

    db, _ = kefir
    with pytest.raises(DeclarationError, match="BatchEvent is not under UserPK in the table"):
        db.plan(collect(Wrong, UserPK(user_id=USERS[0]))).one()


def test_gathering_names_every_field() -> None:
    class Pair(Collection):
        user: User
        devices: list[Device]

    with pytest.raises(DeclarationError, match="devices is missing or unknown"):
        gather(Pair, user=User.key.query(UserPK(user_id=USERS[0])))


def test_collection_of_other_things_is_refused() -> None:
    class Numbers(Collection):
        count: int

    with pytest.raises(DeclarationError, match="a collection holds entities"):
        collect(Numbers, UserPK(user_id=USERS[0]))


# --- a table that is not there ----------------------------------------------------------------------------


def test_missing_table_is_said_in_the_designs_words(kefir: tuple[Kefir, list[Any]]) -> None:
    db, _ = kefir
    session = db.session
    elsewhere = type(session)(session.client, "elsewhere", session.catalog, b"", {})
    with pytest.raises(TableMissingError, match="the table elsewhere of Kefir"):
        db.user(USERS[0]).on(Reader(elsewhere)).maybe()


def test_sort_keys_are_bounds_by_their_bytes(feed: Feed) -> None:
    texts = ["a", "Z", "~", "é", "￿", "\U0001f600", "a b"]
    feed.batch(*(Put(post(1, post_id=PostId(text))) for text in texts))
    assert [row.post_id for row in feed.posts(AUTHOR).all()] == sorted(texts, key=str.encode)
    after = feed.plan(
        Post.key.query(
            Post.key.keys.pk(author_id=AUTHOR),
            gt=PostSK(created_at=NOW + MINUTE, post_id=PostId("a")),
        )
    )
    assert [row.post_id for row in after.all()] == sorted(
        (text for text in texts if text > "a"), key=str.encode
    )


def test_plan_that_open_designs_share_runs_on_the_one_that_is_asked(clock: ManualClock) -> None:
    shared = Post.key.query(AuthorPK(author_id=AuthorId("a")))

    class Sharing(Feed):
        @pattern("9 Posts of one author")
        def shared_posts(self) -> Query[Post]:
            return shared

    with Sharing.open(":memory:", clock=clock) as full, Sharing.open(":memory:", clock=clock) as empty:
        full.put(
            Post(author_id=AuthorId("a"), post_id=PostId("p"), created_at=datetime(2025, 1, 1, tzinfo=UTC))
        )
        of_full, of_empty = full.shared_posts(), empty.shared_posts()
        assert [len(of_full.page()), len(of_empty.page())] == [1, 0]
