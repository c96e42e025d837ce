"""Projections of indexes, and the partial entities that are read through them.

When a design is declared, a class of partial entities is made from the class of the entity. A partial entity has
the fields that the index projects, the fields that its keys hold, and the keys. Other fields raise an error. A
partial entity cannot be written, since a write would lose the fields that were not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic.fields import FieldInfo, ModelPrivateAttr
from pydantic_core import PydanticUndefined

from singletable.design.keys.codecs import TextCodec
from singletable.design.keys.parts import Part
from singletable.design.model.declarations import KNOWN_KEYS, Projection
from singletable.design.model.entity import Entity, table_keys
from singletable.design.model.places import Binding, key_object
from singletable.design.model.schema import EntitySchema
from singletable.design.values.computed import fields_validator_of
from singletable.design.values.items import Item, decode
from singletable.errors import DeclarationError, NotProjectedError

E = TypeVar("E", bound=Entity)

_WHOLE = "fetch=True reads whole items"


# --- partial entities -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of an entity that is read: the fields that an index holds, for one of the entity's bindings."""

    entity: type[Entity]
    place: str
    index: str
    fields: tuple[str, ...]

    def refused(self, what: str) -> NotProjectedError:
        """Return the error of a use that needs the whole entity, with a hint how to read it."""
        name, key = self.entity.__name__, table_keys(self.entity).name
        return NotProjectedError(
            f"{name}.{self.place} reads index {self.index}, which holds {', '.join(('its keys', *self.fields))} "
            f"of an item: {what}",
            hint=f"read it whole, db.plan({name}.{key}.get(*entity.{key})).one(); or bind {name}.{self.place} "
            f"with fetch=True, which reads whole items",
        )


class PartialEntity:
    """The base class of partial entities, beside the class of their entity."""

    __excerpt__: ClassVar[Excerpt]

    if TYPE_CHECKING:
        __pydantic_fields__: ClassVar[dict[str, FieldInfo]]

        def __getstate__(self) -> dict[Any, Any]: ...

    else:

        def __getattr__(self, name: str) -> Any:
            if name in type(self).__pydantic_fields__:
                raise self.__excerpt__.refused(f"{name!r} was not read")
            return super().__getattr__(name)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        fields = type(self).__pydantic_fields__
        return ((name, self.__dict__[name]) for name in fields if name in self.__dict__ and fields[name].repr)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _fields_there(self) == _fields_there(other)

    __hash__ = None  # type: ignore[assignment]  # as of every entity

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.__excerpt__, self.__getstate__())


def _fields_there(entity: Any) -> dict[str, object]:
    return {
        name: entity.__dict__[name] for name in type(entity).__pydantic_fields__ if name in entity.__dict__
    }


def _restored(excerpt: Excerpt, state: dict[Any, Any]) -> Any:
    kind: Any = partial_type(excerpt)
    entity = kind.__new__(kind)
    entity.__setstate__(state)
    return entity


def partial_type(excerpt: Excerpt) -> type[Entity]:
    """Return the class of partial entities for an excerpt. It is made once."""
    made: dict[Excerpt, type[Entity]] = vars(excerpt.entity).get("__partials__", {})
    if excerpt not in made:
        made[excerpt] = _made_type(excerpt)
        excerpt.entity.__partials__ = made  # type: ignore[attr-defined]
    return made[excerpt]


def _made_type(excerpt: Excerpt) -> type[Entity]:
    entity, options = excerpt.entity, excerpt.entity.entity_options
    name = f"Partial{entity.__name__}"
    body = {
        "__module__": entity.__module__,
        "__qualname__": name,
        "__doc__": entity.__doc__,
        "__excerpt__": excerpt,
        "__partial_of__": entity,
    }
    arguments = {"name": options.name, "owns": options.owns, "schema_version": options.schema_version}
    made: Any = new_class(name, (PartialEntity, entity), arguments, lambda scope: scope.update(body))
    if made.__pydantic_decorators__.computed_fields:
        # Pydantic's computed fields are properties, which may read missing fields: they are not shown.
        made.__pydantic_decorators__.computed_fields.clear()
        made.model_rebuild(force=True)
    kind: type[Entity] = made
    return kind


def partial_item(schema: EntitySchema, entity: Entity) -> Item:
    """Return the stored attributes of a partial entity, as far as they are known."""
    item: Item = {}
    for place, keys in entity.__dict__[KNOWN_KEYS].items():
        item.update(schema.bindings[place].item_of(*keys))
    item[schema.discriminator] = {"S": schema.name}
    there = [schema.fields[name] for name in _fields_there(entity)]
    values = {codec.stored: (codec, entity.__dict__[codec.name]) for codec in there}
    item.update(
        {name: codec.encode(value) for name, (codec, value) in values.items() if not codec.is_omitted(value)}
    )
    return item


# --- reading them ---------------------------------------------------------------------------------------


