"""Keys as small typed classes, with the template of the design document; their shards and time buckets."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, dataclass_transform, get_type_hints

from singletable.design.keys.parts import Part, attribute_of, bucket_of, part_of
from singletable.design.keys.template import Template, TemplateField, split_template
from singletable.design.values.markers import BucketOf, ShardOf
from singletable.errors import (
    DeclarationError,
    DesignError,
    KeyValueError,
    MissingKeyPartError,
    NotProjectedError,
    SeparatorError,
    UnknownFieldError,
)
from singletable.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX

# --- making a key class ---------------------------------------------------------------------------


def _declared(cls: type[Key], local: Mapping[str, object]) -> dict[str, object]:
    """Return the annotations of the fields, those of base classes first."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, Key) and base is not Key:
            names.update(dict.fromkeys(inspect.get_annotations(base)))
    if not names:
        return {}
    try:
        hints = get_type_hints(cls, localns=dict(local), include_extras=True)
    except NameError as error:
        raise DeclarationError(f"{cls.__name__}: {error}, so an annotation cannot be read") from error
    fields = [name for name in names if not name.startswith("_") and not _is_class_var(hints[name])]
    for name in fields:
        if hasattr(Key, name) or name in ("prefix", "starting"):
            raise DeclarationError(
                f"{cls.__name__}: a field cannot be called {name!r}, which every key has already"
            )
    return {name: hints[name] for name in fields}


def _is_class_var(hint: object) -> bool:
    return hint is ClassVar or getattr(hint, "__origin__", None) is ClassVar


def _attributes(cls: type[Key], declared: Mapping[str, object]) -> tuple[Part, ...]:
    return tuple(attribute_of(name, hint, where=f"{cls.__name__}.{name}") for name, hint in declared.items())


def _compile(
    cls: type[Key], template: str, declared: Mapping[str, object]
) -> tuple[tuple[Part, ...], Template]:
    pieces = split_template(template, cls.__name__)
    placeholders = [piece for piece in pieces if isinstance(piece, TemplateField)]
    for placeholder in placeholders:
        if placeholder.name not in declared:
            raise DeclarationError(
                f"{cls.__name__}: the template {template} names {placeholder.name!r}, which is not a field; "
                f"it has {', '.join(declared) or 'none'}",
                hint=f"declare it in the class: {placeholder.name}: str",
            )
    specs = {piece.name: piece.spec for piece in placeholders}
    parts = {
        name: part_of(name, hint, specs.get(name, ""), where=f"{cls.__name__}.{name} ({template})")
        for name, hint in declared.items()
    }
    compiled = Template.compile(template, {name: part.codec for name, part in parts.items()}, cls.__name__)
    restricted = compiled.codecs
    return tuple(replace(parts[name], codec=restricted[name]) for name in compiled.names), compiled


def _constructor(cls: type[Key], *, checks: bool) -> Callable[..., None]:
    """Write the constructor of a key class, once: it takes the fields by name and renders the text.

    With checks, it asks Pydantic's constraints too, of the fields that have some.
    """
    scope = _scope(cls, checks=checks)
    arguments = ["_self", "*"] if cls.parts else ["_self"]
    for number, part in enumerate(cls.parts):
        scope[f"_default{number}"] = getattr(cls, part.name, None)
        arguments.append(f"{part.name}=_default{number}")
    lines = [
        f"def __init__({', '.join(arguments)}, **_given):",
        "    if _given:",
        "        _unknown(_given)",
        *_fill(cls, checks=checks),
    ]
    function = _compiled_function("__init__", lines, scope)
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    return function


def _builder(cls: type[Key], *, is_text: bool) -> Callable[[Mapping[str, object]], Any]:
    """Write, once, the function that builds a key or only its text from values; None if a part is missing.

    It does not check the constraints of the fields: stored values may be older than the constraints.
    """
    scope = _scope(cls, checks=False) | {"_cls": cls, "_new": cls.__new__}
    lines = ["def build(_values):"]
    for number, part in enumerate(cls.parts):
        if part.source is None:
            lines.append(f"    {part.name} = _values.get({part.name!r})")
        else:
            scope[f"_of{number}"] = part.of
            lines.append(f"    {part.name} = _of{number}(_values)")
        lines += [f"    if {part.name} is None:", "        return None"]
    if is_text:
        lines += [*_fill(cls, checks=False, is_kept=False), "    return _text"]
    else:
        lines += ["    _self = _new(_cls)", *_fill(cls, checks=False), "    return _self"]
    return _compiled_function("build", lines, scope)


