"""Which items belong to which: what counters, copies and derived items are declared between two entities.

An item names the one that it belongs to by fields: those of its parent's key, under the same names or as `via`
says. A parent finds its children in a place of theirs, the table or an index, whose partition key is built from
these fields. All of it is worked out, and refused where it cannot be, when a design is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, Final, TypeVar, get_args

from singletable.design.casing import Casing, stored_name
from singletable.design.condition_values import declared_condition
from singletable.design.conditions import Condition, fields_of
from singletable.design.entity import Entity
from singletable.design.keys import Key, key_of_stored
from singletable.design.markers import Aggregate, AverageOf, CopyOf, CountOf, SumOf, Upkeep
from singletable.design.relations import Derived
from singletable.design.schema import Binding, EntitySchema
from singletable.design.stored_values import Item
from singletable.errors import DeclarationError

Schemas = Mapping[type[Entity], EntitySchema[Any]]
Resolve = Callable[[type[Any] | str], EntitySchema[Any]]
G = TypeVar("G")
M = TypeVar("M")
T = TypeVar("T")

AGGREGATES: Final[tuple[type[Aggregate], ...]] = (CountOf, SumOf, AverageOf)
COPIES: Final = (CopyOf,)


@dataclass(frozen=True, slots=True)
class Link:
    """How items of one entity name an item of another: for each field of the parent's key, one of the child."""

    parent: EntitySchema[Any]
    child: EntitySchema[Any]
    via: Mapping[str, str]

    def parent_key(self, child: Entity) -> Item | None:
        """Return the key of the item that a child belongs to; None if it belongs to none."""
        values = {name: getattr(child, field, None) for name, field in self.via.items()}
        if any(value is None for value in values.values()):
            return None
        return self.parent.primary_key_of(*self.parent.key.keys.of(values))

    def holds(self, parent: Entity, child: Entity) -> bool:
        """Tell whether a child belongs to an item: its fields are the same, or come to the same key."""
        if all(getattr(child, field, None) == getattr(parent, name) for name, field in self.via.items()):
            return True
        return self.parent_key(child) == self.parent.primary_key(parent)

    def partitions(self, place: Binding, parent: Entity) -> Iterator[Key]:
        """Return the partitions of a place in which the children of an item are: one, or one for each shard."""
        values = {field: getattr(parent, name, None) for name, field in self.via.items()}
        parts = place.keys.pk.parts
        choices = [
            part.choices if part.choices is not None and part.reads not in values else (part.of(values),)
            for part in parts
        ]
        for chosen in product(*choices):
            named = {part.name: value for part, value in zip(parts, chosen, strict=True)}
            yield key_of_stored(place.keys.pk, named)


@dataclass(frozen=True, slots=True)
class Aggregated:
    """A field of a parent that counts, adds up or averages its children."""

    link: Link
    place: Binding
    field: str
    marker: Aggregate
    when: Condition | None  # that of the marker, with values as the child's fields have them
    sum_name: str  # attributes beside an average; of a count or a sum, the field's own
    count_name: str

    @property
    def by(self) -> Upkeep:
        return self.marker.by

    def reads(self) -> frozenset[str]:
        """Name the fields of a child that decide what it adds."""
        summed = () if isinstance(self.marker, CountOf) else (self.marker.field,)
        condition = () if self.when is None else fields_of(self.when)
        return frozenset((*self.link.via.values(), *summed, *condition))


@dataclass(frozen=True, slots=True)
class Copied:
    """A field of a child that repeats one of the item that it belongs to."""

    link: Link
    place: Binding
    field: str
    marker: CopyOf

    @property
    def by(self) -> Upkeep:
        return self.marker.by


@dataclass(frozen=True, slots=True)
class Made:
    """An entity whose items are made from another one; the source is their parent."""

    link: Link
    declaration: Derived

    @property
    def by(self) -> Upkeep:
        return self.declaration.by

    def reads(self) -> frozenset[str]:
        """Name the fields of the source that decide what is made."""
        if self.declaration.reads is None:
            return frozenset(self.link.parent.fields)
        return frozenset((*self.declaration.reads, *self.link.via))


