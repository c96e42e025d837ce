"""Commenting: what users say about published cards."""

from __future__ import annotations

from datetime import datetime

from singletable import Check, Create, Eq
from singletable.errors import ConditionNotMetError, NotFoundError
from singletable.systems import Deletion
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CommentNotFoundError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import Comment
from singletable_systems.perfectit.model.keys import CardId, CommentId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked
from singletable_systems.perfectit.services.deletion import delete_comment
from singletable_systems.shared.services import Service


class Commenting(Service[PerfectIt]):
    """The things that users do with comments. To change one of somebody else is refused as not found."""

    @checked()
    def comment(self, user_id: UserId, card_id: CardId, text: str) -> Comment:
        """Say something about a published card. The card's count of comments is a part of the same write."""
        stats = self._db.stats(card_id).maybe()
        if stats is None:
            raise CardNotFoundError(card_id)
        comment = Comment(
            comment_id=CommentId(self._new_id()),
            card_id=card_id,
            user_id=user_id,
            text=text,
            recipient_id=stats.user_id,
            created_at=self._db.now(),
        )
        listed = Check(self._db.stats(card_id), when=Eq("is_listed", True))
        try:
            self._db.transaction(Create(comment), listed, Check(self._db.user(user_id)))
        except (NotFoundError, ConditionNotMetError) as error:
            if self._db.user(user_id).maybe() is None:
                raise UserNotFoundError(user_id) from error
            raise CardNotFoundError(card_id) from error
        return comment

    @checked()
    def edit(
        self, user_id: UserId, card_id: CardId, created_at: datetime, comment_id: CommentId, text: str
    ) -> Comment:
        """Say it differently."""
        comment = self._own(user_id, card_id, created_at, comment_id)
        try:
            return self._db.update(comment, text=text).entity
        except NotFoundError as error:
            raise CommentNotFoundError(comment_id) from error

    @checked()
    def delete(self, user_id: UserId, card_id: CardId, created_at: datetime, comment_id: CommentId) -> None:
        """Delete a comment with the votes for it."""
        comment = self._own(user_id, card_id, created_at, comment_id)
        delete_comment(self._db, comment, Deletion(self._db))

    def _own(self, user_id: UserId, card_id: CardId, created_at: datetime, comment_id: CommentId) -> Comment:
        comment = self._db.comment(card_id, created_at, comment_id).maybe()
        if comment is None or comment.user_id != user_id:
            raise CommentNotFoundError(comment_id)
        return comment
