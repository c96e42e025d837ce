"""Key bytes: their order is that of the values, and they lead back to the values."""

from __future__ import annotations

from base64 import b64decode, b64encode
from decimal import Decimal
from itertools import pairwise
from typing import Any, get_args
from zlib import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from singletable.errors import SerializationError
from singletable.values.keys import (
    composite_key_bytes,
    composite_prefix,
    composite_unfinished,
    key_bytes,
    key_payload,
    number_from_key_bytes,
    number_key_bytes,
    partition_bytes,
    segment_range,
)
from singletable.values.types import KeyType
from support.values_strategies import binaries, numbers, texts

LARGEST = "9" * 38 + "0" * 88
SMALLEST = "0." + "0" * 129 + "1"
SCAN_SEGMENTS_MAX = 1_000_000


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("0", "80"),
        ("1", "81820b"),
        ("10", "81830b"),
        ("12", "81830d"),
        ("100", "81840b"),
        ("123", "81840d1f"),
        ("0.5", "818133"),
        ("1.05", "81820b33"),
        ("-1", "7f7df4ff"),
        ("-12", "7f7cf2ff"),
        (SMALLEST, "81000b"),
        ("1" + "0" * 125, "81ff0b"),
        ("-1" + "0" * 125, "7f00f4ff"),
    ],
    ids=lambda text: text[:12],
)
def test_number_key_bytes_are_as_the_file_format_says(number: str, expected: str) -> None:
    assert number_key_bytes(number).hex() == expected


ASCENDING = [
    "-" + LARGEST,
    "-1" + "0" * 125,
    "-100",
    "-99.5",
    "-99",
    "-10.5",
    "-10",
    "-9.99",
    "-1.01",
    "-1",
    "-0.99",
    "-0.1",
    "-" + SMALLEST,
    "0",
    SMALLEST,
    "0.1",
    "0.11",
    "0.99",
    "1",
    "1." + "0" * 36 + "1",
    "1.01",
    "1.1",
    "9",
    "9.99",
    "10",
    "10.5",
    "11",
    "99",
    "100",
    "1" * 38,
    "1" + "0" * 125,
    LARGEST,
]


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(ASCENDING)), ids=lambda text: text[:12])
def test_number_key_bytes_ascend_with_the_numbers(lower: str, higher: str) -> None:
    assert number_key_bytes(lower) < number_key_bytes(higher)


@given(numbers, numbers)
def test_number_key_bytes_sort_as_the_numbers_do(left: str, right: str) -> None:
    assert (number_key_bytes(left) < number_key_bytes(right)) == (Decimal(left) < Decimal(right))
    assert (number_key_bytes(left) == number_key_bytes(right)) == (left == right)


@given(numbers)
@example(LARGEST)
@example("-" + SMALLEST)
def test_number_key_bytes_lead_back_to_the_number(number: str) -> None:
    assert number_from_key_bytes(number_key_bytes(number)) == number


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


PAYLOADS: dict[KeyType, st.SearchStrategy[str]] = {"S": texts, "N": numbers, "B": binaries.map(encoded)}
key_types = st.sampled_from(get_args(KeyType))
parts = key_types.flatmap(lambda key_type: st.tuples(st.just(key_type), PAYLOADS[key_type]))


def rank(part: tuple[KeyType, str]) -> Any:
    """Return what a key value sorts by, without any of our own code."""
    key_type, payload = part
    if key_type == "N":
        return Decimal(payload)
    return payload.encode() if key_type == "S" else b64decode(payload)


@given(parts)
@example(("S", ""))
@example(("B", ""))
@example(("S", "\x00"))
def test_key_bytes_lead_back_to_the_payload(part: tuple[KeyType, str]) -> None:
    key_type, payload = part
    assert key_payload(key_type, key_bytes(key_type, payload)) == payload


@given(texts, texts)
@example("\uffff", "\U00010000")
def test_text_keys_sort_by_code_point(left: str, right: str) -> None:
    assert (key_bytes("S", left) < key_bytes("S", right)) == (left < right)


@given(binaries, binaries)
def test_binary_keys_sort_by_byte(left: bytes, right: bytes) -> None:
    assert key_bytes("B", encoded(left)) == left
    assert (key_bytes("B", encoded(left)) < key_bytes("B", encoded(right))) == (left < right)


