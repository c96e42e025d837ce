"""Plots of a plan as SVG: bars and lines, each readable as wide as a phone, in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from singletable.drawing.svg_canvas import MONO, SANS, escaped
from singletable.drawing.texts import cut, text_width
from singletable.planning.allocation import FOR_UNITS, READS, Part
from singletable.planning.billing import Bill
from singletable.planning.heat import Heat
from singletable.planning.plan import Plan
from singletable.planning.reports.figures import counted, dollars, share

Scale = Callable[[float], float]
WIDTH: Final = 400
ROWS_MAX: Final = 12
_EDGE: Final = 12
_ROW: Final = 34
_SIZE: Final = 12
KINDS: Final = {"reads": "#0072b2", "writes": "#e69f00", "stored": "#009e73"}
_CALM, _WARM, _HOT = "#0072b2", "#e69f00", "#d55e00"
# Light, then dark: the colours of GitHub's pages.
_THEME: Final = {
    ".chart .ink": ("fill: #1f2328", "fill: #f0f6fc"),
    ".chart .soft": ("fill: #59636e", "fill: #9198a1"),
    ".chart .grid": ("stroke: #d8dee4; fill: none", "stroke: #30363d"),
    ".chart .mark": ("stroke: #59636e; stroke-dasharray: 3 3; fill: none", "stroke: #9198a1"),
    ".chart .limit": ("stroke: #cf222e; stroke-width: 1.5; fill: none", "stroke: #ff7b72"),
    ".chart .all": (
        "stroke: #1f2328; stroke-width: 2.5; fill: none",
        "stroke: #f0f6fc",
    ),
    ".chart .all-dot": ("fill: #1f2328", "fill: #f0f6fc"),
    ".chart .back": ("fill: #ffffff", "fill: #0d1117"),
    ".chart .bar-back": ("fill: #eef1f4", "fill: #212830"),
}
_SIZES: Final = {
    ".chart text": f"font-family: {SANS}; font-size: {_SIZE}px",
    ".chart .name": f"font-family: {MONO}; font-size: 11.5px",
    ".chart .title": "font-size: 13px; font-weight: 600",
    ".chart .thin": "stroke-width: 1.8; fill: none",
}


def style() -> str:
    """Return the style sheet of plots, for light and for dark."""
    light = [f"{name} {{ {rules[0]}; }}" for name, rules in _THEME.items()]
    dark = [f"  {name} {{ {rules[1]}; }}" for name, rules in _THEME.items()]
    sizes = [f"{name} {{ {rules}; }}" for name, rules in _SIZES.items()]
    return "\n".join([*light, *sizes, "@media (prefers-color-scheme: dark) {", *dark, "}"])


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot: its title, what it shows in a sentence, and its elements below the title."""

    title: str
    about: str
    height: float
    elements: tuple[str, ...]

    def inline(self) -> str:
        """Return it for a page that has the style sheet, and the title beside it."""
        body = "\n".join(self.elements)
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {_n(self.height)}" role="img" '
            f'aria-label="{escaped(self.title)}: {escaped(self.about)}">\n{body}\n</svg>'
        )

    def standalone(self, of: str) -> str:
        """Return it as a file of its own; `of` is what was planned."""
        top = 44
        room = WIDTH - 2 * _EDGE
        title = cut(f"{self.title}: {of}", room, 13, is_mono=False)
        about = cut(self.about, room, _SIZE, is_mono=False)
        height = self.height + top
        body = "\n".join(self.elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{WIDTH * 1.5:g}" '
            f'height="{_n(height * 1.5)}" viewBox="0 0 {WIDTH} {_n(height)}" role="img">\n'
            f"<title>{escaped(self.title)}</title>\n<desc>{escaped(self.about)}</desc>\n"
            f"<style>\n{style()}\n</style>\n"
            f'<rect class="back" width="{WIDTH}" height="{_n(height)}" rx="8"/>\n'
            f"{_text(_EDGE, 22, title, 'ink title')}\n{_text(_EDGE, 38, about, 'soft')}\n"
            f'<g transform="translate(0 {top})">\n{body}\n</g>\n</svg>\n'
        )


# --- the plots of a plan --------------------------------------------------------------------------------------


def pattern_chart(plan: Plan) -> Chart:
    """Draw what calls cost: access patterns and writes, the most expensive first."""
    rows = [
        (
            line.name,
            dollars(line.usd.mean),
            ((_colour_of(line.reads.mean, line.writes.mean, line.kind), line.usd.mean),),
        )
        for line in plan.lines
        if line.usd.mean
    ]
    return _bars("Cost by call", "USD a month, the largest first", rows)


def index_chart(plan: Plan) -> Chart:
    """Draw what the table and each index cost."""
    return _part_chart("Cost by index", plan.by_index)


def entity_chart(plan: Plan) -> Chart:
    """Draw what each entity costs."""
    return _part_chart("Cost by entity", plan.by_entity)


