"""Authors are told what others do with their cards and comments, once, and not what they do themselves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from singletable.clock import ManualClock
from singletable_systems.perfectit.model.entities import CardInCollection, Comment, Notification, Vote
from singletable_systems.perfectit.model.keys import (
    CardId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.rules.notifications import is_over, notification_of
from singletable_systems.perfectit.services.accounts import Accounts
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.notifications import Notifications
from systems.perfectit_cards import (
    ADA,
    BOB,
    CARD,
    OAK,
    collect,
    comment,
    everything,
    follow,
    opened,
    publish,
    sign_up,
    vote,
)

EVE = UserId("eve")
AT = datetime(2025, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def db(clock: ManualClock) -> Iterator[PerfectIt]:
    with opened(clock) as db:
        sign_up(db, ADA, BOB, EVE)
        publish(db)
        yield db


def told(db: PerfectIt, user_id: UserId = ADA) -> list[tuple[str, str | None, str]]:
    """Return what a user was told, oldest first: what, by whom, and about what."""
    found = db.notifications(user_id).oldest_first().all()
    return [(each.type, each.actor_id, each.target_id) for each in found]


# --- who is told what -----------------------------------------------------------------------------------------


def test_author_is_told_of_a_comment(db: PerfectIt) -> None:
    said = comment(db, "k1")
    follow(db)
    (notification,) = db.notifications(ADA).all()
    assert notification == Notification(
        notification_id=NotificationId("comment-k1"),
        user_id=ADA,
        actor_id=BOB,
        type="comment",
        card_id=CARD,
        target_id="k1",
        created_at=said.created_at,
        ttl=notification.ttl,
    )
    assert list(db.unread(ADA).all()) == [notification]


def test_author_is_told_of_votes_for_a_card_and_not_of_those_against(db: PerfectIt) -> None:
    vote(db, by=BOB)
    vote(db, -1, by=EVE)
    follow(db)
    assert told(db) == [("vote", "bob", "c1")]


def test_author_of_a_comment_is_told_of_votes_for_it(db: PerfectIt) -> None:
    said = comment(db, "k1", by=BOB)
    vote(db, by=EVE, on=said)
    follow(db)
    assert told(db, BOB) == [("vote", "eve", "k1")]
    assert told(db, ADA) == [("comment", "bob", "k1")]


def test_author_is_told_when_a_card_is_collected(db: PerfectIt) -> None:
    collect(db)
    follow(db)
    assert told(db) == [("collected", "bob", "oak")]


def test_private_collection_tells_nobody(db: PerfectIt) -> None:
    collect(db, is_public=False)
    follow(db)
    assert told(db) == []


def test_nobody_is_told_of_their_own_doings(db: PerfectIt) -> None:
    said = comment(db, "k1", by=ADA)
    vote(db, by=ADA)
    vote(db, by=ADA, on=said)
    collect(db, by=ADA)
    follow(db)
    assert told(db) == []


@pytest.mark.parametrize("is_told", [True, False])
def test_nobody_is_told_of_a_card_or_comment_that_is_gone(db: PerfectIt, is_told: bool) -> None:
    said = comment(db, "k1", by=BOB)
    vote(db, by=EVE, on=said)
    vote(db, by=EVE)
    collect(db)
    if is_told:
        follow(db)
        assert (len(told(db, ADA)), len(told(db, BOB))) == (3, 1)
    Publishing(db).delete(ADA, CARD)
    follow(db)
    assert told(db, ADA) == told(db, BOB) == []


@pytest.mark.parametrize("is_told", [True, False])
def test_nobody_is_told_of_somebody_who_is_gone(db: PerfectIt, is_told: bool) -> None:
    comment(db, "k1", by=EVE)
    vote(db, by=EVE, on=comment(db, "k2", by=BOB))
    vote(db, by=EVE)
    collect(db, by=EVE)
    if is_told:
        follow(db)
        assert (len(told(db, ADA)), len(told(db, BOB))) == (4, 1)
    Accounts(db).delete_all_data(EVE)
    follow(db)
    assert told(db, ADA) == [("comment", "bob", "k2")]
    assert told(db, BOB) == []
    assert not any("eve" in repr(item) for item in everything(db))


# --- what is undone --------------------------------------------------------------------------------------------


def test_vote_that_is_taken_back_takes_what_was_told_along(db: PerfectIt) -> None:
    for _ in range(3):
        vote(db)
        follow(db)
        assert told(db) == [("vote", "bob", "c1")]
        db.delete(db.vote(BOB, CARD))
        follow(db)
        assert told(db) == []


def test_vote_that_turns_takes_what_was_told_along_and_brings_it_again(db: PerfectIt) -> None:
    vote(db)
    follow(db)
    db.update(db.vote(BOB, CARD), value=-1)
    follow(db)
    assert told(db) == []
    db.update(db.vote(BOB, CARD), value=1)
    follow(db)
    assert told(db) == [("vote", "bob", "c1")]


def test_comment_and_place_in_a_collection_that_go_take_what_was_told_along(db: PerfectIt) -> None:
    said = comment(db, "k1")
    collect(db)
    follow(db)
    assert len(told(db)) == 2
    db.delete(db.comment(CARD, said.created_at, said.comment_id))
    db.delete(db.own_collection(BOB, OAK))
    follow(db)
    assert told(db) == []


def test_what_was_undone_before_it_was_told_is_not_told(db: PerfectIt) -> None:
    said = comment(db, "k1")
    vote(db)
    vote(db, by=EVE)
    collect(db)
    db.delete(db.comment(CARD, said.created_at, said.comment_id))
    db.delete(db.vote(BOB, CARD))
    db.update(db.vote(EVE, CARD), value=-1)
    db.delete(db.collection_link(OAK, CARD))
    follow(db)
    assert told(db) == []
    made = [record for record in everything(db) if "NOTIFICATION#" in record["SK"]["S"]]
    assert made == []


def test_vote_that_is_cast_anew_is_told_with_its_own_time(db: PerfectIt, clock: ManualClock) -> None:
    vote(db)
    db.delete(db.vote(BOB, CARD))
    clock.advance(60)
    at = vote(db).created_at
    for name in ("first", "second"):
        follow(db, name=name)
        assert [each.created_at for each in db.notifications(ADA).all()] == [at]


# --- replays, reading, and the end ----------------------------------------------------------------------------


def test_comment_that_is_edited_or_voted_for_is_told_once(db: PerfectIt) -> None:
    said = comment(db, "k1")
    vote(db, by=EVE, on=said)
    db.update(db.comment(CARD, said.created_at, said.comment_id), text="Better said")
    follow(db)
    assert told(db) == [("comment", "bob", "k1")]


def test_records_that_come_again_tell_nothing_new(db: PerfectIt, clock: ManualClock) -> None:
    comment(db, "k1")
    clock.advance(1)
    vote(db)
    clock.advance(1)
    collect(db)
    follow(db)
    before = everything(db)
    assert len(told(db)) == 3
    follow(db, name="again")
    assert everything(db) == before


def test_what_was_read_stays_read_when_its_record_comes_again(db: PerfectIt) -> None:
    comment(db, "k1")
    vote(db)
    follow(db)
    assert Notifications(db).read_all(ADA) == 2
    follow(db, name="again")
    assert list(db.unread(ADA).all()) == []
    assert len(told(db)) == 2


def test_what_would_have_expired_by_now_is_not_told(db: PerfectIt, clock: ManualClock) -> None:
    comment(db, "k1")
    clock.advance(30 * 86_400)
    follow(db)
    assert told(db) == []
    assert [item for item in everything(db) if "NOTIFICATION#" in item["SK"]["S"]] == []


def test_notification_is_over_after_thirty_days() -> None:
    notification = notification_of(said_by(BOB))
    assert notification is not None
    assert not is_over(notification, AT + timedelta(days=30, milliseconds=-1))
    assert is_over(notification, AT + timedelta(days=30))


# --- the rules alone ------------------------------------------------------------------------------------------


def said_by(user_id: UserId) -> Comment:
    return Comment(
        comment_id=CommentId("k1"),
        card_id=CARD,
        user_id=user_id,
        text="Nice",
        recipient_id=ADA,
        created_at=AT,
    )


def test_ids_and_times_follow_from_what_happened() -> None:
    cast = Vote(
        user_id=BOB,
        target_id="k1",
        target_type="comment",
        value=1,
        card_id=CARD,
        commented_at=AT,
        recipient_id=ADA,
        created_at=AT,
        updated_at=AT,
    )
    link = CardInCollection(
        collection_id=CollectionId("oak"), card_id=CardId("c1"), user_id=BOB, recipient_id=ADA, added_at=AT
    )
    made = [notification_of(said_by(BOB)), notification_of(cast), notification_of(link)]
    assert [(each.notification_id, each.created_at) for each in made if each is not None] == [
        ("comment-k1", AT),
        ("vote-bob-k1", AT),
        ("collected-oak-c1", AT),
    ]
    changed = cast.model_copy(update={"updated_at": AT + timedelta(days=1)})
    assert notification_of(changed) == notification_of(cast)
    assert notification_of(said_by(ADA)) is notification_of(None) is None
    for nobody in ({"value": -1}, {"recipient_id": None}, {"recipient_id": BOB}):
        assert notification_of(cast.model_copy(update=nobody)) is None
