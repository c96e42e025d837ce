"""A plan: what a design costs in a month for so many users, line by line, with what it rests on.

The lines add up to the bill. On demand a line costs its units at their price; provisioned, it has its share of the
capacity that all of them need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Literal

from singletable.blueprint import Blueprint
from singletable.planning.allocation import (
    FOR_UNITS,
    READS,
    TABLE_WRITES,
    WRITES,
    Part,
    Rates,
    by_entity,
    by_index,
    divided,
    rates_of,
)
from singletable.planning.amounts import NOTHING, Amount, total
from singletable.planning.billing import Bill, Term, Usage, cheapest, on_demand, provisioned
from singletable.planning.break_even import BreakEven, mode_break_even, table_class_break_even
from singletable.planning.charges import CallUnits
from singletable.planning.heat import Heat, heat_of
from singletable.planning.prices import (
    INFREQUENT_ACCESS,
    STANDARD,
    Price,
    PriceError,
    PriceTable,
    TableClass,
    packaged_prices,
)
from singletable.planning.sizes import Profile
from singletable.planning.usage import recovered_gb, usage_of
from singletable.planning.workload import Planner, StoredPart, Workload, WorkloadLine

Billing = Literal["on-demand", "provisioned", "auto"]
Kind = Literal["pattern", "create", "update", "delete", "expire", "stored", "capacity"]
_ENTITY_KINDS: Final = ("create", "update", "delete", "expire")
_REFUSED: Final = "whose condition fails"  # the end of the title of calls that AWS charges and refuses
_EXPONENT: Final = re.compile(r"\d+(?:\.\d+)?e\+\d+")
_LONG: Final = re.compile(r"(?<![\d$.,])\d+\.\d{3,}(?!\d*e)")
FORMAT: Final = 1  # of the JSON
REGION: Final = "us-east-1"  # of a design that names none
USERS: Final = (1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What a plan is made for. What is not given is as the design declares it."""

    users: float | None = None
    region: str | None = None
    billing: Billing | None = None
    table_class: TableClass | None = None
    reserved: Term | None = None
    free_tier: bool = False
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A line of a plan: a call with all of its units, or what is stored. `why` is a sentence."""

    kind: Kind
    of: str
    title: str
    usd: Amount  # a month
    why: str
    because: str = ""  # what the number of calls rests on
    calls_month: float = 0.0
    peak_per_s: float = 0.0
    call: CallUnits | None = None

    @property
    def name(self) -> str:
        """What people call it: `due`, `create Batch`, `storage`."""
        name = f"{self.kind} {self.of}" if self.kind in _ENTITY_KINDS else self.of
        return f"{name} (refused)" if self.title.endswith(_REFUSED) else name

    @property
    def reads(self) -> Amount:
        """The read units of one call."""
        return NOTHING if self.call is None else self.call.reads

    @property
    def writes(self) -> Amount:
        """The write units of one call."""
        return NOTHING if self.call is None else self.call.writes


@dataclass(frozen=True, slots=True)
class Plan:
    """What a design costs in a month. `lines` has the largest cost first, and adds up to the bill."""

    design: str
    users: float | None
    options: PlanOptions
    bill: Bill
    usage: Usage
    lines: tuple[PlanLine, ...]
    stored: tuple[StoredPart, ...]
    by_index: tuple[Part, ...]
    by_entity: tuple[Part, ...]
    heat: tuple[Heat, ...]
    rates: Rates
    prices: Mapping[str, Price]
    break_evens: tuple[BreakEven, ...]
    assumptions: tuple[str, ...]
    left_out: tuple[str, ...]
    planner: Planner = field(repr=False, compare=False)

    @property
    def usd(self) -> float:
        """What the month costs."""
        return self.bill.total

    @property
    def usd_range(self) -> Amount:
        """What it costs at least, as expected, and at most, as far as sizes and answers vary."""
        return total(line.usd for line in self.lines)

    @property
    def by_pattern(self) -> tuple[PlanLine, ...]:
        """The lines of access patterns."""
        return tuple(line for line in self.lines if line.kind == "pattern")

    @property
    def is_over_budget(self) -> bool:
        """Whether it costs more than the budget, if there is one."""
        return self.options.budget_usd is not None and self.usd > self.options.budget_usd

    @property
    def prices_date(self) -> date | None:
        """The day of the oldest price that it was made with."""
        return min((price.date for price in self.prices.values()), default=None)

    def find(self, name: str) -> tuple[PlanLine, ...]:
        """Return the lines of a name: of a pattern by method or number, of an entity, or of what is stored."""
        patterns = self.planner.blueprint.patterns
        asked = next((each for each in patterns if name in (each.method, each.number)), None)
        if asked is not None:
            of = asked.method or asked.number
            return tuple(line for line in self.by_pattern if line.of == of)
        exact = tuple(line for line in self.lines if name in (line.of, line.name))
        wanted = name.lower()
        return exact or tuple(line for line in self.lines if wanted in (line.of.lower(), line.name.lower()))

    def data(self) -> dict[str, Any]:
        """Return the plan as JSON has it: what `--json` prints, and `--since` reads."""
        return {
            "plan": FORMAT,
            "design": self.design,
            "users": self.users,
            "region": self.bill.region,
            "billing": self.bill.mode,
            "table_class": self.bill.table_class,
            "usd_month": _usd(self.usd),
            "usd_month_range": _amount(self.usd_range),
            "budget_usd": self.options.budget_usd,
            "is_over_budget": self.is_over_budget,
            "bill": [
                {
                    "what": line.what,
                    "quantity": line.quantity,
                    "unit": line.unit,
                    "usd": _usd(line.usd),
                    "why": line.why,
                }
                for line in self.bill.lines
            ],
            "lines": [_line_data(line) for line in self.lines],
            "by_index": [_part_data(part) for part in self.by_index],
            "by_entity": [_part_data(part) for part in self.by_entity],
            "stored": [
                {
                    "entity": part.entity,
                    "index": part.index,
                    "items": _amount(part.items),
                    "bytes": _amount(part.size),
                }
                for part in self.stored
            ],
            "heat": [_heat_data(heat) for heat in self.heat],
            "prices": {
                name: {
                    "usd": price.usd,
                    "per": price.per,
                    "source": price.source,
                    "date": price.date.isoformat(),
                }
                for name, price in self.prices.items()
            },
            "break_evens": [each.sentence for each in self.break_evens],
            "assumptions": list(self.assumptions),
            "left_out": list(self.left_out),
        }


def make_plan(
    blueprint: Blueprint,
    options: PlanOptions | None = None,
    profile: Profile | None = None,
    prices: PriceTable | None = None,
) -> Plan:
    """Plan what a design costs; by a measured profile, or another table of prices, if there is one."""
    return _Maker(blueprint, options or PlanOptions(), profile, prices or packaged_prices()).plan()


def cost_over_users(
    plan: Plan, prices: PriceTable | None = None, users: Iterable[float] = USERS
) -> tuple[tuple[float, Bill], ...]:
    """Return the bill of the same design for other numbers of users."""
    profile = plan.planner.sizes.profile or None  # what was measured stays as it is
    maker = _Maker(plan.planner.blueprint, plan.options, profile, prices or packaged_prices())
    return tuple((each, maker.bill(each)) for each in users)


class _Maker:
    """Makes a plan: the workload, its bill, and what of the bill each line has."""

    def __init__(
        self, blueprint: Blueprint, options: PlanOptions, profile: Profile | None, prices: PriceTable
    ) -> None:
        table = blueprint.table
        self.blueprint = blueprint
        self._profile = profile
        self.options = replace(
            options,
            region=options.region or (table.regions[0].code if table.regions else REGION),
            billing=options.billing or ("provisioned" if table.billing == "PROVISIONED" else "on-demand"),
            table_class=options.table_class
            or (INFREQUENT_ACCESS if table.table_class == INFREQUENT_ACCESS else STANDARD),
        )
        assert self.options.region is not None
        self.prices = prices.region(self.options.region)

    @property
    def _table_class(self) -> TableClass:
        assert self.options.table_class is not None
        return self.options.table_class

    def bill(self, users: float | None) -> Bill:
        """Return the bill alone."""
        workload = Planner(self.blueprint, users, self._profile).workload()
        return self._billed(usage_of(self.blueprint, workload, self.prices, self._table_class).usage)

    def plan(self) -> Plan:
        planner = Planner(self.blueprint, self.options.users, self._profile)
        workload = planner.workload()
        used = usage_of(self.blueprint, workload, self.prices, self._table_class)
        bill = self._billed(used.usage)
        rates = rates_of(bill, used.usage, recovered_gb(self.blueprint, workload))
        lines = sorted(
            (*_call_lines(workload, rates), *_other_lines(bill, used.usage, workload)),
            key=lambda line: (-line.usd.mean, line.name),
        )
        return Plan(
            design=self.blueprint.name,
            users=planner.users,
            options=self.options,
            bill=bill,
            usage=used.usage,
            lines=tuple(lines),
            stored=workload.stored,
            by_index=by_index(self.blueprint, workload, rates),
            by_entity=by_entity(self.blueprint, workload, rates),
            heat=heat_of(planner),
            rates=rates,
            prices=self._prices_used(bill, used.usage),
            break_evens=tuple(self._break_evens(used.usage)),
            assumptions=(*bill.assumptions, *used.assumptions, *divided(workload)),
            left_out=(*workload.left_out, *used.left_out),
            planner=planner,
        )

    def _billed(self, usage: Usage) -> Bill:
        options, prices = self.options, self.prices
        match options.billing:
            case "provisioned":
                return provisioned(usage, prices, reserved=options.reserved, free_tier=options.free_tier)
            case "auto":
                return cheapest(usage, prices, reserved=options.reserved, free_tier=options.free_tier)
            case _:
                return on_demand(usage, prices, free_tier=options.free_tier)

    def _break_evens(self, usage: Usage) -> Iterator[BreakEven]:
        """Say where another way to pay costs less; without a price that is missing, nothing."""
        try:
            yield mode_break_even(self.prices, self._table_class, reserved=self.options.reserved)
        except PriceError as error:
            yield BreakEven(None, f"on demand and provisioned are not compared: {error.message}")
        yield table_class_break_even(usage, self.prices)

    def _prices_used(self, bill: Bill, usage: Usage) -> dict[str, Price]:
        kind = "request" if bill.mode == "on-demand" else "capacity"
        names = [f"write_{kind}", f"read_{kind}", "storage"]
        names += [f"replicated_write_{kind}"] if usage.replicas else []
        names += ["pitr"] if usage.pitr_gb else []
        names += ["backup"] if usage.backup_gb else []
        found = {name: self.prices.find(name, self._table_class) for name in names}
        return {name: price for name, price in found.items() if price is not None}


# --- shares of the bill ---------------------------------------------------------------------------------------


def _call_lines(workload: Workload, rates: Rates) -> Iterator[PlanLine]:
    for line in workload.lines:
        usd = total(charge.units * (rates.of(charge) * line.calls_month) for charge in line.call.charges)
        yield PlanLine(
            kind=line.kind,  # type: ignore[arg-type]
            of=line.of,
            title=line.title,
            usd=usd,
            why=_why(line, rates),
            because=line.because,
            calls_month=line.calls_month,
            peak_per_s=line.peak_per_s,
            call=line.call,
        )


def _why(line: WorkloadLine, rates: Rates) -> str:
    """Return why a line costs what it does: its dearest step, in the words of the rule."""
    if not line.call.charges:
        return "it takes no units"
    most = max(line.call.charges, key=lambda charge: charge.units.mean * rates.of(charge))
    where = "" if most.index is None else f" of {most.index}"
    others = sum(charge.units.mean > 0 for charge in line.call.charges) - 1
    units = f"{most.units.mean:.4g}"
    part = f"{units} unit{'' if units == '1' else 's'} of " if others > 0 else ""
    more = f"; {others} more step{'s' if others > 1 else ''}" if others > 0 else ""
    return plain(f"{part}{most.operation}{where}: {most.why}{more}")


def plain(text: str) -> str:
    """Return a sentence with its numbers as people write them: 2,500,000 for 2.5e+06, 0.00965 for 0.00964506."""
    text = _EXPONENT.sub(lambda found: f"{float(found[0]):,.0f}", text)
    return _LONG.sub(
        lambda found: f"{float(found[0]):.3g}" if float(found[0]) < 100 else f"{float(found[0]):.1f}", text
    )


def _other_lines(bill: Bill, usage: Usage, workload: Workload) -> Iterator[PlanLine]:
    """Return what is in the bill beside calls: what is stored, and capacity that no call takes."""
    units = {
        READS: usage.read_units_month,
        WRITES: usage.write_units_month,
        TABLE_WRITES: usage.replicated_writes_month,
    }
    stored = workload.stored_bytes
    for line in bill.lines:
        kind = FOR_UNITS.get(line.what)
        if kind is None:
            is_varying = line.what == "storage" and line.usd and stored.mean
            usd = stored * (line.usd / stored.mean) if is_varying else Amount.exactly(line.usd)
            yield PlanLine("stored", line.what, line.what, usd, plain(line.why))
        elif not units[kind] and line.usd:
            yield PlanLine("capacity", line.what, line.what, Amount.exactly(line.usd), plain(line.why))


# --- as JSON --------------------------------------------------------------------------------------------------


def _line_data(line: PlanLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "kind": line.kind,
        "of": line.of,
        "title": line.title,
        "usd_month": _usd(line.usd.mean),
        "usd_month_range": _amount(line.usd),
        "calls_month": line.calls_month,
        "peak_per_s": line.peak_per_s,
        "read_units": _amount(line.reads),
        "write_units": _amount(line.writes),
        "why": line.why,
        "because": line.because,
    }


def _part_data(part: Part) -> dict[str, Any]:
    named = {"reads": part.reads, "writes": part.writes, "stored": part.stored, "usd_month": part.usd}
    return {"name": part.name, **{name: _usd(usd) for name, usd in named.items()}}


def _heat_data(heat: Heat) -> dict[str, Any]:
    return {
        "place": heat.place,
        "key": heat.key,
        "reads_per_s": round(heat.reads_per_s, 6),
        "writes_per_s": round(heat.writes_per_s, 6),
        "share": round(heat.share, 9),
        "limit": heat.limit,
        "breaks_at_users": None if heat.breaks_at_users is None else round(heat.breaks_at_users),
        "lines": [
            {
                "name": f"{line.kind} {line.of}",
                "direction": line.direction,
                "units_per_s": round(line.units_per_s, 6),
            }
            for line in heat.lines
            if line.units_per_s
        ],
        "explanation": heat.explanation,
        "advice": list(heat.advice),
    }


def _amount(amount: Amount) -> list[float]:
    return [round(each, 6) for each in (amount.low, amount.mean, amount.high)]


def _usd(usd: float) -> float:
    return round(usd, 6)
