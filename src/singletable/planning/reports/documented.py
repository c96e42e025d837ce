"""The figures of a document beside what is computed, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from singletable.planning.documented import FigureComparison
from singletable.planning.reports.markdown import escaped

_VERDICTS = {True: "agrees", False: "differs", None: "open"}


def compared_data(found: Sequence[FigureComparison]) -> dict[str, Any]:
    """Return the comparison as JSON has it."""
    return {"figures": [asdict(each) for each in found]}


def compared_text(found: Sequence[FigureComparison], *, width: int = 80) -> str:
    """Write the comparison for a terminal: each figure, what is computed, and the reason of a difference."""
    return "\n".join(_lines(found, max(60, width))) + "\n"


def compared_markdown(found: Sequence[FigureComparison]) -> str:
    """Write the comparison as a table."""
    lines = ["| figure | said at | stated | computed | by | | reason |", "|---|---|--:|--:|---|---|---|"]
    for each in found:
        computed = "" if each.computed is None else _number(each.computed)
        verdict = _VERDICTS[each.agrees] + "".join(f", {name}" for name in each.ids)
        cells = [each.name, each.said_at, _stated(each), computed, each.by, verdict, each.reason]
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines) + "\n"


def _lines(found: Sequence[FigureComparison], width: int) -> Iterator[str]:
    counts = {verdict: sum(each.agrees is verdict for each in found) for verdict in _VERDICTS}
    yield (
        f"{len({each.name for each in found})} figures, compared in {len(found)} ways: {counts[True]} agree, "
        f"{counts[False]} differ, {counts[None]} cannot be computed"
    )
    for each in found:
        yield ""
        ids = f" ({', '.join(each.ids)})" if each.ids else ""
        at = f", {each.said_at}" if each.said_at else ""
        yield from textwrap.wrap(f"{_VERDICTS[each.agrees]:<8}{each.name}{at}{ids}", width)
        computed = "" if each.computed is None else f"; by {each.by}: {_number(each.computed)} {each.unit}"
        yield from _indented(f"stated {_stated(each)} {each.unit}".rstrip() + computed.rstrip(), width)
        yield from _indented(each.reason, width)


def _indented(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=" " * 8, subsequent_indent=" " * 8)


def _stated(each: FigureComparison) -> str:
    return _number(each.stated) + ("" if each.upto is None else f" to {_number(each.upto)}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"
