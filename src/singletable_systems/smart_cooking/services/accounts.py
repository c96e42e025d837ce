"""Accounts: signing up and in, changing what an account says, and deleting everything of a user."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Final, TypeVar, Unpack

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from singletable import Cascade, Check, Create, Entity, Get
from singletable.errors import AlreadyExistsError, DuplicateError, NotFoundError
from singletable.systems import Deletion, DeletionProgress, NewId, decide_again
from singletable_systems.shared.rules import email_address
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    EmailTakenError,
    InvalidInputError,
    UserExistsError,
    UsernameTakenError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import (
    Friendship,
    Gender,
    PrivacySettings,
    Session,
    SpiceLevel,
    UserPreferences,
    UserProfile,
    Visibility,
)
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.names import NAME_LETTERS_MAX, require_name
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import ListName
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.sessions import Sessions

E = TypeVar("E", bound=Entity)

PREFERENCES_MAX: Final = 30  # in each of the lists
_FEED_OF_ALL: Final = "PUBLIC"  # FEED#PUBLIC must not be the feed of somebody

FoodNames = Annotated[list[Annotated[str, AfterValidator(require_name)]], Field(max_length=PREFERENCES_MAX)]
ListNames = Annotated[list[ListName], Field(max_length=PREFERENCES_MAX)]


class About(TypedDict, total=False):
    """The facts that users may give about themselves; None removes one."""

    date_of_birth: date | None
    gender: Gender | None
    country: str | None


class PreferenceChanges(TypedDict, total=False):
    """Changes of the food that a user likes, and must not eat: fields that are left out stay."""

    dietary_restrictions: FoodNames
    allergies: FoodNames
    favorite_cuisines: ListNames
    preferred_cooking_methods: ListNames
    preferred_recipe_count: Annotated[int, Field(ge=1, le=100)]
    spice_level: SpiceLevel


class PrivacyChanges(TypedDict, total=False):
    """Changes of privacy settings: fields that are left out stay."""

    profile_visibility: Visibility
    email_visibility: Visibility
    date_of_birth_visibility: Visibility
    gender_visibility: Visibility
    country_visibility: Visibility
    recipes_visibility: Visibility
    ingredients_visibility: Visibility
    preferences_visibility: Visibility


@checked
class Accounts(Service[SmartCooking]):
    """Users manage their accounts. Email addresses and usernames are unique, in either case."""

    def __init__(self, db: SmartCooking, *, new_id: NewId | None = None) -> None:
        super().__init__(db, new_id=new_id)
        self._sessions = Sessions(db)

    def sign_up(
        self,
        email: str,
        username: str,
        full_name: str,
        *,
        user_id: UserId | None = None,
        **about: Unpack[About],
    ) -> UserProfile:
        """Open an account, with preferences and privacy settings that can be changed at any time.

        Its id is the one that a sign-in service has given, or a new one. With an id, signing up again with the
        same email changes nothing and returns the account.
        """
        chosen = UserId(self._new_id()) if user_id is None else _user_id(user_id)
        profile = UserProfile(
            user_id=chosen,
            email=email_address(email, InvalidInputError),
            username=_username(username),
            full_name=_full_name(full_name),
            **about,
        )
        try:
            self._db.transaction(
                Create(profile),
                Create(UserPreferences(user_id=chosen)),
                Create(PrivacySettings(user_id=chosen)),
            )
        except (AlreadyExistsError, DuplicateError) as error:
            there = self._db.user(chosen).maybe()
            if there is None:
                raise _taken(profile, error) from error
            if there.email.casefold() != profile.email.casefold():
                raise UserExistsError(chosen) from error
            return there
        return profile

    def log_in(self, email: str, *, device: str | None = None) -> Session:
        """Sign in the user with an email address. The caller has proved that it is theirs."""
        user = self._db.user_by_email(email_address(email, InvalidInputError)).maybe()
        if user is None:
            raise UserNotFoundError(email)
        return self._sessions.open(user.user_id, device=device)

    # --- what an account says ----------------------------------------------------------------------

    def rename(self, user_id: UserId, full_name: str) -> UserProfile:
        """Give a user another name. Posts follow as the table's changes are consumed (SC-38)."""
        return self._change(user_id, full_name=_full_name(full_name))

    def change_email(self, user_id: UserId, email: str) -> UserProfile:
        """Give an account another email address. The old one is free at once."""
        address = email_address(email, InvalidInputError)
        try:
            return self._change(user_id, email=address)
        except DuplicateError as error:
            raise EmailTakenError(address) from error

    def change_username(self, user_id: UserId, username: str) -> UserProfile:
        """Give an account another username. The old one is free at once."""
        wanted = _username(username)
        try:
            return self._change(user_id, username=wanted)
        except DuplicateError as error:
            raise UsernameTakenError(wanted) from error

    def set_avatar(self, user_id: UserId, avatar_url: str | None) -> UserProfile:
        """Give a user another picture, or none. Posts follow as the table's changes are consumed (SC-38)."""
        return self._change(user_id, avatar_url=avatar_url)

    def set_about(self, user_id: UserId, **changes: Unpack[About]) -> UserProfile:
        """Change the facts that a user gives about themselves."""
        return self._change(user_id, **changes)

    def set_preferences(self, user_id: UserId, **changes: Unpack[PreferenceChanges]) -> UserPreferences:
        """Change some preferences of a user. The last write wins.

        An allergy that the catalogue does not know is kept, and matched by its words: every suggestion says which
        ones these are.
        """
        return self._set(user_id, self._db.preferences(user_id), dict(changes))

    def set_privacy(self, user_id: UserId, **changes: Unpack[PrivacyChanges]) -> PrivacySettings:
        """Change some privacy settings of a user. They hold from the next read on."""
        return self._set(user_id, self._db.privacy(user_id), dict(changes))

    # --- ending --------------------------------------------------------------------------------------

    def deactivate(self, user_id: UserId) -> UserProfile:
        """Close an account, and keep all that it has: others see it no more, and nobody is signed in to it."""
        profile = self._change(user_id, is_active=False)
        self._sessions.close_all(user_id)
        return profile

    def activate(self, user_id: UserId) -> UserProfile:
        """Open an account again that was deactivated."""
        return self._change(user_id, is_active=True)

    def deletion_plan(self, user_id: UserId) -> Cascade:
        """Count what `delete_all_data` would delete, by entity, and delete nothing."""
        return UserDeletion(self._db, user_id).plan()

    def delete_all_data(self, user_id: UserId, *, progress: DeletionProgress | None = None) -> Cascade:
        """Delete a user with everything that is theirs, by its keys; tell how much that was.

        Counts in items of others follow at once: friends, comments, reactions, ratings, reports. Their feeds
        and notifications follow as the table's changes are consumed. It is idempotent: after an interruption,
        call it again.
        """
        return UserDeletion(self._db, user_id, progress).run()

    def _change(self, user_id: UserId, **changes: Any) -> UserProfile:
        try:
            return self._db.update(self._db.user(user_id), **changes).entity
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error

    def _set(self, user_id: UserId, settings: Get[E], changes: dict[str, Any]) -> E:
        """Change settings, or make them for an account that has none yet: from a table without them."""

        def write() -> E:
            try:
                return self._db.update(settings, **changes).entity
            except NotFoundError:
                made = settings.entity.model_validate({"user_id": user_id, **changes})
                try:
                    self._db.transaction(Check(self._db.user(user_id)), Create(made))
                except NotFoundError as error:
                    raise UserNotFoundError(user_id) from error
                return made

        return decide_again(write, after=(AlreadyExistsError,))


