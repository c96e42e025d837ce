"""The arithmetic of one line of a plan, step by step: units of a call, calls of a month, money, the peak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from singletable.planning.allocation import TABLE
from singletable.planning.amounts import Amount
from singletable.planning.billing import MILLION, short
from singletable.planning.charges import Charge
from singletable.planning.plan import Plan, PlanLine, plain
from singletable.planning.rules import OVERHEAD_BYTES
from singletable.planning.usage import GB, is_recovered


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an explanation: what it is of, and its steps in their order."""

    title: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The arithmetic of a line of a plan."""

    name: str
    title: str
    usd: float
    sections: tuple[Section, ...]

    def data(self) -> dict[str, Any]:
        """Return the explanation as JSON has it."""
        return {
            "name": self.name,
            "title": self.title,
            "usd_month": round(self.usd, 6),
            "sections": [{"title": each.title, "steps": list(each.steps)} for each in self.sections],
        }


def explain(plan: Plan, name: str) -> tuple[Explanation, ...]:
    """Explain the lines of a name: a pattern, an entity, what is stored; nothing where the plan has none."""
    return tuple(explain_line(plan, line) for line in plan.find(name))


def explain_line(plan: Plan, line: PlanLine) -> Explanation:
    """Explain one line."""
    sections = _of_call(plan, line) if line.call is not None else _of_stored(plan, line)
    title = line.title if line.title not in (line.name, line.of) else ""
    found = (Section(each.title, tuple(map(plain, each.steps))) for each in sections if each.steps)
    return Explanation(line.name, title, line.usd.mean, tuple(found))


# --- a call ---------------------------------------------------------------------------------------------------


def _of_call(plan: Plan, line: PlanLine) -> Iterator[Section]:
    assert line.call is not None
    yield Section("one call", tuple(_units(line)))
    yield Section("a month", tuple(_month(line)))
    yield Section("what that costs", tuple(_money(plan, line)))
    yield Section("the busiest second", tuple(_peak(line)))
    yield Section("notes", line.call.notes)


def _units(line: PlanLine) -> Iterator[str]:
    assert line.call is not None
    for charge in line.call.charges:
        later = ", later, by the stream" if charge.by == "stream" else ""
        yield f"{_step(charge)}{later}: {charge.why} = {charge.units} {charge.direction} units"
    for direction, amount in (("read", line.reads), ("write", line.writes)):
        steps = [charge for charge in line.call.charges if charge.direction == direction]
        if len(steps) > 1:
            yield f"in all {amount} {direction} units"


def _step(charge: Charge) -> str:
    what = f" {charge.entity}" if charge.entity else ""
    where = "" if charge.index is None else f" in {charge.index}"
    return f"{charge.operation}{what}{where}"


def _month(line: PlanLine) -> Iterator[str]:
    yield f"{short(line.calls_month)} calls" + (f": {line.because}" if line.because else "")
    for name, amount in (("read", line.reads), ("write", line.writes)):
        if amount.high:
            yield (
                f"{short(line.calls_month)} calls x {amount.mean:,.6g} {name} units = "
                f"{short(line.calls_month * amount.mean)} {name} units"
            )


def _money(plan: Plan, line: PlanLine) -> Iterator[str]:
    assert line.call is not None
    by_rate: dict[tuple[str, float], float] = {}
    for charge in line.call.charges:
        at = charge.direction, plan.rates.of(charge)
        by_rate[at] = by_rate.get(at, 0.0) + charge.units.mean * line.calls_month
    said = "" if plan.bill.mode == "on-demand" else ", its share of the capacity that all calls need"
    for (direction, rate), units in by_rate.items():
        if units:
            yield (
                f"{short(units)} {direction} units x ${rate * MILLION:,.6g} a million{said} = ${units * rate:,.6f}"
            )
    if len(by_rate) > 1:
        yield f"in all ${line.usd.mean:,.6f} a month"
    if not line.usd.is_exact:
        yield f"at least ${line.usd.low:,.6f}, at most ${line.usd.high:,.6f}: sizes and answers vary"
    if plan.bill.mode != "on-demand":
        yield from (each.why for each in plan.bill.lines if each.unit in ("unit-hours", "units"))
    for name, price in plan.prices.items():
        if (line.reads.high and "read_" in name) or (line.writes.high and "write_" in name):
            yield f"{name}: ${price.usd:g} per {price.per} in {plan.bill.region}, by {price.source} ({price.date})"


def _peak(line: PlanLine) -> Iterator[str]:
    for name, amount in (("read", line.reads), ("write", line.writes)):
        if amount.mean:
            yield (
                f"{line.peak_per_s:,.6g} calls a second x {amount.mean:,.6g} = "
                f"{line.peak_per_s * amount.mean:,.6g} {name} units a second"
            )


# --- what is stored -------------------------------------------------------------------------------------------


def _of_stored(plan: Plan, line: PlanLine) -> Iterator[Section]:
    if line.kind == "stored":
        yield Section("what is stored", tuple(_stored(plan, line)))
    steps = [line.why]
    steps += [
        f"{name}: ${price.usd:g} per {price.per} in {plan.bill.region}, by {price.source} ({price.date})"
        for name, price in plan.prices.items()
        if name in ("storage", "pitr", "backup") and _PRICES.get(name) == line.of
    ]
    yield Section("what that costs", (*steps, f"= ${line.usd.mean:,.6f} a month"))


_PRICES = {"storage": "storage", "pitr": "point-in-time recovery", "backup": "on-demand backups"}


def _stored(plan: Plan, line: PlanLine) -> Iterator[str]:
    is_whole = line.of == "storage"
    blueprint = plan.planner.blueprint
    parts = [part for part in plan.stored if part.size.mean and (is_whole or is_recovered(blueprint, part))]
    for part in sorted(parts, key=lambda part: -part.size.mean):
        one = part.size.mean / part.items.mean - OVERHEAD_BYTES if part.items.mean else 0.0
        yield (
            f"{part.entity} in {part.index or 'the ' + TABLE}: {short(round(part.items.mean))} items x "
            f"({one:,.6g} + {OVERHEAD_BYTES} bytes) = {_gb(part.size)}"
        )
    if not is_whole:
        yield "recovery and backups are charged for the table and its local indexes"


def _gb(size: Amount) -> str:
    return f"{size.mean / GB:,.6g} GB"
