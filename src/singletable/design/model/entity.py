"""An entity: a Pydantic model that binds key classes to the table and its indexes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NewType,
    NoReturn,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from singletable.design.keys.codecs import TextCodec, UuidCodec
from singletable.design.keys.key import Key, SortKey
from singletable.design.keys.numbers import NumberCodec
from singletable.design.keys.old_keys import check_old_keys
from singletable.design.keys.parts import Part
from singletable.design.model.declarations import DeclaredKeys, DeclaredUnique, Derived
from singletable.design.values.annotations import with_exact_times
from singletable.design.values.arguments import shown_value
from singletable.design.values.computed import with_computed
from singletable.design.values.condition_values import declared_condition, is_time
from singletable.design.values.conditions import Condition
from singletable.design.values.fields import markers_of
from singletable.design.values.markers import BucketOf, Expires, InitialOf, TimeToLive
from singletable.errors import DeclarationError

STORED = "_stored"  # where an entity keeps the item that it was read from
UNFIT: Final = "_unfit"  # where an entity that does not fit names its invalid fields

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EntityOptions:
    """The options in the class statement of an entity: `class Batch(Entity, owns=("BatchEvent",))`."""

    name: str
    owns: tuple[type[Entity] | str, ...] = ()
    schema_version: int | None = None
    was: tuple[str, ...] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Upcaster:
    """A function that turns the values of an item of one schema version into values of the next version."""

    version: int
    function: Callable[[dict[str, Any]], dict[str, Any]]


def upcast(version: int) -> Callable[[Callable[[dict[str, Any]], dict[str, Any]]], Upcaster]:
    """Declare, inside an entity, how items of this schema version become items of the next one."""
    return lambda function: Upcaster(version, function)


class Entity(BaseModel):
    """An item type. Subclass it with fields, and `key = Keys(...)`.

    `name` is the value of the discriminator, by default the name of the class. `owns` names the entities whose
    items are deleted with an item of this one. Items of an older `schema_version` are upcast when they are read (a
    lazy migration). `was` has old names of the entity: items stored with one of them are read as this entity too.
    `owner` is the field whose value leads the partition key of every item: who it is tells whose items they are.
    """

    model_config = ConfigDict(
        ignored_types=(DeclaredKeys, DeclaredUnique, Derived, Upcaster),
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
    )
    entity_options: ClassVar[EntityOptions]
    __key_properties__: ClassVar[tuple[str, ...]] = ()  # properties that keys are built from, beside fields
    __partial_of__: ClassVar[type[Entity] | None] = None  # the whole entity, for a class of partial ones

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        owns: tuple[type[Entity] | str, ...] = (),
        schema_version: int | None = None,
        was: str | tuple[str, ...] = (),
        owner: str | None = None,
        **config: Any,
    ) -> None:
        super().__init_subclass__(**config)
        names = (was,) if isinstance(was, str) else tuple(was)
        cls.entity_options = EntityOptions(name or cls.__name__, tuple(owns), schema_version, names, owner)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        places = declared(cls, DeclaredKeys)
        _check_places(cls, places)
        for name, keys in places.items():
            _check_binding(cls, name, keys)
        for name, unique in declared(cls, DeclaredUnique).items():
            _check_fields(cls, name, unique.key)
        _check_upcasters(cls)
        _check_owner(cls)
        if cls.__pydantic_complete__:  # otherwise they are checked with the design
            check_conditions(cls)
        wanted = {name for keys in places.values() for name in keys.reads()}
        cls.__key_properties__ = tuple(sorted(wanted - set(cls.model_fields)))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: CoreSchema = with_computed(cls, with_exact_times(handler(source)))
        return schema

    def __eq__(self, other: object) -> bool:
        """Compare fields. An entity that was read equals one that was made with the same values."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Entity)
        return field_values(self) == field_values(other)

    __hash__ = None  # type: ignore[assignment]  # as of every model that can change

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with other values. Stored attributes beside the fields are copied too."""
        return super().model_copy(update=update, deep=deep)


E = TypeVar("E", bound=Entity)
D = TypeVar("D")


def declared(entity: type[Entity], kind: type[D]) -> dict[str, D]:
    """Return the declarations of one kind in an entity class, by name, base classes first."""
    found: dict[str, D] = {}
    for base in reversed(entity.__mro__):
        found.update({name: value for name, value in vars(base).items() if isinstance(value, kind)})
    return found


def field_values(entity: Entity) -> dict[str, object]:
    """Return the fields of an entity, by name."""
    values = entity.__dict__
    return {name: values.get(name) for name in type(entity).__pydantic_fields__}


def key_values(entity: Entity) -> Mapping[str, object]:
    """Return the fields of an entity, and the properties from which keys are built."""
    properties = type(entity).__key_properties__
    if not properties:
        return entity.__dict__
    return {**entity.__dict__, **{name: getattr(entity, name) for name in properties}}


def entity_type(entity: Entity) -> type[Entity]:
    """Return the declared class of an entity, also for a partial one."""
    kind = type(entity)
    return kind.__partial_of__ or kind


def table_keys(entity: type[Entity]) -> DeclaredKeys[Key, SortKey]:
    """Return the binding of an entity to the table."""
    found = [keys for keys in declared(entity, DeclaredKeys).values() if keys.index is None]
    if len(found) != 1:
        raise DeclarationError(
            f"{entity.__name__} has {len(found) or 'no'} keys in the table", hint="key = Keys(SomePK, SomeSK)"
        )
    return found[0]


# --- checks, when the class is created ------------------------------------------------------------------


def _check_places(entity: type[Entity], places: Mapping[str, DeclaredKeys[Key, SortKey]]) -> None:
    """Refuse two bindings to one place: a place holds an item only once."""
    seen: dict[int | None, str] = {}
    for name, keys in places.items():
        place = None if keys.index is None else id(keys.index)
        if place in seen:
            where = "the table" if keys.index is None else f"index {keys.index.name}"
            raise DeclarationError(
                f"{entity.__name__} is bound to {where} twice, as {seen[place]} and as {name} "
                f"({keys.shown()}), and an item is in it once",
                hint="another index, or an entity that is Derived from this one",
            )
        seen[place] = name


def _check_binding(entity: type[Entity], name: str, keys: DeclaredKeys[Key, SortKey]) -> None:
    for key in (keys.pk, keys.sk):
        _check_fields(entity, name, key)
        if keys.index is None:
            _check_always_there(entity, name, key)
    if keys.was is not None:
        _check_was(entity, name, keys, keys.was)


def check_conditions(entity: type[Entity]) -> None:
    """Refuse conditions of indexes, or of the expiry, that can never be true."""
    for keys in declared(entity, DeclaredKeys).values():
        place_condition(entity, keys)
    for name, field in entity.model_fields.items():
        markers = markers_of(field)
        for policy in markers:
            if isinstance(policy, Expires):
                where = f"{entity.__name__}.{name}"
                if not any(isinstance(marker, TimeToLive) for marker in markers):
                    raise DeclarationError(
                        f"{where} has expires(...), and is no time to live, so nothing would expire",
                        hint=f"{name}: Ttl = expires(...)",
                    )
                _check_policy(entity, where, name, policy)
                expiry_condition(entity, name, policy)


def place_condition(entity: type[Entity], keys: DeclaredKeys[Key, SortKey]) -> Condition | None:
    """Return the condition of an entity's keys, with values converted to the types of its fields."""
    if keys.when is None:
        return None
    if keys.index is None:
        raise DeclarationError(
            f"{entity.__name__}.{keys.name} ({keys.shown()}) has a condition, and every item has a key there",
            hint="when= is for the keys of an index",
        )
    return declared_condition(
        f"{entity.__name__}.{keys.name}: the condition of {keys.shown()}", entity, keys.when
    )


