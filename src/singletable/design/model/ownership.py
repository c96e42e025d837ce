"""Ownership: the places that hold the items an entity owns. They follow from the keys, and are checked early.

    class Batch(Entity, owns=("BatchEvent",)):
        key = Keys(UserPK, BatchSK)          # USER#{user_id} / BATCH#{batch_id}

    class BatchEvent(Entity):
        key = Keys(BatchPK, EventSK)         # BATCH#{batch_id} / ...

The events of a batch are the item collection of its `batch_id`. An item is owned if it agrees with the owner in
every field that it shares with the owner's key. So in the partition of a whole tenant, only the items of the
deleted user are owned. Times are not compared: a child has its own `created_at`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product
from types import UnionType
from typing import Any, Union, get_args, get_origin

from singletable.design.keys.key import Key, Prefix, key_of_stored, prefix_of_stored
from singletable.design.keys.parts import Part
from singletable.design.model.catalog import Catalog
from singletable.design.model.places import key_object
from singletable.design.model.schema import Binding, EntitySchema
from singletable.design.values.items import Item, decode
from singletable.design.values.markers import InitialOf
from singletable.errors import DeclarationError, DesignError, KeyValueError

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OwnedPlace:
    """Where the owned items of one entity are: in a partition, or its write shards, of the table or an index."""

    schema: EntitySchema
    binding: Binding
    shared: Mapping[str, Part]  # parts of the owner's key that are not in the partition key, and must agree
    telling: frozenset[str]  # the shared parts that tell one owner's items from another's

    @property
    def is_consistent(self) -> bool:
        """Whether a read is strongly consistent: it sees all earlier writes."""
        return self.binding.index is None

    def needs(self) -> frozenset[str]:
        """Name the fields of the owner by which its items are found."""
        return frozenset((*_found_by(self.binding.keys.pk), *self.shared))

    def partitions(self, owner: Values) -> Iterator[Key]:
        """Return the partitions that hold items of an owner; none if its fields do not determine them."""
        if any(owner.get(name) is None for name in self.needs()):
            return
        pk = self.binding.keys.pk
        choices = [_choices(part, owner) for part in pk.parts]
        for values in product(*choices):
            named = {part.name: value for part, value in zip(pk.parts, values, strict=True)}
            yield key_of_stored(pk, named)

    def sort_prefix(self, owner: Values) -> Prefix[Any] | None:
        """Return the common prefix of the sort keys of an owner's items, as far as its fields determine it."""
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
            # An older item, from before the field existed, is in the owner's partition too.
            return name not in self.telling if known is None else _same(self.shared[name], known, value)
        if item[codec.stored] == codec.encode(value):
            return True
        stored = item[codec.stored]
        return _same(
            self.shared[name], decode(stored) if codec.decode is None else codec.decode(stored), value
        )


def _same(part: Part, first: Any, second: Any) -> bool:
    """Tell whether two values are the same in a key, which may have only one form for both."""
    try:
        return bool(part.codec.normalize(first) == part.codec.normalize(second))
    except (DesignError, TypeError, ValueError):
        return bool(first == second)


def _choices(part: Part, owner: Values) -> list[Any]:
    if part.choices is not None:
        return list(part.choices)  # a field of the owned item decides it, so any is possible
    return [part.of(owner)]


def _found_by(key: type[Key]) -> tuple[str, ...]:
    """Name the fields that determine a partition, without parts of which all values are tried."""
    return tuple(part.reads for part in key.parts if part.choices is None)


def _plain(key: type[Key]) -> tuple[str, ...]:
    """Name the parts of a key that are plain fields, not computed from a field."""
    return tuple(part.name for part in key.parts if part.source is None)


# --- keys of stored items ----------------------------------------------------------------------------


def key_objects(schema: EntitySchema, item: Item) -> tuple[Key, Any]:
    """Read the key objects of a stored item; the sort key is None if the table has none."""
    binding = schema.key
    pk = key_object(binding.keys.pk, binding.pk, item)
    return pk, key_object(binding.keys.sk, binding.sk, item) if binding.sk else None


def old_keys_of(schema: EntitySchema, key: Item) -> list[Item]:
    """Return the old keys (`was=`) that an item of this key may have; none if this key is itself an old one."""
    if schema.key.keys.was is None:
        return []
    try:
        return list(schema.old_primary_keys(*key_objects(schema, key)))
    except KeyValueError:
        return []


def key_fields(schema: EntitySchema, item: Item) -> dict[str, object]:
    """Return the fields of a stored item that its key holds."""
    keys = [key for key in key_objects(schema, item) if key is not None]
    return {name: getattr(key, name) for key in keys for name in _plain(type(key))}


# --- finding places ----------------------------------------------------------------------------------


def check_ownership(catalog: Catalog) -> None:
    """Refuse `owns=` that names no entity, or one whose items cannot be found, or that is circular."""
    for schema in catalog.schemas.values():
        _refuse_circle(catalog, schema, (schema.entity.__name__,))
    for schema in catalog.schemas.values():
        owned_places(catalog, schema)
        for child in _owned(catalog, schema):
            _refuse_other_owner(schema, child)


