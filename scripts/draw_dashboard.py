"""Draw the dashboard of Kefir into docs/images/stacks, as its template has it: the widgets in their places.

usage: python scripts/draw_dashboard.py [--check]

The JSON says which metrics a graph shows, and not what they were: the curves are made up, and those of failures
are at zero. `--check` writes nothing, and exits 1 when the picture differs from what the dashboard says.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from singletable.drawing.svg_canvas import SANS, Canvas, style
from singletable.drawing.texts import cut, text_width
from singletable.stack import StackOptions, make_stacks, to_cloudformation
from singletable.stack.deployable import UNPACKED
from singletable.systems import find_system

FILE: Final = Path(__file__).resolve().parent.parent / "docs" / "images" / "stacks" / "kefir-dashboard.svg"
ROWS_MAX: Final = 7  # of patterns, the first three: the others look alike
COLUMN: Final = 50
UNIT: Final = 36  # of height
GAP: Final = 8
COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6bb1", "#7f7f7f")
POINTS: Final = 36
AT_ZERO: Final = ("Throttle", "Errors", "Failed", "Conflict", "Messages", "Deleted", "Dropped")


def body() -> dict[str, Any]:
    """Return the body of the dashboard, from the template of the stack."""
    system = find_system("kefir")
    options = StackOptions("eu-north-1", {"stage": "prod"})
    stacks = make_stacks(system.blueprint(), options, package=UNPACKED, system=system)
    resources = to_cloudformation(stacks[0])["Resources"]
    text = resources["Dashboard"]["Properties"]["DashboardBody"]
    found: dict[str, Any] = json.loads(text["Fn::Sub"] if isinstance(text, dict) else text)
    return found


def picture(dashboard: Mapping[str, Any]) -> str:
    """Draw the widgets of a dashboard, the first rows of them."""
    widgets = dashboard["widgets"]
    tops = sorted({each["y"] for each in widgets})[:ROWS_MAX]
    shown = [each for each in widgets if each["y"] in tops]
    width = COLUMN * max(each["x"] + each["width"] for each in shown) + GAP
    height = UNIT * max(each["y"] + each["height"] for each in shown) + GAP
    canvas = Canvas()
    canvas.box("side", 0, 0, width, height, radius=8)
    for each in shown:
        draw(canvas, each)
    lines = "\n".join(canvas.lines)
    title = "The dashboard of Kefir"
    about = "The table and its functions, then a row for each access pattern; the curves are made up"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{SANS}">\n'
        f"  <title>{title}</title>\n  <desc>{about}</desc>\n{style()}\n{lines}\n</svg>\n"
    )


def draw(canvas: Canvas, widget: Mapping[str, Any]) -> None:
    """Draw a widget in its place."""
    x, y = COLUMN * widget["x"] + GAP, UNIT * widget["y"] + GAP
    width, height = COLUMN * widget["width"] - GAP, UNIT * widget["height"] - GAP
    canvas.box("card", x, y, width, height, radius=6)
    properties = widget["properties"]
    match widget["type"]:
        case "text":
            markdown(canvas, x + 14, y + 10, width - 28, properties["markdown"])
        case "alarm":
            canvas.text(x + 14, y + 24, "chip ink", properties["title"])
            alarms(canvas, x + 14, y + 36, width - 28, properties["alarms"])
        case _:
            canvas.text(x + 14, y + 24, "chip ink", cut(properties["title"], width - 28, 12, is_mono=False))
            graph(canvas, x + 14, y + 36, width - 28, height - 46, properties["metrics"])


def markdown(canvas: Canvas, x: float, y: float, width: float, text: str) -> None:
    """Draw the lines of a text; its headings are larger, and its code is code."""
    for line in text.replace("${!", "${").split("\n"):
        level = len(line) - len(line.lstrip("#"))
        plain = line.lstrip("# ").replace("- ", "• ", 1) if line.startswith(("#", "- ")) else line
        size, classes = {1: (20, "title ink"), 3: (14, "view ink")}.get(level, (12, "small soft"))
        if plain.startswith("`"):
            classes = "code part"
        for part in wrapped(plain.replace("`", ""), width, size):
            y += size + 5
            canvas.text(x, y, classes, part)
        y += 0 if line else 6


def wrapped(text: str, width: float, size: float) -> Iterator[str]:
    """Yield a text in lines of a width."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer, size, is_mono=False) > width:
            yield line
            longer = word
        line = longer
    if line:
        yield line


