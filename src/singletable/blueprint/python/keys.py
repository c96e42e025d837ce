"""Keys of a blueprint as key classes of Python: which of them can be, and why the others cannot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from singletable.blueprint.entities import KeyBlueprint, KeyPart
from singletable.blueprint.python.names import (
    OF_KEYS,
    Names,
    call,
    camel,
    identifier,
    indented,
    opened,
    quoted,
)
from singletable.blueprint.python.types import Typed, Types, can_have

_TOKEN: Final = re.compile(r"(?P<text>(?:[^{}]|\{\{|\}\})+)|\{(?P<name>[^{}:]*)(?::(?P<spec>[^{}]*))?\}")
_ZEROS: Final = re.compile(r"0([1-9][0-9]?)d?")
_DECIMALS: Final = re.compile(r"(?:0([1-9][0-9]?))?\.([0-9]{1,2})f")
_BUCKETS: Final = ("year", "month", "week", "day", "never")
_SHARDS_MAX: Final = 10_000
_LETTERS_MAX: Final = 100
_DIGITS_MAX: Final = 38
_EDGE: Final = re.compile(r"[\W_]")
# Functions of Python that a text can be normalized by; others are in no blueprint.
_FUNCTIONS: Final = ("casefold", "lower", "upper", "strip")

Token = str | tuple[str, str]  # literal text, or the name and the format of a placeholder


class UnfitError(Exception):
    """Something of a blueprint that Python cannot say. The sentence says why."""


def tokens_of(template: str) -> list[Token]:
    """Split a template into texts and placeholders."""
    found: list[Token] = []
    at = 0
    while at < len(template):
        match = _TOKEN.match(template, at)
        if match is None or (match["name"] is not None and not match["name"].strip()):
            raise UnfitError(f"the template {template} has a brace that is no placeholder")
        if match["name"] is None:
            found.append(match["text"].replace("{{", "{").replace("}}", "}"))
        else:
            found.append((match["name"].strip(), match["spec"] or ""))
        at = match.end()
    return found


def braced(text: str) -> str:
    """Return a literal text as a template has it."""
    return text.replace("{", "{{").replace("}", "}}")


@dataclass(frozen=True)
class Source:
    """A field that keys can be built from."""

    name: str  # in the module
    typed: Typed
    is_optional: bool


@dataclass(frozen=True)
class Part:
    """A field of a key class."""

    name: str
    field: str  # that it is built from, in the module
    typed: Typed
    annotation: str
    computed: str | None = None  # shard, bucket, initial
    nothing: str | None = None  # the literal of its only value, where it renders as nothing
    is_fixed: bool = False  # in its width
    is_verbatim: bool = False
    is_changed: bool = False  # not written as the field is stored
    label: str = ""  # its name in the blueprint
    notes: tuple[str, ...] = ()  # what is left out of it

    def may_hold(self, character: str) -> bool:
        """Tell whether the text of a value can have a character in it that is a separator, or stands like one."""
        if self.typed.scalar in ("int", "float", "Decimal") or self.computed == "shard":
            return character in "0123456789-."
        return self.is_verbatim or not _EDGE.match(character)


@dataclass(frozen=True)
class KeyClass:
    """A key class: its name, its template with the names that the module has, and its parts."""

    wanted: str
    template: str | None
    tokens: tuple[Token, ...]  # as they are stored; those of the module
    parts: tuple[Part, ...]

    @property
    def identity(self) -> tuple[Any, ...]:
        """What makes two key classes one."""
        return (self.wanted, self.template, *((part.name, part.annotation) for part in self.parts))

    @property
    def shape(self) -> str:
        """The template without the names in it: entities of one shape have the same keys."""
        return "".join(braced(each) if isinstance(each, str) else "{}" for each in self.tokens) or "{}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that it is built from."""
        return tuple(part.field for part in self.parts)

    @property
    def plain(self) -> tuple[str, ...]:
        """The fields that it holds as they are."""
        return tuple(part.name for part in self.parts if part.computed is None)

    def part(self, name: str) -> Part:
        """Return a part by its name."""
        return next(part for part in self.parts if part.name == name)


