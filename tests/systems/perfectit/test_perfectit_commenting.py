"""Comments on cards: counted with the write, changed by their authors, deleted with their votes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from singletable import Database
from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CommentNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.keys import CardId, CommentId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.categories import Categories
from singletable_systems.perfectit.services.comments import Commenting
from singletable_systems.perfectit.services.votes import Voting
from support.targets import TARGETS
from systems.perfectit_people import (
    ADA,
    BO,
    CY,
    WOOD,
    draft,
    follow,
    opened_perfectit,
    publish,
    sign_up,
    watched,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[PerfectIt]:
    with opened_perfectit(request.param, clock) as db:
        yield db


def test_comments_of_a_card_and_of_a_user_are_listed(db: PerfectIt, clock: ManualClock) -> None:
    card, other = publish(db), publish(db, BO)
    commenting = Commenting(db)
    first = commenting.comment(BO, card.card_id, "Which oil?")
    clock.advance(1)
    second = commenting.comment(CY, card.card_id, "Linseed.")
    third = commenting.comment(BO, other.card_id, "Mine.")
    assert list(db.comments(card.card_id).all()) == [first, second]
    clock.advance(1)
    assert [each.comment_id for each in db.comments_by(BO).all()] == [third.comment_id, first.comment_id]
    assert db.stats(card.card_id).one().comments == 2


def test_comment_is_edited_by_its_author_alone(db: PerfectIt) -> None:
    card = publish(db)
    comment = Commenting(db).comment(BO, card.card_id, "Wich oil?")
    place = (card.card_id, comment.created_at, comment.comment_id)
    edited = Commenting(db).edit(BO, *place, "Which oil?")
    assert db.comment(*place).one() == edited
    for refused in (
        lambda: Commenting(db).edit(CY, *place, "Nonsense"),
        lambda: Commenting(db).delete(CY, *place),
        lambda: Commenting(db).edit(BO, card.card_id, comment.created_at, CommentId("nothing"), "?"),
    ):
        with pytest.raises(CommentNotFoundError):
            refused()


def test_deleted_comment_takes_its_votes_along_and_is_not_counted(db: PerfectIt) -> None:
    card = publish(db)
    comment = Commenting(db).comment(BO, card.card_id, "Which oil?")
    place = (card.card_id, comment.created_at, comment.comment_id)
    Voting(db).vote_on_comment(CY, *place, 1)
    Commenting(db).delete(BO, *place)
    assert db.comment(*place).maybe() is None
    assert list(db.voters(comment.comment_id).all()) == []
    assert db.stats(card.card_id).one().comments == 0


def test_what_is_not_published_cannot_be_commented_on(db: PerfectIt) -> None:
    archived = publish(db)
    Publishing(db).archive(ADA, archived.card_id)
    for card_id in (draft(db).card_id, archived.card_id, CardId("nothing")):
        with pytest.raises(CardNotFoundError):
            Commenting(db).comment(BO, card_id, "Hm")
    with pytest.raises(UserNotFoundError):
        Commenting(db).comment(UserId("eve"), publish(db).card_id, "Hm")
    with pytest.raises(InvalidInputError, match="text: it is blank"):
        Commenting(db).comment(BO, publish(db).card_id, " \n")


@pytest.mark.parametrize("is_late", [False, True])
def test_vote_that_comes_while_its_comment_goes_goes_too(clock: ManualClock, is_late: bool) -> None:
    """An index may show it only when the comment is gone: then the consumer looks again."""
    delay_s = 1 if is_late else 0
    with Database.open(":memory:", clock=clock, index_delay_s=delay_s) as database, settled(database) as db:
        comment = Commenting(db).comment(BO, publish(db).card_id, "Which oil?")
        place = (comment.card_id, comment.created_at, comment.comment_id)
        slow, between = watched(db)

        def vote(call: Call) -> None:
            if call.operation == "TransactWriteItems":
                between.before = lambda call: None
                Voting(db).vote_on_comment(CY, *place, 1)

        between.before = vote
        Commenting(slow).delete(BO, *place)
        clock.advance(2)
        if is_late:
            assert db.vote(CY, comment.comment_id).maybe() is not None
            follow(db)
        assert db.vote(CY, comment.comment_id).maybe() is None


@contextmanager
def settled(database: Database) -> Iterator[PerfectIt]:
    with PerfectIt.open(database) as db:
        Categories(db).add(WOOD, "Woodworking")
        for user_id in (ADA, BO, CY):
            sign_up(db, user_id)
        yield db
