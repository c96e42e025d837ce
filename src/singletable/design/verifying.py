"""Goes through a table and compares what is kept with what it is kept of: counters, averages, copies, derived
items, the locks of unique values, and the keys of indexes.

It may run while others write. What looks wrong is read once more before it is reported, and a repair is carried
out only while nothing has changed; otherwise it is worked out again. Counters that a stream consumer keeps are
right when the consumer has seen all records: verify them then, or what is still to come is counted twice. An
expired item counts until it is removed. What is found in an index can be late; a later run sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.checks import Check, Finding, checks_of
from singletable.design.committing import settle
from singletable.design.entity import STORED, Entity
from singletable.design.lock_checks import check_locks, check_owner, is_lock
from singletable.design.reading import hashable
from singletable.design.requests import get_params
from singletable.design.revising import read_stored
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.errors import InvalidItemError

_LOOKS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is not as it should be. The field is empty where it is about the whole item."""

    entity: str
    key: Item
    field: str
    expected: Any
    found: Any
    is_repaired: bool = False


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was found in a table."""

    items: int
    differences: tuple[Mismatch, ...]

    @property
    def is_clean(self) -> bool:
        return not self.differences


Look = Callable[[], Steps[list[Finding]]]
Progress = Callable[[int, int], object]  # items that were read, and differences


def verify(session: Session, *, repair: bool, progress: Progress | None = None) -> Steps[VerifyReport]:
    """Recompute what is kept and report what differs; with `repair`, put it right."""
    items = 0
    differences: dict[tuple[Any, ...], Mismatch] = {}
    params: dict[str, Any] = {"TableName": session.table, "ConsistentRead": True}
    while True:
        answer = yield Call("Scan", params)
        for each in (yield from _verified_page(session, answer["Items"], repair=repair)):
            differences[each.entity, hashable(each.key), each.field] = each
        items += len(answer["Items"])
        if progress is not None:
            progress(items, len(differences))
        if "LastEvaluatedKey" not in answer:
            return VerifyReport(items, tuple(differences.values()))
        params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _verified_page(session: Session, items: list[Item], *, repair: bool) -> Steps[list[Mismatch]]:
    differences: list[Mismatch] = []
    for item in items:
        if any(each.is_repaired for each in differences):
            # A repair changes other items too, so the rest of the page may be old.
            item = yield from _read_again(session, item)
        differences += yield from _verified(session, item, repair=repair)
    return differences


def _read_again(session: Session, item: Item) -> Steps[Item]:
    key = {name: item[name] for name in session.catalog.table.key_attributes()}
    answer = yield Call("GetItem", get_params(session.table, key, consistent=True))
    now: Item = answer.get("Item", item)
    return now


def _verified(session: Session, item: Item, *, repair: bool) -> Steps[list[Mismatch]]:
    schema = session.catalog.schema_of(item)
    if schema is None:
        return (yield from _verified_lock(session, item, repair=repair)) if is_lock(session, item) else []
    try:
        entity = schema.to_entity(item)
    except InvalidItemError as error:
        key = {name: item[name] for name in session.catalog.table.key_attributes()}
        return [Mismatch(schema.name, key, "", "an item that can be read", error.message)]
    differences = []
    for check in _checks(session, schema):
        if (yield from check(session, entity)):
            differences += yield from _confirmed(session, schema, entity, check, repair=repair)
    return differences


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
            Mismatch(finding.entity, finding.key, finding.field, finding.expected, finding.found, is_repaired)
        )
    return differences


def _repair(session: Session, look: Look, field: str) -> Steps[None]:
    def plan() -> Steps[list[Action]]:
        findings = yield from look()
        return [action for finding in findings if finding.field == field for action in finding.actions]

    yield from settle(session, plan)
