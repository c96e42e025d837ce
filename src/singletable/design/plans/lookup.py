"""Finds the item that has a unique value: reads the value's lock, and then the item that the lock names.

At any moment at most one item has a value. But between the two reads the value may pass to another item, or the
item may move to another key. So if the item that the lock names does not have the value, the lock is read again,
and followed again if it has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from singletable.blueprint import ReadBlueprint, SortBlueprint
from singletable.client.calls import Call, Params, Steps, read_units
from singletable.design.kept.unique import lock_key, old_locks, owner_key, ttl_attribute
from singletable.design.keys.key import Key
from singletable.design.keys.texts import template_of
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.plan import E, Found, Run, Single, Usage
from singletable.design.plans.shape import PatternCalls, any_key
from singletable.design.session.expressions import get_params
from singletable.design.session.session import ask
from singletable.design.session.stored_items import entity_of
from singletable.design.values.items import Item
from singletable.errors import VersionConflictError

FOLLOWED_MAX: Final = 20


class Lookup(Single[E]):
    """Reads the item that has a unique value: the lock of the value first, then the item that the lock names.

    Both are read consistently. A lock whose item is gone, has expired or has another value by now finds nothing.
    `request()` returns the request for the lock, which alone knows the key of the other one.
    """

    is_consistent = True

    def __init__(self, entity: type[E], unique: str, key: Key) -> None:
        self.entity = entity
        self.unique = unique
        self.key = key

    def __repr__(self) -> str:
        return f"{self.entity.__name__} of {self.key!r}"


class LookupRun(Run[Lookup[E]]):
    """Carries out a lookup. Everything that is read except the item, locks too, counts as thrown away."""

    def request(self) -> Params:
        schema = self.session.catalog.schema_for(self.plan.entity)
        key = self._lock_key(schema.locks[self.plan.unique].sort)
        return get_params(self.session.table, key, consistent=True)

    def found(self) -> Steps[Found[E | None]]:
        usage, schema = Usage(), self.session.catalog.schema_for(self.plan.entity)
        form = schema.locks[self.plan.unique]
        new = self._lock_key(form.sort)
        entity = yield from self._owner_of(schema, new, usage)
        if entity is None and form.was is not None and form in (yield from old_locks(self.session)):
            # The lock may move during the read, so the new key is read once more after the old one.
            for key in (self._lock_key(form.was), new):
                entity = entity or (yield from self._owner_of(schema, key, usage))
        return Found(entity, usage)

    def _lock_key(self, sort: str) -> Item:
        return lock_key(self.session.catalog, self.plan.key.render(), sort)

    def _owner_of(self, schema: EntitySchema, key: Item, usage: Usage) -> Steps[E | None]:
        """Return the entity that a lock names; None if the entity does not have the value."""
        cache_s, seen = self.plan.cache_s, None
        for _ in range(FOLLOWED_MAX):
            lock = yield from self._read(key, cache_s, usage)
            owner = None if lock is None or lock == seen else self._owner_key(lock)
            if owner is None:
                return None
            item = yield from self._read(owner, cache_s, usage)
            entity: E | None = None if item is None else entity_of(schema, self.session, item)
            if entity is not None and self._has_value(entity):
                usage.thrown_away -= 1
                return entity
            # Cached answers may be from different moments, so they prove nothing.
            seen = lock if cache_s is None else None
            cache_s = None
        raise VersionConflictError(
            f"{self.plan!r}: the lock has changed {FOLLOWED_MAX} times while it was followed",
            hint="too many write this value at once: read it again",
        )

    def _read(self, key: Item, cache_s: float | None, usage: Usage) -> Steps[Item | None]:
        session = self.session
        params = get_params(session.table, key, consistent=True)
        answer = yield from ask(session, Call("GetItem", params), cache_s)
        item: Item | None = answer.get("Item")
        is_there = int(item is not None)
        usage.add(Usage(read_units(answer), is_there, is_there))
        return item

    def _owner_key(self, lock: Item) -> Item | None:
        """Return the key of a lock's owner; None for an expired lock, and for an item that is no lock."""
        session = self.session
        expiry = ttl_attribute(session.catalog)
        if expiry is not None and "N" in lock.get(expiry, {}) and float(lock[expiry]["N"]) <= session.now_s():
            return None
        return owner_key(session.catalog, lock)

    def _has_value(self, entity: E) -> bool:
        key = self.plan.key
        found = type(key).from_values({name: getattr(entity, name) for name in key.reads()})
        return found is not None and found.render() == key.render()


def lookup_reads(calls: PatternCalls[Lookup[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a lookup: the lock, and the item that it names."""
    plan, *_ = plans = calls.plans
    schema = calls.catalog.schema_for(plan.entity)
    lock = ReadBlueprint(
        "GetItem",
        (plan.entity.__name__,),
        template_of([each.key for each in plans], calls.same),
        sort=None
        if calls.catalog.table.sk is None
        else SortBlueprint("=", (schema.locks[plan.unique].sort,)),
        is_consistent=plan.is_consistent,
        name=name,
        lock=plan.unique,
    )
    pk, sort = any_key(schema)
    return lock, replace(lock, pk=pk, sort=sort, lock=None, owner_of=plan.unique)
