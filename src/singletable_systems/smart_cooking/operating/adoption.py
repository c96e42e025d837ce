"""Adopting a table of the documents: the part of its migration that no comparison can find.

There, a friendship is one row (SC-31), the reports of a name have no summary (SC-33), and recipes do not say by
themselves what goes into them. The second migration that comes with the system calls `complete` for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from singletable import Create, Put, Update
from singletable_systems.smart_cooking.model.entities import (
    Friendship,
    InvalidIngredient,
    InvalidIngredientReport,
    Recipe,
    UserProfile,
)
from singletable_systems.smart_cooking.model.entities.recipes import INGREDIENTS_MAX
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.catalogue import Catalogue

Completing: TypeAlias = Sequence[Put[Friendship]] | Create[InvalidIngredient] | Update[Recipe]

_STANDING: Final = ("accepted", "declined", "pending")  # of two answers, the first of these wins


def complete(db: SmartCooking, found: Friendship | InvalidIngredientReport | Recipe) -> Iterator[Completing]:
    """Return the writes that are missing of a friendship, of a report or of a recipe; none where all is there."""
    match found:
        case Friendship():
            yield from _complete_friendship(db, found)
        case InvalidIngredientReport():
            yield from _sum_up(db, found.ingredient_name)
        case Recipe():
            yield from _name_ingredients(db, found)
        case _:
            assert_never(found)


# --- friendships: SC-31 ---------------------------------------------------------------------------------


def _complete_friendship(db: SmartCooking, found: Friendship) -> Iterator[Sequence[Put[Friendship]]]:
    """Give a friendship its other row; where both have asked each other, make one of the two."""
    row = db.friendship(found.user_id, found.friend_id).maybe()
    if row is None or row.direction == "received":
        return
    other = db.friendship(row.friend_id, row.user_id).maybe()
    both = db.users([row.user_id, row.friend_id]).consistent().all()
    people = {each.user_id: each for each in both}
    if len(people) < 2 or (other is not None and other.direction == "received"):
        return  # one of them is not there any more; or nothing is missing
    sent = row if other is None else _agreed(row, other)
    turned = {"user_id": sent.friend_id, "friend_id": sent.user_id, "direction": "received"}
    received = sent.model_copy(update=turned)
    yield [Put(_fed(sent, people)), Put(_fed(received, people))]


def _agreed(one: Friendship, other: Friendship) -> Friendship:
    """Return the row of the user who asked first, where both have. To ask back is to accept."""
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


# --- reports: SC-33 -------------------------------------------------------------------------------------


def _sum_up(db: SmartCooking, name: str) -> Iterator[Create[InvalidIngredient]]:
    """Make the summary of a name: pending, so that somebody looks at it. The migration counts its reports."""
    if db.invalid_ingredient(name).maybe() is not None:
        return
    reports = list(db.reporters(name).consistent().all())
    summary = InvalidIngredient(
        ingredient_name=name,
        created_at=min(report.created_at for report in reports),
        updated_at=max(report.updated_at for report in reports),
    )
    yield Create(summary)


# --- recipes --------------------------------------------------------------------------------------------


def _name_ingredients(db: SmartCooking, recipe: Recipe) -> Iterator[Update[Recipe]]:
    """Give a recipe the catalogue's names of its ingredients, by which suggestions find it."""
    if recipe.ingredient_names:
        return
    lines = [line.ingredient_name for line in db.recipe_ingredients(recipe.recipe_id).consistent().all()]
    known = Catalogue(db).resolve(lines).valid if lines else {}
    names = dict.fromkeys(normalize(known[line].name if line in known else line) for line in lines)
    if names:
        yield Update(recipe, ingredient_names=list(names)[:INGREDIENTS_MAX])
