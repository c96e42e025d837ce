"""Items and requests for people: a block for each item, its entity and its key first, as wide as the terminal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from singletable.cli.patterns.plain_json import json_line, plain
from singletable.cli.stream_text import json_text, name_text
from singletable.visible import visible

if TYPE_CHECKING:
    from singletable.cli.patterns.opening import Sent
    from singletable.cli.patterns.results import PatternOutcome, Shown
    from singletable.design import Usage
    from singletable.design.values.items import AttributeValue, Item

_WIDTH_OTHERWISE: Final = 100
_WIDTH_MIN: Final = 40
_VALUE_CHARACTERS_MAX: Final = 60
_INDENT: Final = "  "
# Readable without quotes: one line, nothing at its ends that cannot be seen.
_PLAIN: Final = re.compile(r"[^\s\x00-\x1f\"](?:[^\x00-\x1f]*[^\s\x00-\x1f])?")


def terminal_width() -> int:
    """Return how many characters a line may have."""
    return max(_WIDTH_MIN, shutil.get_terminal_size((_WIDTH_OTHERWISE, 24)).columns)


# --- items ----------------------------------------------------------------------------------------------


def outcome_lines(outcome: PatternOutcome, width: int) -> Iterator[str]:
    """Return what was found: one item in full, several as short blocks, a collection by its fields."""
    for name, group in outcome.groups.items():
        if name:
            yield f"{name}: {len(group)}" if len(group) != 1 else f"{name}:"
        indent = _INDENT if name else ""
        for shown in group:
            lines = whole_lines if outcome.is_single and not name else block_lines
            yield from (f"{indent}{line}" for line in lines(shown, width - len(indent)))


def block_lines(shown: Shown, width: int) -> Iterator[str]:
    """Return an item in a few lines: its attributes one behind the other, long values cut."""
    yield _head(shown)
    pairs = [f"{name_text(name)}: {_short(value_text(value))}" for name, value in _attributes(shown)]
    yield from _flow(pairs, width, _INDENT)


def whole_lines(shown: Shown, width: int) -> Iterator[str]:
    """Return an item with an attribute a line, and lists of objects with an object a line."""
    yield _head(shown)
    attributes = list(_attributes(shown))
    column = max((len(name_text(name)) for name, _ in attributes), default=0) + 2
    for name, value in attributes:
        if "L" in value and value["L"] and all("M" in member for member in value["L"]):
            yield f"{_INDENT}{name_text(name)}"
            for member in value["L"]:
                yield from _member_lines(member["M"], width)
            continue
        first, *others = _wrapped(value_text(value), width - column - len(_INDENT))
        yield f"{_INDENT}{name_text(name):<{column}}{first}"
        yield from (" " * (column + len(_INDENT)) + line for line in others)


def key_text(key: Item) -> str:
    """Return a key: PK=USER#ada SK=METADATA."""
    return " ".join(f"{name_text(name)}={value_text(value)}" for name, value in key.items())


def value_text(value: AttributeValue) -> str:
    """Return a value: texts as they are where they can be read so, everything else as JSON."""
    text = value.get("S")
    if text is None:
        return visible(json_line(plain(value)))
    quoted = json_text(text)
    return text if _PLAIN.fullmatch(text) and quoted == f'"{text}"' else quoted


def _head(shown: Shown) -> str:
    return f"{shown.schema.name}  {key_text(shown.key)}"


def _attributes(shown: Shown) -> Iterator[tuple[str, AttributeValue]]:
    """Return the attributes that are not only keys, nor how the item is stored: its type and version."""
    schema = shown.schema
    for name, value in shown.item.items():
        if name not in shown.key and (name in schema.by_stored or not schema.knows(name)):
            yield name, value


def _member_lines(member: Item, width: int) -> Iterator[str]:
    pairs = [f"{name_text(name)}: {value_text(value)}" for name, value in member.items()]
    lines = list(_flow(pairs, width - 2 * len(_INDENT), _INDENT))
    for number, line in enumerate(lines):
        yield f"{_INDENT * 2}- {line.strip()}" if number == 0 else f"{_INDENT * 2}{line}"


def _flow(pairs: Iterable[str], width: int, indent: str) -> Iterator[str]:
    """Put pairs one behind the other, as many as fit into a line."""
    line = ""
    for pair in pairs:
        if line and len(indent) + len(line) + 2 + len(pair) > width:
            yield indent + line
            line = ""
        line = f"{line}  {pair}" if line else pair
    if line:
        yield indent + line


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, max(width, _WIDTH_MIN // 2), break_on_hyphens=False) or [""]


def _short(text: str) -> str:
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[: _VALUE_CHARACTERS_MAX - 3]}..."


# --- requests -------------------------------------------------------------------------------------------


def request_lines(sent: list[Sent], table: str, *, is_dry: bool) -> Iterator[str]:
    """Return requests, each with its parameters as JSON below it."""
    for number, each in enumerate(sent, 1):
        where = f"index {each.index} of {table}" if each.index else table
        cost = "" if is_dry else f": {units_text(each.units)}, {each.read} read"
        failure = f", {each.error}" if each.error else ""
        yield f"{number}. {each.operation} on {where}{cost}{failure}"
        yield f"   {visible(json_line(each.data(table)['params']))}"


def usage_text(usage: Usage) -> str:
    """Return what reading has cost, in words."""
    return f"{units_text(usage.units)}, {usage.read} read, {usage.thrown_away} thrown away"


def units_text(units: float) -> str:
    return f"{units:g} unit{'' if units == 1 else 's'}"


def count_text(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