def users_chart(plan: Plan, bills: Sequence[tuple[float, Bill]]) -> Chart:
    """Draw what more users cost, with both axes logarithmic."""
    series = {"total": [(users, bill.total) for users, bill in bills]}
    for kind in KINDS:
        series[kind] = [(users, _of_kind(bill, kind)) for users, bill in bills]
    return _lines("Cost over users", "USD a month, by the number of users", series, plan.users)


def heat_chart(plan: Plan) -> Chart:
    """Draw the busiest key of the table and of each index, against what one partition takes."""
    rows = []
    for heat in plan.heat:
        if heat.lines:
            full = (
                "never full"
                if heat.breaks_at_users is None
                else f"full at {counted(heat.breaks_at_users)} users"
            )
            said = "not known" if heat.is_unknown else f"{share(heat.share, 1)}, {full}"
            rows.append((f"{heat.place} {heat.key}", said, heat))
    return _heat("Heat by partition", "the busiest key against what a partition takes", rows)


CHARTS: Final = ("patterns", "indexes", "entities", "users", "heat")


def chart(plan: Plan, name: str, bills: Sequence[tuple[float, Bill]]) -> Chart:
    """Draw the plot of a name."""
    match name:
        case "patterns":
            return pattern_chart(plan)
        case "indexes":
            return index_chart(plan)
        case "entities":
            return entity_chart(plan)
        case "users":
            return users_chart(plan, bills)
        case _:
            return heat_chart(plan)


def _colour_of(reads: float, writes: float, kind: str) -> str:
    if kind in ("stored", "capacity"):
        return KINDS["stored"]
    return KINDS["reads"] if reads > writes else KINDS["writes"]


def _of_kind(bill: Bill, kind: str) -> float:
    def kind_of(what: str) -> str:
        found = FOR_UNITS.get(what)
        return "stored" if found is None else "reads" if found == READS else "writes"

    return math.fsum(line.usd for line in bill.lines if kind_of(line.what) == kind)


# --- bars -----------------------------------------------------------------------------------------------------

_Row = tuple[str, str, tuple[tuple[str, float], ...]]


def _part_chart(title: str, parts: Sequence[Part]) -> Chart:
    rows = [
        (part.name, dollars(part.usd), tuple((KINDS[kind], getattr(part, kind)) for kind in KINDS))
        for part in parts
        if part.usd
    ]
    return _bars(title, "USD a month: reads, writes, storage", rows)


def _bars(title: str, about: str, rows: Sequence[_Row]) -> Chart:
    shown = list(rows[:ROWS_MAX])
    most = max((sum(value for _, value in parts) for _, _, parts in shown), default=0.0)
    elements = [*_legend(KINDS.items(), 12)]
    y = 26.0
    for name, text, parts in shown:
        elements += _label(name, text, y)
        x = float(_EDGE)
        elements.append(_box("bar-back", _EDGE, y + 18, WIDTH - 2 * _EDGE, 9))
        for colour, value in parts:
            width = (WIDTH - 2 * _EDGE) * value / most if most else 0.0
            elements.append(_box("", x, y + 18, width, 9, colour))
            x += width
        y += _ROW
    if len(rows) > len(shown):
        rest = sum(value for _, _, parts in rows[ROWS_MAX:] for _, value in parts)
        elements.append(_text(_EDGE, y + 13, f"{len(rows) - len(shown)} more: {dollars(rest)}", "soft"))
        y += 20
    if not shown:
        elements.append(_text(_EDGE, y + 13, "nothing of it costs anything", "soft"))
        y += 20
    return Chart(title, about, y + 6, tuple(elements))


def _label(name: str, text: str, y: float) -> Iterator[str]:
    room = WIDTH - 2 * _EDGE - text_width(text, _SIZE, is_mono=False) - 8
    yield _text(_EDGE, y + 13, cut(name, room, 11.5, is_mono=True), "ink name")
    yield _text(WIDTH - _EDGE, y + 13, text, "soft", anchor="end")


def _legend(kinds: Iterable[tuple[str, str]], y: float) -> Iterator[str]:
    x = float(_EDGE)
    for name, colour in kinds:
        yield _box("", x, y - 8, 9, 9, colour)
        yield _text(x + 14, y, name, "soft")
        x += 30 + text_width(name, _SIZE, is_mono=False)


# --- heat -----------------------------------------------------------------------------------------------------


