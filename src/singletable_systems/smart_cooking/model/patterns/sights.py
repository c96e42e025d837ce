"""Sights: what somebody may see of others, as the eight privacy settings of the others say (002:112-119).

The one rule, for every read that takes a viewer. Owners see all that is theirs. To others, a user who is
hidden, deactivated or deleted is not found, and neither is anything under that profile. Public recipes are seen
as `recipes_visibility` allows. That a post is public was its author's choice: of a hidden profile it is shown
without the name, of an account that is closed it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from singletable import BatchGet, Entity, Usage
from singletable_systems.smart_cooking.model.entities import Post, PrivacySettings, Recipe, UserProfile
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.patterns import PeoplePatterns, SocialPatterns

Setting = Literal[
    "profile_visibility",
    "email_visibility",
    "date_of_birth_visibility",
    "gender_visibility",
    "country_visibility",
    "recipes_visibility",
    "ingredients_visibility",
    "preferences_visibility",
]
SETTINGS: Final[tuple[Setting, ...]] = get_args(Setting)

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Sight:
    """What somebody may see of a user: everything that is theirs, or the parts that settings allow."""

    user: UserProfile | None
    is_owner: bool
    shown: frozenset[Setting] = frozenset()

    @property
    def is_open(self) -> bool:
        """Tell whether there is an account; to others than its owner, one that is active."""
        return self.user is not None and (self.is_owner or self.user.is_active)

    @property
    def visible(self) -> UserProfile | None:
        """Return the user, if there is one and the profile is shown."""
        return self.user if self.is_open and (self.is_owner or "profile_visibility" in self.shown) else None

    def allows(self, setting: Setting) -> bool:
        """Tell whether a part of the profile is shown."""
        return self.visible is not None and (self.is_owner or setting in self.shown)


class Sights(PeoplePatterns, SocialPatterns):
    """The reads of users, settings and friendships behind that rule: three batches, for any number of users."""

    def sights(
        self, user_ids: Iterable[UserId], viewer: UserId | None, usage: Usage | None = None
    ) -> dict[UserId, Sight]:
        """Return a sight of each of some users, as they are now; add the cost to `usage`."""
        everybody = sorted({*user_ids})
        others = [each for each in everybody if each != viewer]
        users = {user.user_id: user for user in _read(self.users(everybody).consistent(), usage)}
        settings = {each.user_id: each for each in _read(self.privacy_of(others), usage)}
        pairs = [] if viewer is None else [(each, viewer) for each in others]
        rows = _read(self.friendships_between(pairs), usage)
        friends = {row.user_id for row in rows if row.status == "accepted"}
        return {
            each: Sight(
                users.get(each),
                is_owner=each == viewer,
                shown=_shown(settings.get(each) or PrivacySettings(user_id=each), each in friends),
            )
            for each in everybody
        }

    def recipes_shown(self, recipes: Sequence[Recipe], viewer: UserId | None) -> list[Recipe]:
        """Return those of some recipes that a viewer may see: his own ones, public ones as their owners allow.

        A generated recipe is suggested to every user with its ingredients, so everybody who is signed in sees
        it.
        """
        sights = self.sights({recipe.user_id for recipe in recipes}, viewer)
        return [
            recipe
            for recipe in recipes
            if sights[recipe.user_id].is_owner
            or (recipe.is_ai_generated and viewer is not None)
            or (recipe.is_public and sights[recipe.user_id].allows("recipes_visibility"))
        ]

    def posts_shown(
        self, posts: Sequence[Post], viewer: UserId | None, usage: Usage | None = None
    ) -> list[Post]:
        """Return those of some posts that a viewer may see: his own ones, and public ones, some without a name."""
        sights = self.sights({post.user_id for post in posts}, viewer, usage)
        return [
            post if sights[post.user_id].visible else _nameless(post)
            for post in posts
            if sights[post.user_id].is_owner or (post.is_public and sights[post.user_id].is_open)
        ]


def _read(batch: BatchGet[E], usage: Usage | None) -> list[E]:
    found = batch.found()
    if usage is not None:
        usage.add(found.usage)
    return [entity for entity in found.item if entity is not None]


def _shown(settings: PrivacySettings, is_friend: bool) -> frozenset[Setting]:
    allowed = {"public", "friends"} if is_friend else {"public"}
    return frozenset(each for each in SETTINGS if getattr(settings, each) in allowed)


def _nameless(post: Post) -> Post:
    return post.model_copy(update={"user_name": None, "user_avatar": None})
