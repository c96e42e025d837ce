"""Frozen dataclasses as JSON, and back: what has its default is left out, and what is unknown is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

FORMAT: Final = 1
_FORMAT_KEY: Final = "blueprint"

T = TypeVar("T")


class BlueprintError(ValueError):
    """A text that is no blueprint. It says where it stops being one."""


def write_json(value: Any) -> str:
    """Write a dataclass, with the version of this form."""
    return json.dumps({_FORMAT_KEY: FORMAT, **_written(value)}, indent=2, ensure_ascii=False) + "\n"


def read_json(kind: type[T], text: str) -> T:
    """Read a dataclass of this type."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BlueprintError(f"this is no JSON: {error}") from error
    if not isinstance(data, dict) or _FORMAT_KEY not in data:
        raise BlueprintError(f'this is no blueprint: it does not begin with "{_FORMAT_KEY}": {FORMAT}')
    version = data.pop(_FORMAT_KEY)
    if version != FORMAT:
        raise BlueprintError(f"the blueprint is of version {version}, and this release reads {FORMAT}")
    found: T = _read(kind, data, kind.__name__)
    return found


# --- writing --------------------------------------------------------------------------------------------


def _written(value: Any) -> Any:
    if is_dataclass(value):
        return {
            field.name: _written(getattr(value, field.name))
            for field in fields(value)
            if getattr(value, field.name) != _default(field)
        }
    if isinstance(value, Mapping):
        return {key: _written(member) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [_written(member) for member in value]
    return value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


# --- reading --------------------------------------------------------------------------------------------


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return data
    if origin in (Union, UnionType):
        return _read_optional(kind, data, where)
    if is_dataclass(kind):
        return _read_fields(kind, data, where)
    if origin is tuple:
        member = get_args(kind)[0]
        return tuple(
            _read(member, each, f"{where}[{number}]") for number, each in enumerate(_of(list, data, where))
        )
    if origin is not None and issubclass(origin, Mapping):
        member = get_args(kind)[1]
        return {key: _read(member, each, f"{where}.{key}") for key, each in _of(dict, data, where).items()}
    return _of(kind, data, where)


def _read_optional(kind: Any, data: Any, where: str) -> Any:
    (inner,) = (each for each in get_args(kind) if each is not NoneType)
    return None if data is None else _read(inner, data, where)


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    known = {field.name: field for field in fields(kind)}
    given = _of(dict, data, where)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise BlueprintError(f"{where} has no {unknown[0]!r}; it has {', '.join(known)}")
    missing = [name for name, each in known.items() if name not in given and _default(each) is MISSING]
    if missing:
        raise BlueprintError(f"{where} lacks {', '.join(missing)}")
    hints = _hints(kind)
    return kind(**{name: _read(hints[name], each, f"{where}.{name}") for name, each in given.items()})


def _of(kind: Any, data: Any, where: str) -> Any:
    # A float may be written without its fraction; a bool is no number.
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if type(data) is not kind:
        raise BlueprintError(f"{where} is {data!r}, and should be a {kind.__name__}")
    return data
