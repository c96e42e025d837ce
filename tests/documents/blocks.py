"""The documents of the project, and the fenced blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
# What a block may be. A block of any other kind would be one that nothing runs or compares.
LANGUAGES: Final = frozenset(("console", "json", "pycon", "python", "sh", "sql"))
# These are data, compared with a real file by the test of the document that holds them.
DATA_LANGUAGES: Final = frozenset(("json", "sql"))

# The pages of clients run in the environments of the clients, by test_clients.py.
CLIENT_PAGES: Final = ROOT / "docs" / "clients"

_FENCE: Final = re.compile(r"^\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it stands (the line behind its fence), its language tag, its text."""

    path: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    def with_text(self, text: str) -> Block:
        return replace(self, text=text)


def documents() -> list[Path]:
    """Every document: those at the root, all under docs/, and those of the systems.

    Pages of lint rules are examples of designs, which the tests of the linter judge.
    """
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    systems = (ROOT / "src" / "singletable_systems").rglob("*.md")
    return [*top, *sorted((ROOT / "docs").rglob("*.md")), *sorted(systems)]


def is_page_of_client(path: Path) -> bool:
    """Tell whether a document describes one client."""
    return path.parent == CLIENT_PAGES and path.name != "README.md"


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a document."""
    return blocks_in(path.read_text(encoding="utf-8"), path)


def blocks_in(text: str, path: Path) -> list[Block]:
    """Return the blocks of a text. A fence that is indented or made of tildes fails: it would hide."""
    blocks: list[Block] = []
    open_tag: str | None = None
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not _FENCE.match(line):
            body.append(line)
            continue
        assert line.startswith("```"), f"{path.name}:{number}: write fences as ``` at the start of a line"
        if open_tag is None:
            open_tag, body = line[3:].strip(), []
        else:
            assert line.strip() == "```", f"{path.name}:{number}: a block begins inside another"
            blocks.append(Block(path, number - len(body), open_tag, "\n".join(body) + "\n"))
            open_tag = None
    assert open_tag is None, f"{path.name}: the last block does not end"
    return blocks


def prose_of(path: Path) -> str:
    """Return a document without its blocks."""
    lines: list[str] = []
    is_inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if _FENCE.match(line):
            is_inside = not is_inside
        elif not is_inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


def section_of(path: Path, heading: str) -> str:
    """Return the text under a heading, up to the next one of the same level or a higher one."""
    level, title = heading.split(" ", 1)
    found = re.search(
        rf"^{level} {re.escape(title)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)",
        path.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert found is not None, f"{path.name} has no heading {heading!r}"
    return found[1]


def rows_of(markdown: str) -> list[list[str]]:
    """Return the cells of the table rows in a text, without heads and rulers."""
    rows: list[list[str]] = []
    previous: list[str] | None = None
    for line in markdown.splitlines():
        if not line.startswith("|"):
            previous = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            assert previous is not None
            rows.remove(previous)  # it was the head
        else:
            rows.append(cells)
        previous = cells
    return rows
