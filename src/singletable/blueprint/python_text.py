"""A blueprint as a typed Python module that can be imported, type-checked and opened.

What a design cannot say is left out, and stands as a comment in its place: what was asked, and why it cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from singletable.blueprint.contents import Contents
from singletable.blueprint.entities import EntityBlueprint
from singletable.blueprint.python.entities import EntityMaker, EntityPlan
from singletable.blueprint.python.fields import CASINGS, Models, Scope
from singletable.blueprint.python.figures import FigureWriter
from singletable.blueprint.python.kept import Together
from singletable.blueprint.python.keys import KeyClasses
from singletable.blueprint.python.names import (
    BUILT_IN,
    OF_MODELS,
    Names,
    call,
    camel,
    docstring,
    identifier,
    indented,
    opened,
    plain,
    quoted,
)
from singletable.blueprint.python.patterns import PatternWriter
from singletable.blueprint.python.tables import table_plan
from singletable.blueprint.python.types import Imports, Typed, Types


def to_python(blueprint: Contents) -> str:
    """Write a blueprint as a Python module."""
    text = "\n".join(_Module(blueprint).lines())
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"


class _Module:
    """One module: what it declares, in the order in which Python needs it."""

    def __init__(self, blueprint: Contents) -> None:
        self._blueprint = blueprint
        fields = set(_field_names(blueprint))
        self._names = Names(BUILT_IN | OF_MODELS)
        self._entity_names = {
            entity.name: self._names.take(camel(entity.name, "Item")) for entity in _first(blueprint.entities)
        }
        self._names.taken |= fields
        self._name = self._names.take(camel(blueprint.name, "SomeDesign"))
        self._types = Types(Imports(self._names, fields), self._names)
        casing = blueprint.casing if blueprint.casing in CASINGS else "snake"
        self._scope = Scope(self._types, casing, self._entity_names.values())
        self._table = table_plan(blueprint, self._names.take(f"{self._name}Table"), ())
        self._keys = KeyClasses(self._names)
        self._models = Models(self._types)

    def lines(self) -> Iterator[str]:
        """Return the lines of the module."""
        aliases = list(self._aliases())
        choices = list(self._choices())
        self._models.add(model for entity in self._blueprint.entities for model in entity.models)
        models = list(self._models.lines(self._scope))
        plans = self._entities()
        fit = [plan for plan in plans if plan.unfit is None]
        self._project(fit)
        for plan in fit:
            for place in plan.places:
                self._keys.add(place.pk, is_sort=False)
                if place.sk is not None:
                    self._keys.add(place.sk, is_sort=True)
            for unique in plan.uniques:
                self._keys.add(unique.key, is_sort=False)
        table = ["", "", *self._table.lines(self._types)]
        keys = list(self._keys.lines(self._types))
        entities = [
            line for plan in plans for line in ("", "", *plan.lines(self._table, self._keys, self._scope))
        ]
        self._add_types(fit)
        design = list(self._design(fit))
        yield from self._head()
        body = [*aliases, *choices, *models, *self._models.notes, *table, *keys, *entities, *design]
        yield from self._types.imports.lines("\n".join(body))
        yield from body

    def _head(self) -> Iterator[str]:
        about = self._blueprint.about or f"The design {plain(self._blueprint.name)}, as its blueprint has it."
        yield docstring(about)
        yield ""
        for question in self._blueprint.questions:
            yield from opened(question)
        yield from self._unsaid()
        yield "from __future__ import annotations"
        yield ""

    def _unsaid(self) -> Iterator[str]:
        blueprint = self._blueprint
        counts = {
            "write rules": blueprint.rules,
            "rules of expiry": blueprint.ttl_rules,
            "consumers of the stream": blueprint.consumers,
            "services": blueprint.services,
            "roles": blueprint.roles,
            "metrics": blueprint.metrics,
            "alarms": blueprint.alarms,
            "planned changes": blueprint.changes,
            "figures": blueprint.figures,
            "remarks": blueprint.remarks,
        }
        found = ", ".join(f"{name} ({len(each)})" for name, each in counts.items() if each)
        if found:
            yield from opened(f"the blueprint has more, which a design does not say: {found}")
        if blueprint.casing not in CASINGS:
            yield from opened(
                f"the casing is said to be {blueprint.casing}, which is none of {', '.join(CASINGS)}"
            )

    # --- types

    def _aliases(self) -> Iterator[str]:
        """Return the NewTypes. One of two different types is the first of them."""
        for alias, text in _aliases(self._blueprint):
            if alias in self._types.aliases:
                continue
            base = self._types.of(text)
            if base.base not in ("str", "int", "float", "Decimal", "datetime", "date", "UUID"):
                continue
            name = self._names.take(
                camel(alias, "Alias") if not alias.isidentifier() else identifier(alias, "Alias")
            )
            self._types.aliases[alias] = Typed(name, base.base, base.runtime, alias=name)
            yield f"{name} = {self._types.imports.use('NewType')}({quoted(name)}, {base.text})"

    def _choices(self) -> Iterator[str]:
        """Return names for lists of values that stand in several places, after the first field that has one."""
        seen: dict[tuple[tuple[str, object], ...], tuple[str, int, Typed]] = {}
        for label, text in _typed_names(self._blueprint):
            typed = self._types.of(text)
            if typed.base == "Literal" and len(typed.values) > 1:
                values = tuple((type(value).__name__, value) for value in typed.values)
                first, count, _ = seen.get(values, (label, 0, typed))
                seen[values] = (first, count + 1, typed)
        for values, (label, count, typed) in seen.items():
            if count > 1:
                name = self._names.take(camel(label, "Choice"))
                self._types.choices[values] = name
                head, _, inner = typed.text.partition("[")
                members = [str(_literal(value)) for value in typed.values]
                yield from call(f"{name} = {head}", members, ends="[]") if inner else ()

    def _add_types(self, plans: Iterable[EntityPlan]) -> None:
        """Let parameters of patterns be entities and keys."""
        for plan in plans:
            self._types.models.setdefault(plan.source.name, Typed(plan.name, "entity"))
            for place in plan.places:
                for key in place.keys:
                    self._types.models.setdefault(key.wanted, Typed(self._keys.name(key), "key"))

    # --- entities

    def _entities(self) -> list[EntityPlan]:
        blueprint = self._blueprint
        fetched = [
            (entity, read.index)
            for pattern in blueprint.patterns
            for read in pattern.reads
            for entity in read.entities
            if read.index is not None
            and any(each.named_by == entity and each.entities == (entity,) for each in pattern.reads)
        ]
        maker = EntityMaker(blueprint, self._table, self._scope, fetched)
        seen: set[str] = set()
        plans = []
        for entity in blueprint.entities:
            if entity.name in seen:
                self._models.notes += opened(f"{entity.name} is declared twice; the first is taken")
                continue
            seen.add(entity.name)
            plans.append(maker.make(entity, self._entity_names[entity.name]))
        Together(plans, self._table, self._scope).settle()
        return plans

    def _project(self, plans: list[EntityPlan]) -> None:
        """Leave out of projections what no entity has."""
        keys = {self._table.pk, self._table.sk}
        for index in self._table.indexes:
            if index.projection != "INCLUDE":
                continue
            bound = [plan for plan in plans if plan.place(index.source.name) is not None] or plans
            known = {each.stored for plan in bound for each in plan.fields.values()}
            unknown = [name for name in index.included if name not in known | {self._table.discriminator}]
            own = (*keys, *index.source.pk, *index.source.sk)
            index.included = tuple(name for name in index.included if name in known and name not in own)
            wanted = [name for name in unknown if not name.lower().startswith("schema")]
            if wanted:
                self._table.notes += opened(
                    f"{index.source.name} projects {', '.join(wanted)}, which no entity has"
                )

    # --- the design

    def _design(self, plans: list[EntityPlan]) -> Iterator[str]:
        if not plans:
            yield from ("", "")
            yield from opened("a design needs an entity, and none can be said")
            return
        writer = PatternWriter(self._blueprint, plans, self._table, self._keys, self._types)
        methods = list(writer.lines())
        yield from writer.view_lines()
        yield from ("", "", f"class {self._name}({self._types.imports.use('Design')}):")
        yield from indented([*self._settings(plans, writer.written), *methods])

    def _settings(self, plans: list[EntityPlan], methods: Mapping[str, str]) -> Iterator[str]:
        if self._blueprint.about:
            yield from (docstring(self._blueprint.about), "")
        yield f"table = {self._table.name}"
        names = [plan.name for plan in plans]
        yield from call("entities = ", names, indent=1) if len(names) > 1 else [f"entities = ({names[0]},)"]
        if self._scope.casing != "camel":
            yield f"casing = {quoted(self._scope.casing)}"
        if self._table.discriminator != "entityType":
            yield f"discriminator = {quoted(self._table.discriminator)}"
        classes = {plan.source.name: plan.name for plan in plans}
        fields = {plan.source.name: {name: each.name for name, each in plan.fields.items()} for plan in plans}
        yield from FigureWriter(self._blueprint, self._types.imports, classes, methods, fields).lines()


def _literal(value: object) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _first(entities: Iterable[EntityBlueprint]) -> Iterable[EntityBlueprint]:
    """Return the first entity of each name."""
    found: dict[str, EntityBlueprint] = {}
    for entity in entities:
        found.setdefault(entity.name, entity)
    return found.values()


def _field_names(blueprint: Contents) -> Iterator[str]:
    """Return the names of all fields, of which a module has no class."""
    for entity in blueprint.entities:
        for attribute in (
            *entity.attributes,
            *(each for model in entity.models for each in model.attributes),
        ):
            yield identifier(attribute.name, "field")
        for place in entity.places:
            yield identifier(place.name, "key")
            for key in (place.pk, place.sk):
                yield from (identifier(part.name, "part") for part in (key.parts if key is not None else ()))
        yield from (identifier(unique.name, "unique") for unique in entity.uniques)


def _typed_names(blueprint: Contents) -> Iterator[tuple[str, str]]:
    """Return what has a type: the name of each, and its type as text."""
    for entity in blueprint.entities:
        for attribute in (
            *entity.attributes,
            *(each for model in entity.models for each in model.attributes),
        ):
            yield attribute.name, attribute.type
        for place in entity.places:
            for key in (place.pk, place.sk):
                yield from ((part.name, part.type) for part in (key.parts if key is not None else ()))
    for pattern in blueprint.patterns:
        yield from ((each.name, each.type) for each in pattern.parameters)


def _aliases(blueprint: Contents) -> Iterator[tuple[str, str]]:
    for entity in blueprint.entities:
        for attribute in (
            *entity.attributes,
            *(each for model in entity.models for each in model.attributes),
        ):
            if attribute.alias:
                yield attribute.alias, attribute.type
        for place in entity.places:
            for key in (place.pk, place.sk):
                for part in key.parts if key is not None else ():
                    if part.alias:
                        yield part.alias, part.type
    for pattern in blueprint.patterns:
        for each in pattern.parameters:
            if each.alias:
                yield each.alias, each.type
