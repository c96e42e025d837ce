"""What annotations say: their types as text, and values of them to call a pattern with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ValidationError

from singletable.design.key_parts import Part, bucket_of
from singletable.design.keys import Key
from singletable.design.markers import BucketOf, ShardOf

_TIME: Final = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
_COLLECTIONS: Final = (list, set, frozenset, Sequence, Iterable)


class NoSampleError(TypeError):
    """A type of which no value can be made up."""


def sample(annotation: Any, name: str, variant: int) -> Any:
    """Make a value of a type; that of another variant differs, where the type has several values."""
    annotation = _bare(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[variant % len(arguments)]
    if origin in (Union, UnionType):
        return sample(_not_none(arguments)[0], name, variant)
    if origin is tuple:
        return tuple(sample(each, name, variant) for each in arguments if each is not Ellipsis)
    if origin in _COLLECTIONS:
        members = [sample(arguments[0], name, variant)]
        return members if origin in (Sequence, Iterable) else origin(members)
    if isinstance(annotation, type):
        return _of_class(annotation, name, variant)
    raise NoSampleError(type_text(annotation))


def _of_class(kind: type[Any], name: str, variant: int) -> Any:
    if issubclass(kind, Key):
        return kind(**{part.name: _of_part(part, variant) for part in kind.parts})
    if issubclass(kind, Enum):
        members = list(kind)
        return members[variant % len(members)]
    if kind in _SAMPLES:
        return _SAMPLES[kind](name, variant)
    if issubclass(kind, BaseModel):
        return _of_model(kind, variant)
    raise NoSampleError(kind.__name__)


def _of_model(model: type[BaseModel], variant: int) -> BaseModel:
    required = {name: field for name, field in model.model_fields.items() if field.is_required()}
    values = {name: sample(field.annotation, name, variant) for name, field in required.items()}
    try:
        return model(**values)
    except ValidationError as error:
        raise NoSampleError(model.__name__) from error


def _of_part(part: Part, variant: int) -> Any:
    match part.source:
        case ShardOf(count=count):
            return variant % count
        case BucketOf(every=every):
            return bucket_of(_TIME.replace(year=_TIME.year + variant), every)
        case _:
            return sample(part.annotation, part.name, variant)


# Texts are letters and digits, because anything else may separate the parts of a key.
_SAMPLES: Final[dict[type[Any], Callable[[str, int], Any]]] = {
    str: lambda name, variant: f"{name.replace('_', '')}{variant + 1}",
    bool: lambda name, variant: bool(variant),
    int: lambda name, variant: variant + 1,
    float: lambda name, variant: variant + 1.0,
    Decimal: lambda name, variant: Decimal(variant + 1),
    bytes: lambda name, variant: bytes([variant + 1]),
    datetime: lambda name, variant: _TIME + timedelta(days=variant),
    date: lambda name, variant: (_TIME + timedelta(days=variant)).date(),
    timedelta: lambda name, variant: timedelta(days=variant + 1),
    UUID: lambda name, variant: UUID(int=variant + 1),
}


# --- types as text --------------------------------------------------------------------------------------


def type_text(annotation: Any) -> str:
    """Write a type as it is underneath: a NewType of str is str, an optional one what it is when it is there."""
    annotation = _bare(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in arguments)
    if origin in (Union, UnionType):
        return " | ".join(type_text(each) for each in _not_none(arguments))
    if origin is not None:
        name = getattr(origin, "__name__", str(origin))
        inner = ", ".join("..." if each is Ellipsis else type_text(each) for each in arguments)
        return f"{name}[{inner}]"
    return getattr(annotation, "__name__", str(annotation))


def alias_of(annotation: Any) -> str | None:
    """Return the name of a NewType, also of one that may be None."""
    if get_origin(annotation) is Annotated:
        return alias_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        names = {alias_of(each) for each in _not_none(get_args(annotation))}
        return names.pop() if len(names) == 1 else None
    return annotation.__name__ if hasattr(annotation, "__supertype__") else None


def is_optional(annotation: Any) -> bool:
    """Tell whether a type allows None."""
    if get_origin(annotation) is Annotated:
        return is_optional(get_args(annotation)[0])
    return get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation)


def _bare(annotation: Any) -> Any:
    """Take the markers and the name of a NewType off a type."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


def _not_none(arguments: Iterable[Any]) -> list[Any]:
    return [each for each in arguments if each is not NoneType]


# --- values as data -------------------------------------------------------------------------------------


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    match value:
        case Enum():  # also one of texts or numbers
            return plain_value(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {str(key): plain_value(member) for key, member in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain_value(member) for member in value]
        case type():
            return value.__name__
        case _:
            return str(value)
