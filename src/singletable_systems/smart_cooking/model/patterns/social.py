"""Reading friends, posts, comments, reactions, feeds and notifications."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from singletable import BatchGet, Eq, Get, Merged, Query, Walk, buckets, pattern, shards
from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    FeedItem,
    Friendship,
    Notification,
    Post,
    Reaction,
)
from singletable_systems.smart_cooking.model.keys import (
    CommentId,
    CommentReactionSK,
    CommentSK,
    FeedPK,
    FriendPK,
    FriendSK,
    MetadataSK,
    NotificationId,
    NotificationSK,
    PostedSK,
    PostId,
    PostPK,
    PublicFeedPK,
    ReactionSK,
    ReadersPK,
    ThreadPK,
    UnreadPK,
    UserId,
    UserPK,
)

DAYS_MAX: Final = 3660
Days = Annotated[int, Field(ge=1, le=DAYS_MAX)]


class SocialPatterns:
    # --- friends ---------------------------------------------------------------------------------

    @pattern(
        "26 List user's friends",
        documented="PK=USER#<id>, SK begins_with FRIEND#, Filter status=accepted",
        fixes="SC-31, SC-32",
    )
    def friends(self, user_id: UserId) -> Query[Friendship]:
        return Friendship.key.query(UserPK(user_id=user_id)).where(Eq("status", "accepted"))

    @pattern(
        "27 Reverse lookup: who friended me",
        documented="GSI1PK=USER#<id>, SK begins_with FRIEND#",
        fixes="SC-17, SC-31",
    )
    def friended_by(self, user_id: UserId) -> Query[Friendship]:
        return Friendship.asked.query(FriendPK(friend_id=user_id))

    @pattern("28 Check friendship status", documented="PK=USER#<id>, SK=FRIEND#<friend_id>", consistent=True)
    def friendship(self, user_id: UserId, friend_id: UserId) -> Get[Friendship]:
        return Friendship.key.get(UserPK(user_id=user_id), FriendSK(friend_id=friend_id))

    @pattern("28b List all of a user's friendships, also those that are not answered", fixes="SC-31")
    def friendships(self, user_id: UserId) -> Query[Friendship]:
        return Friendship.key.query(UserPK(user_id=user_id))

    @pattern("28c List friends whose posts are fetched on read", fixes="SC-22")
    def pulled_friends(self, user_id: UserId) -> Query[Friendship]:
        return Friendship.pulled.query(ReadersPK(user_id=user_id))

    @pattern("28d Get several friendships, as they are now", consistent=True, fixes="SC-22")
    def friendships_between(self, pairs: list[tuple[UserId, UserId]]) -> BatchGet[Friendship]:
        """The rows of pairs: whose row it is, and the friend."""
        return Friendship.key.batch_get(
            [(UserPK(user_id=user_id), FriendSK(friend_id=friend_id)) for user_id, friend_id in pairs]
        )

    # --- posts and feeds -------------------------------------------------------------------------

    @pattern("29 Get post", documented="PK=POST#<id>, SK=METADATA")
    def post(self, post_id: PostId) -> Get[Post]:
        return Post.key.get(PostPK(post_id=post_id), MetadataSK())

    @pattern("29b Get several posts")
    def posts(self, post_ids: list[PostId]) -> BatchGet[Post]:
        return Post.key.batch_get([(PostPK(post_id=each), MetadataSK()) for each in post_ids])

    @pattern("30 List user's posts", documented="GSI1PK=USER#<id>, SK begins_with POST#", fixes="SC-17")
    def posts_of(self, user_id: UserId) -> Query[Post]:
        return Post.by_user.query(UserPK(user_id=user_id))

    @pattern("30b List user's posts before a moment, newest first", fixes="SC-22")
    def posts_before(self, user_id: UserId, before: datetime) -> Query[Post]:
        return Post.by_user.query(UserPK(user_id=user_id), lt=PostedSK(created_at=before)).newest_first()

    @pattern("30c List user's public posts of a time, newest first", fixes="SC-22")
    def public_posts_between(self, user_id: UserId, oldest: datetime, newest: datetime) -> Query[Post]:
        between = (PostedSK(created_at=oldest), PostedSK(created_at=newest))
        posts = Post.by_user.query(UserPK(user_id=user_id), between=between)
        return posts.newest_first().where(Eq("is_public", True))

    @pattern("31 Public feed, newest first", documented="GSI3PK=FEED#PUBLIC, Sort DESC", fixes="SC-21, SC-23")
    def public_feed(self, now: datetime, days: Days = 365) -> Walk[Post]:
        """Public posts of the last days. Without buckets that is one partition, as documented."""
        if not 1 <= days <= DAYS_MAX:
            raise InvalidInputError(f"the public feed is of the last 1 to {DAYS_MAX} days, not of {days}")
        oldest = now - timedelta(days=days)
        between = (PostedSK(created_at=oldest), PostedSK(created_at=now))
        return Walk(
            [
                Merged(
                    [
                        Post.public.query(PublicFeedPK(month=month, shard=shard), between=between)
                        for shard in shards(PublicFeedPK)
                    ]
                ).newest_first()
                for month in buckets(PublicFeedPK, newest=now, oldest=oldest)
            ]
        )

    @pattern("32b The entries of a personal feed before a moment, newest first", fixes="SC-22")
    def feed_items(self, user_id: UserId, before: datetime) -> Query[FeedItem]:
        return FeedItem.feed.query(FeedPK(user_id=user_id), lt=PostedSK(created_at=before)).newest_first()

    @pattern("32c The entries of one author in a personal feed", fixes="SC-22")
    def feed_items_by(self, user_id: UserId, author_id: UserId) -> Query[FeedItem]:
        return FeedItem.key.query(UserPK(user_id=user_id)).where(Eq("author_id", author_id))

    # --- comments and reactions ------------------------------------------------------------------

    @pattern(
        "33 List post comments, oldest first", documented="PK=POST#<id>, SK begins_with COMMENT#, Sort ASC"
    )
    def comments(self, post_id: PostId) -> Query[Comment]:
        return Comment.key.query(PostPK(post_id=post_id))

    @pattern("33b Get one comment, as it is now", consistent=True)
    def comment(self, post_id: PostId, created_at: datetime, comment_id: CommentId) -> Get[Comment]:
        return Comment.key.get(
            PostPK(post_id=post_id), CommentSK(created_at=created_at, comment_id=comment_id)
        )

    @pattern("33c List replies of a comment, oldest first", fixes="SC-58")
    def replies(self, comment_id: CommentId) -> Query[Comment]:
        return Comment.replies.query(ThreadPK(parent_comment_id=comment_id))

    @pattern("34 List user's comments", documented="GSI1PK=USER#<id>, SK begins_with COMMENT#", fixes="SC-17")
    def comments_of(self, user_id: UserId) -> Query[Comment]:
        return Comment.by_user.query(UserPK(user_id=user_id))

    @pattern("35 List post reactions", documented="PK=POST#<id>, SK begins_with REACTION#", fixes="SC-36")
    def reactions(self, post_id: PostId) -> Query[Reaction]:
        return Reaction.key.query(PostPK(post_id=post_id))

    @pattern("36 Check user's reaction", documented="PK=POST#<id>, SK=REACTION#<user_id>", consistent=True)
    def reaction(self, post_id: PostId, user_id: UserId) -> Get[Reaction]:
        return Reaction.key.get(PostPK(post_id=post_id), ReactionSK(user_id=user_id))

    @pattern(
        "37 List user's reactions", documented="GSI1PK=USER#<id>, SK begins_with REACTION#", fixes="SC-17"
    )
    def reactions_of(self, user_id: UserId) -> Query[Reaction]:
        return Reaction.by_user.query(UserPK(user_id=user_id))

    @pattern("35b List reactions to a comment", fixes="SC-36")
    def comment_reactions(self, post_id: PostId, comment_id: CommentId) -> Query[CommentReaction]:
        return CommentReaction.key.query(
            PostPK(post_id=post_id), CommentReactionSK.prefix(comment_id=comment_id)
        )

    @pattern("36b Check user's reaction to a comment", consistent=True, fixes="SC-36")
    def comment_reaction(
        self, post_id: PostId, comment_id: CommentId, user_id: UserId
    ) -> Get[CommentReaction]:
        return CommentReaction.key.get(
            PostPK(post_id=post_id), CommentReactionSK(comment_id=comment_id, user_id=user_id)
        )

    @pattern("37b List user's reactions to comments", fixes="SC-36")
    def comment_reactions_of(self, user_id: UserId) -> Query[CommentReaction]:
        return CommentReaction.by_user.query(UserPK(user_id=user_id))

    # --- notifications ---------------------------------------------------------------------------

    @pattern(
        "38 List notifications, newest first",
        documented="PK=USER#<id>, SK begins_with NOTIFICATION#, Sort DESC",
    )
    def notifications(self, user_id: UserId) -> Query[Notification]:
        return Notification.key.query(UserPK(user_id=user_id)).newest_first()

    @pattern(
        "39 List unread only, newest first", documented="GSI1PK=USER#<id>#UNREAD, Sort DESC", fixes="SC-30"
    )
    def unread(self, user_id: UserId) -> Query[Notification]:
        return Notification.unread.query(UnreadPK(user_id=user_id)).newest_first()

    @pattern("38b Get one notification", consistent=True)
    def notification(
        self, user_id: UserId, created_at: datetime, notification_id: NotificationId
    ) -> Get[Notification]:
        return Notification.key.get(
            UserPK(user_id=user_id), NotificationSK(created_at=created_at, notification_id=notification_id)
        )
