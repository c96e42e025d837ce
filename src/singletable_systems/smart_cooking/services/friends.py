"""Friends: asked, accepted, declined and unfriended.

A friendship is two rows, one of each user, which are always written together (SC-31). How many friends somebody
has is counted in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from singletable import Check, Create, Delete, Eq, Put, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from singletable.systems import decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    FriendshipNotFoundError,
    FriendshipRefusedError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import Friendship, FriendshipStatus, UserProfile
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked

_RACES: Final = (AlreadyExistsError, ConditionNotMetError, NotFoundError)

WriteRow = Callable[[Friendship], Create[Friendship] | Put[Friendship]]


class _Rows(NamedTuple):
    """The two rows of a friendship: that of the acting user, and that of the other one."""

    own: Friendship
    other: Friendship


@checked
class Friends(Service[SmartCooking]):
    """Users ask, accept, decline and end friendships. Each method returns the row of the acting user.

    Calls are idempotent: one whose answer was lost can be repeated. When both users act at once, the second
    call reads again, and decides again.
    """

    def ask(self, user_id: UserId, friend_id: UserId) -> Friendship:
        """Ask somebody to be friends. To ask back is to accept.

        A user who was declined cannot ask again; the one who has declined may ask.
        """
        if user_id == friend_id:
            raise InvalidInputError("nobody is a friend of their own")
        return decide_again(lambda: self._ask(user_id, friend_id), after=_RACES)

    def accept(self, user_id: UserId, friend_id: UserId) -> Friendship:
        """Accept a friend who has asked."""
        return decide_again(lambda: self._answer(user_id, friend_id, accepts=True), after=_RACES)

    def decline(self, user_id: UserId, friend_id: UserId) -> Friendship:
        """Decline somebody who has asked."""
        return decide_again(lambda: self._answer(user_id, friend_id, accepts=False), after=_RACES)

    def unfriend(self, user_id: UserId, friend_id: UserId) -> None:
        """End a friendship, or take back a request. Without either, nothing happens.

        Only the user who has declined can delete a declined request: then the other may ask again.
        """
        decide_again(lambda: self._unfriend(user_id, friend_id), after=_RACES)

    # --- deciding by what is stored --------------------------------------------------------------

    def _ask(self, user_id: UserId, friend_id: UserId) -> Friendship:
        rows = self._rows(user_id, friend_id)
        if rows is None:
            return self._write_request(user_id, friend_id, Create)
        if rows.own.status == "declined":
            if rows.own.direction == "sent":
                raise FriendshipRefusedError(f"user {friend_id} has declined")
            return self._write_request(
                user_id, friend_id, lambda row: Put(row, when=Eq("status", "declined"))
            )
        if rows.own.status == "pending" and rows.own.direction == "received":
            return self._accept(rows)
        return rows.own

    def _answer(self, user_id: UserId, friend_id: UserId, *, accepts: bool) -> Friendship:
        rows = self._rows(user_id, friend_id)
        if rows is None:
            raise FriendshipNotFoundError(user_id, friend_id)
        wanted = "accepted" if accepts else "declined"
        if rows.own.status == wanted and (accepts or rows.own.direction == "received"):
            return rows.own
        if rows.own.direction == "sent":
            raise FriendshipRefusedError(f"user {user_id} has asked, and user {friend_id} answers")
        if rows.own.status != "pending":
            raise FriendshipRefusedError(f"user {user_id} has {rows.own.status} user {friend_id} already")
        return self._accept(rows) if accepts else self._decline(rows)

    def _unfriend(self, user_id: UserId, friend_id: UserId) -> None:
        rows = self._rows(user_id, friend_id)
        if rows is None:
            return
        if rows.own.status == "declined" and rows.own.direction == "sent":
            raise FriendshipRefusedError(f"user {friend_id} has declined")
        self._db.transaction(*(Delete(row, when=Eq("status", row.status)) for row in rows))

    # --- writing both rows -------------------------------------------------------------------------

    def _write_request(self, user_id: UserId, friend_id: UserId, write: WriteRow) -> Friendship:
        friendship_id, now = self._new_id(), self._db.now()
        own = Friendship(
            friendship_id=friendship_id,
            user_id=user_id,
            friend_id=friend_id,
            requested_at=now,
            direction="sent",
        )
        other = own.model_copy(update={"user_id": friend_id, "friend_id": user_id, "direction": "received"})
        people = (Check(self._db.user(each)) for each in (user_id, friend_id))
        try:
            self._db.transaction(*people, write(own), write(other))
        except NotFoundError:
            self._people(user_id, friend_id)
            raise
        return own

    def _accept(self, rows: _Rows) -> Friendship:
        people = self._people(*(row.user_id for row in rows))
        feeds = [{"friend_feeds_by": people[row.friend_id].feeds_by} for row in rows]
        return self._write_answer(rows, "accepted", *feeds)

    def _decline(self, rows: _Rows) -> Friendship:
        return self._write_answer(rows, "declined", {}, {})

    def _write_answer(self, rows: _Rows, status: FriendshipStatus, *more: dict[str, Any]) -> Friendship:
        answer: dict[str, Any] = {
            "when": Eq("status", "pending"),
            "status": status,
            "responded_at": self._db.now(),
        }
        self._db.transaction(*(Update(row, **answer, **each) for row, each in zip(rows, more, strict=True)))
        return rows.own

    # --- what is stored --------------------------------------------------------------------------

    def _rows(self, user_id: UserId, friend_id: UserId) -> _Rows | None:
        pairs = [(user_id, friend_id), (friend_id, user_id)]
        found = self._db.friendships_between(pairs).all()
        return _Rows(*found) if len(found) == len(pairs) else None

    def _people(self, *user_ids: UserId) -> dict[UserId, UserProfile]:
        people = {each.user_id: each for each in self._db.users([*user_ids]).consistent().all()}
        for user_id in user_ids:
            if user_id not in people:
                raise UserNotFoundError(user_id)
        return people
