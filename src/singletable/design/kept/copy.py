"""Copies (denormalised fields): a field repeats a field of another entity, its source.

    author_name: Annotated[str, CopyOf("User", "name")] = ""

A write of the item fills the copy in. A write of the source refreshes all copies (a fan-out).

A consumer of the stream may see records of different items in any order. So it refreshes copies from the source as
it is stored now, not from the image in a record. After its last write it reads the source once more. So the
consumer that finishes last has seen the last value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from singletable.blueprint import CopyBlueprint, EntityBlueprint
from singletable.client.calls import Steps
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
    effects,
    kept_changing,
    kept_of,
    parent_update,
    planned_later,
    revision,
)
from singletable.design.kept.links import (
    START,
    Position,
    children_page,
    grouped,
    link_of,
    place_of_children,
    require_field_of,
)
from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import STORED, Entity
from singletable.design.model.schema import Binding, KeptNames
from singletable.design.session.action import Action
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_stored
from singletable.design.values.fields import marked_fields
from singletable.design.values.items import Item, KeyId, hashable, is_empty
from singletable.design.values.markers import KeptField, Upkeep
from singletable.errors import DeclarationError, InvalidWriteError, KeyValueError, SeparatorError


@dataclass(frozen=True, slots=True)
class CopyOf(KeptField):
    """The field repeats a field of another entity, and is refreshed when that changes."""

    source: type[Any] | str
    field: str
    by: Upkeep = "stream"
    via: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Copied:
    """A resolved copy: a field of a child that repeats a field of its parent."""

    link: Link
    place: Binding
    field: str
    marker: CopyOf

    @property
    def by(self) -> Upkeep:
        return self.marker.by

    def source_value(self, source: Entity) -> Any:
        return getattr(source, self.marker.field)

    def can_hold(self, source: Entity) -> bool:
        """Tell whether the copy can hold the value of the source. A required field is never emptied."""
        if self.source_value(source) is not None:
            return True
        field = self.link.child.entity.model_fields[self.field]
        return not field.is_required() and field.default is None

    def is_stale(self, child: Entity, source: Entity) -> bool:
        """Tell whether a copy differs from its source."""
        return self.can_hold(source) and getattr(child, self.field) != self.source_value(source)

    def is_same(self, first: Entity, second: Entity) -> bool:
        """Tell whether two states of a source have the same value to copy."""
        return bool(self.source_value(first) == self.source_value(second))


class Copies(Kind):
    """The copies of a design."""

    def __init__(self, catalog: Catalog) -> None:
        schemas = catalog.schemas.values()
        self._all = [each for schema in schemas for each in _resolved(catalog, schema)]
        self._in = grouped(self._all, lambda each: each.link.child)
        self._of = grouped(self._all, lambda each: (each.link.parent, each.by))

    def of_child(self, schema: Schema) -> tuple[Copied, ...]:
        """Return the fields of an entity that repeat those of others."""
        return self._in.get(schema, ())

    def of_source(self, schema: Schema, by: Upkeep) -> tuple[Copied, ...]:
        """Return the copies that other entities have of an entity's fields."""
        return self._of.get((schema, by), ())

    def is_in(self, schema: Schema) -> bool:
        return schema in self._in

    def follows(self, schema: Schema, by: Upkeep) -> bool:
        return (schema, by) in self._of or any(each.by == by for each in self.of_child(schema))

    def names(self, schema: Schema) -> KeptNames:
        copied = [each.marker.field for each in self.of_source(schema, "transaction")]
        filled = frozenset(each.field for each in self.of_child(schema))
        return KeptNames(effect_reads=schema.with_sources(copied), filled=filled)

    def sources(self, schema: Schema) -> Iterable[Schema]:
        return [each.link.parent for each in self.of_child(schema)]

    def by_stream(self) -> Iterable[Link]:
        return [each.link for each in self._all if each.by == "stream"]

    def describe(self, schema: Schema, described: EntityBlueprint) -> EntityBlueprint:
        copies = [
            CopyBlueprint(
                each.field, each.link.parent.entity.__name__, each.marker.field, each.by, each.marker.via
            )
            for each in self.of_child(schema)
        ]
        return replace(described, copies=tuple(copies))

    def refuse_changes(self, schema: Schema, names: Collection[str]) -> None:
        """Refuse that a caller changes a copy, unless the same write gives the item another parent."""
        for copied in self.of_child(schema):
            if copied.field in names and not any(field in names for field in copied.link.via.values()):
                raise InvalidWriteError(
                    _shown(copied), hint=f"change {_shown_source(copied)}, and it follows"
                )

    def filled_in(self, session: Session, entity: Entity, *, loads: bool) -> Steps[dict[str, object]]:
        """Return the copies of an entity, read from their sources. Refuse a value that the caller made up.

        The copies of an entity that was read are as old as the read, so they are filled in again. A load takes the
        given value of a copy that is kept by the stream: the stream corrects it later.
        """
        schema = session.catalog.schema_for(type(entity))
        filled: dict[str, object] = {}
        sources: dict[KeyId, Entity | None] = {}
        for copied in self.of_child(schema):
            key = copied.link.parent_key(entity)
            if key is None or (loads and copied.by == "stream" and _is_given(copied, entity)):
                continue
            name = hashable(key)
            if name not in sources:
                sources[name] = yield from read_stored(session, copied.link.parent, key)
            source = sources[name]
            if source is not None and copied.can_hold(source):
                value = filled[copied.field] = copied.source_value(source)
                if not loads and _is_made_up(copied, entity, value):
                    given = getattr(entity, copied.field)
                    raise InvalidWriteError(
                        f"{_shown(copied)}, which is {value!r}, and {given!r} is given for it",
                        hint=f"leave it out: it is filled in, and follows {_shown_source(copied)}",
                    )
        return filled

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        """Return the checks that the sources still have the copied values."""
        yield from ()
        if change.after is None or not session.client.capabilities.transactions:
            return []
        return [*self._source_checks(change.schema, change.after)]

    def _source_checks(self, schema: Schema, after: Entity) -> Iterator[Action]:
        for copied in self.of_child(schema):
            key = copied.link.parent_key(after) if copied.by == "transaction" else None
            if key is not None:
                value, codec = getattr(after, copied.field), copied.link.parent.fields[copied.marker.field]
                expected = None if is_empty(value) else codec.encode(value)
                yield parent_update(
                    copied.link.parent, key, expects={codec.stored: expected}, needs_parent=False
                )

    def fan_out(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        actions: list[Action] = []
        for copied in self.of_source(change.schema, "transaction"):
            if change.after is not None and not change.is_same([copied.marker.field]):
                actions += yield from _refreshes(session, copied, change.after)
        return actions

    def on_record(self, session: Session, change: EntityChange, carrying: Carrying) -> Steps[None]:
        for copied in self.of_source(change.schema, "stream"):
            yield from _spread(session, copied, change, carrying)
        for copied in self.of_child(change.schema):
            if copied.by == "stream":
                yield from _catch_up(session, copied, change, carrying)

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        for copied in self.of_child(schema):
            yield Invariant(partial(_difference, copied), frozenset({copied.field}))


def _resolved(catalog: Catalog, child: Schema) -> Iterator[Copied]:
    for field, marker in marked_fields(child.entity, CopyOf):
        where = f"{child.entity.__name__}.{field}"
        source = catalog.resolve(marker.source)
        link = link_of(where, source, child, marker.via)
        require_field_of(where, source, marker.field, "copies")
        if field in child.with_sources(child.key.keys.reads()):
            raise DeclarationError(f"{where} is a copy, and part of the key, which never changes")
        yield Copied(link, place_of_children(where, link), field, marker)


def _shown(copied: Copied) -> str:
    return f"{copied.link.child.entity.__name__}.{copied.field} is a copy of {_shown_source(copied)}"


def _shown_source(copied: Copied) -> str:
    return f"{copied.link.parent.entity.__name__}.{copied.marker.field}"


# --- what is filled in --------------------------------------------------------------------------------------


def readable_copies(session: Session, entity: Entity) -> Steps[dict[str, object]]:
    """Return the copies of an entity that does not fit, read from their sources; none if no key can be built."""
    try:
        copies = kept_of(session.catalog).of(Copies)
        return (yield from copies.filled_in(session, entity, loads=True))
    except (KeyValueError, SeparatorError):
        return {}  # the fields that name the source make no key


def _is_given(copied: Copied, entity: Entity) -> bool:
    return copied.field in entity.model_fields_set and STORED not in entity.__dict__


def _is_made_up(copied: Copied, entity: Entity, value: object) -> bool:
    """Tell whether a given copy is made up: it is not the source's value, nor the one read, nor the default."""
    given, codec = entity.__dict__.get(copied.field), copied.link.child.fields[copied.field]
    field = copied.link.child.entity.model_fields[copied.field]
    if given == value or copied.field not in entity.model_fields_set:
        return False
    if not field.is_required() and given == field.get_default(call_default_factory=True):
        return False
    read: Item | None = entity.__dict__.get(STORED)
    return read is None or read.get(codec.stored) != (None if is_empty(given) else codec.encode(given))


# --- refreshing ---------------------------------------------------------------------------------------------


def _refreshes(session: Session, copied: Copied, source: Entity) -> Steps[list[Action]]:
    """Plan the refresh of all copies of a source."""
    actions: list[Action] = []
    position: Position | None = START
    while position is not None:
        children, position = yield from children_page(
            session, copied.link, copied.place, source, position, exact=True
        )
        for child in children:
            if copied.is_stale(child, source):
                actions += yield from _refresh(session, copied, child, source)
    if actions and not session.client.capabilities.transactions:
        actions.append(_look_again(session, copied, source))
    return actions


def _refresh(session: Session, copied: Copied, child: Entity, source: Entity) -> Steps[list[Action]]:
    if session.client.capabilities.transactions:
        return (yield from _refresh_actions(session, copied, child, source))
    key = copied.link.child.primary_key(child)
    return [planned_later(key, lambda: _refresh_plan(session, copied, key, source))]


def _look_again(session: Session, copied: Copied, source: Entity) -> Planned:
    """Return the second read of a source, after the refreshes of its copies: it may have changed meanwhile.

    Of two writers, the first may be the last to refresh. The one that refreshes last also reads last.
    """
    schema = copied.link.parent
    key = schema.primary_key(source)

    def plan() -> Steps[list[Action]]:
        now = yield from read_stored(session, schema, key)
        if now is None or copied.is_same(now, source):
            return []
        return (yield from _refreshes(session, copied, now))

    return planned_later(key, plan)


def _refresh_plan(session: Session, copied: Copied, key: Item, source: Entity) -> Steps[list[Action]]:
    """Plan the refresh of a copy from the child as it is stored now. A deleted child is not written again."""
    child = yield from read_stored(session, copied.link.child, key)
    if child is None or not copied.is_stale(child, source):
        return []
    return (yield from _refresh_actions(session, copied, child, source))


def _refresh_actions(session: Session, copied: Copied, child: Entity, source: Entity) -> Steps[list[Action]]:
    """Plan the refresh of the copy in a child that was read, with its effects.

    It increments the version of the child, since a write of the whole child writes the copy too.
    """
    schema, value = copied.link.child, copied.source_value(source)
    codec = schema.fields[copied.field]
    changes = {codec.stored: None if is_empty(value) else codec.encode(value)}
    reads = schema.kept.effect_reads if copied.field in schema.kept.effect_reads else ()
    action, after = revision(session, schema, child, changes, reads=reads, bumps=True)
    return [action, *((yield from effects(session, schema, child, after)) if reads else ())]


# --- records of the stream ----------------------------------------------------------------------------------


def _spread(session: Session, copied: Copied, change: EntityChange, carrying: Carrying) -> Steps[None]:
    """Refresh the copies of a changed field in all children (the fan-out)."""
    if change.after is None or change.is_same([copied.marker.field]):
        return
    key = change.schema.primary_key(change.after)
    source = yield from read_stored(session, change.schema, key)
    for _ in range(PASSES_MAX):
        if source is None or not copied.can_hold(source):
            return
        yield from _refresh_all(session, copied, source, carrying)
        now = yield from read_stored(session, change.schema, key)
        if now is None or copied.is_same(source, now):
            return
        source = now
    raise kept_changing(key)


def _refresh_all(session: Session, copied: Copied, source: Entity, carrying: Carrying) -> Steps[None]:
    """Refresh the stale copies of a source, page by page. A second run is cheap: fresh copies are only read."""
    position: Position | None = START
    while position is not None:
        children, position = yield from children_page(
            session, copied.link, copied.place, source, position, exact=False
        )
        for child in children:
            if copied.is_stale(child, source):
                key = copied.link.child.primary_key(child)
                yield from carrying.settle(session, partial(_refresh_plan, session, copied, key, source))


def _catch_up(session: Session, copied: Copied, change: EntityChange, carrying: Carrying) -> Steps[None]:
    """Refresh the copy in a new child: its source may have changed while it was written."""
    old, new = change.before, change.after
    if new is None or (old is not None and change.is_same([copied.field]) and _is_of_same(copied, old, new)):
        return
    source_key = copied.link.parent_key(new)
    if source_key is None:
        return
    key = change.schema.primary_key(new)
    for _ in range(PASSES_MAX):
        source = yield from read_stored(session, copied.link.parent, source_key)
        if source is None or not copied.is_stale(new, source):
            return
        yield from carrying.settle(session, partial(_refresh_plan, session, copied, key, source))
        now = yield from read_stored(session, copied.link.parent, source_key)
        if now is None or copied.is_same(source, now):
            return
    raise kept_changing(source_key)


def _is_of_same(copied: Copied, old: Entity, new: Entity) -> bool:
    return copied.link.parent_key(old) == copied.link.parent_key(new)


# --- what must hold -----------------------------------------------------------------------------------------


def _difference(copied: Copied, session: Session, child: Entity) -> Steps[list[Finding]]:
    """Find a copy that differs from its source. A copy whose source is gone stays as it is."""
    key = copied.link.parent_key(child)
    source = None if key is None else (yield from read_stored(session, copied.link.parent, key))
    if source is None or not copied.is_stale(child, source):
        return []
    schema = copied.link.child
    actions = yield from _refresh_actions(session, copied, child, source)
    expected, found = copied.source_value(source), getattr(child, copied.field)
    return [Finding(schema.name, schema.primary_key(child), copied.field, expected, found, tuple(actions))]
