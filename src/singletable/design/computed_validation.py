"""How computed fields are worked out: inside the validation of their entity, so that nobody sees another value.

It is done behind the fields that they are made of, and once more behind the model's own validators, which may have
changed those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaValidator, core_schema

from singletable.design.computing import Working, computed_fields, with_sources
from singletable.design.field_validation import field_validator_of
from singletable.design.markers import Computed

_Schema = dict[str, Any]


def with_computed(model: type[BaseModel], schema: Any) -> Any:
    """Return the schema of a model that works out its computed fields."""
    computed = computed_fields(model)
    if not computed:
        return schema
    schema = _inside(schema, computed)
    validators = model.__pydantic_decorators__.model_validators.values()
    if all(each.info.mode == "before" for each in validators):
        return schema
    ref = schema.pop("ref", None)
    outer: Any = core_schema.no_info_after_validator_function(_Again(model, tuple(computed)), schema)
    return outer if ref is None else {**outer, "ref": ref}


def _inside(schema: _Schema, computed: dict[str, Computed]) -> _Schema:
    """Find the fields of a model inside its validators, and let them be worked out behind the others."""
    if schema["type"] != "model-fields":
        return {**schema, "schema": _inside(schema["schema"], computed)}
    fields = schema["fields"]
    plain = {name: field for name, field in fields.items() if name not in computed}
    worked_out = {
        name: _working(fields[name], Working(each, with_sources(computed, each.fields)))
        for name, each in computed.items()
    }
    return {**schema, "fields": plain | worked_out}


def _working(field: _Schema, step: Working) -> _Schema:
    working = core_schema.with_info_wrap_validator_function(step, field["schema"])
    # A value that is not given is worked out too, as if it were the default.
    return {
        **field,
        "schema": core_schema.with_default_schema(working, default=None, validate_default=True),
    }


class _Again:
    """Works out the computed fields of an entity behind the validators of its model."""

    def __init__(self, model: type[BaseModel], names: tuple[str, ...]) -> None:
        self._model = model
        self._names = names
        self._validator: SchemaValidator | None = None

    def __call__(self, entity: Any) -> Any:
        if type(entity).__partial_of__ is not None:
            return entity  # it has what is stored, and not all that it is made of
        if self._validator is None:
            self._validator = field_validator_of(self._model)
        for name in self._names:
            entity.__dict__[name] = computed_value(self._validator, name, entity.__dict__)
        return entity


def computed_value(validator: SchemaValidator, name: str, values: Mapping[str, Any]) -> Any:
    """Work out a field of an entity from the others, valid; raise Pydantic's error."""
    validated: Any = validator.validate_assignment(dict(values), name, None)
    return validated[0][name]
