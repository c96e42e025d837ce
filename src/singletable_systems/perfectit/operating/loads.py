"""PerfectIt's services: the patterns that each asks, the entities that it writes, and how often it is called.

The document has no figures (PI-28): calls of each of 10,000 users in a month are assumed, as in `model.loads`.
"""

from __future__ import annotations

from typing import Final

from singletable.systems import Service
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    Notification,
    PerfectionCard,
    SearchToken,
    User,
    Vote,
)
from singletable_systems.perfectit.model.loads import USERS
from singletable_systems.perfectit.services.accounts import Accounts
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.categories import Categories
from singletable_systems.perfectit.services.collections import Collecting
from singletable_systems.perfectit.services.comments import Commenting
from singletable_systems.perfectit.services.notifications import Notifications
from singletable_systems.perfectit.services.search import Finding
from singletable_systems.perfectit.services.search_index import IndexFiller
from singletable_systems.perfectit.services.votes import Voting
from singletable_systems.shared.model import Estimate, services, worker

_CARD: Final = (PerfectionCard, CardStats, CardScore, SearchToken, Comment, CardInCollection, Vote, Category)
_OF_CARD: Final = "card stats comments voters vote comment"
_VOTE: Final = (Vote, CardStats, Comment)

SERVICES: Final[tuple[Service, ...]] = (
    *services(
        Estimate(USERS).per_user,
        (0.03, "assumption: 3 % of the users are new in a month", Accounts.sign_up, "user", (User,), "+User"),
        (
            0.01,
            "assumption: names seldom change",
            Accounts.change_username,
            "user",
            (User,),
            "~User(username)",
        ),
        (
            0.09,
            "assumption: a tenth change their profile",
            Accounts.describe,
            "user",
            (User,),
            "~User(avatar_url,bio,display_name)",
        ),
        (0.01, "assumption: who leaves asks first what goes", Accounts.deletion_plan, "user", (), "%User"),
        (
            0.01,
            "assumption: 1 % of the users leave in a month",
            Accounts.delete_all_data,
            f"user own_cards comments_by {_OF_CARD}",
            (User, Collection, Notification, *_CARD),
            (
                "own_cards ~CardStats(is_listed)*PerfectionCard/User comments!*PerfectionCard/User "
                "voters*0-100~38 -PerfectionCard*PerfectionCard/User %PerfectionCard*PerfectionCard/User "
                "-Vote*0-200~42 %Vote*0-200~42 -Comment*0-60~14 %Comment*0-60~14 comments_by -User %User"
            ),
        ),
        (
            2.592,
            "assumption: 2.6 cards a month",
            Publishing.draft,
            "user category",
            (PerfectionCard,),
            "[ ?User ?Category +PerfectionCard ]",
        ),
        (
            5,
            "assumption: two edits of a card",
            Publishing.edit,
            "card category",
            (PerfectionCard, SearchToken),
            "card! [ ~PerfectionCard ?Category*0-1 ]",
        ),
        (
            2,
            "assumption: four of five cards are published",
            Publishing.publish,
            "card stats category",
            (PerfectionCard, CardStats, CardScore, SearchToken, Category),
            "card! stats [ ~PerfectionCard(published_at,status) +CardStats ?Category ]",
        ),
        (
            0.2,
            "assumption: one published card in ten is archived",
            Publishing.archive,
            "card stats",
            (PerfectionCard, CardStats, CardScore, SearchToken, Category),
            "card! stats [ ~PerfectionCard(status) ~CardStats(is_listed) ]",
        ),
        (
            0.1,
            "assumption: one published card in twenty is deleted",
            Publishing.delete,
            _OF_CARD,
            _CARD,
            (
                "card! ~CardStats(is_listed) comments! voters*1-20~6 -Vote*0-60~11 %Vote*0-60~11 "
                "-Comment*Comment/PerfectionCard %Comment*Comment/PerfectionCard -PerfectionCard "
                "%PerfectionCard"
            ),
        ),
        (20, "assumption: authors look at drafts of theirs", Publishing.read, "card", (), "card"),
        (
            518.4,
            "assumption: 17 cards a day are viewed",
            Publishing.viewed,
            "stats",
            (CardStats,),
            "~CardStats(views)",
        ),
        (
            20,
            "assumption: two looks at it in three days",
            Categories.tree,
            "root_categories categories_below",
            (),
            "root_categories categories_below*1-20~8",
        ),
        (
            10,
            "assumption: one path for a third of the days",
            Categories.path,
            "category",
            (),
            "category!*1-5~2",
        ),
        (
            12.96,
            "assumption: 13 comments a month",
            Commenting.comment,
            "stats user",
            (Comment, CardStats),
            "stats [ +Comment ?CardStats ?User ]",
        ),
        (
            1,
            "assumption: one comment in 13 is edited",
            Commenting.edit,
            "comment",
            (Comment,),
            "comment ~Comment(text)",
        ),
        (
            0.5,
            "assumption: one comment in 25 is deleted",
            Commenting.delete,
            "comment voters vote",
            (Comment, CardStats, Vote),
            "comment voters*1-2 -Vote*Vote/Comment %Vote*Vote/Comment -Comment %Comment",
        ),
        (
            44,
            "assumption: of 57 votes a month, new or changed, 44 are for cards",
            Voting.vote,
            "vote stats user",
            _VOTE,
            "vote stats*0-1 [ +Vote*0-1 ~Vote(value)*0-1 ?CardStats*0-1 ?User*0-1 ]",
        ),
        (
            13,
            "assumption: one vote in five is for a comment",
            Voting.vote_on_comment,
            "vote stats comment user",
            _VOTE,
            "vote comment [ +Vote*0-1 ~Vote(value)*0-1 ?CardStats*0-1 ?User*0-1 ]",
        ),
        (2.592, "assumption: one vote in twenty is undone", Voting.undo, "vote", _VOTE, "vote [ -Vote ]"),
        (
            0.1,
            "assumption: one collection of a user",
            Collecting.create,
            "user",
            (Collection,),
            "[ ?User +Collection ]",
        ),
        (
            0.1,
            "assumption: its name changes once",
            Collecting.describe,
            "own_collection",
            (Collection,),
            "~Collection(description,is_public,name)",
        ),
        (
            8,
            "assumption: 8 cards a month are collected",
            Collecting.add,
            "card stats own_collection collection_link",
            (CardInCollection, Collection),
            "collection_link stats [ +CardInCollection ?Collection ?PerfectionCard ]",
        ),
        (
            1,
            "assumption: one card in eight is removed",
            Collecting.remove,
            "collection_link own_collection",
            (CardInCollection, Collection),
            "own_collection -CardInCollection",
        ),
        (
            0.01,
            "assumption: one collection in ten is deleted",
            Collecting.delete,
            "own_collection",
            (Collection, CardInCollection),
            "own_collection -Collection %Collection",
        ),
        (8, "assumption: 8 collections of others a month", Collecting.read, "collection", (), "collection"),
        (
            10,
            "assumption: own collections, every third day",
            Collecting.of_user,
            "collections",
            (),
            "collections",
        ),
        (
            10,
            "assumption: a search every third day",
            Finding.search,
            "cards cards_of_word",
            (),
            "cards_of_word:50*1-5~1 cards*0-50~10",
        ),
        (
            5,
            "assumption: one in six is read by itself",
            Notifications.read,
            "notification",
            (Notification,),
            "~Notification(is_read)",
        ),
        (
            10,
            "assumption: the others are marked together",
            Notifications.read_all,
            "unread notification",
            (Notification,),
            "unread:100 ~Notification(is_read)*Notification/User",
        ),
    ),
    *services(
        worker,
        (
            2,
            "assumption: a new branch twice a month",
            Categories.add,
            "category",
            (Category,),
            "category! [ +Category ?Category ]",
        ),
        (
            1,
            "assumption: a branch moves once a month",
            Categories.move,
            "category categories_below",
            (Category,),
            "category!*1-5 categories_below [ ~Category(parent_id) ?Category ]",
        ),
        (
            4,
            "assumption: a name changes once a week",
            Categories.describe,
            "category",
            (Category,),
            "~Category(description,name,sort_order)",
        ),
        (
            1,
            "assumption: a branch goes once a month",
            Categories.remove,
            "category",
            (Category,),
            "category! -Category",
        ),
        (
            1,
            "assumption: a search index is filled anew once a month",
            (IndexFiller.run, IndexFiller.step),
            "recent",
            (),
            "recent*60",
        ),
    ),
)
