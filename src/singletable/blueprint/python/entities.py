"""Entities of a blueprint as classes of Python: fields, places, unique values, kept data, ownership.

What a design would refuse is left out, and said: the rules are those of `singletable.design.model` and
`singletable.design.kept`, as far as a blueprint can break them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from singletable.blueprint.contents import Contents
from singletable.blueprint.entities import (
    AttributeBlueprint,
    EntityBlueprint,
    KeyBlueprint,
    KeyPart,
    PlaceBlueprint,
    TtlBlueprint,
    UniqueBlueprint,
)
from singletable.blueprint.python.conditions import condition_text
from singletable.blueprint.python.fields import FieldPlan, Scope, class_docstring, stored_name
from singletable.blueprint.python.keys import (
    KeyClass,
    KeyClasses,
    Part,
    Source,
    UnfitError,
    key_class,
    tokens_of,
)
from singletable.blueprint.python.names import (
    OF_KEYS,
    Names,
    call,
    commented,
    identifier,
    indented,
    lower,
    number,
    opened,
    quoted,
)
from singletable.blueprint.python.tables import IndexPlan, TablePlan

_SECONDS_MAX: Final = 9_000 * 366 * 86_400
_OWNERS: Final = ("str", "int", "UUID")  # types whose values stand in a key as they are


@dataclass
class PlacePlan:
    """A place of an entity: its binding in the class."""

    name: str
    index: IndexPlan | None
    pk: KeyClass
    sk: KeyClass | None
    source: PlaceBlueprint
    when: str | None = None
    fetch: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that its keys are built from."""
        return (*self.pk.reads, *(() if self.sk is None else self.sk.reads))

    @property
    def keys(self) -> tuple[KeyClass, ...]:
        """Its key classes."""
        return (self.pk,) if self.sk is None else (self.pk, self.sk)


@dataclass
class UniquePlan:
    """A unique value of an entity."""

    name: str
    key: KeyClass
    source: UniqueBlueprint


@dataclass
class EntityPlan:
    """An entity, as far as a class can say it."""

    source: EntityBlueprint
    name: str  # of the class
    fields: dict[str, FieldPlan] = field(default_factory=dict)  # by their names in the blueprint
    places: list[PlacePlan] = field(default_factory=list)
    uniques: list[UniquePlan] = field(default_factory=list)
    owns: list[str] = field(default_factory=list)
    owner: str | None = None  # the name of the field in the module
    discriminator: str = ""
    was: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)  # inside of the class
    unfit: str | None = None  # why there is no such class

    @property
    def key(self) -> PlacePlan:
        """Its place in the table."""
        return self.places[0]

    def named(self, name: str) -> FieldPlan | None:
        """Find a field by its name in the module."""
        return next((each for each in self.fields.values() if each.name == name), None)

    def place(self, index: str | None) -> PlacePlan | None:
        """Find its place in an index; None finds the table."""
        of = (each for each in self.places if (each.index.source.name if each.index else None) == index)
        return next(of, None)

    def lines(self, table: TablePlan, keys: KeyClasses, scope: Scope) -> Iterator[str]:
        """Return the class statement; as a comment, where there can be no such class."""
        use = scope.types.imports.use
        body = self._body(table, keys, scope)
        if self.unfit is None:
            yield from call(f"class {self.name}", [use("Entity"), *self._options()], tail=":")
            yield from indented(body)
        else:
            yield from opened(f"{self.source.name} is left out: {self.unfit}")
            yield from commented([f"class {self.name}(Entity):", *indented(body)])

    def _options(self) -> Iterator[str]:
        if self.discriminator != self.name:
            yield f"name={quoted(self.discriminator)}"
        if self.owns:
            yield f"owns={_tuple(self.owns)}"
        if self.owner is not None:
            yield f"owner={quoted(self.owner)}"
        if self.source.schema_version is not None:
            yield f"schema_version={self.source.schema_version}"
        if self.was:
            yield f"was={_tuple(self.was)}"

    def _body(self, table: TablePlan, keys: KeyClasses, scope: Scope) -> list[str]:
        lines = class_docstring(self.source.about)
        lines += self.notes
        if self.unfit is None:
            for place in self.places:
                lines += _binding(place, table, keys, scope)
            for unique in self.uniques:
                lines += _unique(unique, table, keys, scope)
            lines.append("")
        for plan in self.fields.values():
            lines += plan.lines(scope.types)
        return lines


