"""Suggestions: recipes for what is at home. Approved ones first, then what was generated before, then new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile
from typing import Annotated, Final

from pydantic import Field

from singletable import Check, Create, Eq, MaxBytes, Update
from singletable.errors import ConditionNotMetError, NotFoundError
from singletable.systems import NewId, OrderedIds
from singletable_systems.smart_cooking.errors import (
    ChangeRefusedError,
    InvalidInputError,
    RecipeNotFoundError,
    SuggestionNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import AiSuggestion, CookingHistory, UserPreferences
from singletable_systems.smart_cooking.model.entities.recipes import Stars
from singletable_systems.smart_cooking.model.keys import RecipeId, SuggestionId, UserId
from singletable_systems.smart_cooking.model.names import NAME_LETTERS_MAX, normalize, singular_and_plural
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.catalogue import Catalogue, KnownIngredient
from singletable_systems.smart_cooking.services.composition import Composition, Suggested, Wish
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.permissions import may_be_cooked_by
from singletable_systems.smart_cooking.services.reports import Reports
from singletable_systems.smart_cooking.services.sources import RecipeSource

NAMES_MAX: Final = 20
TEXT_BYTES_MAX: Final = 4_000  # of a prompt, or of what is said about a suggestion
RECIPES_MAX: Final = 5  # five generated ones, with all their lines, are stored in one transaction

IngredientNames = Annotated[
    Sequence[Annotated[str, Field(max_length=NAME_LETTERS_MAX)]], Field(min_length=1, max_length=NAMES_MAX)
]
Said = Annotated[str, MaxBytes(TEXT_BYTES_MAX)]


@checked
class Suggestions:
    """Suggests recipes, and stores whether users accept them and how good they were."""

    def __init__(
        self,
        db: SmartCooking,
        source: RecipeSource,
        *,
        cooking: Cooking | None = None,
        new_id: NewId | None = None,
    ) -> None:
        self._db = db
        self._source = source
        self._new_id = OrderedIds(db.now) if new_id is None else new_id
        self._cooking = Cooking(db, new_id=self._new_id) if cooking is None else cooking
        self._catalogue = Catalogue(db)
        self._reports = Reports(db, new_id=self._new_id)

    def suggest(
        self,
        user_id: UserId,
        names: IngredientNames,
        *,
        count: Annotated[int, Field(ge=1, le=RECIPES_MAX)] | None = None,
        prompt_text: Said = "",
    ) -> Suggested:
        """Suggest recipes with ingredients, as many as are asked for or the user prefers, if there are so many.

        Names that the catalogue does not know are reported, and the rest goes on without them. Allergies that it
        does not know are matched by their words, and are named in the result.
        """
        wish = self._wish(user_id, names, count, prompt_text)
        for name in wish.invalid:
            with suppress(InvalidInputError):  # it has no letters, and nobody can do anything about it
                self._reports.report(user_id, name)
        return Composition(self._db, self._source, self._new_id, wish).suggest()

    def accept(
        self, user_id: UserId, created_at: datetime, suggestion_id: SuggestionId, recipe_id: RecipeId
    ) -> CookingHistory:
        """Begin to cook one of the recipes of a suggestion: the suggestion was accepted, once.

        To accept the same recipe again is idempotent, and returns the entry that was begun.
        """
        suggestion = self._stored(user_id, created_at, suggestion_id)
        if recipe_id not in suggestion.recipe_ids:
            raise RecipeNotFoundError(recipe_id)
        if suggestion.was_accepted:
            return self._begun(suggestion, recipe_id)
        self._cooking.require_shown(user_id, recipe_id)
        entry = self._cooking.entry(user_id, recipe_id, suggestion_id=suggestion_id)
        recipe = self._db.recipe(recipe_id)
        target = self._db.suggestion(user_id, created_at, suggestion_id)
        try:
            self._db.transaction(
                Update(target, when=Eq("was_accepted", False), was_accepted=True),
                Check(recipe, when=may_be_cooked_by(user_id)),
                Create(entry),
            )
        except (ConditionNotMetError, NotFoundError) as error:
            if self._stored(user_id, created_at, suggestion_id).was_accepted:
                return self._begun(suggestion, recipe_id)
            raise RecipeNotFoundError(recipe_id) from error
        return entry

    def _begun(self, suggestion: AiSuggestion, recipe_id: RecipeId) -> CookingHistory:
        """Return the cooking that an accepted suggestion has begun, if it was of this recipe."""
        history = self._db.history(suggestion.user_id).consistent().all()
        for entry in takewhile(lambda entry: entry.created_at >= suggestion.created_at, history):
            if (entry.suggestion_id, entry.recipe_id) == (suggestion.suggestion_id, recipe_id):
                return entry
        raise ChangeRefusedError(f"suggestion {suggestion.suggestion_id} was accepted before")

    def feedback(
        self,
        user_id: UserId,
        created_at: datetime,
        suggestion_id: SuggestionId,
        rating: Stars,
        comment: Said | None = None,
    ) -> AiSuggestion:
        """Say how good a suggestion was, in one to five stars. What was said before is replaced."""
        target = self._db.suggestion(user_id, created_at, suggestion_id)
        try:
            return self._db.update(target, feedback_rating=rating, feedback_comment=comment).entity
        except NotFoundError as error:
            raise SuggestionNotFoundError(suggestion_id) from error

    # --- what is wanted --------------------------------------------------------------------------

    def _wish(self, user_id: UserId, names: Sequence[str], count: int | None, prompt_text: str) -> Wish:
        preferences = self._preferences(user_id)
        resolved = self._catalogue.resolve(names)
        allergens, unknown = self._allergens(preferences.allergies)
        preferred = min(max(1, preferences.preferred_recipe_count), RECIPES_MAX)
        return Wish(
            user_id=user_id,
            ingredients=resolved.ingredients,
            invalid=resolved.invalid,
            count=preferred if count is None else count,
            prompt_text=prompt_text or f"Recipes with {', '.join(names)}",
            preferences=preferences,
            allergens=allergens,
            unknown_allergies=unknown,
        )

    def _preferences(self, user_id: UserId) -> UserPreferences:
        """Return the preferences of a user, or the defaults."""
        stored = self._db.preferences(user_id).maybe()
        if stored is None and self._db.user(user_id).maybe() is None:
            raise UserNotFoundError(user_id)
        return UserPreferences(user_id=user_id) if stored is None else stored

    def _allergens(self, allergies: Sequence[str]) -> tuple[frozenset[str], list[str]]:
        """Return the normal names of foods that a user must not eat, and the unknown allergies.

        The names are those of the user and all that the catalogue has, in the singular and in the plural.
        """
        names: set[str] = set()
        unknown: list[str] = []
        for allergy in allergies:
            forms = singular_and_plural(normalize(allergy))
            known = self._catalogue.resolve(forms).ingredients
            names |= {*forms, *(name for each in known for name in self._names(each))}
            unknown += [] if known else [allergy]
        return frozenset(names - {""}), unknown

    def _names(self, known: KnownIngredient) -> Iterator[str]:
        ingredient = self._db.ingredient(known.ingredient_id).maybe()
        for name in (known.name, *(ingredient.aliases if ingredient is not None else ())):
            yield from singular_and_plural(normalize(name))

    def _stored(self, user_id: UserId, created_at: datetime, suggestion_id: SuggestionId) -> AiSuggestion:
        suggestion = self._db.suggestion(user_id, created_at, suggestion_id).maybe()
        if suggestion is None:
            raise SuggestionNotFoundError(suggestion_id)
        return suggestion
