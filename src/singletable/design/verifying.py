"""Goes through a table and compares what is kept with what it is kept of: counters, averages, copies, derived
items, the locks of unique values, and the keys of indexes. Items and locks that are still under old keys (`was=`)
are counted apart: where they are is right. Items that belong to no entity, and those that do not fit theirs, are
reported too; what the layer keeps for itself (locks, guards, records of migrations) belongs to none.

It may run while others write. What looks wrong is read once more before it is reported, and a repair is carried
out only while nothing has changed; otherwise it is worked out again. Counters that a stream consumer keeps are
right when the consumer has seen all records: verify them then, or what is still to come is counted twice. An
expired item counts until it is removed. What is found in an index can be late; a later run sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.arguments import require_callable
from singletable.design.batch_reading import hashable
from singletable.design.bringing_home import bring_item_home
from singletable.design.checks import (
    Check,
    Finding,
    checks_of,
    computed_check,
    copy_check,
    made_check,
    number_check,
    old_places,
)
from singletable.design.committing import settle
from singletable.design.entity import STORED, Entity
from singletable.design.expressions import Placeholders
from singletable.design.lock_checks import (
    bring_lock_home,
    check_locks,
    check_owner,
    is_lock,
    is_under_old_key,
    old_forms,
)
from singletable.design.moving import key_attributes
from singletable.design.performing import perform
from singletable.design.revising import (
    ChangedMeanwhileError,
    changed_meanwhile,
    read_stored,
    unchanged_attributes,
    update_text,
)
from singletable.design.schema import Binding, EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, decode
from singletable.design.uniqueness import old_locks
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
# What a check cannot go on with: another item that it reads, or a value of this one that no key can hold.
_UNCHECKABLE: Final = (
    InvalidItemError,
    InvalidWriteError,
    KeyValueError,
    MissingKeyPartError,
    SeparatorError,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is not as it should be. The field is empty where it is about the whole item."""

    entity: str
    key: Item
    field: str
    expected: Any
    found: Any
    is_repaired: bool = False
    is_repairable: bool = True  # otherwise nobody can know how, and it is for people


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was found in a table."""

    items: int
    differences: tuple[Mismatch, ...]
    under_old_keys: int = 0  # items that are still where `was=` says; with `repair` they were brought home

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left that differs: there was nothing, or all of it was repaired."""
        return all(each.is_repaired for each in self.differences)


Look = Callable[[], Steps[list[Finding]]]
Progress = Callable[[int, int], object]  # items that were read, and differences


def verify(
    session: Session, *, repair: bool, shared_table: bool = False, progress: Progress | None = None
) -> Steps[VerifyReport]:
    """Recompute what is kept and report what differs; with `repair`, put it right.

    Of a `shared_table`, items of no entity are those of other programs.
    """
    require_callable(progress, "progress")
    items = old = 0
    differences: dict[tuple[Any, ...], Mismatch] = {}
    params: dict[str, Any] = {"TableName": session.table, "ConsistentRead": True}
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
    """Count the locks of a page that are under old keys; with `repair`, move those that have stayed behind.

    Until a migration has moved them all, an older program may still look for them where they are.
    """
    count = 0
    for item in [*items] if session.catalog.old_locks else ():
        if not (yield from is_under_old_key(session, item)):
            continue
        count += 1
        if not repair or not (yield from old_locks(session)).isdisjoint(old_forms(session, item)):
            continue
        try:
            yield from bring_lock_home(session, key_attributes(session, item))
        except MigrationError:
            continue  # two items have the value: that is said of one of them
        items.remove(item)
    return count


def _old_items(session: Session, items: list[Item], *, repair: bool) -> Steps[int]:
    """Count the items of a page that are under old keys; with `repair`, bring them home."""
    count = 0
    for at, item in enumerate(items):
        schema = session.catalog.schema_of(item)
        if schema is None or all(binding.keys.was is None for binding in schema.bindings.values()):
            continue
        try:
            entity = schema.to_entity(item)
            places = old_places(schema, entity)
        except DesignError:
            continue  # which is said later
        count += bool(places)
        if places and repair:
            items[at] = yield from _brought_home(session, schema, places, entity)
    return count