def _is_as_it_is(key: KeyClass, part: Part) -> bool:
    """Tell whether a key holds the value of a field as it is, and one can tell where it ends."""
    is_last = key.template is None or key.template.endswith(f"{{{part.name}}}")
    is_plain = part.computed is None and not part.is_changed and part.typed.scalar in _OWNERS
    return is_plain and (is_last or not part.is_verbatim)


def _tuple(texts: Sequence[str]) -> str:
    return f"({', '.join(map(quoted, texts))}{',' if len(texts) == 1 else ''})"


def _binding(place: PlacePlan, table: TablePlan, keys: KeyClasses, scope: Scope) -> list[str]:
    arguments = [keys.name(key) for key in place.keys]
    arguments += [f"when={place.when}"] if place.when is not None else []
    arguments += ["fetch=True"] if place.fetch else []
    of = scope.types.imports.use("Keys") if place.index is None else f"{table.name}.{place.index.name}.keys"
    return call(f"{place.name} = {of}", arguments, indent=1)


def _unique(unique: UniquePlan, table: TablePlan, keys: KeyClasses, scope: Scope) -> list[str]:
    arguments = [keys.name(unique.key)]
    sort, was = unique.source.sort, unique.source.was
    if sort and ((sort, was) != ("UNIQUE", None) or table.is_inverted):
        arguments.append(f"sort={quoted(sort)}")
    if was:
        arguments.append(f"was={quoted(was)}")
    return call(f"{unique.name} = {scope.types.imports.use('Unique')}", arguments, indent=1)


# --- one entity -----------------------------------------------------------------------------------------


