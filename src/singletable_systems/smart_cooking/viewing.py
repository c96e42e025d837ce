"""Viewing: what one user may see of another, as the eight privacy settings of the other say (002:110-117)."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import BaseModel, ConfigDict

from singletable import Eq, Page
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import (
    Gender,
    Post,
    Recipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.errors import (
    PostNotFoundError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.inputs import Limit, checked
from singletable_systems.smart_cooking.keys import PostId, RecipeId, UserId
from singletable_systems.smart_cooking.patterns import RecipeView
from singletable_systems.smart_cooking.sights import Sight


class ProfileView(BaseModel):
    """What somebody sees of a user. What the user does not say and what they do not show look the same."""

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
    """Every read for which it matters who looks. A viewer of None is somebody who is not signed in.

    Owners see all that is theirs. To others, a profile that is hidden looks like one that is not there, and so do
    the recipes, ingredients and preferences under it; also when the account was deactivated. Of a profile that is
    shown, a part that is hidden looks empty.
    """

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def profile(self, user_id: UserId, viewer: UserId | None) -> ProfileView:
        """Return what somebody may see of a user's profile."""
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
        """Return a page of what a user has at home, by name."""
        _, sight = self._of(user_id, viewer)
        if sight.allows("ingredients_visibility"):
            return self._db.user_ingredients(user_id).page(limit, cursor)
        return Page([])

    def preferences(self, user_id: UserId, viewer: UserId | None) -> UserPreferences | None:
        """Return what a user likes to eat, and must not; None where that is hidden, or was never said."""
        _, sight = self._of(user_id, viewer)
        if sight.allows("preferences_visibility"):
            return self._db.preferences(user_id).maybe()
        return None

    def recipe(self, recipe_id: RecipeId, viewer: UserId | None) -> RecipeView:
        """Return a recipe with what goes into it, as it is now.

        Others than the owner see public ones, as the owner's settings for the profile and for recipes allow. One
        that was generated is suggested to whoever names its ingredients, so everybody sees it who is signed in.
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
        """Return a user, and what somebody may see of them; a user whose profile is hidden is not there."""
        sight = self._db.sights([user_id], viewer)[user_id]
        if sight.visible is None:
            raise UserNotFoundError(user_id)
        return sight.visible, sight


def _view(user: UserProfile, sight: Sight) -> ProfileView:
    return ProfileView(
        user_id=user.user_id,
        username=user.username,
        full_name=user.full_name,
        avatar_url=user.avatar_url,
        friends_count=user.friends_count,
        created_at=user.created_at,
        email=user.email if sight.allows("email_visibility") else None,
        date_of_birth=user.date_of_birth if sight.allows("date_of_birth_visibility") else None,
        gender=user.gender if sight.allows("gender_visibility") else None,
        country=user.country if sight.allows("country_visibility") else None,
    )
