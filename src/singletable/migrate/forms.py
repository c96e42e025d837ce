"""What stored items are, and what they should be by the design in the code. Pure: nothing here asks anybody.

Items that were written before the design was, or by older versions of it, lack the discriminator, have keys that
the templates do not read any more (times to the second), or are of an older schema version. Their fields are known
all the same, and the keys are computed from those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from singletable.design.keys.template import split_template
from singletable.design.model.catalog import RESERVED, Catalog
from singletable.design.model.entity import Entity
from singletable.design.model.schema import EntitySchema
from singletable.design.rekeying import MARK, Move, owned_locks
from singletable.design.session.session import Session
from singletable.design.values.items import AttributeValue, Item
from singletable.design.writes.write import clock_time, expiry_of
from singletable.errors import MigrationError
from singletable.migrate.steps import Places, Renames
from singletable.migrate.values import same, with_unknown

_LETTER: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class ItemRewrite:
    """How one stored item differs from what it should be."""

    entity: str
    key: Item
    sets: Item
    removes: tuple[str, ...]
    guards: Mapping[
        str, AttributeValue | None
    ]  # what this was computed from, as it was stored; None: not there
    move: Move | None = None  # when the item's key in the table is another one

    def applied_to(self, item: Item) -> Item:
        """Return what the change makes of an item."""
        if self.move is not None:
            return self.move.after
        return {**{name: value for name, value in item.items() if name not in self.removes}, **self.sets}

    def shown(self) -> dict[str, Any]:
        """Return the change as people and programs read it."""
        if self.move is not None:
            new = {name: self.move.after[name] for name in self.key}
            return {"entity": self.entity, "key": plain(self.key), "to": plain(new)}
        return {
            "entity": self.entity,
            "key": plain(self.key),
            "sets": plain(self.sets),
            "removes": list(self.removes),
        }


def plain(item: Item) -> dict[str, Any]:
    """Return the values of an item without their types."""
    return {name: next(iter(value.values())) for name, value in item.items()}


class Forms:
    """Tells the entity of any stored item, and how it differs from its form in the design."""

    def __init__(
        self,
        session: Session,
        *,
        was: Places | None = None,
        discriminator_was: str | None = None,
        renamed: Renames | None = None,
        entity_names: Mapping[str, str] | None = None,
        keeps_over_at: datetime | None = None,
    ) -> None:
        self._session = session
        self._keeps_over_at = keeps_over_at  # what is over by then gets no time to live
        self.catalog = catalog = session.catalog
        self._discriminators = [catalog.discriminator, *([discriminator_was] if discriminator_was else [])]
        self._skeletons = _skeletons(catalog, was or {})
        # Attributes that are read by their names of before, where they have no other; and entities.
        self._renamed = renamed or {}
        self._entity_names = entity_names or {}

    def schema_of(self, item: Item) -> EntitySchema | None:
        """Find the entity of an item: by its discriminator, by its keys, or by what they begin with."""
        for name in self._discriminators:
            if name in item:
                stored = item[name].get("S", "")
                return self.catalog.named(stored) or self.catalog.named(self._entity_names.get(stored, ""))
        found = self.catalog.schema_of(item)
        if found is not None:
            return found
        return next((one.schema for one in self._skeletons if one.fits(item)), None)

    def is_reserved(self, item: Item) -> bool:
        """Tell whether the layer itself has written an item: a lock, a guard, the record of a migration."""
        names = [item[name].get("S", "") for name in self._discriminators if name in item]
        return any(str(name).startswith(RESERVED) for name in names)

    def check(self, schema: EntitySchema, item: Item) -> None:
        """Raise a DesignError for an item that the entity cannot be built of."""
        schema.to_entity(self._read(schema, item))

    def entity_renaming(
        self, schema: EntitySchema, item: Item, renamed: Mapping[str, str]
    ) -> ItemRewrite | None:
        """Say that an item is to be of the name that its entity has now."""
        for name in self._discriminators:
            if name in item and item[name].get("S") in renamed:
                key = schema.key_in(item)
                return ItemRewrite(schema.name, key, {name: {"S": schema.name}}, (), {name: item[name]})
        return None

    def change(
        self,
        schema: EntitySchema,
        item: Item,
        places: Iterable[str],
        *,
        moves: bool = False,
        every_attribute: bool = False,
        fields: Iterable[str] = (),
    ) -> ItemRewrite | None:
        """Say what is to be done to an item; None when it is as it should be.

        It raises a DesignError for an item that the entity cannot be built of.
        """
        key = schema.key_in(item)
        if moves and MARK in item:
            return ItemRewrite(schema.name, key, {}, (MARK,), {MARK: item[MARK]})
        entity = schema.to_entity(self._read(schema, item))
        if every_attribute:
            self._expire(schema, entity)
        # Without every attribute, an item that has its time already goes by it, as it would without this.
        if every_attribute or not self._is_over(schema, item):
            self._keep(schema, entity)
        wanted = schema.to_item(entity)
        if not self._is_older(schema, item):
            wanted = {name: with_unknown(value, item.get(name)) for name, value in wanted.items()}
        if moves and any(not same(wanted[name], value) for name, value in key.items()):
            owned = owned_locks(self._session, schema, entity, key)
            move = Move(key, item, wanted, owned, mover=self._session.new_token())
            return ItemRewrite(schema.name, key, {}, (), item, move)
        rewritten = {schema.fields[name].stored for name in fields if name in schema.fields}
        names = self._names(schema, item, places, every_attribute=every_attribute) | rewritten
        names -= key.keys()
        sets = {name: wanted[name] for name in names if name in wanted and not _has(item, name, wanted[name])}
        removes = tuple(sorted(name for name in names if name in item and name not in wanted))
        if not sets and not removes:
            return None
        guards = self._guards(schema, item, places, every_attribute=every_attribute)
        guards |= {name: item.get(name) for name in rewritten}
        guards |= {
            old: item.get(old) for old, new in self._renamed.get(schema.name, {}).items() if new in guards
        }
        return ItemRewrite(schema.name, key, sets, removes, guards)

    def _expire(self, schema: EntitySchema, entity: Entity) -> None:
        """Let an entity expire as its fields say, unless it does already.

        One that would expire so long after it is written is left: its time is none of this writing.
        """
        if schema.ttl is None:
            return
        values, name = entity.__dict__, schema.ttl.name
        counts = schema.expires is not None and schema.expires.after is not None
        if counts and values.get(name) is None:
            values[name] = expiry_of(schema, values, clock_time(self._session))

    def _keep(self, schema: EntitySchema, entity: Entity) -> None:
        """Take the time to live of an entity that would expire, and is to be kept."""
        if schema.ttl is None or self._keeps_over_at is None:
            return
        over_at = entity.__dict__.get(schema.ttl.name)
        if over_at is not None and over_at <= self._keeps_over_at:
            entity.__dict__[schema.ttl.name] = None

    def _is_over(self, schema: EntitySchema, item: Item) -> bool:
        """Tell whether an item has a time to live by which it would expire, where such ones are kept."""
        kept = self._keeps_over_at
        return kept is not None and schema.is_expired(item, kept.timestamp())

    def renaming(self, schema: EntitySchema, item: Item, names: Mapping[str, str]) -> ItemRewrite | None:
        """Say which attributes of an item are to be copied to other names: those that are not there by them."""
        missing = {
            old: new
            for old, new in names.items()
            if old in item and new not in item and not self._is_over(schema, {new: item[old]})
        }
        if not missing:
            return None
        key = schema.key_in(item)
        guards: dict[str, AttributeValue | None] = {old: item[old] for old in missing}
        guards |= dict.fromkeys(missing.values())
        return ItemRewrite(schema.name, key, {new: item[old] for old, new in missing.items()}, (), guards)

    def _read(self, schema: EntitySchema, item: Item) -> Item:
        """Return an item with the names that the design reads, whatever it is stored by."""
        names = self._renamed.get(schema.name, {})
        return {**{new: item[old] for old, new in names.items() if old in item}, **item}

    def removal(
        self,
        schema: EntitySchema,
        item: Item,
        attributes: Iterable[str],
        renamed: Mapping[str, str] | None = None,
    ) -> ItemRewrite | None:
        """Say which attributes an item is to lose: those that its form in the design does not have.

        It raises MigrationError for an item of an older version, or one that nothing else names: older code has
        written it, and the attributes are what it is read by.
        """
        wanted = schema.to_item(schema.to_entity(self._read(schema, item)))
        dropped = {name for name in attributes if not schema.knows(name) or name not in wanted}
        removes = tuple(sorted(dropped & item.keys()))
        if not removes:
            return None
        key = schema.key_in(item)
        names_it = schema.discriminator not in item and any(
            item[name] == {"S": schema.name} for name in removes
        )
        is_lost = self.renaming(schema, item, renamed or {}) is not None
        if self._is_older(schema, item) or names_it or is_lost:
            raise MigrationError("older code has written it, so nothing is removed from it")
        guarded = {*removes, schema.discriminator, schema.schema_version_name}
        guarded |= {new for old, new in (renamed or {}).items() if old in removes}
        return ItemRewrite(schema.name, key, {}, removes, {name: item.get(name) for name in guarded})

    def _names(
        self, schema: EntitySchema, item: Item, places: Iterable[str], *, every_attribute: bool
    ) -> set[str]:
        """Name the attributes that a backfill of places is about."""
        names = {schema.discriminator}
        if every_attribute:
            # Also the keys of indexes that the entity is not in: older code may have put it there.
            names.update(schema.by_stored, *((*index.pk, *index.sk) for index in schema.table.indexes))
        for place in places:
            binding = schema.bindings[place]
            names.update(binding.written())
            names.update(schema.fields[name].stored for name in binding.reads() if name in schema.fields)
        if schema.schema_version is not None:
            names.add(schema.schema_version_name)
            if self._is_older(schema, item):
                names.update(schema.by_stored)
        return names

    def _guards(
        self, schema: EntitySchema, item: Item, places: Iterable[str], *, every_attribute: bool
    ) -> dict[str, AttributeValue | None]:
        reads = {name for place in places for name in schema.bindings[place].reads()}
        if self._is_older(schema, item) or reads & set(schema.properties):
            # An upcaster or a property may have read anything.
            return {name: item.get(name) for name in {*schema.by_stored, *item}}
        stored = {schema.fields[name].stored for name in reads if name in schema.fields}
        if every_attribute:
            stored |= schema.by_stored.keys()
        return {name: item.get(name) for name in {*stored, schema.discriminator}}

    def _is_older(self, schema: EntitySchema, item: Item) -> bool:
        if schema.schema_version is None:
            return False
        stored: str = item.get(schema.schema_version_name, {}).get("N", "1")
        return stored != str(schema.schema_version)


def _has(item: Item, name: str, value: AttributeValue) -> bool:
    return name in item and same(item[name], value)


# --- keys that no template reads any more ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """The literal texts of an entity's keys, with anything between them."""

    schema: EntitySchema
    patterns: Mapping[str, re.Pattern[str]]  # by the attribute
    weight: int = field(default=0)  # how much of it is literal

    def fits(self, item: Item) -> bool:
        return all(
            pattern.fullmatch(item.get(name, {}).get("S", "")) is not None
            for name, pattern in self.patterns.items()
        )


