"""Scans a table and compares kept data with its sources: counters, averages, copies, derived items, the locks of
unique values, and the keys of indexes. Items and locks that are still under old keys (`was=`) are counted
separately: they are no differences. Items that belong to no entity are reported, except those that the layer
stores for itself (locks, guards, records of migrations). Items that do not fit their entity are reported too.

It may run while others write. A difference is read once more before it is reported. A repair has an optimistic
lock: if the data has changed, the repair is planned again. Verify counters that a stream consumer keeps only when
the consumer has seen all records: otherwise a repair counts the outstanding records, and the consumer counts them
again. An expired item counts until it is removed. An index is eventually consistent; a later run sees the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from singletable.client.calls import Call, Params, Steps
from singletable.design.kept.kind import (
    ChangedMeanwhileError,
    Changes,
    Finding,
    Invariant,
    Schema,
    changed_meanwhile,
    kept_of,
    revision,
    unchanged_attributes,
    update_text,
)
from singletable.design.kept.unique import is_under_old_key, lock_move, old_forms, old_locks, stray_lock
from singletable.design.model.entity import STORED, Entity, key_values
from singletable.design.model.schema import Binding
from singletable.design.rekeying import move_found_item
from singletable.design.session.action import Action
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_item, read_stored
from singletable.design.values.arguments import require_callable
from singletable.design.values.items import AttributeValue, Item, KeyId, decode, decode_any, hashable
from singletable.design.writes.perform import perform
from singletable.design.writes.transaction import settle
from singletable.errors import (
    DesignError,
    InvalidItemError,
    InvalidWriteError,
    KeyValueError,
    MigrationError,
    MissingKeyPartError,
    SeparatorError,
)

_LOOKS_MAX: Final = 10
# These errors end a check: another item cannot be read, or a value of this item fits into no key.
_UNCHECKABLE: Final = (
    InvalidItemError,
    InvalidWriteError,
    KeyValueError,
    MissingKeyPartError,
    SeparatorError,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference. The field is empty if it concerns the whole item."""

    entity: str
    key: Item
    field: str
    expected: Any
    found: Any
    is_repaired: bool = False
    is_repairable: bool = True  # if False, a person must decide how


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of verifying a table."""

    items: int
    differences: tuple[Mismatch, ...]
    under_old_keys: int = 0  # items and locks under old keys (`was=`); with `repair` they were moved

    @property
    def is_clean(self) -> bool:
        """Whether no difference is left: there was none, or all were repaired."""
        return all(each.is_repaired for each in self.differences)


Look = Callable[[], Steps[list[Finding]]]
Progress = Callable[[int, int], object]  # takes the number of items read, and of differences found


def verify(
    session: Session, *, repair: bool, shared_table: bool = False, progress: Progress | None = None
) -> Steps[VerifyReport]:
    """Compute the kept data again and report differences; with `repair`, repair them.

    In a `shared_table`, items of no entity belong to other programs, and are not reported.
    """
    require_callable(progress, "progress")
    items = old = 0
    differences: dict[tuple[str, KeyId, str], Mismatch] = {}
    params: Params = {"TableName": session.table, "ConsistentRead": True}
    while True:
        answer = yield Call("Scan", params)
        items += len(answer["Items"])
        page = [item for item in answer["Items"] if not shared_table or _is_ours(session, item)]
        old += yield from _old_locks(session, page, repair=repair)
        old += yield from _old_items(session, page, repair=repair)
        for each in (yield from _verified_page(session, page, repair=repair)):
            differences[each.entity, hashable(each.key), each.field] = each
        if progress is not None:
            progress(items, len(differences))
        if "LastEvaluatedKey" not in answer:
            return VerifyReport(items, tuple(differences.values()), old)
        params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _is_ours(session: Session, item: Item) -> bool:
    return session.catalog.is_own(item) or session.catalog.schema_of(item) is not None


def _old_locks(session: Session, items: list[Item], *, repair: bool) -> Steps[int]:
    """Count the locks of a page that are under old keys; with `repair`, move those that a migration left behind.

    Before a migration has moved them, they stay: an older program may still look for them under their old keys.
    """
    count = 0
    for item in [*items] if session.catalog.old_locks else ():
        if not (yield from is_under_old_key(session, item)):
            continue
        count += 1
        if not repair or not (yield from old_locks(session)).isdisjoint(old_forms(session, item)):
            continue
        try:
            yield from move_lock(session, session.catalog.key_in(item))
        except MigrationError:
            continue  # two items have the value: one of them is reported by its own check
        items.remove(item)
    return count


def move_lock(session: Session, key: Item) -> Steps[bool]:
    """Move a lock from its old key to its new one, or delete it if it is stale. Tell whether anything was done.

    At every moment, at least one of the two keys locks the value. It raises MigrationError if another item has
    the lock under the new key.
    """
    plans: list[list[Action]] = []

    def plan() -> Steps[list[Action]]:
        plans.append((yield from lock_move(session, key)))
        return plans[-1]

    yield from settle(session, plan)
    put = [action for action in plans[-1] if action.kind == "Put"]
    if put and not session.client.capabilities.transactions:
        yield from settle(session, lambda: stray_lock(session, put[0].key))
    return any(plans)


def _old_items(session: Session, items: list[Item], *, repair: bool) -> Steps[int]:
    """Count the items of a page that are under old keys; with `repair`, bring them home."""
    count = 0
    for at, item in enumerate(items):
        schema = session.catalog.schema_of(item)
        if schema is None or all(binding.keys.was is None for binding in schema.bindings.values()):
            continue
        try:
            entity = schema.to_entity(item)
            places = _old_places(schema, entity)
        except DesignError:
            continue  # a later check reports it
        count += bool(places)
        if places and repair:
            items[at] = yield from _brought_home(session, schema, places, entity)
    return count


def _brought_home(session: Session, schema: Schema, places: list[Binding], entity: Entity) -> Steps[Item]:
    item: Item = entity.__dict__[STORED]
    try:
        for place in places:
            yield from move_found_item(session, schema, place, item)
    except MigrationError:
        return item  # another item has its new key: a person must decide
    home = yield from read_stored(session, schema, schema.primary_key(entity))
    stored: Item = item if home is None else home.__dict__[STORED]
    return stored


def _verified_page(session: Session, items: list[Item], *, repair: bool) -> Steps[list[Mismatch]]:
    differences: list[Mismatch] = []
    for item in items:
        if any(each.is_repaired for each in differences):
            # A repair changes other items too, so the rest of the page may be stale.
            item = yield from _read_again(session, item)
        differences += yield from _verified(session, item, repair=repair)
    return differences


def _read_again(session: Session, item: Item) -> Steps[Item]:
    return (yield from read_item(session, session.catalog.key_in(item))) or item


def _verified(session: Session, item: Item, *, repair: bool) -> Steps[list[Mismatch]]:
    catalog = session.catalog
    schema = catalog.schema_of(item)
    if schema is None:
        for look in (kind.own_check(session, item) for kind in kept_of(catalog).kinds):
            if look is not None:
                return (yield from _reported(session, look, repair=repair))
        return [] if catalog.is_own(item) else (yield from _strange(session, item))
    differences: list[Mismatch] = []
    try:
        entity = schema.to_entity(item)
    except InvalidItemError:
        differences, item = yield from _without_wrong_numbers(session, schema, item, repair=repair)
        try:
            entity = schema.to_entity(item)
        except InvalidItemError as error:
            return differences + (yield from _unfit(session, schema, item, error))
        if not all(each.is_repaired for each in differences):
            return differences
    for check in [*_own_invariants(schema), *kept_of(catalog).invariants(schema)]:
        try:
            differences += yield from verified_by(session, schema, entity, [check], repair=repair)
        except _UNCHECKABLE as error:
            expected = "what is kept of it can be checked"
            key = session.catalog.key_in(item)
            differences.append(Mismatch(schema.name, key, "", expected, error.message, is_repairable=False))
    return differences


# --- what must hold of an item by itself ---------------------------------------------------------------------


def _own_invariants(schema: Schema) -> Iterator[Invariant]:
    """Return the rules that an item of an entity must meet by itself, without regard to other items."""
    yield Invariant(partial(_check_keys, schema))
    for name in schema.computed:
        yield Invariant(partial(_check_computed, schema, name), frozenset({name}))


def _check_keys(schema: Schema, session: Session, entity: Entity) -> Steps[list[Finding]]:
    """Find keys that disagree with the fields: half keys, stale keys, and keys of other indexes.

    Old keys (`was=`) are right too, until the item is moved.
    """
    yield from ()
    item: Item = entity.__dict__[STORED]
    expected = {**schema.key_attributes(entity), **_old_attributes(schema, entity)}
    table = session.catalog.table
    key = session.catalog.key_in(item)
    names = {name for index in table.indexes for name in (*index.pk, *index.sk)} - schema.by_stored.keys()
    changes: dict[str, AttributeValue | None] = {
        name: expected.get(name) for name in sorted(names) if expected.get(name) != item.get(name)
    }
    action = _key_repair(schema, key, item, changes) if changes else None
    findings = [
        Finding(
            schema.name, key, name, decode_any(value), decode_any(item.get(name)), (action,) if action else ()
        )
        for name, value in changes.items()
    ]
    wrong = [name for name in key if name in expected and expected[name] != item[name]]
    return findings + [
        Finding(schema.name, key, name, decode_any(expected[name]), decode_any(item[name])) for name in wrong
    ]


def _old_attributes(schema: Schema, entity: Entity) -> Item:
    item: Item = entity.__dict__[STORED]
    return {
        attribute.name: item[attribute.name]
        for binding in _old_places(schema, entity)
        for attribute in binding.attributes()
    }


def _old_places(schema: Schema, entity: Entity) -> list[Binding]:
    """Return the places where an item that was read is still under its old keys."""
    item, values = entity.__dict__[STORED], key_values(entity)
    return [binding for binding in schema.bindings.values() if binding.is_old(item, values)]


def _key_repair(schema: Schema, key: Item, item: Item, changes: Changes) -> Action:
    into = Placeholders()
    reads = schema.with_sources(name for binding in schema.indexes for name in binding.reads())
    # If a key is built from a property, the property may read any field.
    fields = schema.fields if schema.properties else reads & schema.fields.keys()
    stored = {schema.fields[name].stored for name in fields} | set(changes) | set(key)
    terms = unchanged_attributes({name: item.get(name) for name in stored}, into)
    params = {"UpdateExpression": update_text(changes, into), "ConditionExpression": " AND ".join(terms)}
    return Action("Update", key, into.add_to(params), changed_meanwhile(key))


def _check_computed(schema: Schema, name: str, session: Session, entity: Entity) -> Steps[list[Finding]]:
    """Find a computed field whose stored value differs from the computed one."""
    yield from ()
    item: Item = entity.__dict__[STORED]
    ((stored, expected),) = schema.stored_fields(entity, (name,)).items()
    found = item.get(stored)
    if decode_any(expected) == decode_any(found) and (expected is None) == (found is None):
        return []
    key = session.catalog.key_in(item)
    changes = {stored: expected}
    action, _ = revision(session, schema, entity, changes, reads=schema.with_sources((name,)), order="item")
    return [Finding(schema.name, key, name, decode_any(expected), decode_any(found), (action,))]


# --- items that nobody can read --------------------------------------------------------------------------------


def _strange(session: Session, item: Item) -> Steps[list[Mismatch]]:
    """Report an item that belongs to no entity, if it still exists."""
    catalog, key = session.catalog, session.catalog.key_in(item)
    now = yield from read_item(session, key)
    if now is None or catalog.schema_of(now) is not None:
        return []
    said = now.get(catalog.discriminator)
    name = "" if said is None else str(decode(said))
    found = f"its {catalog.discriminator} is {name!r}" if said is not None else "its key is that of none"
    return [Mismatch(name, key, "", f"an item of an entity of {catalog.name}", found, is_repairable=False)]


def _unfit(session: Session, schema: Schema, item: Item, error: InvalidItemError) -> Steps[list[Mismatch]]:
    """Report an item that does not fit its entity, if that is still true."""
    key = session.catalog.key_in(item)
    try:
        now = yield from read_stored(session, schema, key)
    except InvalidItemError as again:
        error = again
    else:
        if now is None or now.__dict__[STORED] != item:
            return []  # somebody has repaired or deleted it
    return [Mismatch(schema.name, key, "", "an item that can be read", error.message, is_repairable=False)]


def _without_wrong_numbers(
    session: Session, schema: Schema, item: Item, *, repair: bool
) -> Steps[tuple[list[Mismatch], Item]]:
    """Report counted attributes of an item that hold no number, or one that does not fit. Return the item without.

    A repair removes the attributes; the checks that follow count again.
    """
    wrong = [name for kind in kept_of(session.catalog).kinds for name in kind.unreadable(schema, item)]
    key, into = session.catalog.key_in(item), Placeholders()
    if repair and wrong:
        terms = unchanged_attributes({name: item[name] for name in wrong}, into)
        text = update_text(dict.fromkeys(wrong), into)
        params = into.add_to({"UpdateExpression": text, "ConditionExpression": " AND ".join(terms)})
        try:
            yield from perform(session, Action("Update", key, params, changed_meanwhile(key)))
        except ChangedMeanwhileError:
            return [], (yield from _read_again(session, item))
    found = [
        Mismatch(schema.name, key, schema.name_of(name), "a number that fits", decode(item[name]), repair)
        for name in wrong
    ]
    if repair and wrong:
        return found, (yield from _read_again(session, item))
    return found, {name: value for name, value in item.items() if name not in wrong}


# --- what is kept ----------------------------------------------------------------------------------------------


def verified_by(
    session: Session, schema: Schema, entity: Entity, checks: Iterable[Invariant], *, repair: bool
) -> Steps[list[Mismatch]]:
    """Report the differences that checks find and a second read confirms; with `repair`, repair them."""
    differences = []
    for check in checks:
        if (yield from check.find(session, entity)):
            differences += yield from _confirmed(session, schema, entity, check, repair=repair)
    return differences


def kept_invariants(
    session: Session, schema: Schema, names: Collection[str], derived: Collection[str]
) -> list[Invariant]:
    """Return the rules about fields and unique values of these names, and about these derived entities."""
    known = [*_own_invariants(schema), *kept_of(session.catalog).invariants(schema)]
    return [each for each in known if not each.names.isdisjoint(names) or each.derived in derived]


def _confirmed(
    session: Session, schema: Schema, entity: Entity, check: Invariant, *, repair: bool
) -> Steps[list[Mismatch]]:
    """Check again, with the item as it is stored now: a page of a scan can be older than the items beside it."""
    key = session.catalog.key_in(entity.__dict__[STORED])
    return (yield from _reported(session, partial(_findings, session, schema, key, check), repair=repair))


def _findings(session: Session, schema: Schema, key: Item, check: Invariant) -> Steps[list[Finding]]:
    """Check an item, again if it changes during the check."""
    findings: list[Finding] = []
    for _ in range(_LOOKS_MAX):
        entity = yield from read_stored(session, schema, key)
        if entity is None:
            return []
        findings = yield from check.find(session, entity)
        if not findings:
            return []
        now = yield from read_stored(session, schema, key)
        if now is not None and now.__dict__[STORED] == entity.__dict__[STORED]:
            return findings
    return findings


def _reported(session: Session, look: Look, *, repair: bool) -> Steps[list[Mismatch]]:
    """Report the findings; with `repair`, repair those that have actions."""
    findings = yield from look()
    differences = []
    for each in findings:
        can_repair = bool(each.actions)
        if repair and can_repair:
            yield from _repair(session, look, each.field)
        found = (each.entity, each.key, each.field, each.expected, each.found)
        differences.append(Mismatch(*found, is_repaired=repair and can_repair, is_repairable=can_repair))
    return differences


def _repair(session: Session, look: Look, field: str) -> Steps[None]:
    def plan() -> Steps[list[Action]]:
        findings = yield from look()
        return [action for finding in findings if finding.field == field for action in finding.actions]

    yield from settle(session, plan)
