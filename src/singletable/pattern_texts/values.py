"""The values of a pattern's parameters, read from texts and validated."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pydantic import TypeAdapter, ValidationError

from singletable.design import Entity
from singletable.design.model.entity import STORED
from singletable.design.model.schema import EntitySchema
from singletable.design.values.constraints import problem_text
from singletable.design.values.items import AttributeValue, Item, encode
from singletable.errors import InvalidItemError
from singletable.pattern_texts.parameters import Parameter
from singletable.pattern_texts.shapes import ParameterShape, choice_text, shape_of
from singletable.visible import meant

if TYPE_CHECKING:
    from singletable.design.model.catalog import Catalog

_TIME_HINT = "ISO 8601, as 2025-01-20T10:30:00Z (without an offset: UTC), or now, +2h, -3d"
TIME_HELP: Final = (
    "TIME is ISO 8601, as 2025-01-20T10:30 or 2025-01-20; without an offset it is UTC. Or: now, +2h, -3d "
    "(s, m, h, d, w)."
)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN: Final = re.compile(r"([+-]?)((?:\d+[smhdw])+)")
_PART: Final = re.compile(r"(\d+)([smhdw])")
_PROBLEMS_MAX: Final = 3


def read_json(text: str, where: str = "the value") -> Any:
    """Return the value of JSON. Numbers are exact."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NoValueError(
            f"{where} is no JSON: {error}", "write an object in single quotes, or @FILE.json"
        ) from error


class ParameterError(ValueError):
    """A text has no value of a parameter. `given` is the text, where the sentence does not hold it."""

    def __init__(self, parameter: Parameter, problem: str, *, given: str = "", hint: str = "") -> None:
        super().__init__(problem)
        self.parameter = parameter
        self.problem = problem
        self.given = given
        self.hint = hint


def fixed_texts(parameter: Parameter, texts: list[str], now: datetime) -> list[str]:
    """Return texts that mean the same at any time: `now` and `-3d` become moments."""
    if not parameter.shape.is_told_by_clock:
        return texts
    kind = (parameter.shape.member or parameter.shape).kind
    read = read_time if kind == "time" else read_date
    return [_fixed(parameter, text, read, now) for text in texts]


def _fixed(parameter: Parameter, text: str, read: Any, now: datetime) -> str:
    try:
        return str(read(text, now).isoformat()).replace("+00:00", "Z")
    except (ValueError, OverflowError):
        what = "time" if read is read_time else "date"
        hint = _TIME_HINT if read is read_time else "ISO 8601, as 2025-01-20, or today, +2d, -3d"
        raise ParameterError(parameter, f"{text!r} is no {what}", hint=hint) from None


def read_values(
    parameters: list[Parameter],
    texts: Mapping[str, list[str]],
    catalog: Catalog,
    load: Callable[[str], Any] = read_json,
) -> dict[str, Any]:
    """Return the arguments of a pattern; those that were left out are not among them.

    `load` reads the JSON of a text. Raise a ParameterError for a text without a value.
    """
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in texts:
            values[parameter.name] = _value(parameter, texts[parameter.name], catalog, load)
        elif parameter.shape.is_optional and parameter.shown_default == "none":
            values[parameter.name] = None
    return values


def _value(parameter: Parameter, texts: list[str], catalog: Catalog, load: Callable[[str], Any]) -> Any:
    shape = parameter.shape
    try:
        if shape.kind != "list":
            value = _read(shape, texts[-1], catalog, load)
        else:
            assert shape.member is not None
            value = _members(shape.member, texts, catalog, load)
        if isinstance(value, Entity) or shape.kind == "key":
            return value
        # A generator would be used up by the first who reads it.
        validated = TypeAdapter(parameter.annotation).validate_python(value)
        return validated if hasattr(validated, "__len__") or shape.kind != "list" else list(value)
    except NoValueError as error:
        raise ParameterError(parameter, str(error), hint=error.hint) from error
    except ValidationError as error:
        given = "" if "json" in (shape.kind, shape.member and shape.member.kind) else " ".join(texts)
        problem = problem_of(error, parameter.annotation)
        raise ParameterError(parameter, problem, given=given, hint=f"it is {parameter.type}") from error
    except ValueError as error:
        raise ParameterError(parameter, str(error)) from error


class NoValueError(ValueError):
    """A text that is no value at all."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _members(
    member: ParameterShape, texts: list[str], catalog: Catalog, load: Callable[[str], Any]
) -> list[Any]:
    if member.kind == "json" and len(texts) == 1:
        data = load(texts[0])
        if isinstance(data, list):
            return [_of_json(member, each, catalog) for each in data]
    return [_read(member, text, catalog, load) for text in texts]


def _read(shape: ParameterShape, text: str, catalog: Catalog, load: Callable[[str], Any]) -> Any:
    match shape.kind:
        case "choice":
            return _choice(shape, text)
        case "span":
            span = read_span(text)
            return text if span is None else span
        case "bytes":
            return _bytes(text)
        case "key":
            return shape.of.parse(text)
        case "json":
            return _of_json(shape, load(text), catalog)
        case "list":
            return text.split(",")
        case _:
            return text


def _choice(shape: ParameterShape, text: str) -> Any:
    known = {choice_text(value): value for value in shape.choices}
    if text not in known:
        near = meant(text, known)
        raise NoValueError(f"{text!r} is none of {', '.join(known)}", near.strip())
    return known[text]


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise NoValueError(f"{text!r} is no base64") from None


# --- models ---------------------------------------------------------------------------------------------


def _of_json(shape: ParameterShape, data: Any, catalog: Catalog) -> Any:
    if isinstance(shape.of, type) and issubclass(shape.of, Entity):
        return entity_from(catalog.schema_for(shape.of), data)
    return data


# --- times: ISO 8601, `now`, and what is so long before or after now ------------------------------------------


def read_span(text: str) -> timedelta | None:
    """Return a length of time as `90m` or `-1d12h`; None if the text is none."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    parts = _PART.findall(found[2])
    length = sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in parts), timedelta())
    return -length if found[1] == "-" else length


def read_time(text: str, now: datetime) -> datetime:
    """Return a moment, always with a time zone; raise ValueError if the text is none."""
    if text == "now":
        return now
    span = _relative(text)
    if span is not None:
        return now + span
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def read_date(text: str, now: datetime) -> date:
    """Return a day, of UTC where it is told by now; raise ValueError if the text is none."""
    if text in ("now", "today"):
        return now.date()
    span = _relative(text)
    return date.fromisoformat(text) if span is None else (now + span).date()


def _relative(text: str) -> timedelta | None:
    """Return the distance from now: with a sign, since 2025 is a year and 5d could be anything."""
    return read_span(text) if text[:1] in ("+", "-") else None


# --- entities from plain JSON: by the names that they are stored by, as `--json` prints them, or Python's -----


def entity_from(schema: EntitySchema, data: Any) -> Any:
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


def _attribute(schema: EntitySchema, stored: str, value: Any) -> AttributeValue:
    codec = schema.by_stored.get(stored)
    if codec is not None and isinstance(value, str):
        shape = shape_of(schema.entity.model_fields[codec.name].annotation)
        if shape.kind == "bytes":
            return {"B": base64.b64decode(value, validate=True)}
    return encode(value, _no_models)


def _no_models(model: object) -> NoReturn:
    raise AssertionError(f"JSON holds no {type(model).__name__}")
