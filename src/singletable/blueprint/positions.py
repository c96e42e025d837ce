"""Where in a text a value stands: line and column of a path in JSON or TOML that was read without a mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

Path = tuple[int | str, ...]
Found = Iterator[tuple[Path, int]]

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_BLANK_OR_COMMENT: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR: Final = re.compile(r"[^,\]}\s#]+(?: \d[^,\]}\s#]*)?")  # a date and its time may stand apart in TOML
_TOML_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|' + r"'''.*?'{3,5}(?!')|" + r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'", re.DOTALL
)
_TOML_KEY: Final = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|' + r"'[^']*'")
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")


def in_json(text: str, path: Path) -> tuple[int, int] | None:
    """Return line and column of a path, or of the nearest that holds it."""
    return _nearest(text, path, _json_value(text, _skip(_BLANK, text, 0), ()))


def in_toml(text: str, path: Path) -> tuple[int, int] | None:
    """Return line and column of a path, or of the nearest that holds it."""
    return _nearest(text, path, _toml_lines(text))


def _nearest(text: str, path: Path, found: Found) -> tuple[int, int] | None:
    best, depth = None, 0
    for known, at in found:
        if depth < len(known) <= len(path) and path[: len(known)] == known:
            best, depth = at, len(known)
            if depth == len(path):
                break
    if best is None:
        return None
    return text.count("\n", 0, best) + 1, best - text.rfind("\n", 0, best)


def _skip(blank: re.Pattern[str], text: str, at: int) -> int:
    found = blank.match(text, at)
    return found.end() if found else at


class _End:
    """The offset behind what was scanned last: generators yield what they find, and leave this behind."""

    def __init__(self, at: int) -> None:
        self.at = at


# --- JSON -----------------------------------------------------------------------------------------------


def _json_value(text: str, at: int, path: Path) -> Found:
    yield from _value(text, _End(at), path, _BLANK, _json_member)


def _json_member(text: str, end: _End) -> Path:
    found = _JSON_STRING.match(text, end.at)
    assert found is not None
    end.at = _skip(_BLANK, text, found.end()) + 1  # behind the colon
    return (_unquoted(found[0]),)


def _unquoted(text: str) -> str:
    return text[1:-1].encode().decode("unicode_escape") if "\\" in text and text[0] == '"' else text[1:-1]


# --- TOML -----------------------------------------------------------------------------------------------


def _toml_lines(text: str) -> Found:
    end, counts = _End(0), dict[Path, int]()
    here: Path = ()
    while (start := _skip(_BLANK_OR_COMMENT, text, end.at)) < len(text):
        end.at = start
        if text[start] == "[":
            is_array = text.startswith("[[", start)
            end.at = _skip(_BLANK, text, start + 1 + is_array)
            here = _table(_toml_key(text, end), counts, is_array=is_array)
            end.at = text.index("]", end.at) + 1 + is_array
            yield here, start
        else:
            path = (*here, *_toml_member(text, end))
            yield path, start
            yield from _value(text, end, path, _BLANK_OR_COMMENT, _toml_member)


def _table(names: Path, counts: dict[Path, int], *, is_array: bool) -> Path:
    """Return the path of a header: of tables in an array it is the last one, or the next."""
    path: Path = ()
    for number, name in enumerate(names):
        path = (*path, name)
        if is_array and number == len(names) - 1:
            counts[path] = counts.get(path, 0) + 1
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _toml_key(text: str, end: _End) -> Path:
    names: list[str] = []
    while found := _TOML_KEY.match(text, end.at):
        names.append(_unquoted(found[0]) if found[0][0] in "\"'" else found[0])
        end.at = found.end()
        if not (dot := _DOT.match(text, end.at)):
            break
        end.at = dot.end()
    return tuple(names)


def _toml_member(text: str, end: _End) -> Path:
    names = _toml_key(text, end)
    end.at = text.index("=", end.at) + 1
    return names


# --- both -----------------------------------------------------------------------------------------------


def _value(
    text: str, end: _End, path: Path, blank: re.Pattern[str], member: Callable[[str, _End], Path]
) -> Found:
    """Yield the places inside of a value, and leave the end behind it."""
    at = end.at = _skip(blank, text, end.at)
    if text[at] in "[{":
        closing, number = "]}"["[{".index(text[at])], 0
        end.at = _skip(blank, text, at + 1)
        while text[end.at] != closing:
            start = end.at
            inner: Path = (*path, number) if closing == "]" else (*path, *member(text, end))
            yield inner, start
            yield from _value(text, end, inner, blank, member)
            number += 1
            end.at = _skip(blank, text, end.at)
            if text[end.at] == ",":
                end.at = _skip(blank, text, end.at + 1)
        end.at += 1
        return
    found = (_TOML_STRING if text[at] in "\"'" else _SCALAR).match(text, at)
    end.at = found.end() if found else at + 1
