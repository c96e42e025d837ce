"""Where one way to pay begins to cost less than another, said in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from singletable.planning.billing import (
    BLOCK_UNITS,
    HOURS_A_MONTH,
    MILLION,
    PEAK_HOURS_A_MONTH,
    TARGET_UTILIZATION,
    TERM_WORDS,
    Term,
    Usage,
    block_usd_month,
    check_target,
    request_lines,
    short,
)
from singletable.planning.prices import INFREQUENT_ACCESS, STANDARD, RegionPrices, TableClass


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Where two ways to pay cost the same: a share or an amount, None if there is no such place; and in words."""

    at: float | None
    sentence: str


def mode_break_even(
    prices: RegionPrices,
    table_class: TableClass = STANDARD,
    *,
    target_utilization: float = TARGET_UTILIZATION,
    reserved: Term | None = None,
) -> BreakEven:
    """Return how much of provisioned capacity has to be used for it to cost less than on demand."""
    check_target(target_utilization)
    shares = {}
    for what in ("write", "read"):
        hourly = prices.price(f"{what}_capacity", table_class).usd
        if reserved is not None:
            hourly = block_usd_month(prices, what, reserved)[0] / BLOCK_UNITS / HOURS_A_MONTH
        request = prices.price(f"{what}_request", table_class).usd / MILLION
        # A unit that is used all the time does one request a second.
        shares[what] = hourly / (3600 * request) if request else math.inf
    at = max(shares.values())
    kind = "provisioned capacity" if reserved is None else f"capacity reserved for {TERM_WORDS[reserved]}"
    where = f"in {prices.code}, {kind} costs less than on demand"
    if at >= 1:
        return BreakEven(None, f"{where} at no utilization")
    if at == 0:
        return BreakEven(0.0, f"{where} at every utilization")
    said = [f"{where} where more than {shares['write']:.1%} of the write units"]
    said += [f"and {shares['read']:.1%} of the read units are used over the month; a fixed capacity is"]
    said += [f"used so where the peak is up to {1 / at:.1f} times the mean"]
    if reserved is None:
        at_peak = PEAK_HOURS_A_MONTH / HOURS_A_MONTH
        ratio = (target_utilization / at - (1 - at_peak)) / at_peak
        scaled = f"up to {ratio:.1f} times" if ratio >= 1 else "at no peak"
        said[-1] += f", one with auto scaling at {target_utilization:.0%} {scaled}"
    return BreakEven(at, " ".join(said))


def table_class_break_even(usage: Usage, prices: RegionPrices) -> BreakEven:
    """Return from how many GB on STANDARD_INFREQUENT_ACCESS costs less for this throughput on demand."""
    names = ["storage"]
    names += ["write_request"] if usage.write_units_month else []
    names += ["replicated_write_request"] if usage.replicated_writes_month else []
    names += ["read_request"] if usage.read_units_month else []
    for name in names:
        if prices.find(name, INFREQUENT_ACCESS) is None:
            said = (
                f"{INFREQUENT_ACCESS} is not compared: its price {name} in {prices.code} is not in the table"
            )
            return BreakEven(None, said)
    standard, infrequent = (
        math.fsum(line.usd for line in request_lines(usage, prices, each))
        for each in (STANDARD, INFREQUENT_ACCESS)
    )
    saved = prices.price("storage").usd - prices.price("storage", INFREQUENT_ACCESS).usd
    if saved <= 0:
        return BreakEven(None, f"in {prices.code}, {INFREQUENT_ACCESS} saves no storage")
    at = max(0.0, infrequent - standard) / saved / (1 + usage.replicas)
    better = INFREQUENT_ACCESS if usage.storage_gb > at else STANDARD
    # AWS's rule of thumb: "When storage exceeds 50% of the throughput (reads and writes) cost" (guide,
    # "Considerations when choosing a table class"). By today's prices of us-east-1 it is some 41 %.
    return BreakEven(
        at,
        f"in {prices.code}, {INFREQUENT_ACCESS} saves ${short(saved)} a GB-month and makes this throughput "
        f"${infrequent - standard:,.2f} a month more expensive: it costs less from {at:,.1f} GB on; the table has "
        f"{usage.storage_gb:,.1f} GB, so {better} costs less",
    )
