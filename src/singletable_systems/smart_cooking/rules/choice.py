"""Which recipes suit somebody who names ingredients. Pure: nothing is read or written here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256

from singletable_systems.smart_cooking.model.entities import Recipe, RecipeUse
from singletable_systems.smart_cooking.model.keys import RecipeId
from singletable_systems.smart_cooking.model.names import normalize


def digest_of(normalized_names: Iterable[str], restrictions: Iterable[str] = ()) -> str:
    """Return the cache key of a set of ingredients: the same in any order, and of no other set.

    The restrictions are a part of it, so a user only gets recipes that were generated for the same
    restrictions.
    """
    sets = [sorted({*normalized_names}), sorted({*map(normalize, restrictions)})]
    return sha256("\n\n".join("\n".join(each) for each in sets if each).encode()).hexdigest()


def one_of_each_title(recipes: Iterable[Recipe], besides: Collection[str] = ()) -> list[Recipe]:
    """Return the first recipe of each normal title, and none with one of the others."""
    first: dict[str, Recipe] = {}
    for recipe in recipes:
        first.setdefault(recipe.normalized_title, recipe)
    return [recipe for title, recipe in first.items() if title not in besides]


def best_first(uses: Iterable[RecipeUse]) -> list[RecipeId]:
    """Return recipes by how many of the ingredients they use; then the better rated, then the newer first."""
    found: dict[RecipeId, list[RecipeUse]] = {}
    for use in uses:
        found.setdefault(use.recipe_id, []).append(use)

    def merit(recipe_id: RecipeId) -> tuple[object, ...]:
        use = found[recipe_id][0]
        return len(found[recipe_id]), use.rating_step, use.created_at, recipe_id

    return sorted(found, key=merit, reverse=True)


def is_free_of(allergens: Collection[str], normalized_names: Iterable[str]) -> bool:
    """Tell whether no ingredient is one of these, or has one in its name, as "peanut butter" has "peanut"."""
    return not any(f" {allergen} " in f" {name} " for name in normalized_names for allergen in allergens)
