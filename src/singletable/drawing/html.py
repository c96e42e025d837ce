"""A picture as one HTML file: it needs nothing beside it, also where it is opened from a disk.

Without its script it is the same page: views below each other, everything shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from singletable.drawing.colours import Colour, colours_of
from singletable.drawing.picture import TABLE, Attribute, Collection, Key, Pattern, Picture, Row, View
from singletable.drawing.svg_canvas import clock_path, lock_path
from singletable.drawing.texts import shown

_CELLS_MAX: Final = 6  # attributes of a row that are shown at once
# The page may fetch nothing, with any contents.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html(picture: Picture) -> str:
    """Draw a picture as a page."""
    page = _Page(colours_of(picture.entities))
    views = "\n".join(map(page.view, picture.views))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(picture.title)}: its item collections</title>
<style>
{_file("page.css")}</style>
</head>
<body>
<header>
<h1>{_text(picture.title)}</h1>
<p>{_text(picture.subtitle)}</p>
<nav class="views" aria-label="views">{"".join(_tabs(picture.views))}</nav>
<nav class="legend" aria-label="entities">{"".join(map(page.legend, picture.entities))}</nav>
</header>
<main>
{views}
</main>
<script>
{_file("page.js")}</script>
</body>
</html>
"""


@cache
def _file(name: str) -> str:
    return files("singletable.drawing").joinpath(name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    return escape(shown(text))


def _place(name: str) -> str:
    """Return the anchor of a name, as it stands in an address."""
    return quote(shown(name), safe="")


def _tabs(views: tuple[View, ...]) -> Iterable[str]:
    yield '<a href="#" data-view="">All</a>'
    for view in views:
        place = _place(view.name)
        yield f'<a href="#{place}" data-view="{place}">{_text(_view_name(view))}</a>'


def _view_name(view: View) -> str:
    return "Table" if view.name == TABLE else view.name


class _Page:
    """Writes the parts of a page; an entity has an anchor where it is first met."""

    def __init__(self, colours: dict[str, Colour]) -> None:
        self._colours = colours
        self._met: set[str] = set()

    def legend(self, entity: str) -> str:
        """Write an entity as a link to where it is."""
        place = _place(entity)
        return f'<a class="chip" href="#/{place}" data-entity="{place}" {self._style(entity)}>{_text(entity)}</a>'

    def view(self, view: View) -> str:
        """Write a view as a section."""
        keys = " / ".join(f"<code>{_text(key)}</code>" for key in (view.partition_key, view.sort_key) if key)
        notes = "".join(f", {_text(note)}" for note in view.notes)
        collections = "\n".join(map(self._collection, view.collections))
        more = f'\n<p class="more">{_text(view.more)}</p>' if view.more else ""
        nothing = "" if view.collections else '<p class="more">nothing is in it</p>'
        return (
            f'<section id="{_place(view.name)}">\n'
            f"<h2>{_text(_view_name(view))} <small>{keys}{notes}</small></h2>\n"
            f"{collections}{nothing}{more}\n</section>"
        )

    def _collection(self, collection: Collection) -> str:
        is_sorted = any(row.sort is not None for row in collection.rows)
        notes = f'<p class="note">{_text(", ".join(collection.notes))}</p>' if collection.notes else ""
        more = f'<p class="more">{_text(collection.more)}</p>' if collection.more else ""
        return (
            f'<article class="collection{"" if is_sorted else " unsorted"}">\n'
            f'<div class="side">{_key(collection.partition)}{notes}</div>\n'
            f'<div class="rows">\n{"".join(map(self._row, collection.rows))}{more}</div>\n'
            f"{_patterns(collection.patterns)}</article>"
        )

    def _row(self, row: Row) -> str:
        place = _place(row.entity)
        anchor = "" if row.entity in self._met else f' id="/{place}"'
        self._met.add(row.entity)
        sort = "" if row.sort is None else _key(row.sort)
        is_lock = row.kind == "lock"
        lock = (
            f'<span title="the lock of a unique value">{_glyph(lock_path(0, 0))}</span> ' if is_lock else ""
        )
        clock = f' <span title="expires">{_glyph(clock_path(0, 0))}</span>' if row.expires else ""
        notes = f'<p class="note">{_text(" · ".join(row.notes))}</p>' if row.notes else ""
        return (
            f'<div class="row" data-entity="{place}"{anchor} {self._style(row.entity)}>{sort}'
            f'<span><span class="chip{" lock" if is_lock else ""}">{lock}{_text(row.entity)}</span>{clock}</span>'
            f"<div>{_cells(row.attributes)}{notes}</div></div>\n"
        )

    def _style(self, entity: str) -> str:
        colour = self._colours[entity]
        return f'style="--fill:{colour.fill};--text:{colour.text}"'


def _key(key: Key) -> str:
    pieces = (
        f'<var title="{_text(piece.about)}">{_text(piece.text)}</var>' if piece.about else _text(piece.text)
        for piece in key.pieces
    )
    return f'<code class="key"><bdi>{"".join(pieces)}</bdi></code>'


def _cells(attributes: tuple[Attribute, ...]) -> str:
    # One that would be alone behind a click is shown at once.
    count = len(attributes) if len(attributes) <= _CELLS_MAX + 1 else _CELLS_MAX
    shown_first, rest = attributes[:count], attributes[count:]
    more = (
        f'<details class="cell-more"><summary>{len(rest)} more</summary>{_list(rest)}</details>'
        if rest
        else ""
    )
    return _list(shown_first) + more


def _list(attributes: tuple[Attribute, ...]) -> str:
    cells = "".join(
        f"<div{_title(each.note)}><dt>{_text(each.name)}</dt><dd><bdi>{_text(each.text)}</bdi></dd></div>"
        for each in attributes
    )
    return f'<dl class="cells">{cells}</dl>'


def _title(text: str) -> str:
    return f' title="{_text(text)}"' if text else ""


def _glyph(path: str) -> str:
    return f'<svg class="glyph" width="14" height="14" viewBox="-7 -7 14 14"><path d="{path}"/></svg>'


def _patterns(patterns: tuple[Pattern, ...]) -> str:
    if not patterns:
        return ""
    titles = {each.number or each.call: f"{each.title}: {each.call}" for each in patterns}
    numbers = "".join(f'<b title="{_text(title)}">{_text(number)}</b>' for number, title in titles.items())
    lines = "".join(
        f'<tr data-entities="{" ".join(map(_place, each.entities))}">'
        f"<td><b>{_text(each.number)}</b></td><td>{_text(each.title)}</td>"
        f"<td><code>{_text(each.call)}</code></td><td>{_text(each.operation)}</td>"
        f"<td><code>{_text(each.details)}</code></td></tr>\n"
        for each in patterns
    )
    return (
        f'<details class="patterns"><summary>patterns {numbers}</summary><table>\n{lines}</table></details>\n'
    )
