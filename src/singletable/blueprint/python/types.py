"""Types of a blueprint as annotations of Python, and values of such types as literals.

A blueprint has types as text: `list[Step]`, `"active" | "archived"`, or whatever word a document has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from singletable.blueprint.python.names import Names, literal, number, quoted

_MODULES: Final = {
    "Annotated": "typing",
    "Any": "typing",
    "Literal": "typing",
    "NewType": "typing",
    "Enum": "enum",
    "date": "datetime",
    "datetime": "datetime",
    "timedelta": "datetime",
    "Decimal": "decimal",
    "UUID": "uuid",
    "Sequence": "collections.abc",
    "Iterable": "collections.abc",
    "Mapping": "collections.abc",
    "BaseModel": "pydantic",
    "Field": "pydantic",
}
# Names in lower case that a module imports: no method of a design can have one.
IMPORTED: Final = frozenset(
    {*_MODULES, "pattern", "auto", "expires", "collect", "gather", "shards", "buckets"}
)
_PACKAGE: Final = "singletable"
_STANDARD: Final = ("collections.abc", "datetime", "decimal", "enum", "typing", "uuid")


class Imports:
    """The names that a module imports. One that a field has too is imported under another name."""

    def __init__(self, names: Names, fields: Iterable[str]) -> None:
        self._names = names
        self._fields = frozenset(fields)
        self._used: dict[str, str] = {}

    def use(self, name: str) -> str:
        """Return what a name is called in the module."""
        if name not in self._used:
            is_taken = name in self._fields
            self._used[name] = self._names.take(f"{name[0].upper()}{name[1:]}Type" if is_taken else name)
        return self._used[name]

    def lines(self, code: str) -> Iterator[str]:
        """Return the import statements that code needs: of Python's own, of Pydantic, and of this package."""
        needed = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        groups: dict[str, list[str]] = {}
        for name, local in sorted(self._used.items(), key=lambda each: _order(each[0])):
            if local not in needed:
                continue
            said = name if local == name else f"{name} as {local}"
            groups.setdefault(_MODULES.get(name, _PACKAGE), []).append(said)
        for modules in (_STANDARD, ("pydantic",), (_PACKAGE,)):
            found = [module for module in modules if module in groups]
            for module in found:
                yield from _import(module, groups[module])
            if found:
                yield ""


def _order(name: str) -> tuple[bool, str, str]:
    return name[0].islower(), name.lower(), name


