"""Ratings: what users think of recipes. Average and count of a recipe change with each of them (SC-37).

The lists that a recipe is in are sorted by its average in steps of 0.1. They change when the step does, in the
same transaction, and no other time (SC-11). That the recipe is public is a condition of the same write.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from singletable import Check, Create, Eq, MaxBytes, Ne, Update
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    NotFoundError,
    VersionConflictError,
)
from singletable.systems import decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    RatingRefusedError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import CookingHistory, Recipe, RecipeRating
from singletable_systems.smart_cooking.model.entities.recipes import Stars
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.approval import approved_by_ratings, earns_approval
from singletable_systems.smart_cooking.services.inputs import checked

COMMENT_BYTES_MAX: Final = 4_000


class _OvertakenError(Exception):
    """The rating was made or deleted by somebody else meanwhile."""


@checked
class Ratings(Service[SmartCooking]):
    """What users do with their ratings: one of each user for a recipe that is public, and not one's own."""

    def rate(
        self,
        user_id: UserId,
        recipe_id: RecipeId,
        rating: Stars,
        *,
        comment: Annotated[str, MaxBytes(COMMENT_BYTES_MAX)] | None = None,
        cooked: CookingHistory | None = None,
    ) -> RecipeRating:
        """Rate a recipe, or change the rating: an upsert. A completed `cooked` makes a verified cook (SC-56).

        A verified cook stays one, and a comment stays until another is given. A recipe that has earned it is
        approved.
        """
        refusal = self._recipe_refusal(user_id, recipe_id)
        if refusal is not None:
            raise refusal
        values: dict[str, Any] = (
            {"rating": rating} if comment is None else {"rating": rating, "comment": comment}
        )
        if cooked is not None:
            values |= {"history_id": cooked.history_id, "is_verified_cook": True}
        result = decide_again(
            lambda: self._rate(user_id, recipe_id, values, cooked), after=(_OvertakenError,)
        )
        self._approve_if_earned(recipe_id)
        return result

    def unrate(self, user_id: UserId, recipe_id: RecipeId) -> None:
        """Take a rating back. Where there is none, that is no error; an approval stays."""
        self._db.delete(self._db.rating(recipe_id, user_id))

    # --- the transaction -------------------------------------------------------------------------

    def _rate(
        self, user_id: UserId, recipe_id: RecipeId, values: dict[str, Any], cooked: CookingHistory | None
    ) -> RecipeRating:
        stored = self._db.rating(recipe_id, user_id).maybe()
        if stored is not None and all(getattr(stored, name) == value for name, value in values.items()):
            return stored
        write: Create[RecipeRating] | Update[RecipeRating] = (
            Create(RecipeRating(rating_id=self._new_id(), recipe_id=recipe_id, user_id=user_id, **values))
            if stored is None
            else Update(stored, **values)
        )
        checks: list[Check[Any]] = [
            Check(self._db.user(user_id)),
            Check(self._db.recipe(recipe_id), when=Eq("is_public", True) & Ne("user_id", user_id)),
            *self._cook_check(user_id, recipe_id, cooked),
        ]
        try:
            *_, written = self._db.transaction(*checks, write).entity
        except AlreadyExistsError as error:
            raise _OvertakenError from error
        except (ConditionNotMetError, NotFoundError) as error:
            raise self._why_not(user_id, recipe_id, cooked, error) from error
        assert isinstance(written, RecipeRating)
        return written

    def _cook_check(
        self, user_id: UserId, recipe_id: RecipeId, cooked: CookingHistory | None
    ) -> list[Check[CookingHistory]]:
        if cooked is None:
            return []
        entry = self._db.cooking(user_id, cooked.created_at, cooked.history_id)
        return [Check(entry, when=Eq("status", "completed") & Eq("recipe_id", recipe_id))]

    def _why_not(
        self, user_id: UserId, recipe_id: RecipeId, cooked: CookingHistory | None, error: Exception
    ) -> Exception:
        """Say which of the things that a rating needs was not there; or that it was overtaken."""
        if self._db.user(user_id).maybe() is None:
            return UserNotFoundError(user_id)
        refusal = self._recipe_refusal(user_id, recipe_id)
        if refusal is not None:
            return refusal
        if cooked is not None:
            entry = self._db.cooking(user_id, cooked.created_at, cooked.history_id).maybe()
            if entry is None or (entry.status, entry.recipe_id) != ("completed", recipe_id):
                return RatingRefusedError(f"user {user_id} has not cooked recipe {recipe_id} to its end")
        return _OvertakenError(error)

    def _recipe_refusal(self, user_id: UserId, recipe_id: RecipeId) -> Exception | None:
        """Say why a user cannot rate a recipe as it is now; None if he can."""
        recipe = self._db.recipe(recipe_id).consistent().maybe()
        if recipe is not None and recipe.user_id == user_id:
            return RatingRefusedError(f"recipe {recipe_id} is rated by others than its author")
        if recipe is None or not recipe.is_public:
            return RecipeNotFoundError(recipe_id)
        return None

    # --- what follows ----------------------------------------------------------------------------

    def _approve_if_earned(self, recipe_id: RecipeId) -> None:
        """Approve a recipe by its ratings as they are now. If the process dies before, the stream does it."""

        def approve() -> Recipe | None:
            recipe = self._db.recipe(recipe_id).consistent().maybe()
            if recipe is None or not earns_approval(recipe):
                return None
            try:
                return self._db.update(recipe, **approved_by_ratings(self._db.now())).entity
            except NotFoundError:
                return None  # deleted meanwhile

        decide_again(approve, after=(VersionConflictError,))
