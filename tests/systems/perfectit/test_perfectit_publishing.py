"""Cards from a draft to everybody's lists: what drafts expire, what is in which list, and who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CategoryNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import CardStatus, Instruction, PerfectionCard
from singletable_systems.perfectit.model.keys import CardId, CategoryId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.cards import Publishing
from support.opened_designs import call
from support.targets import TARGETS
from systems.perfectit_people import ADA, BO, WOOD, draft, opened_perfectit, publish, watched

DAY_S = 86_400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[PerfectIt]:
    with opened_perfectit(request.param, clock) as db:
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[PerfectIt]:
    with opened_perfectit("embedded", clock) as db:
        yield db


def listed(db: PerfectIt) -> list[set[str]]:
    """Return the ids in each list that everybody sees."""
    plans = (db.cards_by_category(WOOD), db.cards_by_author(ADA), db.recent(db.now()))
    return [{card.card_id for card in plan.all()} for plan in plans]


# --- drafts ------------------------------------------------------------------------------------------------


def test_draft_is_seen_by_its_author_alone(db: PerfectIt) -> None:
    card = draft(db)
    publishing = Publishing(db)
    assert publishing.read(card.card_id, viewer=ADA) == card
    for viewer in (BO, None):
        with pytest.raises(CardNotFoundError, match=f"there is no card {card.card_id}"):
            publishing.read(card.card_id, viewer=viewer)
    assert listed(db) == [set(), set(), set()]
    assert [own.card_id for own in db.own_cards(ADA).all()] == [card.card_id]


def test_draft_is_gone_30_days_after_it_was_last_changed(memory: PerfectIt, clock: ManualClock) -> None:
    card = draft(memory)
    clock.advance(29 * DAY_S)
    Publishing(memory).edit(ADA, card.card_id, title="Better Wood Finish")
    clock.advance(29 * DAY_S)
    assert memory.card(card.card_id).one().title == "Better Wood Finish"
    clock.advance(1 * DAY_S)
    assert memory.card(card.card_id).maybe() is None
    with pytest.raises(CardNotFoundError):
        Publishing(memory).publish(ADA, card.card_id)


def test_published_card_never_expires(memory: PerfectIt, clock: ManualClock) -> None:
    card = draft(memory)
    assert card.ttl is not None
    clock.advance(29 * DAY_S)
    published = Publishing(memory).publish(ADA, card.card_id)
    assert published.ttl is None
    clock.advance(400 * DAY_S)
    assert memory.card(card.card_id).one().status == "PUBLISHED"
    stored = call(memory, "GetItem", Key={"PK": {"S": f"CARD#{card.card_id}"}, "SK": {"S": "METADATA"}})
    assert "ttl" not in stored["Item"]


def test_draft_of_a_category_that_is_not_there_is_refused(db: PerfectIt) -> None:
    with pytest.raises(CategoryNotFoundError, match="there is no category knitting"):
        draft(db, category=CategoryId("knitting"))
    with pytest.raises(UserNotFoundError, match="there is no user eve"):
        draft(db, UserId("eve"))
    assert list(db.own_cards(ADA).all()) == []


# --- publishing ----------------------------------------------------------------------------------------------


def test_published_card_is_in_every_list(db: PerfectIt, clock: ManualClock) -> None:
    card = draft(db)
    clock.advance(3 * DAY_S)
    published = Publishing(db).publish(ADA, card.card_id)
    assert published.published_at == db.now()
    assert listed(db) == [{card.card_id}] * 3
    assert db.stats(card.card_id).one().published_at == published.published_at
    assert Publishing(db).read(card.card_id) == db.card(card.card_id).one()


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_cards_of_one_moment_are_in_one_page_each(db: PerfectIt, limit: int) -> None:
    """PI-31: their index keys are equal, and the cursor holds the key of the table too."""
    cards = [publish(db) for _ in range(5)]
    assert len({card.created_at for card in cards}) == 1
    for plan in (db.cards_by_category(WOOD), db.cards_by_author(ADA)):
        found: list[CardId] = []
        page = plan.page(limit)
        while True:
            found += [card.card_id for card in page]
            if page.cursor is None:
                break
            page = plan.page(limit, page.cursor)
        assert sorted(found) == sorted(card.card_id for card in cards)


def test_publishing_again_changes_nothing(db: PerfectIt) -> None:
    card = publish(db)
    assert Publishing(db).publish(ADA, card.card_id) == db.card(card.card_id).one() == card


def test_card_whose_deletion_was_interrupted_is_listed_again(db: PerfectIt) -> None:
    card = publish(db)
    db.update(db.stats(card.card_id), is_listed=False)  # the first thing that a deletion does
    Publishing(db).publish(ADA, card.card_id)
    assert db.stats(card.card_id).one().is_listed


def test_card_without_counts_is_archived(db: PerfectIt) -> None:
    """Other code has published it."""
    card = publish(db)
    db.delete(db.stats(card.card_id))
    assert Publishing(db).archive(ADA, card.card_id).status == "ARCHIVED"


@pytest.mark.parametrize("change", ["publish", "archive", "edit"])
def test_card_that_is_deleted_meanwhile_is_not_found(memory: PerfectIt, change: str) -> None:
    card = draft(memory)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation in ("TransactWriteItems", "UpdateItem"):
            between.before = lambda call: None
            Publishing(memory).delete(ADA, card.card_id)

    between.before = overtake
    changes = {"title": "Lost"} if change == "edit" else {}
    with pytest.raises(CardNotFoundError):
        getattr(Publishing(slow), change)(ADA, card.card_id, **changes)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("title", " ", "title: it is blank"),
        ("title", "x" * 201, "title: String should have at most 200"),
        ("title", None, "title: Input should be a valid string"),
        ("estimated_time", -5, "estimated_time: Input should be greater"),
        ("estimated_cost", Decimal(-5), "estimated_cost: Input should be greater"),
        ("estimated_cost", Decimal("1.234"), "estimated_cost is 1.234, which has more than 2 decimals"),
        ("materials", {"oil": float("nan")}, "NaN is no number"),
        ("category", "a#b", "holds '#'"),
        ("instructions", ["x" * 50_000], "instructions: it has 50,0"),
    ],
)
def test_nonsense_is_refused_with_the_field_and_the_reason(
    memory: PerfectIt, field: str, value: Any, problem: str
) -> None:
    card = draft(memory)
    with pytest.raises(InvalidInputError, match=problem):
        draft(memory, ADA, **{field: value})
    with pytest.raises(InvalidInputError, match=problem):
        Publishing(memory).edit(ADA, card.card_id, **{field: value})
    assert memory.card(card.card_id).one() == card == Publishing(memory).edit(ADA, card.card_id)


@pytest.mark.parametrize("days", [0, -1, 367, 10**6])
def test_recent_cards_of_too_many_days_or_none_are_refused(memory: PerfectIt, days: int) -> None:
    with pytest.raises(InvalidInputError, match=f"of the last 1 to 366 days, not of {days}"):
        memory.recent(memory.now(), days)


def test_card_is_published_once_though_two_do_it(memory: PerfectIt) -> None:
    card = draft(memory)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Publishing(memory).publish(ADA, card.card_id)

    between.before = overtake
    assert Publishing(slow).publish(ADA, card.card_id) == memory.card(card.card_id).one()
    assert memory.card(card.card_id).one().version == 2


def test_archived_card_leaves_the_lists_and_comes_back_where_it_was(
    db: PerfectIt, clock: ManualClock
) -> None:
    card = publish(db)
    archived = Publishing(db).archive(ADA, card.card_id)
    assert (archived.status, db.stats(card.card_id).one().is_listed) == ("ARCHIVED", False)
    assert listed(db) == [set(), set(), set()]
    with pytest.raises(CardNotFoundError):
        Publishing(db).read(card.card_id, viewer=BO)
    clock.advance(DAY_S)
    again = Publishing(db).publish(ADA, card.card_id)
    assert again.published_at == card.published_at
    assert (db.stats(card.card_id).one().is_listed, listed(db)) == (True, [{card.card_id}] * 3)


def test_draft_that_is_archived_expires_no_more_and_can_be_published(
    memory: PerfectIt, clock: ManualClock
) -> None:
    card = draft(memory)
    Publishing(memory).archive(ADA, card.card_id)
    clock.advance(100 * DAY_S)
    published = Publishing(memory).publish(ADA, card.card_id)
    assert published.published_at == memory.now()


@pytest.mark.parametrize("status", ["PUBLISHED", "ARCHIVED"])
def test_what_others_may_not_do_finds_no_card(memory: PerfectIt, status: CardStatus) -> None:
    card = publish(memory)
    publishing = Publishing(memory)
    if status == "ARCHIVED":
        publishing.archive(ADA, card.card_id)
    for refused in (
        lambda: publishing.publish(BO, card.card_id),
        lambda: publishing.archive(BO, card.card_id),
        lambda: publishing.edit(BO, card.card_id, title="Mine"),
        lambda: publishing.delete(BO, card.card_id),
        lambda: publishing.publish(ADA, CardId("nothing")),
    ):
        with pytest.raises(CardNotFoundError):
            refused()


# --- editing ---------------------------------------------------------------------------------------------------


def test_edited_card_moves_between_lists(db: PerfectIt) -> None:
    card = publish(db)
    paint = {"category_id": CategoryId("paint"), "cards_count": 0, "version": 0}
    db.create(db.category(WOOD).one().model_copy(update=paint))
    edited = Publishing(db).edit(
        ADA,
        card.card_id,
        category=CategoryId("paint"),
        estimated_cost=Decimal("12.50"),
        instructions=["Paint"],
    )
    assert edited.instructions == [Instruction(text="Paint")]
    assert list(db.cards_by_category(WOOD).all()) == []
    assert [each.card_id for each in db.cards_by_category(CategoryId("paint")).all()] == [card.card_id]


def test_edit_to_a_category_that_is_not_there_changes_nothing(db: PerfectIt) -> None:
    card = publish(db)
    with pytest.raises(CategoryNotFoundError):
        Publishing(db).edit(ADA, card.card_id, category=CategoryId("nowhere"), title="Lost")
    assert db.card(card.card_id).one() == card


@pytest.mark.parametrize("field", ["status", "vote_score", "view_count", "published_at", "version"])
def test_what_a_card_says_of_itself_is_not_edited(memory: PerfectIt, field: str) -> None:
    card = draft(memory)
    with pytest.raises(InvalidInputError, match=f"{field} cannot be edited"):
        Publishing(memory).edit(ADA, card.card_id, **{field: 1})


def test_edits_of_many_at_once_all_count(memory: PerfectIt) -> None:
    card = draft(memory)
    fields = ("title", "description", "tools", "tags")
    values = ("New", "Better", ["saw"], ["oak"])
    with ThreadPoolExecutor(4) as threads:
        for done in [
            threads.submit(Publishing(memory).edit, ADA, card.card_id, **{name: value})
            for name, value in zip(fields, values, strict=True)
        ]:
            done.result()
    edited = memory.card(card.card_id).one()
    assert tuple(getattr(edited, name) for name in fields) == values


# --- views -----------------------------------------------------------------------------------------------------


def test_view_is_counted_and_does_not_write_the_card(db: PerfectIt) -> None:
    card = publish(db)
    for _ in range(3):
        Publishing(db).viewed(card.card_id)
    assert db.stats(card.card_id).one().views == 3
    assert db.card(card.card_id).one() == card


def test_view_of_a_card_that_nobody_sees_is_refused(memory: PerfectIt) -> None:
    card = draft(memory)
    with pytest.raises(CardNotFoundError):
        Publishing(memory).viewed(card.card_id)


# --- instructions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({"L": [{"S": "Sand"}, {"S": "Oil"}]}, ["Sand", "Oil"]),
        ({"L": [{"M": {"text": {"S": "Sand"}, "minutes": {"N": "5"}}}]}, ["Sand"]),
        ({"L": []}, []),
    ],
)
def test_instructions_as_the_document_has_them_are_read(
    memory: PerfectIt, stored: object, read: list[str]
) -> None:
    card = publish(memory)
    item = {**PerfectIt.stored_item(card), "instructions": stored}
    call(memory, "PutItem", Item=item)
    assert [each.text for each in memory.card(card.card_id).one().instructions] == read


def test_large_instructions_are_stored_small(memory: PerfectIt) -> None:
    steps = [f"Sand the board with grain {number} until it is smooth everywhere." for number in range(400)]
    card = publish(memory, instructions=steps)
    stored = PerfectIt.stored_item(memory.card(card.card_id).one())["instructions"]["B"]
    assert len(stored) < sum(map(len, steps)) / 5
    assert [each.text for each in memory.card(card.card_id).one().instructions] == steps


def test_made_card_is_the_stored_card(memory: PerfectIt) -> None:
    card = publish(memory)
    assert isinstance(card, PerfectionCard)
    assert memory.card(card.card_id).one() == card
