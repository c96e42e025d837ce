"""Accounts: signing up, changing what an account says, and deleting everything of a user."""

from __future__ import annotations

from typing import Any

from singletable import Cascade
from singletable.errors import AlreadyExistsError, DuplicateError, NotFoundError
from singletable.systems import Deletion, DeletionProgress
from singletable_systems.kefir.errors import (
    EmailTakenError,
    InvalidInputError,
    UserExistsError,
    UserNotFoundError,
)
from singletable_systems.kefir.model.entities import Preferences, User
from singletable_systems.kefir.model.keys import UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.shared.rules import email_address
from singletable_systems.shared.services import Service


class Accounts(Service[Kefir]):
    """What users do with their accounts. An email address is of one of them, in either case."""

    def sign_up(
        self,
        email: str,
        *,
        user_id: UserId | None = None,
        name: str | None = None,
        preferences: Preferences | None = None,
    ) -> User:
        """Open an account, under the id that a sign-in service has given, or a new one.

        With an id, signing up again with the same email changes nothing and returns the account.
        """
        address = email_address(email, InvalidInputError)
        chosen = UserId(self._new_id()) if user_id is None else user_id
        user = User(user_id=chosen, email=address, name=name, preferences=preferences)
        try:
            return self._db.create(user).entity
        except (AlreadyExistsError, DuplicateError) as error:
            there = self._db.user(chosen).maybe()
            if there is None:
                raise EmailTakenError(address) from error
            if there.email.casefold() != address.casefold():
                raise UserExistsError(chosen) from error
            return there

    def change_email(self, user_id: UserId, email: str) -> User:
        """Give an account another email address. The old one is free at once."""
        address = email_address(email, InvalidInputError)
        try:
            return self._change(user_id, email=address)
        except DuplicateError as error:
            raise EmailTakenError(address) from error

    def rename(self, user_id: UserId, name: str | None) -> User:
        """Give a user another name, or none."""
        return self._change(user_id, name=name)

    def set_preferences(self, user_id: UserId, preferences: Preferences) -> User:
        """Set all preferences of a user. The last write wins."""
        return self._change(user_id, preferences=preferences)

    def deletion_plan(self, user_id: UserId) -> Cascade:
        """Count what `delete_all_data` would delete, by entity, and delete nothing."""
        return self._db.delete_plan(self._db.user(user_id))

    def delete_all_data(self, user_id: UserId, *, progress: DeletionProgress | None = None) -> Cascade:
        """Delete a user with all batches, events, reminders and devices, by their keys; tell how much that was.

        It is idempotent: after an interruption, call it again. The account goes last, and from then on nothing
        can be added to it. Items that were added before that moment are deleted, too.
        """
        deletion = Deletion(self._db, progress)
        for batch in self._db.batches(user_id).consistent().all():
            deletion.delete(self._db.own_batch(user_id, batch.batch_id))
        deletion.delete(self._db.user(user_id))
        return deletion.done

    def _change(self, user_id: UserId, **changes: Any) -> User:
        try:
            return self._db.update(self._db.user(user_id), **changes).entity
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
