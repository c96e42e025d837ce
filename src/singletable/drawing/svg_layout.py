"""Where things stand in an SVG picture: columns, and texts that are broken or cut to fit into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from singletable.drawing.picture import Attribute, Collection, Key, Piece, View
from singletable.drawing.texts import ELLIPSIS, cut, fitting, shown, text_width

WIDTH: Final = 1000
MARGIN: Final = 24
INNER: Final = WIDTH - 2 * MARGIN
PADDING: Final = 12
KEY_SIZE: Final = 13.0
CHIP_SIZE: Final = 12.0
SMALL: Final = 11.0
BOLD: Final = 1.14  # how much wider bold letters are
CODE_SIZE: Final = 11.5
CELL_WIDTH_MAX: Final = 150


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns of a view begin, and how wide their texts may be."""

    side: float
    sort: float
    chip: float
    cells: float

    @property
    def sort_width(self) -> float:
        return self.chip - self.sort - PADDING

    @property
    def chip_width(self) -> float:
        return self.cells - self.chip - PADDING

    @property
    def cells_end(self) -> float:
        return WIDTH - MARGIN - PADDING


def columns_of(view: View) -> Columns:
    """Give each column the width that its texts need, up to a bound: the rest is for attributes."""
    rows = [row for each in view.collections for row in each.rows]
    sides = [_lines_width(each.partition, 212, 3) for each in view.collections]
    side = MARGIN + max(150, max(sides, default=0) + 2 * PADDING)
    sort = side + PADDING + 3
    sorts = [_lines_width(row.sort, 234, 2) for row in rows if row.sort is not None]
    chip = sort + (max(70, max(sorts) + PADDING) if sorts else 0)
    chips = [chip_width(row.entity, is_lock=row.kind == "lock") + (18 if row.expires else 0) for row in rows]
    return Columns(side, sort, chip, chip + max(60, min(max(chips, default=0), 176) + PADDING))


def _lines_width(key: Key, width: float, lines_max: int) -> float:
    """Return how wide a key is when it is broken into lines of this width."""
    lines = ("".join(piece.text for piece in line) for line in key_lines(key, width, lines_max))
    # A little more, so that the same text is not broken again.
    return 1 + max((text_width(line, KEY_SIZE, is_mono=True) for line in lines), default=0.0)


def chip_width(entity: str, *, is_lock: bool) -> float:
    """Return how wide the chip of an entity is."""
    return text_width(shown(entity), CHIP_SIZE * BOLD, is_mono=False) + (35 if is_lock else 18)


def cell_width(attribute: Attribute) -> float:
    """Return the full width of an attribute."""
    name = text_width(shown(attribute.name), SMALL, is_mono=False)
    return max(name, text_width(shown(attribute.text), CODE_SIZE, is_mono=True))


def cut_code(text: str, width: float) -> str:
    """Return as much of a type, a value or the name of a key as there is room for."""
    return cut(shown(text), width, CODE_SIZE, is_mono=True)


def side_lines(collection: Collection, width: float) -> list[str]:
    """Write under a partition its shards or buckets, and the patterns that read and write it."""
    read = dict.fromkeys(each.number or each.call for each in collection.patterns if _reads(each.operation))
    written = dict.fromkeys(
        each.number or each.call for each in collection.patterns if not _reads(each.operation)
    )
    said = [", ".join(collection.notes)] if collection.notes else []
    said += [f"read by {', '.join(read)}"] if read else []
    said += [f"written by {', '.join(written)}"] if written else []
    return [line for text in said for line in _wrapped(shown(text), width)]


def _reads(operation: str) -> bool:
    return operation in ("GetItem", "BatchGetItem", "Query")


def _wrapped(text: str, width: float) -> list[str]:
    """Break a text at its blanks into two lines at most."""
    if text_width(text, SMALL, is_mono=False) <= width:
        return [text]
    words = text.split(" ")
    count = 1
    while count < len(words) and text_width(" ".join(words[: count + 1]), SMALL, is_mono=False) <= width:
        count += 1
    rest = " ".join(words[count:])
    first = cut(" ".join(words[:count]), width, SMALL, is_mono=False)
    return [first, cut(rest, width, SMALL, is_mono=False)] if rest else [first]


def key_lines(key: Key, width: float, lines_max: int) -> list[list[Piece]]:
    """Break a key into lines; the rest after the last line is cut."""
    characters = [(character, piece.about) for piece in key.pieces for character in shown(piece.text)]
    lines: list[list[Piece]] = []
    while characters:
        text = "".join(character for character, _ in characters)
        fits = fitting(text, width, KEY_SIZE, is_mono=True)
        if fits == len(text):
            return [*lines, _joined(characters)]
        if len(lines) == lines_max - 1:
            kept = cut(text, width, KEY_SIZE, is_mono=True)
            return [*lines, [*_joined(characters[: len(kept) - 1]), Piece(ELLIPSIS)]]
        place = _break(characters, fits)
        lines.append(_joined(characters[:place]))
        characters = characters[place:]
    return lines


def _break(characters: list[tuple[str, str]], fits: int) -> int:
    """Return where to break a line: behind a #, or before a part, unless that leaves most of the line empty."""
    for place in range(fits, fits // 2, -1):
        (before, last), (_, about) = characters[place - 1], characters[place]
        if before == "#" or (about and about != last):
            return place
    return max(1, fits)


def _joined(characters: list[tuple[str, str]]) -> list[Piece]:
    pieces: list[Piece] = []
    for character, about in characters:
        if pieces and pieces[-1].about == about:
            pieces[-1] = Piece(pieces[-1].text + character, about)
        else:
            pieces.append(Piece(character, about))
    return pieces
