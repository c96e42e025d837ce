"""What the members of a circle have with each other: friendships, posts, comments, reactions, feeds.

Posts of the first circle are the newest. Friends are those beside one in the circle, and the one across.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    FeedItem,
    Friendship,
    FriendshipStatus,
    Post,
    Reaction,
    ReactionType,
)
from singletable_systems.smart_cooking.model.keys import CommentId, PostId
from singletable_systems.smart_cooking.operating.seeding.people import CIRCLE, Member
from singletable_systems.smart_cooking.operating.seeding.recipes import recipe_id
from singletable_systems.smart_cooking.rules.fan_out import feed_item, is_in_feeds

POSTS_EACH: Final = 4
_PRIVATE_TURN: Final = POSTS_EACH - 1
_FRIENDS: Final = (1, 2, 6, 10, 11)  # how many places away, clockwise
_ASKED_DAYS: Final = {1: 400, 2: 200, 6: 12}  # since when, by the places between the two
_FIRST_MINUTES: Final = (
    (120, 110),
    (1600, 110),
    (60 * 1440, 60),
    (800, 60),
)  # by turn: and for each author more
_OTHER_MINUTES: Final = ((4 * 1440, 600), (12 * 1440, 1100), (60 * 1440, 1440), (15 * 1440, 60))
_CONTENTS: Final = (
    "Vừa nấu món này, rất ngon!",
    "Lần đầu thử, cả nhà khen.",
    "Who else cooks on a Sunday?",
    "Chợ hôm nay có rau muống rất tươi.",
    "Second try, and now it is right.",
)
_REMARKS: Final = ("Trông rất ngon!", "Cho mình xin công thức với.", "How long did it take?", "Đẹp quá!")
_REPLIES: Final = ("Cảm ơn bạn!", "Half an hour, no more.", "Có trong phần công thức nhé.")
_REACTIONS: Final[tuple[ReactionType, ...]] = ("like", "like", "yum")


# --- friends ----------------------------------------------------------------------------------------------------


def friends_of(member: Member, members: Sequence[Member]) -> list[Member]:
    """Return the friends of a member."""
    return [members[(member.place + away) % CIRCLE] for away in _FRIENDS]


def friendships(members: Sequence[Member], now: datetime) -> Iterator[Friendship]:
    """Make up friendships, each with both of its rows; some wait for an answer, some were declined."""
    for place, member in enumerate(members):
        for away, days in _ASKED_DAYS.items():
            if away < 6 or place < 6:  # two who are across from each other are friends once
                asker = members[(place + away) % CIRCLE]
                yield from _rows(asker, member, "accepted", now - timedelta(days=days, hours=place))
        if place % 4 == 0:
            yield from _rows(members[(place + 3) % CIRCLE], member, "pending", now - timedelta(days=5))
        if place % 4 == 1:
            yield from _rows(members[(place + 4) % CIRCLE], member, "declined", now - timedelta(days=50))


def _rows(asker: Member, asked: Member, status: FriendshipStatus, at: datetime) -> Iterator[Friendship]:
    for own, other in ((asker, asked), (asked, asker)):
        yield Friendship(
            friendship_id=f"f{asker.number:06}-{asked.number:06}",
            user_id=own.user_id,
            friend_id=other.user_id,
            status=status,
            requested_at=at,
            responded_at=None if status == "pending" else at + timedelta(hours=4),
            direction="sent" if own is asker else "received",
            friend_feeds_by=other.profile.feeds_by if status == "accepted" else None,
        )


# --- posts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Talk:
    """A post with all that was said to it."""

    post: Post
    comments: Sequence[Comment]
    reactions: Sequence[Reaction]
    comment_reactions: Sequence[CommentReaction]
    feed_items: Sequence[FeedItem]

    def entities(self) -> Iterator[Entity]:
        yield self.post
        yield from self.comments
        yield from self.reactions
        yield from self.comment_reactions
        yield from self.feed_items


def talks(circle: int, members: Sequence[Member], chance: Random, now: datetime) -> list[Talk]:
    """Make up the posts of a circle, and what friends say to them."""
    places = [(turn, member) for turn in range(POSTS_EACH) for member in members]
    return [_talk(circle, turn, member, members, chance, now) for turn, member in places]


def _talk(
    circle: int, turn: int, author: Member, members: Sequence[Member], chance: Random, now: datetime
) -> Talk:
    post = _post(circle, turn, author, chance, now)
    if not post.is_public:
        return Talk(post, (), (), (), ())
    friends = friends_of(author, members)
    comments = _comments(post, author, friends[turn], chance)
    reactions = [
        Reaction(
            reaction_id=f"{post.post_id}-{friend.user_id}",
            user_id=friend.user_id,
            post_id=post.post_id,
            reaction_type=kind,
            created_at=post.created_at + timedelta(minutes=10 + 20 * place),
        )
        for place, (friend, kind) in enumerate(zip(friends, _REACTIONS, strict=False))
    ]
    is_fed = author.profile.feeds_by == "writing" and is_in_feeds(post.created_at, now)
    return Talk(
        post.model_copy(update={"comments_count": len(comments), "likes_count": _REACTIONS.count("like")}),
        comments,
        reactions,
        [_comment_reaction(comments[0], author)],
        [feed_item(friend.user_id, post) for friend in friends] if is_fed else (),
    )


def _post(circle: int, turn: int, author: Member, chance: Random, now: datetime) -> Post:
    first_minutes, each_minutes = (_FIRST_MINUTES if circle == 0 else _OTHER_MINUTES)[turn]
    place = turn * CIRCLE + author.place
    # Every author has a moment of his own, so that no two posts of the table have the same.
    seconds = 0 if circle == 0 else chance.randrange(3600)
    at = now - timedelta(minutes=first_minutes + author.place * each_minutes, seconds=seconds)
    identity = PostId(f"p{circle * CIRCLE * POSTS_EACH + place:06}")
    return Post(
        post_id=identity,
        user_id=author.user_id,
        user_name=author.profile.full_name,
        user_avatar=author.profile.avatar_url,
        recipe_id=recipe_id(circle, CIRCLE + author.place) if turn < 2 else None,
        content=chance.choice(_CONTENTS),
        images=[f"https://images.example.com/posts/{identity}.jpg"],
        is_public=turn != _PRIVATE_TURN,
        created_at=at,
        updated_at=at,
    )


def _comments(post: Post, author: Member, friend: Member, chance: Random) -> list[Comment]:
    at = post.created_at + timedelta(minutes=15)
    comment = Comment(
        comment_id=CommentId(f"k{post.post_id[1:]}-0"),
        post_id=post.post_id,
        user_id=friend.user_id,
        content=chance.choice(_REMARKS),
        likes_count=1,
        created_at=at,
        updated_at=at,
    )
    reply = Comment(
        comment_id=CommentId(f"k{post.post_id[1:]}-1"),
        post_id=post.post_id,
        user_id=author.user_id,
        parent_comment_id=comment.comment_id,
        parent_user_id=friend.user_id,
        content=chance.choice(_REPLIES),
        created_at=at + timedelta(minutes=15),
        updated_at=at + timedelta(minutes=15),
    )
    return [comment, reply]


def _comment_reaction(comment: Comment, by: Member) -> CommentReaction:
    return CommentReaction(
        reaction_id=f"{comment.comment_id}-{by.user_id}",
        user_id=by.user_id,
        post_id=comment.post_id,
        comment_id=comment.comment_id,
        commented_at=comment.created_at,
        comment_user_id=comment.user_id,
        created_at=comment.created_at + timedelta(minutes=20),
    )
