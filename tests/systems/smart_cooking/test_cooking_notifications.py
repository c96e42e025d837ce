"""Notifications of Smart Cooking: who is told of what, once, and never of their own doings; read and unread."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import NotificationNotFoundError
from singletable_systems.smart_cooking.model.entities import Notification, Post, RecipeRating
from singletable_systems.smart_cooking.model.keys import NotificationId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.friends import Friends
from singletable_systems.smart_cooking.services.notifications import COUNTED_MAX, Notifications
from singletable_systems.smart_cooking.services.posts import Posts, Reactions
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_streams import handle, stored, told
from systems.cooking_users import ADA, BO, CY, befriend, opened_cooking, recipe_by, sign_up, watched


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


@pytest.fixture
def post(db: SmartCooking) -> Post:
    return Posts(db).write(ADA, "Look")


def news(db: SmartCooking, user_id: UserId) -> list[str]:
    return [each.content for each in db.notifications(user_id).consistent().all()]


# --- who is told of what --------------------------------------------------------------------------------


def test_author_is_told_of_a_comment(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    handle(db)
    [told_of] = db.notifications(ADA).all()
    assert told_of.content == "Name of user-bo commented on your post"
    assert (told_of.type, told_of.target_type, told_of.target_id) == ("comment", "post", post.post_id)
    assert (told_of.actor_id, told_of.created_at, told_of.is_read) == (BO, comment.created_at, False)
    assert told_of.ttl == comment.created_at + timedelta(days=30)
    assert news(db, BO) == []


def test_keys_of_a_notification_are_those_of_the_document(db: SmartCooking) -> None:
    at = datetime(2025, 1, 20, 21, 0, tzinfo=UTC)
    db.create(
        Notification(
            notification_id=NotificationId("uuid-909"),
            user_id=UserId("uuid-123"),
            actor_id=UserId("uuid-456"),
            type="comment",
            target_type="post",
            target_id="uuid-606",
            content="John commented on your post",
            created_at=at,
        )
    )
    item = stored_item(db, "USER#uuid-123", "NOTIFICATION#2025-01-20T21:00:00.000Z#uuid-909")  # 002:433
    assert item is not None
    assert (item["GSI1PK"]["S"], item["GSI1SK"]["S"]) == (  # 002:446
        "USER#uuid-123#UNREAD",
        "NOTIFICATION#2025-01-20T21:00:00.000Z",
    )


def test_who_is_answered_is_told_and_the_author_of_the_post(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    handle(db)
    Posts(db).reply(CY, comment, "Yes")
    handle(db)
    assert news(db, BO) == ["Name of user-cy replied to your comment"]
    assert "Name of user-cy commented on your post" in news(db, ADA)


def test_author_who_is_answered_on_his_own_post_is_told_once(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(ADA, post.post_id, "What do you think?")
    Posts(db).reply(BO, comment, "Good")
    handle(db)
    assert news(db, ADA) == ["Name of user-bo replied to your comment"]


def test_nobody_is_told_of_their_own_doings(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(ADA, post.post_id, "Mine")
    Posts(db).reply(ADA, comment, "And I")
    Reactions(db).react(ADA, post.post_id)
    Reactions(db).react_to_comment(ADA, comment)
    handle(db)
    assert news(db, ADA) == []


def test_authors_are_told_of_reactions_once_however_often_they_change(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    reactions = Reactions(db)
    reactions.react(CY, post.post_id)
    reactions.react_to_comment(CY, comment)
    handle(db)
    reactions.react(CY, post.post_id, "love")
    reactions.react_to_comment(CY, comment, "wow")
    handle(db)
    assert news(db, BO) == ["Name of user-cy reacted to your comment"]
    assert sorted(news(db, ADA)) == [
        "Name of user-bo commented on your post",
        "Name of user-cy reacted to your post",
    ]


def test_friends_are_told_of_requests_and_of_acceptance(db: SmartCooking, clock: ManualClock) -> None:
    Friends(db).ask(ADA, BO)
    handle(db)
    assert (news(db, ADA), news(db, BO)) == ([], ["Name of user-ada wants to be your friend"])
    clock.advance(60)
    Friends(db).accept(BO, ADA)
    handle(db)
    assert (news(db, ADA), news(db, BO)) == (["Name of user-bo is your friend now"], [])
    [accepted] = db.notifications(ADA).all()
    assert (accepted.type, accepted.target_type, accepted.target_id) == ("friend_accepted", "user", BO)
    assert accepted.created_at == db.now()


def test_nobody_is_told_that_they_are_declined(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    handle(db)
    Friends(db).decline(BO, ADA)
    handle(db)
    assert (news(db, ADA), news(db, BO)) == ([], [])


def test_author_is_told_of_ratings_and_of_approval(db: SmartCooking, clock: ManualClock) -> None:
    recipe = recipe_by(ADA, "Phở {name}").model_copy(update={"is_approved": False})
    db.create(recipe)
    db.create(RecipeRating(rating_id="r1", recipe_id=recipe.recipe_id, user_id=BO, rating=5))
    handle(db)
    assert news(db, ADA) == ["Name of user-bo rated your recipe Phở {name}"]
    clock.advance(60)
    db.update(db.recipe(recipe.recipe_id), is_approved=True, approval_type="admin", approved_at=db.now())
    handle(db)
    assert news(db, ADA)[0] == "Your recipe Phở {name} is approved"
    [newest, _] = db.notifications(ADA).all()
    assert (newest.actor_id, newest.target_id) == (None, RecipeId("user-ada-Phở {name}"))


# --- what is so no more -----------------------------------------------------------------------------------


def test_what_is_taken_back_is_told_no_more(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    Reactions(db).react(BO, post.post_id)
    Reactions(db).react_to_comment(CY, comment)
    Friends(db).ask(CY, ADA)
    handle(db)
    assert (len(news(db, ADA)), len(news(db, BO))) == (3, 1)
    Reactions(db).unreact_to_comment(CY, comment)
    Reactions(db).unreact(BO, post.post_id)
    Friends(db).unfriend(CY, ADA)
    handle(db)
    Posts(db).delete_comment(BO, comment)
    handle(db)
    assert (news(db, ADA), news(db, BO)) == ([], [])
    assert list(db.unread(ADA).all()) == list(db.unread(BO).all()) == []


def test_what_goes_with_its_post_may_be_told_until_it_expires(db: SmartCooking, post: Post) -> None:
    """Whom a reaction was told to, only the post knows."""
    Reactions(db).react(BO, post.post_id)
    handle(db)
    Posts(db).delete(ADA, post.post_id)
    handle(db)
    assert news(db, ADA) == ["Name of user-bo reacted to your post"]


def test_who_likes_again_and_again_is_told_of_once(db: SmartCooking, post: Post, clock: ManualClock) -> None:
    for _ in range(5):
        clock.advance(1)
        Reactions(db).react(BO, post.post_id)
        handle(db)
        Reactions(db).unreact(BO, post.post_id)
        handle(db)
    Reactions(db).react(BO, post.post_id)
    handle(db)
    assert news(db, ADA) == ["Name of user-bo reacted to your post"]


def test_nothing_is_told_to_or_of_users_who_are_gone(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    Posts(db).reply(CY, comment, "Yes")
    Accounts(db).delete_all_data(BO)
    handle(db)
    assert not [key for key in stored(db) if key[0] == f"USER#{BO}"]
    assert news(db, ADA) == ["Name of user-cy commented on your post"]


def test_nothing_is_left_of_who_has_answered_on_a_post_that_is_gone(db: SmartCooking, post: Post) -> None:
    comment = Posts(db).comment(CY, post.post_id, "Good")
    Posts(db).reply(BO, comment, "Yes")
    Reactions(db).react_to_comment(BO, comment)
    handle(db)
    assert len(news(db, CY)) == 2
    Accounts(db).delete_all_data(ADA)  # the post goes, with all that was said to it
    handle(db)
    assert news(db, CY) == []
    assert not [item for item in stored(db).values() if BO in repr(item) and "NOTIFICATION" in repr(item)]


@pytest.mark.parametrize("hides", ["profile", "account"])
def test_who_hides_is_not_named(db: SmartCooking, post: Post, hides: str) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    if hides == "profile":
        Accounts(db).set_privacy(BO, profile_visibility="friends")
    else:
        Accounts(db).deactivate(BO)
    handle(db)
    assert news(db, ADA) == ["Somebody commented on your post"]
    assert db.notifications(ADA).one().target_id == comment.post_id


def test_who_shows_himself_to_friends_is_named_to_friends(db: SmartCooking, post: Post) -> None:
    Accounts(db).set_privacy(BO, profile_visibility="friends")
    befriend(db, ADA, BO)
    Posts(db).comment(BO, post.post_id, "Good")
    handle(db)
    assert "Name of user-bo commented on your post" in news(db, ADA)


def test_what_happened_long_ago_is_not_told(db: SmartCooking, post: Post, clock: ManualClock) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    old = comment.model_copy(update={"comment_id": "old", "created_at": db.now() - timedelta(days=30)})
    db.create(old)
    handle(db)
    written = [sk for pk, sk in stored(db) if pk == f"USER#{ADA}" and sk.startswith("NOTIFICATION#")]
    assert len(written) == len(news(db, ADA)) == 1


# --- again and again --------------------------------------------------------------------------------------


def live(db: SmartCooking, post: Post, clock: ManualClock) -> None:
    comment = Posts(db).comment(BO, post.post_id, "Good")
    clock.advance(1)
    Posts(db).reply(CY, comment, "Yes")
    Reactions(db).react(CY, post.post_id)
    Reactions(db).unreact(CY, post.post_id)
    Reactions(db).react(BO, post.post_id)
    Reactions(db).react_to_comment(CY, comment)
    Friends(db).ask(CY, ADA)
    Friends(db).accept(ADA, CY)
    Friends(db).ask(BO, ADA)


def test_every_record_may_come_twice(db: SmartCooking, post: Post, clock: ManualClock) -> None:
    live(db, post, clock)
    handle(db, times=2)
    assert {each: len(news(db, each)) for each in (ADA, BO, CY)} == {ADA: 4, BO: 2, CY: 1}
    activity = db.activity(f"{db.now():%Y-%m}").one()
    assert (activity.posts, activity.comments, activity.reactions) == (1, 2, 3)


def test_what_was_read_stays_read_when_it_is_told_again(
    db: SmartCooking, post: Post, clock: ManualClock
) -> None:
    live(db, post, clock)
    handle(db)
    assert Notifications(db).mark_all_read(ADA) == 4
    Accounts(db).rename(BO, "Bo Diddley")  # what is told has another text now, and is the same all the same
    handle(db)
    before, count = stored(db), len(told(db))
    handle(db, times=2)
    assert stored(db) == before
    assert len(told(db)) == count
    assert Notifications(db).unread_count(ADA) == 0


# --- read and unread --------------------------------------------------------------------------------------


def tell(db: SmartCooking, user_id: UserId, count: int) -> None:
    """Store so many notifications."""
    for number in range(count):
        db.put(
            Notification(
                notification_id=NotificationId(f"n{number:04}"),
                user_id=user_id,
                type="comment",
                target_type="post",
                target_id="p",
                content="Somebody commented on your post",
                created_at=db.now() + timedelta(milliseconds=number // 3),
            )
        )


def is_in_index(db: SmartCooking, user_id: UserId) -> bool:
    return any(
        "GSI1PK" in item for (pk, sk), item in stored(db).items() if pk == f"USER#{user_id}" and "NOTIF" in sk
    )


def test_read_notification_leaves_the_unread_ones(db: SmartCooking) -> None:
    tell(db, ADA, 2)
    newest, oldest = db.unread(ADA).all()
    notifications = Notifications(db)
    assert notifications.mark_read(ADA, newest).is_read
    assert notifications.mark_read(ADA, newest).is_read
    assert [each.notification_id for each in db.unread(ADA).all()] == [oldest.notification_id]
    assert len(list(db.notifications(ADA).all())) == 2
    notifications.mark_read(ADA, oldest)
    assert not is_in_index(db, ADA)


def test_nobody_reads_for_others_or_what_is_gone(db: SmartCooking, clock: ManualClock) -> None:
    tell(db, ADA, 1)
    [notification] = db.unread(ADA).all()
    with pytest.raises(NotificationNotFoundError, match="n0000"):
        Notifications(db).mark_read(BO, notification)
    assert Notifications(db).unread_count(ADA) == 1
    db.delete(notification)
    with pytest.raises(NotificationNotFoundError, match="n0000"):
        Notifications(db).mark_read(ADA, notification)


def test_all_are_read_page_by_page(db: SmartCooking) -> None:
    tell(db, ADA, 230)
    tell(db, BO, 3)
    other, between = watched(db)
    assert Notifications(other).mark_all_read(ADA) == 230
    limits = [call.params["Limit"] for call in between.calls if call.operation == "Query"]
    assert len(limits) == 3
    assert max(limits) <= 100
    assert not is_in_index(db, ADA)
    assert Notifications(db).mark_all_read(ADA) == 0
    assert Notifications(db).unread_count(BO) == 3


def test_what_comes_while_all_are_read_stays_unread(db: SmartCooking, clock: ManualClock) -> None:
    tell(db, ADA, 5)
    clock.advance(60)
    other, between = watched(db)
    done: list[bool] = []

    def interrupt(call: object) -> None:
        if between.operations()[-1] == "UpdateItem" and not done:
            done.append(True)
            tell(db, ADA, 1)

    between.before = interrupt
    assert Notifications(other).mark_all_read(ADA) == 5
    assert [each.created_at for each in db.unread(ADA).all()] == [db.now()]


def test_reading_all_comes_to_an_end_where_the_index_is_late(clock: ManualClock) -> None:
    with (
        Database.open(":memory:", index_delay_s=60, clock=clock) as database,
        SmartCooking.open(database, clock=clock, create=True, environment="test") as db,
    ):
        tell(db, ADA, 230)
        clock.advance(61)
        assert Notifications(db).mark_all_read(ADA) == 230
        assert Notifications(db).mark_all_read(ADA) == 230, "it still shows them all"
        clock.advance(61)
        assert Notifications(db).mark_all_read(ADA) == 0


@pytest.mark.parametrize(("there", "counted"), [(0, 0), (7, 7), (COUNTED_MAX + 20, COUNTED_MAX)])
def test_unread_ones_are_counted_up_to_a_bound(db: SmartCooking, there: int, counted: int) -> None:
    tell(db, ADA, there)
    assert Notifications(db).unread_count(ADA) == counted


def test_unread_ones_expire_after_thirty_days(db: SmartCooking, clock: ManualClock) -> None:
    tell(db, ADA, 3)
    clock.advance(30 * 86_400 + 1)
    assert Notifications(db).unread_count(ADA) == 0
    assert Notifications(db).mark_all_read(ADA) == 0
