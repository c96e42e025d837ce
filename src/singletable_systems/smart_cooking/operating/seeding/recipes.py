"""Recipes of a circle: written by one, cooked and rated by others, approved when they have earned it.

Those of the first circle are rated best, and cooked last: they lead every list, and the ranking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    CookingHistory,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    TrendingRecipe,
)
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId
from singletable_systems.smart_cooking.operating.seeding.dishes import DISHES, Dish
from singletable_systems.smart_cooking.operating.seeding.people import CIRCLE, Member
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.approval import (
    AVERAGE_RATING_MIN,
    RATING_COUNT_MIN,
    approved_by_admin,
    approved_by_ratings,
)
from singletable_systems.smart_cooking.services.trending import RANKED_MAX, Tally, ranked

RECIPES_EACH: Final = 4
RECIPES: Final = CIRCLE * RECIPES_EACH
FIRST_DAYS_MAX: Final = 1160  # since when the first circle cooks here
OTHERS_DAYS_MAX: Final = 900  # and since when the others

_FIRST_DAYS: Final = (9, 60, 300, 1150)  # how old a recipe is, by its turn
_OTHER_DAYS: Final = (23, 70, 150, 300)
_OTHER_SPREAD_MINUTES: Final = (4 * 1440, 30 * 1440, 100 * 1440, 400 * 1440)
_APPROVED_BY_ADMIN: Final = 5
_REMARKS: Final = (
    "Món này rất ngon!",
    "Rất ngon, sẽ nấu lại!",
    "A little less salt next time.",
    "Cả nhà đều thích.",
    "Took longer than it says, and was worth it.",
    None,
)


@dataclass(frozen=True, slots=True)
class Cooked:
    """A recipe with all that others have done with it."""

    recipe: Recipe
    lines: Sequence[RecipeIngredient]
    ratings: Sequence[RecipeRating]
    histories: Sequence[CookingHistory]

    def entities(self) -> Iterator[Entity]:
        yield self.recipe
        yield from self.lines
        yield from self.histories
        yield from self.ratings


def recipe_id(circle: int, place: int) -> RecipeId:
    """Return the id of a public recipe."""
    return RecipeId(f"r{circle * RECIPES + place:06}")


def public_recipes(circle: int, members: Sequence[Member], chance: Random, now: datetime) -> list[Cooked]:
    """Make up the public recipes of a circle."""
    return [_cooked(circle, place, members, chance, now) for place in range(RECIPES)]


def _cooked(circle: int, place: int, members: Sequence[Member], chance: Random, now: datetime) -> Cooked:
    turn, author = place // CIRCLE, members[place % CIRCLE]
    dish, identity = DISHES[place % len(DISHES)], recipe_id(circle, place)
    created_at = _created_at(circle, place, chance, now)
    ratings, histories = [], []
    for number, stars in enumerate(_stars(circle, place)):
        cook = members[(author.place + 1 + (turn * 3 + number) % (CIRCLE - 1)) % CIRCLE]
        at = _cooked_at(circle, place, number, created_at, now)
        history = _history(identity, cook, stars, number, at) if number % 2 == 0 else None
        ratings.append(_rating(identity, cook, stars, history, chance, at + timedelta(minutes=10)))
        histories += [] if history is None else [history]
    approval = (
        approved_by_admin(created_at + timedelta(days=1))
        if place == _APPROVED_BY_ADMIN
        else _approval(ratings)
    )
    recipe = Recipe(
        recipe_id=identity,
        user_id=author.user_id,
        title=dish.title if circle == 0 else f"{dish.title} của {author.profile.full_name}",
        is_public=True,
        created_at=created_at,
        updated_at=approval.get("approved_at", created_at),
        **dish.text(),
        **approval,
    )
    return Cooked(SmartCooking.counted(recipe, ratings), lines_of(identity, dish), ratings, histories)


def lines_of(identity: RecipeId, dish: Dish) -> list[RecipeIngredient]:
    """Return the list of ingredients of a recipe."""
    return [
        RecipeIngredient(
            recipe_id=identity,
            position=position,
            ingredient_name=line.name,
            quantity=line.quantity,
            unit=line.unit,
            is_optional=position == len(dish.lines),
        )
        for position, line in enumerate(dish.lines, start=1)
    ]


# --- when, and how well -----------------------------------------------------------------------------------------


def _created_at(circle: int, place: int, chance: Random, now: datetime) -> datetime:
    turn = place // CIRCLE
    if circle == 0:
        return now - timedelta(days=_FIRST_DAYS[turn], minutes=17 * place)
    return now - timedelta(
        days=_OTHER_DAYS[turn], minutes=17 * place + chance.randrange(_OTHER_SPREAD_MINUTES[turn])
    )


def _stars(circle: int, place: int) -> tuple[int, ...]:
    """Decide what is thought of a recipe: in the first circle, more than anywhere else."""
    if circle > 0:
        return ((5, 4, 5, 4, 4), (4, 4, 4), (5, 5, 4, 4, 5), (3, 2, 5), (4, 4, 5, 4, 4), ())[place % 6]
    if place % 7 == 6:
        return (3, 2, 4)
    return ((5, 4, 5, 5, 5, 5, 5, 5), (5, 5, 5, 5, 5, 5), (5, 5, 5, 4, 5, 5, 5))[place % 3]


def _cooked_at(circle: int, place: int, number: int, created_at: datetime, now: datetime) -> datetime:
    """Say when somebody was done: in the first circle its newest recipes were cooked in the last days."""
    if circle == 0 and place < CIRCLE:
        return now - timedelta(minutes=90 + 400 * ((number * 5 + place * 3) % 24))
    return created_at + timedelta(minutes=3600 * (number + 1) + place)


def _approval(ratings: Sequence[RecipeRating]) -> dict[str, Any]:
    """Say when the ratings of a recipe have approved it, if they have."""
    in_order = sorted(ratings, key=lambda rating: rating.created_at)
    for count in range(RATING_COUNT_MIN, len(in_order) + 1):
        if sum(rating.rating for rating in in_order[:count]) >= AVERAGE_RATING_MIN * count:
            return approved_by_ratings(in_order[count - 1].created_at)
    return {}


def _history(identity: RecipeId, cook: Member, stars: int, number: int, at: datetime) -> CookingHistory:
    return CookingHistory(
        history_id=HistoryId(f"h{identity[1:]}-{number}"),
        user_id=cook.user_id,
        recipe_id=identity,
        status="completed",
        personal_rating=stars,
        personal_notes="Rất ngon, sẽ nấu lại!" if stars == 5 else None,
        is_favorite=stars == 5 and number % 4 == 0,
        created_at=at - timedelta(hours=1),
        cook_date=at,
        updated_at=at,
        visibility=cook.visibility,
    )


def _rating(
    identity: RecipeId,
    cook: Member,
    stars: int,
    history: CookingHistory | None,
    chance: Random,
    at: datetime,
) -> RecipeRating:
    return RecipeRating(
        rating_id=f"{identity}-{cook.user_id}",
        recipe_id=identity,
        user_id=cook.user_id,
        history_id=None if history is None else history.history_id,
        rating=stars,
        comment=chance.choice(_REMARKS),
        is_verified_cook=history is not None,
        created_at=at,
        updated_at=at,
    )


# --- the ranking ------------------------------------------------------------------------------------------------


def ranking(cooked: Sequence[Cooked], now: datetime) -> Iterator[TrendingRecipe]:
    """Return the recipes that were cooked most, as they would be counted now."""
    tally = Tally(now)
    shown = [
        history
        for each in cooked
        for history in each.histories
        if history.status == "completed" and history.visibility == "public"
    ]
    tally.count(sorted(shown, key=lambda history: history.cook_date, reverse=True))
    for identity in ranked(tally.scores)[:RANKED_MAX]:
        yield TrendingRecipe(recipe_id=identity, score=tally.scores[identity], counted_at=now)
