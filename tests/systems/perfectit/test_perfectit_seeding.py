"""Made-up data of PerfectIt: consistent, the same for the same day, and led by its first circle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import islice

import pytest

from singletable import Entity
from singletable.clock import ManualClock
from singletable_systems.perfectit import (
    CardStats,
    Category,
    CategoryId,
    Comment,
    DailyAnalytics,
    PerfectionCard,
    PerfectIt,
    UserId,
    Vote,
)
from singletable_systems.perfectit.model.scores import controversial_score, top_score
from singletable_systems.perfectit.operating.seeding import CIRCLE_COUNTS, COUNTED_DAYS, seed
from singletable_systems.perfectit.operating.seeding.circles import CARDS, FIRST_DAYS, circle, entity_count

DAY = date(2026, 11, 16)
NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture(scope="module")
def small() -> list[Entity]:
    return list(seed("small", DAY).entities)


@pytest.fixture(scope="module")
def db(small: list[Entity]) -> Iterator[PerfectIt]:
    with PerfectIt.open(":memory:", clock=ManualClock(int(NOW.timestamp()) * 1_000_000)) as db:
        db.load(small, settled=True)
        yield db


def test_seed_has_as_many_entities_as_it_says(small: list[Entity]) -> None:
    assert len(small) == seed("small", DAY).count
    assert seed("large", DAY).count == len(small) + sum(map(entity_count, range(1, CIRCLE_COUNTS["large"])))
    assert len(list(circle(7, NOW))) == entity_count(7)


def test_same_day_makes_the_same_data(small: list[Entity]) -> None:
    assert list(seed("small", DAY).entities) == small


def test_small_data_is_the_beginning_of_the_large(small: list[Entity]) -> None:
    # All circles have a part in the totals of the days before, and in the cards that categories count.
    first = len(small) - COUNTED_DAYS + FIRST_DAYS
    large = list(islice(seed("large", DAY).entities, first))
    assert [uncounted(each) for each in large] == [uncounted(each) for each in small[:first]]


def uncounted(entity: Entity) -> Entity:
    return entity.model_copy(update={"cards_count": 0}) if isinstance(entity, Category) else entity


def test_seeded_table_is_clean(db: PerfectIt) -> None:
    assert db.verify().is_clean


def test_everything_has_happened_before_the_day(small: list[Entity]) -> None:
    for entity in small:
        for name in ("created_at", "updated_at", "published_at", "added_at"):
            at = getattr(entity, name, None)
            assert at is None or at < NOW


def test_votes_and_comments_come_after_what_they_are_about(small: list[Entity]) -> None:
    cards = {each.card_id: each for each in small if isinstance(each, PerfectionCard)}
    for entity in small:
        if isinstance(entity, Vote | Comment):
            published_at = cards[entity.card_id].published_at
            assert published_at is not None
            assert entity.created_at >= published_at


def test_nobody_votes_for_a_card_of_his_own(small: list[Entity]) -> None:
    cards = {each.card_id: each for each in small if isinstance(each, PerfectionCard)}
    votes = [each for each in small if isinstance(each, Vote) and each.target_type == "card"]
    assert votes
    assert all(vote.user_id != cards[vote.card_id].user_id for vote in votes)


def test_totals_of_the_days_are_what_was_done(small: list[Entity]) -> None:
    totals = {each.day: each for each in small if isinstance(each, DailyAnalytics)}
    comments = Counter(each.created_at.date().isoformat() for each in small if isinstance(each, Comment))
    assert comments
    assert {day: each.comments for day, each in totals.items() if each.comments} == comments
    assert sum(each.cards for each in totals.values()) == CARDS


def test_first_circle_leads_every_list(small: list[Entity]) -> None:
    """So the first pages of a small and of a large table are the same."""
    best = Counter[str]()
    for entity in circle(5, NOW):
        if isinstance(entity, CardStats):
            best["top"] = max(best["top"], top_score(entity.up_votes, entity.down_votes))
            best["split"] = max(best["split"], controversial_score(entity.up_votes, entity.down_votes))
        if isinstance(entity, PerfectionCard) and entity.published_at is not None:
            assert (NOW - entity.published_at).days >= 10
    stats = [each for each in small if isinstance(each, CardStats)]
    assert sum(top_score(each.up_votes, each.down_votes) > best["top"] for each in stats) >= 20
    assert sum(controversial_score(each.up_votes, each.down_votes) > best["split"] for each in stats) >= 10
    assert all((NOW - each.published_at).days < 10 for each in stats)


def test_seeded_lists_are_full(db: PerfectIt) -> None:
    ada = UserId("ada")
    lists = (
        db.top_voted(),
        db.trending(),
        db.controversial(),
        db.recent(NOW),
        db.cards_by_category(CategoryId("woodworking")),
        db.cards_with_word("oak"),
    )
    for cards in lists:
        assert len(cards.page(limit=10).items) == 10
    for mine in (db.cards_by_author(ada), db.votes_by(ada), db.unread(ada), db.collections(ada)):
        assert mine.page().items
    assert db.own_cards(ada).where(status="DRAFT").first() is not None
    assert list(db.top_voted().all())[-1].vote_score < 0