class Belonging:
    """All that the entities of a design keep of one another."""

    def __init__(self, schemas: Schemas, resolve: Resolve, casing: Casing) -> None:
        self._resolve = resolve
        self._casing = casing
        self.aggregates = [each for schema in schemas.values() for each in self._aggregates(schema)]
        self.copies = [each for schema in schemas.values() for each in self._copies(schema)]
        self.made = [
            self._derivation(schema, schema.derived) for schema in schemas.values() if schema.derived
        ]
        self._counting = _grouped(self.aggregates, lambda each: each.link.parent)
        self._copying = _grouped(self.copies, lambda each: each.link.child)
        self._counted = _grouped(self.aggregates, lambda each: (each.link.child, each.by))
        self._repeated = _grouped(self.copies, lambda each: (each.link.parent, each.by))
        self._made_from = _grouped(self.made, lambda each: (each.link.parent, each.by))
        self._kept = {schema: self._kept_fields(schema) for schema in schemas.values()}
        self._kept_attributes = {schema: self._kept_names(schema) for schema in schemas.values()}
        self._reads = {schema: self._effect_reads(schema) for schema in schemas.values()}

    def counting(self, schema: EntitySchema[Any]) -> tuple[Aggregated, ...]:
        """Return the fields of an entity that count, add up or average others."""
        return self._counting.get(schema, ())

    def copying(self, schema: EntitySchema[Any]) -> tuple[Copied, ...]:
        """Return the fields of an entity that repeat those of others."""
        return self._copying.get(schema, ())

    def kept(self, schema: EntitySchema[Any]) -> frozenset[str]:
        """Name the fields of an entity that are counted, and so change without its version."""
        return self._kept[schema]

    def kept_attributes(self, schema: EntitySchema[Any]) -> frozenset[str]:
        """Name the attributes that counting writes: of the fields that are counted, and those beside averages."""
        return self._kept_attributes[schema]

    def reads(self, schema: EntitySchema[Any]) -> frozenset[str]:
        """Name the fields whose change asks something of other items, in the same transaction."""
        return self._reads[schema]

    def counted(self, schema: EntitySchema[Any], by: Upkeep) -> tuple[Aggregated, ...]:
        """Return the fields of parents that count items of an entity."""
        return self._counted.get((schema, by), ())

    def repeated(self, schema: EntitySchema[Any], by: Upkeep) -> tuple[Copied, ...]:
        """Return the copies that other entities have of an entity's fields."""
        return self._repeated.get((schema, by), ())

    def made_from(self, schema: EntitySchema[Any], by: Upkeep) -> tuple[Made, ...]:
        """Return the entities whose items are made from those of an entity."""
        return self._made_from.get((schema, by), ())

    def _kept_fields(self, schema: EntitySchema[Any]) -> frozenset[str]:
        return frozenset(each.field for each in self.counting(schema))

    def _kept_names(self, schema: EntitySchema[Any]) -> frozenset[str]:
        names = [
            (schema.fields[each.field].stored, each.sum_name, each.count_name)
            for each in self.counting(schema)
        ]
        return frozenset().union(*names)

    def _effect_reads(self, schema: EntitySchema[Any]) -> frozenset[str]:
        reads: set[str] = set()
        reads.update(*(each.reads() for each in self.counted(schema, "transaction")))
        reads.update(each.marker.field for each in self.repeated(schema, "transaction"))
        reads.update(*(each.reads() for each in self.made_from(schema, "transaction")))
        return schema.with_sources(reads)

    # --- working it out ---------------------------------------------------------------------------------

    def _aggregates(self, parent: EntitySchema[Any]) -> Iterator[Aggregated]:
        for field, marker in _marked(parent, AGGREGATES):
            where = f"{parent.entity.__name__}.{field}"
            child = self._resolve(marker.child)
            link = _link(where, parent, child, marker.via)
            _check_aggregate(where, parent, child, field, marker)
            when = None
            if marker.when is not None:
                of = f"{where}: the condition of {type(marker).__name__}"
                when = declared_condition(of, child.entity, marker.when)
            stored = parent.fields[field].stored
            sum_name = count_name = stored
            if isinstance(marker, AverageOf):
                sum_name, count_name = (
                    stored_name(f"{field}_{what}", self._casing) for what in ("sum", "count")
                )
                _check_hidden(where, parent, (sum_name, count_name))
            place = _place(where, link, when)
            yield Aggregated(link, place, field, marker, when, sum_name, count_name)

    def _copies(self, child: EntitySchema[Any]) -> Iterator[Copied]:
        for field, marker in _marked(child, COPIES):
            where = f"{child.entity.__name__}.{field}"
            source = self._resolve(marker.source)
            link = _link(where, source, child, marker.via)
            _require(where, source, marker.field, "copies")
            if field in child.with_sources(child.key.keys.reads()):
                raise DeclarationError(f"{where} is a copy, and part of the key, which never changes")
            yield Copied(link, _place(where, link, None), field, marker)

    def _derivation(self, schema: EntitySchema[Any], declaration: Derived) -> Made:
        where = f"{schema.entity.__name__}.{declaration.name}"
        source = self._resolve(declaration.source)
        for name in declaration.reads or ():
            _require(where, source, name, "reads")
        if source is schema or schema.uniques or schema.version or schema.created or schema.updated:
            raise DeclarationError(
                f"{where}: derived items have another entity as their source, and neither unique values, nor a "
                "version, nor the times of their writes: they are what the function makes, and nothing else"
            )
        return Made(_link(where, source, schema, declaration.via), declaration)


def _grouped(found: Iterable[T], group_of: Callable[[T], G]) -> dict[G, tuple[T, ...]]:
    groups: dict[G, tuple[T, ...]] = {}
    for each in found:
        groups[group_of(each)] = (*groups.get(group_of(each), ()), each)
    return groups


