"""Which items an entity owns, and where they are found: read off the keys, checked when a design is declared.

    class Batch(Entity, owns=("BatchEvent",)):
        key = Keys(UserPK, BatchSK)          # USER#{user_id} / BATCH#{batch_id}

    class BatchEvent(Entity):
        key = Keys(BatchPK, EventSK)         # BATCH#{batch_id} / ...

The events of a batch are in the partition of its `batch_id`. Owned are the items that agree with their owner in
every field of its key that they have: in a partition of a whole tenant, only those of the user who is deleted.
Times do not count: `created_at` of a child is its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product
from types import UnionType
from typing import Any, Union, get_args, get_origin

from singletable.design.catalog import Catalog
from singletable.design.key_parts import Part
from singletable.design.keys import Key, Prefix, key_of_stored, prefix_of_stored
from singletable.design.markers import InitialOf
from singletable.design.places import key_object
from singletable.design.schema import Binding, EntitySchema
from singletable.design.stored_values import Item, decode
from singletable.errors import DeclarationError, DesignError, KeyValueError

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OwnedPlace:
    """Where the owned items of one entity are: a partition, or its shards, of the table or of an index."""

    schema: EntitySchema[Any]
    binding: Binding
    shared: Mapping[str, Part]  # parts of the owner's key that are not of the partition's, and must agree
    telling: frozenset[str]  # those without which one owner's items are not told from another's

    @property
    def is_consistent(self) -> bool:
        """Whether a read sees all that was written before it."""
        return self.binding.index is None

    def needs(self) -> frozenset[str]:
        """Name the fields of the owner that the items are found by."""
        return frozenset((*_found_by(self.binding.keys.pk), *self.shared))

    def partitions(self, owner: Values) -> Iterator[Key]:
        """Return the partitions that hold items of an owner; none where its fields do not tell."""
        if any(owner.get(name) is None for name in self.needs()):
            return
        pk = self.binding.keys.pk
        choices = [_choices(part, owner) for part in pk.parts]
        for values in product(*choices):
            named = {part.name: value for part, value in zip(pk.parts, values, strict=True)}
            yield key_of_stored(pk, named)

    def sort_prefix(self, owner: Values) -> Prefix[Any] | None:
        """Return what all sort keys of an owner's items begin with, as far as its fields tell."""
        leading = {}
        for part in self.binding.keys.sk.parts:
            if part.source is not None or part.name not in self.shared:
                break
            leading[part.name] = owner[part.name]
        return prefix_of_stored(self.binding.keys.sk, leading) if leading else None

    def is_owned(self, item: Item, owner: Values) -> bool:
        """Tell whether an item of the place agrees with its owner."""
        return all(self._agrees(item, name, owner[name]) for name in self.shared)

    def _agrees(self, item: Item, name: str, value: Any) -> bool:
        codec = self.schema.fields[name]
        if codec.stored not in item:
            known = key_fields(self.schema, item).get(name)
            # An item of before there was the field is in the owner's partition all the same.
            return name not in self.telling if known is None else _same(self.shared[name], known, value)
        if item[codec.stored] == codec.encode(value):
            return True
        stored = item[codec.stored]
        return _same(
            self.shared[name], decode(stored) if codec.decode is None else codec.decode(stored), value
        )


def _same(part: Part, first: Any, second: Any) -> bool:
    """Tell whether two values are the same in a key, which may know one form of them only."""
    try:
        return bool(part.codec.normalize(first) == part.codec.normalize(second))
    except (DesignError, TypeError, ValueError):
        return bool(first == second)


def _choices(part: Part, owner: Values) -> list[Any]:
    if part.choices is not None:
        return list(part.choices)  # by a field of the owned item, so it may be any
    return [part.of(owner)]


def _found_by(key: type[Key]) -> tuple[str, ...]:
    """Name the fields that a partition is found by: not those of parts of which all values are tried."""
    return tuple(part.reads for part in key.parts if part.choices is None)


def _plain(key: type[Key]) -> tuple[str, ...]:
    """Name the parts of a key that are fields as they are, not computed from one."""
    return tuple(part.name for part in key.parts if part.source is None)


# --- keys of stored items ----------------------------------------------------------------------------


def key_objects(schema: EntitySchema[Any], item: Item) -> tuple[Key, Any]:
    """Read the key of a stored item back; the sort key is None where the table has none."""
    binding = schema.key
    pk = key_object(binding.keys.pk, binding.pk, item)
    return pk, key_object(binding.keys.sk, binding.sk, item) if binding.sk else None


def old_keys_of(schema: EntitySchema[Any], key: Item) -> list[Item]:
    """Return the keys that the item of a key may have had before (`was=`); none of a key that is an old one."""
    if schema.key.keys.was is None:
        return []
    try:
        return list(schema.old_primary_keys(*key_objects(schema, key)))
    except KeyValueError:
        return []


def key_fields(schema: EntitySchema[Any], item: Item) -> dict[str, Any]:
    """Return the fields of a stored item that its key tells."""
    keys = [key for key in key_objects(schema, item) if key is not None]
    return {name: getattr(key, name) for key in keys for name in _plain(type(key))}


# --- finding places ----------------------------------------------------------------------------------


def check_ownership(catalog: Catalog) -> None:
    """Refuse `owns=` that names no entity, whose items cannot be found, or that goes in a circle."""
    for schema in catalog.schemas.values():
        _refuse_circle(catalog, schema, (schema.entity.__name__,))
    for schema in catalog.schemas.values():
        owned_places(catalog, schema)


