"""Posts and comments of Smart Cooking: written, changed and deleted by who may, with counts that are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    CommentNotFoundError,
    InvalidInputError,
    NotAuthorError,
    PostNotFoundError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import Comment, Post
from singletable_systems.smart_cooking.model.keys import CommentId, PostId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.posts import Posts, Reactions
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_streams import stored
from systems.cooking_users import ADA, BO, CY, opened_cooking, recipe_by, sign_up

NOBODY = UserId("user-nobody")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


def comments_count(db: SmartCooking, post: Post) -> int:
    return db.post(post.post_id).consistent().one().comments_count


def said(db: SmartCooking, post: Post) -> list[str]:
    return [comment.content for comment in db.comments(post.post_id).consistent().all()]


def is_public_in_index(db: SmartCooking, post: Post) -> bool:
    item = stored_item(db, f"POST#{post.post_id}", "METADATA")
    assert item is not None
    assert ("GSI3PK" in item) == ("GSI3SK" in item)
    return "GSI3PK" in item


# --- posts ----------------------------------------------------------------------------------------------


def test_post_has_its_content_and_the_name_of_its_author(db: SmartCooking) -> None:
    written = Posts(db).write(ADA, "Vừa nấu món này", images=["https://example.com/1.jpg"])
    post = db.post(written.post_id).consistent().one()
    assert (post.user_id, post.content, post.images) == (
        ADA,
        "Vừa nấu món này",
        ["https://example.com/1.jpg"],
    )
    assert (post.user_name, post.user_avatar) == ("Name of user-ada", None)
    assert (post.created_at, post.likes_count, post.comments_count) == (db.now(), 0, 0)


def test_private_post_is_in_no_list_of_others(db: SmartCooking) -> None:
    posts = Posts(db)
    public, private = posts.write(ADA, "Look"), posts.write(ADA, "Secret", is_public=False)
    assert is_public_in_index(db, public)
    assert not is_public_in_index(db, private)
    posts.make_private(ADA, public.post_id)
    assert list(db.public_feed(db.now()).all()) == []
    assert not is_public_in_index(db, public)
    posts.make_public(ADA, private.post_id)
    assert [post.content for post in db.public_feed(db.now()).all()] == ["Secret"]


def test_post_can_be_about_a_recipe_that_its_author_may_see(db: SmartCooking) -> None:
    for recipe in (
        recipe_by(ADA, "own", is_public=False),
        recipe_by(BO, "bos"),
        recipe_by(BO, "hidden", is_public=False),
    ):
        db.create(recipe)
    posts = Posts(db)
    for name in ("user-ada-own", "user-bo-bos"):
        assert posts.write(ADA, "Cooked it", recipe_id=RecipeId(name)).recipe_id == name
    for name in ("user-bo-hidden", "unknown"):
        with pytest.raises(RecipeNotFoundError, match=name):
            posts.write(ADA, "Cooked it", recipe_id=RecipeId(name))
    assert len(list(db.posts_of(ADA).all())) == 2


def test_edit_changes_what_is_given(db: SmartCooking, clock: ManualClock) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Luk", images=["1", "2"])
    clock.advance(60)
    edited = posts.edit(ADA, post.post_id, content="Look")
    assert (edited.content, edited.images, edited.updated_at) == ("Look", ["1", "2"], db.now())
    assert posts.edit(ADA, post.post_id, images=[]).images == []
    assert db.post(post.post_id).consistent().one().content == "Look"
    with pytest.raises(InvalidInputError, match="nothing to change"):
        posts.edit(ADA, post.post_id)


def test_only_the_author_changes_a_post(db: SmartCooking) -> None:
    posts = Posts(db)
    public, private = posts.write(ADA, "Look"), posts.write(ADA, "Secret", is_public=False)
    before = stored(db)
    attempts: list[Callable[[UserId, PostId], object]] = [
        posts.make_private,
        posts.make_public,
        posts.delete,
        lambda user_id, post_id: posts.edit(user_id, post_id, content="Mine"),
    ]
    for attempt in attempts:
        with pytest.raises(NotAuthorError, match="is not of user user-bo"):
            attempt(BO, public.post_id)
        with pytest.raises(PostNotFoundError):
            attempt(BO, private.post_id)
    with pytest.raises(PostNotFoundError, match="unknown"):
        posts.edit(ADA, PostId("unknown"), content="Look")
    assert stored(db) == before


def test_nobody_says_nothing_or_too_much(db: SmartCooking) -> None:
    posts = Posts(db)
    with pytest.raises(InvalidInputError, match="content: it should be a text with something in it"):
        posts.write(ADA, " \n")
    with pytest.raises(InvalidInputError, match=r"content: .*8,000 are allowed"):
        posts.write(ADA, "x" * 8_001)
    with pytest.raises(InvalidInputError, match=r"content: .*8,000 are allowed"):
        posts.comment(ADA, posts.write(BO, "Look").post_id, "x" * 8_001)
    with pytest.raises(InvalidInputError, match=r"images: .*at most 10"):
        posts.write(ADA, "Look", images=["1"] * 11)
    for image, why in (("", "images.0: .*at least 1"), ("x" * 8_001, "images: .*8,000 are allowed")):
        with pytest.raises(InvalidInputError, match=why):
            posts.write(ADA, "Look", images=[image])
    with pytest.raises(UserNotFoundError):
        posts.write(NOBODY, "Look")
    assert list(db.posts_of(ADA).all()) == []


def test_largest_post_stays_far_below_the_limit_of_an_item(db: SmartCooking) -> None:
    post = Posts(db).write(ADA, "x" * 7_900, images=["y" * 780] * 10)
    item = stored_item(db, f"POST#{post.post_id}", "METADATA")
    assert len(repr(item)) < 100_000


def test_deleted_post_takes_along_all_that_was_said_to_it(db: SmartCooking) -> None:
    posts, reactions = Posts(db), Reactions(db)
    kept = posts.write(ADA, "Kept")
    before = stored(db)
    post = posts.write(ADA, "Look")
    comment = posts.comment(BO, post.post_id, "Good")
    posts.reply(ADA, comment, "Thanks")
    reactions.react(BO, post.post_id)
    reactions.react_to_comment(CY, comment)
    assert posts.delete(ADA, post.post_id).counts == {
        "Comment": 2, "CommentReaction": 1, "Reaction": 1, "Post": 1,
    }  # fmt: skip
    assert stored(db) == before
    assert posts.delete(ADA, post.post_id).total == 0
    assert [each.post_id for each in db.posts_of(ADA).all()] == [kept.post_id]


# --- comments -------------------------------------------------------------------------------------------


def test_comments_are_counted_and_oldest_first(db: SmartCooking, clock: ManualClock) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    for number in range(3):
        clock.advance(1)
        posts.comment(BO, post.post_id, f"{number}")
    assert said(db, post) == ["0", "1", "2"]
    assert comments_count(db, post) == 3
    assert len(list(db.comments_of(BO).all())) == 3


def test_reply_names_what_it_answers(db: SmartCooking, clock: ManualClock) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    comment = posts.comment(BO, post.post_id, "Good")
    clock.advance(1)
    reply = posts.reply(ADA, comment, "Thanks")
    assert (reply.parent_comment_id, reply.parent_user_id) == (comment.comment_id, BO)
    assert [each.content for each in db.replies(comment.comment_id).all()] == ["Thanks"]
    assert comments_count(db, post) == 2


def test_private_post_is_commented_on_by_its_author_only(db: SmartCooking) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Secret", is_public=False)
    posts.comment(ADA, post.post_id, "Note to myself")
    with pytest.raises(PostNotFoundError):
        posts.comment(BO, post.post_id, "Found you")
    assert comments_count(db, post) == 1


def test_comment_needs_a_post_and_a_user_and_what_it_answers(db: SmartCooking) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    comment = posts.comment(BO, post.post_id, "Good")
    with pytest.raises(PostNotFoundError):
        posts.comment(BO, PostId("unknown"), "Good")
    with pytest.raises(UserNotFoundError):
        posts.comment(NOBODY, post.post_id, "Good")
    with pytest.raises(CommentNotFoundError, match="unknown"):
        posts.reply(ADA, comment.model_copy(update={"comment_id": CommentId("unknown")}), "Thanks")
    with pytest.raises(CommentNotFoundError):
        posts.reply(ADA, comment.model_copy(update={"user_id": CY}), "Tell somebody who has not said it")
    assert comments_count(db, post) == 1


def test_only_the_author_edits_a_comment(db: SmartCooking) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    comment = posts.comment(BO, post.post_id, "Gut")
    assert posts.edit_comment(BO, comment, "Good").content == "Good"
    for other in (ADA, CY):
        with pytest.raises(NotAuthorError):
            posts.edit_comment(other, comment, "Bad")
    assert said(db, post) == ["Good"]
    posts.delete_comment(BO, comment)
    with pytest.raises(CommentNotFoundError):
        posts.edit_comment(BO, comment, "Better")


def thread(db: SmartCooking) -> tuple[Post, Comment]:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    comment = posts.comment(BO, post.post_id, "Good")
    posts.reply(CY, comment, "Yes")
    return post, comment


@pytest.mark.parametrize("who", [ADA, BO])
def test_comment_is_deleted_by_its_author_or_by_that_of_the_post(db: SmartCooking, who: UserId) -> None:
    post, comment = thread(db)
    Reactions(db).react_to_comment(CY, comment)
    assert Posts(db).delete_comment(who, comment).counts == {"CommentReaction": 1, "Comment": 1}
    assert said(db, post) == ["Yes"]
    assert comments_count(db, post) == 1
    assert list(db.comment_reactions(post.post_id, comment.comment_id).all()) == []
    assert Posts(db).delete_comment(who, comment).total == 0


def test_nobody_else_deletes_a_comment(db: SmartCooking) -> None:
    post, comment = thread(db)
    with pytest.raises(NotAuthorError):
        Posts(db).delete_comment(CY, comment)
    assert comments_count(db, post) == 2


def test_replies_stay_when_what_they_answer_is_deleted(db: SmartCooking) -> None:
    post, comment = thread(db)
    Posts(db).delete_comment(BO, comment)
    assert [each.content for each in db.replies(comment.comment_id).all()] == ["Yes"]
    assert db.verify().is_clean
    assert comments_count(db, post) == 1