class EntityMaker:
    """Makes the class of one entity, without the others."""

    def __init__(
        self, blueprint: Contents, table: TablePlan, scope: Scope, fetched: Iterable[tuple[str, str]]
    ) -> None:
        self._blueprint = blueprint
        self._table = table
        self._scope = scope
        self._fetched = frozenset(fetched)  # entities and indexes from which items are fetched

    def make(self, entity: EntityBlueprint, name: str) -> EntityPlan:
        """Return what a class can say of an entity."""
        plan = EntityPlan(entity, name)
        names = self._scope.names()
        self._add_fields(plan, names)
        self._add_places(plan, names)
        self._set_owner(plan)
        for unique in entity.uniques:
            self._try_unique(plan, unique, names)
        if entity.derived is not None:
            plan.notes += opened(
                f"items are made from {entity.derived.of}, by {entity.derived.by}, and a blueprint holds no code: "
                f"made = Derived({quoted(entity.derived.of)}, ...)"
            )
        for version in entity.upcasts:
            plan.notes += opened(
                f"items of schema version {version} are upcast, and a blueprint has no functions"
            )
        if entity.schema_version is not None and not 1 <= entity.schema_version < 2**31:
            plan.unfit = plan.unfit or f"its schema version is {entity.schema_version}"
        return plan

    def _set_owner(self, plan: EntityPlan) -> None:
        """Take the owner where its value leads the partition key as it is: a design refuses any other."""
        entity = plan.source
        if entity.owner is None or not plan.places:
            return
        made = plan.fields.get(entity.owner)
        leading = next(iter(plan.key.pk.parts), None)
        if (
            made is None
            or leading is None
            or leading.field != made.name
            or not _is_as_it_is(plan.key.pk, leading)
        ):
            plan.notes += opened(
                f"its owner is said to be {entity.owner}, which does not lead its key as it is"
            )
        else:
            plan.owner = made.name

    # --- fields

    def _add_fields(self, plan: EntityPlan, names: Names) -> None:
        entity, casing = plan.source, self._scope.casing
        in_keys = {part.field for place in entity.places for key in _keys(place) for part in key.parts}
        taken = {self._table.discriminator: "that names the entity of an item"}
        if entity.schema_version is not None:
            taken[stored_name("schema_version", casing)] = "that holds the version of the schema"
        for attribute in (*entity.attributes, *_unsaid_attributes(entity)):
            avoided = OF_KEYS if attribute.name in in_keys or not entity.places else ()
            if attribute.name in plan.fields:
                plan.notes += opened(f"{attribute.name} is declared twice; the first is taken")
                continue
            made = self._scope.plan(attribute, names, self._role(plan, attribute), avoided)
            other = next((each for each in plan.fields.values() if each.stored == made.stored), None)
            if other is not None:
                plan.notes += opened(f"{attribute.name} is stored as {made.stored}, and so is {other.label}")
            elif made.stored in taken:
                plan.notes += opened(f"{attribute.name} is stored in the attribute {taken[made.stored]}")
            elif self._is_written(entity, attribute.name, made.stored):
                plan.notes += opened(f"{made.stored} is written by a key, so it is no field")
            else:
                if made.role == "ttl":
                    self._set_expiry(made, entity)
                plan.fields[attribute.name] = made
        self._add_expiry(plan, names, taken)
        for made in plan.fields.values():
            if made.role == "ttl" and made.default is not None and made.default.startswith("expires"):
                self._finish_expiry(plan, made)

    def _role(self, plan: EntityPlan, attribute: AttributeBlueprint) -> str:
        """Return what the layer does with a field: it fills in times, counts writes, lets items expire."""
        kinds = {str(marker.get("kind")): marker for marker in attribute.markers}
        base = self._scope.types.of(attribute.type).base
        roles = {each.role for each in plan.fields.values()}
        ttl = plan.source.ttl
        if "TimeToLive" in kinds or (ttl is not None and ttl.field == attribute.name):
            return "ttl" if "ttl" not in roles else ""
        if "Lock" in kinds or plan.source.version == attribute.name:
            return "version" if base == "int" and not attribute.is_optional and "version" not in roles else ""
        if "Auto" in kinds and base == "datetime" and not attribute.is_optional:
            return "created" if kinds["Auto"].get("when") == "create" else "updated"
        return ""

    def _is_written(self, entity: EntityBlueprint, name: str, stored: str) -> bool:
        """Tell whether an attribute is one that the keys of the entity write, and no field by itself."""
        for place in entity.places:
            attributes = self._table.attributes(place.index)
            for key, names in zip((place.pk, place.sk), attributes, strict=True):
                if key is not None and stored in names:
                    is_own = key.template is None or key.template in (f"{{{name}}}", f"{{{stored}}}")
                    if not is_own:
                        return True
        return False

    def _set_expiry(self, plan: FieldPlan, entity: EntityBlueprint) -> None:
        plan.typed = self._scope.types.of("datetime")
        plan.is_optional = True
        plan.markers = [
            each for each in plan.markers if "(" in each and each.split("(")[0].endswith("Stored")
        ]
        plan.default = "None" if entity.ttl is None or entity.ttl.seconds is None else "expires()"

    def _add_expiry(self, plan: EntityPlan, names: Names, taken: Mapping[str, str]) -> None:
        """Add the field of the time to live where no attribute is one: a document may say it apart."""
        ttl = plan.source.ttl
        if ttl is None or any(each.role == "ttl" for each in plan.fields.values()):
            return
        name = names.take(identifier(ttl.field or "ttl", "ttl"))
        made = FieldPlan(name, ttl.stored or name, self._scope.types.of("datetime"), True, ttl.field, "ttl")
        if made.stored in taken or any(each.stored == made.stored for each in plan.fields.values()):
            plan.notes += opened(f"the time to live is stored as {made.stored}, which is taken")
            return
        if made.stored != stored_name(name, self._scope.casing):
            made.markers.append(f"{self._scope.types.imports.use('Stored')}({quoted(made.stored)})")
        made.is_plain = False
        made.default = "None" if ttl.seconds is None else "expires()"
        plan.fields[ttl.field] = made

    def _finish_expiry(self, plan: EntityPlan, made: FieldPlan) -> None:
        ttl = plan.source.ttl
        assert ttl is not None
        try:
            made.default = self._expiry(plan, made, ttl)
        except UnfitError as error:
            made.notes += opened(f"when items expire cannot be said: {error}")
            made.default = "None"

    def _expiry(self, plan: EntityPlan, made: FieldPlan, ttl: TtlBlueprint) -> str:
        use = self._scope.types.imports.use
        assert ttl.seconds is not None
        if not abs(ttl.seconds) <= _SECONDS_MAX:
            raise UnfitError(f"{ttl.seconds:g} seconds are longer than time is counted")
        arguments = [_span(ttl.seconds)]
        if ttl.unit != "seconds":
            made.notes += opened(f"{made.stored} is said to be in {ttl.unit}, and DynamoDB asks for seconds")
        if ttl.after is not None:
            after = plan.fields.get(ttl.after)
            if after is None or after is made or after.typed.base != "datetime":
                raise UnfitError(f"it counts from {ttl.after}, which is no other time of it")
            arguments.append(f"after={quoted(after.name)}")
        elif ttl.seconds <= 0:
            raise UnfitError(f"{ttl.seconds:g} seconds are no time to live")
        if ttl.when is not None:
            arguments.append(f"when={condition_text(ttl.when, plan.fields, use)}")
        return f"{use('expires')}({', '.join(each for each in arguments if each)})"

    # --- places

    def _add_places(self, plan: EntityPlan, names: Names) -> None:
        entity = plan.source
        homes = [place for place in entity.places if place.index is None]
        others = [place for place in entity.places if place.index is not None]
        if not homes:
            plan.unfit = "no key in the table is said for it"
            return
        try:
            plan.places.append(self._place(plan, homes[0], names))
        except UnfitError as error:
            why = f"its key {shown_place(homes[0])} cannot be: {error}"
            try:
                plan.places.append(self._place(plan, self._as_given(plan, homes[0], names), names))
            except UnfitError:
                plan.unfit = why
                return
            plan.notes += opened(f"{why}; as it is here, whoever writes an item gives the whole key")
        for place in (*homes[1:], *others):
            try:
                if plan.place(place.index) is not None:
                    raise UnfitError("it is there already, and an item is in a place once")
                plan.places.append(self._place(plan, place, names))
            except UnfitError as error:
                where = place.index or "the table"
                plan.notes += opened(
                    f"{place.name or 'a place'} in {where}, {shown_place(place)}, cannot be: {error}"
                )

    def _as_given(self, plan: EntityPlan, place: PlaceBlueprint, names: Names) -> PlaceBlueprint:
        """Return the place in the table with the attributes themselves for keys that fields cannot make."""
        made = [
            self._key_as_given(plan, key, name, names, is_sort=is_sort)
            for key, name, is_sort in (
                (place.pk, self._table.pk, False),
                (place.sk, self._table.sk, True),
            )
            if key is not None and name is not None
        ]
        pk, sk = (*made, None)[:2]
        return replace(place, pk=pk or place.pk, sk=sk)

    def _key_as_given(
        self, plan: EntityPlan, key: KeyBlueprint, attribute: str, names: Names, *, is_sort: bool
    ) -> KeyBlueprint:
        try:
            key_class(key, _sources(plan), self._scope.types, is_sort=is_sort, of=plan.name)
        except UnfitError:
            taken = {name for each in plan.fields.values() for name in (each.label, each.stored)}
            if attribute in taken | {self._table.discriminator}:
                raise
            kind = self._table.blueprint.table.types.get(attribute, "S")
            said = AttributeBlueprint(attribute, attribute, kind)
            plan.fields[attribute] = self._scope.plan(said, names, avoided=OF_KEYS)
            return KeyBlueprint((attribute,), None, (KeyPart(attribute, "", attribute),))
        return key

    def _place(self, plan: EntityPlan, place: PlaceBlueprint, names: Names) -> PlacePlan:
        index = None if place.index is None else self._table.index(place.index)
        if place.index is not None and index is None:
            raise UnfitError(f"there is no index {place.index} that a design can have")
        sources = _sources(plan)
        types, of = self._scope.types, plan.name
        pk = key_class(place.pk, sources, types, is_sort=False, of=of)
        sk = None if place.sk is None else key_class(place.sk, sources, types, is_sort=True, of=of)
        for key, said, wanted in zip(
            (pk, sk), (place.pk, place.sk), self._table.attributes(place.index), strict=True
        ):
            _check_attributes(plan, key, said, wanted)
        if index is None:
            self._check_home(plan, (pk,) if sk is None else (pk, sk))
        when = None
        if place.when is not None:
            if index is None:
                raise UnfitError("it has a condition, and every item has a key in the table")
            when = condition_text(place.when, plan.fields, types.imports.use)
        wanted_name = "key" if index is None else f"by_{lower(index.source.name, 'index')}"
        name = identifier(place.name, wanted_name) if place.name else wanted_name
        made = PlacePlan(
            names.take(name if name not in self._scope.reserved else f"{name}_"), index, pk, sk, place, when
        )
        self._check_shared(plan, made)
        if index is not None and index.projection != "ALL":
            made.fetch = (plan.source.name, index.source.name) in self._fetched
            if not made.fetch and index.projection == "KEYS_ONLY" and ttl_of(plan) is not None:
                plan.notes += opened(f"{made.name} lacks the time to live, so whole items are fetched")
                made.fetch = True
        return made

    def _check_home(self, plan: EntityPlan, keys: Sequence[KeyClass]) -> None:
        for key in keys:
            for name in key.reads:
                found = plan.named(name)
                if found is not None and found.is_optional:
                    raise UnfitError(f"{name} may be missing, and every item has a key")
                if found is not None and found.role == "updated":
                    raise UnfitError(f"{name} is the time of every write, and the key never changes")

    def _check_shared(self, plan: EntityPlan, made: PlacePlan) -> None:
        """Refuse a place that writes an attribute which another place writes otherwise."""
        written = self._written(made)
        for other in plan.places:
            for name, template in self._written(other).items():
                if name in written and (template, other.source.when) != (written[name], made.source.when):
                    raise UnfitError(f"it writes {name}, which {other.name} writes otherwise")

    def _written(self, place: PlacePlan) -> dict[str, str | None]:
        attributes = self._table.attributes(place.source.index)
        return {
            names[0]: key.template
            for key, names in zip((place.pk, place.sk), attributes, strict=True)
            if key is not None and key.template is not None
        }

    def _try_unique(self, plan: EntityPlan, unique: UniqueBlueprint, names: Names) -> None:
        key = KeyBlueprint((), unique.template, unique.parts, name="")
        try:
            if plan.unfit is not None:
                return
            made = key_class(key, _sources(plan), self._scope.types, is_sort=False, of=plan.name)
            fields = {plan.fields[name].name for name in unique.fields if name in plan.fields}
            if unique.fields and not fields <= set(made.reads):
                raise UnfitError(f"the template does not hold {', '.join(unique.fields)}")
            if "" in (unique.was,):
                raise UnfitError("its locks had an empty sort key")
            wanted = identifier(unique.name, "unique") if unique.name else "unique_value"
            name = names.take(wanted if wanted not in self._scope.reserved else f"{wanted}_")
            plan.uniques.append(UniquePlan(name, made, unique))
        except UnfitError as error:
            plan.notes += opened(f"{unique.name or unique.template} cannot be unique: {error}")


