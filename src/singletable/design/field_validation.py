"""How one field is validated as its entity would, without the other fields: an update knows only some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import CoreConfig, SchemaValidator

from singletable.design.computing import Working
from singletable.design.field_codecs import markers_of
from singletable.design.markers import Compressed

CoreSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FieldSchemas:
    """How Pydantic validates the fields of a model: each by itself, with what all of them refer to."""

    fields: Mapping[str, CoreSchema]
    definitions: Mapping[str, CoreSchema]
    config: Mapping[str, Any]


def field_schemas(model: type[BaseModel]) -> FieldSchemas:
    """Return how the fields of a model are validated; of a computed one, what it is worked out to."""
    schema, definitions, config = _taken_apart(model)
    fields = {name: _given(field["schema"]) for name, field in schema["fields"].items()}
    return FieldSchemas(fields, definitions, config or {})


def field_validator_of(model: type[BaseModel]) -> SchemaValidator:
    """Return what validates single fields, by `validate_assignment`; what is demanded of several is left out."""
    fields, definitions, config = _taken_apart(model)
    whole: Any = {"type": "definitions", "schema": fields, "definitions": list(definitions.values())}
    return SchemaValidator(whole, config)


def fields_validator_of(model: type[BaseModel], names: Collection[str]) -> SchemaValidator:
    """Return what validates these fields together, without the others: it returns their values first.

    A computed field is worked out where all is there that it is made of, and else taken as it is given.
    """
    fields, definitions, config = _taken_apart(model)
    known = {name: _workable(field, names) for name, field in fields["fields"].items() if name in names}
    whole: Any = {
        "type": "definitions",
        "schema": {**fields, "fields": known},
        "definitions": list(definitions.values()),
    }
    return SchemaValidator(whole, config)


def _workable(field: CoreSchema, names: Collection[str]) -> CoreSchema:
    """Return a field without the step that works it out, if something that it is made of is not there."""
    inner = field["schema"].get("schema", {})
    step = _function_of(inner)
    if not isinstance(step, Working) or step.needs <= set(names):
        return field
    return {**field, "schema": inner["schema"]}


def has_model_validators(model: type[BaseModel]) -> bool:
    """Tell whether a model demands something of several fields together."""
    # A validator of one field can ask for those before it.
    return bool(model.__pydantic_decorators__.model_validators) or is_informed(model.__pydantic_core_schema__)


def bounded_fields(model: type[BaseModel]) -> frozenset[str]:
    """Name the fields of which a valid value with a valid addition may be invalid, as of `Field(le=10)`."""
    checked = _names(model, model.__pydantic_decorators__.field_validators.values())
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if name in checked or any(map(_is_bound, markers_of(field)))
    )


def is_informed(schema: Any) -> bool:
    """Tell whether a function among the validators of a schema may look at other fields."""
    if isinstance(schema, dict):
        if isinstance(schema.get("function"), Working):
            return False  # what it asks for is known
        return schema.get("type") == "with-info" or any(map(is_informed, schema.values()))
    return isinstance(schema, list | tuple) and any(map(is_informed, schema))


def _names(model: type[BaseModel], validators: Iterable[Any]) -> set[str]:
    names = {name for validator in validators for name in validator.info.fields}
    return set(model.model_fields) if "*" in names else names


def _is_bound(marker: Any) -> bool:
    # Nothing can be added to a compressed field where it is stored, either.
    return isinstance(marker, Compressed) or not type(marker).__module__.startswith("singletable.")


def _taken_apart(model: type[BaseModel]) -> tuple[CoreSchema, dict[str, CoreSchema], CoreConfig | None]:
    schema: Any = model.__pydantic_core_schema__
    definitions = {each["ref"]: each for each in schema.get("definitions", ())}
    fields, config = _fields_of(schema, definitions, None)
    return fields, definitions, config


def _given(schema: CoreSchema) -> CoreSchema:
    """Return how a value is validated that somebody gives for a field."""
    while schema["type"] == "default" or isinstance(_function_of(schema), Working):
        schema = schema["schema"]
    return schema


def _function_of(schema: CoreSchema) -> Any:
    function = schema.get("function")
    return function.get("function") if isinstance(function, dict) else None


def _fields_of(
    schema: CoreSchema, definitions: dict[str, CoreSchema], config: CoreConfig | None
) -> tuple[CoreSchema, CoreConfig | None]:
    """Find the fields of a model inside its validators."""
    match schema["type"]:
        case "model-fields":
            return schema, config
        case "definition-ref":
            return _fields_of(definitions[schema["schema_ref"]], definitions, config)
        case "model":
            return _fields_of(schema["schema"], definitions, schema.get("config"))
        case _:
            return _fields_of(schema["schema"], definitions, config)
