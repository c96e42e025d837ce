"""The bill of a month: on demand, or provisioned with auto scaling and reserved capacity. Pure arithmetic.

It is given units, bytes and prices, and knows neither designs nor where prices come from. Rules of AWS stand
beside what follows from them. Taxes, data transfer, support and discounts of an account are in no bill.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from singletable.planning.prices import (
    STANDARD,
    FreeTier,
    Price,
    PriceError,
    RegionPrices,
    TableClass,
)

# The AWS Pricing Calculator multiplies hourly prices by 730, 8,760 hours of a year over 12 months (its estimate
# of three DAX nodes at $0.255 is $558.45 a month).
HOURS_A_MONTH: Final = 730
SECONDS_A_MONTH: Final = HOURS_A_MONTH * 3600
MONTHS_A_YEAR: Final = 12
TARGET_UTILIZATION: Final = 0.7  # what the console proposes; auto scaling takes 20 to 90 %
_TARGETS: Final = (0.2, 0.9)
# What the form of the AWS Pricing Calculator proposes as the duration of the peak: 72 of 730 hours a month.
PEAK_HOURS_A_MONTH: Final = 72
BLOCK_UNITS: Final = 100  # reserved capacity is bought in hundreds (guide, "DynamoDB reserved capacity")
MILLION: Final = 1_000_000
_STREAM_READS: Final = 100_000
Term = Literal[1, 3]
_TERM_NAMES: Final[dict[int, str]] = {1: "1_year", 3: "3_years"}
TERM_WORDS: Final[dict[int, str]] = {1: "1 year", 3: "3 years"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a table and its indexes do in a month.

    `replicas` are the regions of a global table beside the first. Then the writes of the table are
    `replicated_writes_month`, and `write_units_month` are those of its global indexes; both have the same peak,
    and happen in every region, which stores the same too. Reads, PITR, backups and the rest are those of all
    regions together. What Lambda and global tables read of a stream is free, and not counted.
    """

    write_units_month: float = 0
    read_units_month: float = 0
    replicated_writes_month: float = 0
    peak_write_units_s: float = 0
    peak_read_units_s: float = 0
    storage_gb: float = 0
    pitr_gb: float = 0
    backup_gb: float = 0
    restore_gb: float = 0
    export_gb: float = 0
    import_gb: float = 0
    stream_reads_month: float = 0
    replicas: int = 0
    table_class: TableClass = STANDARD

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if name != "table_class" and not 0 <= value < math.inf:  # NaN is in no range
                raise ValueError(f"{name} is an amount, not {value!r}")
        if self.replicated_writes_month and not self.replicas:
            raise ValueError("replicated writes are those of a global table, which has at least one replica")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a bill: how much of what, what it costs, and the arithmetic in words."""

    what: str
    quantity: float
    unit: str
    usd: float
    why: str


@dataclass(frozen=True, slots=True)
class Bill:
    """A month's bill by one billing mode. `assumptions` are what it takes for granted."""

    mode: str
    region: str
    table_class: TableClass
    lines: tuple[Line, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Return what the month costs, in USD."""
        return math.fsum(line.usd for line in self.lines)


# --- the two modes --------------------------------------------------------------------------------------------


def on_demand(usage: Usage, prices: RegionPrices, *, free_tier: bool = False) -> Bill:
    """Return the bill of a table on demand: each unit that was consumed costs the same."""
    # The free tier has no request units, only capacity: in the price list they have no band at no charge.
    lines = (
        *request_lines(usage, prices, usage.table_class),
        *_other_lines(usage, prices, free_tier=free_tier),
    )
    return Bill("on-demand", prices.code, usage.table_class, lines, _assumptions(usage, free_tier=free_tier))


def provisioned(
    usage: Usage,
    prices: RegionPrices,
    *,
    target_utilization: float = TARGET_UTILIZATION,
    reserved: Term | None = None,
    auto_scaling: bool = True,
    free_tier: bool = False,
) -> Bill:
    """Return the bill of a table with provisioned capacity, of which some may be reserved.

    With auto scaling, the capacity is that of the peak by the target for 72 hours of the month, and that of the
    mean by the target otherwise. Without, it is that of the peak all the time.
    """
    check_target(target_utilization)
    if reserved is not None and usage.table_class != STANDARD:
        raise PriceError(
            f"there is no reserved capacity of the table class {usage.table_class}",
            hint="reserve for STANDARD, or compare without a reservation",
        )
    scaling = target_utilization if auto_scaling else None
    free = prices.free_tier if free_tier and usage.table_class == STANDARD else FreeTier()
    lines = [
        line
        for capacity in _capacities(usage, scaling, free)
        for line in _capacity_lines(capacity, prices, usage.table_class, reserved)
    ]
    lines += _other_lines(usage, prices, free_tier=free_tier)
    mode = "provisioned" if reserved is None else f"provisioned, reserved for {TERM_WORDS[reserved]}"
    assumptions = (*_scaling_assumptions(scaling, reserved), *_assumptions(usage, free_tier=free_tier))
    return Bill(mode, prices.code, usage.table_class, tuple(lines), assumptions)


def cheapest(
    usage: Usage,
    prices: RegionPrices,
    *,
    target_utilization: float = TARGET_UTILIZATION,
    reserved: Term | None = None,
    free_tier: bool = False,
) -> Bill:
    """Return the bill of the mode that costs less. Capacity is reserved only if that was asked for."""
    bill = on_demand(usage, prices, free_tier=free_tier)
    needed = ["write_capacity", "read_capacity", *(["replicated_write_capacity"] if usage.replicas else [])]
    missing = [name for name in needed if prices.find(name, usage.table_class) is None]
    if missing:
        said = f"provisioned capacity is not compared: the price {missing[0]} of {prices.code} is not in the table"
        return Bill(bill.mode, bill.region, bill.table_class, bill.lines, (*bill.assumptions, said))
    other = provisioned(
        usage, prices, target_utilization=target_utilization, reserved=reserved, free_tier=free_tier
    )
    return bill if bill.total <= other.total else other


# --- lines ------------------------------------------------------------------------------------------------------


def request_lines(usage: Usage, prices: RegionPrices, table_class: TableClass) -> Iterator[Line]:
    """Return the lines of requests on demand."""
    regions = 1 + usage.replicas
    for what, name, quantity, unit in (
        ("writes", "write_request", usage.write_units_month * regions, "write units"),
        # Each write is billed in every region that has the table (guide, "Global tables: billing").
        (
            "replicated writes",
            "replicated_write_request",
            usage.replicated_writes_month * regions,
            "write units",
        ),
        ("reads", "read_request", usage.read_units_month, "read units"),
    ):
        if quantity:
            yield _line(what, quantity, unit, prices.price(name, table_class), per=MILLION)


def _other_lines(usage: Usage, prices: RegionPrices, *, free_tier: bool) -> Iterator[Line]:
    """Return the lines that both modes have."""
    free = prices.free_tier if free_tier else FreeTier()
    regions = 1 + usage.replicas
    # The first 25 GB are free in each region, for tables of the class STANDARD (pricing page, "Data storage").
    free_gb = free.storage_gb * regions if usage.table_class == STANDARD else 0
    stored = prices.price("storage", usage.table_class) if usage.storage_gb else None
    if stored is not None:
        yield _line("storage", usage.storage_gb * regions, "GB-months", stored, free=free_gb)
    for what, name, quantity, unit in (
        ("point-in-time recovery", "pitr", usage.pitr_gb, "GB-months"),
        ("on-demand backups", "backup", usage.backup_gb, "GB-months"),
        ("restores", "restore", usage.restore_gb, "GB"),
        ("exports to S3", "export", usage.export_gb, "GB"),
        ("imports from S3", "import", usage.import_gb, "GB"),
    ):
        if quantity:
            yield _line(what, quantity, unit, prices.price(name))
    if usage.stream_reads_month:
        # GetRecords of Lambda's triggers and of global tables are free (guide, "Understanding billing: Streams").
        yield _line(
            "stream reads",
            usage.stream_reads_month,
            "requests",
            prices.price("stream_read"),
            per=_STREAM_READS,
            free=free.stream_reads,
        )


def _line(what: str, quantity: float, unit: str, price: Price, *, per: float = 1, free: float = 0) -> Line:
    paid = max(0.0, quantity - free)
    but_free = f", of which {short(min(free, quantity))} are free," if free else ""
    why = f"{short(quantity)} {unit}{but_free} at ${short(price.usd)} per {price.per}"
    return Line(what, quantity, unit, paid / per * price.usd, why)


def _assumptions(usage: Usage, *, free_tier: bool) -> tuple[str, ...]:
    said = ["taxes, data transfer and discounts of an account are left out"]
    if not (usage.restore_gb or usage.export_gb or usage.import_gb):
        said.append(
            "no restores, exports to S3 and imports are counted: nothing says how often there are some"
        )
    if usage.replicas:
        said.append("every region of the global table has the prices of the first one")
    if free_tier:
        said.append("nothing else in the account uses the free tier")
    return tuple(said)


# --- capacity ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Capacity:
    """Units that are provisioned in each of so many regions: some at the peak, others in other hours."""

    what: str
    price: str
    units: int
    peak_units: int
    peak_hours: float
    free_units: float
    why: str
    regions: int = 1

    def unit_hours(self, reserved_units: float = 0) -> float:
        """Return what of a month is to be paid for in one region, beside what is reserved and what is free."""
        rest = max(0.0, self.units - reserved_units) * (HOURS_A_MONTH - self.peak_hours)
        at_peak = max(0.0, self.peak_units - reserved_units) * self.peak_hours
        return max(0.0, rest + at_peak - self.free_units * HOURS_A_MONTH)


def _capacities(usage: Usage, scaling: float | None, free: FreeTier) -> Iterator[_Capacity]:
    regions = 1 + usage.replicas
    peak = usage.peak_write_units_s
    # The writes of a global table itself are replicated ones: others need capacity if it has global indexes.
    if not usage.replicas or usage.write_units_month:
        load = (usage.write_units_month, peak, scaling, free.write_capacity_units)
        yield _capacity("write capacity", "write_capacity", *load, regions)
    if usage.replicas:
        load = (usage.replicated_writes_month, peak, scaling, free.replicated_write_capacity_units)
        yield _capacity("replicated write capacity", "replicated_write_capacity", *load, regions)
    load = (usage.read_units_month, usage.peak_read_units_s, scaling, free.read_capacity_units)
    yield _capacity("read capacity", "read_capacity", *load, 1)


def _capacity(
    what: str, price: str, month: float, peak: float, scaling: float | None, free_units: float, regions: int
) -> _Capacity:
    mean = month / SECONDS_A_MONTH
    peak = max(peak, mean)
    if scaling is None:
        units = max(1, math.ceil(peak))
        why = f"{short(units)} units for the peak of {short(peak)} a second, all the time"
        return _Capacity(what, price, units, units, 0, free_units, why, regions)
    units, peak_units = _units(mean / scaling), _units(peak / scaling)
    why = f"{short(units)} units for a mean of {short(mean)} a second"
    if peak_units > units:
        why += f", {short(peak_units)} for a peak of {short(peak)} during {PEAK_HOURS_A_MONTH} hours"
    why += f", by a target of {scaling:.0%}"
    return _Capacity(what, price, units, peak_units, PEAK_HOURS_A_MONTH, free_units, why, regions)


def _units(capacity: float) -> int:
    # AWS's own example has 114 units for a load of 80 and a target of 70 % (pricing page, provisioned capacity).
    # A table has at least one (guide, "Quotas").
    return max(1, math.floor(capacity + 0.5))


def _capacity_lines(
    capacity: _Capacity, prices: RegionPrices, table_class: TableClass, reserved: Term | None
) -> Iterator[Line]:
    price = prices.price(capacity.price, table_class)
    blocks = 0
    # Reserved capacity is for STANDARD, and not for replicated writes (guide, "DynamoDB reserved capacity").
    if reserved is not None and capacity.price in ("write_capacity", "read_capacity"):
        block_usd, said = block_usd_month(prices, capacity.price.removesuffix("_capacity"), reserved)
        blocks = _blocks(capacity, block_usd, price.usd)
        if blocks:
            quantity = blocks * BLOCK_UNITS * capacity.regions
            usd = blocks * block_usd * capacity.regions
            yield Line(
                f"reserved {capacity.what}", quantity, "units", usd, f"{short(quantity)} units: {said}"
            )
    hours = capacity.unit_hours(blocks * BLOCK_UNITS) * capacity.regions
    but = [f"in each of {capacity.regions} regions"] if capacity.regions > 1 else []
    but += [f"{short(blocks * BLOCK_UNITS)} of them reserved"] if blocks else []
    but += [f"{short(capacity.free_units)} of them free"] if capacity.free_units else []
    why = ", ".join([capacity.why, *but])
    why += f": {short(hours)} unit-hours of {HOURS_A_MONTH} hours at ${short(price.usd)} per {price.per}"
    yield Line(capacity.what, hours, "unit-hours", hours * price.usd, why)


def _blocks(capacity: _Capacity, block_usd: float, usd: float) -> int:
    """Return how many hundreds to reserve so that all of it costs least."""
    # Between the whole hundreds around these, the cost is a straight line.
    bends = [0.0, capacity.units, capacity.peak_units]
    bends += [max(0.0, each - capacity.free_units) for each in bends]
    near = {
        block for each in bends for block in (math.floor(each / BLOCK_UNITS), math.ceil(each / BLOCK_UNITS))
    }
    return min(
        sorted(near), key=lambda blocks: blocks * block_usd + capacity.unit_hours(blocks * BLOCK_UNITS) * usd
    )


def block_usd_month(prices: RegionPrices, what: str, term: Term) -> tuple[float, str]:
    """Return what 100 reserved units cost a month, with their share of what is paid upfront; and in words."""
    name = f"reserved_{what}_{_TERM_NAMES[term]}"
    upfront, hourly = prices.price(f"{name}_upfront").usd, prices.price(f"{name}_hourly").usd
    months = term * MONTHS_A_YEAR
    words = f"for each 100, ${short(upfront)} upfront over {months} months and {HOURS_A_MONTH} hours at "
    return upfront / months + hourly * HOURS_A_MONTH, f"{words}${short(hourly)}"


def _scaling_assumptions(scaling: float | None, reserved: Term | None) -> Iterator[str]:
    if scaling is None:
        yield "the capacity is that of the peak, all the time"
    else:
        yield (
            f"auto scaling keeps {scaling:.0%} of the capacity in use: that of the peak during "
            f"{PEAK_HOURS_A_MONTH} of {HOURS_A_MONTH} hours, that of the mean otherwise"
        )
        # Guide, "Managing throughput capacity automatically with DynamoDB auto scaling".
        yield "auto scaling follows after minutes: a load that rises faster than that is throttled"
    if reserved is not None:
        yield f"the reserved units are paid for during all of {TERM_WORDS[reserved]}, used or not"


def check_target(target_utilization: float) -> None:
    """Refuse a target that auto scaling does not take."""
    if not _TARGETS[0] <= target_utilization <= _TARGETS[1]:
        raise ValueError(f"a target utilization is 0.2 to 0.9, not {target_utilization}")


def short(number: float) -> str:
    """Write a number as people do: no more digits than help, and thousands apart."""
    if number == int(number):
        return f"{int(number):,}"
    return (
        f"{number:,.2f}" if (number >= 1 and round(number, 2) == number) or number >= 100 else f"{number:.6g}"
    )
