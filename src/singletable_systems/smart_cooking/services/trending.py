"""Trending: the recipes that were cooked most in the last seven days, written as a ranking (SC-20).

The score: everybody who has cooked a recipe and shows it to all counts once, by the last time: 7 points in the
last 24 hours, 6 on the day before, down to 1. Only the fifty best are written, and of these only the ranks that
have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from singletable import Check, Eq, Put
from singletable.errors import ConditionNotMetError, NotFoundError
from singletable.systems import Step, Worker
from singletable_systems.smart_cooking.model.entities import CookingHistory, TrendingRecipe
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking

WINDOW_DAYS: Final = 7
RANKED_MAX: Final = 50
EVERY_S: Final = 600.0

_PAGE_ACTIVITIES: Final = 500
_LOOKED_AT_TOGETHER: Final = 100
# A rank that stays the same is written again before it would expire.
_RENEWED_AFTER: Final = timedelta(days=3)
_DAY: Final = timedelta(days=1)


class Tally:
    """Counts activities of the last days, newest first, a page at a time."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.cursor: str | None = None
        self.scores: dict[RecipeId, int] = {}
        self._counted: set[tuple[RecipeId, UserId]] = set()

    def count(self, activities: Iterable[CookingHistory]) -> None:
        """Add activities, newest first. Of one user and recipe, only the newest counts."""
        for activity in activities:
            who = (activity.recipe_id, activity.user_id)
            if who not in self._counted:
                self._counted.add(who)
                points = points_of(activity.cook_date, self.now)
                self.scores[activity.recipe_id] = self.scores.get(activity.recipe_id, 0) + points


def points_of(cook_date: datetime, now: datetime) -> int:
    """Return the points of one cooking, some time later."""
    return max(0, WINDOW_DAYS - (now - cook_date) // _DAY)


def ranked(scores: Mapping[RecipeId, int]) -> list[RecipeId]:
    """Return recipes in the order of the ranking."""
    counting = [recipe_id for recipe_id, score in scores.items() if score > 0]
    return sorted(counting, key=lambda recipe_id: (scores[recipe_id], recipe_id), reverse=True)


class Trending:
    """Keeps the ranking. Several may do so at once: they write the same."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db
        self._tally: Tally | None = None  # which the next step goes on with

    def refresh(self, now: datetime | None = None) -> int:
        """Count the cooking of the last days, and write the ranking; return how many ranks have changed."""
        tally = Tally(self._db.now() if now is None else now)
        while self._count_page(tally):
            pass
        return self._rank(tally)

    def step(self) -> Step:
        """Count a page of activities; behind the last one, write the ranking."""
        tally, self._tally = self._tally or Tally(self._db.now()), None  # if this fails, the next begins anew
        if self._count_page(tally):
            self._tally = tally
            return Step(0, more=True)
        return Step(self._rank(tally))

    def worker(self) -> Worker:
        """Return what runs beside an open design."""
        return Worker("smart-cooking-trending", EVERY_S, self.step)

    def _count_page(self, tally: Tally) -> bool:
        """Count a page of activities; tell whether there is another."""
        page = self._db.recent_activities(tally.now, WINDOW_DAYS).page(_PAGE_ACTIVITIES, tally.cursor)
        tally.count(page.items)
        tally.cursor = page.cursor
        return page.cursor is not None

    # --- the ranking -----------------------------------------------------------------------------

    def _rank(self, tally: Tally) -> int:
        wanted = {
            recipe_id: tally.scores[recipe_id]
            for recipe_id in islice(self._shown(ranked(tally.scores)), RANKED_MAX)
        }
        stored = {rank.recipe_id: rank for rank in self._db.ranking().all()}
        changed = sum(
            self._write(recipe_id, score, tally.now)
            for recipe_id, score in wanted.items()
            if not _is_same(stored.get(recipe_id), score, tally.now)
        )
        fallen = [rank for recipe_id, rank in stored.items() if recipe_id not in wanted]
        for rank in fallen:
            self._db.delete(rank)
        return changed + len(fallen)

    def _shown(self, recipe_ids: list[RecipeId]) -> Iterator[RecipeId]:
        """Return those that are there and public, in their order; read on as long as somebody asks."""
        for start in range(0, len(recipe_ids), _LOOKED_AT_TOGETHER):
            recipes = self._db.recipes(recipe_ids[start : start + _LOOKED_AT_TOGETHER]).all()
            yield from (recipe.recipe_id for recipe in recipes if recipe.is_public)

    def _write(self, recipe_id: RecipeId, score: int, now: datetime) -> bool:
        """Write a rank, unless its recipe is hidden or deleted just now; tell whether it was written."""
        rank = TrendingRecipe(recipe_id=recipe_id, score=score, counted_at=now)
        try:
            self._db.transaction(Check(self._db.recipe(recipe_id), when=Eq("is_public", True)), Put(rank))
        except (ConditionNotMetError, NotFoundError):
            return False
        return True


def _is_same(rank: TrendingRecipe | None, score: int, now: datetime) -> bool:
    return rank is not None and rank.score == score and now - rank.counted_at < _RENEWED_AFTER
