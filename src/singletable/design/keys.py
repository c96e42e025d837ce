"""Keys as small typed classes, with the template of the design document.

    class UserPK(Key, template="USER#{user_id}"):
        user_id: UserId

`UserPK(user_id=...)` checks its values and writes the text of the key. A key class without a template is one of
several attributes, or of one that is a field by itself: each field of it is one attribute.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, dataclass_transform, get_type_hints

from singletable.design.key_parts import Part, attribute_of, part_of
from singletable.design.templates import Placeholder, Template, split_template
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


def _declared(cls: type[Key], local: Mapping[str, Any]) -> dict[str, Any]:
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


def _is_class_var(hint: Any) -> bool:
    return hint is ClassVar or getattr(hint, "__origin__", None) is ClassVar


def _attributes(cls: type[Key], declared: Mapping[str, Any]) -> tuple[Part, ...]:
    return tuple(attribute_of(name, hint, where=f"{cls.__name__}.{name}") for name, hint in declared.items())


def _compile(cls: type[Key], template: str, declared: Mapping[str, Any]) -> tuple[tuple[Part, ...], Template]:
    pieces = split_template(template, cls.__name__)
    placeholders = [piece for piece in pieces if isinstance(piece, Placeholder)]
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
    names = [part.name for part in cls.parts]
    scope: dict[str, Any] = {
        "_refused": lambda values, error: _refused(cls, values, error, checks=checks),
        "_unknown": lambda given: _refuse_unknown(cls, given),
        "_check_bytes": lambda text: _check_bytes(cls, text),
        "_write": cls.compiled.render_normalized if cls.compiled else None,
    }
    arguments = ["self", "*"] if names else ["self"]
    for number, part in enumerate(cls.parts):
        scope[f"_normalize{number}"] = part.codec.normalize
        scope[f"_check{number}"] = part.check
        scope[f"_default{number}"] = getattr(cls, part.name, None)
        arguments.append(f"{part.name}=_default{number}")
    checked = [number for number, part in enumerate(cls.parts) if checks and part.check]
    given = f"({''.join(f'{name}, ' for name in names)})"
    values = f"({''.join(f'_value{number}, ' for number in range(len(names)))})"
    lines = [
        f"def __init__({', '.join(arguments)}, **_given):",
        "    if _given:",
        "        _unknown(_given)",
        "    fields = self.__dict__",
        "    try:",
        *[f"        fields[{name!r}] = _value{n} = _normalize{n}({name})" for n, name in enumerate(names)],
        *[f"        _check{n}({names[n]}, _value{n})" for n in checked],
        f"        fields['_text'] = _text = {f'_write({values})' if cls.compiled else None}",
        "    except ValueError as error:",
        f"        raise _refused({given}, error) from None",
    ]
    if cls.compiled:
        # No character takes more than 4 bytes: the length is all that most keys are asked for.
        lines += [f"    if len(_text) > {cls._bytes_max // 4}:", "        _check_bytes(_text)"]
    exec("\n".join(lines), scope)  # the names are those of annotations, so they are identifiers
    function: Callable[..., None] = scope["__init__"]
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    return function


def _without_checks(cls: type[Key]) -> Callable[..., Any]:
    """Return what builds a key of values that are stored, whatever the constraints of the fields say now."""
    if not has_constraints(cls):
        return cls
    fill = _constructor(cls, checks=False)

    def build(**values: Any) -> Key:
        key = cls.__new__(cls)
        fill(key, **values)
        return key

    return build


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


def _refused(cls: type[Key], values: tuple[Any, ...], error: ValueError, *, checks: bool) -> Exception:
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


def _normalized(cls: type[Key], part: Part, value: Any, *, checks: bool = True) -> Any:
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
    compiled: ClassVar[Template | None] = None
    # AWS developer guide, "Quotas", "Partition keys and sort keys"; those of indexes too.
    _bytes_max: ClassVar[int] = PARTITION_KEY_BYTES_MAX
    _without_checks: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, *, template: str | None = None) -> None:
        super().__init_subclass__()
        # A class in a function may name types of that function.
        declared = _declared(cls, sys._getframe(1).f_locals)
        cls.template = template
        if template is None:
            cls.parts = _attributes(cls, declared)
        else:
            cls.parts, cls.compiled = _compile(cls, template, declared)
        cls.__init__ = _constructor(cls, checks=True)  # type: ignore[method-assign]
        cls._without_checks = _without_checks(cls)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
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
        """Read a stored key back. Constraints of its fields are not asked: it may be older than they are."""
        if cls.compiled is None:
            raise _no_text(cls)
        key: Self = cls._without_checks(**cls.compiled.parse(text))
        return key

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Build the key of an entity from its values; None if a part of it is missing.

        Constraints of the fields are not asked: an entity that was read may be older than they are.
        """
        parts = {}
        for part in cls.parts:
            value = part.of(values)
            if value is None:
                return None
            parts[part.name] = value
        key: Self = cls._without_checks(**parts)
        return key

    @classmethod
    def reads(cls) -> tuple[str, ...]:
        """Name the fields of an entity that the key is built from."""
        return tuple(part.reads for part in cls.parts)

    @classmethod
    def shown(cls) -> str:
        """Say what the key is: its name with its template, or with its attributes."""
        return f"{cls.__name__} ({cls.template or ', '.join(part.name for part in cls.parts) or 'no fields'})"


K = TypeVar("K", bound=Key)


def key_of_stored(of: type[K], values: Mapping[str, Any]) -> K:
    """Build a key of values that another one holds, or that are stored: their constraints are not asked."""
    key: K = of._without_checks(**values)
    return key


def values_for(entity: object, names: Iterable[str]) -> dict[str, Any]:
    """Return what keys are built from, of an entity: None for what it lacks. What was not read is refused."""
    values: dict[str, Any] = {}
    for name in names:
        try:
            values[name] = getattr(entity, name)
        except NotProjectedError:
            raise
        except AttributeError:
            values[name] = None
    return values


def has_constraints(key: type[Key]) -> bool:
    """Tell whether a field of a key has constraints, or refuses what is too short to look for."""
    return any(part.check is not None for part in key.parts)


def check_values(key: type[Key], values: Mapping[str, Any]) -> None:
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
        """Return the beginning that all keys share whose last given value, a text, begins so.

        `NameSK.starting(name="tom")` is for what is typed ahead: `NAME#tom`.
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


def prefix_of_stored(of: type[SK], leading: Mapping[str, Any]) -> Prefix[SK]:
    """Return the beginning of keys with leading values that are stored: their constraints are not asked."""
    return _prefix(of, _leading(of, leading, checks=False))


def _prefix(cls: type[SK], values: dict[str, Any]) -> Prefix[SK]:
    return Prefix(cls, values, cls.compiled.prefix(values) if cls.compiled else "")


def _leading(cls: type[SortKey], given: Mapping[str, Any], *, checks: bool = True) -> dict[str, Any]:
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
