"""A design as a blueprint: everything that it declares, as data, without opening it or running anything."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import GenericAlias
from typing import Any, Final, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from singletable.blueprint import (
    AggregateBlueprint,
    AttributeBlueprint,
    Blueprint,
    CopyBlueprint,
    DerivedBlueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyPart,
    ModelBlueprint,
    ParameterBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    RateBlueprint,
    TableBlueprint,
    TtlBlueprint,
    UniqueBlueprint,
    VolumeBlueprint,
)
from singletable.design.annotations import alias_of, is_optional, models_in, plain_value, type_text
from singletable.design.casing import Casing
from singletable.design.catalog import Catalog
from singletable.design.condition_data import condition_data
from singletable.design.conditions import Condition
from singletable.design.constraints import marker_data
from singletable.design.definitions import IndexDefinition, declared_table
from singletable.design.entity import Entity, Upcaster, declared
from singletable.design.field_codecs import field_codec, markers_of
from singletable.design.key_constraints import without_constraints
from singletable.design.key_parts import Part
from singletable.design.key_texts import stored_template
from singletable.design.keys import Key
from singletable.design.markers import AverageOf, BucketOf, CopyOf, CountOf, InitialOf, ShardOf, SumOf
from singletable.design.patterns import PatternInfo, Rate, Volume
from singletable.design.places import Binding, KeyAttribute
from singletable.design.plan_shapes import Calls, reads_of, write_of
from singletable.design.relations import Derived
from singletable.design.sampling import NoSampleError, sample
from singletable.design.schema import EntitySchema
from singletable.design.writes import WritePlan
from singletable.errors import DeclarationError

_VARIANTS: Final = 2  # calls of each pattern, to tell its own values from those of the caller


def blueprint_of(
    catalog: Catalog,
    patterns: Mapping[str, PatternInfo],
    design: object,
    volumes: Mapping[type[Entity], Volume],
    rates: Mapping[type[Entity], Rate],
) -> Blueprint:
    """Describe a design. Its patterns are methods of `design`, which need not be open."""
    table = declared_table(catalog, catalog.table.name)
    return Blueprint(
        name=catalog.name,
        table=TableBlueprint(
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
        ),
        indexes=tuple(map(_index, table.indexes)),
        entities=tuple(_entity(schema, catalog) for schema in catalog.schemas.values()),
        patterns=tuple(
            _pattern(catalog, name, info, getattr(design, name)) for name, info in patterns.items()
        ),
        volumes=tuple(VolumeBlueprint(each.__name__, v.count, v.kb) for each, v in volumes.items()),
        rates=tuple(
            RateBlueprint(each.__name__, rate.creates, rate.updates, rate.deletes)
            for each, rate in rates.items()
        ),
        casing=catalog.casing,
        discriminator=catalog.discriminator,
    )


def _index(index: IndexDefinition) -> IndexBlueprint:
    is_named = isinstance(index.projection, str)
    return IndexBlueprint(
        name=index.name,
        pk=index.pk,
        sk=index.sk,
        projection=str(index.projection) if is_named else "INCLUDE",
        included=() if is_named else tuple(index.projection),
        capacity=index.capacity,
    )


# --- entities -------------------------------------------------------------------------------------------


def _entity(schema: EntitySchema[Any], catalog: Catalog) -> EntityBlueprint:
    options = schema.entity.entity_options
    return EntityBlueprint(
        name=schema.entity.__name__,
        discriminator=schema.name,
        attributes=tuple(_attributes(schema)),
        places=tuple(_place(binding) for binding in schema.bindings.values()),
        uniques=tuple(
            UniqueBlueprint(
                name, stored_template(lock.key) or "", lock.sort, tuple(lock.key.reads()), lock.was
            )
            for name, lock in schema.locks.items()
        ),
        aggregates=tuple(_aggregates(schema, catalog)),
        copies=tuple(
            CopyBlueprint(field, _name(marker.source, catalog), marker.field, marker.by, marker.via)
            for field, marker in _marked(schema, CopyOf)
        ),
        derived=None if schema.derived is None else _derived(schema.derived, catalog),
        owns=tuple(_name(owned, catalog) for owned in options.owns),
        ttl=_ttl(schema),
        version=schema.version.name if schema.version is not None else None,
        schema_version=schema.schema_version,
        was=options.was,
        models=tuple(_models(schema.entity, catalog.casing)),
        upcasts=tuple(sorted(caster.version for caster in declared(schema.entity, Upcaster).values())),
    )


def _derived(derived: Derived, catalog: Catalog) -> DerivedBlueprint:
    return DerivedBlueprint(_name(derived.source, catalog), derived.by, derived.reads, derived.via)


def _name(entity: type[Any] | str, catalog: Catalog) -> str:
    return catalog.resolve(entity).entity.__name__


def _attributes(schema: EntitySchema[Any]) -> Iterator[AttributeBlueprint]:
    for name, field in schema.entity.model_fields.items():
        yield _attribute(name, schema.fields[name].stored, field)


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


def _default(field: FieldInfo) -> dict[str, Any] | None:
    if field.is_required():
        return None
    if field.default_factory is not None:
        return {"factory": plain_value(field.default_factory)}
    return {"value": plain_value(field.default)}


def _models(entity: type[Entity], casing: Casing) -> Iterator[ModelBlueprint]:
    """Describe the models and enums inside the fields of an entity, and inside of those, by their names."""
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


def _marked(schema: EntitySchema[Any], kind: Any) -> Iterator[tuple[str, Any]]:
    for name, field in schema.entity.model_fields.items():
        for marker in markers_of(field):
            if isinstance(marker, kind):
                yield name, marker


def _aggregates(schema: EntitySchema[Any], catalog: Catalog) -> Iterator[AggregateBlueprint]:
    kinds = {CountOf: "count", SumOf: "sum", AverageOf: "average"}
    for field, marker in _marked(schema, CountOf | SumOf | AverageOf):
        yield AggregateBlueprint(
            field=field,
            kind=kinds[type(marker)],
            of=_name(marker.child, catalog),
            of_field=getattr(marker, "field", None),
            when=_data(marker.when),
            by=marker.by,
            via=marker.via,
        )


def _ttl(schema: EntitySchema[Any]) -> TtlBlueprint | None:
    if schema.ttl is None:
        return None
    policy = schema.expires
    if policy is None:
        return TtlBlueprint(schema.ttl.name, schema.ttl.stored)
    return TtlBlueprint(
        schema.ttl.name, schema.ttl.stored, policy.delta.total_seconds(), policy.after, _data(policy.when)
    )


def _data(condition: Condition | None) -> dict[str, Any] | None:
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


def _key(key: type[Key], attributes: tuple[KeyAttribute, ...]) -> KeyBlueprint:
    names = tuple(attribute.name for attribute in attributes)
    return KeyBlueprint(names, stored_template(key), tuple(map(_part, key.parts)), key.__name__)


def _part(part: Part) -> KeyPart:
    source = part.source
    return KeyPart(
        name=part.name,
        type=type_text(part.annotation),
        field=part.reads,
        alias=alias_of(part.annotation),
        shards=source.count if isinstance(source, ShardOf) else None,
        bucket=source.every if isinstance(source, BucketOf) else None,
        letters=source.letters if isinstance(source, InitialOf) else None,
    )


# --- patterns -------------------------------------------------------------------------------------------


def _pattern(catalog: Catalog, name: str, info: PatternInfo, method: Callable[..., Any]) -> PatternBlueprint:
    parameters = inspect.signature(method).parameters
    hints = _hints(name, method, parameters)
    arguments = [_arguments(name, info, parameters, hints, variant) for variant in range(_VARIANTS)]
    first = _called(name, method, arguments[0])
    others = [plan for each in arguments[1:] if (plan := _maybe_called(method, each)) is not None]
    try:
        calls = Calls(catalog, [first, *others], arguments)
        writes = (write_of(calls),) if isinstance(first, WritePlan) else ()
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
                each, type_text(hints[each]), alias_of(hints[each]), _may_be_left_out(parameter)
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


def _hints(
    name: str, method: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
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


def _arguments(
    name: str,
    info: PatternInfo,
    parameters: Mapping[str, inspect.Parameter],
    hints: Mapping[str, Any],
    variant: int,
) -> dict[str, Any]:
    """Make up the arguments of a call: declared samples, then defaults, then values of the types."""
    arguments: dict[str, Any] = {}
    for each, parameter in parameters.items():
        if each in info.samples:
            arguments[each] = info.samples[each]
        elif parameter.default is not parameter.empty:
            arguments[each] = parameter.default
        else:
            arguments[each] = _sample(name, each, hints.get(each, str), variant)
    return arguments


def _sample(pattern: str, name: str, annotation: Any, variant: int) -> Any:
    try:
        return sample(annotation, name, variant)
    except NoSampleError as error:
        raise DeclarationError(
            f"the pattern {pattern}: no value of {error} can be made up for {name}",
            hint=f'@pattern(..., samples={{"{name}": ...}})',
        ) from error


def _called(name: str, method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    try:
        plan = _call(method, arguments)
    except Exception as error:
        given = ", ".join(f"{each}={value!r}" for each, value in arguments.items())
        raise DeclarationError(
            f"the pattern {name} fails with sample values ({given}): {error}",
            hint=f"@pattern(..., samples={{...}}) gives {name} values that it takes",
        ) from error
    return plan


def _maybe_called(method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    # What the first call has taken, another one may refuse: then nothing is learnt from it.
    try:
        return _call(method, arguments)
    except Exception:
        return None


def _call(method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    bound = inspect.BoundArguments(inspect.signature(method), OrderedDict(arguments))
    with without_constraints():  # nothing is read: a sample need not be a value that an item can have
        return method(*bound.args, **bound.kwargs)