def alarms(canvas: Canvas, x: float, y: float, width: float, arns: Sequence[str]) -> None:
    """Draw alarms as CloudWatch does, all of them quiet: a box for each, with its name."""
    names = [arn.rpartition(":")[2].removeprefix("kefir-app-prod-table-") for arn in arns]
    columns, step = 3, 19
    room = width / columns
    rows = int(5 * UNIT - 60) // step
    for number, name in enumerate(names[: columns * rows]):
        left, top = x + room * (number % columns), y + step * (number // columns)
        canvas.box("", left, top, room - 6, step - 4, radius=3, paint='fill="#009e73" fill-opacity="0.2"')
        canvas.text(left + 6, top + 11, "small ink", cut(name, room - 18, 11, is_mono=False))
    more = len(names) - columns * rows
    if more > 0:
        canvas.text(x, y + step * rows + 10, "small soft", f"and {more} more")


def graph(
    canvas: Canvas, x: float, y: float, width: float, height: float, metrics: Sequence[Sequence[Any]]
) -> None:
    """Draw a graph with its legend, and a made-up curve for each metric."""
    legend = [label_of(metric) for metric in metrics]
    rows = legend_rows(legend, width)
    low = y + height - 15 * len(rows) - 6
    for part in range(4):
        level = y + (low - y) * part / 3
        canvas.path("line", f"M{x:.1f},{level:.1f} h{width:.1f}")
    for number, metric in enumerate(metrics):
        values = curve(metric)
        points = [
            f"{x + width * place / (POINTS - 1):.1f},{low - (low - y) * value:.1f}"
            for place, value in enumerate(values)
        ]
        colour = COLOURS[number % len(COLOURS)]
        canvas.path("", f"M{' L'.join(points)}", paint=f'stroke="{colour}" stroke-width="1.6" fill="none"')
    top = low + 16
    for row in rows:
        left = x
        for number in row:
            canvas.box("", left, top - 8, 9, 9, radius=2, paint=f'fill="{COLOURS[number % len(COLOURS)]}"')
            canvas.text(left + 13, top, "small soft", legend[number])
            left += legend_width(legend[number])
        top += 15


def legend_rows(legend: Sequence[str], width: float) -> list[list[int]]:
    """Return which entries of a legend stand in one row."""
    rows: list[list[int]] = [[]]
    taken = 0.0
    for number, label in enumerate(legend):
        if rows[-1] and taken + legend_width(label) > width:
            rows.append([])
            taken = 0.0
        rows[-1].append(number)
        taken += legend_width(label)
    return rows


def legend_width(label: str) -> float:
    """Return what an entry of a legend takes."""
    return text_width(label, 11, is_mono=False) + 26


def label_of(metric: Sequence[Any]) -> str:
    """Return what a metric is called: its label, or its name."""
    options = metric[-1] if isinstance(metric[-1], dict) else {}
    return str(options.get("label") or metric[1])


def curve(metric: Sequence[Any]) -> list[float]:
    """Make up a curve between 0 and 1: always the same for a metric."""
    if any(word in metric[1] for word in AT_ZERO):
        return [0.0] * POINTS
    random = Random(json.dumps(metric))
    scale = 0.4 if label_of(metric).endswith("p50") else 1.0
    level, swing, phase = random.uniform(0.25, 0.7), random.uniform(0.05, 0.15), random.uniform(0, 6)
    return [
        scale * (level + swing * math.sin(phase + place / 5) + random.uniform(-0.03, 0.03))
        for place in range(POINTS)
    ]


def main(argv: list[str] | None = None) -> int:
    """Write the picture, or compare it."""
    parser = argparse.ArgumentParser(description="Draw the dashboard of Kefir into docs/images/stacks.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the picture differs")
    arguments = parser.parse_args(argv)
    drawn = picture(body())
    if FILE.exists() and FILE.read_text(encoding="utf-8") == drawn:
        return 0
    if arguments.check:
        print("error: the picture differs from the dashboard", file=sys.stderr)
        print("\nhint: run python scripts/draw_dashboard.py", file=sys.stderr)
        return 1
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(drawn, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
