"""Pieces of Markdown: tables, lists, and where something was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from singletable.blueprint.said import Said


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a column that is empty in every row is left out, but never the first."""
    found = [list(row) for row in rows]
    kept = [at for at in range(len(header)) if at == 0 or not found or any(row[at] for row in found)]
    lines = [list(header), ["---"] * len(header), *found]
    return "\n".join(f"| {' | '.join(_cell(row[at]) for at in kept)} |" for row in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def bullets(lines: Iterable[str]) -> str:
    """Write a list."""
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def code(text: str | None) -> str:
    """Write a text as it stands in a program; nothing where there is none."""
    return f"`{text}`" if text else ""


def cited(said: Sequence[Said]) -> str:
    """Write where something was said, and what each place says differently."""
    return ", ".join(map(_cited, said))


def _cited(said: Said) -> str:
    differs = ", ".join(f"{name} {code(str(value))}" for name, value in said.differs.items())
    return f"{said.at} (here {differs})" if differs else said.at


def joined(parts: Iterable[str]) -> str:
    """Write remarks in a row, without those that are empty."""
    return "; ".join(part.removesuffix(".") for part in parts if part)


def amount(value: float | None) -> str:
    """Write a number as people do: 43,200 and 0.25; nothing where there is none."""
    return "" if value is None else f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"


def section(title: str, *parts: str) -> Iterator[str]:
    """Return a section; nothing where it would be empty."""
    found = [part for part in parts if part]
    if found:
        yield from (f"## {title}", *found)
