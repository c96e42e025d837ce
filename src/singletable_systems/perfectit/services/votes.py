"""Voting: for or against cards and comments, atomic, and never counted twice.

A vote, and the count of its target, are one transaction. Voting is idempotent: a call can be repeated after its
answer was lost. When two votes of one user race, the second one reads again, and decides again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from singletable import Check, Create, Delete, Eq, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CommentNotFoundError,
    UserNotFoundError,
    VoteRefusedError,
)
from singletable_systems.perfectit.model.entities import CardStats, Comment, Vote, VoteValue
from singletable_systems.perfectit.model.keys import CardId, CommentId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked, decide


class _ChangedMeanwhileError(Exception):
    """Somebody has voted in between: another request of the same user."""

    def __str__(self) -> str:
        return "another vote of the same user was faster"


_RACES: Final = (_ChangedMeanwhileError, AlreadyExistsError)


class Voting:
    """What users vote for. Only published cards, and comments on them, can be voted for."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db

    @checked()
    def vote(self, user_id: UserId, card_id: CardId, value: VoteValue) -> Vote:
        """Vote for a card (1) or against it (-1); an earlier vote is changed."""
        vote = Vote(user_id=user_id, target_id=card_id, target_type="card", value=value, card_id=card_id)
        return decide(lambda: self._cast(vote), after=_RACES)

    @checked()
    def vote_on_comment(
        self,
        user_id: UserId,
        card_id: CardId,
        commented_at: datetime,
        comment_id: CommentId,
        value: VoteValue,
    ) -> Vote:
        """Vote for a comment (1) or against it (-1); an earlier vote is changed."""
        vote = Vote(
            user_id=user_id,
            target_id=comment_id,
            target_type="comment",
            value=value,
            card_id=card_id,
            commented_at=commented_at,
        )
        return decide(lambda: self._cast(vote), after=_RACES)

    @checked()
    def undo(self, user_id: UserId, target_id: str) -> None:
        """Take a vote back; where there is none, nothing happens."""
        decide(lambda: self._undo(user_id, target_id), after=_RACES)

    # --- one try of each -------------------------------------------------------------------------

    def _cast(self, vote: Vote) -> Vote:
        there = self._db.vote(vote.user_id, vote.target_id).maybe()
        if there is None:
            return self._create(vote)
        if _target(there) != _target(vote):
            raise VoteRefusedError(
                f"{vote.user_id} has voted for the {there.target_type} {vote.target_id} (card {there.card_id}): "
                "ids of cards and comments must differ"
            )
        if there.value == vote.value:
            return there
        change = Update(
            self._db.vote(vote.user_id, vote.target_id), value=vote.value, when=Eq("value", there.value)
        )
        return self._write(vote, change)

    def _create(self, vote: Vote) -> Vote:
        cast = vote.model_copy(update={"recipient_id": self._recipient(vote)})
        try:
            return self._write(vote, Create(cast), Check(self._db.user(vote.user_id)))
        except _ChangedMeanwhileError:
            if self._db.user(vote.user_id).maybe() is None:
                raise UserNotFoundError(vote.user_id) from None
            raise

    def _recipient(self, vote: Vote) -> UserId:
        """Return the user to notify. The vote stores the id, since the target may be deleted later."""
        target: CardStats | Comment | None
        if vote.commented_at is None:
            target = self._db.stats(vote.card_id).maybe()
        else:
            target = self._comment(vote, vote.commented_at)
        if target is None:
            raise self._missing(vote)
        return target.user_id

    def _comment(self, vote: Vote, commented_at: datetime) -> Comment | None:
        return self._db.comment(vote.card_id, commented_at, CommentId(vote.target_id)).maybe()

    def _write(self, vote: Vote, write: Create[Vote] | Update[Vote], *checks: Check[Any]) -> Vote:
        listed = Check(self._db.stats(vote.card_id), when=Eq("is_listed", True))
        try:
            written: Vote = self._db.transaction(write, listed, *checks).entity[0]
        except (NotFoundError, ConditionNotMetError) as error:
            raise self._missing(vote) from error
        return written

    def _missing(self, vote: Vote) -> Exception:
        """Return the reason as an error: the target is not there, or the vote has changed."""
        stats = self._db.stats(vote.card_id).maybe()
        if stats is None or not stats.is_listed:
            return CardNotFoundError(vote.card_id)
        if vote.commented_at is not None and self._comment(vote, vote.commented_at) is None:
            return CommentNotFoundError(vote.target_id)
        return _ChangedMeanwhileError()

    def _undo(self, user_id: UserId, target_id: str) -> None:
        there = self._db.vote(user_id, target_id).maybe()
        if there is None:
            return
        try:
            self._db.transaction(Delete(self._db.vote(user_id, target_id), when=Eq("value", there.value)))
        except (NotFoundError, ConditionNotMetError) as error:
            raise _ChangedMeanwhileError from error


def _target(vote: Vote) -> tuple[object, ...]:
    return vote.target_type, vote.card_id, vote.commented_at