def expiry_condition(entity: type[Entity], name: str, policy: Expires) -> Condition | None:
    """Return the condition of an entity's expiry, with values converted to the types of its fields."""
    if policy.when is None:
        return None
    return declared_condition(f"{entity.__name__}.{name}: the condition of expires(...)", entity, policy.when)


def _check_policy(entity: type[Entity], where: str, name: str, policy: Expires) -> None:
    if policy.after is None and policy.delta <= timedelta(0):
        raise DeclarationError(
            f"{where}: expires(...) gives an item no time to live",
            hint="expires(days=30), or expires(after=...) of a field that is a time",
        )
    if policy.after is not None:
        field = entity.model_fields.get(policy.after)
        times = [each for each in entity.model_fields if each != name and is_time(entity, each)]
        if field is None or policy.after not in times:
            what = "no field" if field is None else _shown(field.annotation)
            raise DeclarationError(
                f"{where}: expires(after={policy.after!r}) counts from a time, and "
                f"{entity.__name__}.{policy.after} is {'itself' if policy.after == name else what}",
                hint=f"{entity.__name__} has the times {', '.join(times)}"
                if times
                else f"{entity.__name__} has no other field that is a datetime",
            )


def _check_was(
    entity: type[Entity], name: str, keys: DeclaredKeys[Key, SortKey], was: tuple[type[Key], type[Key]]
) -> None:
    for key in was:
        _check_fields(entity, name, key)
    where = f"{entity.__name__}.{name}"
    if keys.index is None:
        check_old_keys(where, (keys.pk, keys.sk), was)
    else:
        check_old_keys(where, (keys.pk,), was[:1])


