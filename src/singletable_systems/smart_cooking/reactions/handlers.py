"""Smart Cooking as it is opened: the design, with the handlers of its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Final, TypeAlias, TypeVar

from singletable import Change, Create, Delete, Entity, Eq, Once, Put, Update, on
from singletable_systems.smart_cooking.errors import ArchiveMissingError
from singletable_systems.smart_cooking.model.design import SmartCookingDesign
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    CookingHistory,
    FeedItem,
    Friendship,
    InvalidIngredientReport,
    MonthlyActivity,
    Notification,
    Post,
    Reaction,
    Recipe,
    RecipeRating,
    Session,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.archive import Archive
from singletable_systems.smart_cooking.rules.activity import cooked, made
from singletable_systems.smart_cooking.rules.approval import approved_by_ratings, earns_approval
from singletable_systems.smart_cooking.rules.fan_out import (
    LOOKED_AT_MAX,
    caught_up,
    feed_item,
    in_groups,
    is_fed,
    is_friend,
    is_in_feeds,
    log_invalid,
    spread_for,
)
from singletable_systems.smart_cooking.rules.notifications import (
    News,
    of_approval,
    of_comment,
    of_comment_reaction,
    of_friendship,
    of_rating,
    of_reaction,
)

_MILLISECOND: Final = timedelta(milliseconds=1)
_ROWS_AT_ONCE: Final = 100

E = TypeVar("E", bound=Entity)
Told: TypeAlias = Create[Notification] | Delete[Notification]


class SmartCooking(SmartCookingDesign):
    """Recipes from what is at home: ingredients, suggestions, ratings, cooking history, and friends who cook."""

    def __init__(self) -> None:
        self.archive: Archive | None = None

    # --- feeds --------------------------------------------------------

    @on(Post, "is_public")
    def fan_out(self, change: Change[Post]) -> Iterator[Put[FeedItem] | Delete[FeedItem]]:
        """Write a public post into the feeds of all friends, and delete one that is no longer public (SC-22).

        A stream tells of the past, and may tell it twice: so feeds follow the post as it is now.
        """
        if not is_in_feeds(change.entity.created_at, self.now()):
            return
        post = self.post(change.entity.post_id).consistent().maybe()
        if post is not None and post.is_public:
            author = self.user(post.user_id).maybe()
            if author is not None and author.feeds_by == "writing":
                for row in self._friends_of(post.user_id):
                    yield Put(feed_item(row.friend_id, post))
        elif change.old is not None and change.old.is_public:
            for row in self._friends_of(change.old.user_id):
                yield Delete(feed_item(row.friend_id, change.old))

    @on(Friendship, "status", "friend_feeds_by")
    def fill_feed(self, change: Change[Friendship]) -> Iterator[Put[FeedItem] | Delete[FeedItem]]:
        """Bring the last posts of a new friend into the feed; when he is a friend no more, his posts leave it."""
        user_id, friend_id = change.entity.user_id, change.entity.friend_id
        row = self.friendship(user_id, friend_id).maybe()
        if is_fed(row) and not is_fed(change.old):
            newest = self.posts_before(friend_id, self.now() + _MILLISECOND).limit(LOOKED_AT_MAX)
            for post in caught_up(newest.setting_aside(log_invalid).all(), self.now()):
                yield Put(feed_item(user_id, post))
        elif is_friend(change.old) and not is_friend(row):
            for item in self.feed_items_by(user_id, friend_id).consistent().setting_aside(log_invalid).all():
                yield Delete(item)

    @on(UserProfile, "friends_count")
    def choose_spread(self, change: Change[UserProfile]) -> Iterator[Update[UserProfile]]:
        """Change an account with very many friends to fan-out on read, and back when it has fewer."""
        stored = self.user(change.entity.user_id)
        profile = stored.maybe()
        if profile is not None:
            wanted = spread_for(profile.friends_count, profile.feeds_by)
            if wanted != profile.feeds_by:
                yield Update(stored, feeds_by=wanted)

    @on(UserProfile, "feeds_by")
    def tell_spread(self, change: Change[UserProfile]) -> Iterator[Update[Friendship]]:
        """Tell all friends how the posts of an account come to them now."""
        user_id = change.entity.user_id
        profile = None if change.kind != "update" else self.user(user_id).maybe()
        if profile is None:
            return
        for group in in_groups(self._friends_of(user_id), _ROWS_AT_ONCE):
            for row in self.friendships_between([(each.friend_id, user_id) for each in group]).all():
                if is_friend(row) and row.friend_feeds_by != profile.feeds_by:
                    yield Update(row, when=Eq("status", "accepted"), friend_feeds_by=profile.feeds_by)

    @on(Friendship, "status")
    def keep_spread(self, change: Change[Friendship]) -> Iterator[Update[Friendship]]:
        """Correct the row of a friend whose way of fan-out changed while the friend was accepted."""
        user_id, friend_id = change.entity.user_id, change.entity.friend_id
        row = self.friendship(user_id, friend_id).maybe() if is_friend(change.new) else None
        friend = self.user(friend_id).maybe() if is_friend(row) else None
        if row is not None and friend is not None and row.friend_feeds_by != friend.feeds_by:
            yield Update(row, when=Eq("status", "accepted"), friend_feeds_by=friend.feeds_by)

    def _friends_of(self, user_id: UserId) -> Iterable[Friendship]:
        """Return the friends of a user, page by page; an invalid row is logged and left out."""
        return self.friends(user_id).consistent().setting_aside(log_invalid).all()

    # --- notifications ------------------------------------------------

    @on(Comment, "comment_id")
    def tell_of_comment(self, change: Change[Comment]) -> Iterator[Told]:
        entity = change.entity
        comment = self.comment(entity.post_id, entity.created_at, entity.comment_id).maybe()
        post = self.post(entity.post_id).consistent().maybe()
        yield from self._tell(change.old, comment, lambda each: of_comment(each, post))

    @on(Reaction, "reaction_id")
    def tell_of_reaction(self, change: Change[Reaction]) -> Iterator[Told]:
        reaction = self.reaction(change.entity.post_id, change.entity.user_id).maybe()
        post = self.post(change.entity.post_id).consistent().maybe()
        if post is not None:
            yield from self._tell(change.old, reaction, lambda each: of_reaction(each, post))

    @on(CommentReaction, "reaction_id")
    def tell_of_comment_reaction(self, change: Change[CommentReaction]) -> Iterator[Told]:
        entity = change.entity
        reaction = self.comment_reaction(entity.post_id, entity.comment_id, entity.user_id).maybe()
        yield from self._tell(change.old, reaction, of_comment_reaction)

    @on(Friendship, "friendship_id", "status")
    def tell_of_friendship(self, change: Change[Friendship]) -> Iterator[Told]:
        row = self.friendship(change.entity.user_id, change.entity.friend_id).maybe()
        yield from self._tell(change.old, row, of_friendship)

    @on(RecipeRating, "rating_id")
    def tell_of_rating(self, change: Change[RecipeRating]) -> Iterator[Told]:
        rating = self.rating(change.entity.recipe_id, change.entity.user_id).maybe()
        recipe = self.recipe(change.entity.recipe_id).consistent().maybe()
        if recipe is not None:
            yield from self._tell(change.old, rating, lambda each: of_rating(each, recipe))

    @on(Recipe, "is_approved", "approved_at")
    def tell_of_approval(self, change: Change[Recipe]) -> Iterator[Told]:
        recipe = self.recipe(change.entity.recipe_id).consistent().maybe()
        yield from self._tell(change.old, recipe, of_approval)

    def _tell(self, old: E | None, now: E | None, news_of: Callable[[E], Iterable[News]]) -> Iterator[Told]:
        """Create the notifications that follow from the item now, and delete those that no longer do.

        One that is there already stays as it is: it may have been read.
        """
        was, is_so = (
            {} if each is None else {news.name: news for news in news_of(each) if news.is_told(self.now())}
            for each in (old, now)
        )
        for name in was.keys() - is_so.keys():
            yield Delete(self.notification(*name))
        for name, news in is_so.items():
            if self.notification(*name).maybe() is None:
                sights = self.sights(news.people, viewer=news.to)
                if all(sight.user is not None for sight in sights.values()):
                    by = None if news.by is None else sights[news.by].visible
                    yield Create(news.notification(None if by is None else by.full_name))

    # --- activity of posts ----------------------------------------------

    @on(Post, "post_id", writes=(MonthlyActivity,))
    def count_post(self, change: Change[Post]) -> Iterator[Once]:
        yield from made("posts", change)

    @on(Comment, "comment_id", writes=(MonthlyActivity,))
    def count_comment(self, change: Change[Comment]) -> Iterator[Once]:
        yield from made("comments", change)

    @on(Reaction, "reaction_id", writes=(MonthlyActivity,))
    def count_reaction(self, change: Change[Reaction]) -> Iterator[Once]:
        yield from made("reactions", change)

    @on(CommentReaction, "reaction_id", writes=(MonthlyActivity,))
    def count_comment_reaction(self, change: Change[CommentReaction]) -> Iterator[Once]:
        yield from made("reactions", change)

    @on(Recipe, "recipe_id", writes=(MonthlyActivity,))
    def count_recipe(self, change: Change[Recipe]) -> Iterator[Once]:
        yield from made("recipes", change)

    @on(RecipeRating, "rating_id", writes=(MonthlyActivity,))
    def count_rating(self, change: Change[RecipeRating]) -> Iterator[Once]:
        yield from made("ratings", change)

    @on(CookingHistory, "status", writes=(MonthlyActivity,))
    def count_cooking(self, change: Change[CookingHistory]) -> Iterator[Once]:
        yield from cooked(change)

    # --- accounts -------------------------------------------------------

    @on(
        UserProfile,
        "user_id",
        writes=(
            Recipe,
            RecipeRating,
            Post,
            Comment,
            Reaction,
            CommentReaction,
            Session,
            InvalidIngredientReport,
        ),
    )
    def finish_deletion(self, change: Change[UserProfile]) -> None:
        """Delete the remaining items of a deleted user: the indexes may show more of them by now."""
        user = self.user(change.entity.user_id)
        if change.kind == "delete" and user.maybe() is None:
            self.delete(user)

    # --- recipes and cooking history ---------------------------------------------------------------

    @on(Recipe, "average_rating", "rating_count")
    def approve_rated(self, change: Change[Recipe]) -> Iterator[Update[Recipe]]:
        """Approve a recipe that has earned it, where the process that stored the last rating died before that."""
        if change.new is None or not earns_approval(change.new):
            return
        recipe = self.recipe(change.new.recipe_id).consistent().maybe()
        if recipe is not None and earns_approval(recipe):
            yield Update(recipe, **approved_by_ratings(change.at))

    @on(CookingHistory, sends=("s3",))
    def archive_history(self, change: Change[CookingHistory]) -> None:
        """Archive history that has expired (SC-29). Without an archive it fails: nothing else has a copy."""
        if change.is_expired:
            if self.archive is None:
                raise ArchiveMissingError(change.entity.history_id)
            self.archive.store(change.entity)
