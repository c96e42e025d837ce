"""Every key and attribute that the design document of Lunch Cache shows, literally, beside what is stored."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from singletable.clock import ManualClock
from singletable.errors import KeyValueError
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import Lunch, WeeklyMenu
from singletable_systems.lunch_cache.model.keys import CachedSK, HealthPK, MenuPK, RestaurantPK, slug
from singletable_systems.lunch_cache.model.weeks import this_week
from support.opened_designs import call

CACHED_AT = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)

# --- keys -------------------------------------------------------------------------------------------------

# The line of the document, the key that it shows, and ours.
SAMPLES = [
    ("004:20", "niagara-2025-03", MenuPK(restaurant="niagara", year=2025, week=3)),
    ("004:33", "niagara-2025-03", MenuPK(restaurant="niagara", year=2025, week=3)),
    ("004:96", "niagara-2025-03", MenuPK(restaurant="niagara", year=2025, week=3)),
    ("004:101", "niagara-2025-03", MenuPK(restaurant="niagara", year=2025, week=3)),
    ("004:106", "niagara", RestaurantPK(restaurant="niagara")),
    ("004:34", "niagara", RestaurantPK(restaurant="niagara")),
    ("004:39", "2025-01-20T10:30:00.000Z", CachedSK(cached_at=CACHED_AT)),
]


@pytest.mark.parametrize(("line", "sample", "key"), SAMPLES, ids=[line for line, *_ in SAMPLES])
def test_key_is_the_documents_own(line: str, sample: str, key: Any) -> None:
    assert key.render() == sample
    assert type(key).parse(sample) == key


def test_templates_and_names_are_the_documents_own() -> None:
    blueprint = LunchCache.blueprint()
    (menu, probe) = blueprint.entities
    places = [(place.index, place.pk.attributes, place.pk.template) for place in menu.places]
    assert places == [
        (None, ("pk",), "{restaurant}-{year}-{week:02}"),  # 004:19; two digits, as in 004:20 (LC-03)
        ("RestaurantIndex", ("restaurant",), "{restaurant}"),  # 004:83
    ]
    index = menu.place("RestaurantIndex")
    assert index is not None
    assert index.sk is not None
    assert (index.sk.attributes, index.sk.template) == (("cachedAt",), "{cached_at}")  # 004:84
    assert [place.pk.template for place in probe.places] == ["HEALTH#{probe:020}"]  # added: LC-13
    assert blueprint.table.name == "lunch-cache-{environment}"  # 004:9
    assert LunchCache.table.name_in({"environment": "dev"}) == "lunch-cache-dev"
    assert LunchCache.table.name_in({"environment": "prod"}) == "lunch-cache-prod"


def test_table_is_made_as_the_document_says() -> None:
    with LunchCache.open(":memory:", environment="dev") as db:
        table = call(db, "DescribeTable")["Table"]
        assert table["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]  # 004:17, 004:24
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"  # 004:11
        assert table["SSEDescription"]["SSEType"] == "KMS"  # 004:163: the key that AWS manages
        (index,) = table["GlobalSecondaryIndexes"]
        assert index["IndexName"] == "RestaurantIndex"  # 004:79
        assert [key["AttributeName"] for key in index["KeySchema"]] == ["restaurant", "cachedAt"]
        assert index["Projection"] == {"ProjectionType": "ALL"}  # 004:85
        ttl = call(db, "DescribeTimeToLive")["TimeToLiveDescription"]
        assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}  # 004:122
        recovery = call(db, "DescribeContinuousBackups")["ContinuousBackupsDescription"]
        assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"  # 004:151
        assert recovery["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 35  # 004:152
        assert db.drift() == []


NAMES = [
    ("niagara", "niagara"),
    ("Niagara", "niagara"),
    ("La Cantina", "la-cantina"),
    ("LA CANTINA 2025", "la-cantina-2025"),
    ("Å Ä Ö", "å-ä-ö"),
    ("A\u030angstro\u0308m", "ångström"),  # the letters with their marks apart
    ("Café Ängö & Co.", "café-ängö-co"),
    ("Smørrebrød", "smörrebröd"),
    ("Señor Taco", "senor-taco"),
    ("-- 1 --", "1"),
]


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_restaurant_is_a_lower_case_slug(name: str, expected: str) -> None:
    assert slug(name) == expected
    assert slug(expected) == expected


@given(st.text())
def test_slug_of_any_name_is_a_restaurant_or_nothing(name: str) -> None:
    restaurant = slug(name)
    assert slug(restaurant) == restaurant
    if 0 < len(restaurant) <= 100:
        key = MenuPK(restaurant=restaurant, year=2025, week=3)
        assert MenuPK.parse(key.render()) == key
        assert menu(restaurant=restaurant).restaurant == restaurant


RESTAURANT = st.from_regex(r"[a-zåäöéü0-9]{1,5}(-[a-zåäöéü0-9]{1,5}){0,3}", fullmatch=True)


@given(RESTAURANT, st.integers(2000, 9999), st.integers(1, 53))
def test_key_is_read_from_its_end(restaurant: str, year: int, week: int) -> None:
    key = MenuPK(restaurant=restaurant, year=year, week=week)
    assert key.render() == f"{restaurant}-{year}-{week:02}"
    assert MenuPK.parse(key.render()) == key


def test_names_that_look_like_years_are_told_apart() -> None:
    one = MenuPK(restaurant="la-cantina", year=2025, week=20)
    other = MenuPK(restaurant="la-cantina-2025", year=2025, week=20)
    assert (one.render(), other.render()) == ("la-cantina-2025-20", "la-cantina-2025-2025-20")
    assert MenuPK.parse("la-cantina-2025-2025-20") == other


@pytest.mark.parametrize(
    "text", ["niagara-2025-3", "niagara-2025", "niagara-2025-003", "2025-03", "HEALTH#1"]
)
def test_text_that_is_no_key_of_a_menu_is_refused(text: str) -> None:
    with pytest.raises(KeyValueError):
        MenuPK.parse(text)


def test_no_restaurant_has_the_key_of_a_probe() -> None:
    key = HealthPK(probe=2**63 - 1).render()
    assert key == "HEALTH#09223372036854775807"
    with pytest.raises(KeyValueError):
        MenuPK.parse(key)
    assert all(slug(letter) != letter for letter in "HEALT#")


# --- attributes -------------------------------------------------------------------------------------------


def menu(**fields: Any) -> WeeklyMenu:
    values = {
        "restaurant": "niagara",
        "year": 2025,
        "week": 4,
        "lunches": [],
        "cached_at": CACHED_AT,
        **fields,
    }
    return WeeklyMenu(**values)


# The attribute, its type in the document, and its example as it is stored (004:31-49). Two examples are corrected:
# 2025-01-20 is in week 4 (LC-09), and 14 days after it are 1738578600 (LC-08: 1737889800 are six days).
ATTRIBUTES = [
    ("004:33", "pk", {"S": "niagara-2025-04"}),
    ("004:34", "restaurant", {"S": "niagara"}),
    ("004:35", "week", {"N": "4"}),
    ("004:36", "year", {"N": "2025"}),
    ("004:38", "lunchCount", {"N": "1"}),
    ("004:39", "cachedAt", {"S": "2025-01-20T10:30:00.000Z"}),
    ("004:40", "ttl", {"N": "1738578600"}),
    ("004:46", "metadata", {"M": {"version": {"S": "1.0"}, "source": {"S": "niagara-parser"}}}),
    (
        "004:47",
        "validationErrors",
        {"L": [{"M": {"field": {"S": "price"}, "message": {"S": "Invalid format"}}}]},
    ),
    ("004:48", "dataQuality", {"M": {"completeness": {"N": "0.95"}, "accuracy": {"N": "0.98"}}}),
    ("004:49", "lastUpdated", {"S": "2025-01-20T08:00:00.000Z"}),
]
REQUIRED = {"pk", "restaurant", "week", "year", "lunches", "lunchCount", "cachedAt", "ttl"}  # 004:29-40
OPTIONAL = {"metadata", "validationErrors", "dataQuality", "lastUpdated"}  # 004:42-49

LUNCH = """{
  "name": "Köttbullar med gräddsås",
  "description": "Serveras med kokt potatis och lingonsylt",
  "price": 125,
  "weekday": "måndag",
  "week": 4,
  "place": "Niagara"
}"""  # 004:56-63, in the week of the example (LC-09)
STORED_LUNCH = {
    "name": {"S": "Köttbullar med gräddsås"},
    "description": {"S": "Serveras med kokt potatis och lingonsylt"},
    "price": {"N": "125"},
    "weekday": {"S": "måndag"},
    "week": {"N": "4"},
    "place": {"S": "Niagara"},
}


def example() -> WeeklyMenu:
    return menu(
        lunches=[json.loads(LUNCH)],
        metadata={"version": "1.0", "source": "niagara-parser"},
        validation_errors=[{"field": "price", "message": "Invalid format"}],
        data_quality={"completeness": 0.95, "accuracy": 0.98},
        last_updated=datetime(2025, 1, 20, 8, 0, tzinfo=UTC),
    )


@pytest.fixture
def stored() -> dict[str, Any]:
    clock = ManualClock(int(CACHED_AT.timestamp()) * 1_000_000)
    with LunchCache.open(":memory:", clock=clock) as db:
        db.store_menu(example()).run()
        item: dict[str, Any] = call(db, "GetItem", Key={"pk": {"S": "niagara-2025-04"}})["Item"]
        return item


@pytest.mark.parametrize(("line", "name", "value"), ATTRIBUTES, ids=[line for line, *_ in ATTRIBUTES])
def test_attribute_is_stored_as_the_document_shows_it(
    stored: dict[str, Any], line: str, name: str, value: Any
) -> None:
    assert stored[name] == value


def test_lunch_of_the_document_is_stored_literally(stored: dict[str, Any]) -> None:
    assert stored["lunches"] == {"L": [{"M": STORED_LUNCH}]}  # 004:37


def test_there_are_no_other_attributes_than_the_documents(stored: dict[str, Any]) -> None:
    assert stored.keys() - {"entityType"} == REQUIRED | OPTIONAL  # the discriminator is added: X-08
    (entity, _) = LunchCache.blueprint().entities
    declared = {attribute.stored: attribute.is_optional for attribute in entity.attributes}
    assert declared.keys() | {"pk"} == REQUIRED | OPTIONAL
    # Filled in by the layer, so nobody has to give it, and required in the table all the same.
    assert {name for name, is_optional in declared.items() if is_optional} == OPTIONAL | {"ttl"}


def test_menu_without_optional_attributes_is_stored_without_them() -> None:
    with LunchCache.open(":memory:") as db:
        item = db.store_menu(menu()).request()["Item"]
        assert item.keys() - {"entityType"} == REQUIRED


def test_example_is_in_the_week_that_it_says() -> None:
    assert (this_week(CACHED_AT).year, this_week(CACHED_AT).number) == (2025, 4)  # LC-09
    assert int(CACHED_AT.timestamp()) + 14 * 24 * 60 * 60 == 1738578600  # LC-08, by the formula of 004:129


# The field of a lunch, whether the document requires it, values that are right and that are wrong (004:68-75).
LUNCH_FIELDS = [
    ("004:70", "name", True, ["Köttbullar med gräddsås"], ["", None, 1]),
    ("004:71", "description", False, ["Serveras med kokt potatis", ""], [None, 1]),
    ("004:72", "price", True, [125, "99.50"], [0, -1, "dyrt", None]),
    ("004:73", "weekday", True, ["måndag", "söndag"], ["monday", "Måndag", "", None]),
    ("004:74", "week", True, [1, 3, 53], [0, 54, -1, None]),
    ("004:75", "place", True, ["Niagara"], [None]),
]


@pytest.mark.parametrize(
    ("line", "name", "is_required", "right", "wrong"), LUNCH_FIELDS, ids=[line for line, *_ in LUNCH_FIELDS]
)
def test_field_of_a_lunch_is_validated_as_the_document_says(
    line: str, name: str, is_required: bool, right: list[Any], wrong: list[Any]
) -> None:
    lunch = json.loads(LUNCH)
    assert Lunch.model_fields[name].is_required() is is_required
    for value in right:
        Lunch(**{**lunch, name: value})
    for value in wrong:
        with pytest.raises(ValidationError):
            Lunch(**{**lunch, name: value})


def test_lunch_has_the_fields_of_the_document_in_its_order() -> None:
    assert list(Lunch.model_fields) == list(json.loads(LUNCH))
    assert [name for _, name, *_ in LUNCH_FIELDS] == list(json.loads(LUNCH))


WRONG_MENUS = [
    ("week", 0),
    ("week", 54),
    ("week", 53),  # 2025 has 52
    ("year", 1999),
    ("restaurant", "Niagara"),  # 004:34: lower case
    ("restaurant", "la--cantina"),
    ("restaurant", "-la"),
    ("restaurant", ""),
    ("restaurant", "a" * 101),
    ("cached_at", datetime(2025, 1, 20, 10, 30)),  # noqa: DTZ001 - no zone
    ("lunches", None),
    ("data_quality", {"completeness": 1.1, "accuracy": 1}),
    ("colour", "red"),
]


@pytest.mark.parametrize(("name", "value"), WRONG_MENUS)
def test_menu_that_cannot_be_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        menu(**{name: value})


def test_week_53_is_one_of_the_years_that_have_it() -> None:
    assert menu(year=2026, week=53).week == 53


def test_lunches_are_counted_and_never_believed() -> None:
    assert menu(lunches=[json.loads(LUNCH)] * 3, lunch_count=15).lunch_count == 3  # LC-23


def test_menu_without_errors_has_no_list_of_them() -> None:
    assert menu(validation_errors=[]).validation_errors is None
