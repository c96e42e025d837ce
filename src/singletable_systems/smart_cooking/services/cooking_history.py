"""Cooking: what users begin to cook, complete or give up, and like best."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import AwareDatetime

from singletable import Check, Create
from singletable.errors import ConditionNotMetError, NotFoundError, VersionConflictError
from singletable.systems import NewId, OrderedIds, decide_again
from singletable_systems.shared.rules import given
from singletable_systems.smart_cooking.errors import (
    ChangeRefusedError,
    CookingNotFoundError,
    InvalidInputError,
    RecipeNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import CookingHistory
from singletable_systems.smart_cooking.model.entities.recipes import Stars
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, SuggestionId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.permissions import may_be_cooked_by, require_user

YEAR_DAYS: Final = 365  # what 002:618 calls the archive
KEEP_DAYS_MAX: Final = 100 * YEAR_DAYS

Changes = dict[str, Any]
Decide = Callable[[CookingHistory], Changes]


@checked
class Cooking:
    """Users keep a history of their cooking.

    History is kept for good. With `keep_days`, new entries expire so many days later, and the consumer puts
    them into `db.archive`. Without an archive they would be lost, so that is refused (SC-29).
    """

    def __init__(
        self, db: SmartCooking, *, keep_days: int | None = None, new_id: NewId | None = None
    ) -> None:
        if keep_days is not None and not 1 <= keep_days <= KEEP_DAYS_MAX:
            raise InvalidInputError(
                f"history is kept for 1 to {KEEP_DAYS_MAX:,} days, and not for {keep_days}"
            )
        if keep_days is not None and db.archive is None:
            raise InvalidInputError("history is kept for good, unless there is an archive that it goes to")
        self._db = db
        self._keep_days = keep_days
        self._new_id = OrderedIds(db.now) if new_id is None else new_id

    def start(self, user_id: UserId, recipe_id: RecipeId) -> CookingHistory:
        """Begin to cook a recipe: one that its author shows, one's own, or a generated one."""
        entry = self.entry(user_id, recipe_id)
        self.require_shown(user_id, recipe_id)
        try:
            self._db.transaction(
                Check(self._db.user(user_id)),
                Check(self._db.recipe(recipe_id), when=may_be_cooked_by(user_id)),
                Create(entry),
            )
        except (ConditionNotMetError, NotFoundError) as error:
            require_user(self._db, user_id)
            raise RecipeNotFoundError(recipe_id) from error
        return entry

    def require_shown(self, user_id: UserId, recipe_id: RecipeId) -> None:
        """Refuse a recipe that its author hides from a user, as one that is not there."""
        recipe = self._db.recipe(recipe_id).consistent().maybe()
        if recipe is None or not self._db.recipes_shown([recipe], user_id):
            require_user(self._db, user_id)
            raise RecipeNotFoundError(recipe_id)

    def entry(
        self, user_id: UserId, recipe_id: RecipeId, *, suggestion_id: SuggestionId | None = None
    ) -> CookingHistory:
        """Return an entry that begins now, for the transaction of the caller."""
        now = self._db.now()
        return CookingHistory(
            history_id=HistoryId(self._new_id()),
            user_id=user_id,
            recipe_id=recipe_id,
            suggestion_id=suggestion_id,
            created_at=now,
            ttl=None if self._keep_days is None else now + timedelta(days=self._keep_days),
        )

    def complete(
        self,
        user_id: UserId,
        created_at: datetime,
        history_id: HistoryId,
        *,
        cook_date: AwareDatetime | None = None,
        personal_rating: Stars | None = None,
        personal_notes: str | None = None,
    ) -> CookingHistory:
        """Say that something was cooked, now or at another time, and how it was.

        A completed entry may be completed again, with other values; those that are not given stay.
        """
        now = self._db.now()
        if cook_date is not None and cook_date > now:
            raise InvalidInputError(f"what was cooked was cooked before now, and not at {cook_date}")
        told = given(cook_date=cook_date, personal_rating=personal_rating, personal_notes=personal_notes)

        def decide(entry: CookingHistory) -> Changes:
            if entry.status == "cancelled":
                raise ChangeRefusedError(f"cooking {history_id} was cancelled, and cannot be completed")
            changes = {"cook_date": now, **told} if entry.status == "started" else told
            return {"status": "completed", **changes}

        return self._change(user_id, created_at, history_id, decide)

    def cancel(self, user_id: UserId, created_at: datetime, history_id: HistoryId) -> CookingHistory:
        """Cancel an entry that is not completed."""

        def decide(entry: CookingHistory) -> Changes:
            if entry.status == "completed":
                raise ChangeRefusedError(f"cooking {history_id} is completed, and cannot be cancelled")
            return {"status": "cancelled"}

        return self._change(user_id, created_at, history_id, decide)

    def favorite(self, user_id: UserId, created_at: datetime, history_id: HistoryId) -> CookingHistory:
        """Put an entry among the favorites."""
        return self._change(user_id, created_at, history_id, lambda entry: {"is_favorite": True})

    def unfavorite(self, user_id: UserId, created_at: datetime, history_id: HistoryId) -> CookingHistory:
        """Take an entry out of the favorites (SC-30)."""
        return self._change(user_id, created_at, history_id, lambda entry: {"is_favorite": False})

    def _change(
        self, user_id: UserId, created_at: datetime, history_id: HistoryId, decide: Decide
    ) -> CookingHistory:
        """Change the fields that differ; decide again when somebody else was faster."""

        def write() -> CookingHistory:
            entry = self._db.cooking(user_id, created_at, history_id).maybe()
            if entry is None:
                raise CookingNotFoundError(history_id)
            changes = {name: value for name, value in decide(entry).items() if value != getattr(entry, name)}
            if changes:
                self._update(entry, changes)
            return entry

        return decide_again(write, after=(VersionConflictError,))

    def _update(self, entry: CookingHistory, changes: Changes) -> None:
        try:
            self._db.update(entry, **changes)
        except NotFoundError as error:
            raise CookingNotFoundError(entry.history_id) from error
