"""Which notification follows from what: from a comment, a reply, a reaction, a friendship, a rating, an approval.

Nobody is told of their own doings. What is told is named after what has happened, and has its time: so however
often a change is delivered, it is the same notification. When what was told is so no more, the notification goes
again. Who has written a comment is named by what answers it, so those are found also when it is gone; but what is
deleted along with its post or recipe leaves the notification of their author until it expires.
Reads nothing, writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from singletable_systems.smart_cooking.entities import (
    Comment,
    CommentReaction,
    Friendship,
    Notification,
    NotificationType,
    Post,
    Reaction,
    Recipe,
    RecipeRating,
    TargetType,
)
from singletable_systems.smart_cooking.keys import NotificationId, UserId

KEPT: Final = timedelta(days=30)
HIDDEN: Final = "Somebody"


@dataclass(frozen=True, slots=True)
class News:
    """What somebody is to be told. Before the text comes the name of who has done it, if somebody has."""

    to: UserId
    by: UserId | None
    type: NotificationType
    of: str
    at: datetime
    target_type: TargetType
    target_id: str
    text: str

    @property
    def notification_id(self) -> NotificationId:
        return NotificationId(f"{self.type}-{self.of}")

    @property
    def name(self) -> tuple[UserId, datetime, NotificationId]:
        """Return what tells its notification from others: the parts of its key."""
        return self.to, self.at, self.notification_id

    @property
    def people(self) -> list[UserId]:
        """Return who must be there: who is told, and who has done it."""
        return [self.to] if self.by is None else [self.to, self.by]

    def is_told(self, now: datetime) -> bool:
        """Tell whether somebody else has done it, and not too long ago."""
        return self.by != self.to and self.at + KEPT > now

    def notification(self, name: str | None) -> Notification:
        """Return the notification, with the name of who has done it; None if they hide it from who is told."""
        return Notification(
            notification_id=self.notification_id,
            user_id=self.to,
            actor_id=self.by,
            type=self.type,
            target_type=self.target_type,
            target_id=self.target_id,
            content=self.text if self.by is None else f"{name or HIDDEN} {self.text}",
            created_at=self.at,
        )


def of_comment(comment: Comment, post: Post | None) -> Iterator[News]:
    """Tell the one who is answered; and the author of the post, while it is there, unless that is the same one."""
    by, of, at = comment.user_id, comment.comment_id, comment.created_at
    answered = comment.parent_user_id
    if answered is not None:
        yield News(answered, by, "reply", of, at, "comment", of, "replied to your comment")
    if post is not None and post.user_id != answered:
        yield News(post.user_id, by, "comment", of, at, "post", post.post_id, "commented on your post")


def of_reaction(reaction: Reaction, post: Post) -> Iterator[News]:
    """Tell the author of the post."""
    by, of, at = reaction.user_id, reaction.reaction_id, reaction.created_at
    yield News(post.user_id, by, "reaction", of, at, "post", post.post_id, "reacted to your post")


def of_comment_reaction(reaction: CommentReaction) -> Iterator[News]:
    """Tell who has written the comment."""
    to, by, of, at = reaction.comment_user_id, reaction.user_id, reaction.reaction_id, reaction.created_at
    yield News(to, by, "reaction", of, at, "comment", reaction.comment_id, "reacted to your comment")


def of_friendship(row: Friendship) -> Iterator[News]:
    """Tell who is asked, until he answers; tell who has asked that he is accepted."""
    to, by, of = row.user_id, row.friend_id, row.friendship_id
    if row.status == "pending" and row.direction == "received":
        text = "wants to be your friend"
        yield News(to, by, "friend_request", of, row.requested_at, "user", by, text)
    if row.status == "accepted" and row.direction == "sent" and row.responded_at is not None:
        text = "is your friend now"
        yield News(to, by, "friend_accepted", of, row.responded_at, "user", by, text)


def of_rating(rating: RecipeRating, recipe: Recipe) -> Iterator[News]:
    """Tell the author of the recipe."""
    by, of, at = rating.user_id, rating.rating_id, rating.created_at
    text = f"rated your recipe {recipe.title}"
    yield News(recipe.user_id, by, "rating", of, at, "recipe", recipe.recipe_id, text)


def of_approval(recipe: Recipe) -> Iterator[News]:
    """Tell the author, once it is approved."""
    of, at = recipe.recipe_id, recipe.approved_at
    if recipe.is_approved and at is not None:
        text = f"Your recipe {recipe.title} is approved"
        yield News(recipe.user_id, None, "recipe_approved", of, at, "recipe", of, text)
