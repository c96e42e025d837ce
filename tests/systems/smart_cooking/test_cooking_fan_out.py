"""Fan-out of Smart Cooking: posts come into the feeds of friends and leave them, however often that is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from singletable import Design
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import Friendship, Spread, UserProfile
from singletable_systems.smart_cooking.model.keys import PostId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.fan_out import (
    CAUGHT_UP_MAX,
    FAN_OUT_AGAIN,
    FAN_OUT_MAX,
    spread_for,
)
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.feeds import Feeds
from singletable_systems.smart_cooking.services.friends import Friends
from singletable_systems.smart_cooking.services.posts import Posts
from support.design_clients import WRITES
from support.kept_together import records
from support.opened_designs import store
from support.targets import TARGETS
from systems.cooking_streams import handle, stored, told
from systems.cooking_users import ADA, BO, CY, befriend, opened_cooking, sign_up, watched

DAY_S = 86_400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


@pytest.fixture
def embedded(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        sign_up(db, ADA)
        yield db


def make_friends(db: SmartCooking, *pairs: tuple[UserId, UserId]) -> None:
    for user_id, friend_id in pairs:
        Friends(db).ask(user_id, friend_id)
        Friends(db).accept(friend_id, user_id)


def feed(db: SmartCooking, user_id: UserId) -> set[PostId]:
    """Return what is written into somebody's feed."""
    return {
        PostId(sk.rpartition("#")[2]) for pk, sk in stored(db) if pk == f"USER#{user_id}" and "FEEDITEM" in sk
    }


# --- posts ----------------------------------------------------------------------------------------------


def test_public_post_comes_into_the_feeds_of_friends(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO), (CY, ADA))
    post = Posts(db).write(ADA, "Look")
    handle(db)
    assert feed(db, BO) == feed(db, CY) == {post.post_id}
    assert feed(db, ADA) == set()
    [item] = db.feed_items(BO, db.now() + timedelta(seconds=1)).all()
    assert (item.author_id, item.created_at) == (ADA, post.created_at)
    assert item.ttl == post.created_at + timedelta(days=30)


def test_post_does_not_come_to_those_who_are_not_accepted(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    Friends(db).ask(CY, ADA)
    Posts(db).write(ADA, "Look")
    handle(db)
    assert feed(db, BO) == feed(db, CY) == set()


def test_private_post_comes_into_no_feed_until_it_is_public(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO))
    post = Posts(db).write(ADA, "Secret", is_public=False)
    handle(db)
    assert feed(db, BO) == set()
    Posts(db).make_public(ADA, post.post_id)
    handle(db)
    assert feed(db, BO) == {post.post_id}


def test_post_leaves_the_feeds_when_it_is_private_or_deleted(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO), (ADA, CY))
    posts = Posts(db)
    hidden, deleted, kept = (posts.write(ADA, name) for name in ("hidden", "deleted", "kept"))
    handle(db)
    posts.make_private(ADA, hidden.post_id)
    posts.delete(ADA, deleted.post_id)
    handle(db)
    assert feed(db, BO) == feed(db, CY) == {kept.post_id}


def test_old_post_that_is_made_public_comes_into_no_feed(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, (ADA, BO))
    post = Posts(db).write(ADA, "Secret", is_public=False)
    clock.advance(30 * DAY_S)
    Posts(db).make_public(ADA, post.post_id)
    handle(db)
    assert feed(db, BO) == set()


def test_private_post_of_somebody_with_friends_writes_nothing(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO))
    handle(db)
    other, between = watched(db)
    Posts(db).write(ADA, "Secret", is_public=False)
    handle(other)
    written = [repr(call.params) for call in between.calls if call.operation in WRITES]
    assert not any("FEEDITEM" in each for each in written)


# --- friends --------------------------------------------------------------------------------------------


def test_new_friend_brings_the_last_public_posts(db: SmartCooking, clock: ManualClock) -> None:
    posts = Posts(db)
    posts.write(ADA, "older than 30 days")
    clock.advance(30 * DAY_S)
    written = []
    for number in range(CAUGHT_UP_MAX + 5):
        clock.advance(60)
        written.append(posts.write(ADA, f"{number}").post_id)
        posts.write(ADA, "Secret", is_public=False)
    handle(db)
    make_friends(db, (BO, ADA))
    handle(db, known=told(db) - {each["eventID"] for each in records(db) if "FRIEND#" in repr(each)})
    assert feed(db, BO) == set(written[-CAUGHT_UP_MAX:])


def test_posts_of_who_is_a_friend_no_more_leave_the_feed(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO), (CY, BO))
    Posts(db).write(ADA, "Look")
    kept = Posts(db).write(CY, "Look")
    own = Posts(db).write(BO, "Look")
    handle(db)
    Friends(db).unfriend(BO, ADA)
    handle(db)
    assert feed(db, BO) == {kept.post_id}
    assert feed(db, ADA) == set()
    assert feed(db, CY) == {own.post_id}


