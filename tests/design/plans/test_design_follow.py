"""Items that others point to: in the order of those, pages full and exact, and what leads nowhere left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs.ranking import (
    Card,
    CardPK,
    CardScore,
    Found,
    MetadataSK,
    Ranking,
    ScorePK,
    named_card,
)
from singletable import Database, Gt, Put, gather
from singletable.blueprint import Blueprint, ReadBlueprint, SortBlueprint
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.design.plans.followed import AT_ONCE_MAX
from singletable.drawing import Pattern, View, draw_design
from singletable.errors import (
    CursorMismatchError,
    DeclarationError,
    InvalidItemError,
    KeyValueError,
    MissingKeyPartError,
    NotFoundError,
    SeveralFoundError,
    UnknownFieldError,
)
from singletable.stack import Deployment, roles_of
from support.design_clients import Between, on_client
from support.opened_designs import opened_design, store
from support.run_commands import Run, command
from support.targets import TARGETS

NOW = datetime(2026, 3, 30, tzinfo=UTC)


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Ranking]:
    with opened_design(Ranking, request.param, clock) as opened:
        yield opened


@pytest.fixture
def asked(clock: ManualClock) -> Iterator[tuple[Ranking, Between]]:
    """A ranking in the process, and what it is asked."""
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        yield on_client(Ranking, between), between


def score(number: int, card_id: str | None = "", **fields: Any) -> CardScore:
    """Return the score of a number, which names the card of that number if no other is given."""
    named = f"c{number}" if card_id == "" else card_id
    values = {"board": "day", "score_id": f"s{number}", "score": number, "scored_at": NOW, "card_id": named}
    return CardScore(**{**values, **fields})


def card(number: int, **fields: Any) -> Card:
    return Card(card_id=f"c{number}", **fields)


def fill(db: Ranking, scores: Iterable[CardScore], cards: Iterable[Card]) -> None:
    db.batch(*map(Put, scores), *map(Put, cards))


def ids(cards: Iterable[Card]) -> list[str]:
    return [each.card_id for each in cards]


# --- what comes, and in which order ---------------------------------------------------------------------


def test_cards_come_in_the_order_of_their_scores(db: Ranking) -> None:
    fill(db, map(score, range(5)), map(card, range(5)))
    assert ids(db.board("day").all()) == ["c4", "c3", "c2", "c1", "c0"]
    assert ids(db.ranked("day").all()) == ["c4", "c3", "c2", "c1", "c0"]
    assert ids(db.plan(CardScore.key.query(ScorePK(board="day")).follow(Card.key, named_card)).all()) == [
        f"c{number}" for number in range(5)
    ]


def test_walk_is_followed_from_month_to_month(db: Ranking) -> None:
    month = timedelta(days=31)
    fill(db, [score(n, scored_at=NOW - month * n) for n in range(3)], map(card, range(3)))
    plan = db.of_months(NOW, NOW - month * 3)
    assert ids(plan.all()) == ["c0", "c1", "c2"]
    first = plan.page(2)
    assert ids(first) == ["c0", "c1"]
    assert ids(plan.page(2, first.cursor)) == ["c2"]


def test_what_is_gone_expired_or_named_by_nobody_is_left_out(db: Ranking, clock: ManualClock) -> None:
    over = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC)
    expired, alive = card(2, ttl=over), card(3, ttl=over + timedelta(days=1))
    fill(db, [*map(score, range(5)), score(9, None)], [card(0), expired, alive])
    page = db.board("day").page()
    assert ids(page) == ["c3", "c0"]
    # Six scores and three cards; of the scores, four led to nothing.
    assert (page.usage.read, page.usage.thrown_away) == (9, 4)


def test_card_that_several_scores_name_comes_once(db: Ranking) -> None:
    fill(db, [score(1, "c1"), score(2, "c2"), score(3, "c1")], map(card, (1, 2)))
    page = db.board("day").page()
    assert ids(page) == ["c1", "c2"]
    assert page.usage.thrown_away == 1
    assert ids(db.board("day").all()) == ["c1", "c2"]


def test_card_may_come_again_on_the_next_page(db: Ranking) -> None:
    fill(db, [score(1, "c1"), score(2, "c2"), score(3, "c1")], map(card, (1, 2)))
    first = db.board("day").page(2)
    assert ids(first) == ["c1", "c2"]
    assert ids(db.board("day").page(2, first.cursor)) == ["c1"]


def test_one_maybe_and_first_are_about_what_is_named(db: Ranking) -> None:
    fill(db, map(score, range(3)), [])
    plan = db.board("day")
    assert plan.first() is None
    assert plan.maybe() is None
    with pytest.raises(NotFoundError, match=r"Card named by CardScore\.key\.query"):
        plan.one()
    db.put(card(0))
    assert plan.one() == plan.first() == card(0)
    db.put(card(1))
    with pytest.raises(SeveralFoundError):
        plan.one()


def test_conditions_are_about_what_is_named(db: Ranking) -> None:
    fill(db, map(score, range(6)), [card(number, likes=number) for number in range(6)])
    page = db.board("day").where(Gt("likes", 1), name="card").where(card_id="c3").page()
    assert ids(page) == ["c3"]
    assert (page.usage.read, page.usage.thrown_away) == (12, 5)
    with pytest.raises(UnknownFieldError, match="Card has no field 'score'"):
        db.board("day").where(score=1)


def test_limits_are_of_scores_and_of_cards(db: Ranking) -> None:
    fill(db, map(score, range(6)), map(card, (0, 1, 2, 3)))
    assert ids(db.board("day").limit(3).all()) == ["c3", "c2", "c1"]
    assert ids(db.scores("day").limit(3).follow(Card.key, named_card).all()) == ["c3"]
    limited = db.board("day").limit(3)
    first = limited.page(2)
    second = limited.page(2, first.cursor)
    assert (ids(first), ids(second), second.cursor) == (["c3", "c2"], ["c1"], None)


def test_followed_plan_is_gathered_with_others(db: Ranking) -> None:
    fill(db, map(score, range(5)), map(card, range(5)))
    view = db.overview("day").one()
    assert view.first == score(4)
    assert ids(view.cards) == ["c4", "c3", "c2"]


def test_async_twins_do_the_same(db: Ranking) -> None:
    fill(db, map(score, range(5)), map(card, range(0, 5, 2)))
    plan = db.ranked("day")

    async def read() -> tuple[list[str], list[str], Card | None]:
        return ids(await plan.apage(2)), [each.card_id async for each in plan.aall()], await plan.afirst()

    assert asyncio.run(read()) == (["c4", "c2"], ["c4", "c2", "c0"], card(4))


# --- pages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_are_full_and_miss_nothing(db: Ranking, limit: int) -> None:
    there = [number for number in range(60) if number % 3 and number % 5]
    fill(db, map(score, range(60)), map(card, there))
    expected = ids(map(card, reversed(there)))
    for plan in (db.board("day"), db.ranked("day")):
        pages = []
        cursor = None
        while True:
            page = plan.page(limit, cursor)
            pages.append(ids(page))
            cursor = page.cursor
            if cursor is None:
                break
        assert [each for page in pages for each in page] == expected
        # The last may be followed by an empty one.
        assert all(len(page) == limit for page in pages[: len(expected) // limit])


@settings(max_examples=60, deadline=None)
@given(
    named=st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=40),
    there=st.sets(st.integers(0, 12)),
    limit=st.integers(1, 6),
)
def test_pages_together_are_what_the_scores_name(
    named: list[int | None], there: set[int], limit: int
) -> None:
    with Ranking.open(":memory:") as db:
        scores = [score(n, None if to is None else f"c{to}") for n, to in enumerate(named)]
        fill(db, scores, map(card, sorted(there)))
        whole = [f"c{to}" for to in reversed(named) if to is not None and to in there]
        assert ids(db.ranked("day").all()) == list(dict.fromkeys(whole))
        found: list[str] = []
        cursor = None
        while True:
            page = db.ranked("day").page(limit, cursor)
            assert len(set(ids(page))) == len(page)
            assert len(page) == limit or page.cursor is None
            found += ids(page)
            cursor = page.cursor
            if cursor is None:
                break
        # No target is missing, none comes that nobody names, and each page is a part of the order.
        assert set(found) == set(whole)
        remaining = iter(whole)
        assert all(each in remaining for each in found)


def test_cursor_of_the_scores_is_not_that_of_the_cards(db: Ranking) -> None:
    fill(db, map(score, range(3)), map(card, range(3)))
    of_scores = db.scores("day").page(1).cursor
    with pytest.raises(CursorMismatchError):
        db.board("day").page(1, of_scores)
    of_cards = db.board("day").page(1).cursor
    with pytest.raises(CursorMismatchError):
        db.board("day").where(name="card").page(1, of_cards)
    assert ids(db.board("day").page(5, of_cards)) == ["c1", "c0"]


def test_score_that_is_put_behind_the_cursor_meanwhile_comes(db: Ranking) -> None:
    fill(db, map(score, (1, 2, 5, 6)), map(card, range(7)))
    first = db.board("day").page(2)
    db.put(score(4))
    db.put(score(9, "c0"))
    assert ids(db.board("day").page(5, first.cursor)) == ["c4", "c2", "c1"]


# --- what is asked --------------------------------------------------------------------------------------


def test_page_asks_for_as_many_scores_as_cards(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(30)), map(card, range(30)))
    between.calls.clear()
    db.board("day").page(10)
    query, batch = between.calls
    assert (query.operation, query.params["Limit"]) == ("Query", 10)
    keys = batch.params["RequestItems"]["ranking"]["Keys"]
    assert [key["PK"]["S"] for key in keys] == [f"CARD#c{number}" for number in range(29, 19, -1)]
    assert db.board("day").request(10) == query.params


def test_cards_are_asked_for_by_hundreds_and_none_twice(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(250)), map(card, range(250)))
    fill(db, [score(300 + number, f"c{number}") for number in range(50)], [])
    between.calls.clear()
    assert len(db.board("day").page(250)) == 250
    batches = [call for call in between.calls if call.operation == "BatchGetItem"]
    sizes = [len(call.params["RequestItems"]["ranking"]["Keys"]) for call in batches]
    assert sum(sizes) == 250
    assert max(sizes) == 100


def test_everything_is_read_however_many_there_are(asked: tuple[Ranking, Between]) -> None:
    db, _ = asked
    count = AT_ONCE_MAX + 50
    fill(db, map(score, range(count)), map(card, range(count)))
    view = gather(Found, cards=db.board("day"), places=db.board("none"))
    assert len(db.plan(view).one().cards) == count


def test_where_little_is_left_more_is_asked_for_at_a_time(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(400)), map(card, range(3)))
    between.calls.clear()
    assert ids(db.board("day").page(2)) == ["c2", "c1"]
    assert len(between.calls) < 30
    assert ids(db.board("day").page(2, db.board("day").page(2).cursor)) == ["c0"]


def test_unprocessed_keys_are_asked_for_again(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(5)), map(card, range(5)))
    left = [True]

    def leave_some(call: Any) -> Any:
        if call.operation != "BatchGetItem" or not left:
            return None
        left.clear()
        wanted = call.params["RequestItems"]["ranking"]
        some, others = {**wanted, "Keys": wanted["Keys"][:2]}, {**wanted, "Keys": wanted["Keys"][2:]}
        answer = between.inner.call("BatchGetItem", {"RequestItems": {"ranking": some}})
        return {**answer, "UnprocessedKeys": {"ranking": others}}

    between.before = leave_some
    assert ids(db.board("day").all()) == ["c4", "c3", "c2", "c1", "c0"]


def test_nothing_is_asked_for_where_nothing_is_named(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, [score(number, None) for number in range(3)], [])
    between.calls.clear()
    assert db.board("day").page().items == []
    assert between.operations() == ["Query"]


def test_consistent_is_about_the_cards_alone(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(3)), map(card, range(3)))
    between.calls.clear()
    assert ids(db.ranked("day").consistent().page()) == ["c2", "c1", "c0"]
    assert ids(db.scores("day").consistent().follow(Card.key, named_card).page()) == ["c2", "c1", "c0"]
    consistent = [
        (call.params.get("ConsistentRead"), call.params.get("IndexName"))
        for call in between.calls
        if call.operation == "Query"
    ]
    assert consistent == [(None, "GSI1")] * 3 + [(True, None)]
    batches = [
        call.params["RequestItems"]["ranking"]
        for call in between.calls[3::1]
        if "RequestItems" in call.params
    ]
    assert [batch.get("ConsistentRead") for batch in batches] == [True, None]


def test_cached_page_costs_nothing_until_a_card_is_written(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    fill(db, map(score, range(3)), map(card, range(3)))
    plan = db.ranked("day").cached(seconds=60)
    assert plan.page().units > 0
    between.calls.clear()
    again = plan.page()
    assert (ids(again), again.units, between.calls) == (["c2", "c1", "c0"], 0, [])
    db.update(card(1), likes=7)
    assert [each.likes for each in plan.page()] == [0, 7, 0]


def test_cached_card_hides_when_its_time_is_over(db: Ranking, clock: ManualClock) -> None:
    over = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(seconds=5)
    fill(db, [score(1)], [card(1, ttl=over)])
    plan = db.board("day").cached(seconds=60)
    assert ids(plan.all()) == ["c1"]
    clock.advance(6)
    assert ids(plan.all()) == []


def test_usage_is_of_scores_and_cards(db: Ranking) -> None:
    fill(db, map(score, range(4)), map(card, range(4)))
    rows = db.board("day").all()
    assert len(list(rows)) == 4
    assert (rows.usage.read, rows.usage.thrown_away) == (8, 0)
    assert rows.usage.units == db.board("day").page().units == 0.5 + 4 * 0.5


# --- what is wrong --------------------------------------------------------------------------------------


def test_invalid_card_is_an_error_or_is_set_aside(db: Ranking) -> None:
    fill(db, map(score, range(3)), map(card, (0, 2)))
    store(db, {**Ranking.stored_item(card(1)), "likes": {"S": "many"}})
    with pytest.raises(InvalidItemError):
        db.board("day").page()
    invalid: list[InvalidItemError] = []
    page = db.board("day").setting_aside(invalid.append).page()
    assert ids(page) == ["c2", "c0"]
    assert page.usage.thrown_away == 1
    assert [error.key for error in invalid] == [{"PK": {"S": "CARD#c1"}, "SK": {"S": "METADATA"}}]


def test_invalid_score_is_set_aside_too(db: Ranking) -> None:
    fill(db, map(score, range(2)), map(card, range(2)))
    store(db, {**Ranking.stored_item(score(5)), "score": {"S": "many"}})
    invalid: list[InvalidItemError] = []
    assert ids(db.board("day").setting_aside(invalid.append).all()) == ["c1", "c0"]
    assert len(invalid) == 1


def test_index_has_no_whole_keys_to_point_to() -> None:
    with pytest.raises(DeclarationError, match="an index has no get"):
        CardScore.key.query(ScorePK(board="day")).follow(Card.by_name, named_card)  # type: ignore[arg-type]


def test_what_is_no_key_of_the_target_is_refused(db: Ranking) -> None:
    db.put(score(1))
    for wrong in (
        lambda each: (ScorePK(board=each.board), MetadataSK()),
        lambda each: CardPK(card_id="c1"),
        lambda each: "c1",
    ):
        with pytest.raises((KeyValueError, MissingKeyPartError)):
            db.plan(CardScore.key.query(ScorePK(board="day")).follow(Card.key, wrong)).page()  # type: ignore[arg-type]


def test_targets_and_functions_are_asked_for() -> None:
    scores = CardScore.key.query(ScorePK(board="day"))
    with pytest.raises(TypeError, match="the keys of an entity"):
        scores.follow(Card, named_card)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="is a function"):
        scores.follow(Card.key, "card_id")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="is a function"):
        scores.follow(Card.key, None)  # type: ignore[call-overload]


def test_entity_of_another_design_is_refused(db: Ranking) -> None:
    class Other(Card):
        pass

    db.put(score(1))
    with pytest.raises(DeclarationError, match="is not an entity of Ranking"):
        db.plan(CardScore.key.query(ScorePK(board="day")).follow(Other.key, named_card)).page()


# --- as data --------------------------------------------------------------------------------------------


def reads(method: str) -> tuple[ReadBlueprint, ...]:
    (found,) = [each for each in Ranking.blueprint().patterns if each.method == method]
    return found.reads


def test_blueprint_has_the_query_and_the_cards_that_it_names() -> None:
    query, batch = reads("liked")
    assert (query.operation, query.index, query.pk, query.count) == (
        "Query",
        "GSI1",
        "RANKED#{board}#{shard}",
        3,
    )
    assert (query.order, query.is_consistent) == ("backward", False)
    assert batch == ReadBlueprint(
        "BatchGetItem",
        ("Card",),
        "CARD#{card_id}",
        sort=SortBlueprint("=", ("METADATA",)),
        filter={"operator": ">", "field": "likes", "parameter": "likes"},
        limit=10,
        is_consistent=True,
        named_by="CardScore",
    )


def test_blueprint_says_of_each_read_that_is_gathered_how_fresh_it_is() -> None:
    assert [(each.operation, each.name, each.is_consistent) for each in reads("overview")] == [
        ("Query", "first", True),
        ("Query", "cards", False),
        ("BatchGetItem", "cards", True),
    ]


def test_blueprint_goes_through_json_and_says_it_in_its_table() -> None:
    blueprint = Ranking.blueprint()
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
    assert "the items that CardScore names" in blueprint.text()
    assert {each.operation for each in blueprint.patterns if each.method == "board"} == {"Followed"}


def test_role_may_batch_get_where_a_plan_is_followed() -> None:
    roles = roles_of(Ranking.blueprint(), Deployment(account="123456789012", region="eu-west-1"))
    (table,) = [each for each in roles.reader.statements if each.sid == "ReadTable"]
    assert table.actions == ("dynamodb:BatchGetItem", "dynamodb:Query")


def test_picture_has_the_pattern_at_the_index_and_at_the_cards() -> None:
    views = {view.name: view for view in draw_design(Ranking.blueprint()).views}
    scores = [each for each in pictured(views["GSI1"]) if each.call.startswith("liked(")]
    cards = [each for each in pictured(views["table"]) if each.call.startswith("liked(")]
    assert [each.operation for each in scores] == ["Query"]
    assert [each.operation for each in cards] == ["BatchGetItem"]
    assert "the items that CardScore names" in cards[0].details


def pictured(view: View) -> list[Pattern]:
    return [pattern for collection in view.collections for pattern in collection.patterns]


# --- the command ----------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command, with the pattern `board` of a file in which five of six cards are there."""
    file = str(tmp_path / "ranking.db")
    with Ranking.open(file) as db:
        fill(db, map(score, range(6)), map(card, (0, 1, 2, 4, 5)))
    whole = command(capsys)
    return lambda *words: whole(
        "run", "designs.ranking:Ranking.board", "--board", "day", "--target", file, *words
    )