def test_an_unpaired_surrogate_is_refused() -> None:
    with pytest.raises(SerializationError, match="unpaired surrogate"):
        key_bytes("S", "a\ud800")


@st.composite
def composite_pairs(draw: st.DrawFn) -> tuple[list[tuple[KeyType, str]], list[tuple[KeyType, str]]]:
    """Draw two composites of the same types, often alike in their first parts."""
    schema: list[KeyType] = draw(st.lists(key_types, min_size=1, max_size=4))
    # Zero bytes and prefixes of one another are where an encoding would go wrong.
    tricky = st.text(st.sampled_from("\x00\x01a\xff"), max_size=3)
    sources = {**PAYLOADS, "S": st.one_of(tricky, texts)}
    left = [(key_type, draw(sources[key_type])) for key_type in schema]
    right = [part if draw(st.booleans()) else (part[0], draw(sources[part[0]])) for part in left]
    return left, right


def encoded_parts(parts: list[tuple[KeyType, str]]) -> list[bytes]:
    return [key_bytes(key_type, payload) for key_type, payload in parts]


@given(composite_pairs())
def test_composites_sort_part_by_part(
    pair: tuple[list[tuple[KeyType, str]], list[tuple[KeyType, str]]],
) -> None:
    left, right = pair
    left_rank, right_rank = [rank(part) for part in left], [rank(part) for part in right]
    left_bytes, right_bytes = (
        composite_key_bytes(encoded_parts(left)),
        composite_key_bytes(encoded_parts(right)),
    )
    assert (left_bytes < right_bytes) == (left_rank < right_rank)
    assert (left_bytes == right_bytes) == (left_rank == right_rank)


@given(composite_pairs(), st.data())
def test_a_composite_begins_with_the_prefix_of_its_own_first_parts_alone(
    pair: tuple[list[tuple[KeyType, str]], list[tuple[KeyType, str]]], data: st.DataObject
) -> None:
    left, right = pair
    if len(left) == 1:
        assert composite_key_bytes(encoded_parts(left)) == key_bytes(*left[0])
        return
    count = data.draw(st.integers(0, len(left)))
    same = left[:count] == right[:count]
    prefix = composite_prefix(encoded_parts(left[:count]))
    assert composite_key_bytes(encoded_parts(right)).startswith(prefix) == same


@given(
    texts, st.text(st.sampled_from("\x00\x01ab"), max_size=4), st.text(st.sampled_from("\x00ab"), max_size=2)
)
def test_an_unfinished_part_is_found_by_what_it_begins_with(first: str, second: str, start: str) -> None:
    composite = composite_key_bytes([first.encode(), second.encode()])
    sought = composite_prefix([first.encode()]) + composite_unfinished(start.encode())
    assert composite.startswith(sought) == second.startswith(start)


@given(binaries)
def test_the_partition_column_is_the_hash_and_the_key(data: bytes) -> None:
    column = partition_bytes(data)
    assert column == crc32(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("total", [1, 2, 3, 7, 16, 255, 1000, 65537])
def test_segments_follow_one_another_without_gap_or_overlap(total: int) -> None:
    ranges = [segment_range(segment, total) for segment in range(total)]
    assert ranges[0][0] == b"\x00\x00\x00\x00"
    assert ranges[-1][1] is None
    assert all(high == low for (_, high), (low, _) in pairwise(ranges))
    assert all(high is None or low < high for low, high in ranges)


@given(st.integers(1, SCAN_SEGMENTS_MAX), st.data())
@example(SCAN_SEGMENTS_MAX, None)
def test_a_partition_lies_in_exactly_one_segment(total: int, data: st.DataObject | None) -> None:
    column = b"\xff\xff\xff\xffkey" if data is None else partition_bytes(data.draw(binaries))
    near = int.from_bytes(column[:4], "big") * total // 2**32
    around = range(max(0, near - 2), min(total, near + 3))
    holding = [
        segment
        for segment in around
        for low, high in [segment_range(segment, total)]
        if low <= column and (high is None or column < high)
    ]
    assert len(holding) == 1
    # Segments are as good as equal: none differs from another by more than one hash value.
    low, high = segment_range(holding[0], total)
    width = (2**32 if high is None else int.from_bytes(high, "big")) - int.from_bytes(low, "big")
    assert width in (2**32 // total, -(-(2**32) // total))
