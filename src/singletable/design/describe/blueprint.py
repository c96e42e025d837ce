"""A design as a blueprint: everything that it declares, as data, without opening it or running anything."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import GenericAlias
from typing import Any, Final, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    ModelBlueprint,
    ParameterBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    TableBlueprint,
    TtlBlueprint,
    WriteBlueprint,
)
from singletable.design.describe.loads import Figures
from singletable.design.describe.reactions import consumers_of
from singletable.design.describe.samples import NoSampleError, sample
from singletable.design.kept.kind import kept_of
from singletable.design.keys.key import Key
from singletable.design.keys.texts import described_part, stored_template
from singletable.design.model.catalog import Catalog
from singletable.design.model.declarations import PatternInfo
from singletable.design.model.entity import Entity, Upcaster, declared
from singletable.design.model.places import Binding, PlaceAttribute
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get
from singletable.design.plans.reader import reads_of
from singletable.design.plans.shape import PatternCalls, condition_of
from singletable.design.streams.handlers import StreamHandler
from singletable.design.tables.definition import IndexDefinition, TableDefinition, declared_table
from singletable.design.values.annotations import alias_of, is_optional, models_in, plain_value, type_text
from singletable.design.values.conditions import Condition, ConditionData, condition_data
from singletable.design.values.constraints import marker_data, without_constraints
from singletable.design.values.fields import Casing, field_codec, markers_of
from singletable.design.writes.write import Create, Delete, Put, Update, WritePlan
from singletable.errors import DeclarationError

_VARIANTS: Final = 2  # calls of each pattern, to tell its own values from those of the caller


def blueprint_of(
    catalog: Catalog,
    patterns: Mapping[str, PatternInfo],
    design: object,
    handlers: Sequence[StreamHandler],
    figures: Figures,
) -> Blueprint:
    """Describe a design. Its patterns are methods of `design`, which need not be open."""
    table = declared_table(catalog, catalog.table.name)
    entities = tuple(_entity(schema, catalog) for schema in catalog.schemas.values())
    return Blueprint(
        name=catalog.name,
        table=table_blueprint(table),
        indexes=tuple(map(index_blueprint, table.indexes)),
        entities=entities,
        patterns=tuple(
            _pattern(catalog, name, info, getattr(design, name)) for name, info in patterns.items()
        ),
        volumes=figures.volume_blueprints(),
        rates=figures.rate_blueprints(),
        casing=catalog.casing,
        discriminator=catalog.discriminator,
        users=figures.users,
        consumers=consumers_of(catalog.name, entities, handlers),
        loads=figures.load_blueprints(patterns),
    )


def table_blueprint(table: TableDefinition) -> TableBlueprint:
    """Describe a table as it is declared, or as it was found."""
    return TableBlueprint(
        name=table.name,
        pk=table.pk,
        sk=table.sk,
        types=dict(table.attribute_types),
        billing=table.billing,
        capacity=table.capacity,
        stream=table.stream,
        encryption=table.encryption,
        pitr_days=table.pitr_days,
        deletion_protection=table.deletion_protection,
        ttl=table.ttl,
        tags=dict(table.tags),
    )


def index_blueprint(index: IndexDefinition) -> IndexBlueprint:
    """Describe an index as it is declared, or as it was found."""
    is_named = isinstance(index.projection, str)
    return IndexBlueprint(
        name=index.name,
        pk=index.pk,
        sk=index.sk,
        projection=str(index.projection) if is_named else "INCLUDE",
        included=() if is_named else tuple(index.projection),
        capacity=index.capacity,
        is_local=index.is_local,
    )


# --- entities -------------------------------------------------------------------------------------------


def _entity(schema: EntitySchema, catalog: Catalog) -> EntityBlueprint:
    options = schema.entity.entity_options
    described = EntityBlueprint(
        name=schema.entity.__name__,
        discriminator=schema.name,
        attributes=tuple(
            _attribute(name, schema.fields[name].stored, field)
            for name, field in schema.entity.model_fields.items()
        ),
        places=tuple(_place(binding) for binding in schema.bindings.values()),
        owns=tuple(catalog.resolve(owned).entity.__name__ for owned in options.owns),
        ttl=_ttl(schema),
        version=schema.version.name if schema.version is not None else None,
        schema_version=schema.schema_version,
        was=options.was,
        models=tuple(_models(schema.entity, catalog.casing)),
        upcasts=tuple(sorted(caster.version for caster in declared(schema.entity, Upcaster).values())),
        owner=options.owner,
    )
    for kind in kept_of(catalog).kinds:
        described = kind.describe(schema, described)
    return described


def _attribute(name: str, stored: str, field: FieldInfo) -> AttributeBlueprint:
    return AttributeBlueprint(
        name=name,
        stored=stored,
        type=type_text(field.annotation),
        alias=alias_of(field.annotation),
        is_optional=is_optional(field.annotation),
        markers=tuple(marker_data(markers_of(field))),
        is_required=field.is_required(),
        default=_default(field),
    )


def _default(field: FieldInfo) -> dict[str, object] | None:
    if field.is_required():
        return None
    if field.default_factory is not None:
        return {"factory": plain_value(field.default_factory)}
    return {"value": plain_value(field.default)}


def _models(entity: type[Entity], casing: Casing) -> Iterator[ModelBlueprint]:
    """Describe the models and enums inside the fields of an entity, nested ones too, by their names."""
    found: dict[str, type[BaseModel] | type[Enum]] = {}
    left: list[type[BaseModel] | type[Enum]] = [entity]
    while left:
        model = left.pop()
        for field in model.model_fields.values() if issubclass(model, BaseModel) else ():
            new = [each for each in models_in(field.annotation) if each.__name__ not in found]
            found.update({each.__name__: each for each in new})
            left += new
    for name, model in sorted(found.items()):
        if issubclass(model, Enum):
            yield ModelBlueprint(name, values=tuple(plain_value(member) for member in model))
        else:
            fields = model.model_fields.items()
            stored = {each: field_codec(each, field, casing).stored for each, field in fields}
            yield ModelBlueprint(name, tuple(_attribute(each, stored[each], field) for each, field in fields))


def _ttl(schema: EntitySchema) -> TtlBlueprint | None:
    if schema.ttl is None:
        return None
    policy = schema.expires
    if policy is None:
        return TtlBlueprint(schema.ttl.name, schema.ttl.stored)
    return TtlBlueprint(
        schema.ttl.name, schema.ttl.stored, policy.delta.total_seconds(), policy.after, _data(policy.when)
    )


def _data(condition: Condition | None) -> ConditionData | None:
    return None if condition is None else condition_data(condition)


def _place(binding: Binding) -> PlaceBlueprint:
    keys = binding.keys
    return PlaceBlueprint(
        name=binding.name,
        index=None if binding.index is None else binding.index.name,
        pk=_key(keys.pk, binding.pk),
        sk=_key(keys.sk, binding.sk) if binding.sk else None,
        when=_data(binding.keys.when),
    )


def _key(key: type[Key], attributes: tuple[PlaceAttribute, ...]) -> KeyBlueprint:
    names = tuple(attribute.name for attribute in attributes)
    return KeyBlueprint(names, stored_template(key), tuple(map(described_part, key.parts)), key.__name__)


# --- patterns -------------------------------------------------------------------------------------------


def _pattern(catalog: Catalog, name: str, info: PatternInfo, method: Callable[..., Any]) -> PatternBlueprint:
    parameters = inspect.signature(method).parameters
    hints = _hints(name, method, parameters)
    arguments = [_arguments(name, info, parameters, hints, variant) for variant in range(_VARIANTS)]
    first = _called(name, method, arguments[0])
    others = [plan for each in arguments[1:] if (plan := _maybe_called(method, each)) is not None]
    try:
        calls = PatternCalls(catalog, [first, *others], arguments)
        writes = (_write_of(calls),) if isinstance(first, WritePlan) else ()
        reads = () if writes else reads_of(calls)
    except DeclarationError as error:
        raise DeclarationError(f"the pattern {name}: {error.message}", hint=error.hint) from error
    return PatternBlueprint(
        number=info.number,
        title=info.title,
        method=name,
        operation=type(first).__name__,
        parameters=tuple(
            ParameterBlueprint(
                each,
                type_text(hints[each]),
                alias_of(hints[each]),
                _may_be_left_out(parameter),
                default=_default_of(parameter),
            )
            for each, parameter in parameters.items()
        ),
        reads=reads,
        writes=writes,
        rps=info.rps,
        cached_s=None if isinstance(first, WritePlan) else first.cache_s,
        documented=info.documented,
        fixes=info.fixes,
    )


def _write_of(calls: PatternCalls[Any]) -> WriteBlueprint:
    """Return the description of the write that a pattern returns."""
    plan = calls.plans[0]
    alike = calls.of_kind(type(plan))
    condition = condition_of([getattr(each, "when", None) for each in alike.plans], alike)
    match plan:
        case Create(entity) | Put(entity):
            return WriteBlueprint("PutItem", type(entity).__name__, condition=condition)
        case Update(target):
            fields = tuple(sorted(plan.changes))
            return WriteBlueprint("UpdateItem", _written(target), fields, condition)
        case Delete(target):
            return WriteBlueprint("DeleteItem", _written(target), condition=condition)
        case _:
            raise DeclarationError(f"{type(plan).__name__} is no write by itself")


def _written(target: Entity | Get[Entity]) -> str:
    return (target.entity if isinstance(target, Get) else type(target)).__name__


def _hints(
    name: str, method: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, object]:
    try:
        hints = get_type_hints(method, include_extras=True)
    except NameError as error:
        raise DeclarationError(f"the pattern {name}: {error}, so an annotation cannot be read") from error
    # Of `*ids: str` the annotation is that of one member.
    return {
        each: GenericAlias(tuple, (hint, ...))
        if each in parameters and _takes_many(parameters[each])
        else hint
        for each, hint in hints.items()
    }


def _takes_many(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.VAR_POSITIONAL


def _may_be_left_out(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty or _takes_many(parameter)


def _default_of(parameter: inspect.Parameter) -> dict[str, object] | None:
    is_said = parameter.default is not parameter.empty and parameter.default is not None
    return {"value": plain_value(parameter.default)} if is_said else None


def _arguments(
    name: str,
    info: PatternInfo,
    parameters: Mapping[str, inspect.Parameter],
    hints: Mapping[str, object],
    variant: int,
) -> dict[str, object]:
    """Make up the arguments of a call: declared samples, then defaults, then values of the types."""
    arguments: dict[str, object] = {}
    for each, parameter in parameters.items():
        if each in info.samples:
            arguments[each] = info.samples[each]
        elif parameter.default is not parameter.empty:
            arguments[each] = parameter.default
        else:
            arguments[each] = _sample(name, each, hints.get(each, str), variant)
    return arguments


def _sample(pattern: str, name: str, annotation: object, variant: int) -> Any:
    try:
        return sample(annotation, name, variant)
    except NoSampleError as error:
        raise DeclarationError(
            f"the pattern {pattern}: no value of {error} can be made up for {name}",
            hint=f'@pattern(..., samples={{"{name}": ...}})',
        ) from error


def _called(name: str, method: Callable[..., Any], arguments: Mapping[str, object]) -> Any:
    try:
        return _call(method, arguments)
    except Exception as error:
        given = ", ".join(f"{each}={value!r}" for each, value in arguments.items())
        raise DeclarationError(
            f"the pattern {name} fails with sample values ({given}): {error}",
            hint=f"@pattern(..., samples={{...}}) gives {name} values that it takes",
        ) from error


def _maybe_called(method: Callable[..., Any], arguments: Mapping[str, object]) -> Any:
    # The pattern may refuse the values of another call, though it took those of the first. Ignore that call.
    try:
        return _call(method, arguments)
    except Exception:
        return None


def _call(method: Callable[..., Any], arguments: Mapping[str, object]) -> Any:
    bound = inspect.BoundArguments(inspect.signature(method), OrderedDict(arguments))
    with without_constraints():  # nothing is read: a sample need not be a value that an item can have
        return method(*bound.args, **bound.kwargs)
