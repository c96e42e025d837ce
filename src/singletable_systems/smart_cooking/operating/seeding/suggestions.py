"""What was suggested to the members of a circle, what was generated for it, and what they made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    CookingHistory,
    Recipe,
    SuggestionCache,
)
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, SuggestionId
from singletable_systems.smart_cooking.operating.seeding.dishes import DISHES, Dish
from singletable_systems.smart_cooking.operating.seeding.ingredients import unknown_name
from singletable_systems.smart_cooking.operating.seeding.people import CIRCLE, Member
from singletable_systems.smart_cooking.operating.seeding.recipes import lines_of, recipe_id
from singletable_systems.smart_cooking.rules.choice import digest_of

_GENERATED: Final = len(DISHES)  # later suggestions get recipes that were generated before
_DAYS: Final = (None, 40, 80)  # how long ago suggestions were made, but for the last one


def own_recipe_id(member: Member) -> RecipeId:
    """Return the id of the recipe that somebody shows to nobody."""
    return RecipeId(f"g{member.number:06}")


def private_recipes(circle: int, members: Sequence[Member], now: datetime) -> Iterator[Entity]:
    """Make up a recipe of each member that is not public: most of them were generated for a suggestion."""
    for member in members:
        dish, is_generated = _dish(member), member.place < _GENERATED
        at = _asked_at(circle, member, 0, now) if is_generated else now - timedelta(days=15)
        yield Recipe(
            recipe_id=own_recipe_id(member),
            user_id=member.user_id,
            title=f"{dish.title}, nhanh" if is_generated else f"{dish.title} bí truyền",
            is_ai_generated=is_generated,
            ai_cache_hit_count=int(member.place < CIRCLE - _GENERATED),
            created_at=at,
            updated_at=at,
            **dish.text(),
        )
        yield from lines_of(own_recipe_id(member), dish)


def suggestions(circle: int, members: Sequence[Member], now: datetime) -> Iterator[Entity]:
    """Make up what was suggested in the last 90 days; the last one of each is being cooked now."""
    for member in members:
        last = _last(circle, member, members, now)
        yield last
        yield _begun(member, last)
        yield _given_up(circle, member, now)
        yield from (_earlier(circle, member, turn, now) for turn in range(1, len(_DAYS)))
    if circle == 0:  # elsewhere it was so long ago that nothing is cached any more
        yield from (_cached(member, _asked_at(circle, member, 0, now)) for member in members[:_GENERATED])


def _dish(member: Member) -> Dish:
    return DISHES[member.place % len(DISHES)]


def _asked_at(circle: int, member: Member, turn: int, now: datetime) -> datetime:
    days = _DAYS[turn] or (2 if circle == 0 else 12)
    return now - timedelta(days=days) + timedelta(hours=member.place)


def _last(circle: int, member: Member, members: Sequence[Member], now: datetime) -> AiSuggestion:
    """Make up a suggestion of two recipes that are there, and one that was generated: just so, or before."""
    dish, is_cached = _dish(member), member.place >= _GENERATED
    maker = members[member.place % _GENERATED]
    invalid = [unknown_name(circle, member.place)] if member.place < 2 else []
    return AiSuggestion(
        recipe_ids=[recipe_id(circle, CIRCLE), recipe_id(circle, CIRCLE + 2), own_recipe_id(maker)],
        cache_ids=[digest_of(dish.names)] if is_cached else [],
        recipes_from_db=2,
        recipes_from_ai=1,
        invalid_ingredients=invalid,
        ai_response=None if is_cached else {"recipes": [{"title": f"{dish.title}, nhanh"}]},
        was_from_cache=is_cached,
        was_accepted=True,
        **_asked(circle, member, 0, now),
    )


def _earlier(circle: int, member: Member, turn: int, now: datetime) -> AiSuggestion:
    return AiSuggestion(
        recipe_ids=[recipe_id(circle, place) for place in (24, 26, 28)],
        recipes_from_db=3,
        feedback_rating=5 - turn,
        feedback_comment="Gợi ý rất hay!" if turn == 1 else None,
        **_asked(circle, member, turn, now),
    )


def _asked(circle: int, member: Member, turn: int, now: datetime) -> dict[str, Any]:
    names = [line.name for line in _dish(member).lines]
    return {
        "suggestion_id": SuggestionId(f"a{member.number:06}-{turn}"),
        "user_id": member.user_id,
        "prompt_text": f"Gợi ý món với {', '.join(names)}",
        "ingredients_used": names,
        "requested_recipe_count": 3,
        "created_at": _asked_at(circle, member, turn, now),
    }


def _begun(member: Member, suggestion: AiSuggestion) -> CookingHistory:
    at = suggestion.created_at + timedelta(minutes=5)
    return CookingHistory(
        history_id=HistoryId(f"b{member.number:06}"),
        user_id=member.user_id,
        recipe_id=suggestion.recipe_ids[-1],
        suggestion_id=suggestion.suggestion_id,
        created_at=at,
        updated_at=at,
        visibility=member.visibility,
    )


def _given_up(circle: int, member: Member, now: datetime) -> CookingHistory:
    at = now - timedelta(days=35, hours=member.place)
    return CookingHistory(
        history_id=HistoryId(f"c{member.number:06}"),
        user_id=member.user_id,
        recipe_id=recipe_id(circle, CIRCLE + (member.place + 3) % CIRCLE),
        status="cancelled",
        created_at=at,
        updated_at=at + timedelta(minutes=20),
        visibility=member.visibility,
    )


def _cached(member: Member, at: datetime) -> SuggestionCache:
    names = _dish(member).names
    return SuggestionCache(
        digest=digest_of(names),
        ingredients=sorted(names),
        recipe_ids=[own_recipe_id(member)],
        hit_count=int(member.place < CIRCLE - _GENERATED),
        created_at=at,
    )
