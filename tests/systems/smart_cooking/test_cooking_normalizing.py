"""One normal form of names, whatever keyboard they were written on."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.model.names import (
    NAME_LETTERS_MAX,
    normalize,
    require_name,
    singular_and_plural,
)

# The names of the documents: 002:136, 002:154-157, 002:184, 000:22.
WRITTEN = {
    "Thịt gà": "thit ga",
    "thịt gà ta": "thit ga ta",
    "gà": "ga",
    "chicken": "chicken",
    "Gà xào sả ớt": "ga xao sa ot",
    "thit-ga": "thit ga",
    "Đậu hũ": "dau hu",
    "nước mắm Phú Quốc (40°)": "nuoc mam phu quoc 40",
    "  Hành   tây ": "hanh tay",
    "THỊT_BÒ": "thit bo",
    "crème fraîche": "creme fraiche",
    "Weißwurst": "weisswurst",
    "½ chén": "1 2 chen",
    "2 ㎏": "2 kg",
    "Rødgrød, ǿ": "rodgrod o",
    "Ærø, œufs, þorramatur, Ħobż, Kay\u0131s\u0131": "aero oeufs thorramatur hobz kayisi",
    "---": "",
}


@pytest.mark.parametrize(("written", "normal"), WRITTEN.items())
def test_name_has_one_normal_form(written: str, normal: str) -> None:
    assert normalize(written) == normal


@given(st.text())
def test_normal_form_is_normal_itself(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


def test_normal_form_of_every_letter_is_normal_itself() -> None:
    letters = [chr(code) for code in range(0x10000)]
    assert [each for each in letters if normalize(normalize(each)) != normalize(each)] == []


@given(st.text(alphabet="aàáảãạăằâầđeèêềiìoòôồơờuùưừyỳ ABCĐ"))
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(unicodedata.normalize("NFC", text))


@given(st.text())
def test_normal_form_never_holds_a_separator_of_keys(text: str) -> None:
    assert "#" not in normalize(text)


def test_name_loses_spaces_around_and_within() -> None:
    assert require_name("  Thịt \t gà ") == "Thịt gà"


@pytest.mark.parametrize("text", ["", "  ", "!?", "#"])
def test_name_without_letters_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="it has no letters"):
        require_name(text)


def test_name_of_very_many_letters_is_refused() -> None:
    assert require_name("a" * NAME_LETTERS_MAX)
    with pytest.raises(InvalidInputError, match="a name may have 100 letters, and this one has 101"):
        require_name("a" * (NAME_LETTERS_MAX + 1))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("peanuts", "peanut"),
        ("peanut", "peanuts"),
        ("tomatoes", "tomato"),
        ("tomato", "tomatoes"),
        ("berries", "berry"),
        ("berry", "berries"),
        ("tree nuts", "tree nut"),
    ],
)
def test_simple_english_forms_are_known(name: str, other: str) -> None:
    assert singular_and_plural(name)[0] == name
    assert other in singular_and_plural(name)


def test_short_words_are_not_cut() -> None:
    assert "ga" not in singular_and_plural("gas")
