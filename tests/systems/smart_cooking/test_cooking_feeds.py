"""Feeds of Smart Cooking: the posts of all and those of friends, newest first, page by page, nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Page
from singletable.client import Call
from singletable.client.calls import Answer
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.model.entities import FeedItem, Post
from singletable_systems.smart_cooking.model.keys import PostId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.feeds import Feeds
from singletable_systems.smart_cooking.services.friends import Friends
from singletable_systems.smart_cooking.services.posts import Posts
from singletable_systems.smart_cooking.services.views import Viewing
from support.design_clients import Between
from support.opened_designs import store, stored_item
from support.targets import TARGETS
from systems.cooking_streams import handle, told
from systems.cooking_users import ADA, BO, CY, befriend, opened_cooking, sign_up, watched

DEE = UserId("user-dee")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY, DEE)
        yield db


@pytest.fixture(autouse=True)
def stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody come back from reading for want of friends."""
    monkeypatch.setattr("singletable_systems.smart_cooking.rules.fan_out.FAN_OUT_AGAIN", 0)


def make_friends(db: SmartCooking, user_id: UserId, friend_id: UserId) -> None:
    Friends(db).ask(user_id, friend_id)
    Friends(db).accept(friend_id, user_id)


def go_over(db: SmartCooking, user_id: UserId) -> None:
    db.update(db.user(user_id), feeds_by="reading")


