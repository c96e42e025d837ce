"""The patterns of Smart Cooking about cooking, friends and posts, answered in plain Python."""

from __future__ import annotations

from datetime import datetime, timedelta

from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Comment,
    CommentReaction,
    CookingHistory,
    FeedItem,
    Friendship,
    MonthlyActivity,
    Notification,
    Post,
    PrivacySettings,
    Reaction,
    SuggestionCache,
    UserProfile,
)
from systems.brute_force import AnyBruteForce, in_order, milliseconds


class CookingAnswers(AnyBruteForce):
    def history(self, user_id: str) -> list[CookingHistory]:
        return in_order(self._all(CookingHistory, user_id=user_id), "created_at", "history_id")[::-1]

    def cooking(self, user_id: str, created_at: datetime, history_id: str) -> CookingHistory | None:
        found = self._only(CookingHistory, user_id=user_id, history_id=history_id)
        return found if found is not None and found.created_at == created_at else None

    def favorites(self, user_id: str) -> list[CookingHistory]:
        return in_order(self._all(CookingHistory, user_id=user_id, is_favorite=True), "cook_date")[::-1]

    def recent_activities(self, now: datetime, days: int = 60) -> list[CookingHistory]:
        shown = in_order(self._all(CookingHistory, status="completed", visibility="public"), "cook_date")
        return [each for each in shown[::-1] if _is_within(each.cook_date, now, days)]

    def suggestions(self, user_id: str) -> list[AiSuggestion]:
        return in_order(self._all(AiSuggestion, user_id=user_id), "created_at", "suggestion_id")[::-1]

    def suggestion_at(self, user_id: str, created_at: datetime) -> list[AiSuggestion]:
        oldest_first = self.suggestions(user_id)[::-1]
        at = milliseconds(created_at)
        return [each for each in oldest_first if milliseconds(each.created_at) == at][:1]

    def suggestion(self, user_id: str, created_at: datetime, suggestion_id: str) -> AiSuggestion | None:
        found = self._only(AiSuggestion, user_id=user_id, suggestion_id=suggestion_id)
        return found if found is not None and found.created_at == created_at else None

    def suggestion_cache(self, digest: str) -> SuggestionCache | None:
        return self._only(SuggestionCache, digest=digest)

    def activity(self, month: str) -> MonthlyActivity | None:
        return self._only(MonthlyActivity, month=month)


def _is_within(moment: datetime, now: datetime, days: int) -> bool:
    oldest = milliseconds(now - timedelta(days=days))
    return oldest <= milliseconds(moment) <= milliseconds(now)