def _span(seconds: float) -> str:
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds")):
        if seconds % unit == 0 and seconds:
            return f"{name}={number(seconds / unit)}"
    found = number(seconds)
    if found is None:
        raise UnfitError("the span has no length")
    return f"seconds={found}" if seconds else ""


def _keys(place: PlaceBlueprint) -> Iterator[KeyBlueprint]:
    yield from (key for key in (place.pk, place.sk) if key is not None)


def _unsaid_attributes(entity: EntityBlueprint) -> Iterator[AttributeBlueprint]:
    """Return an attribute for each value in the key of the table that no attribute holds."""
    home = entity.place(None)
    known = {name for each in entity.attributes for name in (each.name, each.stored)}
    for key in () if home is None else _keys(home):
        parts = {part.name: part for part in key.parts}
        for name in _placeholders(key):
            part = parts.get(name) or KeyPart(name, "str", name)
            is_worked_out = part.shards is not None or part.bucket is not None or part.letters is not None
            if not is_worked_out and not {part.field, part.name} & known:
                known |= {part.field, part.name}
                yield AttributeBlueprint(
                    part.field or part.name,
                    part.field or part.name,
                    part.type or "str",
                    part.alias,
                    about=f"open: {{{name}}} in the key is no attribute: "
                    "a field is added, which stored items lack",
                )


