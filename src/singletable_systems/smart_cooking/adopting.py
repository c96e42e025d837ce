"""Adopting: what the migration of a table as the documents have it cannot know, made up user by user.

There, a friendship is one row (SC-31), the reports of a name have no summary (SC-33), and recipes do not say by
themselves what goes into them. Whoever runs the migration runs this behind it, while the app rests: the ids of all
users are what their identity provider has, or an export of the table. To run it again does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from singletable import Put
from singletable.errors import VersionConflictError
from singletable.systems import decide_again
from singletable_systems.smart_cooking.catalogue import Catalogue
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import Friendship, InvalidIngredient, Recipe, UserProfile
from singletable_systems.smart_cooking.entities.recipes import INGREDIENTS_MAX
from singletable_systems.smart_cooking.keys import RecipeId, UserId
from singletable_systems.smart_cooking.normalizing import normalize

_STANDING: Final = ("accepted", "declined", "pending")  # which of two answers stands


@dataclass(slots=True)
class Adopted:
    """What was made up: friendships, names that were reported, and recipes."""

    friendships: int = 0
    names: int = 0
    recipes: int = 0


class Adoption:
    """Makes up what is missing."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db
        self._catalogue = Catalogue(db)

    def adopt(self, user_ids: Iterable[UserId]) -> Adopted:
        """Go through users, and make up what is missing of what they have done."""
        done = Adopted()
        for user_id in user_ids:
            done.friendships += self._complete_friendships(user_id)
            done.names += self._sum_up_reports(user_id)
            done.recipes += self._name_ingredients(user_id)
        return done

    # --- friendships: SC-31 ----------------------------------------------------------------------

    def _complete_friendships(self, user_id: UserId) -> int:
        rows = self._db.friendships(user_id).consistent().all()
        return sum(self._complete(row) for row in rows if row.direction == "sent")

    def _complete(self, row: Friendship) -> bool:
        """Give a friendship its other row; where both have asked each other, make one of the two."""
        other = self._db.friendship(row.friend_id, row.user_id).maybe()
        both = self._db.users([row.user_id, row.friend_id]).consistent().all()
        people = {each.user_id: each for each in both}
        if len(people) < 2 or (other is not None and other.direction == "received"):
            return False  # one of them is not there any more; or nothing is missing
        sent = row if other is None else _agreed(row, other)
        turned = {"user_id": sent.friend_id, "friend_id": sent.user_id, "direction": "received"}
        received = sent.model_copy(update=turned)
        self._db.transaction(Put(_fed(sent, people)), Put(_fed(received, people)))
        return True

    # --- reports: SC-33 --------------------------------------------------------------------------

    def _sum_up_reports(self, user_id: UserId) -> int:
        names = [report.ingredient_name for report in self._db.reports_of(user_id).all()]
        return sum(self._sum_up(name) for name in names)

    def _sum_up(self, name: str) -> bool:
        """Make the summary of a name: pending, so that somebody looks at it."""
        if self._db.invalid_ingredient(name).maybe() is not None:
            return False
        reports = list(self._db.reporters(name).consistent().all())
        summary = InvalidIngredient(
            ingredient_name=name,
            created_at=min(report.created_at for report in reports),
            updated_at=max(report.updated_at for report in reports),
        )
        self._db.load([self._db.counted(summary, reports)], settled=True)
        return True

    # --- recipes ---------------------------------------------------------------------------------

    def _name_ingredients(self, user_id: UserId) -> int:
        nameless = [
            each.recipe_id for each in self._db.recipes_of(user_id).all() if not each.ingredient_names
        ]
        done = (
            decide_again(partial(self._name, recipe_id), after=(VersionConflictError,))
            for recipe_id in nameless
        )
        return sum(done)

    def _name(self, recipe_id: RecipeId) -> bool:
        """Let a recipe say what goes into it, by the names of the catalogue: what suggestions find it by."""
        recipe: Recipe = self._db.recipe(recipe_id).consistent().one()
        lines = [line.ingredient_name for line in self._db.recipe_ingredients(recipe_id).consistent().all()]
        known = self._catalogue.resolve(lines).valid
        names = dict.fromkeys(normalize(known[line].name if line in known else line) for line in lines)
        if names:
            self._db.update(recipe, ingredient_names=list(names)[:INGREDIENTS_MAX])
        return bool(names)


def _agreed(one: Friendship, other: Friendship) -> Friendship:
    """Return the row of who asked first, where both have. To ask back is to accept."""
    sent, back = sorted((one, other), key=lambda row: (row.requested_at, row.user_id))
    statuses = {sent.status, back.status}
    status = "accepted" if statuses == {"pending"} else next(each for each in _STANDING if each in statuses)
    answered = [each.responded_at for each in (sent, back) if each.responded_at is not None]
    return sent.model_copy(
        update={"status": status, "responded_at": min(answered, default=back.requested_at)}
    )


def _fed(row: Friendship, people: dict[UserId, UserProfile]) -> Friendship:
    """Return a row that says how the friend's posts come, if they are friends."""
    feeds_by = people[row.friend_id].feeds_by if row.status == "accepted" else None
    return row.model_copy(update={"friend_feeds_by": feeds_by})