def _brought_home(
    session: Session, schema: EntitySchema[Any], places: list[Binding], entity: Entity
) -> Steps[Item]:
    item: Item = entity.__dict__[STORED]
    try:
        for place in places:
            yield from bring_item_home(session, schema, place, item)
    except MigrationError:
        return item  # another item has its new key: that is for people
    home = yield from read_stored(session, schema, schema.primary_key(entity))
    stored: Item = item if home is None else home.__dict__[STORED]
    return stored


def _verified_page(session: Session, items: list[Item], *, repair: bool) -> Steps[list[Mismatch]]:
    differences: list[Mismatch] = []
    for item in items:
        if any(each.is_repaired for each in differences):
            # A repair changes other items too, so the rest of the page may be old.
            item = yield from _read_again(session, item)
        differences += yield from _verified(session, item, repair=repair)
    return differences


def _read_again(session: Session, item: Item) -> Steps[Item]:
    return (yield from read_item(session, _key(session, item))) or item


def _verified(session: Session, item: Item, *, repair: bool) -> Steps[list[Mismatch]]:
    catalog = session.catalog
    schema = catalog.schema_of(item)
    if schema is None:
        if is_lock(session, item):
            return (yield from _verified_lock(session, item, repair=repair))
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
    for check in _checks(session, schema):
        try:
            differences += yield from verified_by(session, schema, entity, [check], repair=repair)
        except _UNCHECKABLE as error:
            expected = "what is kept of it can be checked"
            key = _key(session, item)
            differences.append(Mismatch(schema.name, key, "", expected, error.message, is_repairable=False))
    return differences


# --- items that nobody can read --------------------------------------------------------------------------------


def _strange(session: Session, item: Item) -> Steps[list[Mismatch]]:
    """Report an item that belongs to no entity, if it is still there."""
    catalog, key = session.catalog, _key(session, item)
    now = yield from read_item(session, key)
    if now is None or catalog.schema_of(now) is not None:
        return []
    said = now.get(catalog.discriminator)
    name = "" if said is None else str(decode(said))
    found = f"its {catalog.discriminator} is {name!r}" if said is not None else "its key is that of none"
    return [Mismatch(name, key, "", f"an item of an entity of {catalog.name}", found, is_repairable=False)]


def _unfit(
    session: Session, schema: EntitySchema[Any], item: Item, error: InvalidItemError
) -> Steps[list[Mismatch]]:
    """Report an item that does not fit its entity, if it is still so."""
    key = _key(session, item)
    try:
        now = yield from read_stored(session, schema, key)
    except InvalidItemError as again:
        error = again
    else:
        if now is None or now.__dict__[STORED] != item:
            return []  # somebody has repaired it, or taken it away
    return [Mismatch(schema.name, key, "", "an item that can be read", error.message, is_repairable=False)]


def _without_wrong_numbers(
    session: Session, schema: EntitySchema[Any], item: Item, *, repair: bool
) -> Steps[tuple[list[Mismatch], Item]]:
    """Report what is counted in an item and is no number that fits; return the item without it.

    To repair it, the attributes are taken away: the checks count again.
    """
    kept = session.catalog.belonging.kept_attributes(schema) & item.keys()
    bare = {name: value for name, value in item.items() if name not in kept}
    can_fit = _fits(schema, bare)
    wrong = [
        name
        for name in sorted(kept)
        if "N" not in item[name] or (can_fit and not _fits(schema, {**bare, name: item[name]}))
    ]
    key, into = _key(session, item), Placeholders()
    if repair and wrong:
        terms = unchanged_attributes({name: item[name] for name in wrong}, into)
        text = update_text(dict.fromkeys(wrong), into)
        params = into.add_to({"UpdateExpression": text, "ConditionExpression": " AND ".join(terms)})
        try:
            yield from perform(session, Action("Update", key, params, changed_meanwhile(key)))
        except ChangedMeanwhileError:
            return [], (yield from _read_again(session, item))
    names = {name: schema.by_stored[name].name if name in schema.by_stored else name for name in wrong}
    found = [
        Mismatch(schema.name, key, names[name], "a number that fits", decode(item[name]), repair)
        for name in wrong
    ]
    if repair and wrong:
        return found, (yield from _read_again(session, item))
    return found, {name: value for name, value in item.items() if name not in names}


