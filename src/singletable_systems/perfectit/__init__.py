"""PerfectIt: the data layer of an app where people share how to do things perfectly.

    from singletable_systems.perfectit import PerfectIt, UserId, Voting

    with PerfectIt.open("perfectit.db") as db:
        db.top_voted().page(20)

keys, entities, patterns, design
                             the typed design: every key, attribute, index and access pattern of the document
scoring, tokens              the formulas behind the lists, and the words that cards are found by
publishing, voting, ...      what users do, as small services over it; errors, what they refuse
searching, fts5, opensearch  the search index behind a small seam; finding, how cards are found by words
consuming                    what runs over the stream; notifying, counting, indexing and updates, what it does
operations                   who may do what, and what is watched
seeding, system              made-up data; the system as the command line runs it
"""

from __future__ import annotations

from singletable_systems.perfectit.accounts import Accounts
from singletable_systems.perfectit.categories import Branch, Categories
from singletable_systems.perfectit.collecting import Collecting
from singletable_systems.perfectit.commenting import Commenting
from singletable_systems.perfectit.consuming import event_source, stream_function, workers
from singletable_systems.perfectit.design import PerfectIt
from singletable_systems.perfectit.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    DailyAnalytics,
    Instruction,
    Notification,
    PerfectionCard,
    SearchToken,
    User,
    Vote,
)
from singletable_systems.perfectit.errors import PerfectItError
from singletable_systems.perfectit.finding import Finding
from singletable_systems.perfectit.fts5 import Fts5Index
from singletable_systems.perfectit.indexing import IndexFiller
from singletable_systems.perfectit.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)
from singletable_systems.perfectit.notifications import Notifications
from singletable_systems.perfectit.opensearch import OpenSearchIndex
from singletable_systems.perfectit.patterns import CardView
from singletable_systems.perfectit.publishing import Publishing
from singletable_systems.perfectit.searching import (
    Hit,
    SearchDocument,
    SearchIndex,
    SearchUnavailableError,
)
from singletable_systems.perfectit.updates import LocalUpdates, Missed, Subscription, Updates
from singletable_systems.perfectit.voting import Voting

__all__ = [
    "Accounts",
    "Branch",
    "CardId",
    "CardInCollection",
    "CardScore",
    "CardStats",
    "CardView",
    "Categories",
    "Category",
    "CategoryId",
    "Collecting",
    "Collection",
    "CollectionId",
    "Comment",
    "CommentId",
    "Commenting",
    "DailyAnalytics",
    "Finding",
    "Fts5Index",
    "Hit",
    "IndexFiller",
    "Instruction",
    "LocalUpdates",
    "Missed",
    "Notification",
    "NotificationId",
    "Notifications",
    "OpenSearchIndex",
    "PerfectIt",
    "PerfectItError",
    "PerfectionCard",
    "Publishing",
    "SearchDocument",
    "SearchIndex",
    "SearchToken",
    "SearchUnavailableError",
    "Subscription",
    "Updates",
    "User",
    "UserId",
    "Vote",
    "Voting",
    "event_source",
    "stream_function",
    "workers",
]
