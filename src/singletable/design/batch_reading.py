"""How many items are read by their keys: a hundred in a request, where they belong and where they were before."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.answers import read_units, reporting, waits
from singletable.design.pages import Found, Usage
from singletable.design.plans import BatchGet
from singletable.design.session import Session, ask
from singletable.design.side_by_side import side_by_side
from singletable.design.stored_values import Item

BATCH_GET_KEYS_MAX: Final = 100


def batch_requests(session: Session, plan: BatchGet[Any]) -> list[dict[str, Any]]:
    """Return the requests of a plan; while keys change, those under the old keys too."""
    keys = [_distinct(session, plan), *([olds] if (olds := _old_distinct(session, plan)) else [])]
    return [
        _batch_params(session, chunk, consistent=plan.is_consistent)
        for some in keys
        for chunk in _chunks(some)
    ]


def batch_get(session: Session, plan: BatchGet[Any]) -> Steps[Found[list[Any]]]:
    """Read items by their keys, in the order of those; None where there is none."""
    usage = Usage()
    schema = session.catalog.schema_for(plan.entity)
    found: dict[tuple[Any, ...], Any] = {}
    names = session.catalog.table.key_attributes()
    entity_or_none = reporting(plan.report)
    asked = [hashable(schema.primary_key_of(pk, sk)) for pk, sk in plan.keys]

    def read(keys: list[Item]) -> Steps[None]:
        consistent = plan.is_consistent
        for item in (yield from _read_all(session, keys, plan.cache_s, usage, consistent=consistent)):
            entity = entity_or_none(schema, session, item, None)
            usage.thrown_away += entity is None
            key = {name: item[name] for name in names}
            home = key if entity is None or keys_before is None else schema.primary_key(entity)
            found.setdefault(hashable(home), entity)

    keys_before = schema.key.keys.was
    yield from read(_distinct(session, plan))
    missing = [pair for key, pair in zip(asked, plan.keys, strict=True) if key not in found]
    if missing and keys_before is not None:
        # Where they were stored before; then once more where they belong, as they may have moved meanwhile.
        olds = [key for pk, sk in missing for key in schema.old_primary_keys(pk, sk)]
        yield from read(list({hashable(key): key for key in olds}.values()))
        left = [schema.primary_key_of(pk, sk) for pk, sk in missing]
        left = [key for key in left if hashable(key) not in found]
        yield from read(list({hashable(key): key for key in left}.values()))
    return Found([found.get(key) for key in asked], usage)


def read_whole(
    session: Session, items: Iterable[Item], cache_s: float | None, usage: Usage
) -> Steps[dict[tuple[Any, ...], Item]]:
    """Read the items of the table that items of an index name; return those that are there, by their keys."""
    names = session.catalog.table.key_attributes()
    keys = {hashable(key): key for key in ({name: item[name] for name in names} for item in items)}
    found = yield from _read_all(session, list(keys.values()), cache_s, usage, consistent=False)
    return {hashable({name: item[name] for name in names}): item for item in found}


def _read_all(
    session: Session, keys: list[Item], cache_s: float | None, usage: Usage, *, consistent: bool
) -> Steps[list[Item]]:
    chunks = [_batch_params(session, chunk, consistent=consistent) for chunk in _chunks(keys)]
    reads = [_read_batch(session, chunk, cache_s, usage) for chunk in chunks]
    return [item for items in (yield from side_by_side(reads)) for item in items]


def _distinct(session: Session, plan: BatchGet[Any]) -> list[Item]:
    schema = session.catalog.schema_for(plan.entity)
    keys = [schema.primary_key_of(pk, sk) for pk, sk in plan.keys]
    return list({hashable(key): key for key in keys}.values())


def _old_distinct(session: Session, plan: BatchGet[Any]) -> list[Item]:
    schema = session.catalog.schema_for(plan.entity)
    keys = [key for pk, sk in plan.keys for key in schema.old_primary_keys(pk, sk)]
    return list({hashable(key): key for key in keys}.values())


def _chunks(keys: list[Item]) -> list[list[Item]]:
    return [keys[at : at + BATCH_GET_KEYS_MAX] for at in range(0, len(keys), BATCH_GET_KEYS_MAX)]


def _batch_params(session: Session, keys: list[Item], *, consistent: bool) -> dict[str, Any]:
    wanted: dict[str, Any] = {"Keys": keys}
    if consistent:
        wanted["ConsistentRead"] = True
    return {"RequestItems": {session.table: wanted}, "ReturnConsumedCapacity": "TOTAL"}


def _read_batch(
    session: Session, params: dict[str, Any], cache_s: float | None, usage: Usage
) -> Steps[list[Item]]:
    """Read items by their keys; ask again, more and more slowly, for what the target leaves unprocessed."""
    found: list[Item] = []
    pauses = waits(session.table)
    while True:
        answer = yield from ask(session, Call("BatchGetItem", params), cache_s)
        items = answer.get("Responses", {}).get(session.table, [])
        usage.add(Usage(read_units(answer), len(items), 0))
        found += items
        left = answer.get("UnprocessedKeys")
        if not left:
            return found
        params = {**params, "RequestItems": left}
        yield next(pauses)


def hashable(key: Item) -> tuple[Any, ...]:
    """Return a key of the table as one that a dict can have."""
    return tuple(
        sorted(
            (name, tag, _comparable(tag, value))
            for name, tagged in key.items()
            for tag, value in tagged.items()
        )
    )


def _comparable(tag: str, value: Any) -> Any:
    return Decimal(value) if tag == "N" else value  # "7.0" is stored as "7"
