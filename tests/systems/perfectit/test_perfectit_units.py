"""The requests that each access pattern of PerfectIt sends for a page of ten, and what they cost in units.

The table has items of sizes that can be reckoned with: cards of 4,000 bytes, so of one block of 4 KB each,
comments of 1,000 bytes, and small ones. What others have in it changes neither requests nor units.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from singletable import Add
from singletable.clock import ManualClock
from singletable_systems.perfectit.model.entities import (
    CardStats,
    Vote,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    UserId,
)
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from support.design_clients import Between, on_client
from support.targets import TARGETS, opened
from systems.pattern_proof import shown
from systems.perfectit_countable import NOW, table_of

PAGE = 10


@contextmanager
def opened_table(target: str, people: int) -> Iterator[PerfectIt]:
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock) as client:
        db = on_client(PerfectIt, Between(client), environment="test")
        db.load(table_of(people), settled=True)
        yield db


@pytest.fixture(scope="module", params=TARGETS)
def alone(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    with opened_table(request.param, 1) as db:
        yield db


@pytest.fixture(scope="module")
def crowded() -> Iterator[PerfectIt]:
    with opened_table("embedded", 12) as db:
        yield db


# --- reading ------------------------------------------------------------------------------------------------

LAST = "2040-03-01T12:00:00.000Z"
FIRST = [f"p0-c{number:02}" for number in range(PAGE)]


def batch(card_ids: list[str]) -> str:
    return ", ".join(["BatchGetItem", *(f"CARD#{card_id} METADATA" for card_id in card_ids)])


def ranked(kind: str) -> str:
    return f"Query, GSI5, GSI5PK = VOTETYPE#{kind} AND begins_with(GSI5SK, SCORE#), backward, limit 10"


def below(parent: str) -> str:
    return f"Query, GSI1, GSI1PK = PARENT#{parent} AND begins_with(GSI1SK, SORT#), limit 10"


BY_AUTHOR = "Query, GSI2, GSI2PK = USER#p0 AND begins_with(GSI2SK, CREATED#), filtered, backward, limit 10"
LATEST = "filtered, backward, limit 10"
LINKS = "Query, table, PK = COLLECTION#p0-l00 AND begins_with(SK, CARD#), limit 10"
WITH_WORD = "Query, GSI4, GSI4PK = SEARCH#oak AND begins_with(GSI4SK, CARD#), limit 10"
# Pattern, arguments, all requests of the first page, and the units that are paid for it. Ten cards are ten blocks,
# so five units, in a query as in a batch; ten comments are three blocks; ten of anything else are one.
COSTS: dict[str, tuple[tuple[Any, ...], list[str], float]] = {
    # --- users
    "user": (("p0",), ["GetItem, USER#p0, PROFILE, consistent"], 1.0),
    "user_by_username": (
        ("P0",),
        ["Query, GSI1, GSI1PK = USERNAME#p0 AND GSI1SK = PROFILE, limit 10"],
        0.5,
    ),
    "user_named": (
        ("P0",),
        ["GetItem, USERNAME#p0, UNIQUE, consistent", "GetItem, USER#p0, PROFILE, consistent"],
        2.0,
    ),
    # --- cards
    "cards_by_category": (
        ("p0",),
        ["Query, GSI1, GSI1PK = CAT#p0 AND begins_with(GSI1SK, CREATED#), filtered, backward, limit 10"],
        5.0,
    ),
    "cards_by_author": (("p0",), [BY_AUTHOR], 5.0),
    "own_cards": (("p0",), [BY_AUTHOR], 5.0),
    "card": (("p0-c00",), ["GetItem, CARD#p0-c00, METADATA"], 0.5),
    "card_view": (
        ("p0-c00",),
        ["GetItem, CARD#p0-c00, METADATA", "GetItem, CARD#p0-c00, STATS, consistent"],
        1.5,
    ),
    "stats": (("p0-c00",), ["GetItem, CARD#p0-c00, STATS, consistent"], 1.0),
    "cards": ((FIRST,), [batch(FIRST)], 5.0),
    # --- comments
    "comments": (
        ("p0-c00",),
        ["Query, table, PK = CARD#p0-c00 AND begins_with(SK, COMMENT#), limit 10"],
        1.5,
    ),
    "comment": (
        ("p0-c00", NOW, "p0-k0"),
        [f"GetItem, CARD#p0-c00, COMMENT#{LAST}#p0-k0, consistent"],
        1.0,
    ),
    "comments_by": (
        ("p0",),
        ["Query, GSI1, GSI1PK = USER#p0 AND begins_with(GSI1SK, COMMENT#), backward, limit 10"],
        1.5,
    ),
    # --- collections
    "collections": (
        ("p0",),
        ["Query, table, PK = USER#p0 AND begins_with(SK, COLLECTION#), limit 10"],
        0.5,
    ),
    "own_collection": (("p0", "p0-l00"), ["GetItem, USER#p0, COLLECTION#p0-l00, consistent"], 1.0),
    "collection_cards": (("p0-l00",), [LINKS, batch(FIRST)], 5.5),
    "collection_links": (("p0-l00",), [LINKS], 0.5),
    "collection_link": (
        ("p0-l00", "p0-c00"),
        ["GetItem, COLLECTION#p0-l00, CARD#p0-c00, consistent"],
        1.0,
    ),
    "collection": (
        ("p0-l00",),
        ["Query, GSI1, GSI1PK = COLLECTION#p0-l00 AND GSI1SK = METADATA, limit 10"],
        0.5,
    ),
    "collections_with": (
        ("p0-c00",),
        ["Query, GSI1, GSI1PK = CARD#p0-c00 AND begins_with(GSI1SK, COLLECTION#), limit 10"],
        0.5,
    ),
    # --- votes
    "vote": (("p0-fan0", "p0-c00"), ["GetItem, VOTE#p0-fan0#p0-c00, VOTE, consistent"], 1.0),
    "voters": (
        ("p0-c00",),
        ["Query, GSI1, GSI1PK = TARGET#p0-c00 AND begins_with(GSI1SK, VOTE#), backward, limit 10"],
        0.5,
    ),
    "votes_by": (
        ("p0",),
        ["Query, GSI2, GSI2PK = USER#p0 AND begins_with(GSI2SK, VOTE#), backward, limit 10"],
        0.5,
    ),
    # --- lists of cards
    "trending": ((), [ranked("TRENDING"), batch(FIRST)], 5.5),
    "top_voted": ((), [ranked("CARD"), batch(FIRST)], 5.5),
    "controversial": (
        (),
        [ranked("CONTROVERSIAL"), batch([f"p0-c{number}" for number in range(29, 19, -1)])],
        5.5,
    ),
    "ranking": ((), [ranked("CARD")], 0.5),
    "recent": (
        (NOW,),
        [f"Query, GSI3, GSI3PK = DATE#2040-03-01 AND begins_with(GSI3SK, CREATED#), {LATEST}"],
        5.0,
    ),
    "cards_with_word": (("oak",), [WITH_WORD, batch(FIRST)], 5.5),
    "cards_of_word": (("oak",), [WITH_WORD], 0.5),
    # --- categories
    "categories_below": (("p0.",), [below("p0.")], 0.5),
    "root_categories": ((), [below("ROOT")], 0.5),
    "category": (("p0-0",), ["GetItem, CAT#p0-0, METADATA"], 0.5),
    # --- analytics and notifications
    "analytics": (("2040-03-01",), ["GetItem, ANALYTICS#2040-03-01, TOTALS"], 0.5),
    "notifications": (
        ("p0",),
        ["Query, table, PK = USER#p0 AND begins_with(SK, NOTIFICATION#), filtered, backward, limit 10"],
        0.5,
    ),
    "unread": (
        ("p0",),
        [f"Query, GSI1, GSI1PK = USER#p0#UNREAD AND begins_with(GSI1SK, NOTIFICATION#), {LATEST}"],
        0.5,
    ),
    "notification": (
        ("p0", NOW, "n0"),
        [f"GetItem, USER#p0, NOTIFICATION#{LAST}#n0, consistent"],
        1.0,
    ),
}


def test_every_pattern_is_reckoned() -> None:
    assert set(COSTS) == set(PerfectIt.patterns())


@pytest.mark.parametrize("name", COSTS)
def test_first_page_takes_these_requests_and_units(alone: PerfectIt, name: str) -> None:
    arguments, requests, units = COSTS[name]
    assert asked(alone, name, arguments) == (requests, units)


@pytest.mark.parametrize("name", COSTS)
def test_what_others_have_changes_neither_requests_nor_units(crowded: PerfectIt, name: str) -> None:
    arguments, requests, units = COSTS[name]
    assert asked(crowded, name, arguments) == (requests, units)


def test_trending_is_twenty_cards_in_two_requests(alone: PerfectIt) -> None:
    """Score items of about 150 bytes: twenty are one block. 001:60 has the number."""
    found = alone.trending().all()
    assert (len(list(found)), found.usage.units) == (20, 10.5)


def test_recent_goes_over_days_without_cards_at_half_a_unit_each(crowded: PerfectIt) -> None:
    page = crowded.recent(NOW + timedelta(days=3)).page(PAGE)
    assert (len(page), page.usage.units) == (PAGE, 3 * 0.5 + 5.0)


def asked(db: PerfectIt, name: str, arguments: tuple[Any, ...]) -> tuple[list[str], float]:
    """Return the requests of the first page of a pattern, and their units."""
    between = db.session.client
    assert isinstance(between, Between)
    plan = getattr(db, name)(*arguments)
    calls = between.calls = []
    result = plan.page(PAGE) if hasattr(plan, "page") else plan.found()
    return [shown(call) for call in calls], result.usage.units


# --- writing ------------------------------------------------------------------------------------------------

BIG = CardId("big")


@pytest.fixture
def small_and_big() -> Iterator[PerfectIt]:
    """A table with a card of 4 KB, and one of 40 KB."""
    with opened_table("embedded", 1) as db:
        card = db.card(CardId("p0-c00")).one()
        urls = [f"https://example.com/{number}/{'i' * 1900}" for number in range(10)]
        more = {"image_urls": urls, "materials": {"list": "x" * 7_900}, "description": "x" * 7_900}
        db.load([card.model_copy(update={"card_id": BIG, **more})], settled=True)
        db.create(CardStats(card_id=BIG, user_id=card.user_id, published_at=NOW))
        yield db


def test_vote_costs_the_same_however_large_the_card_is(small_and_big: PerfectIt) -> None:
    """PI-14: the vote and the count of it, twice since together, and two indexes; the card is not written."""
    units = {
        card_id: small_and_big.create(
            Vote(user_id=UserId("new"), target_id=card_id, target_type="card", value=1, card_id=card_id)
        ).units
        for card_id in (CardId("p0-c00"), BIG)
    }
    assert units == {"p0-c00": 6.0, "big": 6.0}


def test_view_costs_one_unit_however_large_the_card_is(small_and_big: PerfectIt) -> None:
    units = [
        small_and_big.update(small_and_big.stats(card_id), views=Add(1)).units
        for card_id in (CardId("p0-c00"), BIG)
    ]
    assert units == [1.0, 1.0]


def test_change_of_a_card_costs_its_size_in_the_table_and_in_each_index(small_and_big: PerfectIt) -> None:
    """PI-30: nothing that happens often writes a card."""
    card = small_and_big.card(CardId("p0-c01")).one()
    assert (
        small_and_big.update(card, estimated_time=9).units == 4 * 4.0
    )  # 4 KB, in the table and three indexes
