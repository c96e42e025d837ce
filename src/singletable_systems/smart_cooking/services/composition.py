"""Composing: one suggestion, from the wish of a user to the writes.

Generated recipes are stored as the user's own. They are also cached for every user with the same ingredients
and the same dietary restrictions. A suggestion, its generated recipes and their counts are one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import to_json

from singletable import Add, Append, Check, Create, Update
from singletable.errors import AlreadyExistsError, NotFoundError
from singletable.systems import NewId, decide_again
from singletable_systems.smart_cooking.errors import UserNotFoundError
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Recipe,
    RecipeIngredient,
    SuggestionCache,
    UserPreferences,
)
from singletable_systems.smart_cooking.model.entities.sizes import LARGE_FIELD_BYTES
from singletable_systems.smart_cooking.model.keys import RecipeId, SuggestionId, UserId
from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.choice import (
    best_first,
    digest_of,
    is_free_of,
    one_of_each_title,
)
from singletable_systems.smart_cooking.rules.drafts import ingredients_of, normal_names, recipe_of
from singletable_systems.smart_cooking.services.catalogue import KnownIngredient
from singletable_systems.smart_cooking.services.sources import (
    GeneratedRecipe,
    RecipeSource,
    SourceRequest,
    generated,
    logger,
)

CACHED_MAX: Final = 20

_USES_READ: Final = 50  # of each ingredient, the best rated
_LOOKED_AT_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion, and its recipes in their order."""

    suggestion: AiSuggestion
    recipes: Sequence[Recipe]
    unknown_allergies: Sequence[str] = ()
    """Allergies that the catalogue does not know: only recipes that name them in these words were left out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish of a user: known ingredients, so many recipes, and foods that none of them may have."""

    user_id: UserId
    ingredients: Sequence[KnownIngredient]
    invalid: Sequence[str]
    count: int
    prompt_text: str
    preferences: UserPreferences
    allergens: frozenset[str]
    unknown_allergies: Sequence[str] = ()

    @property
    def normalized_names(self) -> list[str]:
        return [each.normalized_name for each in self.ingredients]

    def suits(self, ingredient_names: Iterable[str]) -> bool:
        return is_free_of(self.allergens, ingredient_names)


