"""A picture as an SVG file: no scripts, no fonts of its own, light and dark, as pages show images."""

from __future__ import annotations

from typing import Final

from singletable.drawing.colours import Colour, colours_of
from singletable.drawing.picture import TABLE, Attribute, Collection, Picture, Piece, Row, View
from singletable.drawing.svg_canvas import SANS, Canvas, clock_path, escaped, lock_path, style
from singletable.drawing.svg_layout import (
    BOLD,
    CELL_WIDTH_MAX,
    CHIP_SIZE,
    INNER,
    MARGIN,
    PADDING,
    SMALL,
    WIDTH,
    Columns,
    cell_width,
    chip_width,
    columns_of,
    cut_code,
    key_lines,
    side_lines,
)
from singletable.drawing.texts import cut, shown, text_width

_ROW_HEIGHT: Final = 42
_NOTE_HEIGHT: Final = 17
_MORE_HEIGHT: Final = 26
_CHIP_HEIGHT: Final = 22
_CELL_GAP: Final = 16
_COUNT_WIDTH: Final = 40
_FONT: Final = f'font-family="{escaped(SANS)}"'


def svg(picture: Picture) -> str:
    """Draw a picture as SVG."""
    canvas = Canvas()
    painter = _Painter(canvas, colours_of(picture.entities))
    bottom = painter.head(picture)
    for view in picture.views:
        bottom = painter.view(view, bottom + 36)
    height = round(bottom + MARGIN)
    frame = Canvas()
    frame.box("back", 0.5, 0.5, WIDTH - 1, height - 1, radius=10)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc" {_FONT}>',
        f'  <title id="title">{escaped(picture.title)}: its item collections</title>',
        f'  <desc id="desc">{escaped(" ".join(map(_said, picture.views)))}</desc>',
        style(),
        *frame.lines,
        *canvas.lines,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _said(view: View) -> str:
    """Describe a view in words, for people who cannot see it."""
    collections = (
        f"{each.partition.text} holds {', '.join(dict.fromkeys(row.entity for row in each.rows))}"
        for each in view.collections
    )
    name = "The table" if view.name == TABLE else f"The index {view.name}"
    return f"{name}: {'; '.join(collections) or 'nothing'}."


