"""Fields that are computed from others of the same entity, and how one field is validated as its entity would.

normalized_name: Annotated[str, Computed(normalize, "name")] = ""
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import CoreConfig, SchemaValidator, core_schema

from singletable.design.values.fields import marked_fields, markers_of
from singletable.design.values.markers import Auto, Compressed, Computed, Expires, KeptField, Lock, TimeToLive
from singletable.errors import DeclarationError

# The layer itself fills these in, so they cannot be computed too.
_OTHERS: Final = (Auto, Lock, TimeToLive, Expires, KeptField)
# The layer fills these in last, when all other fields are known.
_TOO_LATE: Final = (Lock, TimeToLive)


@dataclass(frozen=True, slots=True)
class Working:
    """The step of a validation that computes one field. It ignores a given value."""

    computed: Computed
    needs: frozenset[str]  # its source fields, and their source fields in turn

    def __call__(self, given: object, validate: Any, info: Any) -> Any:
        values = info.data
        if any(name not in values for name in self.needs):
            return None  # one of them is not valid, so there will be no entity
        return validate(self.computed.function(*[values[name] for name in self.computed.fields]))


# --- who depends on whom --------------------------------------------------------------------------------


def computed_fields(model: type[BaseModel]) -> dict[str, Computed]:
    """Return the computed fields, each after its source fields; refuse those that cannot be computed."""
    marked: dict[str, Computed] = {}
    for name, computed in marked_fields(model, Computed):
        if name in marked:
            raise DeclarationError(
                f"{model.__name__}.{name} is worked out in two ways", hint="Computed, once"
            )
        marked[name] = computed
    for name, computed in marked.items():
        _check(model, name, computed)
    ordered: dict[str, Computed] = {}
    for name in marked:
        _put_in_order(model, name, marked, ordered, ())
    return ordered


def _put_in_order(
    model: type[BaseModel],
    name: str,
    marked: Mapping[str, Computed],
    ordered: dict[str, Computed],
    path: tuple[str, ...],
) -> None:
    if name in path:
        circle = " from ".join((*path[path.index(name) :], name))
        raise DeclarationError(f"{model.__name__}.{name} is worked out from itself: {circle}")
    if name in ordered:
        return
    for source in marked[name].fields:
        if source in marked:
            _put_in_order(model, source, marked, ordered, (*path, name))
    ordered[name] = marked[name]


def followers(computed: Mapping[str, Computed], names: Iterable[str]) -> frozenset[str]:
    """Name the computed fields that may change when these fields do."""
    changed = set(names)
    found = set()
    for name, each in computed.items():
        if changed.intersection(each.fields):
            changed.add(name)
            found.add(name)
    return frozenset(found)


def with_sources(computed: dict[str, Computed], names: Iterable[str]) -> frozenset[str]:
    """Return names of fields, with all source fields of the computed ones among them."""
    found = set(names)
    for name in reversed(computed):
        if name in found:
            found.update(computed[name].fields)
    return frozenset(found)


# --- checks, when the class is created ------------------------------------------------------------------


def _check(model: type[BaseModel], name: str, computed: Computed) -> None:
    where, fields = f"{model.__name__}.{name}", model.__pydantic_fields__
    if not callable(computed.function):
        raise DeclarationError(
            f"{where} is worked out by {computed.function!r}, which is no function",
            # Annotations are read inside the class, where a field's name is its default.
            hint='Computed(function, "field"); a function with the name of a field needs another name',
        )
    if not computed.fields:
        raise DeclarationError(
            f"{where} is worked out from no field", hint='Computed(function, "field"): name those it is given'
        )
    others = [type(each).__name__ for each in fields[name].metadata if isinstance(each, _OTHERS)]
    if others:
        raise DeclarationError(
            f"{where} is Computed and {' and '.join(others)}: two would write it",
            hint="leave one of them out",
        )
    for source in computed.fields:
        if source not in fields:
            meant = get_close_matches(str(source), fields, n=1)
            raise DeclarationError(
                f"{where} is worked out from {source!r}, which is not a field of {model.__name__}; "
                f"it has {', '.join(sorted(fields))}",
                hint=f"did you mean {meant[0]}?" if meant else None,
            )
        if any(isinstance(each, _TOO_LATE) for each in fields[source].metadata):
            raise DeclarationError(
                f"{where} is worked out from {source}, which is known only when everything else is decided",
                hint="work it out from what decides that",
            )


CoreSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FieldSchemas:
    """Pydantic's schemas for the fields of a model: one for each field, and the definitions that they share."""

    fields: Mapping[str, CoreSchema]
    definitions: Mapping[str, CoreSchema]
    config: Mapping[str, object]