def test_deleted_account_leaves_the_feeds_of_friends(db: SmartCooking) -> None:
    make_friends(db, (ADA, BO), (CY, BO))
    Posts(db).write(ADA, "Look")
    kept = Posts(db).write(CY, "Look")
    handle(db)
    Accounts(db).delete_all_data(ADA)
    handle(db)
    assert feed(db, BO) == {kept.post_id}


# --- very many friends ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "spread", "expected"),
    [
        (FAN_OUT_MAX, "writing", "writing"),
        (FAN_OUT_MAX + 1, "writing", "reading"),
        (FAN_OUT_MAX + 1, "reading", "reading"),
        (FAN_OUT_MAX, "reading", "reading"),
        (FAN_OUT_AGAIN, "reading", "reading"),
        (FAN_OUT_AGAIN - 1, "reading", "writing"),
        (0, "writing", "writing"),
    ],
)
def test_account_goes_over_above_one_bound_and_comes_back_below_another(
    count: int, spread: Spread, expected: Spread
) -> None:
    assert spread_for(count, spread) == expected


def many_friends(db: SmartCooking, count: int) -> list[UserId]:
    """Give Ada so many friends at once, whom no handler has heard of."""
    others = [UserId(f"user-{number:05}") for number in range(count)]
    at = db.now()

    def entities() -> Iterator[UserProfile | Friendship]:
        for each in others:
            yield UserProfile(
                user_id=each, email=f"{each}@example.com", username=each, full_name=each, friends_count=1
            )
            row = Friendship(
                friendship_id=each,
                user_id=ADA,
                friend_id=each,
                status="accepted",
                requested_at=at,
                direction="sent",
                friend_feeds_by="writing",
            )
            yield row
            yield row.model_copy(update={"user_id": each, "friend_id": ADA, "direction": "received"})
        yield db.user(ADA).one().model_copy(update={"friends_count": count})

    db.load(entities(), settled=True)
    return others


def spreads(db: SmartCooking) -> set[str | None]:
    return {item["friend_feeds_by"]["S"] for (pk, sk), item in stored(db).items() if sk == f"FRIEND#{ADA}"}


def pulled(db: SmartCooking) -> int:
    """Count the rows in the sparse index of friends whose posts are fetched on read."""
    return sum("GSI2PK" in item for (_, sk), item in stored(db).items() if sk.startswith("FRIEND#"))


def consume(db: Design, name: str = "handlers") -> None:
    """Run the handlers as a consumer of the engine, over all there is and what follows, from the beginning."""
    with db.consume(name=name, background=False, wait=lambda seconds: None) as consumer:
        for _ in range(1_000):
            if not consumer.run_once():
                return
    raise AssertionError("handlers go on setting each other off")


