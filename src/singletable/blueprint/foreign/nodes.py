"""Files of other tools: texts with a bound, and values whose mistakes are told by their place in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from singletable.blueprint.forms import MAX_CHARACTERS, BlueprintError
from singletable.blueprint.positions import Path, in_json

# The line and column of a path; None where that is not known.
Locate = Callable[[Path], tuple[int, int] | None]


class Node:
    """A value of a file with its path. Whoever asks it for something it is not gets a sentence with the place."""

    __slots__ = ("locate", "path", "value")

    def __init__(self, value: Any, path: Path, locate: Locate) -> None:
        self.value = value
        self.path = path
        self.locate = locate

    def wrong(self, wanted: str) -> BlueprintError:
        """Return the error of a value that should be something else."""
        return self.error(f"{self.shown} is {short(self.value)}, and should be {wanted}")

    def error(self, sentence: str) -> BlueprintError:
        """Return an error with the line and column of this value."""
        place = self.locate(self.path)
        return BlueprintError(
            sentence if place is None else f"line {place[0]}, column {place[1]}: {sentence}"
        )

    @property
    def shown(self) -> str:
        """The path as people write it: DataModel[0].TableName."""
        text = ""
        for each in self.path:
            text += f"[{each}]" if isinstance(each, int) else f".{each}" if text else str(each)
        return text or "the file"

    @property
    def exists(self) -> bool:
        """Tell whether there is a value, and not null."""
        return self.value is not None

    def at(self, name: str) -> Node:
        """Return a member of a mapping; its value is None where there is none."""
        return Node(self.mapping().get(name), (*self.path, name), self.locate)

    def need(self, name: str) -> Node:
        """Return a member that there has to be."""
        found = self.at(name)
        if not found.exists:
            raise self.error(f"{self.shown} lacks {name}")
        return found

    def mapping(self) -> Mapping[str, Any]:
        """Return a mapping; an empty one for null."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("a mapping")
        return self.value

    def members(self) -> Iterator[tuple[str, Node]]:
        """Yield the members of a mapping."""
        for name, value in self.mapping().items():
            yield name, Node(value, (*self.path, name), self.locate)

    def each(self) -> Iterator[Node]:
        """Yield what a list holds; nothing for null."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        for number, value in enumerate(self.value):
            yield Node(value, (*self.path, number), self.locate)

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def told(self) -> str | None:
        """Return a text, or a number as one; None where there is none."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return str(self.number())
        return self.text() if self.exists else None

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(each.text() for each in self.each())

    def whole(self) -> int:
        """Return a whole number. Files have it as text too."""
        value = self.number()
        if value != int(value):
            raise self.wrong("a whole number")
        return int(value)

    def number(self) -> float:
        """Return a number. Files have it as text too."""
        value = self.value
        if isinstance(value, str):
            try:
                value = float(value) if not value.strip().lstrip("-").isdigit() else int(value)
            except ValueError:
                raise self.wrong("a number") from None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            raise self.wrong("a number")
        return value


def json_node(text: str, kind: str) -> Node:
    """Read JSON."""
    check_length(text, kind, MAX_CHARACTERS)
    try:
        data = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise BlueprintError(_json_sentence(str(error), kind)) from None
    return Node(data, (), lambda path: in_json(text, path))


def _json_sentence(message: str, kind: str) -> str:
    if "recursion" in message:
        return f"this is nested too deeply for a {kind}"
    what, _, place = message.rpartition(" at line ")
    line, _, column = place.partition(" column ")
    return f"line {line}, column {column}: this is no JSON: {what}" if what else f"this is no JSON: {message}"


def check_length(text: str, kind: str, limit: int) -> None:
    """Refuse a text that is longer than any file of this kind."""
    if len(text) > limit:
        raise BlueprintError(f"this has {len(text):,} characters, and a {kind} at most {limit:,}")


def chosen(found: Mapping[str, Any], table: str | None, kind: str) -> str:
    """Return the key of the table that is asked for, or of the only one."""
    names = ", ".join(map(short, found))
    if not found:
        raise BlueprintError(f"this {kind} has no DynamoDB table")
    if table is not None:
        if table not in found:
            raise BlueprintError(f"this {kind} has no table {short(table)}; it has {_cut(names)}")
        return table
    if len(found) > 1:
        raise BlueprintError(f"this {kind} has {len(found)} tables, and you have to name one: {_cut(names)}")
    return next(iter(found))


def _cut(text: str) -> str:
    return text if len(text) <= 600 else text[:597] + "…"


def short(value: object) -> str:
    """Show a value of a file on a line."""
    if isinstance(value, dict):
        return f"a mapping of {len(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    shown = repr(value) if not isinstance(value, int) or abs(value) < 10**50 else "a very large number"
    return shown if len(shown) <= 60 else shown[:57] + "…"
