"""HCL, the language of Terraform: values, blocks, and how `hclfmt` lays them out.

Block("resource", ("aws_sns_topic", "alarms"), {"name": "alarms"})
Expression("aws_sns_topic.alarms.arn")                   written as it is
Template(("table/", Expression("var.name"), "/index"))   a text with expressions in it: "table/${var.name}/index"
Call("jsonencode", {"Version": "2012-10-17"})            a function, called with one value

A str is a text to the letter: what would be an expression in it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_WIDTH: Final = 100  # characters of a line that holds a whole list
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset({"for", "if", "in", "null", "true", "false", "else", "endif", "endfor"})
_VARIABLE: Final = re.compile(r"\$\{[A-Za-z][A-Za-z0-9:./_-]*\}")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """A text with expressions in it."""

    parts: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function, called with one value."""

    name: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its kind and labels, its attributes, the blocks in it. An attribute that is None is left out."""

    kind: str
    labels: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    blocks: Sequence[Block] = ()


def hcl_text(blocks: Iterable[Block]) -> str:
    """Write blocks as a file."""
    return "\n".join("\n".join(_block(block)) + "\n" for block in blocks)


def comment(text: str) -> str:
    """Write a text as a line of comment."""
    return f"# {' '.join(text.split())}\n"


def _block(block: Block) -> Iterator[str]:
    head = " ".join([block.kind, *(quoted(label) for label in block.labels)])
    given = {name: value for name, value in block.attributes.items() if value is not None}
    if not given and not block.blocks:
        yield f"{head} {{}}"
        return
    yield f"{head} {{"
    is_first = True
    for attribute in _assignments(list(given.items())):
        is_first = False
        yield f"  {attribute}"
    for inner in block.blocks:
        if not is_first:
            yield ""
        is_first = False
        for line in _block(inner):
            yield f"  {line}" if line else line
    yield "}"


def _assignments(given: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Yield the lines of assignments: the signs of those that follow one another on one line each are aligned."""
    written = [(name, list(_value(value, len(name)))) for name, value in given]
    start = 0
    while start < len(written):
        end = start
        while end < len(written) and len(written[end][1]) == 1:
            end += 1
        width = max((len(name) for name, _ in written[start:end]), default=0)
        for name, lines in written[start:end]:
            yield f"{name:{width}} = {lines[0]}"
        if end < len(written):
            name, lines = written[end]
            yield f"{name} = {lines[0]}"
            yield from lines[1:]
        start = end + 1


def _value(value: Any, indented: int = 0) -> Iterator[str]:
    """Yield the lines of a value."""
    match value:
        case None:
            yield "null"
        case bool():
            yield "true" if value else "false"
        case int():
            yield str(value)
        case float():
            yield str(int(value)) if value.is_integer() else repr(value)
        case str():
            yield quoted(value)
        case Expression(text):
            yield text
        case Template(parts):
            yield _template(parts)
        case Call(name, argument):
            first, *rest = _value(argument, indented + len(name))
            if rest:
                yield f"{name}({first}"
                yield from rest[:-1]
                yield f"{rest[-1]})"
            else:
                yield f"{name}({first})"
        case Mapping():
            yield from _object(value)
        case list() | tuple():
            yield from _list(value, indented)
        case _:
            raise AssertionError(value)


def _object(value: Mapping[str, Any]) -> Iterator[str]:
    if not value:
        yield "{}"
        return
    yield "{"
    for line in _assignments([(_key(name), each) for name, each in value.items()]):
        yield f"  {line}"
    yield "}"


def _list(value: Sequence[Any], indented: int) -> Iterator[str]:
    written = [list(_value(each)) for each in value]
    whole = f"[{', '.join(lines[0] for lines in written)}]"
    if all(len(lines) == 1 for lines in written) and indented + len(whole) <= _WIDTH:
        yield whole
        return
    yield "["
    for lines in written:
        lines[-1] += ","
        for line in lines:
            yield f"  {line}"
    yield "]"


# --- texts ----------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    if _IDENTIFIER.fullmatch(name) and name not in _RESERVED:
        return name
    # Signs are aligned by what a reader sees of a key, which is its characters as long as they are of ASCII.
    return "".join(each if each.isascii() else _escaped(each) for each in quoted(name))


def quoted(text: str) -> str:
    """Write a text to the letter, in quotes."""
    return _template((text,))


def _template(parts: Sequence[str | Expression]) -> str:
    written = []
    for number, part in enumerate(parts):
        if isinstance(part, Expression):
            written.append(f"${{{part.text}}}")
        else:
            written.append(_literal(part, is_before_expression=number + 1 < len(parts)))
    return f'"{"".join(written)}"'


def _literal(text: str, *, is_before_expression: bool) -> str:
    """Escape a text. A variable of IAM begins with $${, as users write it; other signs of HCL are code points.

    $${ and %%{ would do for them too, and python-hcl2 does not read all of those.
    """
    variables = {found.start() for found in _VARIABLE.finditer(text)}
    found = []
    after = [*text[1:], "$" if is_before_expression else ""]
    for place, (each, following) in enumerate(zip(text, after, strict=False)):
        if place in variables:
            found.append("$$")
        elif (each in "$%" and following in ("$", "%", "{")) or _is_invisible(each):
            found.append(_escaped(each))
        else:
            found.append(_ESCAPES.get(each, each))
    return "".join(found)


def _is_invisible(character: str) -> bool:
    is_control = character < " " and character not in _ESCAPES
    return is_control or character in "\x7f\u0085\u2028\u2029\ufeff"


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
