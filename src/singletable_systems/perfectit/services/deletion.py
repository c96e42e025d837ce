"""Deleting users, cards and comments with the votes that they got, which are in other item collections."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from singletable import Get
from singletable.errors import NotFoundError
from singletable.systems import Deletion
from singletable_systems.perfectit.model.entities import Comment
from singletable_systems.perfectit.model.keys import CardId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt


def delete_user(db: PerfectIt, user_id: UserId, deletion: Deletion) -> None:
    """Delete a user with all items that the indexes show. `delete_what_is_left` deletes later ones."""
    for card in db.own_cards(user_id).all():
        delete_card(db, card.card_id, deletion)
    for comment in db.comments_by(user_id).all():
        delete_comment(db, comment, deletion)
    deletion.delete(db.user(user_id))


def delete_card(db: PerfectIt, card_id: CardId, deletion: Deletion) -> None:
    """Delete a card, its comments, its places in collections, and all votes for the card and the comments.

    First it leaves the lists, so that from then on nobody votes for it or comments on it.
    """
    with suppress(NotFoundError):
        db.update(db.stats(card_id), is_listed=False)
    for comment in db.comments(card_id).consistent().all():
        delete_comment(db, comment, deletion)
    _delete_with_votes(db, db.card(card_id), card_id, deletion)


def delete_comment(db: PerfectIt, comment: Comment, deletion: Deletion) -> None:
    """Delete a comment with the votes for it."""
    place = db.comment(comment.card_id, comment.created_at, comment.comment_id)
    _delete_with_votes(db, place, comment.comment_id, deletion)


def _delete_with_votes(db: PerfectIt, target: Get[Any], target_id: str, deletion: Deletion) -> None:
    """Delete votes, their target, and the votes that came meanwhile. Nobody can vote for a deleted target."""
    _delete_votes(db, target_id, deletion)
    deletion.delete(target)
    _delete_votes(db, target_id, deletion)


def _delete_votes(db: PerfectIt, target_id: str, deletion: Deletion) -> None:
    for vote in db.voters(target_id).all():
        deletion.delete(db.vote(vote.user_id, target_id))
