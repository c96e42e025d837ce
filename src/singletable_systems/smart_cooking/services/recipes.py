"""Recipes: written, edited, published, approved and deleted. A recipe and its ingredients change together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from singletable import Cascade, Check, Create, Delete, Put, Update
from singletable.errors import ConditionNotMetError, NotFoundError, VersionConflictError
from singletable.systems import Deletion, DeletionProgress, decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    AdminRequiredError,
    InvalidInputError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import Recipe, RecipeIngredient
from singletable_systems.smart_cooking.model.entities.recipes import INGREDIENTS_MAX
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.model.patterns import RecipeView
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.approval import (
    approved_by_admin,
    approved_by_ratings,
    earns_approval,
    refused_by_admin,
)
from singletable_systems.smart_cooking.rules.drafts import (
    IngredientLine,
    RecipeDraft,
    RecipeText,
    ingredients_of,
    normal_names,
    recipe_of,
    text_values,
)
from singletable_systems.smart_cooking.services.catalogue import Catalogue
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.permissions import is_admin

Changes = dict[str, Any]
Decide = Callable[[Recipe], Changes]


@checked
class Recipes(Service[SmartCooking]):
    """The things that authors and admins do with recipes. A recipe of somebody else is not found.

    Changes of state are idempotent. When two calls change a recipe at once, the second one loses the optimistic
    lock, reads the recipe again, and decides again.
    """

    # --- what authors do -------------------------------------------------------------------------

    def write(self, user_id: UserId, draft: RecipeDraft, *, is_public: bool = False) -> RecipeView:
        """Write a recipe with its ingredients: for oneself, or for all."""
        recipe_id = RecipeId(self._new_id())
        names = self._names(draft.ingredients)
        recipe = recipe_of(draft, recipe_id, user_id, ingredient_names=names, is_public=is_public)
        lines = ingredients_of(recipe_id, draft.ingredients)
        try:
            self._db.transaction(Check(self._db.user(user_id)), Create(recipe), *map(Create, lines))
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
        return RecipeView(recipe=recipe, ingredients=lines)

    def view(self, user_id: UserId, recipe_id: RecipeId) -> RecipeView:
        """Read a recipe of one's own with its ingredients, as it is now. `Viewing` reads recipes for others."""
        found = self._db.recipe_view(recipe_id).consistent().maybe()
        if found is None or found.recipe.user_id != user_id:
            raise RecipeNotFoundError(recipe_id)
        return found

    def edit(self, user_id: UserId, recipe_id: RecipeId, text: RecipeText) -> Recipe:
        """Let a recipe say something else. Ingredients, ratings and approval stay.

        A generated recipe is the author's own from then on: nobody else is suggested it.
        """

        def decide(recipe: Recipe) -> Changes:
            changes = {
                name: value for name, value in text_values(text).items() if value != getattr(recipe, name)
            }
            return {**changes, "is_ai_generated": False} if changes else {}

        return self._change(user_id, recipe_id, decide)

    def replace_ingredients(
        self, user_id: UserId, recipe_id: RecipeId, lines: Sequence[IngredientLine]
    ) -> RecipeView:
        """Give a recipe other ingredients, or the same in another order. The lists that it is in follow."""
        if not 1 <= len(lines) <= INGREDIENTS_MAX:
            raise InvalidInputError(
                f"a recipe has 1 to {INGREDIENTS_MAX} ingredients, and these are {len(lines)}"
            )
        names = self._names(lines)
        return decide_again(
            lambda: self._replace(self.view(user_id, recipe_id), ingredients_of(recipe_id, lines), names),
            after=(VersionConflictError,),
        )

    def reorder(self, user_id: UserId, recipe_id: RecipeId, positions: Sequence[int]) -> RecipeView:
        """Bring the ingredients of a recipe into another order, given by the positions that they have now."""

        def write() -> RecipeView:
            stored = self.view(user_id, recipe_id)
            by_position = {line.position: line for line in stored.ingredients}
            if sorted(positions) != sorted(by_position):
                raise InvalidInputError(f"the ingredients of recipe {recipe_id} are {sorted(by_position)}")
            lines = [
                by_position[position].model_copy(update={"position": place})
                for place, position in enumerate(positions, start=1)
            ]
            return self._replace(stored, lines, stored.recipe.ingredient_names)

        return decide_again(write, after=(VersionConflictError,))

    def publish(self, user_id: UserId, recipe_id: RecipeId) -> Recipe:
        """Show a recipe to all. If it was rated well enough before it was hidden, it is approved at once."""

        def decide(recipe: Recipe) -> Changes:
            if recipe.is_public:
                return {}
            is_earned = earns_approval(recipe.model_copy(update={"is_public": True}))
            return {"is_public": True, **(approved_by_ratings(self._db.now()) if is_earned else {})}

        return self._change(user_id, recipe_id, decide)

    def unpublish(self, user_id: UserId, recipe_id: RecipeId) -> Recipe:
        """Take a recipe out of all lists. Its ratings and its approval stay, for when it comes back."""
        return self._change(
            user_id, recipe_id, lambda recipe: {"is_public": False} if recipe.is_public else {}
        )

    def delete(
        self, user_id: UserId, recipe_id: RecipeId, *, progress: DeletionProgress | None = None
    ) -> Cascade:
        """Delete a recipe with its ingredients and ratings; tell how much that was."""
        self._own(user_id, recipe_id)
        deletion = Deletion(self._db, progress)
        deletion.delete(self._db.recipe(recipe_id))
        return deletion.done

    # --- what admins do --------------------------------------------------------------------------

    def approve(self, admin_id: UserId, recipe_id: RecipeId) -> Recipe:
        """Approve a public recipe, however it is rated."""

        def decide(recipe: Recipe) -> Changes:
            return {} if recipe.is_approved else approved_by_admin(self._db.now())

        return self._rule(admin_id, recipe_id, decide)

    def unapprove(self, admin_id: UserId, recipe_id: RecipeId) -> Recipe:
        """Take the approval of a public recipe away. No rating gives it back; an admin may."""

        def decide(recipe: Recipe) -> Changes:
            is_refused = not recipe.is_approved and recipe.approval_type == "admin"
            return {} if is_refused else refused_by_admin()

        return self._rule(admin_id, recipe_id, decide)

    # --- changes ---------------------------------------------------------------------------------

    def _change(self, user_id: UserId, recipe_id: RecipeId, decide: Decide) -> Recipe:
        def write() -> Recipe:
            recipe = self._own(user_id, recipe_id)
            changes = decide(recipe)
            if changes:
                self._write(recipe, lambda: self._db.update(recipe, **changes))
            return recipe

        return decide_again(write, after=(VersionConflictError,))

    def _rule(self, admin_id: UserId, recipe_id: RecipeId, decide: Decide) -> Recipe:
        """Change a public recipe, if the caller is an admin at that moment."""

        def write() -> Recipe:
            recipe = self._db.recipe(recipe_id).consistent().maybe()
            if recipe is None or not recipe.is_public:
                raise RecipeNotFoundError(recipe_id)
            changes = decide(recipe)
            update = [Update(recipe, **changes)] if changes else []
            try:
                self._db.transaction(is_admin(self._db, admin_id), *update)
            except (ConditionNotMetError, NotFoundError) as error:
                if self._db.recipe(recipe_id).consistent().maybe() is None:
                    raise RecipeNotFoundError(recipe_id) from error
                raise AdminRequiredError(admin_id) from error
            return recipe

        return decide_again(write, after=(VersionConflictError,))

    def _replace(
        self, stored: RecipeView, lines: Sequence[RecipeIngredient], names: Sequence[str]
    ) -> RecipeView:
        """Write the lines that differ. The version of the recipe is the optimistic lock of all of them."""
        recipe = stored.recipe
        known = {line.position: line for line in stored.ingredients}
        writes: list[Put[RecipeIngredient] | Delete[RecipeIngredient]] = [
            Put(line) for line in lines if known.pop(line.position, None) != line
        ]
        writes += [Delete(line) for line in known.values()]
        if writes:
            update = Update(recipe, ingredient_names=list(names), is_ai_generated=False)
            self._write(recipe, lambda: self._db.transaction(update, *writes))
        return RecipeView(recipe=recipe, ingredients=list(lines))

    def _write(self, recipe: Recipe, write: Callable[[], object]) -> None:
        try:
            write()
        except NotFoundError as error:
            raise RecipeNotFoundError(recipe.recipe_id) from error

    # --- what is stored --------------------------------------------------------------------------

    def _own(self, user_id: UserId, recipe_id: RecipeId) -> Recipe:
        recipe = self._db.recipe(recipe_id).consistent().maybe()
        if recipe is None or recipe.user_id != user_id:
            raise RecipeNotFoundError(recipe_id)
        return recipe

    def _names(self, lines: Sequence[IngredientLine]) -> list[str]:
        """Return the normal names of ingredients, for those that the catalogue knows the names it has for them."""
        found = Catalogue(self._db).resolve([line.ingredient_name for line in lines]).valid
        return normal_names(lines, {name: known.name for name, known in found.items()})
