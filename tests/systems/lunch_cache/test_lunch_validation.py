"""What a parser has found, as lunches: what is right is kept, what is wrong is named, and both are counted."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable_systems.lunch_cache.model.entities import Lunch
from singletable_systems.lunch_cache.model.weeks import Week
from singletable_systems.lunch_cache.rules.validation import ISSUES_MAX, Validated, validate

WEEK = Week(2025, 4)
RIGHT: dict[str, Any] = {
    "name": "Köttbullar med gräddsås",
    "description": "Serveras med kokt potatis och lingonsylt",
    "price": 125,
    "weekday": "måndag",
    "week": 4,
    "place": "Niagara",
}


def read(*found: object, place: str = "Niagara") -> Validated:
    return validate(found, place=place, week=WEEK)


def issues(valid: Validated) -> list[tuple[str, str]]:
    return [(issue.field, issue.message) for issue in valid.issues]


def quality(valid: Validated) -> tuple[str, str]:
    return str(valid.quality.completeness), str(valid.quality.accuracy)


def test_right_lunches_are_kept_in_their_order() -> None:
    valid = read(RIGHT, {**RIGHT, "name": "Ärtsoppa", "weekday": "torsdag"})
    assert [lunch.name for lunch in valid.lunches] == ["Köttbullar med gräddsås", "Ärtsoppa"]
    assert valid.lunches[0] == Lunch(**RIGHT)
    assert (valid.issues, quality(valid)) == ([], ("1.0000", "1.0000"))


def test_wrong_lunch_is_left_out_and_named_by_its_place_in_the_list() -> None:
    valid = read(RIGHT, RIGHT, RIGHT, {**RIGHT, "price": "dagspris"}, RIGHT)
    assert len(valid.lunches) == 4
    assert issues(valid) == [("lunches[3].price", "'dagspris' is no price")]


def test_every_error_of_a_lunch_is_named() -> None:
    valid = read({"name": " ", "price": -5, "weekday": "monday", "week": 3, "place": "Valvet"})
    assert valid.lunches == []
    assert issues(valid) == [
        ("lunches[0].name", "is missing"),
        ("lunches[0].price", "-5 is not between 0 and 100000"),
        ("lunches[0].weekday", "'monday' is no Swedish weekday"),
        ("lunches[0].week", "3 is not the menu's week, 4"),
        ("lunches[0].place", "'Valvet' is not the menu's place, Niagara"),
    ]


def test_week_and_place_follow_from_the_menu_where_a_parser_finds_none() -> None:
    valid = read({"name": "Soppa", "price": 95, "weekday": "fredag"})
    assert valid.lunches == [
        Lunch(name="Soppa", price=Decimal(95), weekday="fredag", week=4, place="Niagara", description="")
    ]
    assert valid.issues == []


@pytest.mark.parametrize("place", ["niagara", "NIAGARA", " Niagara "])
def test_place_has_one_spelling(place: str) -> None:
    (lunch,) = read({**RIGHT, "place": place}).lunches
    assert lunch.place == "Niagara"  # LC-21


def test_lunch_of_last_week_is_no_lunch_of_this_one() -> None:
    valid = read({**RIGHT, "week": 3})
    assert valid.lunches == []
    assert issues(valid) == [("lunches[0].week", "3 is not the menu's week, 4")]


def test_lunch_whose_description_is_wrong_is_kept_without_it() -> None:
    valid = read({**RIGHT, "description": 7})
    assert [lunch.description for lunch in valid.lunches] == [""]
    assert issues(valid) == [("lunches[0].description", "7 is no text")]


@pytest.mark.parametrize("found", ["Köttbullar", None, 7, ["Köttbullar", 125]])
def test_what_is_no_lunch_at_all_is_named(found: object) -> None:
    valid = read(found, RIGHT)
    assert len(valid.lunches) == 1
    assert issues(valid) == [("lunches[0]", f"{found!r} is no lunch")]


PRICES = [
    (125, "125"),
    (125.5, "125.5"),
    (Decimal("99.90"), "99.90"),
    ("125", "125"),
    ("125 kr", "125"),
    ("125kr.", "125"),
    ("125:-", "125"),
    ("125 :-", "125"),
    ("125,-", "125"),
    ("125,50 kr", "125.5"),
    ("125.50 SEK", "125.5"),
    ("SEK 125", "125"),
    ("1 250 kronor", "1250"),
    ("1\u00a0250", "1250"),
    (" 95 ", "95"),
]


@pytest.mark.parametrize(("price", "expected"), PRICES)
def test_price_is_read_however_a_page_writes_it(price: Any, expected: str) -> None:
    (lunch,) = read({**RIGHT, "price": price}).lunches
    assert lunch.price == Decimal(expected)


WRONG_PRICES = [0, -1, "0", "-125", "gratis", "125-145 kr", "125/135", "12.345", 0.001, True, float("nan")]
WRONG_PRICES += [
    float("inf"),
    Decimal("NaN"),
    100_001,
    "125150 95",
    [125],
    {"sek": 125},
    "9" * 50,
    "1e3",
    "٣",
]


@pytest.mark.parametrize("price", WRONG_PRICES, ids=str)
def test_what_is_no_price_is_named(price: Any) -> None:
    valid = read({**RIGHT, "price": price})
    assert valid.lunches == []
    ((field, message),) = issues(valid)
    assert field == "lunches[0].price"
    assert any(word in message for word in ("is no price", "is not between", "more than two decimals"))


WEEKDAYS = [("måndag", "måndag"), ("Måndag", "måndag"), ("TISDAG:", "tisdag"), ("ons", "onsdag")]
WEEKDAYS += [
    ("Tors.", "torsdag"),
    ("tor", "torsdag"),
    ("fre", "fredag"),
    ("lo\u0308rdag", "lördag"),
    ("sön", "söndag"),
]


@pytest.mark.parametrize(("weekday", "expected"), WEEKDAYS)
def test_weekday_is_a_swedish_one_in_any_case(weekday: str, expected: str) -> None:
    (lunch,) = read({**RIGHT, "weekday": weekday}).lunches
    assert lunch.weekday == expected


@pytest.mark.parametrize("weekday", ["monday", "mandag", "m", "hela veckan", 1, True])
def test_other_weekdays_are_named(weekday: Any) -> None:
    assert issues(read({**RIGHT, "weekday": weekday})) == [
        ("lunches[0].weekday", f"{weekday!r} is no Swedish weekday")
    ]


@pytest.mark.parametrize("week", ["4", "v4", "v. 4", "Vecka 4", 4])
def test_week_is_read_however_a_page_writes_it(week: Any) -> None:
    assert read({**RIGHT, "week": week}).issues == []


@pytest.mark.parametrize("week", [True, "nästa", 4.0, [4], "٤"])
def test_what_is_no_week_is_named(week: Any) -> None:
    assert issues(read({**RIGHT, "week": week})) == [("lunches[0].week", f"{week!r} is no week")]


def test_text_is_trimmed_and_its_letters_are_put_together() -> None:
    (lunch,) = read({**RIGHT, "name": "  Ko\u0308ttbullar\n med  sås "}).lunches
    assert lunch.name == "Köttbullar med sås"


# --- quality ------------------------------------------------------------------------------------------------


def test_completeness_is_the_share_of_names_prices_and_weekdays_that_are_there() -> None:
    valid = read(RIGHT, {"name": "Soppa"}, {**RIGHT, "price": "dyrt"})  # 3 + 1 + 3 of 9
    assert quality(valid)[0] == "0.7778"


def test_accuracy_is_the_share_of_values_that_are_right() -> None:
    valid = read(
        RIGHT, {"name": "Soppa"}, {**RIGHT, "price": "dyrt"}, "Soppa"
    )  # 6 + 1 + 6 + 1 there, 2 wrong
    assert quality(valid)[1] == "0.8571"


def test_empty_page_is_neither_complete_nor_right() -> None:
    assert quality(read()) == ("0", "0")


def test_page_of_nonsense_is_no_endless_list_of_errors() -> None:
    valid = validate(["x" * 1000] * 5000, place="Niagara", week=WEEK)
    assert len(valid.issues) == ISSUES_MAX
    assert issues(valid)[-1] == ("lunches", f"{5000 - ISSUES_MAX + 1} more errors")
    assert all(len(issue.message) < 100 for issue in valid.issues)


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*RIGHT, "extra"]), inner),
    max_leaves=10,
)


@given(st.lists(NONSENSE, max_size=10))
def test_any_nonsense_is_read_and_counted(found: list[Any]) -> None:
    valid = validate(found, place="Niagara", week=WEEK)
    assert all(lunch.week == 4 and lunch.place == "Niagara" and lunch.price > 0 for lunch in valid.lunches)
    assert len(valid.lunches) + len(valid.issues) >= len(found) or len(valid.issues) == ISSUES_MAX
    assert 0 <= valid.quality.completeness <= 1
    assert 0 <= valid.quality.accuracy <= 1
    assert (valid.quality.accuracy == 1) <= all(issue.message == "is missing" for issue in valid.issues)
