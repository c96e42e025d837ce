"""The values of a pattern's parameters, read from the texts of a command line and validated."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from singletable.cli.patterns.entities import entity_from, problem_of
from singletable.cli.patterns.parameters import Parameter
from singletable.cli.patterns.shapes import Shape, choice_text
from singletable.cli.patterns.times import read_date, read_span, read_time
from singletable.cli.wrong_use import WrongUseError, meant
from singletable.design import Entity

if TYPE_CHECKING:
    from singletable.design.catalog import Catalog

_TIME_HINT = "ISO 8601, as 2025-01-20T10:30:00Z (without an offset: UTC), or now, +2h, -3d"


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
        raise WrongUseError(f"{parameter.option}: {text!r} is no {what}", hint=hint) from None


def read_values(
    name: str, parameters: list[Parameter], texts: Mapping[str, list[str]], catalog: Catalog
) -> dict[str, Any]:
    """Return the arguments of a pattern; those that were left out are not among them."""
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in texts:
            values[parameter.name] = _value(name, parameter, texts[parameter.name], catalog)
        elif parameter.shape.is_optional and parameter.shown_default == "none":
            values[parameter.name] = None
    return values


def _value(name: str, parameter: Parameter, texts: list[str], catalog: Catalog) -> Any:
    shape = parameter.shape
    try:
        if shape.kind != "list":
            value = _read(shape, texts[-1], catalog)
        else:
            assert shape.member is not None
            value = _members(shape.member, texts, catalog)
        if isinstance(value, Entity) or shape.kind == "key":
            return value
        # A generator would be used up by the first who reads it.
        validated = TypeAdapter(parameter.annotation).validate_python(value)
        return validated if hasattr(validated, "__len__") or shape.kind != "list" else list(value)
    except _NoValueError as error:
        raise WrongUseError(f"{parameter.option}: {error}", hint=error.hint or _hint(name)) from error
    except ValidationError as error:
        given = "" if "json" in (shape.kind, shape.member and shape.member.kind) else f" {' '.join(texts)!r}"
        problem = problem_of(error, parameter.annotation)
        raise WrongUseError(
            f"{parameter.option}{given}: {problem}", hint=f"it is {parameter.type}; {_hint(name)}"
        ) from error
    except ValueError as error:
        raise WrongUseError(f"{parameter.option}: {error}", hint=_hint(name)) from error


def _hint(name: str) -> str:
    return f"see singletable run {name} --help"


class _NoValueError(ValueError):
    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _members(member: Shape, texts: list[str], catalog: Catalog) -> list[Any]:
    if member.kind == "json" and len(texts) == 1:
        data = _json(texts[0])
        if isinstance(data, list):
            return [_of_json(member, each, catalog) for each in data]
    return [_read(member, text, catalog) for text in texts]


def _read(shape: Shape, text: str, catalog: Catalog) -> Any:
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
            return _of_json(shape, _json(text), catalog)
        case "list":
            return text.split(",")
        case _:
            return text


def _choice(shape: Shape, text: str) -> Any:
    known = {choice_text(value): value for value in shape.choices}
    if text not in known:
        near = meant(text, known)
        raise _NoValueError(f"{text!r} is none of {', '.join(known)}", near.strip())
    return known[text]


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise _NoValueError(f"{text!r} is no base64") from None


# --- models ---------------------------------------------------------------------------------------------


def _of_json(shape: Shape, data: Any, catalog: Catalog) -> Any:
    if isinstance(shape.of, type) and issubclass(shape.of, Entity):
        return entity_from(catalog.schema_for(shape.of), data)
    return data


def _json(text: str) -> Any:
    """Return the value of JSON, or of a file that holds it: @menu.json. Numbers are exact."""
    where = "the value"
    try:
        if text.startswith("@"):
            where = text[1:]
            text = Path(where).read_text(encoding="utf-8")
        return json.loads(text, parse_float=Decimal)
    except OSError as error:
        raise _NoValueError(f"{where} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _NoValueError(f"{where} is no text in UTF-8") from error
    except json.JSONDecodeError as error:
        raise _NoValueError(
            f"{where} is no JSON: {error}", "write an object in single quotes, or @FILE.json"
        ) from error
