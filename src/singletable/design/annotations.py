"""What annotations say: their types as text, and values as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

# --- types as text --------------------------------------------------------------------------------------


def type_text(annotation: Any) -> str:
    """Write a type as it is underneath: a NewType of str is str, an optional one what it is when it is there."""
    annotation = _bare(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in arguments)
    if origin in (Union, UnionType):
        return " | ".join(type_text(each) for each in not_none(arguments))
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
        names = {alias_of(each) for each in not_none(get_args(annotation))}
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


def models_in(annotation: Any) -> Iterator[type[BaseModel] | type[Enum]]:
    """Return the models and enums that values of a type are, or hold."""
    if type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, of Python 3.12
        annotation = annotation.__value__
    if hasattr(annotation, "__supertype__"):
        annotation = annotation.__supertype__
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | Enum):
        yield annotation
    if get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from models_in(argument)


def not_none(arguments: Iterable[Any]) -> list[Any]:
    """Return the members of a union, without None."""
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
        case re.Pattern():
            return value.pattern
        case partial():
            return plain_value(value.func)
        case type() | FunctionType() | BuiltinFunctionType() | MethodDescriptorType():
            return value.__name__  # not where in memory it is
        case _:
            return type(value).__name__ if callable(value) else str(value)
