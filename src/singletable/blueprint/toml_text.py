"""Data as TOML that people like to read: what fits on a line stands on one, the rest is a section of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_WIDTH: Final = 110
_INDENT: Final = "    "
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(data: Mapping[str, Any]) -> str:
    """Write a mapping of texts, numbers, booleans, lists and mappings."""
    return "\n".join(_section((), data)) + "\n"


def _section(path: tuple[str, ...], data: Mapping[str, Any]) -> Iterator[str]:
    later: list[tuple[str, Any]] = []
    for name, value in data.items():
        line = _line(_key(name), value, is_top=not path)
        if line is None:
            later.append((name, value))
        else:
            yield line
    for name, value in later:
        inner = (*path, name)
        header = ".".join(map(_key, inner))
        if isinstance(value, dict):
            yield from ("", f"[{header}]", *_section(inner, value))
        else:
            for each in value:
                yield from ("", f"[[{header}]]", *_section(inner, each))


def _line(key: str, value: Any, *, is_top: bool) -> str | None:
    """Write a member on its line, or on one line for each that it lists; None if it needs a section."""
    is_tables = isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    if is_top and (is_tables or isinstance(value, dict)):
        return None
    text = f"{key} = {_inline(value)}"
    if len(text) <= _WIDTH and not (is_tables and len(value) > 1):
        return text
    if isinstance(value, list) and not (is_tables and any(len(_inline(each)) > _WIDTH for each in value)):
        return f"{key} = [\n" + "".join(f"{_INDENT}{_inline(each)},\n" for each in value) + "]"
    # A list that holds more than tables can be no section, however long its lines are.
    return None if is_tables or (isinstance(value, dict) and value) else text


def _inline(value: Any) -> str:
    match value:
        case dict():
            members = (f"{_key(name)} = {_inline(member)}" for name, member in value.items())
            return f"{{ {', '.join(members)} }}" if value else "{}"
        case list():
            return f"[{', '.join(map(_inline, value))}]"
        case str():
            return _string(value)
        case _:
            return json.dumps(value)  # true, false, numbers: as TOML has them


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
