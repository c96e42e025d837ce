"""Reacting: what users feel about posts and comments, one reaction of each user for each of them.

Likes are counted in the transaction that makes, changes or takes back a reaction (SC-37).
"""

from __future__ import annotations

from typing import Final, TypeVar

from singletable import Check, Create, Eq, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from singletable.systems import NewId, OrderedIds, decide_again
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import Comment, CommentReaction, Reaction, ReactionType
from singletable_systems.smart_cooking.errors import CommentNotFoundError
from singletable_systems.smart_cooking.inputs import checked
from singletable_systems.smart_cooking.keys import PostId, UserId
from singletable_systems.smart_cooking.permitting import may_answer, require_post, require_user

_RACES: Final = (AlreadyExistsError, ConditionNotMetError, NotFoundError)


R = TypeVar("R", Reaction, CommentReaction)


@checked
class Reactions:
    """What users do with reactions. To react in the same way again, or to take back nothing, changes nothing."""

    def __init__(self, db: SmartCooking, *, new_id: NewId | None = None) -> None:
        self._db = db
        self._new_id = OrderedIds(db.now) if new_id is None else new_id

    def react(self, user_id: UserId, post_id: PostId, reaction_type: ReactionType = "like") -> Reaction:
        """React to a post, or react differently."""
        reaction = Reaction(
            reaction_id=self._new_id(),
            user_id=user_id,
            post_id=post_id,
            reaction_type=reaction_type,
            created_at=self._db.now(),
        )
        stored = self._db.reaction(post_id, user_id)
        return decide_again(lambda: self._write(reaction, stored.maybe()), after=_RACES)

    def unreact(self, user_id: UserId, post_id: PostId) -> None:
        """Take back a reaction to a post."""
        self._db.delete(self._db.reaction(post_id, user_id))

    def react_to_comment(
        self, user_id: UserId, comment: Comment, reaction_type: ReactionType = "like"
    ) -> CommentReaction:
        """React to a comment, or react differently."""
        reaction = CommentReaction(
            reaction_id=self._new_id(),
            user_id=user_id,
            post_id=comment.post_id,
            comment_id=comment.comment_id,
            commented_at=comment.created_at,
            comment_user_id=comment.user_id,
            reaction_type=reaction_type,
            created_at=self._db.now(),
        )
        stored = self._db.comment_reaction(comment.post_id, comment.comment_id, user_id)
        target = self._db.comment(comment.post_id, comment.created_at, comment.comment_id)

        def write() -> CommentReaction:
            if target.maybe() is None:
                raise CommentNotFoundError(comment.comment_id)
            return self._write(reaction, stored.maybe(), Check(target, when=Eq("user_id", comment.user_id)))

        return decide_again(write, after=_RACES)

    def unreact_to_comment(self, user_id: UserId, comment: Comment) -> None:
        """Take back a reaction to a comment."""
        self._db.delete(self._db.comment_reaction(comment.post_id, comment.comment_id, user_id))

    def _write(self, reaction: R, stored: R | None, *checks: Check[Comment]) -> R:
        """Make a reaction, or change the one that is stored; refused, if that is made or taken back meanwhile."""
        if stored is not None and stored.reaction_type == reaction.reaction_type:
            return stored
        try:
            self._db.transaction(
                *may_answer(self._db, reaction.user_id, reaction.post_id),
                *checks,
                Create(reaction) if stored is None else Update(stored, reaction_type=reaction.reaction_type),
            )
        except (ConditionNotMetError, NotFoundError):
            require_user(self._db, reaction.user_id)
            require_post(self._db, reaction.user_id, reaction.post_id)
            raise
        return stored or reaction