def _check_always_there(entity: type[Entity], name: str, key: type[Key]) -> None:
    for read in key.reads():
        field = entity.model_fields.get(read)
        if field is not None and _is_optional(field.annotation):
            raise DeclarationError(
                f"{entity.__name__}.{name}: {read!r} may be None, and every item has a key: {key.shown()}",
                hint=f"make {read!r} required; only the keys of an index can be missing",
            )


def _check_fields(entity: type[Entity], name: str, key: type[Key]) -> None:
    for part in key.parts:
        field = entity.model_fields.get(part.reads)
        if field is None:
            if _is_property(entity, part.reads):
                continue
            raise _no_field(entity, name, f"{key.shown()} is built from {part.reads!r}")
        if not _agree(part, field.annotation):
            wanted = "a time" if isinstance(part.source, BucketOf) else _shown(part.annotation)
            raise DeclarationError(
                f"{entity.__name__}.{name}: {part.reads!r} is {_shown(field.annotation)} in {entity.__name__} "
                f"and {wanted} in {key.shown()}"
            )


def _is_property(entity: type[Entity], name: str) -> bool:
    found = inspect.getattr_static(entity, name, None)
    found = getattr(found, "wrapped", found)  # of a computed_field
    return isinstance(found, property | cached_property)


def _no_field(entity: type[Entity], name: str, what: str) -> DeclarationError:
    return DeclarationError(
        f"{entity.__name__}.{name}: {what}, which is not a field of {entity.__name__}; "
        f"it has {', '.join(sorted(entity.model_fields)) or 'none'}"
    )


def _check_upcasters(entity: type[Entity]) -> None:
    upcasters = declared(entity, Upcaster)
    version = entity.entity_options.schema_version
    for name, caster in upcasters.items():
        if version is None or not 1 <= caster.version < version:
            raise DeclarationError(
                f"{entity.__name__}.{name} upcasts items of version {caster.version}, and "
                f"{entity.__name__} is of version {version or 1}",
                hint=f"class {entity.__name__}(Entity, schema_version={caster.version + 1})",
            )


def _check_owner(entity: type[Entity]) -> None:
    """Refuse an owner whose value does not lead the partition key: the keys would not tell whose an item is."""
    owner = entity.entity_options.owner
    if owner is None:
        return
    if owner not in entity.model_fields:
        raise DeclarationError(
            f"{entity.__name__} has the owner {owner!r}, which is not a field of {entity.__name__}",
            hint=f"{entity.__name__} has {', '.join(sorted(entity.model_fields)) or 'none'}",
        )
    pk = table_keys(entity).pk
    leading = pk.parts[0] if pk.parts else None
    if leading is None:
        why = "is the same for all items"
    elif leading.reads != owner:
        why = f"is led by {leading.reads!r}"
    elif not _is_plain_value(
        leading, is_last=pk.template is None or pk.template.endswith(f"{{{leading.name}}}")
    ):
        why = f"does not hold the value of {owner!r} as it is, or not so that one can tell where it ends"
    else:
        return
    raise DeclarationError(
        f"{entity.__name__} has the owner {owner!r}, and its partition key {pk.shown()} {why}",
        hint=f'a template that begins as "USER#{{{owner}}}", or no owner=',
    )


