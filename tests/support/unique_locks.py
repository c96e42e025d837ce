"""What must hold of the locks of unique values, whatever was written: each has its owner, and vice versa."""

from __future__ import annotations

from typing import Any

from singletable.design import Design
from singletable.design.kept.unique import LOCK_NAME, lock_item, locks_of

Item = dict[str, Any]


def items_of(db: Design) -> list[Item]:
    """Return every item of the table."""
    found: list[Item] = []
    start: dict[str, Any] = {}
    while True:
        params = {"TableName": db.session.table, "ConsistentRead": True, **start}
        answer = db.session.client.call("Scan", params)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def locks(db: Design) -> dict[str, str]:
    """Return the owners of all locks, both by the texts of their partition keys."""
    pk, name = db.table.pk, db.discriminator
    found = [item for item in items_of(db) if item.get(name) == {"S": LOCK_NAME}]
    return {item[pk]["S"]: item["$owner"]["S"] for item in found}


def wrong_locks(db: Design) -> list[Any]:
    """Return the locks that are missing, that are too many, or that are not as their owner says."""
    catalog = db.catalog
    stored: dict[str, Item] = {}
    wanted: dict[str, Item] = {}
    wrong: list[Any] = []
    for item in items_of(db):
        if item.get(catalog.discriminator) == {"S": LOCK_NAME}:
            stored[str([item[name] for name in catalog.table.key_attributes()])] = _content(item)
            continue
        schema = catalog.schema_of(item)
        assert schema is not None, item
        if schema.is_expired(item, db.session.now_s()):
            continue
        for lock in locks_of(catalog, schema, schema.to_entity(item)).values():
            key = str([lock.key[name] for name in catalog.table.key_attributes()])
            if key in wanted:
                wrong.append(("two owners", key))
            wanted[key] = _content(lock_item(lock, catalog, 0))
    wrong += [("not as wanted", key, stored.get(key)) for key in wanted if stored.get(key) != wanted[key]]
    return wrong + [("nobody's", key, stored[key]) for key in stored.keys() - wanted.keys()]


def _content(lock: Item) -> Item:
    return {name: value for name, value in lock.items() if name not in ("$takenAt", "$claim")}
