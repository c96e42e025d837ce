"""Reactions of Smart Cooking: one of each user for a post or a comment; likes are counted right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    CommentNotFoundError,
    PostNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import Comment, Post, ReactionType
from singletable_systems.smart_cooking.model.keys import PostId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.posts import Posts, Reactions
from support.targets import TARGETS
from systems.cooking_streams import handle, stored
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, ManualClock()) as db:
        sign_up(db, ADA, BO, CY)
        yield db


@pytest.fixture
def post(db: SmartCooking) -> Post:
    return Posts(db).write(ADA, "Look")


@pytest.fixture
def comment(db: SmartCooking, post: Post) -> Comment:
    return Posts(db).comment(BO, post.post_id, "Good")


def likes(db: SmartCooking, post: Post) -> int:
    return db.post(post.post_id).consistent().one().likes_count


def likes_of(db: SmartCooking, comment: Comment) -> int:
    return db.comment(comment.post_id, comment.created_at, comment.comment_id).one().likes_count


def test_likes_are_counted_and_other_reactions_are_not(db: SmartCooking, post: Post) -> None:
    reactions = Reactions(db)
    reactions.react(BO, post.post_id)
    reactions.react(CY, post.post_id, "love")
    assert likes(db, post) == 1
    assert sorted(each.reaction_type for each in db.reactions(post.post_id).all()) == ["like", "love"]


def test_changed_reaction_is_counted_as_what_it_is_now(db: SmartCooking, post: Post) -> None:
    reactions = Reactions(db)
    counts = []
    kinds: list[ReactionType] = ["love", "like", "like", "wow", "like", "yum"]
    for kind in kinds:
        assert reactions.react(BO, post.post_id, kind).reaction_type == kind
        counts.append(likes(db, post))
    assert counts == [0, 1, 1, 0, 1, 0]
    assert [each.reaction_type for each in db.reactions_of(BO).all()] == ["yum"]


def test_reaction_that_is_taken_back_is_counted_no_more(db: SmartCooking, post: Post) -> None:
    reactions = Reactions(db)
    reactions.react(BO, post.post_id)
    reactions.unreact(BO, post.post_id)
    reactions.unreact(BO, post.post_id)
    assert likes(db, post) == 0
    assert db.reaction(post.post_id, BO).maybe() is None


def test_reaction_to_a_comment_does_not_meet_that_to_its_post(
    db: SmartCooking, post: Post, comment: Comment
) -> None:
    reactions = Reactions(db)
    reactions.react(CY, post.post_id, "love")
    reactions.react_to_comment(CY, comment)
    assert (likes(db, post), likes_of(db, comment)) == (0, 1)
    assert [each.target_id for each in db.reactions(post.post_id).all()] == [post.post_id]
    assert [each.target_id for each in db.comment_reactions(post.post_id, comment.comment_id).all()] == [
        comment.comment_id
    ]
    reactions.react_to_comment(CY, comment, "wow")
    assert likes_of(db, comment) == 0
    reactions.unreact_to_comment(CY, comment)
    assert db.comment_reaction(post.post_id, comment.comment_id, CY).maybe() is None
    assert db.reaction(post.post_id, CY).one().reaction_type == "love"


def test_private_post_is_reacted_to_by_its_author_only(
    db: SmartCooking, post: Post, comment: Comment
) -> None:
    Posts(db).make_private(ADA, post.post_id)
    reactions = Reactions(db)
    reactions.react(ADA, post.post_id)
    reactions.react_to_comment(ADA, comment)
    with pytest.raises(PostNotFoundError):
        reactions.react(BO, post.post_id)
    with pytest.raises(PostNotFoundError):
        reactions.react_to_comment(BO, comment)
    assert (likes(db, post), likes_of(db, comment)) == (1, 1)


def test_reaction_needs_a_user_and_something_to_react_to(
    db: SmartCooking, post: Post, comment: Comment
) -> None:
    reactions = Reactions(db)
    with pytest.raises(PostNotFoundError):
        reactions.react(BO, PostId("unknown"))
    with pytest.raises(UserNotFoundError):
        reactions.react(UserId("user-nobody"), post.post_id)
    Posts(db).delete_comment(BO, comment)
    with pytest.raises(CommentNotFoundError):
        reactions.react_to_comment(CY, comment)
    assert db.verify().is_clean


def at_once(db: SmartCooking, act: Callable[[], object]) -> SmartCooking:
    other, between = watched(db)
    done: list[bool] = []

    def interrupt(call: Call) -> None:
        if call.operation == "TransactWriteItems" and not done:
            done.append(True)
            act()

    between.before = interrupt
    return other


def test_two_reactions_of_one_user_at_once_are_one(db: SmartCooking, post: Post) -> None:
    other = at_once(db, lambda: Reactions(db).react(BO, post.post_id, "like"))
    Reactions(other).react(BO, post.post_id, "love")
    assert [each.reaction_type for each in db.reactions(post.post_id).all()] == ["love"]
    assert likes(db, post) == 0


def test_reaction_that_is_taken_back_while_it_changes_is_made_anew(db: SmartCooking, post: Post) -> None:
    Reactions(db).react(BO, post.post_id, "wow")
    other = at_once(db, lambda: Reactions(db).unreact(BO, post.post_id))
    Reactions(other).react(BO, post.post_id, "like")
    assert likes(db, post) == 1


def test_post_that_is_made_private_just_before_takes_no_reaction(db: SmartCooking, post: Post) -> None:
    other = at_once(db, lambda: Posts(db).make_private(ADA, post.post_id))
    with pytest.raises(PostNotFoundError):
        Reactions(other).react(BO, post.post_id)
    assert likes(db, post) == 0


KINDS: list[ReactionType] = ["like", "love", "yum", "wow"]
DOINGS = st.lists(st.tuples(st.sampled_from([ADA, BO, CY]), st.sampled_from([*KINDS, None])), max_size=12)


@settings(max_examples=25, deadline=None)
@given(DOINGS)
def test_likes_are_those_that_are_there_whatever_was_done(
    doings: list[tuple[UserId, ReactionType | None]],
) -> None:
    with opened_cooking("embedded", ManualClock()) as db:
        sign_up(db, ADA, BO, CY)
        post = Posts(db).write(ADA, "Look")
        comment = Posts(db).comment(ADA, post.post_id, "Good")
        reactions, expected = Reactions(db), dict[UserId, ReactionType]()
        for user_id, kind in doings:
            if kind is None:
                reactions.unreact(user_id, post.post_id)
                reactions.unreact_to_comment(user_id, comment)
                expected.pop(user_id, None)
            else:
                reactions.react(user_id, post.post_id, kind)
                reactions.react_to_comment(user_id, comment, kind)
                expected[user_id] = kind
        liked = list(expected.values()).count("like")
        assert likes(db, post) == likes_of(db, comment) == liked
        assert {each.user_id: each.reaction_type for each in db.reactions(post.post_id).all()} == expected
        handle(db, times=2)
        assert likes(db, post) == likes_of(db, comment) == liked
        assert db.verify().is_clean


def test_counts_survive_replays(db: SmartCooking, post: Post, comment: Comment) -> None:
    reactions = Reactions(db)
    for user_id in (ADA, BO, CY):
        reactions.react(user_id, post.post_id)
        reactions.react_to_comment(user_id, comment)
    reactions.react(BO, post.post_id, "yum")
    reactions.unreact(CY, post.post_id)
    handle(db)
    before = stored(db)
    month = f"{db.now():%Y-%m}"
    activity = db.activity(month).one()
    assert (activity.posts, activity.comments, activity.reactions) == (1, 1, 6)
    handle(db, times=2)
    assert stored(db) == before
    assert (likes(db, post), likes_of(db, comment)) == (1, 3)
