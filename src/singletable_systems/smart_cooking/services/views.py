"""Viewing: what one user may see of another, as the eight privacy settings of the other say (002:112-119)."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from singletable import Eq, Page
from singletable_systems.smart_cooking.errors import (
    PostNotFoundError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import (
    Gender,
    Post,
    Recipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import PostId, RecipeId, UserId
from singletable_systems.smart_cooking.model.patterns import RecipeView
from singletable_systems.smart_cooking.model.patterns.sights import SETTINGS, Sight
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import Limit, checked

# The fields of a profile that only its owner and admins see. A new field is shown to others, or stands here.
NOT_SHOWN: Final = frozenset({"role", "is_active", "last_login", "feeds_by", "updated_at", "version"})


class ProfileView(BaseModel):
    """The parts of a user that a viewer sees. A part that is not given and one that is hidden look the same."""

    model_config = ConfigDict(frozen=True)

    user_id: UserId
    username: str
    full_name: str
    avatar_url: str | None
    friends_count: int
    created_at: datetime
    email: str | None = None
    date_of_birth: date | None = None
    gender: Gender | None = None
    country: str | None = None


@checked
class Viewing:
    """All reads that depend on the viewer. A viewer of None is somebody who is not signed in.

    Owners see all that is theirs. To others, a profile that is hidden looks like one that is not there, and so do
    the recipes, ingredients and preferences under it; also when the account was deactivated. Of a profile that is
    shown, a part that is hidden looks empty.
    """

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def profile(self, user_id: UserId, viewer: UserId | None) -> ProfileView:
        """Return the parts of a user's profile that a viewer may see."""
        return _view(*self._of(user_id, viewer))

    def admins(
        self, viewer: UserId | None, *, limit: Limit = 50, cursor: str | None = None
    ) -> Page[ProfileView]:
        """Return a page of the admins who show themselves, each as far as their settings allow (SC-40)."""
        page = self._db.admins().page(limit, cursor)
        sights = self._db.sights([admin.user_id for admin in page], viewer, page.usage)
        in_order = [sights[admin.user_id] for admin in page]
        views = [_view(sight.visible, sight) for sight in in_order if sight.visible is not None]
        return Page(views, page.cursor, page.usage)

    def recipes(
        self, user_id: UserId, viewer: UserId | None, *, limit: Limit = 50, cursor: str | None = None
    ) -> Page[Recipe]:
        """Return a page of a user's recipes, newest first: all for the owner, for others those that are public."""
        _, sight = self._of(user_id, viewer)
        recipes = self._db.recipes_of(user_id).newest_first()
        if sight.is_owner:
            return recipes.page(limit, cursor)
        if sight.allows("recipes_visibility"):
            return recipes.where(Eq("is_public", True)).page(limit, cursor)
        return Page([])

    def ingredients(
        self, user_id: UserId, viewer: UserId | None, *, limit: Limit = 50, cursor: str | None = None
    ) -> Page[UserIngredient]:
        """Return a page of the ingredients that a user has at home, by name."""
        _, sight = self._of(user_id, viewer)
        if sight.allows("ingredients_visibility"):
            return self._db.user_ingredients(user_id).page(limit, cursor)
        return Page([])

    def preferences(self, user_id: UserId, viewer: UserId | None) -> UserPreferences | None:
        """Return the food preferences of a user; None where they are hidden, or were never set."""
        _, sight = self._of(user_id, viewer)
        if sight.allows("preferences_visibility"):
            return self._db.preferences(user_id).maybe()
        return None

    def recipe(self, recipe_id: RecipeId, viewer: UserId | None) -> RecipeView:
        """Return a recipe with its ingredients, as it is now.

        Others than the owner see public ones, as the owner's settings for the profile and for recipes allow. A
        generated one is suggested to every user with its ingredients, so everybody who is signed in sees it.
        """
        found = self._db.recipe_view(recipe_id).consistent().maybe()
        if found is None or not self._db.recipes_shown([found.recipe], viewer):
            raise RecipeNotFoundError(recipe_id)
        return found

    def post(self, post_id: PostId, viewer: UserId | None) -> Post:
        """Return a post, as it is now. One that is private is there for its author only."""
        post = self._db.post(post_id).consistent().maybe()
        shown = [] if post is None else self._db.posts_shown([post], viewer)
        if not shown:
            raise PostNotFoundError(post_id)
        return shown[0]

    def _of(self, user_id: UserId, viewer: UserId | None) -> tuple[UserProfile, Sight]:
        """Return a user, and what a viewer may see of them; a user whose profile is hidden is not found."""
        sight = self._db.sights([user_id], viewer)[user_id]
        if sight.visible is None:
            raise UserNotFoundError(user_id)
        return sight.visible, sight


def _view(user: UserProfile, sight: Sight) -> ProfileView:
    hidden = {setting.removesuffix("_visibility") for setting in SETTINGS if not sight.allows(setting)}
    shown = (name for name in ProfileView.model_fields if name not in hidden)
    return ProfileView(**{name: getattr(user, name) for name in shown})
