"""The design of Smart Cooking: its entities, its access patterns, how much there is of each; what follows from
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, TypeVar

from singletable import (
    Change,
    Composed,
    Create,
    Delete,
    Design,
    Entity,
    Eq,
    Once,
    Put,
    Rate,
    Update,
    Volume,
    on,
    pattern,
)
from singletable_systems.smart_cooking.activity import cooked, made
from singletable_systems.smart_cooking.approving import approved_by_ratings, earns_approval
from singletable_systems.smart_cooking.archiving import Archive
from singletable_systems.smart_cooking.entities import (
    AiSuggestion,
    ApprovedFacet,
    Comment,
    CommentReaction,
    CookingHistory,
    CuisineFacet,
    FeedItem,
    Friendship,
    IngredientAlias,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    MealTypeFacet,
    MonthlyActivity,
    Notification,
    Post,
    PrivacySettings,
    Reaction,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    RecipeUse,
    Session,
    SuggestionCache,
    TrendingRecipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.errors import ArchiveMissingError
from singletable_systems.smart_cooking.fanning_out import (
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
from singletable_systems.smart_cooking.keys import CookingTable, FeedPK, MetadataSK, PostPK, UserId
from singletable_systems.smart_cooking.notifying import (
    News,
    of_approval,
    of_comment,
    of_comment_reaction,
    of_friendship,
    of_rating,
    of_reaction,
)
from singletable_systems.smart_cooking.patterns import (
    CookingPatterns,
    IngredientPatterns,
    PeoplePatterns,
    RecipePatterns,
    SocialPatterns,
)
from singletable_systems.smart_cooking.personal_feed import feed_page
from singletable_systems.smart_cooking.sights import Sights

_DAY_S = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_ROWS_AT_ONCE = 100

E = TypeVar("E", bound=Entity)
Told: TypeAlias = Create[Notification] | Delete[Notification]


class SmartCooking(
    Sights, PeoplePatterns, IngredientPatterns, RecipePatterns, CookingPatterns, SocialPatterns, Design
):
    """Recipes from what is at home: ingredients, suggestions, ratings, cooking history, and friends who cook."""

    table = CookingTable
    entities = (
        UserProfile,
        UserPreferences,
        PrivacySettings,
        Session,
        UserIngredient,
        MasterIngredient,
        IngredientAlias,
        InvalidIngredientReport,
        InvalidIngredient,
        Recipe,
        RecipeIngredient,
        RecipeRating,
        CuisineFacet,
        MealTypeFacet,
        ApprovedFacet,
        RecipeUse,
        TrendingRecipe,
        CookingHistory,
        AiSuggestion,
        SuggestionCache,
        MonthlyActivity,
        Friendship,
        Post,
        Comment,
        Reaction,
        CommentReaction,
        FeedItem,
        Notification,
    )
    casing = "snake"
    discriminator = "entity_type"
    # For each user.
    volumes = {
        UserProfile: Volume(1, 0.5),
        UserPreferences: Volume(1, 0.4),
        PrivacySettings: Volume(1, 0.4),
        UserIngredient: Volume(20, 0.2),
        Recipe: Volume(6, 2),
        RecipeIngredient: Volume(50, 0.2),
        RecipeRating: Volume(5, 0.4),
        CookingHistory: Volume(10, 0.5),
        AiSuggestion: Volume(30, 1.5),
        Friendship: Volume(10, 0.3),
        Post: Volume(6, 0.5),
        Comment: Volume(15, 0.4),
        Reaction: Volume(30, 0.3),
        FeedItem: Volume(60, 0.2),
        Notification: Volume(30, 0.4),
    }
    # SC-45, X-14: what 002:538-567 counts in a day, as a second.
    rates = {
        UserProfile: Rate(updates=(100 + 500) / _DAY_S),  # SC-46: signing in is a write too
        UserIngredient: Rate(creates=100 / _DAY_S, deletes=100 / _DAY_S),
        AiSuggestion: Rate(creates=1_000 / _DAY_S),
        Recipe: Rate(creates=200 / _DAY_S),
        CookingHistory: Rate(creates=150 / _DAY_S, updates=150 / _DAY_S),
        RecipeRating: Rate(creates=150 / _DAY_S),
        Post: Rate(creates=200 / _DAY_S),
        Comment: Rate(creates=500 / _DAY_S),
        Reaction: Rate(creates=1_000 / _DAY_S),
    }

    def __init__(self) -> None:
        self.archive: Archive | None = None

    # --- the pattern that takes several of the others ----------------------------------------------

    @pattern("32 Personal feed, newest first", documented="GSI3PK=FEED#<user_id>", fixes="SC-22")
    def feed(self, user_id: UserId) -> Composed[Post]:
        """What friends have posted in the last 30 days, as the user may see it: what `Feeds.personal` shows."""
        items = FeedItem.feed.query(FeedPK(user_id=user_id)).newest_first()
        posts = items.follow(Post.key, lambda item: (PostPK(post_id=item.post_id), MetadataSK()))
        return Composed(
            Post,
            lambda limit, cursor: feed_page(self, user_id, self.now(), limit, cursor),
            reads=(
                posts.where(Eq("is_public", True)).consistent(),
                self.pulled_friends(user_id),
                self.public_posts_between(user_id, _EPOCH, _EPOCH),
                self.users([user_id]).consistent(),
                self.privacy_of([user_id]),
                self.friendships_between([(user_id, user_id)]),
            ),
        )

    # --- what follows from changes: feeds --------------------------------------------------------

    @on(Post, "is_public")
    def fan_out(self, change: Change[Post]) -> Iterator[Put[FeedItem] | Delete[FeedItem]]:
        """Write a public post into the feeds of all friends, and take one away that is public no more (SC-22).

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
        """Let an account with very many friends go over to be read, and back when they are fewer."""
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
        """Catch up with a friend who went over just while he was accepted."""
        user_id, friend_id = change.entity.user_id, change.entity.friend_id
        row = self.friendship(user_id, friend_id).maybe() if is_friend(change.new) else None
        friend = self.user(friend_id).maybe() if is_friend(row) else None
        if row is not None and friend is not None and row.friend_feeds_by != friend.feeds_by:
            yield Update(row, when=Eq("status", "accepted"), friend_feeds_by=friend.feeds_by)

    def _friends_of(self, user_id: UserId) -> Iterable[Friendship]:
        """Return the friends of a user, page by page; a row that is none does not stop what is done for others."""
        return self.friends(user_id).consistent().setting_aside(log_invalid).all()

    # --- what follows from changes: notifications ------------------------------------------------

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
        """Make the notifications of what is so now, and take away those of what was so before the change.

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

    # --- what follows from changes: activity of posts ----------------------------------------------

    @on(Post, "post_id")
    def count_post(self, change: Change[Post]) -> Iterator[Once]:
        yield from made("posts", change)

    @on(Comment, "comment_id")
    def count_comment(self, change: Change[Comment]) -> Iterator[Once]:
        yield from made("comments", change)

    @on(Reaction, "reaction_id")
    def count_reaction(self, change: Change[Reaction]) -> Iterator[Once]:
        yield from made("reactions", change)

    @on(CommentReaction, "reaction_id")
    def count_comment_reaction(self, change: Change[CommentReaction]) -> Iterator[Once]:
        yield from made("reactions", change)

    @on(Recipe, "recipe_id")
    def count_recipe(self, change: Change[Recipe]) -> Iterator[Once]:
        yield from made("recipes", change)

    @on(RecipeRating, "rating_id")
    def count_rating(self, change: Change[RecipeRating]) -> Iterator[Once]:
        yield from made("ratings", change)

    @on(CookingHistory, "status")
    def count_cooking(self, change: Change[CookingHistory]) -> Iterator[Once]:
        yield from cooked(change)

    # --- what follows from changes: accounts -------------------------------------------------------

    @on(UserProfile, "user_id")
    def finish_deletion(self, change: Change[UserProfile]) -> None:
        """Look again for what a deleted user has left: an index may have shown it a moment too late."""
        user = self.user(change.entity.user_id)
        if change.kind == "delete" and user.maybe() is None:
            self.delete(user)

    # --- recipes and cooking history ---------------------------------------------------------------

    @on(Recipe, "average_rating", "rating_count")
    def approve_rated(self, change: Change[Recipe]) -> Iterator[Update[Recipe]]:
        """Approve what has earned it, where whoever gave the last rating did not come to that."""
        if change.new is None or not earns_approval(change.new):
            return
        recipe = self.recipe(change.new.recipe_id).consistent().maybe()
        if recipe is not None and earns_approval(recipe):
            yield Update(recipe, **approved_by_ratings(change.at))

    @on(CookingHistory)
    def archive_history(self, change: Change[CookingHistory]) -> None:
        """Keep what has expired (SC-29). Without an archive it is not passed over: nobody else has it."""
        if change.is_expired:
            if self.archive is None:
                raise ArchiveMissingError(change.entity.history_id)
            self.archive.store(change.entity)
