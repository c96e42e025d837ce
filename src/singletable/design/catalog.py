"""All entities of a design as it stores them, and which of them an item is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from singletable.design.belonging import Belonging
from singletable.design.bindings import Index, Projection
from singletable.design.casing import Casing
from singletable.design.entity import Entity
from singletable.design.key_texts import stored_template
from singletable.design.keys import Key
from singletable.design.overlapping import overlapping_entities
from singletable.design.projections import bind_projection, refuse_partial_type
from singletable.design.schema import AttributeType, EntitySchema
from singletable.design.stored_values import Item
from singletable.design.tables import Table
from singletable.errors import DeclarationError

RESERVED: Final = "$"  # begins the discriminators of what the layer keeps for itself
_PLACEHOLDER: Final = re.compile(r"\{\w+(?::[^{}]*)?\}")


class Catalog:
    """The compiled entities of one design."""

    def __init__(
        self,
        name: str,
        table: type[Table],
        entities: Sequence[type[Entity]],
        casing: Casing,
        discriminator: str,
    ) -> None:
        self.name = name
        self.table = table
        self.casing = casing
        self.discriminator = discriminator
        self.schemas: dict[type[Entity], EntitySchema[Any]] = {
            entity: EntitySchema(entity, table, casing, discriminator) for entity in entities
        }
        self._by_name = {name: schema for schema in self.schemas.values() for name in schema.names}
        self._check_names()
        self._check_keys()
        # For items without a discriminator: the template that says most comes first.
        self._by_literals = sorted(self.schemas.values(), key=_literals, reverse=True)
        self.attribute_types = self._attribute_types()
        self.has_old_keys = any(schema.key.keys.was is not None for schema in self.schemas.values())
        self.belonging = Belonging(self.schemas, self.resolve, casing)
        self.overlapping = overlapping_entities(self.schemas.values())
        self._check_stream()
        self.ttl = self._ttl()
        locks = [lock for schema in self.schemas.values() for lock in schema.locks.values()]
        # Locks that may still have the sort key which they had before.
        self.old_locks = frozenset(lock for lock in locks if lock.was is not None)
        self.projections = {index.name: self._projection(index) for index in table.indexes}
        for schema in self.schemas.values():
            for binding in schema.indexes:
                assert binding.index is not None
                bind_projection(schema, binding, self.projections[binding.index.name])

    def _check_stream(self) -> None:
        """Refuse what is kept by a stream that the table does not have, or that says too little."""
        belonging = self.belonging
        wanted = [each.link for each in belonging.aggregates if each.by == "stream"]
        wanted += [each.link for each in belonging.copies if each.by == "stream"]
        wanted += [each.link for each in belonging.made if each.by == "stream"]
        if wanted and self.table.stream != "NEW_AND_OLD_IMAGES":
            raise DeclarationError(
                f"{self.name}: {wanted[0].child.entity.__name__} and {wanted[0].parent.entity.__name__} are "
                f"kept together by the stream, and {self.table.__name__}.stream is {self.table.stream!r}",
                hint='stream = "NEW_AND_OLD_IMAGES", or by="transaction"',
            )

    def schema_of(self, item: Item) -> EntitySchema[Any] | None:
        """Find the entity of an item: by its discriminator; for one without, by the templates of its keys."""
        stored = item.get(self.discriminator)
        if stored is not None:
            return self._by_name.get(stored.get("S", ""))
        return next((schema for schema in self._by_literals if _fits(schema, item)), None)

    def is_own(self, item: Item) -> bool:
        """Tell whether the layer keeps an item for itself: a lock, a guard, the record of a migration."""
        return str(item.get(self.discriminator, {}).get("S", "")).startswith(RESERVED)

    def named(self, name: str) -> EntitySchema[Any] | None:
        """Find an entity by the value of its discriminator."""
        return self._by_name.get(name)

    def schema_for(self, entity: type[Any]) -> EntitySchema[Any]:
        """Return an entity of this design, compiled."""
        return self.schemas.get(entity) or self.resolve(entity)

    def resolve(self, entity: type[Any] | str) -> EntitySchema[Any]:
        """Find an entity by its class, or by the name of its class; refuse that of partial ones."""
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
        """Refuse two entities whose keys are written alike: an item of one would replace one of the other."""
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
        """Return the attribute of the time to live, of which a table has one; entities must agree on it."""
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
        if said or all(each.by == "transaction" for each in self.belonging.aggregates):
            return said[0][0] if said else None
        return "ttl"  # of what remembers which records of the stream were counted

    def _projection(self, index: Index) -> Projection:
        """Return what an index projects, by stored names.

        A name is that of a field of an entity in the index, or one that an attribute is stored by. Reads need the
        discriminator, the version of an item's form and its time to live, so they are projected too.
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


def _stored_names(schemas: list[EntitySchema[Any]], name: str) -> list[str]:
    """Return how a field of these entities is stored; of no field, the name itself if something is stored so."""
    fields = [schema.fields[name].stored for schema in schemas if name in schema.fields]
    return fields or [name for schema in schemas if schema.knows(name)]


def _literals(schema: EntitySchema[Any]) -> int:
    """Return how many characters of an entity's key are not those of a field."""
    keys = schema.key.keys
    return sum(len(_PLACEHOLDER.sub("", key.template or "")) for key in (keys.pk, keys.sk))


def _fits(schema: EntitySchema[Any], item: Item) -> bool:
    keys = schema.key.keys
    return _fits_keys(schema, keys.pk, keys.sk, item) or (
        keys.was is not None and _fits_keys(schema, *keys.was, item)
    )


def _fits_keys(schema: EntitySchema[Any], pk: type[Key], sk: type[Key], item: Item) -> bool:
    return all(
        _matches(key, item.get(attribute.name, {}).get(attribute.kind))
        for key, attributes in ((pk, schema.key.pk), (sk, schema.key.sk))
        for attribute in attributes
    )


def _matches(key: type[Key], text: str | None) -> bool:
    return text is not None and (key.compiled is None or key.compiled.matches(text))