def owned_places(catalog: Catalog, owner: EntitySchema[Any]) -> tuple[OwnedPlace, ...]:
    """Return where the items are that an entity owns, in the order of its `owns`."""
    return tuple(_place(owner, child) for child in _owned(catalog, owner))


def _owned(catalog: Catalog, owner: EntitySchema[Any]) -> list[EntitySchema[Any]]:
    try:
        return [catalog.resolve(child) for child in owner.entity.entity_options.owns]
    except DeclarationError as error:
        raise DeclarationError(
            f"{owner.entity.__name__} has an owns= that cannot be: {error.message}", hint=error.hint
        ) from None


def _refuse_circle(catalog: Catalog, schema: EntitySchema[Any], path: tuple[str, ...]) -> None:
    for child in _owned(catalog, schema):
        longer = (*path, child.entity.__name__)
        if child.entity.__name__ == path[0]:
            raise DeclarationError(f"{catalog.name}: {' owns '.join(longer)}: that goes in a circle")
        if child.entity.__name__ not in path:
            _refuse_circle(catalog, child, longer)


def _place(owner: EntitySchema[Any], child: EntitySchema[Any]) -> OwnedPlace:
    """Return the best place to find owned items in: the table before an index."""
    for binding in (child.key, *child.indexes):
        telling = _identity(owner) - frozenset(_plain(binding.keys.pk))
        place = OwnedPlace(child, binding, _shared(owner, child, binding), telling)
        if _is_told(owner, place) and _holds_all(child, binding):
            return place
    owning, owned = owner.entity.__name__, child.entity.__name__
    raise DeclarationError(
        f"{owning} owns {owned}, but no key of {owned} is built from fields of {owning}",
        hint=f"{_keys_shown(child)}; {owning} has {', '.join(sorted(owner.fields))}, and "
        f"{' and '.join(sorted(_identity(owner)))} must be among them. An index that does not hold every item "
        "(when=, or a part that may be None) is not enough",
    )


def _keys_shown(child: EntitySchema[Any]) -> str:
    return ", ".join(
        f"{child.entity.__name__}.{binding.name} is {binding.keys.pk.template} / {binding.keys.sk.template}"
        for binding in child.bindings.values()
    )


def _is_told(owner: EntitySchema[Any], place: OwnedPlace) -> bool:
    """Tell whether the owner's fields give the partition, and tell its items from those of other owners."""
    pk = place.binding.keys.pk
    plain = _plain(pk)
    if not plain or not all(_is_same(owner, place.schema, name) for name in plain):
        return False
    if not all(_is_computable(owner, place.schema, part) for part in pk.parts):
        return False
    return place.telling <= place.shared.keys()


def _is_computable(owner: EntitySchema[Any], child: EntitySchema[Any], part: Part) -> bool:
    """Tell whether the values of a part are counted, or follow from fields of the owner."""
    if part.source is None or part.choices is not None:
        return True
    keys = owner.key.keys
    is_initial = isinstance(part.source, InitialOf)  # which buckets of time there are, nobody knows
    is_shared = part.reads in (*_plain(keys.pk), *_plain(keys.sk))
    return is_initial and is_shared and _is_same(owner, child, part.reads)


def _identity(owner: EntitySchema[Any]) -> frozenset[str]:
    """Name the fields that tell one owner from another: the last of its sort key; without one, its partition's."""
    keys = owner.key.keys
    return frozenset(_plain(keys.sk)[-1:] or _plain(keys.pk))


def _shared(owner: EntitySchema[Any], child: EntitySchema[Any], binding: Binding) -> dict[str, Part]:
    keys = owner.key.keys
    return {
        part.name: part
        for part in (*keys.pk.parts, *keys.sk.parts)
        if part.source is None
        and part.name not in _plain(binding.keys.pk)
        and _is_same(owner, child, part.name)
        and not _is_time(child.entity.model_fields[part.name].annotation)
        and _is_shown(child, binding, part.name)
    }


def _is_same(owner: EntitySchema[Any], child: EntitySchema[Any], name: str) -> bool:
    """Tell whether a field is of both; an id of another type is another id."""
    if name not in owner.fields or name not in child.fields:
        return False
    kinds = [_bare(schema.entity.model_fields[name].annotation) for schema in (owner, child)]
    return kinds[0] is kinds[1] or not all(hasattr(kind, "__supertype__") for kind in kinds)


def _bare(annotation: Any) -> Any:
    """Return a type without the None that it may be."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    present = [member for member in members if member is not type(None)]
    return present[0] if len(present) == 1 else annotation


def _is_time(annotation: Any) -> bool:
    bare = _bare(annotation)
    return isinstance(bare, type) and issubclass(bare, date)


def _is_shown(child: EntitySchema[Any], binding: Binding, name: str) -> bool:
    """Tell whether a field can be seen in a place: it is stored there, or is part of the key."""
    index = binding.index
    if index is None or index.projection == "ALL":
        return True
    keys = child.key.keys
    return name in (*_plain(keys.pk), *_plain(keys.sk))


def _holds_all(child: EntitySchema[Any], binding: Binding) -> bool:
    """Tell whether every item is in a place; those of a sparse index are only some of them."""
    if binding.index is None:
        return True
    fields = child.entity.model_fields
    return binding.when is None and all(
        name in fields and _bare(fields[name].annotation) is fields[name].annotation
        for name in binding.keys.reads()
    )