def test_command_shows_cards_page_by_page(run: Run) -> None:
    first = run("--limit", "3", "--json")
    assert [item["cardId"] for item in first.json["items"]] == ["c5", "c4", "c2"]
    assert (first.json["read"], first.json["thrown_away"]) == (9, 1)
    second = run("--limit", "3", "--cursor", first.json["cursor"], "--json")
    assert [item["cardId"] for item in second.json["items"]] == ["c1", "c0"]
    assert [line["cardId"] for line in run("--all", "--json").lines[:5]] == ["c5", "c4", "c2", "c1", "c0"]


def test_command_explains_the_query_and_what_is_read_after_it(run: Run) -> None:
    ran = run("--explain")
    assert ran.code == 0
    assert "1. Query on ranking: 0.5 units, 6 read" in ran.out + ran.err
    assert "2. BatchGetItem on ranking: 3 units, 5 read" in ran.out + ran.err


def test_command_without_asking_knows_the_query_alone(run: Run) -> None:
    ran = run("--dry-run")
    assert "1. Query on ranking" in ran.out
    assert "BatchGetItem" not in ran.out


def test_command_cannot_turn_the_order(run: Run) -> None:
    ran = run("--oldest-first")
    assert (ran.code, "has an order of its own" in ran.err) == (2, True)
