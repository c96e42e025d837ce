"""A plan as one HTML file: it needs nothing beside it, no script and no network, also opened from a disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from singletable.drawing.texts import shown
from singletable.planning.billing import Bill, short
from singletable.planning.explain import Explanation, explain_line
from singletable.planning.heat import Heat
from singletable.planning.plan import Plan, PlanLine
from singletable.planning.reports.charts import CHARTS, Chart, chart, style
from singletable.planning.reports.figures import (
    budget_of,
    change,
    counted,
    dollars,
    dollars_range,
    share,
    shortened,
    terms_of,
    title_of,
    units,
)
from singletable.planning.reports.since import Since

_CHANGES_MAX: Final = 12
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def html(plan: Plan, bills: Sequence[tuple[float, Bill]], *, earlier: Since | None = None) -> str:
    """Write a plan as a page. `bills` are those of other numbers of users."""
    charts = "\n".join(_figure(chart(plan, name, bills)) for name in CHARTS)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title_of(plan))}: {_text(dollars(plan.usd))} a month</title>
<style>
{_file("page.css")}{style()}
</style>
</head>
<body>
{_header(plan, earlier)}
<main>
<section class="charts">
{charts}
</section>
{_since(earlier)}<h2>Where the money goes</h2>
<p class="soft">The largest cost first. Open a line for its arithmetic.</p>
<div class="lines">
<div class="cells head"><span>USD a month</span><span>share</span><span>what</span><span>calls</span>\
<span>reads</span><span>writes</span><span>why</span></div>
{"".join(_line(plan, line) for line in plan.lines)}</div>
<h2>What runs hot</h2>
<p class="soft">The busiest key of the table and of each index, in the busiest second, against what one partition
takes: 3,000 read units and 1,000 write units a second.</p>
<div class="heat">
{"".join(map(_heat, plan.heat))}</div>
<h2>The bill</h2>
{_bill(plan)}
{_list("Another way to pay", (each.sentence for each in plan.break_evens))}\
{_list("Assumed", plan.assumptions)}\
{_list("Left out", plan.left_out)}</main>
</body>
</html>
"""


@cache
def _file(name: str) -> str:
    return files("singletable.planning.reports").joinpath(name).read_text(encoding="utf-8")


def _header(plan: Plan, earlier: Since | None) -> str:
    varies = dollars_range(plan.usd_range)
    small = f" <small>a month, {_text(varies)}</small>" if varies else " <small>a month</small>"
    budget = budget_of(plan)
    said = (
        ""
        if budget is None
        else f'\n<p class="{"over" if plan.is_over_budget else "fine"}">{_text(budget)}</p>'
    )
    if earlier is not None:
        since = f"{change(earlier.now - earlier.was)} since the earlier plan of {dollars(earlier.was)}"
        said += f"\n<p>{_text(since)}</p>"
    return (
        f'<header>\n<h1>{_text(title_of(plan))}</h1>\n<p class="total">{_text(dollars(plan.usd))}{small}</p>\n'
        f'<p class="soft">{_text(terms_of(plan))}</p>{said}\n</header>'
    )


def _figure(chart: Chart) -> str:
    caption = f'<b>{_text(chart.title)}</b><span class="soft">{_text(chart.about)}</span>'
    return f"<figure><figcaption>{caption}</figcaption>\n{chart.inline()}</figure>"


# --- lines ----------------------------------------------------------------------------------------------------


def _line(plan: Plan, line: PlanLine) -> str:
    calls = "" if line.call is None else counted(line.calls_month)
    cells = [
        dollars(line.usd.mean),
        share(line.usd.mean, plan.usd),
        line.name,
        calls,
        units(line.reads),
        units(line.writes),
        shortened(line.why),
    ]
    classes = ["", "soft", "name", "", "", "", "soft"]
    made = "".join(
        f'<span class="{of}">{_text(cell)}</span>' if of else f"<span>{_text(cell)}</span>"
        for of, cell in zip(classes, cells, strict=True)
    )
    steps = _steps(explain_line(plan, line))
    return f'<details><summary class="cells">{made}</summary><div class="steps">{steps}</div></details>\n'


def _steps(found: Explanation) -> str:
    title = f"<p>{_text(found.title)}</p>" if found.title else ""
    sections = (
        f"<h3>{_text(section.title)}</h3><ul>{''.join(f'<li>{_text(step)}</li>' for step in section.steps)}</ul>"
        for section in found.sections
    )
    return title + "".join(sections)


def _since(since: Since | None) -> str:
    if since is None or not (since.lines or since.terms):
        return ""
    rows = "".join(
        f'<tr><td><span class="name">{_text(each.name)}</span></td>'
        f'<td class="number">{_text("new" if each.was is None else dollars(each.was))}</td>'
        f'<td class="number">{_text("gone" if each.now is None else dollars(each.now))}</td>'
        f'<td class="number">{_text(change(each.usd))}</td></tr>\n'
        for each in since.lines[:_CHANGES_MAX]
    )
    if len(since.lines) > _CHANGES_MAX:
        rest = change(sum(each.usd for each in since.lines[_CHANGES_MAX:]))
        more = f"{len(since.lines) - _CHANGES_MAX} more lines"
        rows += f'<tr><td>{more}</td><td></td><td></td><td class="number">{_text(rest)}</td></tr>\n'
    table = f"<table>\n{_row_head(('what', 'before', 'now', 'change'))}{rows}</table>\n" if rows else ""
    return f'<h2>Since the earlier plan</h2>\n{_items(since.terms)}<div class="wide">{table}</div>\n'


def _heat(heat: Heat) -> str:
    over = ' class="over"' if heat.is_over else ""
    lines = _items(str(line) for line in heat.lines[:5] if line.units_per_s)
    more = f"<details><summary class='soft'>what goes there</summary>{lines}</details>" if lines else ""
    return (
        f'<article><b class="name">{_text(heat.place)}</b> <code>{_text(heat.key)}</code>\n'
        f"<p{over}>{_text(heat.explanation)}</p>\n{_items(heat.advice)}{more}</article>\n"
    )


def _bill(plan: Plan) -> str:
    rows = "".join(
        f'<tr><td>{_text(line.what)}</td><td class="number">{_text(dollars(line.usd))}</td>'
        f"<td>{_text(line.why)}</td></tr>\n"
        for line in plan.bill.lines
    )
    sources = _items(
        f"{name}: ${short(price.usd)} per {price.per}, by {price.source} ({price.date})"
        for name, price in plan.prices.items()
    )
    head = _row_head(("what", "USD a month", "why"), number=(1,))
    return f'<div class="wide"><table>\n{head}{rows}</table></div>\n<h3>Prices</h3>\n{sources}'


def _row_head(names: Sequence[str], number: Sequence[int] = (1, 2, 3)) -> str:
    cells = "".join(
        f'<th class="number">{name}</th>' if at in number else f"<th>{name}</th>"
        for at, name in enumerate(names)
    )
    return f"<tr>{cells}</tr>\n"


def _list(title: str, sentences: Iterable[str]) -> str:
    items = _items(sentences)
    return f"<h2>{title}</h2>\n{items}" if items else ""


def _items(sentences: Iterable[str]) -> str:
    found = "".join(_item(each) for each in sentences)
    return f'<ul class="plain">{found}</ul>\n' if found else ""


def _item(sentence: str) -> str:
    return f"<li>{_text(sentence)}</li>"


def _text(text: str) -> str:
    return escape(shown(text))
