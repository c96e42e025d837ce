"""Elements of SVG as text: everything that is given is escaped, and numbers are short."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from singletable.drawing.picture import Piece
from singletable.drawing.texts import shown

SANS: Final = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
MONO: Final = "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace"

# Light, then dark: the colours of GitHub's pages, between which pictures stand.
_THEME: Final = {
    ".back": ("fill: #ffffff; stroke: #d0d7de", "fill: #0d1117; stroke: #3d444d"),
    ".card": ("fill: #ffffff; stroke: #afb8c1", "fill: #0d1117; stroke: #656c76"),
    ".side": ("fill: #f6f8fa", "fill: #151b23"),
    ".line": ("stroke: #d8dee4; fill: none", "stroke: #30363d; fill: none"),
    ".ink": ("fill: #1f2328", "fill: #f0f6fc"),
    ".soft": ("fill: #59636e", "fill: #9198a1"),
    ".part": ("fill: #0550ae", "fill: #79c0ff"),
    ".glyph": ("stroke: #59636e; fill: none; stroke-width: 1.4", "stroke: #9198a1"),
}
_SIZES: Final = {
    ".title": "font-size: 22px; font-weight: 700",
    ".view": "font-size: 17px; font-weight: 700",
    ".text": "font-size: 13px",
    ".small": "font-size: 11px",
    ".chip": "font-size: 12px; font-weight: 600",
    ".key": f"font-family: {MONO}; font-size: 13px; font-weight: 600",
    ".code": f"font-family: {MONO}; font-size: 11.5px",
    ".lock": "stroke-width: 2; fill: none",
}


def style() -> str:
    """Return the style sheet: sizes, and colours for light and for dark."""
    light = [f"{name} {{ {rules[0]}; }}" for name, rules in _THEME.items()]
    dark = [f"{name} {{ {rules[1]}; }}" for name, rules in _THEME.items()]
    sizes = [f"{name} {{ {rules}; }}" for name, rules in _SIZES.items()]
    inner = "\n".join(f"      {rule}" for rule in dark)
    outer = "\n".join(f"    {rule}" for rule in (*light, *sizes))
    return f"  <style>\n{outer}\n    @media (prefers-color-scheme: dark) {{\n{inner}\n    }}\n  </style>"


class Canvas:
    """A list of elements, drawn one over the other."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def text(self, x: float, y: float, classes: str, text: str, *, fill: str | None = None) -> None:
        """Draw a text; y is that of its base line."""
        paint = "" if fill is None else f' fill="{fill}"'
        self._add(f'<text class="{classes}" x="{_n(x)}" y="{_n(y)}"{paint}>{escaped(text)}</text>')

    def pieces(self, x: float, y: float, classes: str, pieces: Iterable[Piece], about: str = "") -> None:
        """Draw a line of a key: its parts have a colour of their own. `about` is shown to a pointer."""
        spans = "".join(
            f'<tspan class="part">{escaped(piece.text)}</tspan>' if piece.about else escaped(piece.text)
            for piece in pieces
        )
        title = f"<title>{escaped(about)}</title>" if about else ""
        self._add(f'<text class="{classes}" x="{_n(x)}" y="{_n(y)}">{title}{spans}</text>')

    def box(
        self,
        classes: str,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        radius: float = 0,
        paint: str = "",
    ) -> None:
        """Draw a rectangle; `paint` are attributes beside its class."""
        corner = f' rx="{_n(radius)}"' if radius else ""
        named = f' class="{classes}"' if classes else ""
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self._add(f"<rect{named} {place}{corner}{' ' if paint else ''}{paint}/>")

    def path(self, classes: str, path: str, *, paint: str = "") -> None:
        """Draw a path."""
        self._add(f'<path class="{classes}" d="{path}"{" " if paint else ""}{paint}/>')

    def _add(self, element: str) -> None:
        self.lines.append(f"  {element}")


def escaped(text: str) -> str:
    """Return a text as it stands in XML."""
    return escape(shown(text), {'"': "&quot;"})


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def clock_path(x: float, y: float) -> str:
    """Return the path of a clock around a point."""
    return f"M{_n(x - 5)},{_n(y)} a5,5 0 1,0 10,0 a5,5 0 1,0 -10,0 M{_n(x)},{_n(y - 3)} v3 l2,1.5"


def lock_path(x: float, y: float) -> str:
    """Return the path of a padlock around a point."""
    return f"M{_n(x - 4)},{_n(y - 0.5)} h8 v5.5 h-8 z M{_n(x - 2.5)},{_n(y - 0.5)} v-2 a2.5,2.5 0 0,1 5,0 v2"
