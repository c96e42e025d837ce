"""A Smart Cooking full of traps, from one seed, and how each of its entities is read back.

Ids that begin alike; equal moments, moments of other time zones, and of a millisecond before and after the edges
of months, days and lives; what is private, unapproved, hidden, gone or over beside what is not; names with
accents, aliases that are names of others; and places that hold more than a page of 1 MB.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, TypeVar

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Comment,
    CommentReaction,
    CookingHistory,
    FeedItem,
    Friendship,
    InvalidIngredient,
    InvalidIngredientReport,
    Notification,
    Post,
    PrivacySettings,
    Reaction,
    Recipe,
    RecipeRating,
    RecipeUse,
    TrendingRecipe,
    UserProfile,
)
from systems.cooking_dishes import make_dishes
from systems.cooking_people import make_people
from systems.cooking_society import make_society
from systems.cooking_traps import NOW

E = TypeVar("E", bound=Entity)

LIFE_DAYS: dict[type[Entity], tuple[str, int]] = {
    AiSuggestion: ("created_at", 90),
    FeedItem: ("created_at", 30),
    Notification: ("created_at", 30),
    TrendingRecipe: ("counted_at", 7),
}


@dataclass(frozen=True)
class World:
    """What is written, and what is of nobody."""

    entities: tuple[Entity, ...]
    strangers: tuple[dict[str, Any], ...]


def make_world(seed: int = 20400301) -> World:
    """Make the data of a seed."""
    chance = random.Random(seed)
    entities = [*make_people(chance), *make_dishes(chance), *make_society(chance)]
    return World(tuple(entities), _strangers())


def as_stored(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities as they are read after all were created by a clock that stands at `NOW`."""
    settled = Settled(list(entities))
    return [entity.model_copy(update=settled.filled(entity)) for entity in settled.entities]


class Settled:
    """Works out what is kept in entities about others: numbers, averages, copies."""

    def __init__(self, entities: list[Entity]) -> None:
        self.entities = entities
        self._by_kind: defaultdict[type[Entity], list[Any]] = defaultdict(list)
        for entity in entities:
            self._by_kind[type(entity)].append(entity)

    def filled(self, entity: Entity) -> dict[str, Any]:
        """Return what is not as it was given."""
        filled: dict[str, Any] = {}
        if "version" in type(entity).model_fields:
            filled["version"] = 1
        if "updated_at" in type(entity).model_fields:
            filled["updated_at"] = NOW
        if type(entity) in LIFE_DAYS:
            after, days = LIFE_DAYS[type(entity)]
            filled["ttl"] = (getattr(entity, after) + timedelta(days=days)).replace(microsecond=0)
        return filled | self._kept(entity)

    def _all(self, kind: type[E], **equal: Any) -> list[E]:
        return [
            entity
            for entity in self._by_kind[kind]
            if all(getattr(entity, name) == value for name, value in equal.items())
        ]

    def _kept(self, entity: Entity) -> dict[str, Any]:
        match entity:
            case UserProfile():
                return {
                    "friends_count": len(self._all(Friendship, user_id=entity.user_id, status="accepted"))
                }
            case Recipe():
                stars = [each.rating for each in self._all(RecipeRating, recipe_id=entity.recipe_id)]
                steps = {"average_rating": mean(stars, "0.01"), "rating_step": mean(stars, "0.1")}
                return {**steps, "rating_count": len(stars)}
            case InvalidIngredient():
                reports = self._all(InvalidIngredientReport, normalized_name=entity.normalized_name)
                return {"total_reports": sum(each.user_report_count for each in reports)}
            case CookingHistory():
                settings = self._all(PrivacySettings, user_id=entity.user_id)
                return {"visibility": settings[0].profile_visibility if settings else "private"}
            case Post():
                (author,) = self._all(UserProfile, user_id=entity.user_id)
                return {
                    "user_name": author.full_name,
                    "user_avatar": author.avatar_url,
                    "likes_count": len(self._all(Reaction, post_id=entity.post_id, reaction_type="like")),
                    "comments_count": len(self._all(Comment, post_id=entity.post_id)),
                }
            case Comment():
                likes = self._all(CommentReaction, comment_id=entity.comment_id, reaction_type="like")
                return {"likes_count": len(likes)}
        return {}


def mean(numbers: list[int], step: str) -> Decimal:
    """Return the mean to a step; of two that are as near, the even one."""
    if not numbers:
        return Decimal(0)
    return (Decimal(sum(numbers)) / len(numbers)).quantize(Decimal(step), ROUND_HALF_EVEN)


def uses_of(recipes: Iterable[Recipe]) -> list[RecipeUse]:
    """Return the lists by ingredient that the stream keeps of recipes as they are stored."""
    return [
        RecipeUse(
            recipe_id=recipe.recipe_id,
            normalized_name=name,
            rating_step=recipe.rating_step,
            created_at=recipe.created_at,
        )
        for recipe in recipes
        if recipe.is_public and recipe.is_approved
        for name in recipe.ingredient_names
    ]


def _strangers() -> tuple[dict[str, Any], ...]:
    """Make items of entities that the design does not know, under the prefixes of those that it does."""
    keys = [
        ("USER#ada", "INGREDIENT#ca!"),
        ("USER#ada", "COOKING#2040-02-29T00:00:00.000Z#!"),
        ("USER#ada", "FRIEND#ad!"),
        ("USER#ada", "NOTIFICATION#2040-02-29T00:00:00.000Z#!"),
        ("RECIPE#r1", "INGREDIENT#001!"),
        ("RECIPE#r1", "RATING#ad!"),
        ("POST#p1", "COMMENT#2040-02-29T00:00:00.000Z#!"),
        ("POST#p1", "REACTION#ad!"),
    ]
    indexed = {
        "GSI1PK": {"S": "USER#ada"},
        "GSI1SK": {"S": "POST#2040-01-01T00:00:00.000Z!"},
        "GSI2PK": {"S": "INGREDIENT#SEARCH"},
        "GSI2SK": {"S": "NAME#ga!"},
        "GSI3PK": {"S": "FEED#PUBLIC"},
        "GSI3SK": {"S": "POST#2040-01-01T00:00:00.000Z!"},
    }
    return tuple(
        {
            "PK": {"S": pk},
            "SK": {"S": sk},
            "entity_type": {"S": "STRANGER"},
            "status": {"S": "accepted"},
            **more,
        }
        for number, (pk, sk) in enumerate(keys)
        for more in [indexed if number == 0 else {}]
    )
