"""Blueprints as JSON and as TOML, and back; the JSON Schema of both.

What has its default is left out, members stand in the order of their classes, and unknown members are refused. An
error names the place in the blueprint, and the line and column of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import rtoml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from singletable.blueprint.positions import Path, in_json, in_toml
from singletable.blueprint.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

FORMAT: Final = 2
MAX_CHARACTERS: Final = 32_000_000
SCHEMA_ID: Final = f"urn:singletable:blueprint:{FORMAT}"
_FORMAT_KEY: Final = "blueprint"
_TOO_DEEP: Final = "is nested too deeply for a blueprint"

T = TypeVar("T")


class BlueprintError(ValueError):
    """A text that is no blueprint. It says where it stops being one."""


_ADAPTERS: Final[dict[type[Any], TypeAdapter[Any]]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """Return what reads and writes a class; made when it is first asked for, since that takes a while."""
    return _ADAPTERS.get(kind) or _ADAPTERS.setdefault(kind, TypeAdapter(kind))


def schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of the JSON and the TOML form."""
    made = _adapter(kind).json_schema(mode="validation")
    made["properties"] = {
        _FORMAT_KEY: {"enum": list(range(1, FORMAT + 1)), "title": "Version of the form"},
        **made["properties"],
    }
    made["required"] = [_FORMAT_KEY, *made["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **made}


# --- writing --------------------------------------------------------------------------------------------


def write_json(value: Any) -> str:
    """Write a dataclass as JSON, with the version of this form."""
    return json.dumps(_data(value), indent=2, ensure_ascii=False) + "\n"


def write_toml(value: Any) -> str:
    """Write a dataclass as TOML, with the version of this form."""
    return toml_text(_without_null(_data(value)))


def _data(value: Any) -> dict[str, Any]:
    adapter = _adapter(type(value))
    try:
        # As JSON an infinite number would be null, without a word.
        json.dumps(adapter.dump_python(value), ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise BlueprintError(f"this cannot be written: {error}") from None
    return {_FORMAT_KEY: FORMAT, **adapter.dump_python(value, mode="json", exclude_defaults=True)}


# TOML has no null. Inside of a string of JSON quotes are escaped, so these bytes are nothing else.
_NULL: Final = {"null": True}
_NULL_JSON: Final = to_json(_NULL)


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"null"} and value["null"] is True:
            raise BlueprintError(
                "this cannot be written as TOML, where { null = true } stands for null: JSON can"
            )
        return {key: _without_null(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_null(member) for member in value]
    return _NULL if value is None else value


# --- reading --------------------------------------------------------------------------------------------


def read_json(kind: type[T], text: str) -> T:
    """Read a dataclass of this type from JSON."""
    _check_length(text)
    try:
        data = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        message = str(error)
        raise BlueprintError(
            f"this {_TOO_DEEP}" if "recursion" in message else f"this is no JSON: {message}"
        ) from None
    return _read(kind, data, text, in_json)


def read_toml(kind: type[T], text: str) -> T:
    """Read a dataclass of this type from TOML."""
    return _read(kind, _toml(text), text, in_toml)


def read_toml_part(kind: type[T], text: str) -> T:
    """Read a part of a blueprint that stands in a file of its own, without the version of this form."""
    return _valid(kind, _toml(text), text, in_toml)


def _toml(text: str) -> Any:
    _check_length(text)
    try:
        return rtoml.loads(text)
    except rtoml.TomlParsingError as error:
        message = " ".join(str(error).split())
        is_deep = "recursion" in message
        raise BlueprintError(f"this {_TOO_DEEP}" if is_deep else f"this is no TOML: {message}") from None


def _check_length(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise BlueprintError(f"this has {len(text):,} characters, and a blueprint at most {MAX_CHARACTERS:,}")


def _read(kind: type[T], data: Any, text: str, find: Callable[[str, Path], tuple[int, int] | None]) -> T:
    if not isinstance(data, dict) or _FORMAT_KEY not in data:
        raise BlueprintError(f'this is no blueprint: it has no "{_FORMAT_KEY}": {FORMAT} at its top')
    version = data.pop(_FORMAT_KEY)
    if type(version) is not int or not 1 <= version <= FORMAT:
        raise BlueprintError(
            f"the blueprint is of version {_short(version)}, and this release reads 1 to {FORMAT}"
        )
    if version == 1:
        _upgrade(data)
    return _valid(kind, data, text, find)


def _valid(kind: type[T], data: Any, text: str, find: Callable[[str, Path], tuple[int, int] | None]) -> T:
    try:
        # By way of JSON: strictly, a list of it is a tuple and an int is a float, but a bool is no number.
        written = to_json(data, inf_nan_mode="strings")
    except ValueError:
        raise BlueprintError(f"this {_TOO_DEEP}") from None
    if find is in_toml:
        written = written.replace(_NULL_JSON, b"null")
    try:
        found: T = _adapter(kind).validate_json(written, strict=True)
    except ValidationError as error:
        first = _first(error)
        path = _path(kind, first["loc"])
        place = find(text, path)
        where = "" if place is None else f"line {place[0]}, column {place[1]}: "
        raise BlueprintError(where + _sentence(kind, first, path)) from None
    return found


def _upgrade(data: dict[str, Any]) -> None:
    """Bring data of the first version to this one: there a table without a word of it had the sort key SK."""
    if isinstance(table := data.get("table"), dict):
        table.setdefault("sk", "SK")


# --- errors ---------------------------------------------------------------------------------------------


def _first(error: ValidationError) -> ErrorDetails:
    """Return the mistake to tell: a member that is misspelt is missing too, and the spelling explains both."""
    return min(
        error.errors(include_url=False), key=lambda each: each["type"] != "unexpected_keyword_argument"
    )


def _path(kind: Any, loc: tuple[int | str, ...]) -> Path:
    """Return the place of an error without the names of union members, which Pydantic puts among them."""
    noise = {"str", "int", "float", "bool", "none", "nullable", kind.__name__}
    return tuple(each for each in loc if each not in noise or each == "none")


def _sentence(kind: type[Any], error: ErrorDetails, path: Path) -> str:
    match error["type"]:
        case "missing":
            return f"{_shown(kind, path[:-1])} lacks {path[-1]}"
        case "unexpected_keyword_argument":
            known = ", ".join(_members(kind, path[:-1]))
            return f"{_shown(kind, path[:-1])} has no {_short(path[-1])}; it has {known}"
        case "json_invalid":
            return f"the blueprint {_TOO_DEEP}"
        case _:
            wanted = error["msg"].replace("Input should be ", "")
            return f"{_shown(kind, path)} is {_short(error['input'])}, and should be {wanted}"


def _shown(kind: type[Any], path: Path) -> str:
    shown = kind.__name__
    for each in path:
        shown += f"[{each}]" if isinstance(each, int) else f".{_short(each).strip(chr(39))}"
    return shown


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def _members(kind: type[Any], path: Path) -> Iterator[str]:
    """Name the members of the class that stands at a path."""
    found = _schema_at(_adapter(kind).json_schema(), path)
    yield from found.get("properties", {})


def _schema_at(schema: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    here: Mapping[str, Any] = schema
    for each in (*path, None):
        options = here.get("anyOf", [here])
        here = next((option for option in options if option.get("type") != "null"), here)
        if "$ref" in here:
            here = schema["$defs"][here["$ref"].rpartition("/")[2]]
        if isinstance(each, int):
            here = here.get("items", {})
        elif each is not None:
            here = here.get("properties", {}).get(each, {})
    return here