def _refuse_other_owner(parent: EntitySchema, child: EntitySchema) -> None:
    """Refuse that an item of one owner takes items of another along: `owns=` and `owner=` would contradict."""
    mine, theirs = (each.entity.entity_options.owner for each in (parent, child))
    if mine is None or theirs is None or (mine == theirs and _is_same(parent, child, mine)):
        return
    owning, owned = parent.entity.__name__, child.entity.__name__
    what = "another field" if mine != theirs else "an id of another type"
    raise DeclarationError(
        f"{owning} owns {owned}, and the owner of {owning} is {mine!r}, that of {owned} {theirs!r}: {what}, so "
        f"that deleting a {owning} would delete items of somebody else",
        hint=f"the same owner= in both, or a {owned} that is deleted by itself",
    )


def owned_places(catalog: Catalog, owner: EntitySchema) -> tuple[OwnedPlace, ...]:
    """Return the places of the items that an entity owns, in the order of its `owns`."""
    return tuple(_place(owner, child) for child in _owned(catalog, owner))


def _owned(catalog: Catalog, owner: EntitySchema) -> list[EntitySchema]:
    try:
        return [catalog.resolve(child) for child in owner.entity.entity_options.owns]
    except DeclarationError as error:
        raise DeclarationError(
            f"{owner.entity.__name__} has an owns= that cannot be: {error.message}", hint=error.hint
        ) from None


def _refuse_circle(catalog: Catalog, schema: EntitySchema, path: tuple[str, ...]) -> None:
    for child in _owned(catalog, schema):
        longer = (*path, child.entity.__name__)
        if child.entity.__name__ == path[0]:
            raise DeclarationError(f"{catalog.name}: {' owns '.join(longer)}: that goes in a circle")
        if child.entity.__name__ not in path:
            _refuse_circle(catalog, child, longer)


def _place(owner: EntitySchema, child: EntitySchema) -> OwnedPlace:
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


def _keys_shown(child: EntitySchema) -> str:
    return ", ".join(
        f"{child.entity.__name__}.{binding.name} is {binding.keys.pk.template} / {binding.keys.sk.template}"
        for binding in child.bindings.values()
    )


def _is_told(owner: EntitySchema, place: OwnedPlace) -> bool:
    """Tell whether the owner's fields determine the partition, and tell its items from those of other owners."""
    pk = place.binding.keys.pk
    plain = _plain(pk)
    if not plain or not all(_is_same(owner, place.schema, name) for name in plain):
        return False
    if not all(_is_computable(owner, place.schema, part) for part in pk.parts):
        return False
    return place.telling <= place.shared.keys()


def _is_computable(owner: EntitySchema, child: EntitySchema, part: Part) -> bool:
    """Tell whether the values of a part are a known list, or are computed from fields of the owner."""
    if part.source is None or part.choices is not None:
        return True
    keys = owner.key.keys
    is_initial = isinstance(part.source, InitialOf)  # the buckets of time that exist are unknown
    is_shared = part.reads in (*_plain(keys.pk), *_plain(keys.sk))
    return is_initial and is_shared and _is_same(owner, child, part.reads)


def _identity(owner: EntitySchema) -> frozenset[str]:
    """Name the fields that identify an owner: the last of its sort key; without one, those of its partition."""
    keys = owner.key.keys
    return frozenset(_plain(keys.sk)[-1:] or _plain(keys.pk))


def _shared(owner: EntitySchema, child: EntitySchema, binding: Binding) -> dict[str, Part]:
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


def _is_same(owner: EntitySchema, child: EntitySchema, name: str) -> bool:
    """Tell whether both entities have the same field; an id of another type is another id."""
    if name not in owner.fields or name not in child.fields:
        return False
    kinds = [_bare(schema.entity.model_fields[name].annotation) for schema in (owner, child)]
    return kinds[0] is kinds[1] or not all(hasattr(kind, "__supertype__") for kind in kinds)


def _bare(annotation: object) -> Any:
    """Return a type without its None."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    present = [member for member in members if member is not type(None)]
    return present[0] if len(present) == 1 else annotation


def _is_time(annotation: object) -> bool:
    bare = _bare(annotation)
    return isinstance(bare, type) and issubclass(bare, date)


def _is_shown(child: EntitySchema, binding: Binding, name: str) -> bool:
    """Tell whether a field can be read in a place: it is stored there, or is part of the key."""
    index = binding.index
    if index is None or index.projection == "ALL":
        return True
    keys = child.key.keys
    return name in (*_plain(keys.pk), *_plain(keys.sk))


def _holds_all(child: EntitySchema, binding: Binding) -> bool:
    """Tell whether a place holds every item; a sparse index holds only some."""
    if binding.index is None:
        return True
    fields = child.entity.model_fields
    return binding.when is None and all(
        name in fields and _bare(fields[name].annotation) is fields[name].annotation
        for name in binding.keys.reads()
    )
