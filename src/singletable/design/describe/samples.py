"""Sample values for types, to call a pattern without data.

If an annotation has constraints, `Annotated[int, Field(ge=2000)]`, the values meet them: a pattern may refuse
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import islice
from string import ascii_lowercase
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from singletable.design.keys.key import Key
from singletable.design.keys.parts import Part, bucket_of
from singletable.design.values.annotations import not_none, type_text
from singletable.design.values.constraints import (
    DEFAULTS,
    SAMPLE_TIME,
    SizeLimits,
    candidates,
    constraints_text,
)
from singletable.design.values.markers import BucketOf, InitialOf, ShardOf

_COLLECTIONS: Final = (list, set, frozenset, Sequence, Iterable)
_MAPPINGS: Final = (dict, Mapping)


class NoSampleError(TypeError):
    """A type has no sample value."""


def sample(annotation: object, name: str, variant: int) -> Any:
    """Make a sample value of a type. Another variant gives another value, if the type has several."""
    annotation, constraints = _taken_apart(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[variant % len(arguments)]
    if origin in (Union, UnionType):
        return sample(_constrained(not_none(arguments)[0], constraints), name, variant)
    if origin is tuple and Ellipsis not in arguments:
        return tuple(sample(each, name, variant) for each in arguments)
    variants = range(variant, variant + SizeLimits.of(constraints).count_min)
    if origin is tuple or origin in _COLLECTIONS:
        members = [sample(arguments[0], name, each) for each in variants]
        return members if origin in (Sequence, Iterable) else origin(members)
    if origin in _MAPPINGS:
        key, value = arguments
        return {sample(key, name, each): sample(value, name, each) for each in variants}
    if annotation is Any:
        return DEFAULTS[str](name, variant)
    if isinstance(annotation, type):
        return _of_class(annotation, constraints, name, variant)
    raise NoSampleError(type_text(annotation))


def _taken_apart(annotation: object) -> tuple[Any, tuple[Any, ...]]:
    """Split an annotation into the plain type and its markers."""
    constraints: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *said = get_args(annotation)
            constraints = (*said, *constraints)
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation, constraints


def _constrained(annotation: object, constraints: Iterable[Any]) -> Any:
    return Annotated[(annotation, *constraints)] if constraints else annotation


def _of_class(kind: type[Any], constraints: tuple[Any, ...], name: str, variant: int) -> Any:
    if issubclass(kind, Key):
        return kind(**{part.name: _of_part(part, variant) for part in kind.parts})
    if issubclass(kind, Enum):
        members = list(kind)
        return members[variant % len(members)]
    if kind in DEFAULTS:
        return _of_scalar(kind, constraints, name, variant)
    if issubclass(kind, BaseModel):
        return _of_model(kind, variant)
    raise NoSampleError(kind.__name__)


def _of_scalar(kind: type[Any], constraints: tuple[Any, ...], name: str, variant: int) -> Any:
    if not constraints:
        return DEFAULTS[kind](name, variant)
    adapter = TypeAdapter(_constrained(kind, constraints))
    taken = (each for each in candidates(kind, name, SizeLimits.of(constraints)) if _takes(adapter, each))
    found = list(islice(taken, variant + 1))
    if not found:
        raise NoSampleError(f"{kind.__name__} with {constraints_text(constraints)}")
    return found[-1]


def _takes(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def _of_model(model: type[BaseModel], variant: int) -> BaseModel:
    required = {name: field for name, field in model.model_fields.items() if field.is_required()}
    values = {
        name: sample(_constrained(field.annotation, field.metadata), name, variant)
        for name, field in required.items()
    }
    try:
        return model(**values)
    except ValidationError as error:
        raise NoSampleError(model.__name__) from error


def _of_part(part: Part, variant: int) -> Any:
    match part.source:
        case ShardOf(count=count):
            return variant % count
        case BucketOf(every=every):
            return bucket_of(SAMPLE_TIME.replace(year=SAMPLE_TIME.year + variant), every)
        case InitialOf(letters=letters):
            return "".join(ascii_lowercase[(variant + place) % 26] for place in range(letters))
        case _:
            return sample(part.annotation, part.name, variant)
