"""Entities as items, and back: every type round-trips, what is not known stays, old forms are read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from designs.cards import Card, CardId, Cards, Level, Step, UserId
from designs.kefir import BatchId, Kefir, Reminder, ReminderId
from designs.kefir import UserId as KefirUserId
from singletable.clock import ManualClock
from singletable.design import (
    Compressed,
    Condition,
    Contains,
    Design,
    Digits,
    Entity,
    Eq,
    Exists,
    Get,
    Gt,
    In,
    Index,
    Key,
    Keys,
    Le,
    Ne,
    SortKey,
    Stored,
    Table,
    pattern,
)
from singletable.design.model.catalog import Catalog
from singletable.design.session.expressions import Placeholders, condition_text
from singletable.design.values.conditions import holds
from singletable.design.values.items import Item, item_bytes, number_text
from singletable.errors import (
    InvalidItemError,
    InvalidWriteError,
    ItemTooLargeError,
    LargeItemWarning,
)
from singletable.values.numbers import normalize

NOON = datetime(2025, 1, 20, 12, tzinfo=UTC)
NOON_US = int(NOON.timestamp()) * 1_000_000


class Color(Enum):
    RED = "red"
    BLUE = 2


class Rank(IntEnum):
    LOW = 1
    HIGH = 2


class Mood(StrEnum):
    GOOD = "good"


class Leaf(BaseModel):
    leaf_name: str
    leaf_count: int | None  # required, and may be None
    weight: Annotated[Decimal, Digits(3)] = Decimal(1)
    short: Annotated[str, Stored("s")] = ""
    tags: set[str] = {"new"}
    seen_at: datetime | None = NOON


class Twig(BaseModel):
    twig_id: int
    leaves: list[Leaf] = []
    twigs: list[Twig] = []


class EverythingPK(Key, template="ALL#{name}"):
    name: str


class Everything(Entity):
    key = Keys(EverythingPK)

    name: str
    text: str
    number: int
    exact: Decimal
    fraction: float
    flag: bool
    data: bytes
    at: datetime
    day: date
    hour: time
    span: timedelta
    color: Color
    rank: Rank
    mood: Mood
    choice: Literal["a", 1, "b"]
    uuid: UUID
    words: list[str]
    numbers: tuple[int, ...]
    texts: set[str]
    sums: frozenset[Decimal]
    blobs: set[bytes]
    uuids: set[UUID]
    times: set[datetime]
    colors: set[Color]
    plain: dict[str, Any]
    by_number: dict[int, str]
    by_color: dict[Color, list[int]]
    leaf: Leaf
    twig: Twig | None
    either: Leaf | Twig
    named_leaves: dict[str, Leaf]
    maybe_text: str | None = "something"
    maybe_number: int | None = None
    default_texts: set[str] = Field(default_factory=lambda: {"x"})
    no_texts: set[str] = Field(default_factory=set)
    report: Annotated[dict[str, Any], Compressed()] = Field(default_factory=dict)
    twigs: Annotated[list[Twig], Compressed()] | None = None
    price: Annotated[float, Digits(2)] | None = None


class OneTable(Table):
    name = "one"
    sk = None


class One(Design):
    table = OneTable
    entities = (Everything,)

    @pattern("1 Get")
    def thing(self, name: str) -> Get[Everything]:
        return Everything.key.get(EverythingPK(name=name))


# --- every type ----------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8"), max_size=6)
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
names = st.text("abcXYZ_1", min_size=1, max_size=4)
exact = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=6)
whole = st.integers(-(10**37), 10**37)
floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e120, max_value=1e120).filter(
    lambda value: value == 0 or abs(value) > 1e-120
)
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-9))])
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)  # noqa: DTZ001
milliseconds = times.map(lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000))
plain = st.recursive(
    st.none() | st.booleans() | whole | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
leaves = st.builds(
    Leaf,
    leaf_name=texts,
    leaf_count=st.none() | whole,
    weight=st.decimals(-1000, 1000, places=3),
    short=texts,
    tags=st.sets(texts, max_size=2),
    seen_at=st.none() | milliseconds,
)
twigs = st.recursive(
    st.builds(Twig, twig_id=whole, leaves=st.lists(leaves, max_size=2)),
    lambda inner: st.builds(Twig, twig_id=whole, twigs=st.lists(inner, max_size=2)),
    max_leaves=3,
)
everything = st.builds(
    Everything,
    name=names,
    text=texts,
    number=whole,
    exact=exact,
    fraction=floats,
    flag=st.booleans(),
    data=st.binary(max_size=4),
    at=milliseconds,
    day=st.dates(),
    hour=st.times(),
    span=st.timedeltas(timedelta(days=-999), timedelta(days=999)),
    color=st.sampled_from(Color),
    rank=st.sampled_from(Rank),
    mood=st.sampled_from(Mood),
    choice=st.sampled_from(["a", 1, "b"]),
    uuid=st.uuids(),
    words=st.lists(texts, max_size=3),
    numbers=st.lists(whole, max_size=3).map(tuple),
    texts=st.sets(texts, max_size=3),
    sums=st.frozensets(exact, max_size=3),
    blobs=st.sets(st.binary(max_size=3), max_size=3),
    uuids=st.sets(st.uuids(), max_size=2),
    times=st.sets(milliseconds, max_size=2),
    colors=st.sets(st.sampled_from([Color.RED]), max_size=1),
    plain=st.dictionaries(words, plain, max_size=3),
    by_number=st.dictionaries(whole, texts, max_size=2),
    by_color=st.dictionaries(st.sampled_from([Color.RED]), st.lists(whole, max_size=2), max_size=1),
    leaf=leaves,
    twig=st.none() | twigs,
    either=leaves | twigs,
    named_leaves=st.dictionaries(words, leaves, max_size=2),
    maybe_text=st.none() | texts,
    maybe_number=st.none() | whole,
    default_texts=st.sets(texts, max_size=2),
    no_texts=st.sets(texts, max_size=2),
    report=st.dictionaries(words, plain, max_size=3),
    twigs=st.none() | st.lists(twigs, max_size=2),
    price=st.none() | st.integers(-(10**6), 10**6).map(lambda cents: cents / 100),
)


@pytest.fixture(scope="module")
def one() -> Iterator[One]:
    with One.open(":memory:") as db:
        yield db


@given(everything)
def test_entity_is_read_as_it_was_stored(one: One, entity: Everything) -> None:
    one.put(entity)
    found = one.thing(entity.name).one()
    assert found == entity
    for field in Everything.model_fields:
        assert type(getattr(found, field)) is type(getattr(entity, field)), field


@given(everything)
def test_entity_is_equal_whether_it_was_read_or_made(entity: Everything) -> None:
    schema = One.catalog.schema_for(Everything)
    found = schema.to_entity(schema.to_item(entity))
    assert found == entity
    assert found.model_dump() == entity.model_dump()
    assert repr(found) == repr(found.model_copy())
    assert found.model_copy(deep=True) == entity


@given(times)
def test_times_are_stored_in_utc_to_the_millisecond(at: datetime) -> None:
    reminder = Reminder(
        batch_id=BatchId("b"), reminder_id=ReminderId("r"), user_id=KefirUserId("u"), message="m", due_at=at
    )
    schema = Kefir.catalog.schema_for(Reminder)
    item = schema.to_item(reminder)
    assert item["dueAt"]["S"] in item["GSI1SK"]["S"]
    assert len(item["dueAt"]["S"]) == len("2025-01-20T12:00:00.000Z")
    read: Any = schema.to_entity(item)
    assert read.due_at == reminder.due_at
    assert timedelta(0) <= at - reminder.due_at < timedelta(milliseconds=1)


def test_time_without_a_zone_is_refused_when_the_entity_is_made() -> None:
    with pytest.raises(ValidationError, match="should have timezone info"):
        Reminder(
            batch_id=BatchId("b"),
            reminder_id=ReminderId("r"),
            user_id=KefirUserId("u"),
            message="m",
            due_at=datetime(2025, 1, 20),  # noqa: DTZ001
        )


def test_time_without_a_zone_that_slipped_in_is_refused_when_it_is_stored() -> None:
    leaf = Leaf(leaf_name="l", leaf_count=1, seen_at=datetime(2025, 1, 20))  # noqa: DTZ001
    with pytest.raises(InvalidWriteError, match="2025-01-20T00:00:00 has no time zone"):
        item_of(thing(leaf=leaf))


def thing(**values: Any) -> Everything:
    """Make an entity of everything, these values among it."""
    leaf = Leaf(leaf_name="l", leaf_count=None)
    given: dict[str, Any] = {
        "name": "n",
        "text": "t",
        "number": 1,
        "exact": Decimal(1),
        "fraction": 1.5,
        "flag": True,
        "data": b"x",
        "at": NOON,
        "day": NOON.date(),
        "hour": time(12),
        "span": timedelta(1),
        "color": Color.RED,
        "rank": Rank.LOW,
        "mood": Mood.GOOD,
        "choice": 1,
        "uuid": UUID(int=1),
        "leaf": leaf,
        "either": leaf,
        "twig": None,
        "numbers": (),
        "sums": frozenset(),
        **{name: set() for name in ("texts", "blobs", "uuids", "times", "colors")},
        **{name: {} for name in ("plain", "by_number", "by_color", "named_leaves")},
        "words": [],
    }
    return Everything(**{**given, **values})


def item_of(entity: Everything) -> Item:
    return One.catalog.schema_for(Everything).to_item(entity)


def test_none_and_empty_sets_are_no_attributes_unless_the_default_is_another() -> None:
    item = item_of(thing(maybe_text=None, default_texts=set()))
    assert not {"twig", "texts", "maybeNumber", "noTexts"} & item.keys()
    assert item["maybeText"] == {"NULL": True}
    assert item["defaultTexts"] == {"L": []}
    assert item["leaf"]["M"].keys() == {"leafName", "weight", "s", "tags", "seenAt"}


def test_values_have_the_plainest_form() -> None:
    item = item_of(
        thing(sums={Decimal("1.50")}, colors={Color.RED}, rank=Rank.HIGH, plain={"a_b": [None, 1.5]})
    )
    assert item["sums"] == {"NS": ["1.5"]}
    assert item["colors"] == {"SS": ["red"]}
    assert (item["rank"], item["choice"], item["at"]) == (
        {"N": "2"},
        {"N": "1"},
        {"S": "2025-01-20T12:00:00.000Z"},
    )
    assert item["plain"] == {"M": {"a_b": {"L": [{"NULL": True}, {"N": "1.5"}]}}}
    assert item["leaf"]["M"]["s"] == {"S": ""}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"fraction": float("inf")}, "Infinity is no number that can be stored"),
        ({"exact": Decimal("NaN")}, "NaN is no number that can be stored"),
        ({"colors": {Color.RED, Color.BLUE}}, "a set is of texts, of numbers or of bytes"),
        ({"plain": {"x": object()}}, "object is no type that can be stored"),
        ({"price": 1.234}, "price is 1.234, which has more than 2 decimals"),
        (
            {"leaf": Leaf(leaf_name="", leaf_count=1, weight=Decimal("0.0001"))},
            "weight is 0.0001, which has more",
        ),
        ({"plain": {"": 1}}, "a name inside a dict is empty"),
        ({"report": {"x": b"bytes"}}, "bytes cannot be stored in a compressed field"),
    ],
)
def test_value_that_cannot_be_stored_is_refused(values: dict[str, Any], sentence: str) -> None:
    entity = thing()
    entity.__dict__.update(values)  # as an assignment would, which is not validated
    with pytest.raises(InvalidWriteError, match=sentence):
        item_of(entity)


# --- Digits and Compressed -------------------------------------------------------------------------------


class AmountPK(Key, template="{name}"):
    name: str


class Amount(Entity):
    key = Keys(AmountPK)

    name: str
    exact: Annotated[Decimal, Digits(2)] = Decimal(0)
    rounded: Annotated[float, Digits(1, rounds=True)] = 0.0


AMOUNTS = Catalog("Amounts", OneTable, (Amount,), "camel", "kind").schema_for(Amount)


@pytest.mark.parametrize(
    ("given", "text"), [(2.25, "2.2"), (2.35, "2.4"), (-0.04, "0"), (1e22, "1" + "0" * 22)]
)
def test_float_is_rounded_by_the_digits_that_python_shows(given: float, text: str) -> None:
    assert AMOUNTS.to_item(Amount(name="n", rounded=given))["rounded"] == {"N": text}


def test_number_has_no_zeros_behind_its_last_digit_also_inside_of_a_map() -> None:
    assert AMOUNTS.to_item(Amount(name="n", exact=Decimal("22.5")))["exact"] == {"N": "22.5"}
    item = item_of(
        thing(
            exact=Decimal("22.500"),
            leaf=Leaf(leaf_name="l", leaf_count=1, weight=Decimal("22.5")),
            plain={"ten": Decimal("10.0"), "hundred": Decimal("1E+2"), "zero": Decimal("-0.00"), "two": 2.0},
        )
    )
    assert item["exact"] == {"N": "22.5"}
    assert item["leaf"]["M"]["weight"] == {"N": "22.5"}
    assert {name: value["N"] for name, value in item["plain"]["M"].items()} == {
        "ten": "10",
        "hundred": "100",
        "zero": "0",
        "two": "2",
    }


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=6)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.builds(Decimal, st.from_regex(r"-?[0-9]{1,9}(\.[0-9]{1,9})?E[+-]?[0-9]{1,2}", fullmatch=True))
)
def test_number_is_sent_as_the_engine_stores_it(number: Decimal | float) -> None:
    text = number_text(number)
    assert text == normalize(text)
    assert Decimal(text) == (Decimal(repr(number)) if isinstance(number, float) else number)


def test_number_beyond_all_bounds_is_not_written_out() -> None:
    assert number_text(Decimal("1E+999999")) == "1E+999999"
    assert number_text(Decimal("0E+999999")) == "0"


def test_number_of_any_size_keeps_its_declared_decimals() -> None:
    great = Decimal("123456789012345678901234567890123456.25")
    item = AMOUNTS.to_item(Amount(name="n", exact=great))
    read: Any = AMOUNTS.to_entity(item)
    assert read.exact == great


def test_compressed_field_is_json_of_equal_bytes_for_equal_values() -> None:
    report = {"text": "ü" * 1000, "exact": Decimal("0.1234567890123456789"), "list": [1, None, True]}
    first, second = (item_of(thing(report=report))["report"]["B"] for _ in range(2))
    assert first == second
    assert len(first) < 150
    assert json.loads(gzip.decompress(first))["list"] == [1, None, True]
    schema = One.catalog.schema_for(Everything)
    read: Any = schema.to_entity(item_of(thing(report=report)))
    assert read.report == report


def test_compressed_field_reads_the_plain_form_too() -> None:
    item = item_of(thing(twigs=[Twig(twig_id=1, leaves=[Leaf(leaf_name="l", leaf_count=2)])]))
    item["twigs"] = {"L": [{"M": {"twigId": {"N": "7"}, "leaves": {"L": []}}}]}
    found: Any = One.catalog.schema_for(Everything).to_entity(item)
    assert found.twigs == [Twig(twig_id=7)]


def test_damaged_compressed_field_is_an_invalid_item() -> None:
    item = item_of(thing(report={"x": 1}))
    item["report"] = {"B": item["report"]["B"][:-4]}
    with pytest.raises(
        InvalidItemError, match="the item ALL#n is no Everything: what is compressed cannot be read"
    ):
        One.catalog.schema_for(Everything).to_entity(item)


# --- what is stored already --------------------------------------------------------------------------------


def card(**values: Any) -> Card:
    return Card(
        **{"card_id": CardId("c1"), "author_id": UserId("u1"), "category": "art", "title": "t", **values}
    )


@pytest.fixture
def cards() -> Iterator[Cards]:
    with Cards.open(":memory:", clock=ManualClock(NOON_US)) as db:
        yield db


def stored(db: Design) -> Item:
    """Return the only item of a design, as it is stored."""
    (item,) = db.session.client.call("Scan", {"TableName": db.session.table})["Items"]
    return dict(item)


def store(db: Design, item: Item) -> None:
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})


def test_unknown_attributes_stay_through_put_and_update(cards: Cards) -> None:
    cards.create(card())
    unknown: Item = {"mood": {"S": "good"}, "nested": {"M": {"x": {"SS": ["a"]}}}, "OLDPK": {"S": "OLD#1"}}
    store(cards, {**stored(cards), **unknown})
    found = cards.card(CardId("c1")).one()
    cards.update(found, title="changed")
    assert unknown.items() <= stored(cards).items()
    found = cards.card(CardId("c1")).one()
    found.title = "changed again"
    cards.put(found)
    assert unknown.items() <= stored(cards).items()
    cards.put(found.model_copy(update={"category": "craft"}))
    assert unknown.items() <= stored(cards).items()
    assert stored(cards)["GSI1PK"] == {"S": "CAT#craft"}


def test_version_of_the_schema_is_stored_and_older_items_are_upcast(cards: Cards) -> None:
    cards.create(card())
    first = stored(cards)
    assert first["schemaVersion"] == {"N": "3"}
    for name in ("schemaVersion", "title", "level"):
        del first[name]
    store(cards, {**first, "difficulty": {"S": "hard"}, "name": {"S": "Old name"}})
    found = cards.card(CardId("c1")).one()
    assert (found.level, found.title) == (Level.HARD, "Old name")
    cards.put(found)
    assert stored(cards)["schemaVersion"] == {"N": "3"}
    assert stored(cards)["level"] == {"S": "hard"}


def test_item_between_two_versions_is_upcast_by_the_later_step_alone(cards: Cards) -> None:
    cards.create(card(level="hard"))
    item = stored(cards)
    del item["title"]
    store(cards, {**item, "schemaVersion": {"N": "2"}, "difficulty": {"S": "easy"}})
    found = cards.card(CardId("c1")).one()
    assert (found.level, found.title) == (Level.HARD, "untitled")


def test_item_of_a_newer_version_is_refused(cards: Cards) -> None:
    cards.create(card())
    store(cards, {**stored(cards), "schemaVersion": {"N": "4"}})
    with pytest.raises(
        InvalidItemError, match=r"CARD#c1 / METADATA is Card of version 4, and this program .* up to 3"
    ):
        cards.card(CardId("c1")).one()


def test_item_that_is_not_what_the_entity_says_is_refused_with_its_key_and_field(cards: Cards) -> None:
    cards.create(card())
    store(cards, {**stored(cards), "score": {"S": "many"}, "level": {"S": "odd"}})
    with pytest.raises(
        InvalidItemError, match=r"item CARD#c1 / METADATA is no Card: level: .*\(and 1 more\)"
    ):
        cards.card(CardId("c1")).one()


def test_models_inside_are_decoded_by_what_is_there(cards: Cards) -> None:
    cards.create(card(steps=[Step(step_title="cut")]))
    store(cards, {**stored(cards), "steps": {"S": "cut and fold"}})
    with pytest.raises(InvalidItemError, match=r"is no Card: steps: Input should be a valid list"):
        cards.card(CardId("c1")).one()


def test_attribute_of_a_time_to_live_that_is_no_number_is_no_time(cards: Cards) -> None:
    cards.create(card())
    store(cards, {**stored(cards), "ttl": {"S": "tomorrow"}})
    assert cards.card(CardId("c1")).one().ttl is None


# --- keys of entities --------------------------------------------------------------------------------------


class SensorKey(Key):
    sensor: int


class PairKey(SortKey):
    level: int
    at: datetime


class SensorTable(Table):
    name = "sensors"
    pk = "sensor"
    sk = "taken"
    levels = Index("Levels", pk="sensor", sk=("level", "at"))


class TakenSK(SortKey, template="{taken}"):
    taken: int


class Reading(Entity):
    key = Keys(SensorKey, TakenSK)
    by_level = SensorTable.levels.keys(SensorKey, PairKey)

    sensor: int
    taken: int
    level: Literal[1, 2, 3] | None = None
    at: datetime = NOON


class Sensors(Design):
    table = SensorTable
    entities = (Reading,)


def test_key_of_a_number_is_a_number() -> None:
    schema = Sensors.catalog.schema_for(Reading)
    assert schema.primary_key(Reading(sensor=7, taken=-5)) == {"sensor": {"N": "7"}, "taken": {"N": "-5"}}
    assert Sensors.catalog.attribute_types == {"sensor": "N", "taken": "N", "level": "N", "at": "S"}
    with Sensors.open(":memory:") as db:
        for taken in (-5, 3, 20, 100):
            db.create(Reading(sensor=7, taken=taken, level=1 if taken < 10 else 2))
        bounds = TakenSK(taken=0), TakenSK(taken=20)
        plan = db.plan(Reading.key.query(SensorKey(sensor=7), between=bounds))
        assert [each.taken for each in plan.all()] == [3, 20]
        assert [each.taken for each in db.plan(Reading.key.query(SensorKey(sensor=7))).all()] == [
            -5,
            3,
            20,
            100,
        ]
        by_level = db.plan(Reading.by_level.query(SensorKey(sensor=7), PairKey.prefix(level=2)))
        assert sorted(each.taken for each in by_level.all()) == [20, 100]
        for item in db.session.client.call("Scan", {"TableName": db.session.table})["Items"]:
            del item["entityType"]
            store(db, item)
        assert [each.taken for each in plan.all()] == [3, 20]


# --- conditions --------------------------------------------------------------------------------------------

conditions = st.recursive(
    st.one_of(
        st.builds(Eq, st.just("maybe_text"), texts),
        st.builds(Ne, st.just("maybe_text"), texts),
        st.builds(Gt, st.just("maybe_number"), whole),
        st.builds(Le, st.just("number"), whole),
        st.builds(Eq, st.just("color"), st.sampled_from([Color.RED, Color.BLUE])),
        st.builds(In, st.just("mood"), st.sampled_from(["good", Mood.GOOD, "bad"])),
        st.builds(Contains, st.just("texts"), texts),
        st.builds(Contains, st.just("text"), texts.filter(bool)),
        st.builds(Exists, st.sampled_from(["maybe_number", "no_texts", "twig"])),
        st.builds(Gt, st.just("at"), milliseconds),
    ),
    lambda inner: (
        st.builds(lambda left, right: left & right, inner, inner)
        | st.builds(lambda left, right: left | right, inner, inner)
        | inner.map(lambda condition: ~condition)
    ),
    max_leaves=4,
)


@given(everything, conditions)
def test_condition_holds_for_an_entity_as_for_its_item(
    one: One, entity: Everything, condition: Condition
) -> None:
    one.put(entity)
    into = Placeholders()
    text = condition_text(condition, one.catalog.schema_for(Everything), into)
    params = into.add_to({"TableName": one.session.table, "FilterExpression": text})
    found = one.session.client.call("Scan", params)["Items"]
    assert (entity.name in {item["name"]["S"] for item in found}) == holds(condition, entity.__dict__)


def test_condition_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match="a condition is data"):
        assert Eq("status", "ready")


# --- sizes -------------------------------------------------------------------------------------------------


def test_item_that_is_too_large_names_the_attribute(one: One) -> None:
    entity = thing(text="x" * 300_000, words=["y" * 200_000])
    with pytest.raises(
        ItemTooLargeError, match=r"an item of Everything has 4\d\d\.\d KB, .* text takes 293.0 KB"
    ):
        one.put(entity)


def test_large_item_is_stored_with_a_warning(one: One) -> None:
    with pytest.warns(
        LargeItemWarning, match=r"ST206: an item of Everything has 1\d\d\.\d KB: text takes 117.2 KB"
    ):
        one.put(thing(name="large", text="x" * 120_000))
    assert len(one.thing("large").one().text) == 120_000


def test_size_of_an_item_is_that_which_the_engine_counts(one: One) -> None:
    entity = thing(name="sized", text="ü" * 1000, plain={"a": [1, {"b": None}]}, texts={"x", "yy"})
    one.put(entity)
    units = one.session.client.call(
        "PutItem", {"TableName": "one", "Item": item_of(entity), "ReturnConsumedCapacity": "TOTAL"}
    )
    assert units["ConsumedCapacity"]["CapacityUnits"] == -(-item_bytes(item_of(entity)) // 1024)