def _scope(cls: type[Key], *, checks: bool) -> dict[str, object]:
    scope: dict[str, object] = {
        "_refused": lambda values, error: _refused(cls, values, error, checks=checks),
        "_unknown": lambda given: _refuse_unknown(cls, given),
        "_check_bytes": lambda text: _check_bytes(cls, text),
        "_write": cls.compiled.render_normalized if cls.compiled else None,
        # Under names that no field has: a field may be called as a built-in is.
        "_len": len,
        "_ValueError": ValueError,
    }
    for number, part in enumerate(cls.parts):
        scope[f"_normalize{number}"] = part.codec.normalize
        scope[f"_check{number}"] = part.check
    return scope


def _fill(cls: type[Key], *, checks: bool, is_kept: bool = True) -> list[str]:
    """Write how a key gets its fields and its text from variables that are called as the fields are.

    All other variables begin with an underscore, as no field does. Values that are not kept serve only the text.
    """
    names = [part.name for part in cls.parts]
    checked = [number for number, part in enumerate(cls.parts) if checks and part.check]
    given = f"({''.join(f'{name}, ' for name in names)})"
    values = f"({''.join(f'_value{number}, ' for number in range(len(names)))})"
    kept = [f"_fields[{name!r}] = " if is_kept else "" for name in (*names, "_text")]
    lines = [
        *(["    _fields = _self.__dict__"] if is_kept else []),
        "    try:",
        *[f"        {kept[n]}_value{n} = _normalize{n}({name})" for n, name in enumerate(names)],
        *[f"        _check{n}({names[n]}, _value{n})" for n in checked],
        f"        {kept[-1]}_text = {f'_write({values})' if cls.compiled else None}",
        "    except _ValueError as _error:",
        f"        raise _refused({given}, _error) from None",
    ]
    if cls.compiled:
        # No character takes more than 4 bytes: the length is all that most keys are asked for.
        lines += [f"    if _len(_text) > {cls._bytes_max // 4}:", "        _check_bytes(_text)"]
    return lines