def test_post_of_somebody_with_too_many_friends_is_read_where_it_stands(
    embedded: SmartCooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody with as many as are written to is proved below; more than a batch holds are enough here."""
    db = embedded
    monkeypatch.setattr("singletable_systems.smart_cooking.rules.fan_out.FAN_OUT_MAX", 150)
    others = many_friends(db, 150)
    known = told(db)
    sign_up(db, BO)
    make_friends(db, (ADA, BO))
    other, between = watched(db)
    handle(other, known=known)
    assert db.user(ADA).one().feeds_by == "reading"
    assert spreads(db) == {"reading"}
    assert pulled(db) == 151
    pages = [call.params for call in between.calls if call.operation == "BatchGetItem"]
    assert max(len(page["RequestItems"][db.session.table]["Keys"]) for page in pages) == 100
    known = told(db)
    post = Posts(db).write(ADA, "Look")
    assert handle(db, known=known) < 10
    assert feed(db, others[0]) == set()
    assert [each.post_id for each in Feeds(db).personal(others[0])] == [post.post_id]


def test_account_that_loses_friends_writes_into_feeds_again(
    embedded: SmartCooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = embedded
    monkeypatch.setattr("singletable_systems.smart_cooking.rules.fan_out.FAN_OUT_MAX", 5)
    monkeypatch.setattr("singletable_systems.smart_cooking.rules.fan_out.FAN_OUT_AGAIN", 4)
    others = many_friends(db, 5)
    sign_up(db, BO)
    make_friends(db, (ADA, BO))
    consume(db)
    assert (db.user(ADA).one().feeds_by, spreads(db), pulled(db)) == ("reading", {"reading"}, 6)
    post = Posts(db).write(ADA, "Look")
    for each in others[:2]:
        Friends(db).unfriend(ADA, each)
    consume(db)
    assert db.user(ADA).one().feeds_by == "reading"
    Friends(db).unfriend(others[2], ADA)
    consume(db)
    assert (db.user(ADA).one().feeds_by, spreads(db), pulled(db)) == ("writing", {"writing"}, 0)
    assert [feed(db, each) for each in [*others, BO]] == [set()] * 3 + [{post.post_id}] * 3


def test_friend_who_went_over_while_he_was_accepted_is_read(
    db: SmartCooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("singletable_systems.smart_cooking.rules.fan_out.FAN_OUT_AGAIN", 0)
    befriend(db, ADA, BO)  # nobody has said how
    db.update(db.user(ADA), feeds_by="reading")
    handle(db)
    assert db.friendship(BO, ADA).one().friend_feeds_by == "reading"
    assert db.friendship(ADA, BO).one().friend_feeds_by == "writing"
    assert [each.friend_id for each in db.pulled_friends(BO).all()] == [ADA]
    Friends(db).unfriend(BO, ADA)
    assert list(db.pulled_friends(BO).all()) == []


def test_post_is_written_into_a_thousand_feeds_page_by_page(embedded: SmartCooking) -> None:
    db = embedded
    others = many_friends(db, FAN_OUT_MAX)
    known = told(db)
    post = Posts(db).write(ADA, "Look")
    other, between = watched(db)
    handle(other, known=known)
    assert feeds(db, others) == {each: {post.post_id} for each in others}
    friends = [call.params for call in between.calls if "FRIEND#" in repr(call.params)]
    assert [page["Limit"] for page in friends] == [250] * (FAN_OUT_MAX // 250 + 1)
    written = [call for call in between.calls if call.operation in WRITES and "FEEDITEM" in repr(call.params)]
    assert [call.operation for call in written] == ["BatchWriteItem"] * (FAN_OUT_MAX // 25)
    known = told(db)
    Posts(db).make_private(ADA, post.post_id)
    handle(db, known=known)
    assert feeds(db, others) == {each: set() for each in others}


def feeds(db: SmartCooking, users: list[UserId]) -> dict[UserId, set[str]]:
    found: dict[UserId, set[str]] = {each: set() for each in users}
    for pk, sk in stored(db):
        if sk.startswith("FEEDITEM#"):
            found[UserId(pk.removeprefix("USER#"))].add(sk.rpartition("#")[2])
    return found


# --- again and again ------------------------------------------------------------------------------------


def live(db: SmartCooking, clock: ManualClock) -> None:
    """Let everything happen that moves something in feeds, some of it before anybody handles it."""
    posts, friends = Posts(db), Friends(db)
    make_friends(db, (ADA, BO), (CY, BO))
    first = posts.write(ADA, "first")
    clock.advance(60)
    second = posts.write(ADA, "second", is_public=False)
    handle(db)
    posts.make_private(ADA, first.post_id)
    posts.make_public(ADA, second.post_id)
    posts.delete(CY, posts.write(CY, "third").post_id)
    friends.unfriend(BO, CY)
    clock.advance(60)
    posts.write(BO, "fourth")
    make_friends(db, (CY, ADA))


def test_every_record_may_come_twice(db: SmartCooking, clock: ManualClock) -> None:
    live(db, clock)
    handle(db, times=2)
    assert {each: len(feed(db, each)) for each in (ADA, BO, CY)} == {ADA: 1, BO: 1, CY: 1}
    before = stored(db)
    handle(db, times=2)
    assert stored(db) == before
    assert db.verify().is_clean


def test_consumer_that_begins_anew_changes_nothing(embedded: SmartCooking, clock: ManualClock) -> None:
    db = embedded
    sign_up(db, BO, CY)
    live(db, clock)
    consume(db)
    before = stored(db)
    consume(db, name="another")
    assert stored(db) == before
    assert feed(db, BO) == {post.post_id for post in db.posts_of(ADA).all() if post.is_public}


def test_what_is_handled_again_writes_nothing_that_would_be_handled(
    embedded: SmartCooking, clock: ManualClock
) -> None:
    db = embedded
    sign_up(db, BO, CY)
    live(db, clock)
    count = handle(db)
    assert handle(db) == handle(db, times=2) == count


def test_malformed_row_does_not_stop_what_is_written_for_the_other_friends(
    db: SmartCooking, caplog: pytest.LogCaptureFixture
) -> None:
    make_friends(db, (ADA, BO), (CY, ADA))
    handle(db)
    key = {"PK": {"S": f"USER#{ADA}"}, "SK": {"S": "FRIEND#user-ba"}}
    store(db, {**key, "entity_type": {"S": "FRIENDSHIP"}, "status": {"S": "accepted"}})
    known = told(db)
    post = Posts(db).write(ADA, "Look")
    handle(db, known=known)
    assert feed(db, BO) == feed(db, CY) == {post.post_id}
    assert "an item is left out" in caplog.text
    Posts(db).make_private(ADA, post.post_id)
    handle(db, known=known)
    assert feed(db, BO) == feed(db, CY) == set()
