"""The design of PerfectIt: its entities, its access patterns, and how much there is of each."""

from __future__ import annotations

from singletable import Design, Volume
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
from singletable_systems.perfectit.model.keys import PerfectItTable
from singletable_systems.perfectit.model.loads import LOADS, USERS
from singletable_systems.perfectit.model.patterns import (
    CardPatterns,
    CollectionPatterns,
    ListPatterns,
    PeoplePatterns,
)
from singletable_systems.shared.model import rates_of


class PerfectItDesign(PeoplePatterns, CardPatterns, CollectionPatterns, ListPatterns, Design):
    """Cards that say how to do things perfectly, with comments, votes, collections and categories.

    `PerfectIt` adds the handlers.
    """

    table = PerfectItTable
    entities = (
        User,
        PerfectionCard,
        CardStats,
        CardScore,
        SearchToken,
        Comment,
        Vote,
        Collection,
        CardInCollection,
        Category,
        Notification,
        DailyAnalytics,
    )
    # The document has none (PI-28).
    volumes = {
        entity: Volume(count, kb, per="user", because="assumption: the document has none (PI-28)")
        for entity, count, kb in (
            (User, 1, 0.4),
            (PerfectionCard, 4, 4),
            (CardStats, 4, 0.2),
            (CardScore, 10, 0.2),
            (SearchToken, 40, 0.15),
            (Comment, 12, 0.5),
            (Vote, 40, 0.3),
            (Collection, 1, 0.3),
            (CardInCollection, 8, 0.2),
            (Notification, 30, 0.3),
        )
    } | {
        Category: Volume(100, 0.4, because="assumption: a tree of 100 categories"),
        DailyAnalytics: Volume(365, 0.2, growth_per_month=30, because="one item a day, of a year"),
    }
    for_users = USERS
    loads = LOADS
    rates = rates_of(LOADS, USERS)