def _fits(schema: EntitySchema[Any], item: Item) -> bool:
    try:
        schema.to_entity(item)
    except InvalidItemError:
        return False
    return True


def _key(session: Session, item: Item) -> Item:
    return {name: item[name] for name in session.catalog.table.key_attributes()}


# --- what is kept ----------------------------------------------------------------------------------------------


def verified_by(
    session: Session, schema: EntitySchema[Any], entity: Entity, checks: Iterable[Check], *, repair: bool
) -> Steps[list[Mismatch]]:
    """Report what some checks find of an item that was read, and what is still so; with `repair`, put it right."""
    differences = []
    for check in checks:
        if (yield from check(session, entity)):
            differences += yield from _confirmed(session, schema, entity, check, repair=repair)
    return differences


def kept_checks(
    session: Session, schema: EntitySchema[Any], fields: Collection[str], derived: Collection[str]
) -> list[Check]:
    """Return the checks of what items of an entity keep: values, numbers and copies by name, and derived items."""
    belonging = session.catalog.belonging
    checks = [computed_check(schema, name) for name in schema.computed if name in fields]
    checks += [number_check(each) for each in belonging.counting(schema) if each.field in fields]
    checks += [copy_check(each) for each in belonging.copying(schema) if each.field in fields]
    if any(unique.name in fields for unique in schema.uniques):
        checks.append(lambda session, entity: check_locks(session, schema, entity))
    checks += [
        made_check(each, schema)
        for each in belonging.made
        if each.link.child.name in derived and schema in (each.link.parent, each.link.child)
    ]
    return checks


def _checks(session: Session, schema: EntitySchema[Any]) -> Iterator[Check]:
    yield from checks_of(session, schema)
    if schema.uniques:
        yield lambda session, entity: check_locks(session, schema, entity)


def _confirmed(
    session: Session, schema: EntitySchema[Any], entity: Entity, check: Check, *, repair: bool
) -> Steps[list[Mismatch]]:
    """Look again, at what is stored now: a page of the table can be older than what it is compared with."""
    key = {name: entity.__dict__[STORED][name] for name in session.catalog.table.key_attributes()}

    def look() -> Steps[list[Finding]]:
        return _findings(session, schema, key, check)

    return (yield from _settled(session, look, repair=repair))


def _findings(session: Session, schema: EntitySchema[Any], key: Item, check: Check) -> Steps[list[Finding]]:
    """Check an item while it does not change."""
    findings: list[Finding] = []
    for _ in range(_LOOKS_MAX):
        entity = yield from read_stored(session, schema, key)
        if entity is None:
            return []
        findings = yield from check(session, entity)
        if not findings:
            return []
        now = yield from read_stored(session, schema, key)
        if now is not None and now.__dict__[STORED] == entity.__dict__[STORED]:
            return findings
    return findings


def _verified_lock(session: Session, lock: Item, *, repair: bool) -> Steps[list[Mismatch]]:
    return (yield from _settled(session, lambda: check_owner(session, lock), repair=repair))


def _settled(session: Session, look: Look, *, repair: bool) -> Steps[list[Mismatch]]:
    """Report what is found, and put it right if that is wanted and can be known."""
    findings = yield from look()
    differences = []
    for finding in findings:
        is_repaired = repair and bool(finding.actions)
        if is_repaired:
            yield from _repair(session, look, finding.field)
        differences.append(
            Mismatch(
                finding.entity,
                finding.key,
                finding.field,
                finding.expected,
                finding.found,
                is_repaired,
                bool(finding.actions),
            )
        )
    return differences


def _repair(session: Session, look: Look, field: str) -> Steps[None]:
    def plan() -> Steps[list[Action]]:
        findings = yield from look()
        return [action for finding in findings if finding.field == field for action in finding.actions]

    yield from settle(session, plan)
