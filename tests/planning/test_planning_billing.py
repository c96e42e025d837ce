"""Bills by hand from AWS's own examples, and what holds for all bills."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.planning.billing import (
    HOURS_A_MONTH,
    SECONDS_A_MONTH,
    Bill,
    Usage,
    cheapest,
    on_demand,
    provisioned,
)
from singletable.planning.break_even import mode_break_even, table_class_break_even
from singletable.planning.prices import (
    INFREQUENT_ACCESS,
    STANDARD,
    UNITS,
    Price,
    PriceError,
    RegionPrices,
    packaged_prices,
)

VIRGINIA = packaged_prices().region("us-east-1")
OHIO = packaged_prices().region("us-east-2")


def usd_of(bill: Bill) -> dict[str, float]:
    return {line.what: round(line.usd, 2) for line in bill.lines}


# --- examples of AWS ----------------------------------------------------------------------------------------


def test_example_bill_of_the_on_demand_page() -> None:
    # AWS, "Pricing for On-Demand Capacity", example bill in us-east-1: 42,177,000 writes and as many read units;
    # the table grows from 25 to 29 GB, 27 on average, of which 25 are free; backups of 60 GB, of which 15 are
    # deleted on day 10 of 30, are 50 GB-months; PITR of 27 GB; a restore and an export of 29 GB; a stream read
    # every second is 2,592,000 reads, of which 2,500,000 are free. Throughput was $52.72 and $10.54 before it was
    # halved.
    usage = Usage(
        write_units_month=42_177_000,
        read_units_month=42_177_000,
        storage_gb=27,
        backup_gb=50,
        pitr_gb=27,
        restore_gb=29,
        export_gb=29,
        stream_reads_month=2_592_000,
    )
    assert usd_of(on_demand(usage, VIRGINIA, free_tier=True)) == {
        "writes": round(52.72 / 2, 2),
        "reads": round(10.54 / 2, 2),
        "storage": 0.50,
        "on-demand backups": 5.00,
        "point-in-time recovery": 5.40,
        "restores": 4.35,
        "exports to S3": 2.90,
        "stream reads": 0.02,
    }


def test_example_of_a_global_table() -> None:
    # The same page: with a replica in Oregon, 84.35 million replicated write units (42,177,000 writes
    # x 2 regions), here at today's price, and 27 GB in each region, of which each has 25 free.
    usage = Usage(replicated_writes_month=42_177_000, storage_gb=27, replicas=1)
    bill = on_demand(usage, VIRGINIA, free_tier=True)
    assert usd_of(bill) == {"replicated writes": round(84.354 * 0.625, 2), "storage": 1.00}
    assert bill.lines[0].quantity == 84_354_000
    assert "every region of the global table has the prices of the first one" in bill.assumptions


def test_example_of_the_pricing_calculator() -> None:
    # An estimate of the AWS Pricing Calculator for us-east-2, May 2026: 10 million writes of 1 KB, 10 million
    # eventually consistent reads and 10 GB are $9.38; backup, PITR and restore of 10 GB each $4.50; an export of
    # 20 GB $2.00 and an import of 10 GB $1.50. It applies no free storage.
    usage = Usage(write_units_month=10_000_000, read_units_month=5_000_000, storage_gb=10)
    assert on_demand(usage, OHIO).total == pytest.approx(9.375)
    backups = Usage(backup_gb=10, pitr_gb=10, restore_gb=10)
    assert on_demand(backups, OHIO).total == pytest.approx(4.50)
    assert usd_of(on_demand(Usage(export_gb=20, import_gb=10), OHIO)) == {
        "exports to S3": 2.00,
        "imports from S3": 1.50,
    }


def test_example_bill_of_the_provisioned_page() -> None:
    # AWS, "Pricing for Provisioned Capacity": a load of 80 at a target of 70 % has 114 units, which cost $2.1341 a
    # day: 114 WCUs x $0.00065 x 24 hours, and 114 RCUs x $0.00013 x 24 hours. The free tier takes 25 of each off.
    load = Usage(write_units_month=80 * SECONDS_A_MONTH, read_units_month=80 * SECONDS_A_MONTH)
    bill = provisioned(load, VIRGINIA)
    assert [line.quantity for line in bill.lines] == [114 * HOURS_A_MONTH] * 2
    assert bill.total / HOURS_A_MONTH * 24 == pytest.approx(2.1341, abs=0.0001)
    saved = bill.total - provisioned(load, VIRGINIA, free_tier=True).total
    assert saved / HOURS_A_MONTH * 24 * 30 == pytest.approx(11.70 + 2.34)


def test_reserved_capacity_is_paid_in_hundreds() -> None:
    # AWS's price list and the calculator: $1.50 upfront and $0.000128 an hour for a write unit of us-east-2, $0.30
    # and $0.000025 for a read unit; 100 of each are $180 upfront.
    load = Usage(write_units_month=70 * SECONDS_A_MONTH, read_units_month=70 * SECONDS_A_MONTH)
    assert usd_of(provisioned(load, OHIO, reserved=1)) == {
        "reserved write capacity": round(150 / 12 + 0.0128 * 730, 2),
        "write capacity": 0,
        "reserved read capacity": round(30 / 12 + 0.0025 * 730, 2),
        "read capacity": 0,
    }


def test_three_years_save_what_aws_says() -> None:
    # Up to 54 % of the standard rate with a term of one year, up to 77 % with three (guide, "DynamoDB reserved
    # capacity").
    load = Usage(write_units_month=700 * SECONDS_A_MONTH, read_units_month=700 * SECONDS_A_MONTH)
    standard = provisioned(load, VIRGINIA).total
    assert provisioned(load, VIRGINIA, reserved=1).total / standard == pytest.approx(1 - 0.54, abs=0.005)
    assert provisioned(load, VIRGINIA, reserved=3).total / standard == pytest.approx(1 - 0.77, abs=0.005)


# --- rules --------------------------------------------------------------------------------------------------


def test_free_tier_is_applied_on_request_alone() -> None:
    usage = Usage(storage_gb=25, stream_reads_month=2_500_000)
    assert on_demand(usage, VIRGINIA).total == pytest.approx(6.25 + 0.50)
    assert on_demand(usage, VIRGINIA, free_tier=True).total == 0


def test_free_tier_is_not_for_infrequent_access() -> None:
    # Pricing page, "AWS Free Tier": "25 GB ... for tables using the DynamoDB Standard table class".
    usage = Usage(storage_gb=25, table_class=INFREQUENT_ACCESS)
    assert on_demand(usage, VIRGINIA, free_tier=True).total == pytest.approx(2.50)


def test_table_has_at_least_one_unit_of_each() -> None:
    # Guide, "Quotas": "Minimum throughput for any table ...: 1 read capacity unit and 1 write capacity unit".
    bill = provisioned(Usage(), VIRGINIA)
    assert {line.what: line.quantity for line in bill.lines} == {
        "write capacity": HOURS_A_MONTH,
        "read capacity": HOURS_A_MONTH,
    }


def test_peak_is_provisioned_for_its_hours_with_auto_scaling_and_always_without() -> None:
    usage = Usage(read_units_month=70 * SECONDS_A_MONTH, peak_read_units_s=700)
    scaled = provisioned(usage, VIRGINIA).lines[-1]
    assert scaled.quantity == 100 * (730 - 72) + 1000 * 72
    assert "100 units for a mean of 70 a second, 1,000 for a peak of 700 during 72 hours" in scaled.why
    fixed = provisioned(usage, VIRGINIA, auto_scaling=False).lines[-1]
    assert fixed.quantity == 700 * 730


def test_reserved_units_serve_the_peak_too() -> None:
    usage = Usage(write_units_month=70 * SECONDS_A_MONTH, peak_write_units_s=700)
    reserved, rest = provisioned(usage, VIRGINIA, reserved=1).lines[:2]
    assert (reserved.quantity, rest.quantity) == (100, 900 * 72)


def test_replicated_writes_are_not_reserved() -> None:
    # Guide: "You cannot purchase reserved capacity for replicated write capacity units (rWCUs)".
    usage = Usage(replicated_writes_month=700 * SECONDS_A_MONTH, replicas=2)
    assert usd_of(provisioned(usage, VIRGINIA, reserved=1))["replicated write capacity"] == round(
        3 * 1000 * 730 * 0.00065, 2
    )


def test_infrequent_access_has_no_reserved_capacity() -> None:
    with pytest.raises(
        PriceError, match="no reserved capacity of the table class STANDARD_INFREQUENT_ACCESS"
    ):
        provisioned(Usage(table_class=INFREQUENT_ACCESS), VIRGINIA, reserved=1)


def test_indexes_of_a_global_table_are_written_in_every_region() -> None:
    # "Writes to global secondary indexes (GSIs) are billed using standard write units" (guide, "Best practices for
    # understanding your AWS billing and usage reports").
    usage = Usage(write_units_month=1_000_000, replicated_writes_month=2_000_000, replicas=1)
    assert usd_of(on_demand(usage, VIRGINIA)) == {"writes": 1.25, "replicated writes": 2.50}


def test_price_that_is_missing_is_named_only_if_it_is_needed() -> None:
    london = packaged_prices().region("eu-west-2")
    assert on_demand(Usage(storage_gb=1), london).total == pytest.approx(0.29715)
    with pytest.raises(PriceError, match="the price export in eu-west-2 is not in the table"):
        on_demand(Usage(export_gb=1), london)


@pytest.mark.parametrize(
    "wrong",
    [
        {"storage_gb": -1},
        {"read_units_month": float("nan")},
        {"peak_write_units_s": float("inf")},
        {"replicated_writes_month": 1},
    ],
)
def test_usage_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is an amount|replicated writes are those"):
        Usage(**wrong)


@pytest.mark.parametrize("target", [0, 0.19, 0.91, 70])
def test_target_that_auto_scaling_does_not_take_is_refused(target: float) -> None:
    with pytest.raises(ValueError, match=r"a target utilization is 0.2 to 0.9"):
        provisioned(Usage(), VIRGINIA, target_utilization=target)


# --- what costs less ----------------------------------------------------------------------------------------


def test_steady_load_is_cheaper_provisioned_and_one_of_peaks_on_demand() -> None:
    steady = Usage(write_units_month=100 * SECONDS_A_MONTH, peak_write_units_s=150)
    assert cheapest(steady, VIRGINIA).mode == "provisioned"
    of_peaks = dataclasses.replace(steady, peak_write_units_s=10_000)
    assert cheapest(of_peaks, VIRGINIA).mode == "on-demand"
    assert cheapest(steady, VIRGINIA, reserved=3).mode == "provisioned, reserved for 3 years"


def test_cheapest_says_what_it_could_not_compare() -> None:
    bill = cheapest(Usage(storage_gb=1, table_class=INFREQUENT_ACCESS), packaged_prices().region("eu-west-1"))
    assert bill.mode == "on-demand"
    assert bill.assumptions[-1] == (
        "provisioned capacity is not compared: the price write_capacity of eu-west-1 is not in the table"
    )


def test_break_even_of_the_modes_is_said_in_words() -> None:
    # By hand: $0.00065 an hour buys 3,600 writes, which are $0.00225 on demand; that is 28.9 %.
    found = mode_break_even(VIRGINIA)
    assert found.at == pytest.approx(0.00065 / (3600 * 0.625e-6))
    assert found.sentence == (
        "in us-east-1, provisioned capacity costs less than on demand where more than 28.9% of the write units "
        "and 28.9% of the read units are used over the month; a fixed capacity is used so where the peak is up to "
        "3.5 times the mean, one with auto scaling at 70% up to 15.4 times"
    )


@pytest.mark.parametrize(("factor", "mode"), [(0.99, "provisioned"), (1.01, "on-demand")])
def test_bills_change_places_at_the_break_even(factor: float, mode: str) -> None:
    at = mode_break_even(VIRGINIA).at
    assert at is not None
    peak = 1_000_000.0  # large, so that whole units do not matter
    usage = Usage(
        write_units_month=at / factor * peak * SECONDS_A_MONTH,
        read_units_month=at / factor * peak * SECONDS_A_MONTH,
        peak_write_units_s=peak,
        peak_read_units_s=peak,
    )
    fixed = provisioned(usage, VIRGINIA, auto_scaling=False)
    assert (fixed.total < on_demand(usage, VIRGINIA).total) == (mode == "provisioned")


@pytest.mark.parametrize(("usd", "at"), [(0.0, 0.0), (100.0, None)])
def test_capacity_that_is_free_or_too_dear_has_no_break_even(usd: float, at: float | None) -> None:
    prices = whole_region([usd if name.endswith("_capacity") else 1.0 for name in UNITS])
    assert mode_break_even(prices).at == at


def test_break_even_of_the_table_classes_is_where_both_cost_the_same() -> None:
    usage = Usage(write_units_month=10_000_000, read_units_month=40_000_000, storage_gb=10)
    found = table_class_break_even(usage, VIRGINIA)
    assert found.at is not None
    # By hand: 10 x ($0.78 - $0.625) + 40 x ($0.155 - $0.125) = $2.75, by $0.15 a GB.
    assert found.at == pytest.approx(2.75 / 0.15)
    assert found.sentence.endswith(
        "it costs less from 18.3 GB on; the table has 10.0 GB, so STANDARD costs less"
    )
    standard, infrequent = (
        on_demand(dataclasses.replace(usage, storage_gb=found.at, table_class=each), VIRGINIA).total
        for each in (STANDARD, INFREQUENT_ACCESS)
    )
    assert standard == pytest.approx(infrequent)


def test_table_classes_that_cannot_be_compared_are_told() -> None:
    found = table_class_break_even(Usage(), packaged_prices().region("eu-west-2"))
    assert found.at is None
    assert "its price storage in eu-west-2 is not in the table" in found.sentence


def test_line_says_its_arithmetic() -> None:
    lines = on_demand(Usage(write_units_month=2_500_000, storage_gb=27), VIRGINIA, free_tier=True).lines
    assert [line.why for line in lines] == [
        "2,500,000 write units at $0.625 per million units",
        "27 GB-months, of which 25 are free, at $0.25 per GB-month",
    ]


# --- what holds for all bills -------------------------------------------------------------------------------

_amounts = st.floats(0, 1e12)
_AMOUNTS = [each.name for each in dataclasses.fields(Usage) if each.name not in ("replicas", "table_class")]
_usages = st.builds(
    Usage,
    **dict.fromkeys(_AMOUNTS, _amounts),
    replicas=st.integers(1, 4),
    table_class=st.sampled_from([STANDARD, INFREQUENT_ACCESS]),
)
_usd = st.floats(0, 100)


def whole_region(amounts: list[float]) -> RegionPrices:
    """Return a region that has every price."""
    prices = {
        name: Price(usd, UNITS[name], "made up", date(2026, 1, 1))
        for name, usd in zip(UNITS, amounts, strict=True)
    }
    by_class = dict.fromkeys((STANDARD, INFREQUENT_ACCESS, "BOTH"), prices)
    return RegionPrices("us-east-1", by_class, VIRGINIA.free_tier)


_regions = st.lists(_usd, min_size=len(UNITS), max_size=len(UNITS)).map(whole_region)


@settings(max_examples=300)
@given(
    usage=_usages, prices=_regions, name=st.sampled_from([*_AMOUNTS, "replicas"]), more=st.integers(0, 10**9),
    free_tier=st.booleans(), auto_scaling=st.booleans(), reserved=st.sampled_from([None, 1, 3]),
)  # fmt: skip
def test_more_usage_never_costs_less(
    usage: Usage,
    prices: RegionPrices,
    name: str,
    more: int,
    free_tier: bool,
    auto_scaling: bool,
    reserved: Any,
) -> None:
    added = more % 5 if name == "replicas" else more
    grown = dataclasses.replace(usage, **{name: getattr(usage, name) + added})
    term = reserved if usage.table_class == STANDARD else None
    for before, after in (
        (on_demand(usage, prices, free_tier=free_tier), on_demand(grown, prices, free_tier=free_tier)),
        tuple(
            provisioned(each, prices, free_tier=free_tier, auto_scaling=auto_scaling, reserved=term)
            for each in (usage, grown)
        ),
        (cheapest(usage, prices, reserved=term), cheapest(grown, prices, reserved=term)),
    ):
        assert after.total >= before.total * (1 - 1e-9) - 1e-9


@settings(max_examples=100)
@given(one=_usages, other=_usages, prices=_regions)
def test_bill_of_two_tables_on_demand_is_the_sum(one: Usage, other: Usage, prices: RegionPrices) -> None:
    other = dataclasses.replace(other, replicas=one.replicas, table_class=one.table_class)
    both = dataclasses.replace(one, **{name: getattr(one, name) + getattr(other, name) for name in _AMOUNTS})
    parts = on_demand(one, prices).total + on_demand(other, prices).total
    assert on_demand(both, prices).total == pytest.approx(parts)


@settings(max_examples=100)
@given(usage=_usages, prices=_regions, reserved=st.sampled_from([1, 3]))
def test_free_tier_and_reservation_never_cost_more(usage: Usage, prices: RegionPrices, reserved: Any) -> None:
    usage = dataclasses.replace(usage, table_class=STANDARD)
    plain = provisioned(usage, prices).total
    assert provisioned(usage, prices, free_tier=True).total <= plain * (1 + 1e-9)
    assert provisioned(usage, prices, reserved=reserved).total <= plain * (1 + 1e-9)
