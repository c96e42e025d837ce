"""Derived items: a function makes items of one entity from an item of another, its source, and they follow it.

A consumer of the stream makes them from the source as it is stored now. After its last write it reads the source
once more, as for copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from singletable.blueprint import DerivedBlueprint, EntityBlueprint
from singletable.client.calls import Params, Steps
from singletable.design.kept.kind import (
    PASSES_MAX,
    Carrying,
    EntityChange,
    Finding,
    Invariant,
    Kind,
    Link,
    Planned,
    Schema,
    changed_meanwhile,
    kept_changing,
    planned_later,
    unchanged_attributes,
)
from singletable.design.kept.links import grouped, link_of, require_field_of
from singletable.design.model.catalog import Catalog
from singletable.design.model.declarations import Derived
from singletable.design.model.entity import STORED, Entity, as_far_as_readable, key_values
from singletable.design.model.schema import KeptNames
from singletable.design.session.action import Action
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_item, read_stored
from singletable.design.values.items import Item, KeyId, hashable, is_same_item, shown_key
from singletable.design.values.markers import Upkeep
from singletable.errors import DeclarationError, InvalidWriteError

DerivedItems = dict[KeyId, tuple[Item, Item]]  # keys and items


@dataclass(frozen=True, slots=True)
class DerivedFrom:
    """An entity whose items are made from items of another entity. The source is their parent."""

    link: Link
    declaration: Derived

    @property
    def by(self) -> Upkeep:
        return self.declaration.by

    def reads(self) -> frozenset[str]:
        """Name the fields of the source that decide which items are made."""
        if self.declaration.reads is None:
            return frozenset(self.link.parent.fields)
        return frozenset((*self.declaration.reads, *self.link.via))

    def items(self, source: Entity | None) -> DerivedItems:
        """Return the items that the function makes from a source, by their keys."""
        if source is None:
            return {}
        schema, items = self.link.child, {}
        names = schema.key_names
        for entity in self.declaration.make(source):
            if type(entity) is not schema.entity or not self.link.holds(source, entity):
                raise InvalidWriteError(
                    f"{schema.entity.__name__}.{self.declaration.name} has made {entity!r}, which is no "
                    f"{schema.entity.__name__} of {source!r}",
                    hint=f"what it makes has the same {', '.join(self.link.via.values())} as its source",
                )
            item = schema.to_item(entity)
            key = {name: item[name] for name in names}
            items[hashable(key)] = (key, item)
        return items


class Derivations(Kind):
    """The entities of a design whose items are derived."""

    def __init__(self, catalog: Catalog) -> None:
        self._all = [
            _resolved(catalog, schema, schema.derived)
            for schema in catalog.schemas.values()
            if schema.derived
        ]
        self._of = grouped(self._all, lambda each: (each.link.parent, each.by))

    def of_source(self, schema: Schema, by: Upkeep) -> tuple[DerivedFrom, ...]:
        """Return the entities whose items are made from items of this entity."""
        return self._of.get((schema, by), ())

    def is_in(self, schema: Schema) -> bool:
        return schema.derived is not None

    def follows(self, schema: Schema, by: Upkeep) -> bool:
        return (schema, by) in self._of

    def names(self, schema: Schema) -> KeptNames:
        reads = [each.reads() for each in self.of_source(schema, "transaction")]
        return KeptNames(effect_reads=schema.with_sources(name for names in reads for name in names))

    def by_stream(self) -> Iterable[Link]:
        return [each.link for each in self._all if each.by == "stream"]

    def describe(self, schema: Schema, described: EntityBlueprint) -> EntityBlueprint:
        for each in self._all:
            if each.link.child is schema:
                of, declared = each.link.parent.entity.__name__, each.declaration
                derived = DerivedBlueprint(of, declared.by, declared.reads, declared.via)
                return replace(described, derived=derived)
        return described

    def refuse_write(self, schema: Schema) -> None:
        assert schema.derived is not None
        made_from = schema.derived.source
        source = made_from if isinstance(made_from, str) else made_from.__name__
        raise InvalidWriteError(
            f"{schema.entity.__name__} is made from {source} by the layer",
            hint=f"write the {source}, and it follows; verify(repair=True) makes what is missing",
        )

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        yield from ()
        schema, before, after, _ = change
        actions: list[Action] = []
        for each in self.of_source(schema, "transaction"):
            old: DerivedItems = {}
            if before is not None:
                old = as_far_as_readable(before, partial(each.items, before), old)
            new = each.items(after)
            replaced = _replacements(old, new)
            source = before if after is None else after
            if replaced and source is not None and not session.client.capabilities.transactions:
                replaced.append(_look_again(session, each, schema.primary_key(source), new))
            actions += replaced
        return actions

    def on_record(self, session: Session, change: EntityChange, carrying: Carrying) -> Steps[None]:
        for each in self.of_source(change.schema, "stream"):
            yield from _derive(session, each, change, carrying)

    def beside(
        self, session: Session, schema: Schema, entity: Entity, kept_by: Sequence[Upkeep]
    ) -> Iterator[Item]:
        """Return the items that are made from an entity, and the items that are made from them in turn."""
        for each in self._of_any(schema, kept_by):
            child = each.link.child
            for _, item in each.items(entity).values():
                yield item
                if self._of_any(child, kept_by):
                    yield from self.beside(session, child, child.to_entity(item), kept_by)

    def _of_any(self, schema: Schema, kept_by: Sequence[Upkeep]) -> list[DerivedFrom]:
        return [each for by in kept_by for each in self.of_source(schema, by)]

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        for each in self._all:
            if schema in (each.link.parent, each.link.child):
                find = _missing if each.link.parent is schema else _left_over
                yield Invariant(partial(find, each), derived=each.link.child.name)


def _resolved(catalog: Catalog, schema: Schema, declaration: Derived) -> DerivedFrom:
    where = f"{schema.entity.__name__}.{declaration.name}"
    source = catalog.resolve(declaration.source)
    for name in declaration.reads or ():
        require_field_of(where, source, name, "reads")
    if source is schema or schema.uniques or schema.version or schema.created or schema.updated:
        raise DeclarationError(
            f"{where}: derived items have another entity as their source, and neither unique values, nor a "
            "version, nor the times of their writes: they are what the function makes, and nothing else"
        )
    return DerivedFrom(link_of(where, source, schema, declaration.via), declaration)


# --- writing them -------------------------------------------------------------------------------------------


def _look_again(session: Session, each: DerivedFrom, source_key: Item, known: DerivedItems) -> Planned:
    """Return the second read of a source, after the writes of its derived items, for targets without transactions.

    Of two writers of the source, the first may be the last to write derived items. The one that writes last also
    reads last, so the derived items agree with the source in the end.
    """

    def plan() -> Steps[list[Action]]:
        now = each.items((yield from read_stored(session, each.link.parent, source_key)))
        if now == known:
            return []
        return [*_replacements(known, now), _look_again(session, each, source_key, now)]

    return planned_later(source_key, plan)


def _replacements(old: DerivedItems, new: DerivedItems) -> list[Action]:
    """Return the puts and deletes that turn the old set of items into the new one."""
    puts = [_put_action(key, item) for name, (key, item) in new.items() if old.get(name) != (key, item)]
    return puts + [delete_action(key) for name, (key, _) in old.items() if name not in new]


def _put_action(key: Item, item: Item, found: Item | None = None, *, checks: bool = False) -> Action:
    """Return the put of a derived item; with `checks`, on condition that the found item is unchanged."""
    into = Placeholders()
    params: Params = {"Item": item}
    _add_check(params, key, found, into, checks=checks)
    return Action("Put", key, into.add_to(params), changed_meanwhile(key), order="after")


def delete_action(key: Item, found: Item | None = None, *, checks: bool = False) -> Action:
    """Return the deletion of an item; with `checks`, on condition that the found item is unchanged."""
    into = Placeholders()
    params: Params = {}
    _add_check(params, key, found, into, checks=checks)
    return Action("Delete", key, into.add_to(params), changed_meanwhile(key), order="after")


def _add_check(params: Params, key: Item, found: Item | None, into: Placeholders, *, checks: bool) -> None:
    if not checks:
        return
    if found is None:
        terms = [f"attribute_not_exists({into.name(next(iter(key)))})"]
    else:
        terms = unchanged_attributes(found, into)
    params["ConditionExpression"] = " AND ".join(terms)


# --- records of the stream ----------------------------------------------------------------------------------


def _derive(session: Session, each: DerivedFrom, change: EntityChange, carrying: Carrying) -> Steps[None]:
    """Write the items that are made from the source as it is stored now, and delete the others."""
    if change.is_same(each.reads()):
        return
    known: DerivedItems = {**each.items(change.before), **each.items(change.after)}
    entity = change.after if change.after is not None else change.before
    assert entity is not None
    key = change.schema.primary_key(entity)
    source = yield from read_stored(session, change.schema, key)
    for _ in range(PASSES_MAX):
        wanted = each.items(source)
        yield from _replace(session, known, wanted, carrying)
        now = yield from read_stored(session, change.schema, key)
        if _stored(now) == _stored(source):
            return
        known, source = {**known, **wanted}, now
    raise kept_changing(key)


def _stored(entity: Entity | None) -> Item | None:
    return None if entity is None else entity.__dict__[STORED]


def _replace(session: Session, known: DerivedItems, wanted: DerivedItems, carrying: Carrying) -> Steps[None]:
    for key, item in wanted.values():
        stored = yield from read_item(session, key)
        if stored is None or not is_same_item(stored, item):
            yield from carrying.perform(session, _put_action(key, item))
    for name, (key, _) in known.items():
        if name not in wanted:
            yield from carrying.perform(session, delete_action(key))


# --- what must hold -----------------------------------------------------------------------------------------


def _missing(each: DerivedFrom, session: Session, source: Entity) -> Steps[list[Finding]]:
    """Find derived items that are missing, or differ from those that the function makes."""
    child, findings = each.link.child, []
    for key, item in each.items(source).values():
        found = yield from read_item(session, key)
        is_changing = found is None and child.key.keys.was is not None
        if is_changing and (yield from read_stored(session, child, key)) is not None:
            continue  # it is stored under its old key
        if found is None or not is_same_item(found, item):
            action = _put_action(key, item, found, checks=True)
            findings.append(Finding(child.name, key, "", item, found, (action,)))
    return findings


def _left_over(each: DerivedFrom, session: Session, derived: Entity) -> Steps[list[Finding]]:
    """Find a derived item that its source no longer makes."""
    child = each.link.child
    item: Item = derived.__dict__[STORED]
    source_key = each.link.parent_key(derived)
    key = session.catalog.key_in(item)
    source = None
    if source_key is not None:
        source = yield from read_stored(session, each.link.parent, source_key)
        there = (yield from read_item(session, source_key)) if source is None else None
        if there is not None and session.catalog.schema_of(there) is None:
            # The source may be of an entity that has another name now, so its derived items are not deleted.
            says = f"its source {shown_key(source_key)} is of no entity"
            return [Finding(child.name, key, "", "a source that can be read", says)]
    home = child.primary_key(derived) if child.key.is_old(item, key_values(derived)) else key
    if hashable(home) in each.items(source):
        return []
    return [Finding(child.name, key, "", None, item, (delete_action(key, item, checks=True),))]
