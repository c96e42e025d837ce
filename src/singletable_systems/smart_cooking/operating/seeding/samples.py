"""What each access pattern can be asked in made-up data of any size: about the first circle, and about all."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, TypeVar

from singletable import Entity
from singletable.systems import Samples
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Comment,
    CommentReaction,
    CookingHistory,
    Friendship,
    InvalidIngredientReport,
    Notification,
    Post,
    Reaction,
    Recipe,
    RecipeRating,
    Session,
    SuggestionCache,
    UserProfile,
)
from singletable_systems.smart_cooking.operating.seeding.circles import circle
from singletable_systems.smart_cooking.operating.seeding.ingredients import ingredient_id
from singletable_systems.smart_cooking.operating.seeding.people import user_id
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.activity import month_of

E = TypeVar("E", bound=Entity)

_CHICKEN = "Thịt gà"


@cache
def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    now = datetime.combine(day, time(), UTC)
    first = _First(list(circle(0, now)))
    asked = {
        **_of_people(first),
        **_of_ingredients(first),
        **_of_recipes(first),
        **_of_cooking(first, now),
        **_of_society(first, now),
    }
    return {name: asked[name] for name in SmartCooking.patterns()}


class _First:
    """The first circle, and who is the first of it."""

    def __init__(self, entities: list[Entity]) -> None:
        self._entities = entities
        self.user = self.first(UserProfile)
        self.own = {"user_id": self.user.user_id}

    def first(self, kind: type[E]) -> E:
        """Return the first entity of a kind."""
        return next(each for each in self._entities if isinstance(each, kind))

    def key(self, kind: type[E], *names: str) -> dict[str, Any]:
        """Return some fields of the first entity of a kind."""
        entity = self.first(kind)
        return {name: getattr(entity, name) for name in names}


def _of_people(first: _First) -> Samples:
    people = {"user_ids": [user_id(number) for number in range(3)]}
    return {
        "user": first.own,
        "admins": {},
        "preferences": first.own,
        "privacy": first.own,
        "user_by_email": {"email": first.user.email},
        "user_by_username": {"username": first.user.username},
        "users": people,
        "privacy_of": people,
        "sign_in": first.key(Session, "session_id"),
        "sign_ins": first.key(Session, "user_id"),
    }


def _of_ingredients(first: _First) -> Samples:
    reported = first.first(InvalidIngredientReport)
    unknown = {"name": reported.ingredient_name}
    return {
        "user_ingredients": first.own,
        "user_ingredient": {**first.own, "name": _CHICKEN},
        "ingredient": {"ingredient_id": ingredient_id(_CHICKEN)},
        "search_ingredients": {"term": "gà"},
        "ingredients_named": {"name": "chicken"},
        "ingredient_by_name": {"name": _CHICKEN},
        "ingredients_by_category": {"category": "meat"},
        "report": {**unknown, "user_id": reported.user_id},
        "pending_reports": {},
        "invalid_ingredient": unknown,
        "reporters": unknown,
        "reports_of": {"user_id": reported.user_id},
    }


def _of_recipes(first: _First) -> Samples:
    recipe = first.first(Recipe)
    identity = {"recipe_id": recipe.recipe_id}
    return {
        "recipe": identity,
        "recipes_of": first.own,
        "recipes_by_method": {"cooking_method": recipe.cooking_method},
        "approved_recipes": {},
        "recipes_by_cuisine": {"cuisine_type": recipe.cuisine_type},
        "recipes_by_meal_type": {"meal_type": recipe.meal_type},
        "recipe_ingredients": identity,
        "recipe_view": identity,
        "trending": {},
        "ranking": {},
        "ratings": identity,
        "ratings_of": first.own,
        "rating": first.key(RecipeRating, "recipe_id", "user_id"),
        "recipes": {"recipe_ids": [recipe.recipe_id, first.first(SuggestionCache).recipe_ids[0]]},
        "search_recipes": {"term": recipe.title},
        "recipes_using": {"name": _CHICKEN},
    }


def _of_cooking(first: _First, now: datetime) -> Samples:
    return {
        "history": first.own,
        "cooking": first.key(CookingHistory, "user_id", "created_at", "history_id"),
        "favorites": first.own,
        "recent_activities": {"now": now},
        "suggestions": first.own,
        "suggestion_at": first.key(AiSuggestion, "user_id", "created_at"),
        "suggestion": first.key(AiSuggestion, "user_id", "created_at", "suggestion_id"),
        "suggestion_cache": first.key(SuggestionCache, "digest"),
        # When only the first circle was there.
        "activity": {"month": month_of(now - timedelta(days=1150))},
    }


def _of_society(first: _First, now: datetime) -> Samples:
    friendship = first.first(Friendship)
    pair = {"user_id": friendship.user_id, "friend_id": friendship.friend_id}
    post, comment = first.key(Post, "post_id"), first.key(Comment, "post_id", "comment_id")
    return {
        "friends": first.own,
        "friended_by": first.own,
        "friendship": pair,
        "friendships": first.own,
        "pulled_friends": first.own,
        "friendships_between": {"pairs": [tuple(pair.values()), (first.user.user_id, user_id(6))]},
        "post": post,
        "posts": {"post_ids": [*post.values()]},
        "posts_of": first.own,
        "posts_before": {**first.own, "before": now},
        "public_posts_between": {**first.own, "oldest": now - timedelta(days=30), "newest": now},
        "public_feed": {"now": now},
        "feed": first.own,
        "feed_items": {**first.own, "before": now},
        "feed_items_by": {**first.own, "author_id": user_id(1)},
        "comments": post,
        "comment": {**comment, **first.key(Comment, "created_at")},
        "replies": first.key(Comment, "comment_id"),
        "comments_of": first.own,
        "reactions": post,
        "reaction": first.key(Reaction, "post_id", "user_id"),
        "reactions_of": first.own,
        "comment_reactions": comment,
        "comment_reaction": first.key(CommentReaction, "post_id", "comment_id", "user_id"),
        "comment_reactions_of": first.own,
        "notifications": first.own,
        "unread": first.own,
        "notification": first.key(Notification, "user_id", "created_at", "notification_id"),
    }