def _compiled_function(name: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    exec("\n".join(lines), scope)  # the names are those of annotations, so they are identifiers
    function: Callable[..., Any] = scope[name]
    return function


# --- refusals -------------------------------------------------------------------------------------


def _no_text(cls: type[Key]) -> KeyValueError:
    return KeyValueError(f"{cls.shown()} has no template: its fields are attributes of their own")


def _refuse_unknown(cls: type[Key], given: Iterable[str]) -> None:
    known = [part.name for part in cls.parts]
    for name in given:
        if name not in known:
            raise UnknownFieldError(
                f"{cls.shown()} has no field {name!r}", hint=f"it has {', '.join(known) or 'none'}"
            )


def _check_bytes(cls: type[Key], text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > cls._bytes_max:
        kind = "sort" if issubclass(cls, SortKey) else "partition"
        raise KeyValueError(
            f"{cls.shown()} comes to {size:,} bytes, and a {kind} key has {cls._bytes_max:,} at most",
            hint="keep a long value in a field of its own, and a hash of it in the key",
        )


def _refused(cls: type[Key], values: tuple[object, ...], error: ValueError, *, checks: bool) -> Exception:
    """Return the error of the first value that a key refuses, with the key and the template in its sentence."""
    missing = tuple(part.name for part, value in zip(cls.parts, values, strict=True) if value is None)
    if missing:
        return _missing(cls, missing)
    for part, value in zip(cls.parts, values, strict=True):
        try:
            _normalized(cls, part, value, checks=checks)
        except DesignError as explained:
            return explained
    return error  # of a function that a design normalizes with


def _normalized(cls: type[Key], part: Part, value: object, *, checks: bool = True) -> object:
    if value is None:
        raise _missing(cls, (part.name,))
    try:
        normal = part.codec.normalize(value)
        if checks and part.check is not None:
            part.check(value, normal)
        return normal
    except (KeyValueError, SeparatorError) as error:
        raise type(error)(
            f"{cls.__name__}.{part.name} ({cls.template or part.name}): {error.message}", hint=error.hint
        ) from None


def _missing(cls: type[Key], missing: tuple[str, ...]) -> MissingKeyPartError:
    return MissingKeyPartError(
        f"{cls.shown()} cannot be built without {', '.join(missing)}",
        missing=missing,
        hint=f"{cls.__name__}({', '.join(f'{part.name}=...' for part in cls.parts)})",
    )


# --- key classes ----------------------------------------------------------------------------------


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Key:
    """A partition key. Subclass it with the template of the design document, and a field for each placeholder."""

    template: ClassVar[str | None] = None
    parts: ClassVar[tuple[Part, ...]] = ()
    _reads: ClassVar[tuple[str, ...]] = ()
    compiled: ClassVar[Template | None] = None
    # AWS developer guide, "Quotas", "Partition keys and sort keys"; those of indexes too.
    _bytes_max: ClassVar[int] = PARTITION_KEY_BYTES_MAX
    _build: ClassVar[Callable[[Mapping[str, object]], Any]]
    _text_of: ClassVar[Callable[[Mapping[str, object]], str | None]]
    _init_unchecked: ClassVar[Callable[..., None]]

    def __init_subclass__(cls, *, template: str | None = None) -> None:
        super().__init_subclass__()
        # A class in a function may name types of that function.
        declared = _declared(cls, sys._getframe(1).f_locals)
        cls.template = template
        if template is None:
            cls.parts = _attributes(cls, declared)
        else:
            cls.parts, cls.compiled = _compile(cls, template, declared)
        cls._reads = tuple(part.reads for part in cls.parts)
        cls.__init__ = _constructor(cls, checks=True)  # type: ignore[method-assign]
        cls._init_unchecked = _constructor(cls, checks=False) if has_constraints(cls) else cls.__init__
        cls._build = _builder(cls, is_text=False)
        cls._text_of = _builder(cls, is_text=True)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{part.name}={getattr(self, part.name)!r}" for part in self.parts)
        return f"{type(self).__name__}({fields})"

    def values(self) -> tuple[Any, ...]:
        """Return the values of the fields, in the order of the template."""
        return tuple([self.__dict__[part.name] for part in self.parts])

    def render(self) -> str:
        """Return the text of the key, as it is stored."""
        text: str | None = self.__dict__["_text"]
        if text is None:
            raise _no_text(type(self))
        return text

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a stored key. Constraints of its fields are not checked: the key may be older than they are."""
        if cls.compiled is None:
            raise _no_text(cls)
        return key_of_stored(cls, cls.compiled.parse(text))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Build the key of an entity from its values; None if a part of it is missing.

        Constraints of the fields are not checked: an entity that was read may be older than they are.
        """
        key: Self | None = cls._build(values)
        return key

    @classmethod
    def reads(cls) -> tuple[str, ...]:
        """Name the fields of an entity that the key is built from."""
        return cls._reads

    @classmethod
    def shown(cls) -> str:
        """Say what the key is: its name with its template, or with its attributes."""
        return f"{cls.__name__} ({cls.template or ', '.join(part.name for part in cls.parts) or 'no fields'})"


K = TypeVar("K", bound=Key)


def key_of_stored(of: type[K], values: Mapping[str, object]) -> K:
    """Build a key from stored values, or from those of another key. Constraints are not checked."""
    key = of.__new__(of)
    of._init_unchecked(key, **values)
    return key


def text_of_values(of: type[Key], values: Mapping[str, object]) -> str | None:
    """Return the text of an entity's key, as it is stored, without building the key; None if a part is missing."""
    return of._text_of(values)


def values_for(entity: object, names: Iterable[str]) -> dict[str, object]:
    """Return the values from which an entity's keys are built; None for missing ones. Refuse unread fields."""
    values: dict[str, object] = {}
    for name in names:
        try:
            values[name] = getattr(entity, name)
        except NotProjectedError:
            raise
        except AttributeError:
            values[name] = None
    return values


def has_constraints(key: type[Key]) -> bool:
    """Tell whether a field of a key has constraints, or refuses texts that are too short for a query."""
    return any(part.check is not None for part in key.parts)


def check_values(key: type[Key], values: Mapping[str, object]) -> None:
    """Refuse values of an entity, some or all, that the constraints of a key's fields do not allow."""
    for part in key.parts:
        if part.source is None and part.check is not None and (value := values.get(part.name)) is not None:
            _normalized(key, part, value)


class SortKey(Key):
    """A sort key, declared like a partition key."""

    _bytes_max: ClassVar[int] = SORT_KEY_BYTES_MAX

    @classmethod
    def prefix(cls, **leading: Any) -> Prefix[Self]:
        """Return the beginning that all keys with these leading values share."""
        return _prefix(cls, _leading(cls, leading))

    @classmethod
    def starting(cls, **leading: Any) -> Prefix[Self]:
        """Return the common prefix of all keys whose last given value, a text, begins with this one.

        `NameSK.starting(name="tom")` is for type-ahead search: `NAME#tom`.
        """
        if cls.compiled is None:
            raise _no_text(cls)
        if not leading:
            return cls.prefix()
        _refuse_unknown(cls, leading)
        *whole, last = [part.name for part in cls.parts if part.name in leading]
        if cls.compiled.codecs[last].is_omitted:
            return cls.prefix(**leading)
        values = _leading(cls, {name: leading[name] for name in whole})
        return Prefix(cls, values, cls.compiled.prefix(values, starting=leading[last]))


class NoSortKey(SortKey):
    """Stands for the sort key of a table or index that has none."""


SK_co = TypeVar("SK_co", bound=SortKey, covariant=True)


@dataclass(frozen=True, slots=True)
class Prefix(Generic[SK_co]):
    """The beginning of a sort key: the values of its leading fields, and their text."""

    of: type[SK_co]
    values: Mapping[str, Any]
    text: str


SK = TypeVar("SK", bound=SortKey)


def prefix_of_stored(of: type[SK], leading: Mapping[str, object]) -> Prefix[SK]:
    """Return the prefix of keys with these stored leading values. Constraints are not checked."""
    return _prefix(of, _leading(of, leading, checks=False))


def _prefix(cls: type[SK], values: dict[str, object]) -> Prefix[SK]:
    return Prefix(cls, values, cls.compiled.prefix(values) if cls.compiled else "")


def _leading(cls: type[SortKey], given: Mapping[str, object], *, checks: bool = True) -> dict[str, object]:
    """Return leading values, normalized and in the order of the fields; refuse a gap between them."""
    _refuse_unknown(cls, given)
    names = [part.name for part in cls.parts]
    leading = names[: len(given)]
    gap = next((name for name in leading if name not in given), None)
    if gap is not None:
        raise MissingKeyPartError(
            f"a prefix of {cls.shown()} takes its leading fields, and {gap} is not given", missing=(gap,)
        )
    return {
        part.name: _normalized(cls, part, given[part.name], checks=checks) for part in cls.parts[: len(given)]
    }


def shards(of: type[Key] | int) -> range:
    """Return the numbers of the shards of a key class."""
    if isinstance(of, int):
        return range(of)
    for part in of.parts:
        if isinstance(part.source, ShardOf):
            return range(part.source.count)
    raise DeclarationError(
        f"{of.__name__} ({of.template}) has no shards", hint="Annotated[int, ShardOf(4, by=...)]"
    )


def buckets(of: type[Key], *, newest: datetime, oldest: datetime) -> Iterator[str]:
    """Return the names of the buckets of a key class, newest first; "" where all times are one."""
    every = next((part.source.every for part in of.parts if isinstance(part.source, BucketOf)), None)
    if every is None:
        raise DeclarationError(
            f"{of.__name__} ({of.template}) has no time buckets",
            hint='Annotated[str, BucketOf("created_at", "month")]',
        )
    last = bucket_of(oldest, every)
    day = newest.astimezone(UTC).date()
    while True:
        name = bucket_of(day, every)
        if name < last:
            return
        yield name
        if name == last:
            return
        day = _before(day, every)


def _before(day: date, every: str) -> date:
    """Return a day of the bucket before."""
    match every:
        case "year":
            return date(day.year, 1, 1) - timedelta(days=1)
        case "month":
            return date(day.year, day.month, 1) - timedelta(days=1)
        case "week":
            return day - timedelta(days=7)
        case _:
            return day - timedelta(days=1)
