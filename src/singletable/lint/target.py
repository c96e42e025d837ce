"""What is linted: a blueprint, and where its parts stand: lines of a TOML or JSON file, or of Python."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as FilePath
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from singletable.blueprint.positions import in_json, in_toml

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.blueprint.positions import Path

_IGNORE: Final = re.compile(
    r"#\s*lint:\s*ignore\s+(?P<codes>[A-Z0-9, ]*[A-Z0-9])(?:\s*[-:—]+\s*(?P<reason>\S.*))?"
)


class Where(NamedTuple):
    """A line of a file; line 0 where only the file, or nothing, is known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part) or "-"


class Ignored(NamedTuple):
    """A comment that suppresses findings of some codes, with its reason."""

    codes: tuple[str, ...]
    reason: str
    where: Where

    def covers(self, code: str) -> bool:
        """Tell whether it is for a code: its own, or one that it begins with."""
        return code.startswith(self.codes)


@dataclass(frozen=True)
class LintTarget:
    """A design to be linted, as it was named, and how its parts are found."""

    name: str
    blueprint: Blueprint
    where: Callable[[Path], Where]
    _lines: Callable[[str], tuple[str, ...]] = field(default_factory=lambda: cache(_lines_of))

    def ignored_at(self, path: Path) -> Iterator[Ignored]:
        """Yield the comments at a place, at what holds it, and on the lines above each."""
        for length in range(len(path), 0, -1):
            where = self.where(path[:length])
            if where.line:
                yield from _comments(where, self._lines(where.file))


def of_file(name: str, text: str, blueprint: Blueprint) -> LintTarget:
    """Return the target of a blueprint that was read from a file."""
    find = in_json if name.lower().endswith(".json") else in_toml

    @cache
    def where(path: Path) -> Where:
        found = find(text, path)
        return Where(name, *found) if found is not None else Where(name)

    return LintTarget(name, blueprint, where)


def of_design(name: str, design: Any, blueprint: Blueprint) -> LintTarget:
    """Return the target of a typed design: its places are lines of Python."""

    @cache
    def where(path: Path) -> Where:
        return next((found for found in _in_python(design, blueprint, path)), Where(name))

    return LintTarget(name, blueprint, where)


def _in_python(design: Any, blueprint: Blueprint, path: Path) -> Iterator[Where]:
    """Yield where a part stands, the nearest first."""
    match path:
        case ("entities", int(at), *rest):
            described = blueprint.entities[at]
            entity = design.catalog.named(described.name).entity
            match rest:
                case ("attributes", int(number), *_):
                    yield from _member(entity, described.attributes[number].name)
                case ("places", int(number), *_):
                    yield from _member(entity, described.places[number].name)
            yield from _source(entity)
        case ("patterns", int(at), *_):
            yield from _source(getattr(design, blueprint.patterns[at].method, None))
        case ("indexes", int(at), *_):
            table = design.table
            yield from _member(table, _name_of_index(table, blueprint.indexes[at].name))
            yield from _source(table)
        case ("table", *_):
            yield from _source(design.table)
    yield from _source(design)


def _name_of_index(table: type, name: str) -> str:
    """Return what a table class calls an index."""
    attributes = {key: value for each in reversed(table.__mro__) for key, value in vars(each).items()}
    return next((key for key, value in attributes.items() if getattr(value, "name", None) == name), "")


def _source(found: Any) -> Iterator[Where]:
    try:
        plain = inspect.unwrap(found)
        file, line = inspect.getsourcefile(plain), inspect.getsourcelines(plain)[1]
    except (OSError, TypeError):
        return  # made in a shell, or no thing with lines
    if file is not None:
        yield Where(_shown(file), line, 1)


def _member(owner: type, name: str) -> Iterator[Where]:
    """Yield the line where a class, or one that it is derived from, has a field, a key or an index of a name."""
    for each in owner.__mro__:
        for where in _source(each):
            text = "".join(inspect.getsourcelines(each)[0])
            indent = len(text) - len(text.lstrip())
            classes = (node for node in ast.parse(dedent(text)).body if isinstance(node, ast.ClassDef))
            for statement in (inner for node in classes for inner in node.body):
                if name in _assigned(statement):
                    line = where.line + statement.lineno - 1
                    yield Where(where.file, line, statement.col_offset + indent + 1)


def _assigned(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.AnnAssign(target=target):
            return [ast.unparse(target)]
        case ast.Assign(targets=targets):
            return [ast.unparse(target) for target in targets]
    return []


def _shown(file: str) -> str:
    try:
        return str(FilePath(file).relative_to(FilePath.cwd()))
    except ValueError:
        return file


# --- suppression ----------------------------------------------------------------------------------------


def _comments(where: Where, lines: tuple[str, ...]) -> Iterator[Ignored]:
    """Yield what stands at a line, or in the comments just above it."""
    if where.line > len(lines):
        return
    at = where.line - 1
    yield from _comment(lines[at], where._replace(column=0))
    while at > 0 and lines[at - 1].lstrip().startswith(("#", "@")):
        at -= 1
        yield from _comment(lines[at], Where(where.file, at + 1))


def _comment(line: str, where: Where) -> Iterator[Ignored]:
    if found := _IGNORE.search(line):
        codes = tuple(code for code in re.split(r"[,\s]+", found["codes"]) if code)
        yield Ignored(codes, (found["reason"] or "").strip(), where)


def _lines_of(file: str) -> tuple[str, ...]:
    try:
        return tuple(FilePath(file).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return ()
