"""Names, values and comments of a Python module that is written from a blueprint.

A blueprint may hold any text. What is written here is one token or one line of Python: an identifier, a literal, a
comment. No text of a blueprint can end it and go on as code.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

_LINE: Final = 112
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

BUILT_IN: Final = frozenset(dir(builtins))
# Classes that annotations name without an import: no field and no method can have such a name.
TYPES: Final = frozenset(
    ["str", "int", "float", "bool", "bytes", "list", "set", "frozenset", "dict", "tuple"]
)
# What every model has already, and what a method or an entity has by its own.
OF_MODELS: Final = frozenset(dir(BaseModel)) | {"entity_options", "model_config", "self", "cls"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What every key has already: singletable.design.keys.key.
OF_KEYS: Final = _words("template parts compiled values render parse from_values reads shown prefix starting")
# What every design has already: singletable.design.design.
OF_DESIGNS: Final = _words(
    """abatch acreate acreate_table adelete adelete_expired adelete_plan adiff adrift aload aput atransaction
    aupdate averify batch blueprint casing catalog clock close consume counted create create_table dead_letters
    delete delete_expired delete_plan diff discriminator drift entities for_users handlers lambda_handler load
    loads now open patterns plan put rates redrive self session stored_item table transaction update
    verify volumes"""
)
# What every table has already: singletable.design.model.table.
OF_TABLES: Final = _words(
    """name pk sk billing capacity encryption stream pitr_days deletion_protection tags defaults indexes own_index
    key_attributes placeholders name_in"""
)
# The parameters of Design.open, which no placeholder of a table's name can be.
OF_OPEN: Final = _words("target create cursor_secret clock capabilities sleep random engine cls self")


# --- identifiers ----------------------------------------------------------------------------------------


def identifier(text: str, otherwise: str) -> str:
    """Return a name that a field, a method or a parameter can have."""
    # Python reads identifiers in this form, so that two spellings may be one name.
    name = re.sub(r"\W", "_", unicodedata.normalize("NFKC", text)).strip("_")
    name = unicodedata.normalize("NFKC", name)
    if not name or name[0].isdigit():
        name = f"{otherwise}_{name}".rstrip("_")
    if not name.isidentifier():
        name = otherwise
    return f"{name}_" if keyword.iskeyword(name) else name


def snake(text: str, otherwise: str) -> str:
    """Return words as a name in lower case: "List user's batches" is list_user_s_batches."""
    words = _WORDS.findall(unicodedata.normalize("NFKC", text))
    return identifier("_".join(words).lower(), otherwise)


def camel(text: str, otherwise: str) -> str:
    """Return words as the name of a class. A name that can be one stays as it is."""
    if text.isidentifier() and text[0].isupper() and not keyword.iskeyword(text):
        return identifier(text, otherwise)
    words = _WORDS.findall(unicodedata.normalize("NFKC", text))
    return identifier("".join(word[:1].upper() + word[1:].lower() for word in words), otherwise)


def lower(text: str, otherwise: str) -> str:
    """Return a name of a class or an index in lower case: SizeIndex is size_index, GSI1 is gsi1."""
    return identifier(re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", text).lower(), otherwise)


def plural(word: str) -> str:
    """Return the plural of an English noun, as most have it."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


class Names:
    """Names of one scope, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, wanted: str) -> str:
        """Return a name, or the next one that nothing has yet."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted.rstrip('_')}_{number}", number + 1
        self.taken.add(name)
        return name


# --- literals -------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Return a text as a literal, on one line."""
    shown = repr(str(text))
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def number(value: float) -> str | None:
    """Return a number as a literal; None for one that has none, as infinity."""
    if not math.isfinite(value):
        return None
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def literal(value: Any) -> str | None:
    """Return plain data as a literal; None for a value that has none."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        members = [(literal(str(key)), literal(each)) for key, each in value.items()]
        return None if any(each is None for _, each in members) else _braces(members)
    if isinstance(value, list | tuple):
        found = [each for each in map(literal, value) if each is not None]
        return f"[{', '.join(found)}]" if len(found) == len(value) else None
    return None


def _braces(members: Iterable[tuple[str | None, str | None]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in members) + "}"


# --- comments -------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text on one line, with what cannot be seen written out."""
    line = " ".join(str(text).split())
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def comment(text: str) -> list[str]:
    """Return a comment of as many lines as it takes."""
    lines, line = [], "#"
    for word in plain(text).split(" "):
        if len(line) + 1 + len(word) > _LINE and line != "#":
            lines.append(line)
            line = "#"
        line += f" {word}"
    return [*lines, line]


def opened(text: str) -> list[str]:
    """Return a comment that says what is left open, or out."""
    first, *others = comment(f"open: {text}")
    return [first, *(f"#   {line.removeprefix('#').lstrip()}" for line in others)]


def docstring(text: str) -> str:
    """Return a docstring of one line, or of none that a text can end."""
    shown = plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{shown}"""'


def commented(lines: Iterable[str]) -> Iterator[str]:
    """Return lines of code as comments."""
    for line in lines:
        yield f"# {line}".rstrip() if not line.startswith("#") else line


# --- code -----------------------------------------------------------------------------------------------


def indented(lines: Iterable[str], by: int = 1) -> list[str]:
    """Return lines, further to the right."""
    return [f"{'    ' * by}{line}" if line else "" for line in lines]


def call(
    head: str, arguments: Iterable[str], *, indent: int = 0, ends: str = "()", tail: str = ""
) -> list[str]:
    """Return a call on one line, or with a line for each argument where it is too long for one."""
    members = list(arguments)
    line = f"{head}{ends[0]}{', '.join(members)}{ends[1]}{tail}"
    if len(line) + 4 * indent <= _LINE or not members:
        return [line]
    inner = [part for member in members for part in indented(wrapped(member, indent + 1, ","))]
    return [f"{head}{ends[0]}", *inner, f"{ends[1]}{tail}"]


def wrapped(expression: str, indent: int, tail: str = "") -> list[str]:
    """Return an expression on as many lines as it takes: broken inside of its last brackets."""
    if len(expression) + len(tail) + 4 * indent <= _LINE:
        return [f"{expression}{tail}"]
    spans = [each for each in _brackets(expression) if each[1] - each[0] > 1]
    if not spans:
        return [f"{expression}{tail}"]
    start, end = max(spans, key=lambda each: each[1] - each[0])
    inside = expression[start + 1 : end]
    is_loop = expression[start] == "[" and " for " in inside
    members = inside.split(" for ", 1) if is_loop else _split(inside)
    lines = [
        line
        for number, member in enumerate(members)
        for line in wrapped(
            f"for {member}" if is_loop and number else member, indent + 1, "" if is_loop else ","
        )
    ]
    return [expression[: start + 1], *indented(lines), f"{expression[end]}{expression[end + 1 :]}{tail}"]


def _brackets(expression: str) -> Iterator[tuple[int, int]]:
    """Return where brackets that stand in no others begin and end. Texts may hold any character."""
    depth, start = 0, 0
    for at, character in _code(expression):
        if character in "([{":
            start = at if depth == 0 else start
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                yield start, at


def _split(expression: str) -> list[str]:
    depth, start, found = 0, 0, list[str]()
    for at, character in _code(expression):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append(expression[start:at].strip())
            start = at + 1
    rest = expression[start:].strip()
    return [*found, rest] if rest else found


def _code(expression: str) -> Iterator[tuple[int, str]]:
    """Return the characters that stand in no text."""
    at, quote = 0, ""
    while at < len(expression):
        character = expression[at]
        if quote:
            at += character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            yield at, character
        at += 1