class KeyClasses:
    """The key classes of a module, each once. One that is a sort key somewhere is one everywhere."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._found: dict[tuple[Any, ...], tuple[str, KeyClass]] = {}
        self._sorts: set[tuple[Any, ...]] = set()

    def add(self, key: KeyClass, *, is_sort: bool) -> None:
        """Declare a key class."""
        if key.identity not in self._found:
            self._found[key.identity] = (self._names.take(key.wanted), key)
        if is_sort:
            self._sorts.add(key.identity)

    def name(self, key: KeyClass) -> str:
        """Return what a key class is called."""
        return self._found[key.identity][0]

    def named(self, name: str) -> KeyClass | None:
        """Find a key class by its name in the blueprint."""
        return next((key for _, key in self._found.values() if key.wanted == name), None)

    def lines(self, types: Types) -> Iterator[str]:
        """Return the class statements: partition keys, then sort keys."""
        for is_sort in (False, True):
            for identity, (name, key) in self._found.items():
                if (identity in self._sorts) is is_sort:
                    base = types.imports.use("SortKey" if is_sort else "Key")
                    yield from ("", "", *_class(name, base, key))


def _class(name: str, base: str, key: KeyClass) -> Iterator[str]:
    arguments = [base] if key.template is None else [base, f"template={quoted(key.template)}"]
    yield from call(f"class {name}", arguments, tail=":")
    yield from indented(
        [line for part in key.parts for line in (*part.notes, f"{part.name}: {part.annotation}")]
    )
    if not key.parts:
        yield "    pass"


# --- making them ----------------------------------------------------------------------------------------


def key_class(
    key: KeyBlueprint, sources: Mapping[str, Source], types: Types, *, is_sort: bool, of: str
) -> KeyClass:
    """Return the key class of a key. `sources` are the fields of its entity, by all their names."""
    wanted = camel(key.name, "Key") if key.name else _named(key, of, is_sort=is_sort)
    if key.template is None:
        own = tuple(_part(each, "", sources, types, is_attribute=True) for each in key.parts)
        if not own:
            raise UnfitError("the key has neither a template nor fields")
        _check_parts(own)
        return KeyClass(wanted, None, (), own)
    tokens = tokens_of(key.template)
    known = {part.name: part for part in key.parts}
    shown: dict[str, Part] = {}
    for token in tokens:
        if not isinstance(token, str):
            name, spec = token
            if name in shown:
                raise UnfitError(f"the template {key.template} has {name} twice")
            part = known.get(name) or KeyPart(name, "", name)
            shown[name] = _part(part, spec, sources, types)
    hidden = {
        part.name: _part(part, "", sources, types)
        for part in key.parts
        if part.name not in shown and _is_nothing(part)
    }
    stored = tuple(token if isinstance(token, str) else (shown[token[0]].name, token[1]) for token in tokens)
    if not stored:
        raise UnfitError("the template is empty")
    _check_parts((*shown.values(), *hidden.values()))
    parts = [shown[token[0]] for token in tokens if not isinstance(token, str)]
    parts = _checked_literals(parts, stored, types)
    _check_borders(stored, parts, key.template)
    order = [part.name for part in key.parts]
    whole, written = _with_hidden(stored, parts, list(hidden.values()), order)
    return KeyClass(wanted, written, stored, tuple(whole))


def _named(key: KeyBlueprint, of: str, *, is_sort: bool) -> str:
    """Return a name for a key that has none: by the words of its template, or by its entity."""
    words = "".join(re.findall(r"\w+", re.sub(r"\{[^{}]*\}", "#", key.template or "")))
    return camel(words or of, "Some") + ("SK" if is_sort else "PK")


def _is_nothing(part: KeyPart) -> bool:
    return part.shards == 1 or part.bucket == "never" or part.letters == 0


def _check_parts(parts: Iterable[Part]) -> None:
    seen: set[str] = set()
    for part in parts:
        if part.name in seen:
            raise UnfitError(f"two parts of the key are called {part.name}")
        seen.add(part.name)


def _part(
    part: KeyPart, spec: str, sources: Mapping[str, Source], types: Types, *, is_attribute: bool = False
) -> Part:
    source = sources.get(part.field) or sources.get(part.name)
    if source is None:
        raise UnfitError(f"it names {part.field or part.name}, which is no attribute of it")
    if part.shards is not None or part.bucket is not None or part.letters is not None:
        if is_attribute:
            raise UnfitError(f"{part.name} is worked out, and without a template it would be an attribute")
        return _computed(part, spec, source, types)
    if source.name in OF_KEYS or source.name.startswith("_"):
        raise UnfitError(f"a part of a key cannot be called {source.name}")
    typed = source.typed
    if part.type:
        asked = types.of(part.type, part.alias)
        if asked.is_of_keys and asked.scalar == typed.scalar and asked.alias in (None, typed.alias):
            typed = asked if asked.alias or not typed.alias else typed
    if not typed.is_of_keys:
        raise UnfitError(f"{source.name} is {typed.text}, and no part of a key can be")
    markers, flags = _markers(part.markers, typed, types)
    is_fixed = _check_format(source.name, typed, spec, flags, is_attribute=is_attribute)
    annotation = _annotated(typed.text, markers, types)
    return Part(
        source.name,
        source.name,
        typed,
        annotation,
        is_fixed=is_fixed,
        is_verbatim="Verbatim" in flags,
        is_changed=bool({"Pad", "Normalize"} & flags.keys()),
        label=part.name,
        notes=_notes(part.name, flags),
    )


def _computed(part: KeyPart, spec: str, source: Source, types: Types) -> Part:
    use = types.imports.use
    name = identifier(part.name, "part")
    if name in OF_KEYS:
        name = f"{name}_part"
    field = quoted(source.name)
    if part.shards is not None:
        width = _ZEROS.fullmatch(spec)
        if not 1 <= part.shards <= _SHARDS_MAX:
            raise UnfitError(f"{part.name} has {part.shards} shards, and 1 to {_SHARDS_MAX:,} are possible")
        if spec and (width is None or len(str(part.shards - 1)) > int(width[1])):
            raise UnfitError(f"the shards of {part.name} have no format {spec}")
        marker = f"{use('ShardOf')}({part.shards}, by={field})"
        is_fixed = part.shards <= 10 or bool(spec)
        typed, kind, nothing = Typed("int", "int", int), "shard", "0" if part.shards == 1 else None
        return Part(
            name,
            source.name,
            typed,
            _annotated("int", [marker], types),
            kind,
            nothing,
            is_fixed,
            label=part.name,
        )
    if spec:
        raise UnfitError(f"{part.name} has no format {spec}")
    typed = Typed("str", "str", str)
    if part.bucket is not None:
        if part.bucket not in _BUCKETS:
            raise UnfitError(
                f"{part.name} is a bucket by {part.bucket}, and {', '.join(_BUCKETS)} are possible"
            )
        if source.typed.scalar not in ("datetime", "date"):
            raise UnfitError(f"{part.name} is the {part.bucket} of {source.name}, which is no time")
        marker = f"{use('BucketOf')}({field}, {quoted(part.bucket)})"
        nothing = '""' if part.bucket == "never" else None
        annotation = _annotated("str", [marker], types)
        return Part(name, source.name, typed, annotation, "bucket", nothing, True, label=part.name)
    letters = part.letters or 0
    if not 0 <= letters <= _LETTERS_MAX or source.typed.scalar != "str":
        raise UnfitError(f"{part.name} is the first {letters} letters of {source.name}, and that cannot be")
    markers, flags = _markers(part.markers, typed, types)
    told = f"{use('InitialOf')}({field}, letters={letters})" if letters else f"{use('InitialOf')}({field})"
    return Part(
        name,
        source.name,
        typed,
        _annotated("str", [*markers, told], types),
        "initial",
        None if letters else '""',
        letters == 1,
        "Verbatim" in flags,
        label=part.name,
        notes=_notes(part.name, flags),
    )


def _notes(name: str, flags: Mapping[str, Any]) -> tuple[str, ...]:
    left_out = ", ".join(flags.get("left out", ()))
    return tuple(opened(f"{name} has {left_out}, and a blueprint holds no code")) if left_out else ()


def _annotated(text: str, markers: Iterable[str], types: Types) -> str:
    found = list(markers)
    return f"{types.imports.use('Annotated')}[{', '.join([text, *found])}]" if found else text


def _markers(
    markers: Iterable[Mapping[str, Any]], typed: Typed, types: Types
) -> tuple[list[str], dict[str, Any]]:
    """Return the markers of a part as expressions, and what they say."""
    use = types.imports.use
    found: list[str] = []
    flags: dict[str, Any] = {}
    constraints = constraints_of(markers, typed)
    for marker in markers:
        kind = marker.get("kind")
        if kind == "Pad" and typed.base in ("int", "float", "Decimal") and "Pad" not in flags:
            width, decimals, offset = (_whole(marker.get(name)) for name in ("width", "decimals", "offset"))
            more = [
                f"{name}={value}" for name, value in (("decimals", decimals), ("offset", offset)) if value
            ]
            found.append(f"{use('Pad')}({', '.join([str(width), *more])})")
            flags["Pad"] = (width, decimals)
        elif kind == "Verbatim" and typed.scalar in ("str", "int"):
            found.append(f"{use('Verbatim')}()")
            flags["Verbatim"] = True
        elif kind == "Normalize" and typed.base == "str" and marker.get("function") in _FUNCTIONS:
            found.append(f"{use('Normalize')}(str.{marker['function']})")
            flags["Normalize"] = True
        elif kind not in CONSTRAINTS:
            values = ", ".join(f"{name}={value}" for name, value in marker.items() if name != "kind")
            flags["left out"] = (*flags.get("left out", ()), f"{kind}({values})")
    if constraints:
        found.append(field_call(constraints, types))
    return found, flags


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _check_format(
    name: str, typed: Typed, spec: str, flags: Mapping[str, Any], *, is_attribute: bool
) -> bool:
    """Refuse a format that a type does not have; tell whether all texts are of one width."""
    if is_attribute:
        if flags.keys() & {"Pad", "Normalize"}:
            raise UnfitError(f"{name} is an attribute by itself, which is stored as it is")
        return False
    if "Pad" in flags:
        width, decimals = flags["Pad"]
        if spec or not _holds(width, decimals) or (typed.base == "int" and decimals):
            raise UnfitError(f"{name} cannot be padded to {width} characters with {decimals} decimals")
        return True
    if typed.base in ("float", "Decimal"):
        found = _DECIMALS.fullmatch(spec)
        if found is None:
            raise UnfitError(
                f"{name} is {typed.base}, and the template does not say how many decimals it has"
            )
        if found[1] and not _holds(int(found[1]), int(found[2])):
            raise UnfitError(f"{name} has the format {spec}, which holds no number")
        return found[1] is not None
    if typed.scalar == "int":
        if spec and (_ZEROS.fullmatch(spec) is None or not _holds(int(spec.strip("d")), 0)):
            raise UnfitError(f"{name} is int, which has no format {spec}")
        if spec and any(not 0 <= value < 10 ** int(spec.strip("d")) for value in typed.values):
            raise UnfitError(f"{name} has values that do not fit the format {spec}")
        return bool(spec)
    if spec:
        raise UnfitError(f"{name} is {typed.text}, which has no format {spec}")
    return typed.base in ("datetime", "date", "UUID")


def _holds(width: int, decimals: int) -> bool:
    digits = width - (1 if decimals else 0)
    return decimals >= 0 and decimals < digits <= _DIGITS_MAX


def _checked_literals(parts: list[Part], tokens: tuple[Token, ...], types: Types) -> list[Part]:
    """Let a part be any text where its values hold the separators of the template."""
    separators = "".join(
        text
        for at, token in enumerate(tokens)
        if isinstance(token, str)
        for text in _edges(token, is_first=at == 0, is_last=at == len(tokens) - 1)
    )
    checked: list[Part] = []
    for part in parts:
        texts = [str(value) for value in part.typed.values]
        is_odd = len(set(texts)) < len(texts) or any(not _is_key_text(text) for text in texts)
        if is_odd or (not part.is_verbatim and any(each in text for text in texts for each in separators)):
            if part.typed.scalar != "str" or part.typed.base == "Enum":
                raise UnfitError(f"the values of {part.name} cannot stand in this key")
            part = replace(part, typed=Typed("str", "str", str), annotation="str", is_fixed=False)
        if part.typed.base in ("float", "Decimal") and "." in separators and not part.is_fixed:
            raise UnfitError(f"the decimal point of {part.name} is a separator of the template too")
        checked.append(part)
    return checked


def _is_key_text(text: str) -> bool:
    return bool(text) and not re.search("[\ud800-\udfff\U0010ffff]", text)


def _edges(text: str, *, is_first: bool, is_last: bool) -> Iterator[str]:
    if not is_first:
        yield re.search(r"\A[\W_]*", text)[0]  # type: ignore[index]
    if not is_last:
        yield re.search(r"[\W_]*\Z", text)[0]  # type: ignore[index]


def _check_borders(tokens: tuple[Token, ...], parts: list[Part], template: str) -> None:
    """Refuse a template that does not tell where one value ends and the next begins."""
    by_name = {part.name: part for part in parts}
    slots = [at for at, token in enumerate(tokens) if not isinstance(token, str)]

    def is_clear(at: int, step: int) -> bool:
        part = by_name[tokens[at][0]]
        beside = tokens[at + step] if 0 <= at + step < len(tokens) else None
        if part.is_fixed or beside is None:
            return True
        return isinstance(beside, str) and not part.may_hold(beside[0] if step > 0 else beside[-1])

    left = next((number for number, at in enumerate(slots) if not is_clear(at, 1)), None)
    right = next((number for number, at in reversed([*enumerate(slots)]) if not is_clear(at, -1)), None)
    if left is not None and right is not None and left < right:
        raise UnfitError(f"the template {template} does not tell where one value ends and the next begins")


def _with_hidden(
    tokens: tuple[Token, ...], parts: list[Part], hidden: list[Part], order: list[str]
) -> tuple[list[Part], str]:
    """Return the parts with those that render as nothing, and the template with placeholders for them.

    Each stands behind the part before it, with a separator, which goes with it; before all, at the beginning.
    """
    written = "".join(
        braced(token) if isinstance(token, str) else f"{{{token[0]}{':' if token[1] else ''}{token[1]}}}"
        for token in tokens
    )
    whole = list(parts)
    for part in hidden:
        before = [each for each in whole if each.label in order[: order.index(part.label)]]
        if before or not whole or not isinstance(tokens[0], str):
            last = before[-1].name if before else None
            spot = _behind(written, last)
            whole.insert(whole.index(before[-1]) + 1 if before else 0, part)
            written = written[:spot] + (f"#{{{part.name}}}" if spot else f"{{{part.name}}}#") + written[spot:]
        else:
            text = re.search(r"[\W_]*\Z", braced(tokens[0]))
            spot = len(braced(tokens[0])) - (len(text[0]) if text else 0)
            whole.insert(0, part)
            written = written[:spot] + f"#{{{part.name}}}" + written[spot:]
    return whole, written


def _behind(written: str, name: str | None) -> int:
    """Return the offset behind a placeholder; without one, the end of a text alone, or the beginning."""
    if name is None:
        return len(written) if not re.search(r"(?<!\{)\{\w", written) else 0
    found = re.search(rf"(?<!\{{)\{{{re.escape(name)}(?::[^{{}}]*)?\}}", written)
    assert found is not None
    return found.end()


# --- constraints ----------------------------------------------------------------------------------------

CONSTRAINTS: Final = {
    "Ge": ("ge", "ge"),
    "Gt": ("gt", "gt"),
    "Le": ("le", "le"),
    "Lt": ("lt", "lt"),
    "MultipleOf": ("multiple_of", "multiple_of"),
    "MinLen": ("min_length", "min_length"),
    "MaxLen": ("max_length", "max_length"),
    "pattern": ("value", "pattern"),
}


def constraints_of(markers: Iterable[Mapping[str, Any]], typed: Typed) -> dict[str, Any]:
    """Return Pydantic's constraints among markers, as far as a type can have them."""
    found: dict[str, Any] = {}
    for marker in markers:
        names = CONSTRAINTS.get(str(marker.get("kind")))
        if names is not None and names[1] not in found:
            add_constraint(found, names[1], marker.get(names[0]), typed)
    return found


def add_constraint(found: dict[str, Any], name: str, value: Any, typed: Typed) -> bool:
    """Add a constraint, if a type can have it; tell whether."""
    if name == "pattern":
        is_fit = isinstance(value, str) and typed.base == "str"
    elif name in ("min_length", "max_length"):
        is_sized = typed.base in ("str", "bytes", "list", "set", "frozenset", "dict")
        is_fit = is_sized and type(value) is int and 0 <= value < 2**31
    else:
        is_fit = type(value) in (int, float) and typed.base in ("int", "float", "Decimal")
        is_fit = is_fit and abs(value) < 1e15 and (typed.base != "int" or float(value).is_integer())
        is_fit = is_fit and (name != "multiple_of" or value > 0)
    if is_fit and can_have(typed, {**found, name: value}):
        found[name] = value
        return True
    return False


def field_call(constraints: Mapping[str, Any], types: Types) -> str:
    """Return constraints as a call of Pydantic's Field."""
    said = ", ".join(
        f"{name}={quoted(value) if isinstance(value, str) else repr(value)}"
        for name, value in constraints.items()
    )
    return f"{types.imports.use('Field')}({said})"
