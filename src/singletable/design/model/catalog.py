"""All entities of a design: finds the entity of a stored item, and entities whose keys may be equal."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Final

from singletable.design.keys.key import Key, NoSortKey
from singletable.design.keys.template import Part
from singletable.design.keys.texts import stored_template
from singletable.design.model.declarations import DeclaredIndex, Projection
from singletable.design.model.entity import Entity, refuse_partial_type
from singletable.design.model.projections import bind_projection
from singletable.design.model.schema import HASH, AttributeType, EntitySchema, lock_sort
from singletable.design.model.table import Table
from singletable.design.values.fields import Casing
from singletable.design.values.items import Item
from singletable.errors import DeclarationError

Holds = Callable[[str], bool]
Unit = tuple[
    Holds, str, bool
]  # the set of characters, the character itself if it is literal, and whether it repeats
Shape = tuple[Sequence[Unit] | None, Sequence[Unit] | None]  # of the two keys; None: any text

_SAMPLES: Final = string.ascii_letters + string.digits + "#-_/:.| é"


def overlapping_entities(schemas: Iterable[EntitySchema]) -> frozenset[EntitySchema]:
    """Return the entities whose table keys may equal a key of another entity, or of a lock."""
    shapes = [(schema, shape) for schema in schemas for shape in _shapes(schema)]
    locks = [shape for schema, _ in shapes for shape in _locks(schema)]
    found = {schema for schema, shape in shapes if any(_overlap(shape, lock) for lock in locks)}
    for (one, shape), (other, another) in combinations(shapes, 2):
        if one is not other and _overlap(shape, another):
            found |= {one, other}
    return frozenset(found)


def _shapes(schema: EntitySchema) -> list[Shape]:
    keys = schema.key.keys
    return [(_units(pk), _units(sk)) for pk, sk in ((keys.pk, keys.sk), *([keys.was] if keys.was else ()))]


def _locks(schema: EntitySchema) -> list[Shape]:
    has_sort_key = schema.table.sk is not None
    return [
        (_units(lock.key), _lock_units(sort) if has_sort_key else ())
        for lock in schema.locks.values()
        for sort in (lock.sort, lock.was)
        if sort is not None
    ]


def _lock_units(sort: str) -> Sequence[Unit]:
    """Return the units of a lock's sort key; for a hash, one for each digit."""
    before, found, after = sort.partition(HASH)
    digits = len(lock_sort(HASH, "")) if found else 0
    return [*_literal(before), *[(string.hexdigits.__contains__, "", False)] * digits, *_literal(after)]


def _overlap(one: Shape, other: Shape) -> bool:
    return all(
        first is None or second is None or _have_common_text(first, second)
        for first, second in zip(one, other, strict=True)
    )


# --- two templates ---------------------------------------------------------------------------------------


def _units(key: type[Key]) -> Sequence[Unit] | None:
    if key is NoSortKey:
        return ()
    if key.compiled is None:
        return None
    return [unit for part in key.compiled.parts for unit in _part_units(part)]


def _part_units(part: Part) -> list[Unit]:
    if isinstance(part, str):
        return _literal(part)
    holds = part.codec.may_hold
    width = part.codec.width_fixed
    if width is not None:
        return [(holds, "", False)] * width
    return [(holds, "", False), (holds, "", True)]


def _literal(text: str) -> list[Unit]:
    return [(character.__eq__, character, False) for character in text]


