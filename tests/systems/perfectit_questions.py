"""What is asked of the patterns of PerfectIt: what hits, what misses, what nearly hits, and the index."""

from __future__ import annotations

from datetime import timedelta

from systems.perfectit_traps import (
    CARD_IDS,
    CATEGORIES,
    COLLECTION_IDS,
    GONE,
    HEAVY_CARD,
    MILLISECOND,
    NOBODY,
    NOW,
    SECOND,
    USERS,
    VOTED_CARD,
    WORDY_CARD,
    ZONES,
)
from systems.perfectit_world import TOLD_BEFORE_NOW
from systems.questions import Question, question

DRAFTS = [f"d{10**number}" for number in range(6)]
EVERYBODY = [(user_id,) for user_id in (*USERS, NOBODY, "fan0", "fan")]
EVERY_CARD = [(card_id,) for card_id in (*CARD_IDS, *DRAFTS, "c.1", "c1.2", "h7", "old", "c1.", GONE)]
EVERY_COLLECTION = [(collection_id,) for collection_id in (*COLLECTION_IDS, "x7", "x", "loose", GONE)]
NAMES = ["Ada", "aDA", "ada 2", "ad", "STRASSE", "straße", "Straß", "STRASS", "åda", "ZOE", "zo"]
WORDS = ["oak", "Oak", "oa", "oaken", "mobel", "möbel", "ol", "bark", "wood", "wood2", "woo", "metal", "x"]
CUT_WORDS = ["o" * 45, "o" * 40, "o" * 39, "i", "w0a", "w15c", "w16a", "w16b", "w29c"]
MOMENTS = [NOW, NOW + MILLISECOND, NOW - MILLISECOND, NOW.astimezone(ZONES[2])]
KATHMANDU = ZONES[1]

QUESTIONS: dict[str, Question] = {
    # --- users
    "user": question(None, *EVERYBODY),
    "user_by_username": question("GSI1", *((name,) for name in NAMES)),
    "user_named": question(None, *((name,) for name in NAMES)),
    # --- cards
    "cards_by_category": question(
        "GSI1", *((each,) for each in (*CATEGORIES, "wo", "WOOD")), ties=("created_at",)
    ),
    "cards_by_author": question("GSI2", *EVERYBODY, ties=("created_at",)),
    "own_cards": question("GSI2", *EVERYBODY, ties=("created_at",)),
    "card": question(None, *EVERY_CARD),
    "card_view": question(None, *EVERY_CARD),
    "stats": question(None, *EVERY_CARD),
    "cards": question(
        None,
        ([*CARD_IDS, *DRAFTS],),
        ([GONE, "c1", GONE, "c1"],),
        ([f"{each}.{number}" for number in range(13) for each in CARD_IDS],),
        ([],),
    ),
    # --- comments
    "comments": question(None, *EVERY_CARD),
    "comment": question(
        None,
        *(
            ("c1", at, f"{name}.c1.{number}")
            for at in MOMENTS
            for number in (0, 1, 2)
            for name in ("k1", "k10", "k100", "k")
        ),
        ("c", NOW, "k1.c1.0"),
        (HEAVY_CARD, (NOW - 9 * MILLISECOND).astimezone(KATHMANDU), f"k10.{HEAVY_CARD}.9"),
    ),
    "comments_by": question("GSI1", *EVERYBODY, ties=("created_at",)),
    # --- collections
    "collections": question(None, *EVERYBODY),
    "own_collection": question(None, *((user, each) for user in USERS for (each,) in EVERY_COLLECTION)),
    "collection_cards": question(None, *EVERY_COLLECTION),
    "collection_links": question(None, *EVERY_COLLECTION),
    "collection_link": question(
        None, *((each, card) for (each,) in EVERY_COLLECTION for card in (*CARD_IDS, GONE, "c1!"))
    ),
    "collection": question("GSI1", *EVERY_COLLECTION),
    "collections_with": question("GSI1", *EVERY_CARD),
    # --- votes
    "vote": question(None, *((user, card) for user in (*USERS, "fan1198", "fan") for card in CARD_IDS)),
    "voters": question(
        "GSI1",
        *((target,) for target in (VOTED_CARD, "c", "C1", "c1-b", "c.1", GONE, "k1.c1.0", "k1.c1.4", "k1.c")),
        ties=("created_at",),
    ),
    "votes_by": question("GSI2", *EVERYBODY, ties=("created_at",)),
    # --- lists of cards
    "trending": question("GSI5", ()),
    "top_voted": question("GSI5", ()),
    "controversial": question("GSI5", ()),
    "ranking": question("GSI5", (), ("CARD",), ("TRENDING",), ("CONTROVERSIAL",)),
    "recent": question(
        "GSI3",
        *((at,) for at in MOMENTS),
        *((NOW, days) for days in (1, 2, 29, 31, 366)),
        (NOW - timedelta(days=5), 3),  # days without cards
        (NOW - 30 * timedelta(days=1) + SECOND, 1),
    ),
    "cards_with_word": question("GSI4", *((word,) for word in (*WORDS, *CUT_WORDS))),
    "cards_of_word": question(
        "GSI4",
        *((word,) for word in (*WORDS, *CUT_WORDS)),
        *(("oak", card) for card in (VOTED_CARD, "c1!", "C", "~", "~~", WORDY_CARD, "cé")),
    ),
    # --- categories
    "categories_below": question(
        "GSI1", *((each,) for each in (*CATEGORIES, "ROOT", "wo")), ties=("sort_order",)
    ),
    "root_categories": question("GSI1", (), ties=("sort_order",)),
    "category": question(None, *((each,) for each in (*CATEGORIES, "wood.3", "wood.", "ROOT"))),
    # --- analytics and notifications
    "analytics": question(None, *((day,) for day in ("2040-02-29", "2040-03-01", "2040-03-1", "2040-03"))),
    "notifications": question(None, *EVERYBODY),
    "unread": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "notification": question(
        None,
        *(
            (user, NOW - age, name)
            for user in ("ada", "zoe", NOBODY)
            for age in TOLD_BEFORE_NOW
            for name in ("n1", "n10", "n100", "n")
        ),
    ),
}