class _Painter:
    """Draws the parts of a picture, each below the one before. Each method returns where its part ends."""

    def __init__(self, canvas: Canvas, colours: dict[str, Colour]) -> None:
        self._canvas = canvas
        self._colours = colours

    # --- the head --------------------------------------------------------------------------------

    def head(self, picture: Picture) -> float:
        """Draw the title, and the entities with their colours."""
        title = cut(shown(picture.title), INNER, 22 * BOLD, is_mono=False)
        subtitle = cut(shown(picture.subtitle), INNER, 13, is_mono=False)
        self._canvas.text(MARGIN, 44, "title ink", title)
        self._canvas.text(MARGIN, 67, "text soft", subtitle)
        x, y = float(MARGIN), 84.0
        for entity in picture.entities:
            width = min(chip_width(entity, is_lock=False), INNER)
            if x + width > WIDTH - MARGIN:
                x, y = float(MARGIN), y + 30
            self._chip(x, y, entity, width, is_lock=False)
            x += width + 8
        self._marks(picture, x + 10, y)
        return y + _CHIP_HEIGHT

    def _marks(self, picture: Picture, x: float, y: float) -> None:
        """Explain the padlock and the clock, where there are any and there is room."""
        rows = [row for view in picture.views for each in view.collections for row in each.rows]
        marks = [
            (lock_path, "the lock of a unique value", any(row.kind == "lock" for row in rows)),
            (clock_path, "expires", any(row.expires for row in rows)),
        ]
        for path, text, is_there in marks:
            width = 14 + text_width(text, SMALL, is_mono=False)
            if is_there and x + width < WIDTH - MARGIN:
                self._canvas.path("glyph", path(x, y + 11))
                self._canvas.text(x + 12, y + 15, "small soft", text)
                x += width + 16

    def _chip(self, x: float, y: float, entity: str, width: float, *, is_lock: bool) -> None:
        colour = self._colours[entity]
        edge = 26 if is_lock else 9
        name = cut(shown(entity), width - edge - 8, CHIP_SIZE * BOLD, is_mono=False)
        if is_lock:
            paint = f'stroke="{colour.fill}"'
            self._canvas.box("lock", x + 1, y + 1, width - 2, _CHIP_HEIGHT - 2, radius=5, paint=paint)
            self._canvas.path("glyph", lock_path(x + 15, y + 10))
            self._canvas.text(x + edge, y + 15.5, "chip ink", name)
        else:
            self._canvas.box("", x, y, width, _CHIP_HEIGHT, radius=5, paint=f'fill="{colour.fill}"')
            self._canvas.text(x + edge, y + 15.5, "chip", name, fill=colour.text)

    # --- a view ----------------------------------------------------------------------------------

    def view(self, view: View, top: float) -> float:
        """Draw a view: its name, the names of its keys, its collections."""
        columns = columns_of(view)
        name = "Table" if view.name == TABLE else view.name
        said = cut(shown(name), 400, 17 * BOLD, is_mono=False)
        self._canvas.text(MARGIN, top + 14, "view ink", said)
        if view.notes:
            x = MARGIN + text_width(said, 17 * BOLD, is_mono=False) + 12
            notes = cut(shown(", ".join(view.notes)), WIDTH - MARGIN - x, 13, is_mono=False)
            self._canvas.text(x, top + 14, "text soft", notes)
        y = top + 40
        side_width = columns.side - MARGIN - PADDING
        self._canvas.text(MARGIN + PADDING, y, "code soft", cut_code(view.partition_key, side_width))
        if view.sort_key is not None:
            width = columns.sort_width + columns.chip_width
            self._canvas.text(columns.sort, y, "code soft", cut_code(view.sort_key, width))
        y += 9
        for collection in view.collections:
            y = self._collection(collection, columns, y) + 12
        if not view.collections:
            self._canvas.text(MARGIN + PADDING, y + 14, "text soft", "nothing is in it")
            y += 32
        if view.more:
            more = cut(shown(view.more), INNER - 2 * PADDING, 13, is_mono=False)
            self._canvas.text(MARGIN + PADDING, y + 8, "text soft", more)
            y += 22
        return y - 12

    def _collection(self, collection: Collection, columns: Columns, top: float) -> float:
        heights = [_ROW_HEIGHT + (_NOTE_HEIGHT if row.notes else 0) for row in collection.rows]
        side = side_lines(collection, columns.side - MARGIN - 2 * PADDING)
        key = key_lines(collection.partition, columns.side - MARGIN - 2 * PADDING, 3)
        rows_height = sum(heights) + (_MORE_HEIGHT if collection.more else 0)
        height = max(rows_height, 16 + 17 * len(key) + 15 * len(side) + 4)
        # Where the side is higher than the rows, the rows share the spare height.
        spare = (height - rows_height) / max(1, len(heights))
        self._canvas.box("side", MARGIN, top, columns.side - MARGIN, height, radius=7)
        self._canvas.box("side", columns.side - 8, top, 8, height)
        self._side(collection, key, side, top)
        y = top
        for number, (row, each) in enumerate(zip(collection.rows, heights, strict=True)):
            if number:
                self._canvas.path("line", f"M{columns.side:.1f},{y:.1f} H{WIDTH - MARGIN}")
            self._row(row, columns, y, each + spare, spare)
            y += each + spare
        if collection.more:
            self._canvas.path("line", f"M{columns.side:.1f},{y:.1f} H{WIDTH - MARGIN}")
            more = cut(shown(collection.more), columns.cells_end - columns.sort, SMALL, is_mono=False)
            self._canvas.text(columns.sort, y + 17, "small soft", more)
        self._canvas.box("card", MARGIN, top, INNER, height, radius=7, paint='style="fill: none"')
        return top + height

    def _side(self, collection: Collection, key: list[list[Piece]], side: list[str], top: float) -> None:
        y = top + 25
        about = "" if key == [list(collection.partition.pieces)] else collection.partition.text
        for line in key:
            self._canvas.pieces(MARGIN + PADDING, y, "key ink", line, about)
            y += 17
        for text in side:
            self._canvas.text(MARGIN + PADDING, y, "small soft", text)
            y += 15

    # --- a row -----------------------------------------------------------------------------------

    def _row(self, row: Row, columns: Columns, top: float, height: float, spare: float) -> None:
        colour = self._colours[row.entity]
        self._canvas.box("", columns.side, top + 0.5, 4, height - 1, paint=f'fill="{colour.fill}"')
        top += spare / 2
        if row.sort is not None:
            lines = key_lines(row.sort, columns.sort_width, 2)
            about = "" if lines == [list(row.sort.pieces)] else row.sort.text
            y = top + (26 if len(lines) == 1 else 18)
            for line in lines:
                self._canvas.pieces(columns.sort, y, "key ink", line, about)
                y += 16
        is_lock = row.kind == "lock"
        clock_width = 18 if row.expires else 0
        width = min(chip_width(row.entity, is_lock=is_lock), columns.chip_width - clock_width)
        self._chip(columns.chip, top + 10, row.entity, width, is_lock=is_lock)
        if row.expires:
            self._canvas.path("glyph", clock_path(columns.chip + width + 11, top + 21))
        self._cells(row.attributes, columns, top)
        if row.notes:
            room = columns.cells_end - columns.cells
            notes = cut(shown(" · ".join(row.notes)), room, SMALL, is_mono=False)
            self._canvas.text(columns.cells, top + _ROW_HEIGHT + 7, "small soft", notes)

    def _cells(self, attributes: tuple[Attribute, ...], columns: Columns, top: float) -> None:
        x = columns.cells
        for number, attribute in enumerate(attributes):
            left = len(attributes) - number
            width = min(cell_width(attribute), CELL_WIDTH_MAX)
            if x + width + (_CELL_GAP + _COUNT_WIDTH if left > 1 else 0) > columns.cells_end:
                self._canvas.text(x, top + 26, "small soft", f"… +{left}")
                return
            name = cut(shown(attribute.name), width, SMALL, is_mono=False)
            self._canvas.text(x, top + 18, "small soft", name)
            self._canvas.text(x, top + 33, "code ink", cut_code(attribute.text, width))
            x += width + _CELL_GAP
