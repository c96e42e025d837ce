"""A plan for a terminal: what costs most first, and why; what runs hot; what it rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from singletable.planning.allocation import Part
from singletable.planning.explain import Explanation
from singletable.planning.heat import Heat
from singletable.planning.plan import Plan
from singletable.planning.reports.figures import (
    budget_of,
    change,
    counted,
    dollars,
    full_at,
    share,
    shortened,
    terms_of,
    title_of,
    total_of,
    units,
)
from singletable.planning.reports.since import Since

LINES_MAX: Final = 12
CHANGES_MAX: Final = 12
WIDTH: Final = 80
_WIDTH_MIN: Final = 60
_EXPLAINED_SHARE: Final = 0.01  # of the whole: what costs less needs no reason
_INDENT: Final = " " * 19


def terminal(
    plan: Plan, *, earlier: Since | None = None, width: int = WIDTH, every_line: bool = False
) -> str:
    """Write a plan for a terminal of this width."""
    width = max(_WIDTH_MIN, width)
    parts = [
        _head(plan, width),
        _lines(plan, width, None if every_line else LINES_MAX),
        *([_since(earlier, width)] if earlier is not None else []),
        _parts("by index", plan.by_index, plan.usd, width),
        _parts("by entity", plan.by_entity, plan.usd, width),
        _heat(plan.heat, width),
        _sentences("another way to pay", (each.sentence for each in plan.break_evens), width),
        _sentences("assumed", plan.assumptions, width),
        _sentences("left out", plan.left_out, width),
    ]
    return "\n".join("\n".join(part) + "\n" for part in map(list, parts) if part)


def explained(found: Sequence[Explanation], *, width: int = WIDTH) -> str:
    """Write the arithmetic of some lines."""
    return "\n".join("\n".join(_explanation(each, max(_WIDTH_MIN, width))) + "\n" for each in found)


def _head(plan: Plan, width: int) -> Iterator[str]:
    yield from textwrap.wrap(f"{title_of(plan)}: {total_of(plan)}", width)
    yield from textwrap.wrap(terms_of(plan), width)
    budget = budget_of(plan)
    if budget is not None:
        yield budget


# --- tables ---------------------------------------------------------------------------------------------------


def _lines(plan: Plan, width: int, most: int | None) -> Iterator[str]:
    name_width = width - 47
    yield f"{'USD/month':>10}  {'share':>6} {'what':<{name_width}} {'calls':>7} {'reads':>8} {'writes':>8}"
    shown = plan.lines[:most]
    for line in shown:
        calls = "" if line.call is None else counted(line.calls_month)
        name = _cut(line.name, name_width)
        yield (
            f"{_money(line.usd.mean):>10}  {share(line.usd.mean, plan.usd):>6} {name:<{name_width}} "
            f"{calls:>7} {units(line.reads):>8} {units(line.writes):>8}"
        ).rstrip()
        if line.usd.mean >= _EXPLAINED_SHARE * plan.usd:
            yield from textwrap.wrap(
                shortened(line.why), width, initial_indent=_INDENT, subsequent_indent=_INDENT
            )
    rest = plan.lines[len(shown) :]
    if rest:
        usd = sum(line.usd.mean for line in rest)
        yield f"{_money(usd):>10}  {share(usd, plan.usd):>6} {len(rest)} more lines: --all shows them"


def _parts(title: str, parts: Sequence[Part], whole: float, width: int) -> Iterator[str]:
    found = [part for part in parts if part.usd][:LINES_MAX]
    if not found:
        return
    most = min(28, width - 49)
    width = max(len(title), *(len(_cut(part.name, most)) for part in found))
    yield f"{'USD/month':>10}  {'share':>6} {title:<{width}} {'reads':>9} {'writes':>9} {'stored':>9}"
    for part in found:
        cells = " ".join(f"{_money(usd):>9}" for usd in (part.reads, part.writes, part.stored))
        name = _cut(part.name, most)
        yield f"{_money(part.usd):>10}  {share(part.usd, whole):>6} {name:<{width}} {cells}".rstrip()


def _heat(found: Sequence[Heat], width: int) -> Iterator[str]:
    if not found:
        return
    names = max(len("busiest key"), *(len(_cut(heat.place, 16)) for heat in found))
    key_width = width - names - 40
    yield f"{'of its limit':>12}  {'busiest key':<{names + key_width + 1}} {'units/s':>9} {'full at users':>13}"
    for heat in found:
        rate = {"reads": heat.reads_per_s, "writes": heat.writes_per_s}.get(heat.limit)
        said = "" if rate is None or heat.is_unknown else f"{counted(rate)} {heat.limit[0].upper()}"
        full = full_at(heat)
        key = _cut(heat.key or "nothing declared goes there", key_width)
        percent = share(heat.share, 1) if heat.lines and not heat.is_unknown else ""
        yield f"{percent:>12}  {_cut(heat.place, 16):<{names}} {key:<{key_width}} {said:>9} {full:>13}".rstrip()
    for heat in found:
        if (heat.breaks_at_users is not None or heat.is_unknown) and heat.advice:
            yield from _bullet(f"{heat.place}: {heat.advice[0]}", width)


def _since(since: Since, width: int) -> Iterator[str]:
    difference = change(since.now - since.was)
    yield f"since the earlier plan: {dollars(since.was)}, now {dollars(since.now)}: {difference}"
    for term in since.terms:
        yield f"  {term}"
    for each in since.lines[:CHANGES_MAX]:
        kind = "new" if each.was is None else "gone" if each.now is None else ""
        yield f"{change(each.usd):>12} {_cut(each.name, width - 24)} {kind}".rstrip()
    rest = len(since.lines) - CHANGES_MAX
    if rest > 0:
        yield f"  and {rest} more lines"


def _sentences(title: str, sentences: Iterable[str], width: int) -> Iterator[str]:
    found = list(sentences)
    if found:
        yield f"{title}:"
        for each in found:
            yield from _bullet(each, width)


# --- explanations ---------------------------------------------------------------------------------------------


def _explanation(found: Explanation, width: int) -> Iterator[str]:
    title = f", {found.title}" if found.title else ""
    yield from textwrap.wrap(f"{found.name}{title}: {dollars(found.usd)} a month", width)
    for section in found.sections:
        yield ""
        yield section.title
        for step in section.steps:
            yield from _bullet(step, width)


def _bullet(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  - ", subsequent_indent="    ")


def _money(usd: float) -> str:
    return dollars(usd).replace("$", "") if usd else ""


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."