def _placeholders(key: KeyBlueprint) -> list[str]:
    try:
        return [token[0] for token in tokens_of(key.template or "") if not isinstance(token, str)]
    except UnfitError:
        return []


def shown_place(place: PlaceBlueprint) -> str:
    """Return the keys of a place as text."""
    return " / ".join(key.template or ", ".join(key.attributes) for key in _keys(place)) or "(nothing)"


def ttl_of(plan: EntityPlan) -> FieldPlan | None:
    """Return the field by which items expire."""
    return next((each for each in plan.fields.values() if each.role == "ttl"), None)


def _sources(plan: EntityPlan) -> dict[str, Source]:
    """Return the fields that keys can name: by the name of a field, or by the one that is stored."""
    found: dict[str, Source] = {}
    for each in plan.fields.values():
        found[each.label] = Source(each.name, each.typed, each.is_optional)
    for each in plan.fields.values():
        for name in (each.name, each.stored):
            found.setdefault(name, Source(each.name, each.typed, each.is_optional))
    return found


def _check_attributes(
    plan: EntityPlan, key: KeyClass | None, said: KeyBlueprint | None, wanted: tuple[str, ...]
) -> None:
    """Refuse a key that does not fit the attributes of its table or index."""
    if key is None or said is None:
        if wanted:
            raise UnfitError(f"there is the sort key {', '.join(wanted)}, and nothing is said for it")
        return
    if not wanted:
        raise UnfitError("there is no sort key")
    if said.attributes and tuple(said.attributes) != wanted:
        raise UnfitError(
            f"it is said to be in {', '.join(said.attributes)}, and the key is {', '.join(wanted)}"
        )
    if key.template is not None:
        if len(wanted) != 1:
            raise UnfitError(f"one template cannot be the {len(wanted)} attributes {', '.join(wanted)}")
        own = next((each for each in plan.fields.values() if each.stored == wanted[0]), None)
        pairs = (
            [] if own is None else [(key.part(own.name), own)] if key.template == f"{{{own.name}}}" else None
        )
        if pairs is None:
            raise UnfitError(f"{wanted[0]} is a field, and the template holds more than it")
    else:
        if len(key.parts) != len(wanted):
            raise UnfitError(f"it has {len(key.parts)} fields, and the key {len(wanted)} attributes")
        pairs = []
        for part, name in zip(key.parts, wanted, strict=True):
            own = plan.named(part.name)
            if own is None or own.stored != name:
                raise UnfitError(f"{part.name} is not stored as {name}")
            pairs.append((part, own))
    for part, own in pairs:
        if (
            part.is_changed
            or part.computed
            or own.typed.kind is None
            or not own.is_plain
            or own.role == "ttl"
        ):
            raise UnfitError(f"{own.name} is not stored as a key is")
