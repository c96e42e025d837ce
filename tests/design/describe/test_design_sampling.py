"""Values that are made up for types: they hold to what Pydantic asks of them, so that patterns take them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType

import annotated_types
import pytest
from annotated_types import Ge, Interval, Len, MinLen, MultipleOf
from pydantic import AfterValidator, BaseModel, Field, PositiveInt, StringConstraints, TypeAdapter

from singletable import Design, Digits, Entity, Exists, Get, Key, Keys, Lt, Ne, Put, Table, pattern
from singletable.design.describe.samples import NoSampleError, sample
from singletable.errors import DeclarationError

Slug = NewType("Slug", str)
Year = Annotated[int, Field(ge=2000, le=9999)]


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("an odd number")
    return value


CONSTRAINED: dict[str, Any] = {
    "year": Year,
    "between, limits excluded": Annotated[int, Field(gt=5, lt=8)],
    "at most a negative": Annotated[int, Field(le=-10)],
    "multiple of seven": Annotated[int, Ge(100), MultipleOf(7)],
    "interval": Annotated[int, Interval(gt=10, le=20)],
    "validator of its own": Annotated[int, AfterValidator(_even)],
    "two lower limits": Annotated[PositiveInt, Field(ge=17)],
    "optional year": Annotated[Year | None, Field(gt=2024)],
    "fraction, limits excluded": Annotated[float, Field(gt=0, lt=1)],
    "share": Annotated[Decimal, Digits(4), Field(ge=0, le=1)],
    "fraction, narrow": Annotated[Decimal, Field(ge=Decimal("0.25"), lt=Decimal("0.5"))],
    "long text": Annotated[str, Field(min_length=30)],
    "short text": Annotated[str, Field(max_length=3)],
    "one letter": Annotated[str, Field(max_length=1)],
    "slug": Annotated[str, Field(pattern=r"^[a-zåäö0-9]+(-[a-zåäö0-9]+)*$", max_length=100)],
    "two capitals": Annotated[str, Field(pattern=r"^[A-Z]{2}$")],
    "ten digits": Annotated[str, Field(pattern=r"^\d{10}$")],
    "day": Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")],
    "email": Annotated[str, Field(pattern=r"^[^@]+@[^@]+$")],
    "four letters": Annotated[str, StringConstraints(min_length=4, max_length=4)],
    "bytes": Annotated[bytes, Field(min_length=16)],
    "late time": Annotated[datetime, Field(ge=datetime(2030, 1, 1, tzinfo=UTC))],
    "early day": Annotated[date, annotated_types.Lt(date(2020, 1, 1))],
    "list of three": Annotated[list[Year], Field(min_length=3)],
    "set of two": Annotated[set[Year], MinLen(2)],
    "tuple of two": Annotated[tuple[int, ...], Len(2, 5)],
    "dict": dict[str, Year],
    "anything": Any,
    "mapping of two": Annotated[Mapping[Year, Literal["open", "closed"]], Field(min_length=2)],
}


@pytest.mark.parametrize("annotation", CONSTRAINED.values(), ids=CONSTRAINED)
def test_samples_meet_the_constraints_and_differ(annotation: Any) -> None:
    first, second = (sample(annotation, "some_name", variant) for variant in (0, 1))
    for value in (first, second):
        TypeAdapter(annotation).validate_python(value, strict=True)
    assert first != second


def test_value_without_constraints_is_the_plain_one() -> None:
    assert sample(Annotated[str, "a name of somebody"], "user_name", 0) == "username1"
    assert sample(Annotated[int, Field(ge=1)], "week", 1) == 2
    assert sample(Annotated[Slug, Field(min_length=1)], "slug", 0) == "slug1"


def test_only_value_of_a_type_is_that_of_all_variants() -> None:
    assert {sample(Annotated[int, Field(ge=7, le=7)], "n", variant) for variant in (0, 1)} == {7}


def test_constraint_that_no_made_up_value_meets_is_named() -> None:
    with pytest.raises(NoSampleError, match=r"^str with max_length=9, pattern='\^SE-\[A-Z"):
        sample(Annotated[str, Field(max_length=9, pattern="^SE-[A-Z]{3}-x$")], "number", 0)


# --- in a design -------------------------------------------------------------------------------------------


class Dish(BaseModel):
    name: Annotated[str, Field(min_length=20)]
    price: Annotated[Decimal, Field(gt=100)]


class MenuPK(Key, template="{place}-{year}"):
    place: Annotated[str, Field(pattern="^[A-Z]+$")]
    year: Year


class Menu(Entity):
    key = Keys(MenuPK)

    place: Annotated[str, Field(pattern="^[A-Z]+$")]
    year: Year
    dishes: Annotated[list[Dish], Field(min_length=2)]
    version: Annotated[int, Field(ge=1)]
    note: str = ""


class MenuTable(Table):
    name = "menus"
    pk = "pk"
    sk = None


class Menus(Design):
    table = MenuTable
    entities = (Menu,)

    @pattern("1 Get a menu")
    def menu(self, place: Annotated[str, Field(pattern="^[A-Z]+$")], year: Year) -> Get[Menu]:
        if year < 2000:
            raise ValueError("before there were menus")
        return Menu.key.get(MenuPK(place=place, year=year))

    @pattern("2 Get the menu that is like another one")
    def like(self, menu: Menu) -> Get[Menu]:
        return Menu.key.get(MenuPK(place=menu.place, year=menu.year))

    @pattern("3 Store a menu, unless one of a later version is there")
    def store(self, menu: Menu) -> Put[Menu]:
        return Put(menu, (~Exists("version") | Lt("version", menu.version)) & Ne("note", "final"))


def test_patterns_with_constraints_need_no_samples() -> None:
    reads = [pattern.reads[0] for pattern in Menus.blueprint().patterns if pattern.reads]
    assert [read.pk for read in reads] == ["{place}-{year}", "{place}-{year}"]


def test_values_that_were_made_up_are_not_shown_in_the_condition_of_a_write() -> None:
    (write,) = Menus.blueprint().patterns[2].writes
    assert write.condition is not None
    assert write.condition["conditions"] == [
        {
            "operator": "or",
            "conditions": [
                {"operator": "not", "condition": {"operator": "exists", "field": "version"}},
                {"operator": "<", "field": "version", "parameter": "version"},
            ],
        },
        {"operator": "<>", "field": "note", "value": "final"},
    ]


def test_sample_that_cannot_be_made_up_is_asked_for() -> None:
    class Narrow(Design):
        table = MenuTable
        entities = (Menu,)

        @pattern("1 Get a menu")
        def menu(self, code: Annotated[str, Field(pattern="^!$")]) -> Get[Menu]:
            return Menu.key.get(MenuPK(place=code, year=2025))

    with pytest.raises(
        DeclarationError, match=r"the pattern menu: no value of str with pattern='\^!\$' can be"
    ) as refused:
        Narrow.blueprint()
    assert 'samples={"code": ...}' in str(refused.value)