def _skeletons(catalog: Catalog, was: Places) -> list[_Skeleton]:
    """Return the skeletons of all entities, those that say most first."""
    found = []
    for schema in catalog.schemas.values():
        keys = schema.key.keys
        texts = [(keys.pk.template, keys.sk.template)]
        if schema.name in was:
            texts.append((was[schema.name][0], was[schema.name][1] if len(was[schema.name]) > 1 else None))
        found += [_skeleton(schema, *pair) for pair in texts if _says_something(pair)]
    return sorted(found, key=lambda skeleton: -skeleton.weight)


def _says_something(templates: tuple[str | None, str | None]) -> bool:
    literals = [part for text in templates if text for part in split_template(text) if isinstance(part, str)]
    return any(_LETTER.search(part) for part in literals)


def _skeleton(schema: EntitySchema, pk: str | None, sk: str | None) -> _Skeleton:
    patterns = {}
    weight = 0
    for name, text in zip(schema.table.key_attributes(), (pk, sk), strict=False):
        if not text:
            continue
        parts = split_template(text)
        weight += sum(len(part) for part in parts if isinstance(part, str))
        expression = "".join(re.escape(part) if isinstance(part, str) else ".+" for part in parts)
        patterns[name] = re.compile(expression, re.DOTALL)
    return _Skeleton(schema, patterns, weight)
