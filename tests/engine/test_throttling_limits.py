"""What a table, an index or a partition can take, and what is said when it was more."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import botocore
import pytest

from singletable.engine.throughput_limits import (
    Direction,
    Exceeded,
    Limit,
    error_of,
    limit_of,
    message_of,
    partition_limit,
)
from singletable.errors import ThrottlingError, ThroughputExceededError
from support.throttled_tables import table


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    """The shapes of AWS's service model."""
    model = Path(botocore.__file__).parent / "data" / "dynamodb" / "2012-08-10" / "service-2.json.gz"
    with gzip.open(model) as file:
        found: dict[str, Any] = json.load(file)["shapes"]
    return found


# --- rates ---------------------------------------------------------------------------------------


def test_provisioned_table_saves_up_five_minutes() -> None:
    definition = table(reads=150, writes=20).definition
    assert limit_of(definition, None, "Read") == Limit(150, 45_000, "ProvisionedThroughputExceeded")
    assert limit_of(definition, None, "Write") == Limit(20, 6_000, "ProvisionedThroughputExceeded")


def test_global_index_has_units_of_its_own() -> None:
    definition = table(reads=150, writes=20, index_reads=7, index_writes=3).definition
    index = definition.indexes[0]
    assert limit_of(definition, index, "Read") == Limit(7, 2_100, "ProvisionedThroughputExceeded")
    assert limit_of(definition, index, "Write") == Limit(3, 900, "ProvisionedThroughputExceeded")


def test_new_table_that_is_paid_per_request_takes_4000_writes_and_12000_reads_a_second() -> None:
    definition = table(billing="PAY_PER_REQUEST").definition
    for owner in (None, definition.indexes[0]):
        assert limit_of(definition, owner, "Read") == Limit(12_000, 12_000, "KeyRangeThroughputExceeded")
        assert limit_of(definition, owner, "Write") == Limit(4_000, 4_000, "KeyRangeThroughputExceeded")


def test_warm_throughput_is_what_a_table_takes_at_once() -> None:
    warm = {"WarmThroughput": {"ReadUnitsPerSecond": 20_000, "WriteUnitsPerSecond": 9_000}}
    definition = table(billing="PAY_PER_REQUEST", settings=warm).definition
    assert limit_of(definition, None, "Read") == Limit(20_000, 20_000, "KeyRangeThroughputExceeded")
    assert limit_of(definition, None, "Write") == Limit(9_000, 9_000, "KeyRangeThroughputExceeded")


def test_table_that_is_as_warm_as_the_account_allows_meets_the_limit_of_the_account() -> None:
    warm = {"WarmThroughput": {"ReadUnitsPerSecond": 40_000, "WriteUnitsPerSecond": 40_000}}
    definition = table(billing="PAY_PER_REQUEST", settings=warm).definition
    assert limit_of(definition, None, "Write") == Limit(40_000, 40_000, "AccountLimitExceeded")


def test_maximum_of_a_table_or_index_that_is_paid_per_request_limits_it() -> None:
    of_table = {"OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": -1}}
    of_index = {"OnDemandThroughput": {"MaxWriteRequestUnits": 5}}
    definition = table(billing="PAY_PER_REQUEST", settings=of_table, index_settings=of_index).definition
    index = definition.indexes[0]
    assert limit_of(definition, None, "Read") == Limit(10, 10, "MaxOnDemandThroughputExceeded")
    assert limit_of(definition, None, "Write").rate == 4_000
    assert limit_of(definition, index, "Read").rate == 12_000
    assert limit_of(definition, index, "Write") == Limit(5, 5, "MaxOnDemandThroughputExceeded")


def test_maximum_beyond_what_the_table_is_warm_for_changes_nothing() -> None:
    settings = {"OnDemandThroughput": {"MaxWriteRequestUnits": 4_001}}
    definition = table(billing="PAY_PER_REQUEST", settings=settings).definition
    assert limit_of(definition, None, "Write") == Limit(4_000, 4_000, "KeyRangeThroughputExceeded")


def test_partition_takes_3000_reads_and_1000_writes_a_second() -> None:
    assert partition_limit("Read") == Limit(3_000, 3_000, "KeyRangeThroughputExceeded")
    assert partition_limit("Write") == Limit(1_000, 1_000, "KeyRangeThroughputExceeded")


# --- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("of_index", [False, True])
@pytest.mark.parametrize("billing", ["PROVISIONED", "PAY_PER_REQUEST"])
def test_sentences_are_those_of_the_service_model(
    shapes: dict[str, Any], billing: Any, of_index: bool
) -> None:
    documented = shapes["TransactionCanceledException"]["documentation"]
    said = message_of(
        table(billing=billing).definition, "KeyRangeThroughputExceeded", "Write", of_index=of_index
    )
    assert said in documented


def test_every_reason_is_one_that_the_service_model_names(shapes: dict[str, Any]) -> None:
    documented = shapes["ThrottlingReason"]["members"]["reason"]["documentation"]
    kinds: tuple[Exceeded, ...] = (
        "ProvisionedThroughputExceeded",
        "MaxOnDemandThroughputExceeded",
        "AccountLimitExceeded",
        "KeyRangeThroughputExceeded",
    )
    for kind in kinds:
        assert f"<code>{kind}</code>" in documented


@pytest.mark.parametrize(
    ("exceeded", "direction", "of_index", "says"),
    [
        ("KeyRangeThroughputExceeded", "Read", False, "the current capacity of your table or index."),
        ("KeyRangeThroughputExceeded", "Read", True, "the current capacity of your table or index."),
        ("MaxOnDemandThroughputExceeded", "Write", True, "the maximum OnDemandThroughput configured on"),
        ("AccountLimitExceeded", "Write", False, "the current throughput limit for your account."),
    ],
)
def test_table_that_is_paid_per_request_says_what_was_too_much(
    exceeded: Exceeded, direction: Direction, of_index: bool, says: str
) -> None:
    definition = table(billing="PAY_PER_REQUEST").definition
    said = message_of(definition, exceeded, direction, of_index=of_index)
    assert said.startswith(f"Throughput exceeds {says}")
    assert error_of(definition) is ThrottlingError


def test_provisioned_table_answers_with_the_exception_of_its_kind() -> None:
    assert error_of(table().definition) is ThroughputExceededError
