"""A picture of a single table in a terminal: item collections, each with its items in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COLOURS: Final = (36, 33, 35, 32, 34, 31)  # cyan, yellow, magenta, green, blue, red


@dataclass(frozen=True, slots=True)
class Row:
    """One item as it is drawn."""

    partition: str
    sort: str
    entity: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What the terminal can show."""

    width: int
    colour: bool
    unicode: bool


class Painter:
    """Draws rows; an entity type has the same colour everywhere."""

    def __init__(self, style: Style, entities: Iterable[str]) -> None:
        self._style = style
        known = sorted(set(entities))
        self._colours = {entity: _COLOURS[place % len(_COLOURS)] for place, entity in enumerate(known)}
        self._entity_width = max(map(len, known), default=0)

    def collections(self, rows: Iterable[Row], *, rows_max: int) -> list[str]:
        """Draw rows that are sorted by partition and sort key; of each collection at most so many."""
        lines: list[str] = []
        for partition, members in groupby(rows, key=lambda row: row.partition):
            lines += self._collection(partition, list(members), rows_max)
        return lines

    def legend(self, counts: Mapping[str, int]) -> str:
        """Draw the entity types with how many items there are of each."""
        return "   ".join(f"{self._entity(entity)} {counts[entity]:,}" for entity in sorted(counts))

    def _collection(self, partition: str, members: list[Row], rows_max: int) -> list[str]:
        branch, last, dots = ("├─", "└─", "…") if self._style.unicode else ("|-", "`-", "...")
        count = "1 item" if len(members) == 1 else f"{len(members)} items"
        shown = members if len(members) <= rows_max else members[: rows_max - 1]
        hidden_count = len(members) - len(shown)
        sort_width = max(len(row.sort) for row in shown)
        twigs = [branch] * len(shown)
        if not hidden_count:
            twigs[-1] = last
        lines = [f"{self._escape(1, partition)}  {self._escape(2, count)}"]
        lines += [self._row(twig, row, sort_width) for twig, row in zip(twigs, shown, strict=True)]
        if hidden_count:
            lines.append(f"{last} {self._escape(2, f'{dots} {hidden_count} more')}")
        return lines

    def _row(self, twig: str, row: Row, sort_width: int) -> str:
        padding = " " * (self._entity_width - len(row.entity))
        room = max(0, self._style.width - len(twig) - sort_width - self._entity_width - 5)
        line = f"{twig} {row.sort:<{sort_width}}  {self._entity(row.entity)}{padding}  {row.detail[:room]}"
        return line.rstrip()

    def _entity(self, entity: str) -> str:
        return self._escape(self._colours[entity], entity)

    def _escape(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.colour else text
