"""Votes for and against cards and comments: changed, undone, repeated, at once; counted once each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product
from random import Random
from typing import Any

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    BusyError,
    CardNotFoundError,
    CommentNotFoundError,
    InvalidInputError,
    UserNotFoundError,
    VoteRefusedError,
)
from singletable_systems.perfectit.model.entities import CardStats, Comment, PerfectionCard, Vote, VoteValue
from singletable_systems.perfectit.model.keys import CardId, CommentId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.comments import Commenting
from singletable_systems.perfectit.services.votes import Voting
from support.targets import TARGETS
from systems.perfectit_people import ADA, BO, CY, draft, follow, opened_perfectit, publish, sign_up, watched

UP: VoteValue = 1
DOWN: VoteValue = -1


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    with opened_perfectit(request.param, ManualClock()) as db:
        yield db


@pytest.fixture
def memory() -> Iterator[PerfectIt]:
    with opened_perfectit("embedded", ManualClock()) as db:
        yield db


def counts(db: PerfectIt, card: PerfectionCard) -> tuple[int, int]:
    stats = db.stats(card.card_id).one()
    return stats.up_votes, stats.down_votes


def say(db: PerfectIt, card: PerfectionCard) -> Comment:
    return Commenting(db).comment(BO, card.card_id, "Which oil?")


def vote_on(db: PerfectIt, user_id: UserId, comment: Comment, value: VoteValue) -> Vote:
    return Voting(db).vote_on_comment(user_id, comment.card_id, comment.created_at, comment.comment_id, value)


# --- cards -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [*product((UP, DOWN, None), repeat=2)])
def test_last_vote_counts(db: PerfectIt, first: VoteValue | None, second: VoteValue | None) -> None:
    card, voting = publish(db), Voting(db)
    for value in (first, second):
        if value is None:
            voting.undo(BO, card.card_id)
        else:
            voting.vote(BO, card.card_id, value)
    assert counts(db, card) == (int(second == UP), int(second == DOWN))
    vote = db.vote(BO, card.card_id).maybe()
    assert (vote and vote.value) == second


def test_votes_of_a_card_and_of_a_user_are_listed(db: PerfectIt) -> None:
    card, other = publish(db), publish(db, BO)
    for user_id, each, value in ((BO, card, UP), (CY, card, DOWN), (BO, other, UP)):
        Voting(db).vote(user_id, each.card_id, value)
    assert {(vote.user_id, vote.value) for vote in db.voters(card.card_id).all()} == {(BO, UP), (CY, DOWN)}
    assert {vote.target_id for vote in db.votes_by(BO).all()} == {card.card_id, other.card_id}


def test_vote_does_not_write_the_card(db: PerfectIt) -> None:
    card = publish(db)
    Voting(db).vote(BO, card.card_id, UP)
    assert db.card(card.card_id).one() == card


def test_draft_and_archived_card_and_none_cannot_be_voted_for(db: PerfectIt) -> None:
    archived = publish(db)
    Publishing(db).archive(ADA, archived.card_id)
    for card_id in (draft(db).card_id, archived.card_id, CardId("nothing")):
        with pytest.raises(CardNotFoundError, match=f"there is no card {card_id}"):
            Voting(db).vote(BO, card_id, UP)
        assert db.vote(BO, card_id).maybe() is None


def test_who_is_not_there_cannot_vote(db: PerfectIt) -> None:
    card = publish(db)
    with pytest.raises(UserNotFoundError, match="there is no user eve"):
        Voting(db).vote(UserId("eve"), card.card_id, UP)
    assert counts(db, card) == (0, 0)


# --- comments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(UP, UP), (UP, DOWN), (DOWN, UP), (UP, None)])
def test_votes_on_a_comment_count_for_the_comment_alone(
    db: PerfectIt, first: VoteValue, second: VoteValue | None
) -> None:
    card = publish(db)
    comment = say(db, card)
    vote_on(db, CY, comment, first)
    if second is None:
        Voting(db).undo(CY, comment.comment_id)
    else:
        vote_on(db, CY, comment, second)
    stored = db.comment(card.card_id, comment.created_at, comment.comment_id).one()
    assert (stored.up_votes, stored.down_votes) == (int(second == UP), int(second == DOWN))
    assert stored.vote_score == stored.up_votes - stored.down_votes
    assert counts(db, card) == (0, 0)


def test_comment_that_is_not_there_cannot_be_voted_for(db: PerfectIt) -> None:
    comment = say(db, publish(db)).model_copy(update={"comment_id": CommentId("nothing")})
    with pytest.raises(CommentNotFoundError, match="there is no comment nothing"):
        vote_on(db, CY, comment, UP)


def test_vote_for_a_comment_without_its_time_or_with_another_is_refused(memory: PerfectIt) -> None:
    comment = say(memory, publish(memory))
    place = (comment.card_id, comment.created_at, comment.comment_id)
    nowhere: Any = None
    with pytest.raises(InvalidInputError, match="a vote for a comment has the time of the comment"):
        Voting(memory).vote_on_comment(CY, comment.card_id, nowhere, comment.comment_id, UP)
    vote_on(memory, CY, comment, UP)
    with pytest.raises(VoteRefusedError):
        vote_on(memory, CY, comment.model_copy(update={"created_at": memory.now() + timedelta(1)}), UP)
    assert memory.comment(*place).one().up_votes == 1


def test_card_and_comment_of_one_id_are_not_mixed_up(memory: PerfectIt) -> None:
    card = publish(memory)
    comment = Comment(
        comment_id=CommentId(card.card_id),
        card_id=card.card_id,
        user_id=BO,
        text="?",
        created_at=memory.now(),
    )
    memory.create(comment)
    Voting(memory).vote(CY, card.card_id, UP)
    with pytest.raises(VoteRefusedError, match="has voted for the card"):
        vote_on(memory, CY, comment, DOWN)
    assert counts(memory, card) == (1, 0)


# --- at once -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mine", [UP, DOWN])
@pytest.mark.parametrize("other", [UP, DOWN, None])
@pytest.mark.parametrize("before", [UP, DOWN, None])
def test_vote_that_was_overtaken_counts_once(
    memory: PerfectIt, before: VoteValue | None, other: VoteValue | None, mine: VoteValue
) -> None:
    card = publish(memory)
    if before is not None:
        Voting(memory).vote(BO, card.card_id, before)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            if other is None:
                Voting(memory).undo(BO, card.card_id)
            else:
                Voting(memory).vote(BO, card.card_id, other)

    between.before = overtake
    Voting(slow).vote(BO, card.card_id, mine)
    assert counts(memory, card) == (int(mine == UP), int(mine == DOWN))
    assert memory.vote(BO, card.card_id).one().value == mine


def test_votes_of_many_at_once_are_all_counted(db: PerfectIt) -> None:
    card = publish(db)
    people = [UserId(f"user{number}") for number in range(12)]
    for person in people:
        sign_up(db, person)

    def vote(number: int) -> None:
        chance, voting = Random(number), Voting(db)
        for _ in range(4):
            voting.vote(people[number], card.card_id, chance.choice((UP, DOWN)))
        if number % 3 == 0:
            voting.undo(people[number], card.card_id)

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(vote, number) for number in range(12)]:
            done.result()
    votes = list(db.voters(card.card_id).all())
    assert len(votes) == 8
    assert counts(db, card) == (
        sum(vote.value == UP for vote in votes),
        sum(vote.value == DOWN for vote in votes),
    )
    assert [each for each in db.verify().differences if each.entity == "CardStats"] == []


def test_one_user_voting_from_many_devices_has_one_vote(memory: PerfectIt) -> None:
    card = publish(memory)
    with ThreadPoolExecutor(8) as threads:
        for done in [
            threads.submit(Voting(memory).vote, BO, card.card_id, UP if number % 2 else DOWN)
            for number in range(40)
        ]:
            done.result()
    assert sum(counts(memory, card)) == 1


def test_vote_that_is_overtaken_again_and_again_is_given_up_clearly(memory: PerfectIt) -> None:
    card = publish(memory)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            if memory.vote(BO, card.card_id).maybe() is None:
                Voting(memory).vote(BO, card.card_id, DOWN)
            else:
                Voting(memory).undo(BO, card.card_id)

    between.before = overtake
    with pytest.raises(BusyError, match="others were faster, again and again; nothing was done"):
        Voting(slow).vote(BO, card.card_id, UP)
    assert counts(memory, card)[0] == 0


# --- lists -------------------------------------------------------------------------------------------------------


def test_lists_are_ordered_by_votes_below_zero_too(db: PerfectIt) -> None:
    cards = [publish(db, title=f"Card {number}") for number in range(4)]
    wanted = {0: (0, 3), 1: (1, 0), 2: (0, 0), 3: (3, 1)}
    people = [UserId(f"user{number}") for number in range(4)]
    for person in people:
        sign_up(db, person)
    for number, (up, down) in wanted.items():
        for person, value in zip(people, [UP] * up + [DOWN] * down, strict=False):
            Voting(db).vote(person, cards[number].card_id, value)
    follow(db)
    assert [card.title for card in db.top_voted().all()] == ["Card 3", "Card 1", "Card 2", "Card 0"]
    assert [card.title for card in db.controversial().all()] == ["Card 3"]
    assert [card.title for card in db.trending().all()] == ["Card 3", "Card 1", "Card 2", "Card 0"]


def test_new_card_has_nothing_to_count(memory: PerfectIt) -> None:
    card = publish(memory)
    assert card.published_at is not None
    assert memory.stats(card.card_id).one() == CardStats(
        card_id=card.card_id, user_id=ADA, published_at=card.published_at
    )
