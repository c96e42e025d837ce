"""Accounts: signing up, changing what an account says, and deleting everything of a user."""

from __future__ import annotations

import re
from typing import Any, Final
from unicodedata import normalize

from singletable import Cascade
from singletable.errors import AlreadyExistsError, DuplicateError, NotFoundError
from singletable.systems import Deletion, DeletionProgress
from singletable_systems.perfectit.errors import (
    InvalidInputError,
    UserExistsError,
    UsernameTakenError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import User
from singletable_systems.perfectit.model.keys import UserId, folded
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked
from singletable_systems.perfectit.services.deletion import delete_user
from singletable_systems.shared.rules import given
from singletable_systems.shared.services import Service

_USERNAME: Final = re.compile(r"(?=.*[^\W_])[\w.-]{2,40}")


class Accounts(Service[PerfectIt]):
    """What users do with their accounts. A username is of one of them, in either case."""

    @checked()
    def sign_up(
        self,
        username: str,
        *,
        user_id: UserId | None = None,
        display_name: str | None = None,
        bio: str | None = None,
        avatar_url: str | None = None,
    ) -> User:
        """Open an account, under the id that a sign-in service has given, or a new one.

        With an id, signing up again with the same username changes nothing and returns the account.
        """
        username = _username(username)
        chosen = UserId(self._new_id()) if user_id is None else user_id
        user = User(
            user_id=chosen, username=username, display_name=display_name, bio=bio, avatar_url=avatar_url
        )
        try:
            return self._db.create(user).entity
        except (AlreadyExistsError, DuplicateError) as error:
            there = self._db.user(chosen).maybe()
            if there is None:
                raise UsernameTakenError(username) from error
            if folded(there.username) != folded(username):
                raise UserExistsError(chosen) from error
            return there

    @checked()
    def change_username(self, user_id: UserId, username: str) -> User:
        """Give an account another username. The old one is free at once."""
        username = _username(username)
        try:
            return self._change(user_id, username=username)
        except DuplicateError as error:
            raise UsernameTakenError(username) from error

    @checked()
    def describe(
        self,
        user_id: UserId,
        *,
        display_name: str | None = None,
        bio: str | None = None,
        avatar_url: str | None = None,
    ) -> User:
        """Set fields of the profile; those that are None stay as they are."""
        changes = given(display_name=display_name, bio=bio, avatar_url=avatar_url)
        return self._change(user_id, **changes) if changes else self._user(user_id)

    @checked()
    def deletion_plan(self, user_id: UserId) -> Cascade:
        """Count the user's own items that `delete_all_data` would delete, by entity, and delete nothing."""
        return self._db.delete_plan(self._db.user(user_id))

    @checked()
    def delete_all_data(self, user_id: UserId, *, progress: DeletionProgress | None = None) -> Cascade:
        """Delete a user with all cards, comments, votes and collections, by their keys; tell how much that was.

        Votes that others gave the user's cards and comments go too. It is idempotent: after an interruption,
        call it again. The account goes last. Items that an index, which is eventually consistent, did not show
        yet go a moment later, when the consumer sees that the account is gone.
        """
        deletion = Deletion(self._db, progress)
        delete_user(self._db, user_id, deletion)
        return deletion.done

    def _user(self, user_id: UserId) -> User:
        user = self._db.user(user_id).maybe()
        if user is None:
            raise UserNotFoundError(user_id)
        return user

    def _change(self, user_id: UserId, **changes: Any) -> User:
        try:
            return self._db.update(self._db.user(user_id), **changes).entity
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error


def _username(username: str) -> str:
    """Return a username with the usual form of each letter: wide ones look the same, and are another name."""
    usual = normalize("NFKC", username)
    if not _USERNAME.fullmatch(usual):
        raise InvalidInputError(
            f"{username!r} is no username: 2 to 40 letters, digits, dots, hyphens and underscores are, "
            "of which one is a letter or a digit"
        )
    return usual