def _heat(title: str, about: str, rows: Sequence[tuple[str, str, Heat]]) -> Chart:
    low = -4.0  # 0.01 % of the limit
    high = max([1.0, *(math.ceil(math.log10(heat.share)) for _, _, heat in rows if heat.share)])
    room = WIDTH - 2 * _EDGE

    def at(value: float) -> float:
        return (
            _EDGE + room * (min(max(math.log10(value), low), high) - low) / (high - low) if value else _EDGE
        )

    shown = rows[:ROWS_MAX]
    bottom = 8 + _ROW * max(1, len(shown))
    elements = []
    for power in range(int(low), int(high) + 1):
        x = at(10.0**power)
        # Behind the bars alone: texts stand between them.
        pieces = " ".join(f"M{_n(x)},{_n(4 + _ROW * row + 16)} v13" for row in range(max(1, len(shown))))
        elements.append(_path("limit" if power == 0 else "grid", pieces))
        anchor = "start" if power == low else "end" if power == high else "middle"
        percent = f"{100 * 10.0**power:,.6g}%"
        elements.append(_text(x, bottom + 15, percent, "ink" if power == 0 else "soft", anchor=anchor))
    y = 4.0
    for name, text, heat in shown:
        colour = _HOT if heat.is_over else _WARM if heat.share > 0.5 else _CALM
        elements += _label(name, text, y)
        elements.append(_box("", _EDGE, y + 18, max(1.5, at(heat.share) - _EDGE), 9, colour))
        y += _ROW
    if not shown:
        elements.append(_text(_EDGE, 22, "nothing that is declared goes to any key", "soft"))
    return Chart(title, about, bottom + 24, tuple(elements))


# --- lines ----------------------------------------------------------------------------------------------------


def _lines(
    title: str, about: str, series: dict[str, list[tuple[float, float]]], marked: float | None
) -> Chart:
    left, right, top, bottom = 52.0, WIDTH - 26.0, 34.0, 262.0
    shown = {name: [each for each in points if each[1] >= 0.01] for name, points in series.items()}
    values = [usd for points in shown.values() for _, usd in points]
    numbers = [users for users, _ in series["total"]]
    if not values or len(numbers) < 2:
        return Chart(title, about, 40, (_text(_EDGE, 22, "it costs less than a cent", "soft"),))
    low, high = math.floor(math.log10(min(values))), max(math.ceil(math.log10(max(values))), -1)
    low = min(low, high - 1)
    first, last = math.log10(min(numbers)), math.log10(max(numbers))

    def x(users: float) -> float:
        return left + (right - left) * (math.log10(users) - first) / (last - first)

    def y(usd: float) -> float:
        return bottom - (bottom - top) * (math.log10(usd) - low) / (high - low)

    elements = [*_legend([*KINDS.items()], 14), *_grid(range(low, high + 1), y, left, right)]
    elements += [
        _text(x(10**power), bottom + 16, _power(power), "soft", anchor="middle")
        for power in range(math.ceil(first), math.floor(last) + 1)
    ]
    if marked is not None and min(numbers) <= marked <= max(numbers):
        elements.append(_path("mark", f"M{_n(x(marked))},{_n(top)} V{_n(bottom)}"))
    for name, points in reversed(shown.items()):
        if not points:
            continue
        path = "M" + " L".join(f"{_n(x(users))},{_n(y(usd))}" for users, usd in points)
        paint = "" if name == "total" else f' stroke="{KINDS[name]}"'
        elements.append(f'<path class="{"all" if name == "total" else "thin"}" d="{path}"{paint}/>')
        elements += _dots(name, points, x, y)
    elements.append(_text(right, 14, "total", "ink", anchor="end"))
    elements.append(_path("all", f"M{_n(right - 52)},10 h16"))
    return Chart(title, about, bottom + 26, tuple(elements))


def _grid(powers: Iterable[int], y: Scale, left: float, right: float) -> Iterator[str]:
    found = list(powers)
    step = 1 if len(found) <= 7 else 2
    for power in found:
        yield _path("grid", f"M{_n(left)},{_n(y(10.0**power))} H{_n(right)}")
        if power % step == 0:
            text = f"${10.0**power:g}" if power < 3 else f"${_power(power)}"
            yield _text(left - 6, y(10.0**power) + 4, text, "soft", anchor="end")


def _dots(name: str, points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> Iterator[str]:
    paint = 'class="all-dot"' if name == "total" else f'fill="{KINDS[name]}"'
    for users, usd in points:
        said = escaped(f"{counted(users)} users: {name} {dollars(usd)}")
        radius = 3 if name == "total" else 2
        yield (
            f'<circle {paint} cx="{_n(x(users))}" cy="{_n(y(usd))}" r="{radius}"><title>{said}</title></circle>'
        )


def _power(power: int) -> str:
    return f"{10 ** (power % 3)}{('', 'k', 'M', 'bn')[min(3, power // 3)]}"


# --- elements -------------------------------------------------------------------------------------------------


def _text(x: float, y: float, text: str, classes: str, *, anchor: str = "start") -> str:
    placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{classes}" x="{_n(x)}" y="{_n(y)}"{placed}>{escaped(text)}</text>'


def _box(classes: str, x: float, y: float, width: float, height: float, colour: str = "") -> str:
    named = f' class="{classes}"' if classes else f' fill="{colour}"'
    place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
    return f"<rect{named} {place}/>"


def _path(classes: str, path: str) -> str:
    return f'<path class="{classes}" d="{path}"/>'


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
