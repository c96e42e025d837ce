"""A blueprint as rules look at it: keys read into text and slots, reads with what they read, names resolved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint, PlaceBlueprint
from singletable.blueprint.patterns import (
    KeyCondition,
    PatternBlueprint,
    ReadBlueprint,
    WriteBlueprint,
)
from singletable.lint.conditions import conditions_of, fields_of, named, usual_operator
from singletable.lint.keys import Slot, Template, begins, key_templates, overlap, read_template
from singletable.planning.workload import Planner

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.blueprint.contents import LoadBlueprint, VolumeBlueprint
    from singletable.blueprint.positions import Path
    from singletable.blueprint.tables import IndexBlueprint


@dataclass(frozen=True)
class Place:
    """Where an entity is: in the table or an index, under which templates."""

    entity: EntityBlueprint
    place: PlaceBlueprint
    path: Path
    pk: tuple[Template, ...]  # one, but for a key of several attributes
    sk: tuple[Template, ...]  # none without a sort key

    @property
    def index(self) -> str | None:
        """Return the name of the index; None for the table."""
        return self.place.index

    @cached_property
    def partition(self) -> str:
        """Return the shape of its partition key."""
        return " ".join(template.shape for template in self.pk)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Return the slots of its keys."""
        return tuple(slot for template in (*self.pk, *self.sk) for slot in template.slots)

    def templates(self) -> Iterator[tuple[str, str, Template]]:
        """Yield "pk" or "sk", the attribute, and its template."""
        for role, key, templates in (("pk", self.place.pk, self.pk), ("sk", self.place.sk, self.sk)):
            if key is not None:
                for attribute, template in zip(key.attributes, templates, strict=False):
                    yield role, attribute, template


@dataclass(frozen=True)
class Source:
    """What is read: the table or an index, with its key attributes."""

    name: str | None  # of an index; None for the table
    pk: tuple[str, ...]
    sk: tuple[str, ...]
    index: IndexBlueprint | None = None

    @property
    def is_global(self) -> bool:
        """Tell whether it is a global secondary index."""
        return self.index is not None and not self.index.is_local

    @property
    def title(self) -> str:
        """Return what people call it."""
        return self.name or "the table"


@dataclass(frozen=True)
class Asked:
    """One condition on an attribute, with its templates, and whether that attribute is a key of what is read."""

    condition: KeyCondition
    role: str  # "pk", "sk", or "" where the attribute is no key
    templates: tuple[Template, ...]

    @property
    def attribute(self) -> str:
        """Return the attribute."""
        return self.condition.attribute

    @property
    def operator(self) -> str:
        """Return the operator by its usual name; one that nobody knows as it was written."""
        return usual_operator(self.condition.operator)

    @property
    def is_of_a_kind(self) -> bool:
        """Tell whether it takes all keys of a kind: those with a prefix that has no values."""
        return self.operator == "begins_with" and bool(self.templates) and self.templates[0].is_constant


@dataclass(frozen=True)
class Read:
    """A read of a pattern, resolved."""

    pattern: PatternBlueprint
    read: ReadBlueprint
    path: Path
    source: Source | None  # None if the index does not exist
    asked: tuple[Asked, ...]

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """Return the attributes that it asks for; none where it asks for all of them."""
        return self.read.projection or named(self.read.projection_expression, self.read.names)

    @cached_property
    def filtered(self) -> tuple[str, ...]:
        """Return the attributes that its filter looks at."""
        return (*fields_of(self.read.filter), *named(self.read.filter_expression, self.read.names))

    def of(self, role: str) -> tuple[Asked, ...]:
        """Return the conditions on keys of a role."""
        return tuple(each for each in self.asked if each.role == role)


@dataclass(frozen=True)
class Write:
    """A write of a pattern or of a rule."""

    pattern: PatternBlueprint | None
    write: WriteBlueprint
    path: Path
    entity: EntityBlueprint | None
    is_transaction: bool


