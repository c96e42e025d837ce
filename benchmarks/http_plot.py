"""A picture of requests a second: a panel for an operation on items of a shape, a bar for a server, drawn as SVG.

It is readable on light and on dark pages. This server has another colour than the others and bold names, and
every bar has its figure, so that nothing depends on the colours. A thin line goes from the lowest to the
highest round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from benchmarks.http_requests import GET, MANY_ATTRIBUTES, ONE_LONG_TEXT, PUT, QUERY, UPDATE
from benchmarks.http_servers import KEEPS, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "server.svg"
OWN = "singletable"
IN_MEMORY = ", in memory"
ON_DISK = ", on disk"
TITLES = {
    (GET, MANY_ATTRIBUTES): "GetItem",
    (QUERY, MANY_ATTRIBUTES): "Query of 25 items",
    (GET, ONE_LONG_TEXT): "GetItem, one long text",
    (QUERY, ONE_LONG_TEXT): "Query of 25 items, one long text",
    (PUT, MANY_ATTRIBUTES): "PutItem",
    (UPDATE, MANY_ATTRIBUTES): "UpdateItem with a condition",
}

WIDTH = 880
MARGIN = 24
HEAD = 72
GAP = 40
PANEL_HEAD = 30
ROW = 20
BAR = 13
GROUP_GAP = 8
CAPTION = 20
NAME_WIDTH = 148
FIGURE_WIDTH = 56
FONT = "font-family=\"ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""
ROLE = 'role="img" aria-labelledby="title desc"'
STYLE = """
    .back { fill: #ffffff; stroke: #d0d7de; }
    .head { fill: #1f2328; font-size: 15px; font-weight: 600; }
    .text { fill: #1f2328; font-size: 12px; }
    .own { font-weight: 600; }
    .note { fill: #59636e; font-size: 12px; }
    .bar { fill: #8c959f; }
    .own-bar { fill: #0969da; }
    .axis { stroke: #8c959f; }
    .spread { stroke: #1f2328; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; stroke: #3d444d; }
      .head, .text { fill: #f0f6fc; }
      .note { fill: #9198a1; }
      .bar { fill: #656c76; }
      .own-bar { fill: #4493f8; }
      .axis { stroke: #656c76; }
      .spread { stroke: #f0f6fc; }
    }
"""


def draw(document: dict[str, Any]) -> str:
    """Draw the rates of a run."""
    rates = [result for result in document["results"] if "rate" in result]
    panels = {
        title: [rate for rate in rates if (rate["operation"], rate.get("shape", MANY_ATTRIBUTES)) == work]
        for work, title in TITLES.items()
    }
    panels = {title: panel for title, panel in panels.items() if panel}  # older runs had one shape
    panel_rows = len(panels) // 2
    panel_height = PANEL_HEAD + max(rows_height(panel) for panel in panels.values())
    height = HEAD + panel_rows * panel_height + (panel_rows - 1) * GAP + MARGIN
    panel_width = (WIDTH - 2 * MARGIN - GAP) / 2
    size = f'width="{WIDTH}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" {size} {FONT} {ROLE}>',
        '<title id="title">Requests a second, by operation and server</title>',
        f'<desc id="desc">{escape(description(panels))}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8"/>',
        text(MARGIN, 32, "Requests a second over HTTP", "head"),
        text(MARGIN, 52, conditions(document), "note"),
    ]
    for position, (title, panel) in enumerate(panels.items()):
        x = MARGIN + (position % 2) * (panel_width + GAP)
        y = HEAD + (position // 2) * (panel_height + GAP)
        parts += draw_panel(title, panel, x, y, panel_width)
    return "\n".join([*parts, "</svg>\n"])


def conditions(document: dict[str, Any]) -> str:
    return (
        f"16 connections, items of 1 KB with many attributes unless said; medians of one run on "
        f"{document['cores']} cores ({document['measured_at'].split()[0]}). Scales differ."
    )


def description(panels: dict[str, list[dict[str, Any]]]) -> str:
    return " ".join(
        f"{title}: " + ", ".join(f"{rate['server']} {figure(rate['rate'])}" for rate in panel) + "."
        for title, panel in panels.items()
    )


def draw_panel(title: str, panel: list[dict[str, Any]], x: float, y: float, width: float) -> Iterator[str]:
    """Draw the servers in memory first, then those on disk."""
    scale = (width - NAME_WIDTH - FIGURE_WIDTH) / max(rate["rate_high"] for rate in panel)
    yield text(x, y + 14, title, "head")
    y += PANEL_HEAD
    axis_x = x + NAME_WIDTH
    for caption, group in groups(panel).items():
        yield text(axis_x - 8, y + CAPTION / 2 + 4, caption, "note", anchor="end")
        y += CAPTION
        yield f'<path class="axis" d="M{axis_x:g} {y:g}v{ROW * len(group):g}"/>'
        for rate in group:
            yield from draw_row(rate, axis_x, y, scale)
            y += ROW
        y += GROUP_GAP


def draw_row(rate: dict[str, Any], axis_x: float, y: float, scale: float) -> Iterator[str]:
    bar, style = ("own-bar", "text own") if rate["server"].startswith(OWN) else ("bar", "text")
    low_x, x, high_x = (axis_x + rate[key] * scale for key in ("rate_low", "rate", "rate_high"))
    middle_y = y + ROW / 2
    yield text(axis_x - 8, middle_y + 4, short_name(rate["server"]), style, anchor="end")
    yield (
        f'<rect class="{bar}" x="{axis_x:g}" y="{middle_y - BAR / 2:g}" '
        f'width="{max(1.0, x - axis_x):.1f}" height="{BAR}"/>'
    )
    yield f'<path class="spread" d="M{low_x:.1f} {middle_y:g}H{high_x:.1f}"/>'
    yield text(max(x, high_x) + 6, middle_y + 4, figure(rate["rate"]), style)


def groups(panel: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    in_memory = [rate for rate in panel if rate["server"].endswith(IN_MEMORY)]
    on_disk = [rate for rate in panel if rate not in in_memory]
    return {caption: group for caption, group in (("in memory", in_memory), ("on disk", on_disk)) if group}


def short_name(server: str) -> str:
    """The name in its group; those on disk that do not sync every write are told."""
    if KEEPS.get(server) == NEVER:
        return f"{server.split(', ')[0]}, {NEVER}"
    return server.removesuffix(IN_MEMORY).removesuffix(ON_DISK)


def rows_height(panel: list[dict[str, Any]]) -> float:
    found = groups(panel)
    return ROW * len(panel) + CAPTION * len(found) + GROUP_GAP * (len(found) - 1)


def figure(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def text(x: float, y: float, content: str, style: str, *, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'
