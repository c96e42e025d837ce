"""Key templates as people spell them and as values reveal them: USER#<userId>, or USER#1 beside USER#2.

By the convention of single tables, a key is words and values in turn, with a separator between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

SEPARATOR: Final = "#"
_PLACEHOLDER: Final = re.compile(r"<([^<>]+)>|\$\{([^{}]+)\}|\{([^{}]+)\}")
_BRACED: Final = re.compile(r"\{([^{}]*)\}")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_-]*")
_CAPITALS: Final = re.compile(r"[A-Z][A-Z0-9_-]*")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_KEY_NAME: Final = re.compile(r"(?i).*(pk|sk)\d*$|(gsi|lsi).*")

Row = Mapping[str, Any]


def spelled(template: str) -> str:
    """Return a template with <angle brackets> around its placeholders."""
    return _BRACED.sub(r"<\1>", template)


def has_placeholder(text: str) -> bool:
    """Tell whether a text has placeholders in any spelling."""
    return _PLACEHOLDER.search(text) is not None


def template_of(text: str) -> str:
    """Return the template that a text with placeholders spells."""
    return _PLACEHOLDER.sub(lambda found: f"{{{found[1] or found[2] or found[3]}}}", text)


def is_key_name(name: str) -> bool:
    """Tell whether an attribute is called as those that hold nothing but keys: PK, GSI1SK."""
    return _KEY_NAME.match(name) is not None


def words_as_template(text: str) -> str:
    """Read a spelling without placeholders: words in capitals are constant, others name what stands there."""
    parts = [
        f"{{{part}}}" if _IDENTIFIER.fullmatch(part) and not _CAPITALS.fullmatch(part) else part
        for part in text.split(SEPARATOR)
    ]
    return SEPARATOR.join(parts)


# --- from values ----------------------------------------------------------------------------------------


Used = dict[str, dict[int, str]]  # the name of a part, and its value in each row


def revealed(
    attribute: str, rows: Sequence[Row], used: Used, *, names: Sequence[str] = ()
) -> tuple[str | None, Used]:
    """Return the template that the values of an attribute have, None if nothing in them is constant.

    Rows without the attribute say nothing; one that is no text has no template. A part that equals another
    attribute in all rows is named after it. Otherwise parts are called as `names` says, if those are as many, or
    after the word before. A name that the keys of the same items use already is not taken for other values; all
    that are used now are returned too.
    """
    holders = {number: row for number, row in enumerate(rows) if attribute in row}
    values = [value for row in holders.values() if isinstance(value := row[attribute], str)]
    if not values or len(values) < len(holders):
        return None, used
    others = [{name: value for name, value in row.items() if name != attribute} for row in holders.values()]
    used = dict(used)

    def called(name: str, column: Sequence[str]) -> str:
        here = dict(zip(holders, column, strict=True))
        number, found = 2, name
        while found in used and any(used[found].get(row, value) != value for row, value in here.items()):
            found, number = f"{name}_{number}", number + 1
        used[found] = {**used.get(found, {}), **here}
        return found

    return _revealed(values, others, names, attribute, called), used


def _revealed(
    values: Sequence[str],
    rows: Sequence[Row],
    names: Sequence[str],
    fallback: str,
    called: Callable[[str, Sequence[str]], str],
) -> str | None:
    split = [value.split(SEPARATOR) for value in values]
    length = min(map(len, split))
    is_ragged = any(len(each) != length for each in split)
    columns = [[each[position] for each in split] for position in range(length)]
    if is_ragged:
        columns[-1] = [SEPARATOR.join(each[length - 1 :]) for each in split]
    if length == 1 and not is_ragged:
        constant = values[0]
        return constant if _CAPITALS.fullmatch(constant) and set(values) == {constant} else None
    are_many = len(set(values)) > 1
    constants = [_constant(column, number, are_many=are_many) for number, column in enumerate(columns)]
    if all(each is None for each in constants):
        return None
    variables = [number for number, each in enumerate(constants) if each is None]
    given = dict(zip(variables, names, strict=True)) if len(names) == len(variables) else {}
    parts: list[str] = []
    for number, (column, word) in enumerate(zip(columns, constants, strict=True)):
        if word is not None:
            parts.append(word)
            continue
        before = next((each for each in reversed(constants[:number]) if each), "")
        after = f"{before.lower().replace('-', '_')}_id" if before else fallback
        name = _attribute_with(column, rows) or given.get(number) or after
        parts.append(f"{{{called(name, column)}}}")
    return SEPARATOR.join(parts)


def _constant(column: Sequence[str], number: int, *, are_many: bool) -> str | None:
    first = column[0]
    if any(each != first for each in column) or not (first == "" or _WORD.fullmatch(first)):
        return None
    return first if number % 2 == 0 or are_many else None


def _attribute_with(column: Sequence[str], rows: Sequence[Row]) -> str | None:
    names = [name for name in rows[0] if _IDENTIFIER.fullmatch(name)] if rows else []
    for name in names:
        if all(_same(row.get(name), part) for row, part in zip(rows, column, strict=True)):
            return name
    return None


def _same(value: Any, part: str) -> bool:
    return (
        isinstance(value, str | int) and not isinstance(value, bool) and part != "" and _text(value) == part
    )


def _text(value: str | int) -> str:
    return value if isinstance(value, str) else str(value) if abs(value) < 10**50 else ""


def _unused(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    number = 2
    found = name
    while found in names:
        found = f"{name}_{number}"
        number += 1
    return found


# --- kinds of items -------------------------------------------------------------------------------------


def by_prefix(rows: Sequence[Row], pk: str, sk: str | None) -> dict[str, list[Row]]:
    """Return rows by the name that the words of their keys suggest; all are an Item where no key has parts."""
    values = [row.get(key) for row in rows for key in (pk, sk) if key is not None]
    if not any(isinstance(value, str) and SEPARATOR in value for value in values):
        return {"Item": list(rows)} if rows else {}
    kinds: dict[tuple[tuple[str, ...], ...], list[Row]] = {}
    for row in rows:
        keys = (_words(row.get(pk)), *((_words(row.get(sk)),) if sk is not None else ()))
        kinds.setdefault(keys, []).append(row)
    found: dict[str, list[Row]] = {}
    for keys, members in kinds.items():
        pascal = [_pascal(words) for words in keys]
        last = next((each for each in reversed(pascal) if each), "Item")
        name = last if last not in found else "".join(dict.fromkeys(pascal)) or "Item"
        found[_unused(name, found)] = members
    return found


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, str):
        return ()
    parts = value.split(SEPARATOR)
    if len(parts) == 1:
        return (value,) if _CAPITALS.fullmatch(value) else ()
    return tuple(part for part in parts[::2] if _WORD.fullmatch(part))


def _pascal(words: Sequence[str]) -> str:
    pieces = [piece for word in words for piece in re.split(r"[_-]+", word) if piece]
    return "".join(
        piece[0].upper() + (piece[1:].lower() if piece.isupper() else piece[1:]) for piece in pieces
    )


def discriminator(kinds: Mapping[str, Sequence[Row]], is_key: Callable[[str], bool]) -> str | None:
    """Return the attribute whose value tells the kinds of items apart: one text for each kind, in all its rows."""
    groups = [rows for rows in kinds.values() if rows]
    if len(groups) < 2:
        return None
    for name in groups[0][0]:
        if is_key(name):
            continue
        values = [
            {row.get(name) if isinstance(row.get(name), str) else None for row in rows} for rows in groups
        ]
        firsts = [next(iter(each)) for each in values]
        if all(len(each) == 1 for each in values) and None not in firsts and len(set(firsts)) == len(firsts):
            return name
    return None
