"""Reads annotations: types as text, values as data, and times in their stored form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import core_schema

# --- what a type is underneath ---------------------------------------------------------------------------


def unwrap(annotation: Any) -> tuple[Any, list[Any]]:
    """Return the type itself, and the markers of every layer around it: Annotated, NewType, `type X = ...`."""
    markers: list[Any] = []
    while True:
        if get_origin(annotation) is Annotated:
            markers += annotation.__metadata__
            annotation = annotation.__origin__
        elif hasattr(annotation, "__supertype__"):  # a NewType
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":  # of Python 3.12
            annotation = annotation.__value__
        else:
            return annotation, markers


# --- types as text --------------------------------------------------------------------------------------


def type_text(annotation: object) -> str:
    """Return a type as text, without wrappers: a NewType of str is str, and an optional type is the type."""
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


def is_optional(annotation: object) -> bool:
    """Tell whether a type allows None."""
    if get_origin(annotation) is Annotated:
        return is_optional(get_args(annotation)[0])
    return get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation)


def _bare(annotation: object) -> object:
    """Take the markers and the name of a NewType off a type."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


def models_in(annotation: object) -> Iterator[type[BaseModel] | type[Enum]]:
    """Return the models and enums that values of a type are, or hold."""
    annotation, _ = unwrap(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | Enum):
        yield annotation
    if get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from models_in(argument)


def not_none(arguments: Iterable[object]) -> list[object]:
    """Return the members of a union, without None."""
    return [each for each in arguments if each is not NoneType]


# --- values as data -------------------------------------------------------------------------------------


def plain_value(value: object) -> Any:
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
            return value.__name__  # without its address in memory
        case _:
            return type(value).__name__ if callable(value) else str(value)


def with_exact_times(schema: object) -> Any:
    """Let every time in a schema have a zone, and be cut to milliseconds."""
    if isinstance(schema, dict):
        if schema.get("type") == "datetime":
            aware = {**schema, "tz_constraint": "aware"}
            return core_schema.no_info_after_validator_function(_cut_to_milliseconds, aware)
        return {name: with_exact_times(value) for name, value in schema.items()}
    if isinstance(schema, list):
        return [with_exact_times(value) for value in schema]
    if isinstance(schema, tuple):
        return tuple(with_exact_times(value) for value in schema)
    return schema


def _cut_to_milliseconds(value: datetime) -> datetime:
    surplus = value.microsecond % 1000
    return value.replace(microsecond=value.microsecond - surplus) if surplus else value
