"""Sessions: who is signed in, on which device, for a day at most (SC-28)."""

from __future__ import annotations

from secrets import token_urlsafe

from singletable import Check, Create, Delete, Eq, Update
from singletable.errors import ConditionNotMetError, KeyValueError, NotFoundError, SeparatorError
from singletable.systems import NewId
from singletable_systems.smart_cooking.errors import AccountInactiveError, UserNotFoundError
from singletable_systems.smart_cooking.model.entities import Session, UserProfile
from singletable_systems.smart_cooking.model.keys import SessionId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked


@checked
class Sessions:
    """Signing in and out. The id of a session is all that somebody shows, so nobody can guess it."""

    def __init__(self, db: SmartCooking, *, new_id: NewId = token_urlsafe) -> None:
        self._db = db
        self._new_id = new_id

    def open(self, user_id: UserId, *, device: str | None = None) -> Session:
        """Sign somebody in. That it happened is written into the profile once a day at most (SC-46)."""
        session = Session(session_id=SessionId(self._new_id()), user_id=user_id, device=device)
        user = self._db.user(user_id).maybe()
        if user is None:
            raise UserNotFoundError(user_id)
        try:
            self._db.transaction(self._noted(user), Create(session))
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
        except ConditionNotMetError as error:
            raise AccountInactiveError(user_id) from error
        return session

    def _noted(self, user: UserProfile) -> Update[UserProfile] | Check[UserProfile]:
        now, is_active = self._db.now(), Eq("is_active", True)
        if user.last_login is not None and user.last_login.date() == now.date():
            return Check(self._db.user(user.user_id), when=is_active)
        return Update(self._db.user(user.user_id), when=is_active, last_login=now)

    def check(self, session_id: SessionId) -> UserId | None:
        """Return the user who is signed in with a session; None for any other id.

        A session is over when its day is, also while its item is still there, and when the account is gone or
        not active.
        """
        try:
            session = self._db.sign_in(session_id).maybe()
        except (KeyValueError, SeparatorError):
            return None  # this is the id of nothing
        user = None if session is None else self._db.user(session.user_id).maybe()
        return user.user_id if user is not None and user.is_active else None

    def close(self, session_id: SessionId) -> None:
        """Sign somebody out on one device. A session that is over already is no error."""
        self._db.delete(self._db.sign_in(session_id))

    def close_all(self, user_id: UserId) -> None:
        """Sign somebody out everywhere. The index may not show a session yet that was opened a moment ago."""
        self._db.batch(*(Delete(session) for session in self._db.sign_ins(user_id).all()))
