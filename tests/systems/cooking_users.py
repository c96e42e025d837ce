"""Smart Cooking on any target, with users who have something of everything, and all that is stored of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from singletable import Create
from singletable.clock import Clock
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Comment,
    CommentReaction,
    CookingHistory,
    FeedItem,
    Friendship,
    Notification,
    Post,
    Reaction,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import (
    CommentId,
    HistoryId,
    NotificationId,
    PostId,
    RecipeId,
    SuggestionId,
    UserId,
)
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.pantry import Pantry
from singletable_systems.smart_cooking.services.reports import Reports
from singletable_systems.smart_cooking.services.sessions import Sessions
from support.design_clients import Between, on_client
from support.opened_designs import opened_design, stored_items

ADA, BO, CY = UserId("user-ada"), UserId("user-bo"), UserId("user-cy")


@contextmanager
def opened_cooking(target: str, clock: Clock) -> Iterator[SmartCooking]:
    """Open Smart Cooking on a fresh target, one of `TARGETS`."""
    with opened_design(SmartCooking, target, clock, environment="test") as db:
        yield db


def watched(db: SmartCooking) -> tuple[SmartCooking, Between]:
    """Return the same design once more, through a client that writes down its calls and can be interrupted."""
    between = Between(db.session.client)
    return on_client(SmartCooking, between, makes_table=False, **db.session.environment), between


def sign_up(db: SmartCooking, *user_ids: UserId) -> list[UserProfile]:
    accounts = Accounts(db)
    return [
        accounts.sign_up(f"{each}@example.com", each.removeprefix("user-"), f"Name of {each}", user_id=each)
        for each in user_ids
    ]


def befriend(db: SmartCooking, user_id: UserId, friend_id: UserId, *, is_accepted: bool = True) -> None:
    """Store both rows of a friendship that the first one has asked for."""
    asked = Friendship(
        friendship_id=f"{user_id}+{friend_id}",
        user_id=user_id,
        friend_id=friend_id,
        status="accepted" if is_accepted else "pending",
        requested_at=db.now(),
        direction="sent",
    )
    mirrored = {"user_id": friend_id, "friend_id": user_id, "direction": "received"}
    db.transaction(Create(asked), Create(asked.model_copy(update=mirrored)))


def recipe_by(user_id: UserId, name: str = "soup", *, is_public: bool = True) -> Recipe:
    return Recipe(
        recipe_id=RecipeId(f"{user_id}-{name}"),
        user_id=user_id,
        title=name,
        cuisine_type="Vietnamese",
        cooking_method="soup",
        meal_type="main",
        is_public=is_public,
        is_approved=is_public,
        ingredient_names=["thit ga"],
    )


def post_by(db: SmartCooking, user_id: UserId, name: str = "post", *, is_public: bool = True) -> Post:
    return Post(
        post_id=PostId(f"{user_id}-{name}"),
        user_id=user_id,
        content="Very good",
        is_public=is_public,
        created_at=db.now(),
    )


def write_and_post(db: SmartCooking, user_id: UserId) -> None:
    """Give a user what others answer to: a recipe with ingredients, and a post with a comment of their own."""
    recipe = recipe_by(user_id)
    db.create(recipe)
    for position, name in enumerate(["Thịt gà", "Sả"], start=1):
        db.create(RecipeIngredient(recipe_id=recipe.recipe_id, position=position, ingredient_name=name))
    post = post_by(db, user_id)
    db.create(post)
    db.create(_comment(post, user_id))


def answer(db: SmartCooking, user_id: UserId, author_id: UserId) -> None:
    """Let a user rate, comment and react to all that somebody else has written."""
    now = db.now()
    recipe, post = recipe_by(author_id), post_by(db, author_id)
    db.create(RecipeRating(rating_id=f"{user_id}-1", recipe_id=recipe.recipe_id, user_id=user_id, rating=4))
    [comment] = [each for each in db.comments(post.post_id).all() if each.user_id == author_id]
    db.create(_comment(post, user_id, to=comment.comment_id))
    db.create(Reaction(reaction_id=f"{user_id}-1", user_id=user_id, post_id=post.post_id, created_at=now))
    db.create(
        CommentReaction(
            reaction_id=f"{user_id}-2",
            user_id=user_id,
            post_id=post.post_id,
            comment_id=comment.comment_id,
            commented_at=comment.created_at,
            comment_user_id=comment.user_id,
            created_at=now,
        )
    )


def settle_in(db: SmartCooking, user_id: UserId) -> None:
    """Give a user something of all that is nobody else's."""
    now = db.now()
    Sessions(db).open(user_id)
    Sessions(db).open(user_id)
    Pantry(db).add(user_id, ["Thịt gà", "Sả"])
    Reports(db).report(user_id, "abc xyz")
    recipe_id = RecipeId("somebody-elses")
    db.create(
        CookingHistory(
            history_id=HistoryId(f"{user_id}-h"), user_id=user_id, recipe_id=recipe_id, created_at=now
        )
    )
    suggestion_id = SuggestionId(f"{user_id}-s")
    db.create(
        AiSuggestion(suggestion_id=suggestion_id, user_id=user_id, requested_recipe_count=3, created_at=now)
    )
    post_id = PostId("somebody-elses")
    db.create(FeedItem(user_id=user_id, post_id=post_id, author_id=UserId("user-dee"), created_at=now))
    db.create(
        Notification(
            notification_id=NotificationId(f"{user_id}-n"),
            user_id=user_id,
            type="friend_request",
            target_type="user",
            target_id="user-dee",
            content="Dee asks",
            created_at=now - timedelta(days=1),
        )
    )


def _comment(post: Post, user_id: UserId, to: CommentId | None = None) -> Comment:
    return Comment(
        comment_id=CommentId(f"{user_id}-c"),
        post_id=post.post_id,
        user_id=user_id,
        parent_comment_id=to,
        content="Good",
        created_at=post.created_at,
    )


def naming(db: SmartCooking, user_id: str) -> list[str]:
    """Return the keys of what is stored that names a user: by a scan, which only tests may do."""
    return [f"{item['PK']['S']} {item['SK']['S']}" for item in stored_items(db) if user_id in repr(item)]
