"""What was done on a day is counted once; cards show what is counted of them, and are written seldom."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from singletable import Add, Change, Entity
from singletable.clock import ManualClock
from singletable.errors import NotFoundError
from singletable_systems.perfectit.model.entities import DailyAnalytics, PerfectionCard, User, Vote
from singletable_systems.perfectit.model.keys import CardId, CategoryId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.rules.counts import Done, Total, done_in, shown_views, shown_votes
from support.limited_targets import limited_endpoint
from support.targets import no_aws_settings
from systems.perfectit_cards import (
    ADA,
    BOB,
    CARD,
    OAK,
    collect,
    comment,
    consuming,
    database,
    draft,
    drain,
    everything,
    follow,
    opened,
    publish,
    sign_up,
    vote,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def db(clock: ManualClock) -> Iterator[PerfectIt]:
    with opened(clock) as db:
        yield db


def today(db: PerfectIt) -> str:
    return db.now().date().isoformat()


def totals(db: PerfectIt, day: str | None = None) -> dict[str, int]:
    """Return what was counted for a day, without the zeros."""
    found = db.analytics(day or today(db)).maybe()
    values: dict[str, Any] = {} if found is None else found.model_dump(exclude={"day"})
    return {name: value for name, value in values.items() if value}


def busy_day(db: PerfectIt) -> None:
    sign_up(db, ADA, BOB)
    publish(db)
    publish(db, "c2")
    draft(db, "draft")
    said = comment(db, "k1")
    comment(db, "k2", by=ADA)
    vote(db)
    vote(db, -1, card_id=CardId("c2"))
    vote(db, by=ADA, on=said)
    collect(db)


BUSY = {"users": 2, "cards": 2, "comments": 2, "up_votes": 2, "down_votes": 1, "collected": 1}


# --- totals of a day ----------------------------------------------------------------------------------------


def test_what_was_done_is_counted_by_day(db: PerfectIt, clock: ManualClock) -> None:
    first = today(db)
    busy_day(db)
    clock.advance(86_400)
    comment(db, "later")
    follow(db)
    assert totals(db, first) == BUSY
    assert totals(db) == {"comments": 1}
    assert db.analytics("2020-01-01").maybe() is None


def test_day_is_that_of_what_was_done_however_late_it_is_counted(db: PerfectIt, clock: ManualClock) -> None:
    first = today(db)
    busy_day(db)
    clock.advance(20 * 3600)
    follow(db)
    assert totals(db, first) == BUSY


def test_day_ends_at_midnight_utc(db: PerfectIt, clock: ManualClock) -> None:
    publish(db)
    clock.advance((86_400 - 1) - (db.now() - db.now().replace(hour=0, minute=0, second=0)).total_seconds())
    last = today(db)
    comment(db, "before")
    clock.advance(1)
    comment(db, "after")
    follow(db)
    assert totals(db, last).get("comments") == totals(db).get("comments") == 1
    assert totals(db) == {"comments": 1}


def test_what_is_undone_was_done(db: PerfectIt) -> None:
    busy_day(db)
    follow(db)
    db.delete(db.vote(BOB, CARD))
    db.delete(db.collection_link(OAK, CARD))
    db.delete(next(iter(db.comments(CARD).all())))
    db.delete(db.card(CardId("c2")))
    db.delete(db.card(CardId("draft")))
    follow(db)
    assert totals(db) == BUSY


def test_vote_that_is_changed_is_another_vote(db: PerfectIt, clock: ManualClock) -> None:
    publish(db)
    vote(db)
    first = today(db)
    clock.advance(86_400)
    db.update(db.vote(BOB, CARD), value=-1)
    follow(db)
    assert totals(db, first) == {"cards": 1, "up_votes": 1}
    assert totals(db) == {"down_votes": 1}


def test_card_is_counted_when_it_is_published_first(db: PerfectIt) -> None:
    card = publish(db)
    for status in ("ARCHIVED", "PUBLISHED"):
        db.update(card, status=status)
    db.update(card, title="Other")
    follow(db)
    assert totals(db) == {"cards": 1}


def test_draft_that_expires_is_nothing_that_was_done(db: PerfectIt, clock: ManualClock) -> None:
    draft(db)
    clock.advance(31 * 86_400)
    assert database(db).sweep_expired() == 1
    follow(db)
    assert [item["SK"]["S"] for item in everything(db)] == []


def test_profile_that_changes_is_no_new_user(db: PerfectIt) -> None:
    user = db.create(User(user_id=ADA, username="ada")).entity
    db.update(user, bio="Likes oak")
    follow(db)
    assert totals(db) == {"users": 1}


def test_records_that_come_again_are_not_counted_again(db: PerfectIt) -> None:
    busy_day(db)
    for name in ("first", "second", "third"):
        follow(db, name=name)
        assert totals(db) == BUSY


def test_without_transactions_each_change_is_counted_once(db: PerfectIt, clock: ManualClock) -> None:
    busy_day(db)
    events: list[Any] = []
    with database(db).consume(db.session.table, events.append, name="events", background=False) as consumer:
        consumer.drain()
    with limited_endpoint(database(db)) as url, no_aws_settings():
        handler = PerfectIt.lambda_handler(url, clock=clock)
        for event in events * 2:
            assert handler(event, None) == {"batchItemFailures": []}
    assert totals(db) == BUSY


def test_change_that_nothing_was_done_in_adds_nothing() -> None:
    at = datetime(2025, 1, 1, 23, tzinfo=UTC)
    user = User(user_id=ADA, username="ada", created_at=at)
    card = PerfectionCard(
        card_id=CARD, user_id=ADA, title="Oak", category=CategoryId("wood"), published_at=at
    )
    cast = Vote(user_id=BOB, target_id=CARD, target_type="card", value=-1, card_id=CARD, updated_at=at)
    cases: list[tuple[Entity, Total]] = [(user, "users"), (card, "cards"), (cast, "down_votes")]
    for entity, total in cases:
        assert done_in(changed(None, entity)) == Done(total, at)
        assert done_in(changed(entity, entity)) is None
        assert done_in(changed(entity, None)) is None
    assert Done("users", at).day == "2025-01-01"
    assert Done("users", at.astimezone(timezone(timedelta(hours=2)))).day == "2025-01-01"


def changed(old: Entity | None, new: Entity | None) -> Change[Any]:
    return Change(
        old, new, is_expired=False, at=datetime(2025, 1, 2, tzinfo=UTC), sequence_number="1", event_id="e1"
    )


# --- figures that cards show --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, 0), (7, 7), (99, 99), (100, 100), (101, 100), (106, 110), (1234, 1200), (9960, 10_000), (-5, -5)],
)
def test_votes_are_shown_exactly_below_a_hundred_and_to_two_figures_above(number: int, expected: int) -> None:
    assert shown_votes(number) == expected
    assert shown_votes(-number) == -expected


def test_views_are_shown_by_three_steps_for_each_tenfold() -> None:
    shown = [shown_views(number) for number in range(100_001)]
    assert sorted(set(shown)) == [0, *(step * 10**tens for tens in range(5) for step in (1, 2, 5)), 100_000]
    assert all(0 <= number - at_least <= number * 0.6 for number, at_least in enumerate(shown))


def test_first_hundred_views_write_the_card_seven_times(db: PerfectIt) -> None:
    version = publish(db).version
    with consuming(db) as consumer:
        for _ in range(100):
            db.update(db.stats(CARD), views=Add(1))
            drain(consumer)
    card = db.card(CARD).one()
    assert (card.view_count, card.version - version) == (100, 7)


def voters(count: int) -> list[UserId]:
    return [UserId(f"voter{number}") for number in range(count)]


def test_card_shows_its_votes_and_views(db: PerfectIt) -> None:
    publish(db)
    for number, user_id in enumerate(voters(5)):
        vote(db, -1 if number == 4 else 1, by=user_id)
    db.update(db.stats(CARD), views=Add(12))
    follow(db)
    card = db.card(CARD).one()
    assert (card.vote_score, card.view_count) == (3, 10)
    db.delete(db.vote(voters(1)[0], CARD))
    db.update(db.vote(voters(2)[1], CARD), value=-1)
    follow(db)
    assert db.card(CARD).one().vote_score == 0


def test_card_is_written_only_when_a_figure_changes(db: PerfectIt) -> None:
    card = publish(db)
    db.update(db.stats(CARD), views=Add(1000))
    follow(db)
    version = db.card(CARD).one().version
    assert version == card.version + 1
    db.update(db.stats(CARD), views=Add(999))
    follow(db)
    assert db.card(CARD).one().version == version
    db.update(db.stats(CARD), views=Add(1))
    follow(db)
    assert db.card(CARD).one().view_count == 2000
    assert db.card(CARD).one().version == version + 1


def test_view_that_changes_no_figure_reads_nothing(db: PerfectIt, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(db)
    db.update(db.stats(CARD), views=Add(1000))
    follow(db)

    def read(self: PerfectIt, card_id: CardId) -> Any:
        raise AssertionError("a read that nobody needs")

    db.update(db.stats(CARD), views=Add(1))
    monkeypatch.setattr(PerfectIt, "card", read)
    follow(db)


def test_figures_do_not_look_like_an_edit(db: PerfectIt, clock: ManualClock) -> None:
    before = publish(db).updated_at
    clock.advance(60)
    vote(db)
    follow(db)
    card = db.card(CARD).one()
    assert (card.vote_score, card.updated_at) == (1, before)


def test_card_that_is_edited_meanwhile_is_folded_again(
    db: PerfectIt, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(db)
    vote(db)
    read = PerfectIt.stats

    def edit_meanwhile(self: PerfectIt, card_id: CardId) -> Any:
        monkeypatch.setattr(PerfectIt, "stats", read)
        clock.advance(60)
        db.update(db.card(CARD), title="Edited")
        return read(self, card_id)

    with consuming(db) as consumer:
        consumer.run_once()
        vote(db, by=ADA)
        monkeypatch.setattr(PerfectIt, "stats", edit_meanwhile)
        drain(consumer)
    card = db.card(CARD).one()
    assert (card.title, card.vote_score) == ("Edited", 2)
    assert card.updated_at == db.now()


def test_old_records_leave_the_figures_as_they_are(db: PerfectIt) -> None:
    publish(db)
    for user_id in voters(4):
        vote(db, by=user_id)
    follow(db)
    version = db.card(CARD).one().version
    follow(db, name="again")
    card = db.card(CARD).one()
    assert (card.vote_score, card.version) == (4, version)


def test_figures_of_a_card_that_is_gone_go_nowhere(db: PerfectIt) -> None:
    publish(db)
    vote(db)
    db.delete(db.card(CARD))
    follow(db)
    assert db.card(CARD).maybe() is None


def test_totals_of_a_day_are_made_once(db: PerfectIt) -> None:
    db.create(DailyAnalytics(day=today(db), comments=5))
    busy_day(db)
    follow(db)
    assert totals(db) == {**BUSY, "comments": 7}


def test_handlers_need_no_user(db: PerfectIt) -> None:
    """Votes of users who are gone by now are counted all the same."""
    publish(db)
    vote(db, by=UserId("gone"))
    follow(db)
    assert totals(db) == {"cards": 1, "up_votes": 1}
    with pytest.raises(NotFoundError):
        db.user(UserId("gone")).one()
    assert db.now() - db.vote(UserId("gone"), CARD).one().created_at < timedelta(days=1)
