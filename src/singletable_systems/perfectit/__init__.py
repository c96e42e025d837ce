"""PerfectIt: the data layer of an app where people share how to do things perfectly.

    from singletable_systems.perfectit import PerfectIt, UserId, Voting

    with PerfectIt.open("perfectit.db") as db:
        db.top_voted().page(20)

model       the typed design: every key, attribute, index and access pattern of the document; scores and words
rules       pure decisions: who is notified, what is counted
services    what users do, and how cards are found by words
reactions   what follows from changes, and `PerfectIt` itself: the design with its handlers; search indexes
operating   the system as the command line runs it: its stream, made-up data, migrations, roles and alarms
errors      what is refused
"""

from __future__ import annotations

from singletable_systems.perfectit.errors import PerfectItError
from singletable_systems.perfectit.model.entities import (
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
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)
from singletable_systems.perfectit.model.patterns import CardView
from singletable_systems.perfectit.operating.stream import event_source, stream_function, workers
from singletable_systems.perfectit.reactions.fts5 import Fts5Index
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.opensearch import OpenSearchIndex
from singletable_systems.perfectit.reactions.search import (
    Hit,
    SearchDocument,
    SearchIndex,
    SearchUnavailableError,
)
from singletable_systems.perfectit.reactions.updates import LocalUpdates, Missed, Subscription, Updates
from singletable_systems.perfectit.services.accounts import Accounts
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.categories import Branch, Categories
from singletable_systems.perfectit.services.collections import Collecting
from singletable_systems.perfectit.services.comments import Commenting
from singletable_systems.perfectit.services.notifications import Notifications
from singletable_systems.perfectit.services.search import Finding
from singletable_systems.perfectit.services.search_index import IndexFiller
from singletable_systems.perfectit.services.votes import Voting

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