def _import(module: str, names: Sequence[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    return (
        [line] if len(line) <= 112 else [f"from {module} import (", *(f"    {name}," for name in names), ")"]
    )


# --- types ----------------------------------------------------------------------------------------------

_SCALARS: Final[dict[str, type[Any]]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "datetime": datetime,
    "date": date,
    "timedelta": timedelta,
    "Decimal": Decimal,
    "UUID": UUID,
}
_COLLECTIONS: Final[dict[str, Any]] = {
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "Sequence": Sequence,
    "Iterable": Iterable,
}
_MAPPINGS: Final[dict[str, Any]] = {"dict": dict, "Mapping": Mapping}
# Words of documents, and DynamoDB's letters.
_WORDS: Final = {
    **dict.fromkeys(("string", "text", "s", "id", "varchar", "char", "email", "url", "slug", "ulid"), "str"),
    **dict.fromkeys(("integer", "long", "epoch", "count"), "int"),
    **dict.fromkeys(("number", "n", "decimal", "numeric"), "Decimal"),
    **dict.fromkeys(("double", "real"), "float"),
    **dict.fromkeys(("boolean",), "bool"),
    **dict.fromkeys(("binary", "b", "blob"), "bytes"),
    **dict.fromkeys(("timestamp", "iso-8601", "iso8601", "iso 8601", "time"), "datetime"),
    **dict.fromkeys(("uuid", "guid"), "UUID"),
    **dict.fromkeys(("array", "l", "tuple"), "list"),
    **dict.fromkeys(("map", "object", "m", "json", "record", "dictionary"), "dict"),
    **dict.fromkeys(("ss", "string set", "stringset"), "set[str]"),
    **dict.fromkeys(("ns", "number set", "numberset"), "set[Decimal]"),
    **dict.fromkeys(("bs", "binary set"), "set[bytes]"),
    **dict.fromkeys(("any", "null", "object?"), "Any"),
}
_KEY_SCALARS: Final = frozenset({"str", "int", "float", "Decimal", "datetime", "date", "UUID"})


@dataclass(frozen=True)
class Typed:
    """A type: its annotation, and what it is underneath. `runtime` is a type that takes the same values."""

    text: str
    base: str  # str, int, …, Literal, Enum, model, list, dict, tuple, union, Any
    runtime: Any = Any
    values: tuple[Any, ...] = ()  # of a Literal or an Enum
    arguments: tuple[Typed, ...] = ()
    alias: str | None = None  # the NewType, as the module calls it
    unknown: tuple[str, ...] = ()  # words in it that name no type

    @property
    def scalar(self) -> str | None:
        """The class of the values, also of those of a Literal or an Enum; None where there is not just one."""
        if self.base in _SCALARS:
            return self.base
        kinds = {type(value).__name__ for value in self.values}
        return kinds.pop() if self.base in ("Literal", "Enum") and len(kinds) == 1 else None

    @property
    def kind(self) -> str | None:
        """How a key of the table stores it: S or N; None if it cannot be one."""
        if self.scalar in ("int", "float", "Decimal"):
            return "N"
        return "S" if self.scalar in ("str", "datetime", "date", "UUID") else None

    @property
    def is_of_keys(self) -> bool:
        """Whether a part of a key can have it."""
        if self.base in ("Literal", "Enum"):
            return all(isinstance(each, str | int) and not isinstance(each, bool) for each in self.values)
        return self.base in _KEY_SCALARS

    @property
    def member(self) -> Typed | None:
        """The type of the members of a list, set or tuple of any length."""
        is_collection = self.base in _COLLECTIONS or (self.base == "tuple" and self.text.endswith("...]"))
        return self.arguments[0] if is_collection and self.arguments else None


@dataclass
class Types:
    """What types of a module are called: imports, models, enums, NewTypes, and names for long lists of values."""

    imports: Imports
    names: Names
    models: dict[str, Typed] = field(default_factory=dict)  # by their names in the blueprint
    aliases: dict[str, Typed] = field(default_factory=dict)
    choices: dict[tuple[Any, ...], str] = field(default_factory=dict)  # values, and the name of their Literal

    def of(self, text: str, alias: str | None = None) -> Typed:
        """Return the type that a text names."""
        known = self.aliases.get(alias or "")
        found = _Parser(text, self).union()
        if known is not None and known.base == found.base:
            return Typed(known.text, found.base, found.runtime, alias=known.text)
        return found

    def literal_of(self, values: tuple[Any, ...]) -> Typed:
        """Return the type of one of several values; of any text, where one of them is none in UTF-8."""
        if not all(map(is_text, values)):
            return Typed("str", "str", str)
        text = self.choices.get(_typed_values(values))
        if text is None:
            members = ", ".join(str(literal(value)) for value in values)
            text = f"{self.imports.use('Literal')}[{members}]"
        return Typed(text, "Literal", Literal[values], values)


def is_text(value: Any) -> bool:
    """Tell whether a value is a text in UTF-8, or none at all; half of a surrogate pair is not."""
    return not isinstance(value, str) or not re.search("[\ud800-\udfff]", value)


def _typed_values(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple((type(value).__name__, value) for value in values)


class _Parser:
    """Reads one type."""

    def __init__(self, text: str, types: Types, depth: int = 0) -> None:
        self._text = text.strip()
        self._types = types
        self._depth = depth

    def union(self) -> Typed:
        """Return the type of members that | joins. Values that stand beside each other are one Literal."""
        members: list[Typed] = []
        values: list[Any] = []
        texts = _split(self._text, "|")
        for text in texts:
            value = _value(text)
            if value is not None:
                values += [value[0]] if value[0] not in values else []
            elif text not in ("None", "null") or len(texts) == 1:
                members.append(self._single(text))
        if values:
            members.append(self._types.literal_of(tuple(values)))
        members = list({each.text: each for each in members}.values())
        if len(members) == 1:
            return members[0]
        unknown = tuple(word for each in members for word in each.unknown)
        if not members or any(each.base == "Any" for each in members):
            return self._any(unknown)
        text = " | ".join(each.text for each in members)
        return Typed(text, "union", arguments=tuple(members), unknown=unknown)

    def _any(self, unknown: tuple[str, ...] = ()) -> Typed:
        return Typed(self._types.imports.use("Any"), "Any", unknown=unknown)

    def _single(self, text: str) -> Typed:
        name, bracket, inner = text.partition("[")
        name = name.strip()
        use = self._types.imports.use
        known = self._types.models.get(name)
        if known is not None and not bracket:
            return known
        if not bracket or not inner.endswith("]"):
            word = _WORDS.get(text.lower().strip())
            if name in _SCALARS and name == text:
                local = use(name) if name in _MODULES else name
                return Typed(local, name, _SCALARS[name])
            if name in _COLLECTIONS or name in _MAPPINGS:
                return self._single(f"{name}[str, Any]" if name in _MAPPINGS else f"{name}[Any]")
            if word is not None and word != text:
                return _Parser(word, self._types).union()
            return self._any(() if text == "Any" else (text,))
        if self._depth > 20:
            return self._any((text,))
        texts = _split(inner[:-1], ",")
        arguments = tuple(
            _Parser(each, self._types, self._depth + 1).union() for each in texts if each != "..."
        )
        unknown = tuple(word for each in arguments for word in each.unknown)
        local = use(name) if name in _MODULES else name
        if name in _COLLECTIONS and len(arguments) == 1:
            runtime = _COLLECTIONS[name][arguments[0].runtime]
            return Typed(f"{local}[{arguments[0].text}]", name, runtime, arguments=arguments, unknown=unknown)
        if name in _MAPPINGS and len(arguments) == 2:
            runtime = _MAPPINGS[name][arguments[0].runtime, arguments[1].runtime]
            inside = ", ".join(each.text for each in arguments)
            return Typed(f"{local}[{inside}]", name, runtime, arguments=arguments, unknown=unknown)
        if name == "tuple" and arguments and ("..." not in texts or texts == [texts[0], "..."]):
            dots = ["..."] if "..." in texts else []
            inside = ", ".join([*(each.text for each in arguments), *dots])
            every = tuple(each.runtime for each in arguments)
            runtime = tuple.__class_getitem__((every[0], ...) if dots else every)
            return Typed(f"tuple[{inside}]", "tuple", runtime, arguments=arguments, unknown=unknown)
        return self._any((text,))


def _split(text: str, separator: str) -> list[str]:
    """Split a text at a separator that stands neither in brackets nor in a value."""
    found, depth, start, at = [], 0, 0, 0
    while at < len(text):
        character = text[at]
        if character == '"' and not text[start:at].strip():
            at = _end_of_value(text, at)
            continue
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [*found, text[start:].strip()]


def _end_of_value(text: str, start: int) -> int:
    """Return the offset behind a value. It may hold quotes itself: it ends where something follows."""
    for found in re.finditer('"', text[start + 1 :]):
        end = start + 1 + found.end()
        if re.match(r"\s*(?:$|[|,\]])", text[end:]):
            return end
    return len(text)


def _value(text: str) -> tuple[Any] | None:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return (text[1:-1],)
    if re.fullmatch(r"-?\d{1,18}", text):
        return (int(text),)
    return ({"True": True, "False": False}[text],) if text in ("True", "False") else None


# --- values ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _adapter(runtime: Any, constraints: tuple[tuple[str, Any], ...]) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(Annotated[runtime, Field(**dict(constraints))] if constraints else runtime)
    except (TypeError, SchemaError, PydanticUserError, ValueError):
        return None


def can_have(of: Typed, constraints: Mapping[str, Any]) -> bool:
    """Tell whether a type can have Pydantic's constraints."""
    try:
        adapter = _adapter(of.runtime, tuple(constraints.items()))
        if adapter is None:
            return False
        adapter.validate_python(None)
    except ValidationError:
        return True
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True


def takes(of: Typed, value: Any, constraints: Mapping[str, Any] | None = None) -> bool:
    """Tell whether a type has a value, given as plain data."""
    if of.base in ("Any", "model", "union"):
        return of.base == "Any"
    if of.base == "Enum":
        return value in of.values
    if isinstance(value, bool) and of.scalar != "bool":
        return False
    try:
        adapter = _adapter(of.runtime, tuple((constraints or {}).items()))
        if adapter is None:
            return False
        adapter.validate_python(value)
    except (ValidationError, TypeError, ValueError, ArithmeticError):
        return False
    return True


def value_text(of: Typed, value: Any, use: Callable[[str], str]) -> str | None:
    """Return a value of a type as an expression that a type checker accepts; None if there is none."""
    if value is None or of.base in ("model", "union") or not takes(of, value):
        return None
    text = _scalar_text(of, value, use)
    if text is None:
        return None
    return f"{of.alias}({text})" if of.alias is not None else text


def _scalar_text(of: Typed, value: Any, use: Callable[[str], str]) -> str | None:
    match of.base:
        case "str" if isinstance(value, str):
            return quoted(value)
        case "int" if isinstance(value, int):
            return repr(int(value))
        case "bool" if isinstance(value, bool):
            return repr(value)
        case "float" if isinstance(value, int | float):
            return number(value)
        case "Decimal" if isinstance(value, str | int | float):
            return f"{use('Decimal')}({quoted(str(value))})"
        case "datetime" | "date" if isinstance(value, str):
            return _time_text(of.base, value, use)
        case "timedelta" if isinstance(value, int | float):
            seconds = number(value)
            return None if seconds is None else f"{use('timedelta')}(seconds={seconds})"
        case "UUID" if isinstance(value, str):
            return f"{use('UUID')}({quoted(value)})"
        case "Enum":
            return f"{of.text}({literal(value)})"
        case "Literal" | "Any":
            return literal(value)
        case _:
            return _collection_text(of, value, use)


def _collection_text(of: Typed, value: Any, use: Callable[[str], str]) -> str | None:
    match of.base:
        case "list" | "Sequence" | "Iterable" if isinstance(value, list | tuple):
            return _members_text(of, value, use, "[]")
        case "set" | "frozenset" if isinstance(value, list | tuple):
            inside = _members_text(of, value, use, "{}") if value else ""
            return (
                None if inside is None else inside if of.base == "set" and value else f"{of.base}({inside})"
            )
        case "tuple" if isinstance(value, list | tuple) and of.member is not None:
            inside = _members_text(of, value, use, "[]")
            return None if inside is None else f"tuple({inside})" if value else "()"
        case "dict" | "Mapping" if isinstance(value, Mapping) and of.arguments[0].base in ("str", "Any"):
            members = {key: value_text(of.arguments[1], each, use) for key, each in value.items()}
            if any(each is None for each in members.values()):
                return None
            return "{" + ", ".join(f"{quoted(str(key))}: {each}" for key, each in members.items()) + "}"
        case _:
            return None


def _time_text(base: str, value: str, use: Callable[[str], str]) -> str | None:
    try:
        (datetime if base == "datetime" else date).fromisoformat(value)
    except ValueError:
        return None
    return f"{use(base)}.fromisoformat({quoted(value)})"


def _members_text(of: Typed, value: Sequence[Any], use: Callable[[str], str], ends: str) -> str | None:
    member = of.member
    texts = [None if member is None else value_text(member, each, use) for each in value]
    if any(each is None for each in texts):
        return None
    return f"{ends[0]}{', '.join(map(str, texts))}{ends[1]}"