def _have_common_text(one: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Tell whether one text fits both shapes. It walks both at once, along characters that both allow next."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        at = waiting.pop()
        if at == (len(one), len(other)):
            return True
        for following in _following(one, other, *at):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def _following(
    one: Sequence[Unit], other: Sequence[Unit], first: int, second: int
) -> Iterable[tuple[int, int]]:
    left = one[first] if first < len(one) else None
    right = other[second] if second < len(other) else None
    if left is not None and left[2]:
        yield first + 1, second
    if right is not None and right[2]:
        yield first, second + 1
    if left is not None and right is not None and _share_character(left, right):
        yield first + (not left[2]), second + (not right[2])


def _share_character(left: Unit, right: Unit) -> bool:
    samples = left[1] or right[1] or _SAMPLES
    return any(left[0](sample) and right[0](sample) for sample in samples)


RESERVED: Final = "$"  # begins the discriminators of the layer's own items
_PLACEHOLDER: Final = re.compile(r"\{\w+(?::[^{}]*)?\}")


class KeptData:
    """The interface of kept data that a catalog needs. This one keeps nothing.

    `singletable.design.kept` has the real one.
    """

    remembers_records = False  # whether it stores, in items that expire, which stream records were counted

    def __init__(self, catalog: Catalog) -> None:
        """Resolve the declarations of the entities. The catalog has only its entities by now."""


class Catalog:
    """The compiled entities of one design."""

    def __init__(
        self,
        name: str,
        table: type[Table],
        entities: Sequence[type[Entity]],
        casing: Casing,
        discriminator: str,
        keep: Callable[[Catalog], KeptData] = KeptData,
    ) -> None:
        self.name = name
        self.table = table
        self.key_names = table.key_attributes()
        self.casing = casing
        self.discriminator = discriminator
        self.schemas: dict[type[Entity], EntitySchema] = {
            entity: EntitySchema(entity, table, casing, discriminator) for entity in entities
        }
        self._by_name = {name: schema for schema in self.schemas.values() for name in schema.names}
        self._check_names()
        self._check_keys()
        # For items without a discriminator. The most specific template comes first.
        self._by_literals = sorted(self.schemas.values(), key=_literals, reverse=True)
        self.attribute_types = self._attribute_types()
        self.has_old_keys = any(schema.key.keys.was is not None for schema in self.schemas.values())
        self.kept = keep(self)
        self.overlapping = overlapping_entities(self.schemas.values())
        self.ttl = self._ttl()
        locks = [lock for schema in self.schemas.values() for lock in schema.locks.values()]
        # The unique values whose locks may still have their old sort key.
        self.old_locks = frozenset(lock for lock in locks if lock.was is not None)
        self.projections = {index.name: self._projection(index) for index in table.indexes}
        for schema in self.schemas.values():
            for binding in schema.indexes:
                assert binding.index is not None
                bind_projection(schema, binding, self.projections[binding.index.name])

    def schema_of(self, item: Item) -> EntitySchema | None:
        """Find the entity of an item by its discriminator, or without one by the templates of its keys."""
        stored = item.get(self.discriminator)
        if stored is not None:
            return self._by_name.get(stored.get("S", ""))
        return next((schema for schema in self._by_literals if _fits(schema, item)), None)

    def is_own(self, item: Item) -> bool:
        """Tell whether an item is the layer's own: a lock, a guard, the record of a migration."""
        return str(item.get(self.discriminator, {}).get("S", "")).startswith(RESERVED)

    def key_in(self, item: Item) -> Item:
        """Return the table key of an item."""
        return {name: item[name] for name in self.key_names}

    def named(self, name: str) -> EntitySchema | None:
        """Find an entity by the value of its discriminator."""
        return self._by_name.get(name)

    def schema_for(self, entity: type[Any]) -> EntitySchema:
        """Return an entity of this design, compiled."""
        return self.schemas.get(entity) or self.resolve(entity)

    def resolve(self, entity: type[Any] | str) -> EntitySchema:
        """Find an entity by its class, or by the name of its class; refuse a class of partial entities."""
        for known, schema in self.schemas.items():
            if known is entity or known.__name__ == entity:
                return schema
        if getattr(entity, "__partial_of__", None) is not None:
            refuse_partial_type(entity)
        name = entity if isinstance(entity, str) else entity.__name__
        raise DeclarationError(
            f"{name} is not an entity of {self.name}",
            hint=f"entities = (..., {name}); it has {', '.join(known.__name__ for known in self.schemas)}",
        )

    def _check_names(self) -> None:
        for entity, schema in self.schemas.items():
            for name in sorted(schema.names):
                other = self._by_name[name].entity
                if other is not entity:
                    raise DeclarationError(
                        f"{self.name}: {entity.__name__} and {other.__name__} are both stored with "
                        f"{self.discriminator} = {name}",
                        hint=f'class {other.__name__}(Entity, name="...")',
                    )

    def _check_keys(self) -> None:
        """Refuse two entities with the same key template: an item of one would replace an item of the other."""
        seen: dict[tuple[str, ...], type[Entity]] = {}
        for entity, schema in self.schemas.items():
            keys = schema.key.keys
            shape = tuple(_PLACEHOLDER.sub("{}", stored_template(key) or "{}") for key in (keys.pk, keys.sk))
            other = seen.setdefault(shape, entity)
            if other is not entity:
                others = self.schemas[other].key.keys
                raise DeclarationError(
                    f"{self.name}: {entity.__name__}.{keys.name} ({keys.shown()}) and "
                    f"{other.__name__}.{others.name} ({others.shown()}) can be the same key",
                    hint="begin the sort keys of different entities with different words",
                )

    def _attribute_types(self) -> dict[str, AttributeType]:
        """Return the types of all key attributes; entities must agree on them."""
        table = self.table
        types: dict[str, AttributeType] = dict.fromkeys(table.key_attributes(), "S")
        for index in table.indexes:
            types.update(dict.fromkeys((*index.pk, *index.sk), "S"))
        said: dict[str, tuple[AttributeType, str]] = {}
        for entity, schema in self.schemas.items():
            for binding in schema.bindings.values():
                for attribute in binding.attributes():
                    kind, first = said.setdefault(attribute.name, (attribute.kind, entity.__name__))
                    if kind != attribute.kind:
                        raise DeclarationError(
                            f"{self.name}: the key {attribute.name} is {kind} in {first} and {attribute.kind} in "
                            f"{entity.__name__}"
                        )
                    types[attribute.name] = attribute.kind
        return types

    def _ttl(self) -> str | None:
        """Return the time-to-live attribute. A table has only one, so entities must agree on it."""
        said = [
            (schema.ttl.stored, entity) for entity, schema in self.schemas.items() if schema.ttl is not None
        ]
        for stored, entity in said:
            if stored != said[0][0]:
                raise DeclarationError(
                    f"{self.name}: the time to live is stored as {said[0][0]} in {said[0][1].__name__} and as "
                    f"{stored} in {entity.__name__}, and a table has one such attribute",
                    hint=f'Annotated[Ttl, Stored("{said[0][0]}")]',
                )
        if said or not self.kept.remembers_records:
            return said[0][0] if said else None
        return "ttl"

    def _projection(self, index: DeclaredIndex) -> Projection:
        """Return the attributes that an index projects, by stored names.

        A declared name is a field of an entity in the index, or the name of a stored attribute. Reads need the
        discriminator, the schema version and the time to live, so these are projected too.
        """
        if isinstance(index.projection, str):
            return index.projection
        bound = [
            schema
            for schema in self.schemas.values()
            if any(binding.index is index for binding in schema.indexes)
        ]
        names: dict[str, None] = {}
        for name in index.projection:
            stored = _stored_names(bound or list(self.schemas.values()), name)
            if not stored:
                raise DeclarationError(
                    f"{self.name}: index {index.name} projects {name!r}, which no entity in it has"
                )
            names.update(dict.fromkeys(stored))
        names[self.discriminator] = None
        for schema in bound:
            if schema.schema_version is not None:
                names[schema.schema_version_name] = None
            if schema.ttl is not None:
                names[schema.ttl.stored] = None
        keys = {*self.table.key_attributes(), *index.pk, *index.sk}
        return tuple(sorted(set(names) - keys))


def _stored_names(schemas: list[EntitySchema], name: str) -> list[str]:
    """Return the stored names of a field of these entities; or the name itself, if an attribute has it."""
    fields = [schema.fields[name].stored for schema in schemas if name in schema.fields]
    return fields or [name for schema in schemas if schema.knows(name)]


def _literals(schema: EntitySchema) -> int:
    """Return how many characters of an entity's key are literal."""
    keys = schema.key.keys
    return sum(len(_PLACEHOLDER.sub("", key.template or "")) for key in (keys.pk, keys.sk))


def _fits(schema: EntitySchema, item: Item) -> bool:
    keys = schema.key.keys
    return _fits_keys(schema, keys.pk, keys.sk, item) or (
        keys.was is not None and _fits_keys(schema, *keys.was, item)
    )


def _fits_keys(schema: EntitySchema, pk: type[Key], sk: type[Key], item: Item) -> bool:
    return all(
        _matches(key, item.get(attribute.name, {}).get(attribute.kind))
        for key, attributes in ((pk, schema.key.pk), (sk, schema.key.sk))
        for attribute in attributes
    )


def _matches(key: type[Key], text: str | None) -> bool:
    return text is not None and (key.compiled is None or key.compiled.matches(text))
