"""Friends, posts, comments, reactions, feeds and notifications."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from singletable import (
    Computed,
    CopyOf,
    CountOf,
    Entity,
    Eq,
    Exists,
    Keys,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    expires,
)
from singletable_systems.smart_cooking.model.entities.people import Spread
from singletable_systems.smart_cooking.model.entities.sizes import Name, Names, Text, Url
from singletable_systems.smart_cooking.model.keys import (
    CommentedSK,
    CommentId,
    CommentReactedSK,
    CommentReactionSK,
    CommentSK,
    CookingTable,
    FeedItemSK,
    FeedPK,
    FriendPK,
    FriendSK,
    MetadataSK,
    NotificationId,
    NotificationSK,
    NotifiedSK,
    PostedSK,
    PostId,
    PostPK,
    PublicFeedPK,
    ReactedSK,
    ReactionSK,
    ReadersPK,
    RecipeId,
    ReplySK,
    RequesterSK,
    ThreadPK,
    UnreadPK,
    UserId,
    UserPK,
)

KEPT_DAYS: Final = 30  # of notifications, and of posts in feeds

FriendshipStatus = Literal["pending", "accepted", "declined"]
Direction = Literal["sent", "received"]
ReactionType = Literal["like", "love", "yum", "wow"]
NotificationType = Literal[
    "comment", "reply", "reaction", "friend_request", "friend_accepted", "rating", "recipe_approved"
]
TargetType = Literal["post", "comment", "recipe", "user"]


class Friendship(Entity, name="FRIENDSHIP", owner="user_id"):
    """One side of a friendship: each of the two has a row (SC-31). Only the one that is "sent" is in the index."""

    key = Keys(UserPK, FriendSK)
    asked = CookingTable.gsi1.keys(FriendPK, RequesterSK, when=Eq("direction", "sent"))
    pulled = CookingTable.gsi2.keys(
        ReadersPK, FriendSK, when=Eq("friend_feeds_by", "reading")
    )  # added: SC-22

    friendship_id: Name
    user_id: UserId
    friend_id: UserId
    status: FriendshipStatus = "pending"
    requested_at: datetime
    responded_at: datetime | None = None
    direction: Direction = "sent"  # added: SC-31; the one row of the documents is "sent"
    friend_feeds_by: Spread | None = None  # added: SC-22; of friends only


class Post(Entity, name="POST", owns=("Comment", "Reaction", "CommentReaction")):
    """A post about cooking. Only public posts are in the feed of all (SC-23)."""

    key = Keys(PostPK, MetadataSK)
    by_user = CookingTable.gsi1.keys(UserPK, PostedSK)
    public = CookingTable.gsi3.keys(PublicFeedPK, PostedSK, when=Eq("is_public", True))

    post_id: PostId
    user_id: UserId
    user_name: Annotated[Name | None, CopyOf("UserProfile", "full_name")] = None  # 002:660; SC-38
    user_avatar: Annotated[Url | None, CopyOf("UserProfile", "avatar_url")] = None
    recipe_id: RecipeId | None = None
    content: Text
    images: Names = []
    is_public: bool = True
    likes_count: Annotated[int, CountOf("Reaction", when=Eq("reaction_type", "like"))] = 0
    comments_count: Annotated[int, CountOf("Comment")] = 0
    created_at: datetime
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class Comment(Entity, name="COMMENT", owns=("CommentReaction",)):
    """A comment on a post, or an answer to one."""

    key = Keys(PostPK, CommentSK)
    by_user = CookingTable.gsi1.keys(UserPK, CommentedSK)
    replies = CookingTable.gsi2.keys(ThreadPK, ReplySK, when=Exists("parent_comment_id"))  # added: SC-58

    comment_id: CommentId
    post_id: PostId
    user_id: UserId
    parent_comment_id: CommentId | None = None
    parent_user_id: UserId | None = None  # added: SC-58; who is answered
    content: Text
    created_at: datetime
    updated_at: UpdatedAt = auto()
    likes_count: Annotated[  # added: SC-36
        int,
        CountOf(
            "CommentReaction",
            when=Eq("reaction_type", "like"),
            via={"post_id": "post_id", "created_at": "commented_at", "comment_id": "comment_id"},
        ),
    ] = 0


class Reaction(Entity, name="REACTION"):
    """A reaction to a post: one of each user."""

    key = Keys(PostPK, ReactionSK)
    by_user = CookingTable.gsi1.keys(UserPK, ReactedSK)

    reaction_id: Name
    user_id: UserId
    post_id: PostId
    target_type: Literal["post"] = "post"
    target_id: Annotated[str, Computed(str, "post_id")] = ""
    reaction_type: ReactionType = "like"
    created_at: datetime


class CommentReaction(Entity, name="COMMENT_REACTION"):
    """Added, SC-36: a reaction to a comment. Its key differs from that of a reaction to the post."""

    key = Keys(PostPK, CommentReactionSK)
    by_user = CookingTable.gsi1.keys(UserPK, CommentReactedSK)

    reaction_id: Name
    user_id: UserId
    post_id: PostId
    comment_id: CommentId
    commented_at: datetime  # with the id, the key of the comment
    comment_user_id: UserId  # who has written it, and is told
    target_type: Literal["comment"] = "comment"
    target_id: Annotated[str, Computed(str, "comment_id")] = ""
    reaction_type: ReactionType = "like"
    created_at: datetime


class FeedItem(Entity, name="FEED_ITEM", owner="user_id"):
    """Added, SC-22: a post of a friend, in the feed of one user. It names the post, and repeats nothing of it."""

    key = Keys(UserPK, FeedItemSK)
    feed = CookingTable.gsi3.keys(FeedPK, PostedSK)

    user_id: UserId
    post_id: PostId
    author_id: UserId
    created_at: datetime
    ttl: Ttl = expires(days=KEPT_DAYS, after="created_at")


class Notification(Entity, name="NOTIFICATION", owner="user_id"):
    """Something that a user is told. Only unread ones are in the index, which empties again (SC-30)."""

    key = Keys(UserPK, NotificationSK)
    unread = CookingTable.gsi1.keys(UnreadPK, NotifiedSK, when=Eq("is_read", False))

    notification_id: NotificationId
    user_id: UserId
    actor_id: UserId | None = None
    type: NotificationType
    target_type: TargetType
    target_id: Name
    content: Text
    is_read: bool = False
    created_at: datetime
    ttl: Ttl = expires(days=KEPT_DAYS, after="created_at")
