"""The order of Java's hash tables, against lists in AWS's messages."""

from __future__ import annotations

import pytest

from singletable.values.hash_order import default_order, sized_order

# Captured in eu-west-2 and us-east-1, 2026-10-09 (dynoxide 3.2, tests/attribute_definition_messages.rs).
_MANY = [f"g{number}" for number in range(1, 15)]
_MANY_LISTED = "g11 g10 g13 g12 g1 g2 g14 g3 g4 g5 g6 g7 g8 g9 PK"


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ("pk", "pk"),
        ("pk l", "l pk"),
        ("pk sk", "sk pk"),
        ("h a zz", "h zz a"),
        ("PK a c", "a PK c"),
        ("c z", "z c"),
        ("w x y q", "x y q w"),
        ("PK h a unused", "h a unused PK"),
        ("pk sk l1 spare", "sk pk l1 spare"),
        (
            "orderId customerId status createdAt notUsed",
            "customerId createdAt notUsed orderId status",
        ),
        ("PK a b c d u1", "a b PK c d u1"),
        ("PK a b c d u1 u2", "a b c d PK u1 u2"),
        (" ".join(["PK", *_MANY, "u1"]), f"{_MANY_LISTED} u1"),
    ],
)
def test_names_in_a_table_of_their_number_are_listed_as_aws_lists_them(names: str, listed: str) -> None:
    assert " ".join(sized_order(names.split())) == listed


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ("PK h a", "a h PK"),
        ("pk sk l1", "l1 sk pk"),
        ("orderId customerId createdAt status", "createdAt orderId customerId status"),
        ("pk sk gpk gsk", "gpk sk pk gsk"),
        ("PK a b c d", "a b c d PK"),
        (" ".join(["PK", *_MANY]), _MANY_LISTED),
    ],
)
def test_names_in_a_table_of_16_buckets_are_listed_as_aws_lists_them(names: str, listed: str) -> None:
    assert " ".join(default_order(names.split())) == listed


def test_a_name_that_is_there_twice_is_listed_once() -> None:
    assert sized_order(["a", "b", "a"]) == ["a", "b"]
    assert default_order([]) == sized_order([]) == []


def test_names_of_one_bucket_are_listed_in_the_order_given() -> None:
    assert sized_order(["Aa", "BB"]) == ["Aa", "BB"]  # two strings of one hash code
    assert sized_order(["BB", "Aa"]) == ["BB", "Aa"]


def test_characters_beyond_16_bits_count_as_two() -> None:
    assert sized_order(["a", "😀"]) == ["😀", "a"]  # as one, it would be in the bucket of "a", behind it