def _marked(schema: EntitySchema[Any], kinds: tuple[type[M], ...]) -> Iterator[tuple[str, M]]:
    for name, field in schema.entity.model_fields.items():
        for marker in field.metadata:
            if isinstance(marker, kinds):
                yield name, marker


def _link(
    where: str, parent: EntitySchema[Any], child: EntitySchema[Any], via: Mapping[str, str] | None
) -> Link:
    needed = parent.key.keys.reads()
    unknown = sorted(set(via or ()) - set(needed))
    if unknown:
        raise DeclarationError(
            f"{where}: via names {unknown[0]!r}, and the key of {parent.entity.__name__} is built from "
            f"{', '.join(needed)}"
        )
    found = {name: (via or {}).get(name, name) for name in needed}
    missing = [field for field in found.values() if not _has(child, field)]
    if missing:
        raise DeclarationError(
            f"{where}: {child.entity.__name__} does not say which {parent.entity.__name__} it belongs to: it has "
            f"no field {', '.join(missing)}",
            hint=f'add the field, or name the one that it is: via={{"{missing[0]}": "..."}}; '
            f"{child.entity.__name__} has {', '.join(sorted(child.fields))}",
        )
    return Link(parent, child, found)


def _has(schema: EntitySchema[Any], name: str) -> bool:
    return name in schema.fields or isinstance(getattr(schema.entity, name, None), property)


def _place(where: str, link: Link, when: Condition | None) -> Binding:
    """Find where the children of an item are all together: the table, or an index that none is missing from."""
    known = set(link.via.values())
    for binding in link.child.bindings.values():
        parts = binding.keys.pk.parts
        is_known = all(part.reads in known or part.choices is not None for part in parts)
        if is_known and (binding.index is None or _has_all(binding, link, when)):
            return binding
    child = link.child.entity.__name__
    tried = ", ".join(
        f"{binding.name} ({binding.keys.pk.template})" for binding in link.child.bindings.values()
    )
    raise DeclarationError(
        f"{where}: the {child} items of one {link.parent.entity.__name__} cannot be found: no key of {child} has "
        f"a partition that is built from {', '.join(sorted(known)) or 'nothing'} and holds them all; it has "
        f"{tried}",
        hint=f"bind {child} to an index by {', '.join(sorted(known)) or 'a constant'}, without a condition",
    )


def _has_all(binding: Binding, link: Link, when: Condition | None) -> bool:
    """Tell whether every item that belongs to some parent is in an index."""
    fields = link.child.entity.model_fields
    optional = [
        name
        for name in set(binding.keys.reads()) - set(link.via.values())
        if name in fields and type(None) in get_args(fields[name].annotation)
    ]
    return not optional and (binding.when is None or binding.when == when)


# --- checks -------------------------------------------------------------------------------------------------


def _require(where: str, schema: EntitySchema[Any], field: str, what: str) -> None:
    if field not in schema.fields:
        raise DeclarationError(
            f"{where} {what} {schema.entity.__name__}.{field}, which is not a field; it has "
            f"{', '.join(sorted(schema.fields))}"
        )


def _check_aggregate(
    where: str, parent: EntitySchema[Any], child: EntitySchema[Any], field: str, marker: Aggregate
) -> None:
    if field in parent.with_sources(parent.key.keys.reads()):
        raise DeclarationError(f"{where} is counted, and part of the key, which never changes")
    kinds = _kinds(parent, field)
    if not isinstance(marker, CountOf):
        _require(where, child, marker.field, "adds up")
        summed = _kinds(child, marker.field)
        if not summed <= {int, float, Decimal, bool}:
            raise DeclarationError(
                f"{where} adds up {child.entity.__name__}.{marker.field}, which is no number"
            )
        is_whole = marker.decimals == 0 if isinstance(marker, AverageOf) else summed <= {int, bool}
        if kinds == {int} and not is_whole:
            raise DeclarationError(
                f"{where} is an int, and what it holds has a fraction", hint="make it a Decimal"
            )
    if not kinds or not kinds <= {int, float, Decimal}:
        raise DeclarationError(
            f"{where} is counted, and is no number", hint=f"{field}: Annotated[int, ...] = 0"
        )


def _kinds(schema: EntitySchema[Any], field: str) -> set[Any]:
    """Return the types that a field can have, without None."""
    annotation = schema.entity.model_fields[field].annotation
    annotation = getattr(annotation, "__supertype__", annotation)
    members = {member for member in get_args(annotation) if member is not type(None)}
    members = {getattr(member, "__supertype__", member) for member in members}
    if str(getattr(annotation, "__origin__", "")).endswith("Literal"):
        return {type(member) for member in members}
    if any(get_args(member) for member in members):
        return {
            inner if isinstance(inner, type) else type(inner)
            for m in members
            for inner in get_args(m) or (m,)
        }
    return members or {annotation}


def _check_hidden(where: str, parent: EntitySchema[Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name in parent.by_stored:
            raise DeclarationError(
                f"{where} keeps its sum and count as {' and '.join(names)}, and {name} is a field already",
                hint="give the field another name",
            )
