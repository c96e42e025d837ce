"""Keys refuse values that Pydantic's constraints on their fields do not allow: no item can have them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest
from annotated_types import Interval, Len, Predicate, doc
from pydantic import UUID4, AfterValidator, Field, StringConstraints

from singletable.design import Key, Normalize, Pad, SortKey
from singletable.design.describe.samples import sample
from singletable.errors import DeclarationError, KeyValueError

Place = Annotated[str, Field(pattern="^[a-z]+(-[a-z]+)*$", max_length=20)]
Year = Annotated[int, Field(ge=2000, le=9999)]
Week = Annotated[int, Field(ge=1, le=53)]
JANUARY = datetime(2025, 1, 1, tzinfo=UTC)


class PlacePK(Key, template="PLACE#{place}"):
    place: Place


class WeekSK(SortKey, template="WEEK#{year:04}#{week:02}#{title}"):
    year: Year
    week: Week
    title: Annotated[str, Field(min_length=3)]


# --- what is refused -------------------------------------------------------------------------------------


class TailPK(Key, template="TAIL#{when}#{share}#{id}"):
    when: Annotated[datetime, Field(ge=JANUARY)]
    share: Annotated[Decimal, Pad(4, decimals=2), Interval(ge=0, lt=1)]
    id: UUID4


class NamePK(Key, template="NAME#{name}"):
    name: Annotated[str, Len(2, 4), Predicate(str.islower)]


class StarsSK(SortKey):
    stars: Annotated[float, Field(gt=0, multiple_of=0.5)]


RANDOM_ID = UUID("6f1c1e0c-3c0f-4f7e-9a51-3f4f1a2b3c4d")
PLACE = "PlacePK.place (PLACE#{place}): "
WEEK = "WeekSK.week (WEEK#{year:04}#{week:02}#{title}): "
TAIL = "(TAIL#{when}#{share}#{id}): "


def tail(**values: Any) -> TailPK:
    return TailPK(**{"when": JANUARY, "share": Decimal("0.5"), "id": RANDOM_ID, **values})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(
            lambda: PlacePK(place="Niagara"),
            f"{PLACE}'Niagara' is refused: it should have another form, as 'niagara' has",
            id="pattern",
        ),
        pytest.param(
            lambda: WeekSK(year=2025, week=99, title="soup"), f"{WEEK}99 is refused by le=53", id="le"
        ),
        pytest.param(lambda: WeekSK(year=2025, week=0, title="soup"), f"{WEEK}0 is refused by ge=1", id="ge"),
        pytest.param(
            lambda: StarsSK(stars=0.25),
            "StarsSK.stars (stars): 0.25 is refused by multiple_of=0.5",
            id="step",
        ),
        pytest.param(lambda: StarsSK(stars=0), "StarsSK.stars (stars): 0.0 is refused by gt=0.0", id="gt"),
        pytest.param(
            lambda: NamePK(name="a"), "NamePK.name (NAME#{name}): 'a' is refused by min_length=2", id="short"
        ),
        pytest.param(
            lambda: NamePK(name="aB"),
            "NamePK.name (NAME#{name}): 'aB' is refused by min_length=2, max_length=4, Predicate(str.islower)",
            id="predicate",
        ),
        pytest.param(
            lambda: tail(share=Decimal(1)),
            f"TailPK.share {TAIL}Decimal('1.00') is refused by lt=Decimal('1')",
            id="decimal",
        ),
        pytest.param(
            lambda: tail(when=datetime(2024, 12, 31, tzinfo=UTC)), f"TailPK.when {TAIL}datetime", id="time"
        ),
        pytest.param(
            lambda: tail(id=UUID(int=7)),
            f"TailPK.id {TAIL}UUID('00000000-0000-0000-0000-000000000007') is refused by expected_version=4",
            id="version of a UUID",
        ),
    ],
)
def test_value_that_no_item_can_have_is_refused(make: Callable[[], Key], sentence: str) -> None:
    with pytest.raises(KeyValueError) as refused:
        make()
    assert refused.value.message.startswith(sentence)
    assert refused.value.number == "ST204"
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("no item can have such a key")


def test_long_value_is_shortened() -> None:
    with pytest.raises(KeyValueError, match="max_length=20") as refused:
        PlacePK(place="a" * 2000)
    assert len(refused.value.message) < 200


def test_values_that_are_allowed_are_held_as_they_are_given() -> None:
    key = tail(share=Decimal("0.50"))
    assert key.values() == (JANUARY, Decimal("0.50"), RANDOM_ID)
    assert WeekSK(year=2025, week=53, title="soup").render() == "WEEK#2025#53#soup"
    assert TailPK.parse(key.render()) == key


@pytest.mark.parametrize("week", ["3", 3.0, True], ids=repr)
def test_nothing_is_made_to_fit(week: Any) -> None:
    with pytest.raises(KeyValueError, match=r"WeekSK\.week .* is an? (str|float|bool), not an int"):
        WeekSK(year=2025, week=week, title="soup")


def test_later_field_is_blamed_only_for_its_own_value() -> None:
    with pytest.raises(KeyValueError, match=r"week.*100 does not fit"):
        WeekSK(year=2025, week=100, title="soup")
    with pytest.raises(KeyValueError, match=r"WeekSK\.title .*min_length=3"):
        WeekSK(year=2025, week=53, title="so")


# --- what a field's annotation may say besides --------------------------------------------------------------


def test_normal_form_is_what_is_asked() -> None:
    class FoldedPK(Key, template="NAME#{name}"):
        name: Annotated[str, Normalize(str.casefold), Field(pattern="^[a-zß]+$", max_length=4)]

    assert FoldedPK(name="ADA").render() == "NAME#ada"
    # An entity may hold these four letters, and the normal form has eight.
    assert FoldedPK(name="ßßßß").render() == "NAME#ssssssss"
    assert FoldedPK.parse("NAME#ssssssss").name == "ssssssss"
    with pytest.raises(KeyValueError, match="'adalovelace' is refused by max_length=4"):
        FoldedPK(name="AdaLovelace")


def test_text_that_an_entity_would_store_otherwise_is_refused() -> None:
    class LowerPK(Key, template="NAME#{name}"):
        name: Annotated[str, StringConstraints(to_lower=True, max_length=9)]

    assert LowerPK(name="ada").render() == "NAME#ada"
    with pytest.raises(KeyValueError, match="'Ada' is stored as 'ada'"):
        LowerPK(name="Ada")


def test_functions_and_remarks_are_no_constraints() -> None:
    def refuse(value: str) -> str:
        raise ValueError("never")

    class RemarkPK(Key, template="{first}#{second}#{third}#{fourth}"):
        first: Annotated[str, Field(description="any", strict=True)]
        second: Annotated[str, AfterValidator(refuse)]
        third: Annotated[str, doc("any"), "a remark"]
        fourth: str

    assert [part.check for part in RemarkPK.parts] == [None] * 4
    assert RemarkPK(first="a", second="b", third="c", fourth="d").render() == "a#b#c#d"


def test_pattern_that_looks_ahead_is_asked_of_python() -> None:
    class AheadPK(Key, template="{name}"):
        name: Annotated[str, Field(pattern=r"^(?!x)[a-z]+$")]

    assert AheadPK(name="ada").render() == "ada"
    with pytest.raises(
        KeyValueError, match="'xenia' is refused: it should have another form, as 'niagara' has"
    ):
        AheadPK(name="xenia")


def test_constraint_that_is_not_for_the_type_is_a_mistake_of_the_class() -> None:
    with pytest.raises(
        DeclarationError, match=r"OddPK\.number \(\{number\}\) is int, of which nobody can ask max_"
    ):

        class OddPK(Key, template="{number}"):
            number: Annotated[int, Field(max_length=3)]


# --- beginnings and bounds ------------------------------------------------------------------------------


def test_whole_values_of_a_beginning_are_asked() -> None:
    assert WeekSK.prefix(year=2025, week=53).text == "WEEK#2025#53#"
    with pytest.raises(KeyValueError, match=r"week.*54 is refused by le=53"):
        WeekSK.prefix(year=2025, week=54)
    with pytest.raises(KeyValueError, match=r"title.*'so' is refused by min_length=3"):
        WeekSK.prefix(year=2025, week=53, title="so")


def test_text_that_only_begins_is_not_asked() -> None:
    assert WeekSK.starting(year=2025, week=53, title="so").text == "WEEK#2025#53#so"
    with pytest.raises(KeyValueError, match=r"week.*54 is refused by le=53"):
        WeekSK.starting(year=2025, week=54, title="so")


def test_sample_of_a_key_is_one_that_it_allows() -> None:
    assert [sample(WeekSK, "week", variant).week for variant in (0, 1)] == [1, 2]
