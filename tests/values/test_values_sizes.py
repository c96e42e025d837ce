"""Sizes of values and items, by AWS's published rules and by what was measured where those are vague."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
from hypothesis import example, given

from singletable.limits import PAGE_BYTES_MAX
from singletable.values.sizes import item_bytes, number_bytes, stored_item_bytes, value_bytes
from support.values_strategies import items, numbers


@pytest.mark.parametrize(
    ("number", "size"),
    [
        # Measured on the service, to the byte, at the limit of an item's size.
        ("0", 1),
        ("1", 2),
        ("12", 2),
        ("123", 3),
        ("1234", 3),
        ("12345", 4),
        ("1234567891", 6),
        ("12345678912", 7),
        ("1234567890123456789", 11),
        ("12345678901234567890123456789012345678", 20),
        ("42", 2),
        ("100", 2),
        ("1010", 3),
        ("0.0000001", 2),
        ("1" + "0" * 125, 2),
        ("0." + "0" * 99 + "1", 2),
        ("1.5", 3),
        ("1.234", 4),
        ("3.14159", 5),
        ("100.5", 4),
        ("0.15", 2),
        ("-42", 3),
        ("-12345", 5),
        ("-1" + "0" * 125, 3),
        ("-0.15", 3),
        # Measured on DynamoDB Local in the same way: pairs are aligned to the point, 21 bytes are the most.
        ("120", 3),
        ("110", 3),
        ("1200", 2),
        ("10100", 3),
        ("0.015", 3),
        ("0.0015", 2),
        ("-120", 4),
        ("1." + "1" * 37, 21),
        ("-1." + "1" * 37, 21),
        ("-" + "1" * 38, 21),
        ("0." + "0" * 129 + "1", 2),
    ],
    ids=lambda case: str(case)[:24],
)
def test_a_number_takes_a_byte_for_each_pair_of_digits(number: str, size: int) -> None:
    assert number_bytes(number) == size


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "hello"}, 5),
        ({"S": "é€😀"}, 2 + 3 + 4),
        ({"N": "42"}, 2),
        ({"B": ""}, 0),
        ({"B": "YQ=="}, 1),
        ({"B": "YWI="}, 2),
        ({"B": "YWJj"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "bcd"]}, 4),
        ({"NS": ["1", "123"]}, 5),
        ({"BS": ["YQ==", "YWJj"]}, 4),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"NULL": True}]}, 3 + 1 + 2 + 1 + 1),
        ({"M": {"key": {"S": "ab"}}}, 3 + 1 + 3 + 2),
        ({"L": [{"L": []}]}, 3 + 1 + 3),
    ],
    ids=str,
)
def test_a_value_has_its_published_size(value: dict[str, Any], size: int) -> None:
    assert value_bytes(value) == size


def test_an_item_counts_its_names_in_utf8() -> None:
    assert item_bytes({"pk": {"S": "a"}, "größe": {"N": "1"}}) == 2 + 1 + 7 + 2


def size_by_the_book(value: dict[str, Any]) -> int:
    """Compute a size in the plainest way there is, as a second opinion."""
    [(tag, payload)] = value.items()
    if tag == "S":
        return len(payload.encode())
    if tag == "N":
        return base_100_bytes(payload)
    if tag == "B":
        return len(b64decode(payload))
    if tag in ("BOOL", "NULL"):
        return 1
    if tag in ("SS", "NS", "BS"):
        return sum(size_by_the_book({tag[0]: member}) for member in payload)
    if tag == "L":
        return 3 + sum(1 + size_by_the_book(member) for member in payload)
    return 3 + sum(1 + len(name.encode()) + size_by_the_book(member) for name, member in payload.items())


def base_100_bytes(number: str) -> int:
    """Count the digits of a number to the base of 100, without the zeros at its ends."""
    whole, _, fraction = number.lstrip("-").partition(".")
    whole = "0" * (len(whole) % 2) + whole
    fraction = fraction + "0" * (len(fraction) % 2)
    digits = whole + fraction
    pairs = [digits[place : place + 2] for place in range(0, len(digits), 2)]
    while pairs and pairs[0] == "00":
        pairs.pop(0)
    while pairs and pairs[-1] == "00":
        pairs.pop()
    return min(21, 1 + len(pairs) + (number[0] == "-"))


@given(numbers)
@example("0")
def test_a_number_has_as_many_bytes_as_digits_to_the_base_of_100(number: str) -> None:
    assert number_bytes(number) == base_100_bytes(number)


@given(items)
def test_an_item_has_the_size_of_a_second_implementation(item: dict[str, dict[str, Any]]) -> None:
    assert item_bytes(item) == sum(
        len(name.encode()) + size_by_the_book(value) for name, value in item.items()
    )


# --- as they are stored -----------------------------------------------------------------------------

OTHERS: dict[str, Any] = {
    "v": {"N": "12.3456"},
    "w": {"B": "AQI="},
    "x": {"SS": ["a", "bc"]},
    "y": {"NS": ["1.23", "12.3"]},
    "z": {"BS": ["AQI=", "Ag==", "AQ=="]},
}


def texts(count: int, length: int, name: str = "e", **more: Any) -> list[dict[str, Any]]:
    return [{"a": {"S": "a" * 2}, name: {"S": "b" * length}, **more} for _ in range(count)]


@pytest.mark.parametrize(
    ("items", "sort", "surplus"),
    [
        # Pages that dynalite's tests of Scan found in the service: with one byte less a page has room for one more
        # item, with one more it has none.
        pytest.param(texts(23, 43411) + texts(1, 43366, **OTHERS), None, -1, id="hash"),
        pytest.param(texts(23, 43411) + texts(1, 43367, **OTHERS), None, 0, id="hash-full"),
        pytest.param(texts(23, 43411, "b" * 255) + texts(1, 43366, **OTHERS), None, -1, id="hash-long-name"),
        pytest.param(
            texts(23, 43380, s={"S": "00"}) + texts(1, 43359, s={"S": "00"}, **OTHERS), "s", -1, id="range"
        ),
        pytest.param(
            texts(23, 43380, s={"S": "00"}) + texts(1, 43360, s={"S": "00"}, **OTHERS),
            "s",
            0,
            id="range-full",
        ),
        pytest.param(
            texts(11, 86647, s={"S": "0" * 7}) + texts(1, 86639, s={"S": "0" * 7}),
            "s",
            0,
            id="range-less-items",
        ),
        pytest.param(
            texts(25, 41582, "e" * 255, a={"S": "a" * 10}, s={"S": "0" * 6}, c={"S": "abcde"}),
            "s",
            -1,
            id="range-small-rest",
        ),
        pytest.param(
            [
                *texts(1, 41638, a={"S": "a" * 10}, s={"N": "0"}, c={"S": "abcde"}),
                *texts(23, 41638, a={"S": "a" * 10}, s={"N": "23"}, c={"S": "abcde"}),
                *texts(1, 41653, a={"S": "a" * 10}, s={"N": "24"}, c={"S": "abcde"}),
            ],
            "s",
            0,
            id="number-range-full",
        ),
    ],
)
def test_pages_of_a_megabyte_are_as_full_as_they_were_in_the_service(
    items: list[dict[str, Any]], sort: str | None, surplus: int
) -> None:
    sort_names = () if sort is None else (sort,)
    assert sum(stored_item_bytes(item, sort_names) for item in items) - PAGE_BYTES_MAX == surplus