class Composition:
    """One suggestion on its way. The source is asked once, however often it has to be written."""

    def __init__(self, db: SmartCooking, source: RecipeSource, new_id: NewId, wish: Wish) -> None:
        self._db = db
        self._source = source
        self._new_id = new_id
        self._wish = wish
        self._digest = digest_of(wish.normalized_names, wish.preferences.dietary_restrictions)
        self._generated: list[GeneratedRecipe] | None = None

    def suggest(self) -> Suggested:
        """Choose recipes, and write the suggestion; choose again when somebody else was faster."""
        approved = self._approved() if self._wish.ingredients else []
        return decide_again(lambda: self._write(approved), after=(AlreadyExistsError, NotFoundError))

    # --- choosing --------------------------------------------------------------------------------

    def _approved(self) -> list[Recipe]:
        """Return approved recipes that use the ingredients and that their authors show, by a few reads."""
        wish = self._wish
        uses = [
            use
            for name in wish.normalized_names
            for use in self._db.recipes_using(name).page(_USES_READ).items
        ]
        recipes = self._db.recipes(best_first(uses)[:_LOOKED_AT_MAX]).all() if uses else []
        # The lists are eventually consistent, so the recipes themselves are asked.
        suitable = [
            recipe
            for recipe in recipes
            if recipe.is_public and recipe.is_approved and wish.suits(recipe.ingredient_names)
        ]
        return one_of_each_title(self._db.recipes_shown(suitable, wish.user_id))[: wish.count]

    def _cached(self, cache: SuggestionCache, besides: Collection[str]) -> list[Recipe]:
        """Return recipes that were generated before, if they are still there and still nobody's own."""
        recipes = self._db.recipes(cache.recipe_ids).consistent().all()
        suitable = (
            recipe
            for recipe in recipes
            if recipe.is_ai_generated and self._wish.suits(recipe.ingredient_names)
        )
        return one_of_each_title(suitable, besides)

    def _fresh(self, count: int, besides: Sequence[str]) -> list[GeneratedRecipe]:
        """Return new recipes, as many as are missing; the source is asked the first time that some are."""
        if count and self._generated is None:
            self._generated = self._ask(count, besides)
        known = {*map(normalize, besides)}
        return [recipe for recipe in self._generated or () if normalize(recipe.title) not in known][:count]

    def _ask(self, count: int, besides: Sequence[str]) -> list[GeneratedRecipe]:
        wish, likes = self._wish, self._wish.preferences
        ingredients = tuple(each.name for each in wish.ingredients if wish.suits([each.normalized_name]))
        if not ingredients:
            return []
        request = SourceRequest(
            ingredients=ingredients,
            count=count,
            prompt_text=wish.prompt_text,
            besides=tuple(besides),
            cuisines=tuple(likes.favorite_cuisines),
            methods=tuple(likes.preferred_cooking_methods),
            dietary_restrictions=tuple(likes.dietary_restrictions),
            allergies=tuple(likes.allergies),
            spice_level=likes.spice_level,
        )
        return [
            recipe
            for recipe in generated(self._source, request)
            if wish.suits(normal_names(recipe.ingredients, {})) and self._can_be_stored(recipe)
        ]

    # --- writing ---------------------------------------------------------------------------------

    def _write(self, approved: Sequence[Recipe]) -> Suggested:
        wish = self._wish
        missing = wish.count - len(approved) if wish.ingredients else 0
        cache = self._db.suggestion_cache(self._digest).consistent().maybe() if missing else None
        known = [] if cache is None else self._cached(cache, {each.normalized_title for each in approved})
        cached = known[:missing]
        titles = [each.title for each in (*approved, *known)]
        fresh = self._fresh(missing - len(cached), titles) if missing else []
        made = [self._stored_as(recipe) for recipe in fresh]
        recipes = [*approved, *cached, *(recipe for recipe, _ in made)]
        suggestion = self._suggestion(recipes, len(approved), len(cached), fresh)
        try:
            self._db.transaction(
                Check(self._db.user(wish.user_id)),
                Create(suggestion),
                *(Create(recipe) for recipe, _ in made),
                *(Create(line) for _, lines in made for line in lines),
                *self._cache_writes(cache, is_hit=bool(cached), new=[each.recipe_id for each, _ in made]),
                *(Update(self._db.recipe(each.recipe_id), ai_cache_hit_count=Add(1)) for each in cached),
            )
        except NotFoundError as error:
            if self._db.user(wish.user_id).maybe() is None:
                raise UserNotFoundError(wish.user_id) from error
            raise
        return Suggested(suggestion, recipes, wish.unknown_allergies)

    def _cache_writes(
        self, cache: SuggestionCache | None, *, is_hit: bool, new: Sequence[RecipeId]
    ) -> list[Create[SuggestionCache] | Update[SuggestionCache]]:
        """Return the writes that cache generated recipes, and count that cached ones were used again."""
        if cache is None:
            names = sorted(set(self._wish.normalized_names))
            entry = SuggestionCache(digest=self._digest, ingredients=names, recipe_ids=list(new))
            return [Create(entry)] if new else []
        changes: dict[str, Any] = {"hit_count": Add(1)} if is_hit else {}
        if new and len(cache.recipe_ids) + len(new) <= CACHED_MAX:
            changes["recipe_ids"] = Append(list(new))
        return [Update(self._db.suggestion_cache(self._digest), **changes)] if changes else []

    def _stored_as(self, draft: GeneratedRecipe) -> tuple[Recipe, list[RecipeIngredient]]:
        recipe_id = RecipeId(self._new_id())
        names = normal_names(draft.ingredients, self._own_names())
        recipe = recipe_of(draft, recipe_id, self._wish.user_id, ingredient_names=names, is_ai_generated=True)
        return recipe, ingredients_of(recipe_id, draft.ingredients)

    def _can_be_stored(self, draft: GeneratedRecipe) -> bool:
        try:
            self._stored_as(draft)
        except ValidationError as error:
            logger.warning("the source of recipes has made up what cannot be stored: %s", error)
            return False
        return True

    def _own_names(self) -> Mapping[str, str]:
        return {each.name: each.normalized_name for each in self._wish.ingredients}

    def _suggestion(
        self, recipes: Sequence[Recipe], approved: int, cached: int, fresh: Sequence[GeneratedRecipe]
    ) -> AiSuggestion:
        wish = self._wish
        return AiSuggestion(
            suggestion_id=SuggestionId(self._new_id()),
            user_id=wish.user_id,
            recipe_ids=[recipe.recipe_id for recipe in recipes],
            cache_ids=[self._digest] if cached else [],
            prompt_text=wish.prompt_text,
            ingredients_used=[each.name for each in wish.ingredients],
            requested_recipe_count=wish.count,
            recipes_from_db=approved,
            recipes_from_ai=len(recipes) - approved,
            invalid_ingredients=list(wish.invalid),
            ai_response=_response(fresh),
            was_from_cache=cached > 0,
            created_at=self._db.now(),
        )


def _response(fresh: Sequence[GeneratedRecipe]) -> dict[str, Any] | None:
    """Return the recipes that were taken from the answer of the source; None if that is too large (SC-41)."""
    response = {"recipes": [recipe.model_dump(mode="json", exclude_defaults=True) for recipe in fresh]}
    return response if fresh and len(to_json(response)) <= LARGE_FIELD_BYTES else None