def _is_plain_value(part: Part, *, is_last: bool) -> bool:
    """Tell whether a key holds the value of a field as it is, and one can tell where it ends."""
    codec = part.codec
    if part.source is not None:
        return False
    if isinstance(codec, TextCodec):
        return codec.function is None and (is_last or not codec.is_verbatim)
    return isinstance(codec, UuidCodec) or (isinstance(codec, NumberCodec) and not codec.decimals)


def _is_optional(annotation: object) -> bool:
    return get_origin(annotation) in (Union, UnionType) and type(None) in get_args(annotation)


def _agree(part: Part, of_field: Any) -> bool:
    """Tell whether a key's part can hold the values of a field; if unknown, True."""
    field = _plain_type(of_field)
    if isinstance(part.source, BucketOf):
        return field is None or issubclass(field, date)
    if isinstance(part.source, InitialOf):
        return field is None or issubclass(field, str)
    if part.source is not None:
        return True
    names = {each for each in (_new_type(part.annotation), _new_type(of_field)) if each is not None}
    key = _plain_type(part.annotation)
    if key is None or field is None:
        return True
    if len(names) > 1 or {key, field} == {date, datetime}:
        return False
    if key in (float, Decimal) and field is int:
        return True
    return issubclass(key, field) or issubclass(field, key)


def _new_type(annotation: object) -> Any:
    """Return the NewType that an annotation is, if it is one, optional or not."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return next((found for each in get_args(annotation) if (found := _new_type(each)) is not None), None)
    return annotation if isinstance(annotation, NewType) else None


def _plain_type(annotation: object) -> type[Any] | None:
    """Return the one class behind a type: behind a NewType, an optional, or the values of a Literal."""
    if hasattr(annotation, "__supertype__"):
        return _plain_type(annotation.__supertype__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain_type(get_args(annotation)[0])
    if origin in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return _plain_type(members[0]) if len(members) == 1 else None
    if origin is Literal:
        kinds = {type(value) for value in get_args(annotation)}
        return kinds.pop() if len(kinds) == 1 else None
    return annotation if origin is None and isinstance(annotation, type) else None


def _shown(annotation: object) -> str:
    named = _new_type(annotation)
    if named is not None:
        return str(named.__name__)
    plain = _plain_type(annotation)
    return plain.__name__ if plain is not None else str(annotation)


# --- entities that are not whole ------------------------------------------------------------------------


def unfit_fields(entity: Entity | None) -> frozenset[str]:
    """Name the invalid fields of a stored entity; none if the entity fits."""
    found: frozenset[str] = frozenset() if entity is None else entity.__dict__.get(UNFIT, frozenset())
    return found


def is_unfit(entity: Entity | None) -> bool:
    """Tell whether the item of an entity did not fit, so that it was read only as far as possible."""
    return entity is not None and UNFIT in entity.__dict__


def as_far_as_readable(entity: Entity, read: Callable[[], T], otherwise: T) -> T:
    """Compute something from a stored entity; for an unfit one, return `otherwise` if that fails."""
    if UNFIT not in entity.__dict__:
        return read()
    try:
        return read()
    except Exception:  # keys, conditions, properties and functions may raise anything for wrong types
        return otherwise


def require_whole(entity: object, what: str) -> None:
    """Refuse to write a partial entity, or what is no entity; `what` says what is written."""
    if not isinstance(entity, Entity):
        raise TypeError(f"{what}, not {shown_value(entity)}")
    if type(entity).__partial_of__ is not None:
        refuse_partial_type(type(entity))


def refuse_partial_type(kind: Any) -> NoReturn:
    """Raise the error that partial entities cannot be written."""
    raise kind.__excerpt__.refused("the rest would be lost if this were written")
