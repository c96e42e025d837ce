"""Deleting a user: everything of theirs goes, without a scan, and the numbers of others stay right."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from singletable import Cascade, Database
from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import UserNotFoundError
from singletable_systems.smart_cooking.model.keys import PostId, RecipeId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.pantry import Pantry
from singletable_systems.smart_cooking.services.posts import Posts
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.reports import Reports
from singletable_systems.smart_cooking.services.sessions import Sessions
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.cooking_recipes import written
from systems.cooking_users import (
    ADA,
    BO,
    CY,
    answer,
    befriend,
    naming,
    opened_cooking,
    settle_in,
    sign_up,
    watched,
    write_and_post,
)

# What goes with Ada: her own things, what Bo has said to them, and both rows of two friendships.
ALL = {
    "UserProfile": 1,
    "UserPreferences": 1,
    "PrivacySettings": 1,
    "Session": 2,
    "UserIngredient": 2,
    "InvalidIngredientReport": 1,
    "CookingHistory": 1,
    "AiSuggestion": 1,
    "FeedItem": 1,
    "Notification": 1,
    "Friendship": 4,
    "Recipe": 1,
    "RecipeIngredient": 2,
    "RecipeRating": 2,
    "Post": 1,
    "Comment": 3,
    "Reaction": 2,
    "CommentReaction": 2,
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        live_together(db)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        live_together(db)
        yield db


def live_together(db: SmartCooking) -> None:
    """Let Ada and Bo have something of everything, and answer each other; Cy has asked Ada."""
    sign_up(db, ADA, BO, CY)
    for user_id in (ADA, BO):
        settle_in(db, user_id)
        write_and_post(db, user_id)
    answer(db, ADA, BO)
    answer(db, BO, ADA)
    befriend(db, ADA, BO)
    befriend(db, CY, ADA, is_accepted=False)


def test_everything_of_a_user_goes_without_a_scan(db: SmartCooking) -> None:
    asking, between = watched(db)
    assert Accounts(asking).delete_all_data(ADA).counts == ALL
    assert naming(db, ADA) == []
    assert "Scan" not in between.operations()


def test_numbers_of_others_stay_right(db: SmartCooking) -> None:
    Accounts(db).delete_all_data(ADA)
    recipe = db.recipe(RecipeId(f"{BO}-soup")).consistent().one()
    assert (recipe.rating_count, recipe.average_rating, recipe.rating_step) == (0, Decimal(0), Decimal(0))
    post = db.post(PostId(f"{BO}-post")).consistent().one()
    assert (post.likes_count, post.comments_count) == (0, 1)
    [comment] = db.comments(post.post_id).consistent().all()
    assert (comment.user_id, comment.likes_count) == (BO, 0)
    assert db.user(BO).one().friends_count == 0
    assert db.invalid_ingredient("abc xyz").one().total_reports == 1
    assert list(db.friendships(CY).consistent().all()) == []


def test_what_is_left_is_in_order(memory: SmartCooking) -> None:
    with memory.consume(background=False) as consumer:
        consumer.drain()
        Accounts(memory).delete_all_data(ADA)
        consumer.drain()
        assert naming(memory, ADA) == []
        assert memory.verify().differences == ()


def test_nothing_of_others_goes(memory: SmartCooking) -> None:
    others = [key for key in naming(memory, "") if key not in naming(memory, ADA)]
    Accounts(memory).delete_all_data(ADA)
    assert naming(memory, "") == others


def test_plan_counts_and_deletes_nothing(db: SmartCooking) -> None:
    before = stored_items(db)
    asking, between = watched(db)
    planned = Accounts(asking).deletion_plan(ADA).counts
    # What is on a post of Ada's and by Ada, or on a comment of hers, is found in several ways.
    assert planned == {**ALL, "Comment": 4, "CommentReaction": 4}
    assert stored_items(db) == before
    assert set(between.operations()) <= {"GetItem", "Query"}


def test_progress_grows_to_what_is_returned(memory: SmartCooking) -> None:
    told: list[Cascade] = []
    done = Accounts(memory).delete_all_data(ADA, progress=told.append)
    totals = [each.total for each in told]
    assert totals == sorted(totals)
    assert (totals[0], told[-1]) == (2, done)


def test_deleting_again_does_nothing(memory: SmartCooking) -> None:
    Accounts(memory).delete_all_data(ADA)
    before = stored_items(memory)
    assert Accounts(memory).delete_all_data(ADA).total == 0
    assert stored_items(memory) == before


def test_names_are_free_afterwards(memory: SmartCooking) -> None:
    Accounts(memory).delete_all_data(ADA)
    [again] = sign_up(memory, ADA)
    assert memory.user_by_email(again.email).one() == again
    assert memory.user_by_username(again.username).one() == again


def test_what_has_expired_and_is_not_swept_goes_too(memory: SmartCooking, clock: ManualClock) -> None:
    clock.jump(200 * 86400)
    assert memory.sign_ins(ADA).first() is None
    Accounts(memory).delete_all_data(ADA)
    assert naming(memory, ADA) == []


@pytest.mark.parametrize("loses_answer", [False, True], ids=["before", "after"])
def test_deletion_that_was_interrupted_anywhere_is_gone_on_with(
    clock: ManualClock, loses_answer: bool
) -> None:
    number = 0
    is_over = False
    while not is_over:
        number += 23
        with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
            failing = FailingClient(client)
            db = on_client(SmartCooking, failing, environment="test")
            live_together(db)
            failing.fail_at(number, RuntimeError, loses_answer=loses_answer)
            accounts = Accounts(db)
            try:
                accounts.delete_all_data(ADA)
                is_over = True
            except RuntimeError:
                accounts.delete_all_data(ADA)
            failing.stop_failing()
            assert naming(db, ADA) == [], f"call {number}"
            assert db.user(BO).one().friends_count == 0
    assert number > 100


def test_friend_who_is_made_meanwhile_is_left_too(memory: SmartCooking) -> None:
    asking, between = watched(memory)

    def slip_in(call: Call) -> None:
        """Just before the account goes, whose locks go with it."""
        if call.operation == "TransactWriteItems" and f"EMAIL#{ADA}" in str(call.params):
            between.before = lambda call: None
            befriend(memory, CY, ADA)
            Sessions(memory).open(ADA)

    memory.delete(memory.friendship(ADA, CY))
    memory.delete(memory.friendship(CY, ADA))
    between.before = slip_in
    Accounts(asking).delete_all_data(ADA)
    assert naming(memory, ADA) == []
    assert memory.user(CY).one().friends_count == 0


def test_what_an_index_shows_too_late_goes_when_the_changes_are_consumed(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock, index_delay_s=1) as database:
        db = SmartCooking.open(database, environment="test", create=True)
        with db.consume(background=False) as consumer:
            live_together(db)
            clock.advance(2)
            consumer.drain()
            Sessions(db).open(ADA)
            post = Posts(db).write(ADA, "Just now")
            Posts(db).comment(BO, post.post_id, "Oh")
            Ratings(db).rate(ADA, written(db, by=BO).recipe_id, 5)
            written(db, by=ADA)
            Accounts(db).delete_all_data(ADA)
            assert naming(db, ADA)  # which no index has shown yet
            clock.advance(2)
            consumer.drain()
            assert naming(db, ADA) == []
            assert db.verify().differences == ()
            assert db.user(BO).one().friends_count == 0


def test_account_that_is_opened_again_keeps_what_it_has(memory: SmartCooking) -> None:
    with memory.consume(background=False) as consumer:
        consumer.drain()
        Accounts(memory).delete_all_data(ADA)
        sign_up(memory, ADA)
        Sessions(memory).open(ADA)
        consumer.drain()
        assert len(list(memory.sign_ins(ADA).all())) == 1


def test_nothing_can_be_added_to_an_account_that_is_gone(memory: SmartCooking) -> None:
    Accounts(memory).delete_all_data(ADA)
    with pytest.raises(UserNotFoundError):
        Sessions(memory).open(ADA)
    with pytest.raises(UserNotFoundError):
        Pantry(memory).add(ADA, ["Thịt gà"])
    with pytest.raises(UserNotFoundError):
        Reports(memory).report(ADA, "abc xyz")
    with pytest.raises(UserNotFoundError):
        Accounts(memory).set_privacy(ADA, email_visibility="public")
    assert naming(memory, ADA) == []