class View:
    """A blueprint, resolved once for all rules."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self._met: dict[Path, tuple[Place, ...]] = {}
        self._found: dict[Path, tuple[Place, ...]] = {}

    # --- names ------------------------------------------------------------------------------------------

    @cached_property
    def entities(self) -> Mapping[str, EntityBlueprint]:
        """Return the entities by their names."""
        return {entity.name: entity for entity in self.blueprint.entities}

    @cached_property
    def _entity_at(self) -> Mapping[str, int]:
        return {entity.name: at for at, entity in enumerate(self.blueprint.entities)}

    def entity_path(self, name: str) -> Path:
        """Return the path of an entity."""
        return ("entities", self._entity_at[name])

    def attribute_path(self, entity: str, name: str) -> Path:
        """Return the path of an attribute, by its name or as it is stored; that of the entity if it has none."""
        for at, attribute in enumerate(self.entities[entity].attributes):
            if name in (attribute.name, attribute.stored):
                return (*self.entity_path(entity), "attributes", at)
        return self.entity_path(entity)

    def index_path(self, name: str | None) -> Path:
        """Return the path of an index; that of the table for None and for one that does not exist."""
        found = [at for at, index in enumerate(self.blueprint.indexes) if index.name == name]
        return ("indexes", found[0]) if found else ("table",)

    @cached_property
    def _fields(self) -> Mapping[str, Mapping[str, AttributeBlueprint]]:
        return {
            entity.name: {each.stored: each for each in entity.attributes}
            | {each.name: each for each in entity.attributes}
            for entity in self.blueprint.entities
        }

    def fields(self, entity: str) -> Mapping[str, AttributeBlueprint]:
        """Return the attributes of an entity by their names and by what they are stored as."""
        return self._fields.get(entity, {})

    # --- places -----------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Return the places of all entities, in order."""
        return tuple(
            self.place(entity, place, (*self.entity_path(entity.name), "places", at))
            for entity in self.blueprint.entities
            for at, place in enumerate(entity.places)
            if place.pk.attributes  # else nobody says where it is written
        )

    def place(self, entity: EntityBlueprint, place: PlaceBlueprint, path: Path) -> Place:
        """Read the templates of a place."""
        fields = self.fields(entity.name)
        sk = key_templates(place.sk, fields) if place.sk is not None and place.sk.attributes else ()
        return Place(entity, place, path, key_templates(place.pk, fields), sk)

    @cached_property
    def _places_by_source(self) -> Mapping[str | None, tuple[Place, ...]]:
        found: dict[str | None, list[Place]] = {}
        for place in self.places:
            found.setdefault(place.index, []).append(place)
        return {name: tuple(places) for name, places in found.items()}

    def places_in(self, index: str | None) -> tuple[Place, ...]:
        """Return the places in an index; None for the table."""
        return self._places_by_source.get(index, ())

    def places_of(self, entity: str) -> tuple[Place, ...]:
        """Return the places of an entity."""
        return self._places_by_entity.get(entity, ())

    @cached_property
    def _places_by_entity(self) -> Mapping[str, tuple[Place, ...]]:
        found: dict[str, list[Place]] = {}
        for place in self.places:
            found.setdefault(place.entity.name, []).append(place)
        return {name: tuple(places) for name, places in found.items()}

    def home(self, entity: EntityBlueprint) -> Place | None:
        """Return the place of an entity in the table."""
        return next((place for place in self.places_of(entity.name) if place.index is None), None)

    def example_keys(self, place: Place, **chosen: Any) -> dict[str, Any]:
        """Return the keys of an item as the table and a place have them, from samples; empty without a home."""
        home = self.home(place.entity)
        keys = [*home.templates(), *place.templates()] if home is not None else []
        types = self.blueprint.table.types
        return {name: 1 if types.get(name) == "N" else each.example(**chosen) for _, name, each in keys}

    # --- sources and reads ------------------------------------------------------------------------------

    @cached_property
    def table(self) -> Source:
        """Return the table as something to read."""
        table = self.blueprint.table
        return Source(None, (table.pk,), (table.sk,) if table.sk is not None else ())

    @cached_property
    def sources(self) -> Mapping[str | None, Source]:
        """Return what can be read by its name; None is the table."""
        found: dict[str | None, Source] = {None: self.table}
        for index in self.blueprint.indexes:
            found[index.name] = Source(index.name, tuple(index.pk), tuple(index.sk), index)
        return found

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """Return the reads of all patterns, in order."""
        return tuple(
            self._read(pattern, read, ("patterns", number, "reads", at))
            for number, pattern in enumerate(self.blueprint.patterns)
            for at, read in enumerate(pattern.reads)
        )

    def reads_of(self, pattern: str) -> tuple[Read, ...]:
        """Return the reads of a pattern, by its method or number."""
        return self._reads_of.get(pattern, ())

    @cached_property
    def _reads_of(self) -> Mapping[str, tuple[Read, ...]]:
        found: dict[str, list[Read]] = {}
        for read in self.reads:
            for name in {read.pattern.method, read.pattern.number} - {""}:
                found.setdefault(name, []).append(read)
        return {name: tuple(reads) for name, reads in found.items()}

    def _read(self, pattern: PatternBlueprint, read: ReadBlueprint, path: Path) -> Read:
        source = self.sources.get(read.index)
        keys = source or self.table
        parameters = {each.name: each for each in pattern.parameters}
        fields = {name: field for entity in read.entities for name, field in self.fields(entity).items()}
        parts = [
            part
            for entity in read.entities
            if (place := self.entities.get(entity)) is not None
            for where in place.places
            if where.index == read.index
            for key in (where.pk, where.sk)
            if key is not None
            for part in key.parts
        ]
        asked = []
        conditions = read.key_conditions(keys.pk[0] if keys.pk else "", keys.sk[0] if keys.sk else None)
        for condition in conditions or conditions_of(read.key_expression, read.names):
            role = "pk" if condition.attribute in keys.pk else "sk" if condition.attribute in keys.sk else ""
            templates = tuple(
                read_template(text, {**fields, **parameters}, parts, fields=fields)
                for text in condition.templates
            )
            asked.append(Asked(condition, role, templates))
        return Read(pattern, read, path, source, tuple(asked))

    def met_by(self, read: Read) -> tuple[Place, ...]:
        """Return the places in what is read whose partition keys can be those that the read asks for."""
        if read.path not in self._met:
            self._met[read.path] = self._met_by(read)
        return self._met[read.path]

    def _met_by(self, read: Read) -> tuple[Place, ...]:
        partitions = [each for each in read.of("pk") if each.operator == "=" and each.templates]
        if read.source is None or not partitions:
            return ()
        places = self.places_in(read.source.name)
        met = {
            shape
            for shape, place in {place.partition: place for place in places}.items()
            if all(any(overlap(each.templates[0], template) for template in place.pk) for each in partitions)
        }
        return tuple(place for place in places if place.partition in met)

    def found_by(self, read: Read) -> tuple[Place, ...]:
        """Return the places that a read can find: partition keys as asked, and sort keys too, if it asks."""
        if read.path not in self._found:
            self._found[read.path] = self._found_by(read)
        return self._found[read.path]

    def _found_by(self, read: Read) -> tuple[Place, ...]:
        met = self.met_by(read)
        for asked in read.of("sk"):
            if asked.operator in ("=", "begins_with") and asked.templates:
                meets = overlap if asked.operator == "=" else begins
                met = tuple(
                    place
                    for place in met
                    if any(meets(asked.templates[0], template) for template in place.sk)
                )
        return met

    def readers(self, index: str | None) -> tuple[Read, ...]:
        """Return the reads of an index; None for the table."""
        return self._readers.get(index, ())

    @cached_property
    def _readers(self) -> Mapping[str | None, tuple[Read, ...]]:
        found: dict[str | None, list[Read]] = {}
        for read in self.reads:
            found.setdefault(read.read.index, []).append(read)
        return {name: tuple(reads) for name, reads in found.items()}

    def finders(self, place: Place) -> tuple[Read, ...]:
        """Return the reads that can find items at a place, by the keys that they ask for."""
        return self._finders.get(place.path, ())

    @cached_property
    def _finders(self) -> Mapping[Path, tuple[Read, ...]]:
        found: dict[Path, list[Read]] = {}
        for read in self.reads:
            for place in self.found_by(read):
                found.setdefault(place.path, []).append(read)
        return {path: tuple(reads) for path, reads in found.items()}

    # --- writes, loads, volumes -------------------------------------------------------------------------

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """Return the writes of all patterns, and then of all rules of writing."""
        blueprint = self.blueprint
        found = [
            Write(
                pattern,
                write,
                ("patterns", number, "writes", at),
                self.entities.get(write.entity),
                pattern.is_transaction,
            )
            for number, pattern in enumerate(blueprint.patterns)
            for at, write in enumerate(pattern.writes)
        ]
        found += [
            Write(
                None,
                write,
                ("rules", number, "writes", at),
                self.entities.get(write.entity),
                rule.is_transaction,
            )
            for number, rule in enumerate(blueprint.rules)
            for at, write in enumerate(rule.writes)
        ]
        return tuple(found)

    @cached_property
    def planner(self) -> Planner:
        """Return the planner of the design, for as many users as it says."""
        return Planner(self.blueprint)

    def volume(self, entity: str) -> VolumeBlueprint | None:
        """Return how many items of an entity there are, where that is said."""
        return next((each for each in self.blueprint.volumes if each.entity == entity), None)

    def together(self, place: Place) -> float:
        """Return how many items of an entity lie in one partition, by its volume; 0 where that cannot be told."""
        volume = self.volume(place.entity.name)
        if volume is None or len(place.pk) != 1:
            return 0.0
        if volume.per:
            return volume.count if volume.per.lower() in place.pk[0].text.lower() else 0.0
        values = [slot.values for slot in place.pk[0].slots]
        if any(each is None for each in values):
            return 0.0
        return volume.count / math.prod(len(each) for each in values if each is not None)

    def loads(self, kind: str, of: str) -> tuple[tuple[Path, LoadBlueprint], ...]:
        """Return how often something is done, with the path of each statement."""
        return tuple(
            (("loads", at), load)
            for at, load in enumerate(self.blueprint.loads)
            if load.kind == kind and load.of == of
        )

    def pattern_loads(self, pattern: PatternBlueprint) -> tuple[tuple[Path, LoadBlueprint], ...]:
        """Return how often a pattern is asked, by its method or number."""
        names = dict.fromkeys(name for name in (pattern.number, pattern.method) if name)
        return tuple(each for name in names for each in self.loads("pattern", name))