# --- deletion -------------------------------------------------------------------------------------------------


class UserDeletion:
    """Deletes one user. It is idempotent: after an interruption, run another one."""

    def __init__(self, db: SmartCooking, user_id: UserId, progress: DeletionProgress | None = None) -> None:
        self._db = db
        self._user_id = user_id
        self._deletion = Deletion(db, progress)

    def run(self) -> Cascade:
        """Delete everything, the account last; return how much that was.

        Recipes, posts and comments go one by one, each with the items that others have added to it meanwhile.
        When the account is gone nobody can become its friend any more, so friends are looked for once more
        after that.
        """
        self._leave_friends()
        for recipe in self._db.recipes_of(self._user_id).all():
            self._deletion.delete(self._db.recipe(recipe.recipe_id))
        for post in self._db.posts_of(self._user_id).all():
            self._deletion.delete(self._db.post(post.post_id))
        for comment in self._db.comments_of(self._user_id).all():
            self._deletion.delete(self._db.comment(comment.post_id, comment.created_at, comment.comment_id))
        self._deletion.delete(self._db.user(self._user_id))
        self._leave_friends()
        return self._deletion.done

    def plan(self) -> Cascade:
        """Count what `run` would delete. A comment on a post of one's own, found in two ways, counts twice."""
        planned = self._db.delete_plan(self._db.user(self._user_id))
        for rows in self._friendships():
            name = Friendship.__name__
            planned.counts[name] = planned.counts.get(name, 0) + len(rows)
        return planned

    def _leave_friends(self) -> None:
        """Delete friendships from both sides (SC-31). Feeds of friends follow as changes are consumed."""
        for rows in self._friendships():
            self._deletion.delete_together(*rows)

    def _friendships(self) -> Iterator[list[Friendship]]:
        """Return the rows of each friendship, the user's own one first. From an old table there may be but one."""
        for row in self._db.friendships(self._user_id).consistent().all():
            mirrored = self._db.friendship(row.friend_id, self._user_id).maybe()
            yield [row] if mirrored is None else [row, mirrored]


# --- what may be given -----------------------------------------------------------------------------------------


def _user_id(user_id: UserId) -> UserId:
    if not user_id.strip() or "#" in user_id or user_id == _FEED_OF_ALL:
        raise InvalidInputError(f"{user_id!r} can be the id of nobody")
    return user_id


def _username(username: str) -> str:
    wanted = username.strip()
    if not wanted or "#" in wanted or any(map(str.isspace, wanted)) or len(wanted) > NAME_LETTERS_MAX:
        raise InvalidInputError(f"{username!r} is no username")
    return wanted


def _full_name(full_name: str) -> str:
    name = " ".join(full_name.split())
    if not name or len(name) > NAME_LETTERS_MAX:
        raise InvalidInputError(f"{full_name!r} is no name")
    return name


def _taken(profile: UserProfile, error: Exception) -> EmailTakenError | UsernameTakenError | UserExistsError:
    match error:
        case DuplicateError(fields=("email",)):
            return EmailTakenError(profile.email)
        case DuplicateError():
            return UsernameTakenError(profile.username)
        case _:
            return UserExistsError(profile.user_id)