class PartialView(Generic[E]):
    """Makes partial entities from items of an index, and ignores other attributes that a target returns."""

    def __init__(self, schema: EntitySchema, binding: Binding, held: frozenset[str]) -> None:
        assert binding.index is not None
        self._schema = schema
        self._stored = [(codec.stored, codec.name, codec.decode) for codec in _held_codecs(schema, held)]
        self._absent = [
            (codec.name, codec.absent) for codec in _held_codecs(schema, held) if codec.absent is not None
        ]
        self._places = [(place.name, _key_readers(place)) for place in (schema.key, binding)]
        told = {name for place in (schema.key, binding) for name in _told_by_keys(schema, place)}
        self._told = told - held
        names = tuple(name for name in schema.fields if name in held or name in told)
        self.excerpt = Excerpt(schema.entity, binding.name, binding.index.name, names)
        self._kind: Any = partial_type(self.excerpt)
        self._validate = partial(fields_validator_of(schema.entity, names).validate_python, strict=False)

    def to_entity(self, item: Item) -> E:
        """Build the partial entity of an item of the index."""
        values: dict[str, object] = {}
        try:
            self._schema.refuse_newer(item)
            for stored, name, decoder in self._stored:
                value = item.get(stored)
                if value is not None:
                    values[name] = decode(value) if decoder is None else decoder(value)
            for name, absent in self._absent:
                values.setdefault(name, absent())
            keys = {place: tuple(read(item) for read in readers) for place, readers in self._places}
            for key in (key for pair in keys.values() for key in pair):
                values.update({name: key.__dict__[name] for name in self._told if name in key.__dict__})
            fields, extra, given = self._validate(values)
        except (ValueError, OverflowError, LookupError) as error:
            raise self._schema.invalid(
                item, error, hint=f"{_WHOLE}; look at this one by its key, in the table"
            ) from error
        fields[KNOWN_KEYS] = keys
        return self._entity(fields, extra, given)

    def _entity(self, fields: dict[str, object], extra: dict[str, object] | None, given: set[str]) -> E:
        """Build an instance as `model_construct` of Pydantic does, without the defaults."""
        private = {
            name: default
            for name, attribute in self._kind.__private_attributes__.items()
            if (default := _private_default(attribute, fields)) is not PydanticUndefined
        }
        entity: E = self._kind.__new__(self._kind)
        object.__setattr__(entity, "__dict__", fields)
        object.__setattr__(entity, "__pydantic_fields_set__", given)
        object.__setattr__(entity, "__pydantic_extra__", extra)
        object.__setattr__(entity, "__pydantic_private__", private or None)
        return entity


def _private_default(attribute: ModelPrivateAttr, fields: dict[str, object]) -> Any:
    factory: Any = attribute.default_factory
    if factory is None:
        return deepcopy(attribute.default)
    takes_fields = getattr(attribute, "default_factory_takes_validated_data", False)
    return factory(dict(fields)) if takes_fields else factory()


def _held_codecs(schema: EntitySchema, held: frozenset[str]) -> list[Any]:
    return [codec for codec in schema.fields.values() if codec.name in held]


def _key_readers(place: Binding) -> list[Any]:
    keys = place.keys
    pairs = ((keys.pk, place.pk), (keys.sk, place.sk))
    return [partial(key_object, key, attributes) for key, attributes in pairs]


def _told_by_keys(schema: EntitySchema, place: Binding) -> Iterable[str]:
    """Name the fields that keys hold unchanged: not computed from other fields, and in the same form."""
    parts = (*place.keys.pk.parts, *place.keys.sk.parts)
    return [part.name for part in parts if part.name in schema.fields and _is_exact(part)]


def _is_exact(part: Part) -> bool:
    is_changed = isinstance(part.codec, TextCodec) and part.codec.function is not None
    return part.source is None and not is_changed


# --- declaring them -------------------------------------------------------------------------------------


def bind_projection(schema: EntitySchema, binding: Binding, projection: Projection) -> None:
    """Decide what reads through an index return: whole entities, partial ones, or fetched ones."""
    if projection == "ALL":
        return
    attributes = {*schema.key_names, *(attribute.name for attribute in binding.attributes())}
    if isinstance(projection, tuple):
        attributes.update(projection)
    held = frozenset(codec.name for codec in schema.fields.values() if codec.stored in attributes)
    binding.held = held
    if binding.fetches:
        return
    is_whole = held == schema.fields.keys()
    _check_readable(schema, binding, held, is_whole=is_whole)
    if not is_whole:
        binding.view = PartialView(schema, binding, held)


def _check_readable(schema: EntitySchema, binding: Binding, held: frozenset[str], *, is_whole: bool) -> None:
    """Refuse an index that lacks attributes which every read of an entity needs."""
    ttl = schema.ttl
    if ttl is not None and ttl.name not in held:
        raise _not_readable(
            schema,
            binding,
            f"which does not hold {ttl.name!r}: reads could not leave out what has expired",
            f'; projection=("{ttl.name}",) holds it',
        )
    if schema.has_upcasters:
        raise _not_readable(
            schema, binding, "which holds a part of its items: an upcaster needs the whole of an older one"
        )
    if not is_whole and (binding.keys.was is not None or schema.key.keys.was is not None):
        raise _not_readable(
            schema,
            binding,
            "which holds a part of its items: it does not tell where one belongs that has old keys (was=)",
        )


def _not_readable(schema: EntitySchema, binding: Binding, why: str, more: str = "") -> DeclarationError:
    assert binding.index is not None
    return DeclarationError(
        f"{schema.entity.__name__}.{binding.name} ({binding.keys.shown()}) is in index {binding.index.name}, "
        f"{why}",
        hint=f"{_WHOLE}{more}",
    )
