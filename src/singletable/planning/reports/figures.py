"""Numbers and money as people write them, and what every report says at its top."""

from __future__ import annotations

import re
from typing import Final

from singletable.planning.amounts import Amount
from singletable.planning.heat import Heat
from singletable.planning.plan import Plan

_STEPS: Final = ((1e9, " bn"), (1e6, " M"), (1e3, " k"))
_RANGE: Final = re.compile(r" \([\d.,]+ to [\d.,]+\)")
_WHOLE_MAX: Final = 10_000
_CENT: Final = 0.005


def dollars(usd: float) -> str:
    """Write an amount of money: $1,787.42, and <$0.01 for what is less than a cent."""
    sign = "-" if usd < 0 else ""
    amount = abs(usd)
    if 0 < amount < _CENT:
        return f"{sign}<$0.01"
    return f"{sign}${amount:,.2f}"


def dollars_range(usd: Amount) -> str:
    """Write from where to where money varies; nothing where it does not."""
    low, high = dollars(usd.low), dollars(usd.high)
    return "" if low == high else f"{low} to {high}"


def change(usd: float) -> str:
    """Write how much more or less: +$0.12."""
    return "no change" if abs(usd) < _CENT else f"+{dollars(usd)}" if usd > 0 else dollars(usd)


def counted(number: float) -> str:
    """Write a number of many things in a few characters: 518 k, 20 M."""
    if 0 < abs(number) < 0.01:
        return "<0.01"
    if abs(number) < _WHOLE_MAX:
        return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.3g}"
    for step, name in _STEPS:
        if abs(number) >= step * 0.9995:
            digits = f"{number / step:.3g}"
            return f"{float(digits):g}{name}" if abs(number) < 1e12 else f"{number / step:,.0f}{name}"
    return f"{number:,.0f}"


def units(amount: Amount) -> str:
    """Write the units of a call, as expected; nothing for none at all."""
    return f"{amount.mean:,.4g}" if amount.mean else ""


def share(part: float, whole: float) -> str:
    """Write a share in percent."""
    if not whole:
        return ""
    percent = 100 * part / whole
    return "<0.1%" if 0 < percent < 0.05 else f"{percent:,.1f}%"


def full_at(heat: Heat) -> str:
    """Write at how many users a key is full; nothing where nothing goes there."""
    if heat.is_unknown:
        return "not known"
    if not heat.lines:
        return ""
    return "never" if heat.breaks_at_users is None else counted(heat.breaks_at_users)


def gigabytes(size_bytes: float) -> str:
    """Write a size."""
    for step, name in ((1024**4, "TB"), (1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size_bytes >= step:
            return f"{size_bytes / step:,.3g} {name}"
    return f"{size_bytes:,.0f} bytes"


def shortened(why: str) -> str:
    """Return a sentence without the ranges in it."""
    return _RANGE.sub("", why)


def title_of(plan: Plan) -> str:
    """Return what is planned, and for whom."""
    return plan.design if plan.users is None else f"{plan.design} for {plan.users:,.0f} users"


def terms_of(plan: Plan) -> str:
    """Return how it is paid for, and of when the prices are."""
    mode = plan.bill.mode.replace("on-demand", "on demand")
    days = sorted(price.date for price in plan.prices.values())
    dated = "" if not days else f", prices of {days[0]}" + (f" to {days[-1]}" if days[-1] != days[0] else "")
    return f"{plan.bill.region}, {mode}, {plan.bill.table_class}{dated}"


def total_of(plan: Plan) -> str:
    """Return what it costs, and how that varies."""
    varies = dollars_range(plan.usd_range)
    return f"{dollars(plan.usd)} a month" + (f" ({varies})" if varies else "")


def budget_of(plan: Plan) -> str | None:
    """Return how it stands with the budget; None without one."""
    budget = plan.options.budget_usd
    if budget is None:
        return None
    if plan.is_over_budget:
        return f"over the budget of {dollars(budget)} by {dollars(plan.usd - budget)}"
    return f"within the budget of {dollars(budget)}: {dollars(budget - plan.usd)} are left"
