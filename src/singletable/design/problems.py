"""What is wrong with a value, in words: Pydantic's, but for regular expressions, which say little to who gave it.

A type says in words what its values look like, `Field(pattern="^[a-z]+$", description="lower case letters")`. Of a
pattern without words, an example is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from singletable.design.sample_candidates import Limits, candidates

_PATTERN: Final = "string_pattern_mismatch"
# Texts that people can make something of; after them, whatever fits.
_EXAMPLES: Final = ("niagara", "la-cantina", "Niagara", "NIAGARA", "AB12", "AB-12", "ab12", "12345")


def problem_text(problem: Mapping[str, Any], annotation: Any = None) -> str:
    """Say what is wrong with a value of a type, by one of the errors of Pydantic's ValidationError."""
    if problem["type"] != _PATTERN:
        return str(problem["msg"])
    words = _words_at(annotation, problem["loc"])
    if words is not None:
        return f"it should be {words}"
    example = _example(problem.get("ctx", {}).get("pattern", ""))
    return "it should have another form" + ("" if example is None else f", as {example!r} has")


def _words_at(annotation: Any, place: Iterable[int | str]) -> str | None:
    """Return what a type says in words of its values, or of those at a place in them."""
    words = _words(annotation)
    for step in place:
        field = next((each[step] for each in _fields(annotation) if step in each), None)
        if field is not None:
            words, annotation = field.description or _words(field.annotation), field.annotation
        else:  # a member of a list
            words = next(filter(None, map(_words, get_args(annotation))), words)
    return words


def _words(annotation: Any) -> str | None:
    if get_origin(annotation) is Annotated:
        said = (getattr(each, "description", None) for each in get_args(annotation)[1:])
        return next(filter(None, said), None)
    if get_origin(annotation) in (Union, UnionType):
        return next(filter(None, map(_words, get_args(annotation))), None)
    return None


def _fields(annotation: Any) -> Iterator[Mapping[Any, FieldInfo]]:
    """Return the fields of a model, or of the models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation.model_fields
    for each in get_args(annotation):
        yield from _fields(each)


def _example(pattern: str) -> str | None:
    try:
        fits = re.compile(pattern).search
    except re.error:
        return None
    return next(filter(fits, (*_EXAMPLES, *candidates(str, "text", Limits()))), None)
