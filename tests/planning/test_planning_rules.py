"""AWS's rules of units: cases of its documentation, each rule by itself."""

from __future__ import annotations

import pytest

from singletable.planning.amounts import Amount, stepped
from singletable.planning.rules import (
    moved_entry_units,
    paged_read_units,
    read_units,
    stored_bytes,
    write_units,
)

KB = 1_024


@pytest.mark.parametrize(
    ("size", "consistent", "transaction", "units"),
    [
        # "If your item size is 8 KB, you require 2 read request units to sustain one strongly consistent read,
        # 1 read request unit if you choose eventually consistent reads, or 4 read request units for a
        # transactional read request" (AWS guide, "DynamoDB on-demand capacity mode").
        (8 * KB, True, False, 2),
        (8 * KB, False, False, 1),
        (8 * KB, False, True, 4),
        # "For example, reading a 3.5 KB item and a 4.5 KB item: rounded up to 4 KB and to 8 KB" (AWS guide, "Read
        # capacity unit consumption").
        (3_584, True, False, 1),
        (4_608, True, False, 2),
        (0, False, False, 0.5),  # an item that is not there is charged as a small one
    ],
)
def test_read_is_charged_in_blocks_of_4_kb(
    size: int, consistent: bool, transaction: bool, units: float
) -> None:
    found = read_units(Amount.exactly(size), consistent=consistent, transaction=transaction)
    assert found == Amount.exactly(units)


@pytest.mark.parametrize(
    ("size", "transaction", "units"),
    [
        # "If your item size is 2 KB, you require 2 write request units to sustain one write request or 4 write
        # request units for a transactional write request" (AWS guide, "DynamoDB on-demand capacity mode").
        (2 * KB, False, 2),
        (2 * KB, True, 4),
        (1, False, 1),
        (KB + 1, False, 2),
    ],
)
def test_write_is_charged_in_blocks_of_1_kb(size: int, transaction: bool, units: float) -> None:
    assert write_units(Amount.exactly(size), transaction=transaction) == Amount.exactly(units)


def test_entry_whose_key_changes_is_two_writes() -> None:
    # "If an update to the table changes the value of an indexed key attribute (from A to B), two writes are
    # required" (AWS guide, "Provisioned throughput considerations for global secondary indexes").
    assert moved_entry_units(Amount.exactly(1_500)) == Amount.exactly(4)


def test_query_is_rounded_once_for_a_page() -> None:
    # "If your query returns 10 items whose combined size is 40.8 KB: (40.8 KB → 44 KB ÷ 4 KB) = 11" strongly
    # consistent (AWS guide, "Query operations in DynamoDB: capacity units consumed by query").
    assert paged_read_units(Amount.exactly(4_178), Amount.exactly(10), consistent=True) == Amount.exactly(11)


def test_stored_item_has_100_bytes_of_overhead() -> None:
    assert stored_bytes(Amount.exactly(400), Amount.exactly(10)) == Amount.exactly(5_000)


def test_sizes_that_vary_within_one_step_are_exact() -> None:
    assert stepped(Amount(100, 500, 1_000), KB) == Amount.exactly(1)
    assert stepped(Amount(100, 2_048, 4_096), KB) == Amount(1, 2.5, 4)
