"""Entities from plain JSON: by the names that they are stored by, as `--json` prints them, or by Python's."""

from __future__ import annotations

import base64
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from singletable.cli.patterns.shapes import shape_of
from singletable.cli.wrong_use import meant
from singletable.design.entity import STORED
from singletable.design.problems import problem_text
from singletable.design.schema import EntitySchema
from singletable.design.stored_values import AttributeValue, Item, encode
from singletable.errors import InvalidItemError

_PROBLEMS_MAX: Final = 3


def entity_from(schema: EntitySchema[Any], data: Any) -> Any:
    """Return the entity that JSON describes; raise ValueError where it describes none."""
    if not isinstance(data, dict):
        raise ValueError(f"{schema.entity.__name__} is a JSON object")
    kind = data.get(schema.discriminator, schema.name)
    if kind not in schema.names:
        raise ValueError(f"its {schema.discriminator} is {kind}, and {schema.name} is wanted")
    item: Item = {}
    for name, value in data.items():
        stored = schema.fields[name].stored if name in schema.fields else name
        if not schema.knows(stored):
            names = {each: None for codec in schema.fields.values() for each in (codec.stored, codec.name)}
            raise ValueError(f"{schema.entity.__name__} has no {name!r}. {meant(name, names)}".rstrip())
        item[stored] = _attribute(schema, stored, value)
    if schema.schema_version is not None:
        # What does not say of which version it is was written for this one.
        item.setdefault(schema.schema_version_name, {"N": str(schema.schema_version)})
    try:
        entity = schema.to_entity(item)
    except InvalidItemError as error:
        cause = error.__cause__
        what = problem_of(cause, schema.entity) if isinstance(cause, ValidationError) else str(cause)
        raise ValueError(f"this is no {schema.entity.__name__}: {what}") from error
    # It was made, not read: nothing of it is stored yet.
    entity.__dict__.pop(STORED)
    return entity


def problem_of(error: ValidationError, annotation: Any) -> str:
    """Return what is wrong with a value of a type, with the path to it; a few things at most."""
    problems = error.errors(include_url=False, include_input=False)
    shown = [
        _shown(problem["loc"], problem_text(problem, annotation)) for problem in problems[:_PROBLEMS_MAX]
    ]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f" (and {more} more)" if more else "")


def _shown(place: tuple[int | str, ...], problem: str) -> str:
    return f"{'.'.join(map(str, place))}: {problem}" if place else problem


def _attribute(schema: EntitySchema[Any], stored: str, value: Any) -> AttributeValue:
    codec = schema.by_stored.get(stored)
    if codec is not None and isinstance(value, str):
        shape = shape_of(schema.entity.model_fields[codec.name].annotation)
        if shape.kind == "bytes":
            return {"B": base64.b64decode(value, validate=True)}
    return encode(value, _no_models)


def _no_models(model: object) -> NoReturn:
    raise AssertionError(f"JSON holds no {type(model).__name__}")
