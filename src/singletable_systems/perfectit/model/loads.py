"""How often PerfectIt is asked and written. The document has no figures (PI-28): all of this is assumed.

There are 10,000 users, each of whom reads for a quarter of an hour a day: some 17 cards. One reader in ten votes,
one in forty comments, and one in two hundred writes a card.
"""

from __future__ import annotations

from typing import Final

from singletable import Writes
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    DailyAnalytics,
    Notification,
    PerfectionCard,
    SearchToken,
    User,
    Vote,
)
from singletable_systems.shared.model import Estimate, Loads, worker

USERS: Final = 10_000
_OF: Final = Estimate(USERS)
_READING: Final = "assumption: a user reads 17 cards a day"
_LISTS: Final = "assumption: a user looks at 5 lists a day"
_WRITING: Final = "assumption: of 520 cards that a user reads in a month, 52 get a vote and 13 a comment"
_CARDS: Final = "assumption: a user writes 2.6 cards a month, and edits each three times"
_PEOPLE: Final = "assumption: a user looks at a profile every second day"
_COLLECTIONS: Final = "assumption: a user opens a collection every third day, and puts 8 cards in one a month"
_NOTES: Final = (
    "assumption: a user looks for news once a day, and votes, comments and collecting make 30 a month"
)
_PAGE: Final = "a page of 20"
_CHUNK: Final = "a search reads 50 at once"
_BRANCH: Final = "ten categories in a branch"
_ADMIN: Final = "assumption: somebody keeps the tree of categories, a few times a week"

# In a month of a user.
LOADS: Final[Loads] = {
    **_OF.each_per_user(_READING, card_view=520, card=60, cards=(40, 20, _PAGE), stats=75, comments=130),
    **_OF.each_per_user(_LISTS, cards_by_category=(40, 20, _PAGE), cards_by_author=15, own_cards=10),
    **_OF.each_per_user(_LISTS, recent=(15, 20, _PAGE)),
    "trending": _OF.per_user(40, f"{_LISTS}; 001:60 limit 20", hottest=1.0, items=20),
    "top_voted": _OF.per_user(20, f"{_LISTS}; {_PAGE}", hottest=1.0, items=20),
    "controversial": _OF.per_user(5, f"{_LISTS}; {_PAGE}", hottest=1.0, items=20),
    "ranking": _OF.per_user(5, f"{_LISTS}; {_PAGE}", hottest=1.0, items=20),
    **_OF.each_per_user(_LISTS, cards_with_word=(15, 20, _PAGE), cards_of_word=(20, 50, _CHUNK)),
    **_OF.each_per_user(_LISTS, root_categories=(20, 10, _BRANCH), categories_below=(20, 10, _BRANCH)),
    **_OF.each_per_user(_WRITING, vote=105, voters=(5, 20, _PAGE), votes_by=(5, 20, _PAGE), comment=60),
    **_OF.each_per_user(_WRITING, comments_by=3),
    **_OF.each_per_user(_COLLECTIONS, collections=10, own_collection=10, collection_cards=10),
    **_OF.each_per_user(_COLLECTIONS, collection_links=2, collection_link=9, collection=8),
    **_OF.each_per_user(_COLLECTIONS, collections_with=(5, 2, "80,000 links go to 40,000 cards")),
    **_OF.each_per_user(_CARDS, category=12),
    **_OF.each_per_user(_PEOPLE, user=90, user_by_username=15, user_named=0.1),
    **_OF.each_per_user(
        _NOTES, notifications=(30, 20, _PAGE), unread=(30, 5, "of 30, five of six are read"), notification=60
    ),
    "analytics": worker(30, "assumption: somebody looks at the figures of each day once"),
    User: Writes(
        create=_OF.per_user(0.03, "assumption: 3 % of the users are new in a month"),
        update=_OF.per_user(
            0.1,
            "assumption: a tenth of the users change their profile in a month, of whom few their username",
            changes={"username": 0.05, "display_name": 0.2, "bio": 0.5, "avatar_url": 0.3},
        ),
        delete=_OF.per_user(0.01, "assumption: 1 % of the users leave in a month"),
    ),
    PerfectionCard: Writes(
        create=_OF.per_user(2.592, _CARDS),
        update=_OF.per_user(
            7.776,
            f"{_CARDS}, of which one publishes it",
            fails=0.01,
            changes={"status": 0.26, "published_at": 0.26, "category": 0.02, "title": 0.1},
        ),
        delete=_OF.per_user(0.1, "assumption: one published card in twenty is deleted"),
        expire=_OF.per_user(0.5, "assumption: a fifth of the cards are drafts that nobody publishes (PI-22)"),
    ),
    CardStats: Writes(
        create=_OF.per_user(2, "assumption: four of five cards are published"),
        update=_OF.per_user(518.4, f"{_READING}: each is a view (PI-14)", hottest=0.01, changes={"views": 1}),
        delete=_OF.per_user(0.1, "assumption: one published card in twenty is deleted"),
    ),
    CardScore: Writes(
        create=_OF.per_user(5, "follows from a published card: 2.5 lists on average"),
        update=_OF.per_user(
            100, "follows from votes: two lists move with each", hottest=1.0, changes={"score": 1}
        ),
        delete=_OF.per_user(0.3, "follows from a card that is deleted or archived"),
    ),
    SearchToken: Writes(
        create=_OF.per_user(20, "follows from a published card: 10 words"),
        delete=_OF.per_user(3, "follows from a card that is deleted, or has another title"),
    ),
    Comment: Writes(
        create=_OF.per_user(12.96, _WRITING),
        update=_OF.per_user(
            14,
            "assumption: votes for comments, which are counted in them, and edits",
            changes={"up_votes": 0.7, "down_votes": 0.23, "text": 0.07},
        ),
        delete=_OF.per_user(0.5, "assumption: one comment in 25 is deleted"),
    ),
    Vote: Writes(
        create=_OF.per_user(51.84, _WRITING, fails=0.01),
        update=_OF.per_user(
            5.184, "assumption: one vote in ten is changed", fails=0.01, changes={"value": 1}
        ),
        delete=_OF.per_user(2.592, "assumption: one vote in twenty is undone"),
    ),
    Collection: Writes(
        create=_OF.per_user(0.1, "assumption: a user has one collection (volumes), made over ten months"),
        update=_OF.per_user(
            9, "each card that is added or removed is counted in it", changes={"cards_count": 1}
        ),
        delete=_OF.per_user(0.01, "assumption: one collection in ten is deleted"),
    ),
    CardInCollection: Writes(
        create=_OF.per_user(8, _COLLECTIONS),
        delete=_OF.per_user(1, "assumption: one link in eight is removed"),
    ),
    Category: Writes(
        create=worker(2, _ADMIN),
        update=_OF.per_user(
            3,
            "each card that is published, moved or deleted is counted in its category; branches seldom move",
            changes={"cards_count": 1, "parent_id": 0.0001, "sort_order": 0.0001},
        ),
        delete=worker(1, _ADMIN),
    ),
    Notification: Writes(
        create=_OF.per_user(30, _NOTES),
        update=_OF.per_user(25, "assumption: five of six notifications are read", changes={"is_read": 1}),
        expire=_OF.per_user(30, "001:107 TTL on old notifications: each expires"),
    ),
    DailyAnalytics: Writes(
        create=worker(30, "one item a day"),
        update=_OF.per_user(82, "each new user, card, comment, vote and link is counted once", hottest=1.0),
    ),
}
