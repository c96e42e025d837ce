"""A plan as Markdown, for a pull request: what it costs, what has changed since the last one, what runs hot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from singletable.planning.allocation import Part
from singletable.planning.heat import Heat
from singletable.planning.plan import Plan, PlanLine
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
from singletable.planning.reports.since import Changed, Since

LINES_MAX: Final = 10
_ESCAPED: Final = str.maketrans(
    {each: f"\\{each}" for each in "\\`*_[]|#~"}
    | {"<": "&lt;", ">": "&gt;", "\n": " ", "&": "&amp;", "@": "&#64;"}
)


def markdown(plan: Plan, *, earlier: Since | None = None) -> str:
    """Write a plan as Markdown; with the difference to an earlier one, if there is one."""
    parts = [
        _head(plan, earlier),
        _since(earlier),
        _lines(plan),
        _heat(plan.heat),
        _folded("By index", _parts(plan.by_index, plan.usd)),
        _folded("By entity", _parts(plan.by_entity, plan.usd)),
        _folded("What it rests on", _notes(plan)),
    ]
    return "\n".join("\n".join(part) + "\n" for part in map(list, parts) if part)


def _head(plan: Plan, earlier: Since | None) -> Iterator[str]:
    yield f"### {escaped(title_of(plan))}: {escaped(total_of(plan))}"
    yield ""
    said = terms_of(plan)
    if earlier is not None:
        said += f". Before: {dollars(earlier.was)}, {change(earlier.now - earlier.was)}"
    budget = budget_of(plan)
    yield escaped(f"{said}.") + (f" **{escaped(budget[0].upper() + budget[1:])}.**" if budget else "")


# --- the difference -------------------------------------------------------------------------------------------


def _since(since: Since | None) -> Iterator[str]:
    if since is None:
        return
    if not since.lines and not since.terms and not since.left_out:
        yield "No line costs a cent more or less than before."
        return
    if since.lines:
        yield "| changed | before | now | |"
        yield "|---|--:|--:|--:|"
        yield from map(_changed, since.lines[:LINES_MAX])
        rest = since.lines[LINES_MAX:]
        if rest:
            usd = sum(each.usd for each in rest)
            yield f"| {len(rest)} more lines | | | {escaped(change(usd))} |"
    notes = [*since.terms, *(f"left out now: {each}" for each in since.left_out)]
    if notes:
        if since.lines:
            yield ""
        yield from (f"- {escaped(note)}" for note in notes)


def _changed(each: Changed) -> str:
    was = "new" if each.was is None else dollars(each.was)
    now = "gone" if each.now is None else dollars(each.now)
    return f"| {escaped(each.name)} | {escaped(was)} | {escaped(now)} | {escaped(change(each.usd))} |"


# --- tables ---------------------------------------------------------------------------------------------------


def _lines(plan: Plan) -> Iterator[str]:
    yield "| USD a month | | what | calls a month | reads | writes | why |"
    yield "|--:|--:|---|--:|--:|--:|---|"
    for line in plan.lines[:LINES_MAX]:
        yield _row(line, plan.usd)
    rest = plan.lines[LINES_MAX:]
    if rest:
        usd = sum(line.usd.mean for line in rest)
        yield f"| {escaped(dollars(usd))} | {escaped(share(usd, plan.usd))} | {len(rest)} more lines | | | | |"


def _row(line: PlanLine, whole: float) -> str:
    calls = "" if line.call is None else counted(line.calls_month)
    cells = [
        dollars(line.usd.mean),
        share(line.usd.mean, whole),
        line.name,
        calls,
        units(line.reads),
        units(line.writes),
        shortened(line.why),
    ]
    return f"| {' | '.join(map(escaped, cells))} |"


def _heat(found: Sequence[Heat]) -> Iterator[str]:
    busy = [heat for heat in found if heat.lines]
    if not busy:
        return
    yield "| busiest key | of its limit | reads a second | writes a second | full at users |"
    yield "|---|--:|--:|--:|--:|"
    for heat in busy:
        known = [share(heat.share, 1), counted(heat.reads_per_s), counted(heat.writes_per_s)]
        cells = [*(known if not heat.is_unknown else [""] * len(known)), full_at(heat)]
        yield f"| {escaped(heat.place)}: {escaped(heat.key)} | {' | '.join(map(escaped, cells))} |"


def _parts(parts: Sequence[Part], whole: float) -> Iterator[str]:
    found = [part for part in parts if part.usd]
    if not found:
        return
    yield "| | USD a month | | reads | writes | stored |"
    yield "|---|--:|--:|--:|--:|--:|"
    for part in found:
        cells = [
            dollars(part.usd),
            share(part.usd, whole),
            *map(dollars, (part.reads, part.writes, part.stored)),
        ]
        yield f"| {escaped(part.name)} | {' | '.join(map(escaped, cells))} |"


def _notes(plan: Plan) -> Iterator[str]:
    yield from (f"- {escaped(each.sentence)}" for each in plan.break_evens)
    yield from (f"- assumed: {escaped(each)}" for each in plan.assumptions)
    yield from (f"- left out: {escaped(each)}" for each in plan.left_out)


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from (f"<details><summary>{title}</summary>", "", *found, "", "</details>")


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return text.translate(_ESCAPED)