def field_schemas(model: type[BaseModel]) -> FieldSchemas:
    """Return the schemas of a model's fields; for a computed field, the schema of its result."""
    schema, definitions, config = _taken_apart(model)
    fields = {name: _given(field["schema"]) for name, field in schema["fields"].items()}
    return FieldSchemas(fields, definitions, config or {})


def field_validator_of(model: type[BaseModel]) -> SchemaValidator:
    """Return a validator of single fields, by `validate_assignment`, without the validators of the whole model."""
    fields, definitions, config = _taken_apart(model)
    whole: Any = {"type": "definitions", "schema": fields, "definitions": list(definitions.values())}
    return SchemaValidator(whole, config)


def fields_validator_of(model: type[BaseModel], names: Collection[str]) -> SchemaValidator:
    """Return a validator of these fields together, without the others. It returns their values first.

    A computed field is computed if all its source fields are there; otherwise its given value is taken.
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
    """Return a field; without the step that computes it, if a source field is missing."""
    inner = field["schema"].get("schema", {})
    step = _function_of(inner)
    if not isinstance(step, Working) or step.needs <= set(names):
        return field
    return {**field, "schema": inner["schema"]}


def has_model_validators(model: type[BaseModel]) -> bool:
    """Tell whether a model has validators over several fields."""
    # A validator of one field can read the fields before it.
    return bool(model.__pydantic_decorators__.model_validators) or is_informed(model.__pydantic_core_schema__)


def bounded_fields(model: type[BaseModel]) -> frozenset[str]:
    """Name the fields with limits, such as `Field(le=10)`: valid value plus valid addition may be invalid."""
    checked = _names(model, model.__pydantic_decorators__.field_validators.values())
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if name in checked or any(map(_is_bound, markers_of(field)))
    )


def is_informed(schema: object) -> bool:
    """Tell whether a validator in a schema may read other fields."""
    if isinstance(schema, dict):
        if isinstance(schema.get("function"), Working):
            return False  # what it asks for is known
        return schema.get("type") == "with-info" or any(map(is_informed, schema.values()))
    return isinstance(schema, list | tuple) and any(map(is_informed, schema))


def _names(model: type[BaseModel], validators: Iterable[Any]) -> set[str]:
    names = {name for validator in validators for name in validator.info.fields}
    return set(model.model_fields) if "*" in names else names


def _is_bound(marker: object) -> bool:
    # Nothing can be added to a compressed field where it is stored, either.
    return isinstance(marker, Compressed) or not type(marker).__module__.startswith("singletable.")


def _taken_apart(model: type[BaseModel]) -> tuple[CoreSchema, dict[str, CoreSchema], CoreConfig | None]:
    schema: Any = model.__pydantic_core_schema__
    definitions = {each["ref"]: each for each in schema.get("definitions", ())}
    fields, config = _fields_of(schema, definitions, None)
    return fields, definitions, config


def _given(schema: CoreSchema) -> CoreSchema:
    """Return the schema that validates a given value of a field."""
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


_Schema = dict[str, Any]


def with_computed(model: type[BaseModel], schema: Any) -> Any:
    """Return the schema of a model, with its computed fields computed."""
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
    """Find the fields of a model inside its validators, and put the computed ones after the others."""
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
    # A field without a given value is computed too, as its default.
    return {**field, "schema": core_schema.with_default_schema(working, default=None, validate_default=True)}


class _Again:
    """Computes the computed fields of an entity again, after the validators of its model."""

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


def computed_value(validator: SchemaValidator, name: str, values: Mapping[str, object]) -> Any:
    """Compute a field of an entity from the others, and validate it; raise Pydantic's error."""
    validated: Any = validator.validate_assignment(dict(values), name, None)
    return validated[0][name]