def paged(read: Callable[[str | None], Page[Post]]) -> list[str]:
    """Read all pages one after the other; return what the posts say."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = read(cursor)
        found += [post.content for post in page]
        cursor = page.cursor
        if cursor is None:
            return found


def page_of(db: SmartCooking, limit: int, cursor: str | None) -> Page[Post]:
    return Feeds(db).personal(BO, limit, cursor)


class Units:
    """Adds up what calls cost, as the target tells it."""

    def __init__(self, between: Between) -> None:
        self._inner = between.inner
        self.total = 0.0

    def count(self, call: Call) -> Answer:
        answer = self._inner.call(call.operation, call.params)
        used = answer["ConsumedCapacity"]
        self.total += sum(each["CapacityUnits"] for each in (used if isinstance(used, list) else [used]))
        return answer


def said(page: Page[Post]) -> list[str]:
    return [post.content for post in page]


# --- the feed of all ------------------------------------------------------------------------------------


def test_public_feed_has_the_public_posts_of_all_newest_first(db: SmartCooking, clock: ManualClock) -> None:
    for number, user_id in enumerate((ADA, BO, CY, ADA)):
        clock.advance(1)
        Posts(db).write(user_id, f"{number}", is_public=number != 1)
    assert said(Feeds(db).public()) == ["3", "2", "0"]


def test_pages_of_the_public_feed_are_exact_while_others_write(db: SmartCooking, clock: ManualClock) -> None:
    for number in range(10):
        clock.advance(1)
        Posts(db).write(ADA, f"{number}")

    def read(cursor: str | None) -> Page[Post]:
        clock.advance(3600)
        Posts(db).write(BO, "later")
        return Feeds(db).public(3, cursor)

    assert paged(read)[1:] == [f"{number}" for number in reversed(range(10))]


def test_public_post_shows_the_name_that_its_author_shows_to_the_viewer(db: SmartCooking) -> None:
    make_friends(db, BO, ADA)
    written = Posts(db).write(ADA, "Look")
    accounts = Accounts(db)

    def names(viewer: UserId | None) -> list[str | None]:
        found = [post.user_name for post in Feeds(db).public(viewer=viewer)]
        assert found == [Viewing(db).post(written.post_id, viewer).user_name]
        return found

    assert names(None) == names(CY) == ["Name of user-ada"]
    accounts.set_privacy(ADA, profile_visibility="friends")
    assert names(BO) == names(ADA) == ["Name of user-ada"]
    assert names(CY) == names(None) == [None]
    accounts.set_privacy(ADA, profile_visibility="private")
    assert names(BO) == names(CY) == names(None) == [None]
    assert names(ADA) == ["Name of user-ada"]


def test_friend_who_only_has_asked_sees_no_name_for_friends(db: SmartCooking) -> None:
    Friends(db).ask(BO, ADA)
    Posts(db).write(ADA, "Look")
    Accounts(db).set_privacy(ADA, profile_visibility="friends")
    [post] = Feeds(db).public(viewer=BO)
    assert (post.user_name, post.user_avatar) == (None, None)


# --- the feed of one ------------------------------------------------------------------------------------


def test_personal_feed_merges_what_is_written_and_what_is_read(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    go_over(db, CY)
    handle(db)
    for number, user_id in enumerate((ADA, CY, CY, ADA, CY, DEE)):
        clock.advance(1)
        Posts(db).write(user_id, f"{number}")
    handle(db)
    assert said(Feeds(db).personal(BO)) == ["4", "3", "2", "1", "0"]
    for limit in (1, 2, 3, 5):
        assert paged(partial(page_of, db, limit)) == list("43210")


def test_post_of_an_account_that_went_over_comes_once(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    for number in range(3):
        clock.advance(1)
        Posts(db).write(ADA, f"{number}")
    handle(db)
    go_over(db, ADA)
    known = told(db)
    clock.advance(1)
    Posts(db).write(ADA, "3")
    handle(db)
    assert told(db) > known
    assert paged(lambda cursor: Feeds(db).personal(BO, 2, cursor)) == list("3210")


def test_what_was_made_private_or_deleted_is_not_shown_before_feeds_follow(
    db: SmartCooking, clock: ManualClock
) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    go_over(db, CY)
    written = []
    for number in range(6):
        clock.advance(1)
        written.append(Posts(db).write((ADA, CY)[number % 2], f"{number}"))
    handle(db)
    Posts(db).make_private(ADA, written[4].post_id)
    Posts(db).make_private(CY, written[3].post_id)
    Posts(db).delete(ADA, written[2].post_id)
    Posts(db).delete(CY, written[1].post_id)
    assert paged(lambda cursor: Feeds(db).personal(BO, 1, cursor)) == ["5", "0"]


def test_personal_feed_goes_back_thirty_days(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    go_over(db, CY)
    Posts(db).write(ADA, "old, written")
    Posts(db).write(CY, "old, read")
    handle(db)
    clock.advance(86_400)
    Posts(db).write(ADA, "young, written")
    clock.advance(1)
    Posts(db).write(CY, "young, read")
    handle(db)
    clock.advance(29 * 86_400)
    assert said(Feeds(db).personal(BO)) == ["young, read", "young, written"]


def test_posts_of_one_moment_are_all_shown(db: SmartCooking) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    go_over(db, CY)
    handle(db)
    for number in range(8):
        Posts(db).write((ADA, CY)[number % 2], f"{number}")
    handle(db)
    for limit in (1, 3, 8):
        found = paged(partial(page_of, db, limit))
        assert sorted(found) == list("01234567")


def test_pages_are_exact_while_others_write(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    for number in range(7):
        clock.advance(1)
        Posts(db).write(ADA, f"{number}")
    handle(db)

    def read(cursor: str | None) -> Page[Post]:
        page = Feeds(db).personal(BO, 2, cursor)
        clock.advance(1)
        Posts(db).write(ADA, "later")
        handle(db)
        return page

    assert paged(read) == list("6543210")


def test_page_that_ends_with_the_feed_has_no_more(db: SmartCooking) -> None:
    assert Feeds(db).personal(BO).cursor is None
    make_friends(db, BO, ADA)
    Posts(db).write(ADA, "Look")
    handle(db)
    page = Feeds(db).personal(BO)
    assert (said(page), page.cursor) == (["Look"], None)


def test_friend_who_hides_his_profile_is_not_named(db: SmartCooking) -> None:
    make_friends(db, BO, ADA)
    Posts(db).write(ADA, "Look")
    handle(db)
    assert [post.user_name for post in Feeds(db).personal(BO)] == ["Name of user-ada"]
    Accounts(db).set_privacy(ADA, profile_visibility="private")
    assert [post.user_name for post in Feeds(db).personal(BO)] == [None]


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_page_has_a_sensible_number_of_posts(db: SmartCooking, limit: int) -> None:
    with pytest.raises(InvalidInputError, match="limit: "):
        Feeds(db).public(limit)
    with pytest.raises(InvalidInputError, match="limit: "):
        Feeds(db).personal(BO, limit)


@pytest.mark.parametrize("cursor", ["", "x", "x.y", "9" * 30 + ".y"])
def test_cursor_that_is_none_is_refused(db: SmartCooking, cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="no cursor of a feed"):
        Feeds(db).public(5, cursor)
    with pytest.raises(InvalidInputError, match="no cursor of a feed"):
        Feeds(db).personal(BO, 5, cursor)


def test_pattern_and_service_answer_alike(db: SmartCooking, clock: ManualClock) -> None:
    """Friends who are read, hidden, closed, or friends no more; what is old, private, or of one moment."""
    for friend in (ADA, CY, DEE):
        make_friends(db, BO, friend)
    go_over(db, CY)
    handle(db)
    Posts(db).write(ADA, "too old")
    clock.advance(31 * 86_400)
    for number in range(12):
        clock.advance(number % 2)  # two of each moment
        author = (ADA, BO, CY, DEE)[number % 4]
        Posts(db).write(author, f"{number} of {author}", is_public=number % 5 != 0)
    handle(db)
    go_over(db, ADA)  # whose posts are in both sources now
    handle(db)

    def both() -> list[Post]:
        found = list(db.feed(BO).all())
        assert found == Feeds(db).personal(BO, 100).items
        assert said(db.feed(BO).page(2)) == said(Feeds(db).personal(BO, 2))
        assert paged(lambda cursor: db.feed(BO).page(2, cursor)) == paged(partial(page_of, db, 2))
        return found

    assert {post.user_id for post in both()} == {ADA, CY, DEE}
    Accounts(db).set_privacy(CY, profile_visibility="private")
    assert {post.user_id for post in both() if post.user_name is None} == {CY}
    Accounts(db).deactivate(ADA)
    assert {post.user_id for post in both()} == {CY, DEE}
    Friends(db).unfriend(BO, CY)
    handle(db)
    assert {post.user_id for post in both()} == {DEE}
    assert asyncio.run(db.feed(BO).apage(1)).items == Feeds(db).personal(BO, 1).items


# --- what it costs ----------------------------------------------------------------------------------------


def test_page_reads_about_as_much_as_it_shows(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    for number in range(60):
        clock.advance(1)
        post = Posts(db).write(ADA, f"{number}")
        db.put(FeedItem(user_id=BO, post_id=post.post_id, author_id=ADA, created_at=post.created_at))
    other, between = watched(db)
    assert len(Feeds(other).personal(BO, 10)) == 10
    # The entries and the friends who are read; the posts, and what their authors show.
    assert sorted(between.operations()) == ["BatchGetItem"] * 4 + ["Query"] * 2
    assert [call.params["Limit"] for call in between.calls if call.params.get("IndexName") == "GSI3"] == [11]


def test_posts_of_closed_accounts_are_in_no_feed(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    for number in range(12):
        clock.advance(1)
        Posts(db).write(ADA if number % 2 else CY, f"{number}")
    handle(db)
    Accounts(db).deactivate(ADA)
    feeds, left = Feeds(db), [f"{number}" for number in range(10, -1, -2)]
    assert said(feeds.public(4)) == said(feeds.personal(BO, 4)) == left[:4]
    assert paged(lambda cursor: feeds.public(4, cursor)) == left
    assert paged(partial(page_of, db, 4)) == left
    assert len(feeds.public(20, viewer=ADA)) == 12


def test_old_posts_of_friends_who_are_read_are_not_read(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    go_over(db, ADA)
    handle(db)
    for number in range(20):
        clock.advance(1)
        Posts(db).write(ADA, f"old {number}" + "x" * 4_000, is_public=number % 2 == 0)
    clock.advance(40 * 86_400)
    Posts(db).write(ADA, "new")
    page = Feeds(db).personal(BO, 10)
    assert said(page) == ["new"]
    assert page.usage.read < 10


def test_page_tells_what_it_has_cost(db: SmartCooking, clock: ManualClock) -> None:
    make_friends(db, BO, ADA)
    make_friends(db, BO, CY)
    go_over(db, CY)
    handle(db)
    for number in range(10):
        clock.advance(1)
        Posts(db).write(ADA if number % 2 else CY, f"{number}")
    handle(db)
    other, between = watched(db)
    for is_public in (True, False):
        between.before = (units := Units(between)).count
        page = Feeds(other).public(5, viewer=BO) if is_public else Feeds(other).personal(BO, 5)
        assert len(page) == 5
        assert page.usage.units == units.total > 0


def test_malformed_post_does_not_stop_the_feed_of_all(
    db: SmartCooking, caplog: pytest.LogCaptureFixture
) -> None:
    post = Posts(db).write(ADA, "Look")
    item = stored_item(db, f"POST#{post.post_id}", "METADATA")
    assert item is not None
    store(db, {**{each: item[each] for each in item if each != "content"}, "PK": {"S": "POST#evil"}})
    assert said(Feeds(db).public()) == ["Look"]
    assert "an item is left out" in caplog.text


def test_friends_who_are_read_are_bounded(db: SmartCooking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("singletable_systems.smart_cooking.model.patterns.feed.PULLED_MAX", 2)
    for friend in (ADA, CY, DEE):
        make_friends(db, BO, friend)
        go_over(db, friend)
    handle(db)
    for friend in (ADA, CY, DEE):
        Posts(db).write(friend, friend)
    assert sorted(said(Feeds(db).personal(BO))) == [ADA, CY]


# --- against brute force ------------------------------------------------------------------------------------


POSTS = st.lists(st.tuples(st.sampled_from([ADA, CY, DEE]), st.integers(0, 3), st.booleans()), max_size=20)


@settings(max_examples=40, deadline=None)
@given(POSTS, st.sets(st.sampled_from([ADA, CY, DEE])), st.integers(1, 5))
def test_personal_feed_is_what_friends_have_posted(
    posts: list[tuple[UserId, int, bool]], reading: set[UserId], limit: int
) -> None:
    with opened_cooking("embedded", ManualClock()) as db:
        sign_up(db, ADA, BO, CY, DEE)
        for friend in (ADA, CY):
            befriend(db, BO, friend)
        for user_id in reading:
            go_over(db, user_id)
        handle(db)
        written = [
            Post(
                post_id=PostId(f"p{number}"),
                user_id=user_id,
                content=f"{number}",
                is_public=is_public,
                created_at=db.now() - timedelta(days=days * 10),
            )
            for number, (user_id, days, is_public) in enumerate(posts)
        ]
        for post in written:
            db.create(post)
        handle(db)
        shown = [
            post
            for post in written
            if post.is_public and post.user_id != DEE and post.created_at > db.now() - timedelta(days=30)
        ]
        shown.sort(key=lambda post: (post.created_at, post.post_id), reverse=True)
        found = paged(partial(page_of, db, limit))
        assert found == [post.content for post in shown]