class SocialAnswers(AnyBruteForce):
    def friends(self, user_id: str) -> list[Friendship]:
        return in_order(self._all(Friendship, user_id=user_id, status="accepted"), "friend_id")

    def friended_by(self, user_id: str) -> list[Friendship]:
        return in_order(self._all(Friendship, friend_id=user_id, direction="sent"), "user_id")

    def friendship(self, user_id: str, friend_id: str) -> Friendship | None:
        return self._only(Friendship, user_id=user_id, friend_id=friend_id)

    def friendships(self, user_id: str) -> list[Friendship]:
        return in_order(self._all(Friendship, user_id=user_id), "friend_id")

    def pulled_friends(self, user_id: str) -> list[Friendship]:
        return in_order(self._all(Friendship, user_id=user_id, friend_feeds_by="reading"), "friend_id")

    def friendships_between(self, pairs: list[tuple[str, str]]) -> list[Friendship | None]:
        return [self.friendship(*pair) for pair in pairs]

    def post(self, post_id: str) -> Post | None:
        return self._only(Post, post_id=post_id)

    def posts(self, post_ids: list[str]) -> list[Post | None]:
        return [self.post(post_id) for post_id in post_ids]

    def posts_of(self, user_id: str) -> list[Post]:
        return in_order(self._all(Post, user_id=user_id), "created_at")

    def posts_before(self, user_id: str, before: datetime) -> list[Post]:
        newest = self.posts_of(user_id)[::-1]
        return [post for post in newest if milliseconds(post.created_at) < milliseconds(before)]

    def public_posts_between(self, user_id: str, oldest: datetime, newest: datetime) -> list[Post]:
        between = (milliseconds(oldest), milliseconds(newest))
        newest_first = self.posts_of(user_id)[::-1]
        public = [post for post in newest_first if post.is_public]
        return [post for post in public if between[0] <= milliseconds(post.created_at) <= between[1]]

    def public_feed(self, now: datetime, days: int = 365) -> list[Post]:
        newest = in_order(self._all(Post, is_public=True), "created_at")[::-1]
        return [post for post in newest if _is_within(post.created_at, now, days)]

    def feed(self, user_id: str) -> list[Post]:
        written = [self.post(item.post_id) for item in self._feed(user_id)]
        pulled = [post for row in self.pulled_friends(user_id) for post in self.posts_of(row.friend_id)]
        by_id = {post.post_id: post for post in (*written, *pulled) if post is not None and post.is_public}
        now, oldest = milliseconds(self._now), milliseconds(self._now - timedelta(days=30))
        young = [post for post in by_id.values() if oldest < milliseconds(post.created_at) <= now]
        shown = [self._shown(post, user_id) for post in in_order(young, "created_at", "post_id")[::-1]]
        return [post for post in shown if post is not None]

    def _shown(self, post: Post, viewer: str) -> Post | None:
        author = self._only(UserProfile, user_id=post.user_id)
        if author is None or post.user_id == viewer:
            return None if author is None else post
        settings = self._only(PrivacySettings, user_id=post.user_id)
        row = self.friendship(post.user_id, viewer)
        seen = {"public", "friends"} if row is not None and row.status == "accepted" else {"public"}
        is_named = settings is None or settings.profile_visibility in seen
        if not author.is_active:
            return None
        return post if is_named else post.model_copy(update={"user_name": None, "user_avatar": None})

    def _feed(self, user_id: str) -> list[FeedItem]:
        return in_order(self._all(FeedItem, user_id=user_id), "created_at")[::-1]

    def feed_items(self, user_id: str, before: datetime) -> list[FeedItem]:
        return [each for each in self._feed(user_id) if milliseconds(each.created_at) < milliseconds(before)]

    def feed_items_by(self, user_id: str, author_id: str) -> list[FeedItem]:
        return in_order(self._all(FeedItem, user_id=user_id, author_id=author_id), "created_at", "post_id")

    def comments(self, post_id: str) -> list[Comment]:
        return in_order(self._all(Comment, post_id=post_id), "created_at", "comment_id")

    def comment(self, post_id: str, created_at: datetime, comment_id: str) -> Comment | None:
        return self._only(Comment, post_id=post_id, created_at=created_at, comment_id=comment_id)

    def replies(self, comment_id: str) -> list[Comment]:
        return in_order(self._all(Comment, parent_comment_id=comment_id), "created_at", "comment_id")

    def comments_of(self, user_id: str) -> list[Comment]:
        return in_order(self._all(Comment, user_id=user_id), "created_at")

    def reactions(self, post_id: str) -> list[Reaction]:
        return in_order(self._all(Reaction, post_id=post_id), "user_id")

    def reaction(self, post_id: str, user_id: str) -> Reaction | None:
        return self._only(Reaction, post_id=post_id, user_id=user_id)

    def reactions_of(self, user_id: str) -> list[Reaction]:
        return in_order(self._all(Reaction, user_id=user_id), "created_at")

    def comment_reactions(self, post_id: str, comment_id: str) -> list[CommentReaction]:
        return in_order(self._all(CommentReaction, post_id=post_id, comment_id=comment_id), "user_id")

    def comment_reaction(self, post_id: str, comment_id: str, user_id: str) -> CommentReaction | None:
        return self._only(CommentReaction, post_id=post_id, comment_id=comment_id, user_id=user_id)

    def comment_reactions_of(self, user_id: str) -> list[CommentReaction]:
        return in_order(self._all(CommentReaction, user_id=user_id), "created_at")

    def notifications(self, user_id: str) -> list[Notification]:
        return in_order(self._all(Notification, user_id=user_id), "created_at", "notification_id")[::-1]

    def unread(self, user_id: str) -> list[Notification]:
        return in_order(self._all(Notification, user_id=user_id, is_read=False), "created_at")[::-1]

    def notification(self, user_id: str, created_at: datetime, notification_id: str) -> Notification | None:
        found = self._only(Notification, user_id=user_id, notification_id=notification_id)
        return found if found is not None and found.created_at == created_at else None
