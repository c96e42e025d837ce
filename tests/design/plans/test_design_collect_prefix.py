"""Item collections that are narrowed to a beginning of their sort keys, and limited to so many items."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from designs.changing_letters import Letter, Letters, LetterTable, OldLetter, OldLetters
from designs.letters import BoxPK, LetterSK
from designs.ranking import (
    Card,
    CardPK,
    Code,
    Found,
    MetadataSK,
    NamedPlaceSK,
    NameSK,
    NamesPK,
    Place,
    PlacePK,
    Ranking,
    RankingTable,
    ScoreSK,
)
from singletable import Collection, Database, Design, Entity, Keys, Put, SortKey, collect
from singletable.blueprint import SortBlueprint
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.errors import DeclarationError, KeyValueError
from support.design_clients import Between, on_client
from support.opened_designs import opened_design
from support.targets import TARGETS

NAMES = ["apple", "apricot", "avocado", "banana"]


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Ranking]:
    with opened_design(Ranking, request.param, clock) as opened:
        fill(opened)
        yield opened


@pytest.fixture
def asked(clock: ManualClock) -> Iterator[tuple[Ranking, Between]]:
    """A ranking in the process, and what it is asked."""
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        opened = on_client(Ranking, between)
        fill(opened)
        between.calls.clear()
        yield opened, between


def fill(db: Ranking) -> None:
    """Store a card and a place of each name, and codes, which are in the same partition of the index."""
    cards = [Card(card_id=f"c{number}", name=name) for number, name in enumerate(NAMES)]
    places = [Place(place_id=f"p{number}", name=name) for number, name in enumerate(NAMES)]
    codes = [Code(place_id=f"p{number}", code=f"{number}") for number in range(20)]
    db.batch(*map(Put, cards), *map(Put, places), *map(Put, codes))


def names(found: Found) -> tuple[list[str], list[str]]:
    return [card.name for card in found.cards], [place.name for place in found.places]


def narrowed(db: Ranking, sk: Any = None) -> Any:
    return db.plan(collect(Found, NamesPK(), sk, index=RankingTable.gsi3))


# --- prefixes -------------------------------------------------------------------------------------------


def test_prefix_narrows_the_items_of_all_kinds(db: Ranking) -> None:
    found = narrowed(db, NameSK.starting(name="ap")).found()
    assert names(found.item) == (["apple", "apricot"], ["apple", "apricot"])
    assert (found.usage.read, found.usage.thrown_away) == (4, 0)


def test_prefix_of_one_kind_is_a_text_for_the_others(db: Ranking) -> None:
    assert names(narrowed(db, NamedPlaceSK.starting(name="ap")).one()) == (
        ["apple", "apricot"],
        ["apple", "apricot"],
    )
    # The keys of cards end with the name: none begins with a name and what follows it.
    assert names(narrowed(db, NamedPlaceSK.prefix(name="apple")).one()) == ([], ["apple"])


def test_prefix_with_every_value_is_one_key_as_in_queries(db: Ranking) -> None:
    db.put(Card(card_id="c9", name="apples"))
    for sk in (NameSK.prefix(name="apple"), NameSK(name="apple")):
        assert names(narrowed(db, sk).one()) == (["apple"], [])
    assert names(db.called("apple").one()) == (["apple"], [])


def test_prefix_without_values_is_what_all_keys_of_the_class_begin_with(db: Ranking) -> None:
    found = narrowed(db, NameSK.prefix()).found()
    assert names(found.item) == (NAMES, NAMES)
    assert found.usage.read == 8


def test_nothing_begins_so(db: Ranking) -> None:
    assert names(narrowed(db, NameSK.starting(name="x")).one()) == ([], [])


def test_rows_and_async_twins_are_narrowed_too(db: Ranking) -> None:
    plan = narrowed(db, NameSK.starting(name="b"))
    assert [type(each) for each in plan.all()] == [Card, Place]

    async def read() -> tuple[Found, list[Entity]]:
        return await plan.aone(), [each async for each in plan.aall()]

    found, rows = asyncio.run(read())
    assert [*found.cards, *found.places] == rows


def test_table_is_narrowed_by_its_own_sort_keys(db: Ranking) -> None:
    class OfCard(Collection):
        card: Card

    assert db.plan(collect(OfCard, CardPK(card_id="c1"), MetadataSK.prefix())).one().card.name == "apricot"
    assert db.plan(collect(OfCard, CardPK(card_id="c9"), MetadataSK())).maybe() is None


def test_request_has_the_prefix_and_the_limit(asked: tuple[Ranking, Between]) -> None:
    db, between = asked
    assert db.named("ap").one() is not None
    (call,) = between.calls
    assert call.params == db.named("ap").request()
    assert call.params["KeyConditionExpression"] == "#0 = :0 AND begins_with(#1, :1)"
    assert call.params["ExpressionAttributeValues"] == {":0": {"S": "NAMES"}, ":1": {"S": "NAME#ap"}}
    assert (call.params["Limit"], call.params["IndexName"]) == (5, "GSI3")


# --- limits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", range(1, 10))
def test_limit_is_of_all_kinds_together_in_the_order_of_the_sort_key(db: Ranking, limit: int) -> None:
    whole = [*narrowed(db).all()]
    assert [type(each) for each in whole[:4]] == [Card, Place] * 2
    plan = narrowed(db).limit(limit)
    found = plan.one()
    assert list(plan.all()) == whole[:limit]
    assert found.cards == [each for each in whole[:limit] if type(each) is Card]
    assert found.places == [each for each in whole[:limit] if type(each) is Place]


def test_what_is_thrown_away_does_not_count(asked: tuple[Ranking, Between]) -> None:
    db, between = asked

    class OnlyPlaces(Collection):
        places: list[Place]

    plan = db.plan(collect(OnlyPlaces, NamesPK(), NameSK.prefix(), index=RankingTable.gsi3)).limit(3)
    with pytest.raises(DeclarationError, match="none of its entities has this sort key"):
        plan.one()
    plan = db.plan(collect(OnlyPlaces, NamesPK(), NamedPlaceSK.starting(name="a"), index=RankingTable.gsi3))
    found = plan.limit(3).found()
    assert found.item is not None
    assert [place.name for place in found.item.places] == ["apple", "apricot", "avocado"]
    assert (found.usage.read, found.usage.thrown_away) == (6, 3)
    limits = [call.params["Limit"] for call in between.calls]
    assert limits[0] == 3
    assert len(limits) > 1


def test_where_most_is_thrown_away_more_is_asked_for_at_a_time(asked: tuple[Ranking, Between]) -> None:
    db, between = asked

    class Both(Collection):
        codes: list[Code]
        places: list[Place]

    db.batch(*(Put(Card(card_id=f"x{number}", name=f"aa{number:03}")) for number in range(200)))
    between.calls.clear()
    plan = db.plan(collect(Both, NamesPK(), NamedPlaceSK.prefix(), index=RankingTable.gsi3)).limit(1)
    assert [place.name for place in plan.one().places] == ["apple"]
    assert [call.params["Limit"] for call in between.calls] == [1, 2, 4, 8, 16, 32, 64, 128]


def test_limit_with_nothing_there_is_empty(db: Ranking) -> None:
    plan = narrowed(db, NameSK.starting(name="x")).limit(3)
    assert names(plan.one()) == ([], [])
    assert list(plan.all()) == []


def test_cached_and_consistent_answers_are_limited_too(asked: tuple[Ranking, Between]) -> None:
    db, between = asked

    class OfPlace(Collection):
        place: Place | None
        codes: list[Code]

    plan = db.plan(collect(OfPlace, PlacePK(place_id="p1"))).consistent().limit(1).cached(seconds=60)
    assert plan.one() == OfPlace(place=None, codes=[Code(place_id="p1", code="1")])
    assert (between.calls[0].params["ConsistentRead"], between.calls[0].params["Limit"]) == (True, 1)
    asked_before = len(between.calls)
    assert plan.found().units == 0
    assert len(between.calls) == asked_before


# --- keys that change -----------------------------------------------------------------------------------


def letters(client: Any) -> Letters:
    """Store letters under old keys and under new ones, in turns."""
    old, new = on_client(OldLetters, client), on_client(Letters, client, makes_table=False)
    for number in range(0, 10, 2):
        old.put(OldLetter(tenant="t", box="b", number=number, day="2026-01-01", subject=f"{number}"))
    for number in range(1, 10, 2):
        new.put(Letter(tenant="t", box="b", number=number, day="2026-01-01", subject=f"{number}"))
    return new


@pytest.mark.parametrize("limit", [1, 3, 10, 30])
def test_items_under_old_keys_count_in_their_order(limit: int) -> None:
    with Database.open(":memory:", clock=ManualClock()) as database, open_client(database) as client:
        new = letters(client)
        plan = new.whole("t", "b").limit(limit)
        found = [each.number for each in plan.all() if isinstance(each, Letter)]
        assert found == list(range(10))[:limit]


class NoteSK(SortKey, template="LETTER#{day}#NOTE#{note}"):
    day: str
    note: str


class Note(Entity):
    key = Keys(BoxPK, NoteSK)

    tenant: str
    box: str
    day: str
    note: str


class Desk(Collection):
    letters: list[Letter]
    notes: list[Note]


class NotedLetters(Design):
    table = LetterTable
    entities = (Letter, Note)


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("of", [NoteSK, LetterSK])
def test_items_under_old_keys_are_narrowed_by_the_keys_that_they_will_have(
    of: type[NoteSK] | type[LetterSK], limit: int | None
) -> None:
    with Database.open(":memory:", clock=ManualClock()) as database, open_client(database) as client:
        letters(client)
        early = OldLetter(tenant="t", box="b", number=30, day="2025-12-31", subject="early")
        on_client(OldLetters, client, makes_table=False).put(early)
        db = on_client(NotedLetters, client, makes_table=False)
        db.put(Letter(tenant="t", box="b", number=40, day="2026-02-01", subject="later"))
        db.put(Note(tenant="t", box="b", day="2026-01-01", note="n"))
        plan = db.plan(collect(Desk, BoxPK(tenant="t", box="b"), of.starting(day="2026-01")))
        plan = plan if limit is None else plan.limit(limit)
        desk = plan.one()
        assert sorted(letter.number for letter in desk.letters) == list(range(10))[:limit]
        assert len(desk.notes) == (1 if limit is None else 0)
        assert len(list(plan.all())) == (11 if limit is None else 2)


# --- what is wrong --------------------------------------------------------------------------------------


def test_prefix_of_a_key_that_no_field_has_is_refused(db: Ranking) -> None:
    with pytest.raises(DeclarationError, match="narrowed by ScoreSK") as refused:
        narrowed(db, ScoreSK.prefix()).one()
    assert "NameSK" in (refused.value.hint or "")


def test_what_is_no_sort_key_is_refused() -> None:
    for wrong in ("NAME#a", NamesPK(), 7):
        with pytest.raises(TypeError, match="a prefix of a sort key"):
            collect(Found, NamesPK(), wrong)  # type: ignore[arg-type]


def test_key_without_a_template_has_no_text_to_begin_with() -> None:
    class PlainSK(SortKey):
        name: str

    with pytest.raises(KeyValueError, match="without a template, a key has no text"):
        collect(Found, NamesPK(), PlainSK.prefix(name="a"))


def test_limit_is_a_number_of_items_of_a_partition(db: Ranking) -> None:
    with pytest.raises(ValueError, match="at least one item"):
        narrowed(db).limit(0)
    with pytest.raises(TypeError, match="whole number"):
        narrowed(db).limit("3")
    with pytest.raises(DeclarationError, match="is gathered from several plans"):
        db.overview("day").limit(3)


# --- as data --------------------------------------------------------------------------------------------


def test_blueprint_has_the_prefix_and_the_limit() -> None:
    patterns = {each.method: each.reads for each in Ranking.blueprint().patterns}
    (named,) = patterns["named"]
    assert (named.operation, named.entities, named.index, named.limit) == (
        "Query",
        ("Card", "Place"),
        "GSI3",
        5,
    )
    assert named.sort == SortBlueprint("begins_with", ("NAME#{name}",), "NAME#")
    (called,) = patterns["called"]
    # A value that is the same in all calls is the caller's all the same.
    assert Ranking.patterns()["named"].samples == {"term": "a"}
    assert (called.sort, called.limit) == (SortBlueprint("=", ("NAME#{name}",), "NAME#"), None)
