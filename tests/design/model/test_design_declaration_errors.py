"""Declarations that cannot mean what they say fail when the class is created, with a sentence that says why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType

import pytest
from pydantic import Field, computed_field

from singletable.design import (
    BeginsWith,
    BucketOf,
    Compressed,
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
    Ne,
    Normalize,
    ShardOf,
    SortKey,
    Stored,
    Table,
    Ttl,
    Version,
    expires,
    pattern,
    upcast,
)
from singletable.errors import DeclarationError

UserId = NewType("UserId", str)
TeamId = NewType("TeamId", str)


class SomeTable(Table):
    name = "some"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    plain = Index("Plain", pk="city", sk="score")
    both = Index("Both", pk=("city", "street"))


class OtherTable(Table):
    name = "other"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class MetaSK(SortKey, template="META"):
    pass


class AtSK(SortKey, template="AT#{at}"):
    at: datetime


class CityPK(Key, template="CITY#{city}"):
    city: str


class CityKey(Key):
    city: str


class ScoreKey(SortKey):
    score: int


class User(Entity):
    key = Keys(UserPK, MetaSK)

    user_id: UserId


def design(*classes: type[Entity], of: type[Table] = SomeTable) -> type[Design]:
    """Declare a design of these entities."""

    class Sample(Design):
        table = of
        entities = classes

    return Sample


# --- key classes ---------------------------------------------------------------------------------------


def field_that_is_not_declared() -> None:
    class EventPK(Key, template="EVENT#{event_id}#{at}"):
        event_id: str


def field_that_is_not_used() -> None:
    class EventPK(Key, template="EVENT#{event_id}"):
        event_id: str
        at: datetime


def field_that_stands_twice() -> None:
    class EventPK(Key, template="{event_id}#{event_id}"):
        event_id: str


def fields_that_cannot_be_told_apart() -> None:
    class EventPK(Key, template="{first}{second}"):
        first: str
        second: str


def type_that_a_key_cannot_hold() -> None:
    class EventPK(Key, template="EVENT#{flag}"):
        flag: bool


def optional_field() -> None:
    class EventPK(Key, template="EVENT#{event_id}"):
        event_id: str | None


def fraction_without_decimals() -> None:
    class EventPK(Key, template="EVENT#{price}"):
        price: Decimal


def format_of_a_text() -> None:
    class EventPK(Key, template="EVENT#{event_id:02}"):
        event_id: str


def template_that_is_empty() -> None:
    class EventPK(Key, template=""):
        pass


def brace_that_is_open() -> None:
    class EventPK(Key, template="EVENT#{event_id"):
        event_id: str


def shard_that_is_a_text() -> None:
    class EventPK(Key, template="EVENT#{shard}"):
        shard: Annotated[str, ShardOf(4, by="event_id")]


def no_shards() -> None:
    class EventPK(Key, template="EVENT#{shard}"):
        shard: Annotated[int, ShardOf(0, by="event_id")]


def bucket_with_a_format() -> None:
    class EventPK(Key, template="EVENT#{month:02}"):
        month: Annotated[str, BucketOf("at", "month")]


def shard_without_a_template() -> None:
    class EventPK(Key):
        shard: Annotated[int, ShardOf(4, by="event_id")]


def annotation_that_cannot_be_read() -> None:
    class EventPK(Key, template="EVENT#{event_id}"):
        event_id: EventId  # type: ignore[name-defined]  # noqa: F821


def field_with_the_name_of_a_method() -> None:
    class EventPK(Key, template="EVENT#{values}"):
        values: str  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (
            field_that_is_not_declared,
            r"EventPK: the template EVENT#{event_id}#{at} names 'at', which is not a field; it has event_id",
        ),
        (
            field_that_is_not_used,
            r"EventPK has the template 'EVENT#{event_id}' and the fields event_id, at: at is not in the template",
        ),
        (
            field_that_stands_twice,
            r"EventPK has the template '{event_id}#{event_id}' .* event_id stands in it twice",
        ),
        (fields_that_cannot_be_told_apart, r"EventPK .* where first ends and second begins cannot be told"),
        (type_that_a_key_cannot_hold, r"EventPK\.flag \(EVENT#{flag}\): bool cannot be part of a key"),
        (optional_field, r"EventPK\.event_id \(EVENT#{event_id}\): .* cannot be part of a key(?s:.)*sparse"),
        (
            fraction_without_decimals,
            r"EventPK\.price \(EVENT#{price}\): Decimal needs to know how many decimals",
        ),
        (format_of_a_text, r"EventPK\.event_id \(EVENT#{event_id:02}\): str has no format '02'"),
        (template_that_is_empty, r"EventPK: the template '': it is empty"),
        (brace_that_is_open, r"EventPK: the template 'EVENT#{event_id': '{event_id' is no field"),
        (shard_that_is_a_text, r"EventPK\.shard \(EVENT#{shard}\) is str, and ShardOf makes an int"),
        (no_shards, r"EventPK\.shard \(EVENT#{shard}\): there are 0 shards: at least 1 is needed"),
        (bucket_with_a_format, r"EventPK\.month \(EVENT#{month:02}\): a time bucket has no format '02'"),
        (
            shard_without_a_template,
            r"EventPK\.shard: shards, time buckets and initials are parts of a template",
        ),
        (
            annotation_that_cannot_be_read,
            r"EventPK: name 'EventId' is not defined, so an annotation cannot be read",
        ),
        (
            field_with_the_name_of_a_method,
            r"EventPK: a field cannot be called 'values', which every key has already",
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_key_class_that_cannot_be(declare: Callable[[], None], sentence: str) -> None:
    with pytest.raises(DeclarationError, match=sentence):
        declare()


# --- entity classes --------------------------------------------------------------------------------------


def field_of_the_key_that_is_missing() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        userid: UserId


def field_of_another_type() -> None:
    class Bad(Entity):
        key = Keys(UserPK, AtSK)

        user_id: UserId
        at: str


def field_of_another_id() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: TeamId


def day_in_place_of_a_time() -> None:
    class Bad(Entity):
        key = Keys(UserPK, AtSK)

        user_id: UserId
        at: date


def bucket_of_a_text() -> None:
    class MonthPK(Key, template="MONTH#{month}"):
        month: Annotated[str, BucketOf("at", "month")]

    class Bad(Entity):
        key = Keys(MonthPK, MetaSK)

        at: str


def part_of_the_key_that_may_be_none() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId | None = None


def condition_on_an_unknown_field() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.gsi1.keys(CityPK, MetaSK, when=Eq("status", "active"))

        user_id: UserId
        city: str


def declared_with(when: Any) -> Callable[[], None]:
    """Return the declaration of an index with a condition."""

    def declare() -> None:
        class Bad(Entity):
            key = Keys(UserPK, MetaSK)
            by_city = SomeTable.gsi1.keys(CityPK, MetaSK, when=when)

            user_id: UserId
            city: str
            state: Literal["new", "old"] = "new"
            visits: Annotated[int, Field(ge=0)] = 0

    return declare


def condition_of_the_table() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK, when=Exists("city"))

        user_id: UserId
        city: str | None = None


def expiring_with(policy: Any) -> Callable[[], None]:
    """Return the declaration of an entity that expires."""

    def declare() -> None:
        class Bad(Entity):
            key = Keys(UserPK, MetaSK)

            user_id: UserId
            born: date | None = None
            left_at: datetime | None = None
            state: Literal["new", "old"] = "new"
            until: Ttl = policy

    return declare


def time_that_is_not_to_live() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        until: datetime | None = expires(days=1)


@pytest.mark.parametrize(
    ("when", "sentence"),
    [
        (
            Eq("state", "nwe"),
            r"Bad\.by_city: the condition of CityPK .*: Eq\('state', 'nwe'\) asks what Bad\.state never is: ",
        ),
        (
            Gt("visits", "three"),
            r"Gt\('visits', 'three'\) asks .* valid integer.*Bad\.visits is int with ge=0",
        ),
        (Eq("visits", -1), r"Eq\('visits', -1\) asks what Bad\.visits never is"),
        (BeginsWith("visits", "1"), r"BeginsWith\('visits', '1'\) .*: it is neither a text nor bytes"),
        (Contains("visits", 1), r"Contains\('visits', 1\) .*: it is neither a text nor a list or set"),
        (Exists("city") & ~Eq("state", "nwe"), r"did you mean 'new'\? Bad\.state is 'new' or 'old'"),
        (In("state"), r"In\('state'\) names no values, so it never holds"),
        (Eq("city", None), r"Eq\('city', None\) never holds: Bad\.city always has a value"),
        ("state", r"Bad\.by_city: .*: a condition is one like Eq\(\"status\", \"ready\"\), not 'state'"),
    ],
)
def test_condition_that_can_never_hold_is_refused_with_the_class(when: Any, sentence: str) -> None:
    with pytest.raises(DeclarationError, match=f"(?s){sentence}"):
        declared_with(when)()


@pytest.mark.parametrize(
    "when", [Gt("visits", -1), Eq("state", "old"), Ne("city", "x"), Contains("city", "x")]
)
def test_condition_that_can_hold_is_taken(when: Any) -> None:
    declared_with(when)()


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (
            expiring_with(expires(days=1, after="nope")),
            r"Bad\.until: expires\(after='nope'\) counts from a time, and Bad\.nope is no field.*times left_at",
        ),
        (expiring_with(expires(days=1, after="state")), r"expires\(after='state'\) .* and Bad\.state is str"),
        (expiring_with(expires(days=1, after="born")), r"expires\(after='born'\) .* and Bad\.born is date"),
        (expiring_with(expires(days=1, after="until")), r"expires\(after='until'\) .* and Bad\.until is itself"),
        (expiring_with(expires()), r"Bad\.until: expires\(\.\.\.\) gives an item no time to live"),
        (expiring_with(expires(days=-1)), "gives an item no time to live"),
        (
            time_that_is_not_to_live,
            r"Bad\.until has expires\(\.\.\.\), and is no time to live.*until: Ttl = expires",
        ),
        (
            expiring_with(expires(days=1, when=Eq("status", "new"))),
            r"Bad\.until: the condition of expires\(\.\.\.\) names 'status', .* it has .*did you mean state",
        ),
        (expiring_with(expires(days=1, when=Eq("state", "gone"))), r"Eq\('state', 'gone'\) asks what Bad\.state"),
        (condition_of_the_table, r"Bad\.key .* has a condition, and every item has a key there"),
    ],
)  # fmt: skip
def test_expiry_that_cannot_be_is_refused_with_the_class(declare: Callable[[], None], sentence: str) -> None:
    with pytest.raises(DeclarationError, match=f"(?s){sentence}"):
        declare()


def test_expiry_may_count_from_any_time_of_the_entity() -> None:
    for policy in (expires(after="left_at"), expires(days=-1, after="left_at"), expires(days=1)):
        expiring_with(policy)()


def table_that_is_bound_twice() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        other = Keys(CityPK, MetaSK)

        user_id: UserId
        city: str


def index_that_is_bound_twice() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.gsi1.keys(CityPK, MetaSK)
        by_user = SomeTable.gsi1.keys(UserPK, MetaSK)

        user_id: UserId
        city: str


def upcaster_of_no_version() -> None:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId

        @upcast(1)
        @staticmethod
        def older(values: dict[str, Any]) -> dict[str, Any]:
            return values


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (
            field_of_the_key_that_is_missing,
            r"Bad\.key: UserPK \(USER#{user_id}\) is built from 'user_id', which is not a field of Bad; it has",
        ),
        (field_of_another_type, r"Bad\.key: 'at' is str in Bad and datetime in AtSK \(AT#{at}\)"),
        (
            field_of_another_id,
            r"Bad\.key: 'user_id' is TeamId in Bad and UserId in UserPK \(USER#{user_id}\)",
        ),
        (day_in_place_of_a_time, r"Bad\.key: 'at' is date in Bad and datetime in AtSK \(AT#{at}\)"),
        (bucket_of_a_text, r"Bad\.key: 'at' is str in Bad and a time in MonthPK \(MONTH#{month}\)"),
        (
            part_of_the_key_that_may_be_none,
            r"Bad\.key: 'user_id' may be None, and every item has a key: UserPK \(USER#{user_id}\)",
        ),
        (
            condition_on_an_unknown_field,
            r"Bad\.by_city: the condition of CityPK \(CITY#{city}\), MetaSK \(META\) names 'status', .* has city",
        ),
        (table_that_is_bound_twice, r"Bad is bound to the table twice, as key and as other \(CityPK .*\)"),
        (index_that_is_bound_twice, r"Bad is bound to index GSI1 twice, as by_city and as by_user"),
        (upcaster_of_no_version, r"Bad\.older upcasts items of version 1, and Bad is of version 1"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_entity_class_that_cannot_be(declare: Callable[[], None], sentence: str) -> None:
    with pytest.raises(DeclarationError, match=sentence):
        declare()


def test_whole_number_may_be_the_field_of_a_fraction() -> None:
    class PricePK(Key, template="PRICE#{price:.2f}"):
        price: Decimal

    class Good(Entity):
        key = Keys(PricePK, MetaSK)

        price: int

    assert Good(price=3).key[0].render() == "PRICE#3.00"


# --- designs -----------------------------------------------------------------------------------------------


def no_key_in_the_table() -> type[Design]:
    class Bad(Entity):
        user_id: UserId

    return design(Bad)


def index_of_another_table() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = OtherTable.gsi1.keys(CityPK, MetaSK)

        user_id: UserId
        city: str

    return design(Bad)


def one_discriminator_for_two() -> type[Design]:
    class Bad(Entity, name="User"):
        key = Keys(CityPK, MetaSK)

        city: str

    return design(User, Bad)


def one_key_for_two() -> type[Design]:
    class PersonPK(Key, template="USER#{person}"):
        person: str

    class Person(Entity):
        key = Keys(PersonPK, MetaSK)

        person: str

    return design(User, Person)


def sort_key_that_the_table_does_not_have() -> type[Design]:
    class NoSort(Table):
        name = "no-sort"
        sk = None

    return design(User, of=NoSort)


def two_fields_of_one_name() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        first_name: str
        last_name: Annotated[str, Stored("firstName")]

    return design(Bad)


def field_with_the_name_of_the_discriminator() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        entity_type: str

    return design(Bad)


def field_with_the_name_of_a_key() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        place: Annotated[str, Stored("SK")]

    return design(Bad)


def field_with_the_name_of_the_version_of_the_schema() -> type[Design]:
    class Bad(Entity, schema_version=2):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        schema_version: int

    return design(Bad)


def condition_that_cannot_keep_items_out() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.plain.keys(CityKey, ScoreKey, when=Eq("user_id", "u1"))

        user_id: UserId
        city: str
        score: int

    return design(Bad)


def key_that_is_a_field_under_another_name() -> type[Design]:
    class TownKey(Key):
        town: str

    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.plain.keys(TownKey, ScoreKey)

        user_id: UserId
        town: str
        score: int

    return design(Bad)


def key_that_is_a_field_and_more() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.plain.keys(CityPK, ScoreKey)

        user_id: UserId
        city: str
        score: int

    return design(Bad)


def key_that_changes_its_field() -> type[Design]:
    class LowCityKey(Key):
        city: Annotated[str, Normalize(str.lower)]

    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.plain.keys(LowCityKey, ScoreKey)

        user_id: UserId
        city: str
        score: int

    return design(Bad)


def key_of_too_few_attributes() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.both.keys(CityKey)

        user_id: UserId
        city: str

    return design(Bad)


def attribute_of_two_types() -> type[Design]:
    class TextScoreKey(SortKey):
        score: str

    class First(Entity):
        key = Keys(UserPK, MetaSK)
        by_city = SomeTable.plain.keys(CityKey, ScoreKey)

        user_id: UserId
        city: str
        score: int

    class Second(Entity):
        key = Keys(CityPK, MetaSK)
        by_city = SomeTable.plain.keys(CityKey, TextScoreKey)

        city: str
        score: str

    return design(First, Second)


def one_attribute_with_two_templates() -> type[Design]:
    class Inverted(Table):
        name = "inverted"
        inverse = Index("Inverse", pk="SK", sk="PK")

    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        inverse = Inverted.inverse.keys(CityPK, MetaSK)

        user_id: UserId
        city: str

    return design(Bad, of=Inverted)


def two_versions() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        version: Version = 0
        revision: Version = 0

    return design(Bad)


def marker_inside_a_list() -> type[Design]:
    class Bad(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        prices: list[Annotated[Decimal, Digits(2)]]

    return design(Bad)


def pattern_with_the_name_of_a_method() -> type[Design]:
    class Bad(Design):
        table = SomeTable
        entities = (User,)

        @pattern("1 Get a user")
        def create(self, user_id: UserId) -> Get[User]:  # type: ignore[override]
            return User.key.get(UserPK(user_id=user_id), MetaSK())

    return Bad


def two_patterns_of_one_number() -> type[Design]:
    class Bad(Design):
        table = SomeTable
        entities = (User,)

        @pattern("1 Get a user")
        def user(self, user_id: UserId) -> Get[User]:
            return User.key.get(UserPK(user_id=user_id), MetaSK())

        @pattern("#01. Get a user once more")
        def again(self, user_id: UserId) -> Get[User]:
            return User.key.get(UserPK(user_id=user_id), MetaSK())

    return Bad


def placeholder_that_open_has_another_use_for() -> type[Design]:
    class Named(SomeTable):
        name = "app-{clock}"

    return design(User, of=Named)


def casing_that_is_unknown() -> type[Design]:
    class Bad(Design):
        table = SomeTable
        entities = (User,)
        casing = "shouting"  # type: ignore[assignment]

    return Bad


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (no_key_in_the_table, r"Bad has no keys in the table\n\nhint: key = Keys\(SomePK, SomeSK\)"),
        (
            index_of_another_table,
            r"Bad\.by_city \(CityPK \(CITY#{city}\), MetaSK \(META\)\) is bound to index GSI1, which SomeTable",
        ),
        (one_discriminator_for_two, r"Sample: User and Bad are both stored with entityType = User"),
        (
            one_key_for_two,
            r"Sample: Person\.key \(PersonPK \(USER#{person}\), .*\) and User\.key \(UserPK .*\) can be the same",
        ),
        (
            sort_key_that_the_table_does_not_have,
            r"User\.key: MetaSK \(META\) is a key of 1 attributes, and NoSort has 0 there \(none\)",
        ),
        (
            two_fields_of_one_name,
            r"Bad\.first_name is stored as firstName, and so is last_name; Bad has first_name, last_name, user_id",
        ),
        (
            field_with_the_name_of_the_discriminator,
            r"Bad\.entity_type is stored as entityType, and that is the disc",
        ),
        (
            field_with_the_name_of_a_key,
            r"Bad\.key: MetaSK \(META\) is stored as SK, and so is the field place",
        ),
        (
            field_with_the_name_of_the_version_of_the_schema,
            r"Bad\.schema_version is stored as schemaVersion, and that is the version of the schema",
        ),
        (
            condition_that_cannot_keep_items_out,
            r"Bad\.by_city .* has a condition, and its attributes are fields",
        ),
        (
            key_that_is_a_field_under_another_name,
            r"Bad\.by_city: TownKey \(town\) needs the attribute city, and town is stored as town",
        ),
        (
            key_that_is_a_field_and_more,
            r"Bad\.by_city: CityPK \(CITY#{city}\) is stored as city, and so is the field city",
        ),
        (
            key_that_changes_its_field,
            r"Bad\.by_city: LowCityKey \(city\) is the field city itself, which is not stored",
        ),
        (
            key_of_too_few_attributes,
            r"Bad\.by_city: CityKey \(city\) is a key of 1 attributes, and index Both has 2 there \(city, st",
        ),
        (attribute_of_two_types, r"Sample: the key score is N in First and S in Second"),
        (
            one_attribute_with_two_templates,
            r"Bad\.inverse stores CityPK \(CITY#{city}\) as SK, and so does key, with the template META",
        ),
        (two_versions, r"Bad has two fields of one kind, version and revision"),
        (
            marker_inside_a_list,
            r"prices is list.*: Digits\(.*\) says how a field is stored, not what is inside one",
        ),
        (
            pattern_with_the_name_of_a_method,
            r"Bad\.create: a pattern cannot be called 'create', which every design",
        ),
        (two_patterns_of_one_number, r"Bad has two patterns of the number 1: user and again\n\nhint: .*1b"),
        (
            placeholder_that_open_has_another_use_for,
            r"the table's name is app-{clock}, and open\(clock=\.\.\.\) means something else",
        ),
        (casing_that_is_unknown, r"Bad\.casing is 'shouting'\n\nhint: snake, camel, pascal or kebab"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_design_that_cannot_be(declare: Callable[[], type[Design]], sentence: str) -> None:
    with pytest.raises(DeclarationError, match=sentence) as refused:
        declare()
    assert refused.value.number == "ST101"
    assert refused.value.page == "docs/errors/ST101.md"


@pytest.mark.parametrize("marker", [Compressed(), Digits(2)])
def test_marker_of_an_optional_field_may_stand_inside(marker: Any) -> None:
    class Good(Entity):
        key = Keys(UserPK, MetaSK)

        user_id: UserId
        value: Annotated[Decimal, marker] | None = None

    schema = design(Good).catalog.schema_for(Good)
    assert "value" not in schema.to_item(Good(user_id=UserId("u")))
    entity = Good(user_id=UserId("u"), value=Decimal("1.25"))
    assert schema.to_entity(schema.to_item(entity)) == entity


def test_time_to_live_cannot_be_a_key() -> None:
    class Expiring(Table):
        name = "expiring"
        by_ttl = Index("ByTtl", pk="city", sk="ttl")

    class TtlKey(SortKey):
        ttl: datetime

    class Bad(Entity):
        key = Keys(UserPK, MetaSK)
        soon = Expiring.by_ttl.keys(CityKey, TtlKey)

        user_id: UserId
        city: str
        ttl: Ttl = None

    with pytest.raises(
        DeclarationError, match=r"Bad\.soon: TtlKey \(ttl\) is the field ttl itself, which is not"
    ):
        design(Bad, of=Expiring)


def test_computed_field_may_be_part_of_a_key() -> None:
    class LengthPK(Key, template="LENGTH#{length:03}"):
        length: int

    class Good(Entity):
        key = Keys(LengthPK, MetaSK)

        text: str

        @computed_field  # type: ignore[prop-decorator]
        @property
        def length(self) -> int:
            return len(self.text)

    schema = design(Good).catalog.schema_for(Good)
    assert schema.primary_key(Good(text="four")) == {"PK": {"S": "LENGTH#004"}, "SK": {"S": "META"}}
