"""Notifications of comments, replies, reactions, friendships, ratings and approvals. Pure: no reads, no writes.

Nobody is notified of their own actions. The id and the time of a notification are those of the item that it is
about, so making it is idempotent. When that item no longer holds, the notification is deleted. Replies and
reactions store the author of their comment, so their notifications are found also when the comment is gone. But
items that are deleted along with a post or recipe leave the notification of its author until it expires.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from singletable_systems.smart_cooking.model.entities import (
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
from singletable_systems.smart_cooking.model.entities.social import KEPT_DAYS
from singletable_systems.smart_cooking.model.keys import NotificationId, UserId

KEPT: Final = timedelta(days=KEPT_DAYS)
HIDDEN: Final = "Somebody"


@dataclass(frozen=True, slots=True)
class News:
    """A notification to be. The name of the acting user, if there is one, comes before the text."""

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
        """Return the parts of the key of its notification."""
        return self.to, self.at, self.notification_id

    @property
    def people(self) -> list[UserId]:
        """Return the users who must be there: the recipient and the acting user."""
        return [self.to] if self.by is None else [self.to, self.by]

    def is_told(self, now: datetime) -> bool:
        """Tell whether somebody else has done it, and not too long ago."""
        return self.by != self.to and self.at + KEPT > now

    def notification(self, name: str | None) -> Notification:
        """Return the notification; `name` is that of the acting user, None if it is hidden from the recipient."""
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
    """Notify the author of the answered comment; and that of the post, if it is there and this is another."""
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
    """Notify the author of the comment."""
    to, by, of, at = reaction.comment_user_id, reaction.user_id, reaction.reaction_id, reaction.created_at
    yield News(to, by, "reaction", of, at, "comment", reaction.comment_id, "reacted to your comment")


def of_friendship(row: Friendship) -> Iterator[News]:
    """Notify the user who is asked, until they answer; notify the user who has asked when they are accepted."""
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
