"""Maintenance: deletes items that have expired and are still stored, on any target.

DynamoDB does so by itself, within days, and reads of a design hide expired items meanwhile. This is for targets
that do not, and for people who cannot wait. It is a parallel scan of the whole table, at a given pace; no access
pattern scans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from singletable.client.calls import Answer, Call, Params, Steps, Together, Wait, read_units
from singletable.design.kept.unique import ttl_attribute
from singletable.design.session.session import Session
from singletable.design.values.arguments import require_callable, require_count, require_rate
from singletable.design.values.items import Item
from singletable.design.writes.perform import ask_until_free
from singletable.errors import ConditionFailedError, DeclarationError

_PAGE_ITEMS: Final = 1_000
# A time that lies further back is no time to live, so its item stays (developer guide, "Using time to live").
_OLDEST_S: Final = 5 * 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Cleared:
    """The work done so far: items read, items deleted, and capacity units used."""

    read: int = 0
    deleted: int = 0
    units: float = 0.0


Progress = Callable[[Cleared], object]


def delete_expired(
    session: Session, *, segments: int, units_per_s: float | None, progress: Progress | None
) -> Steps[Cleared]:
    """Delete every expired item, as the table's TTL would; return the work done."""
    require_count(segments, "segments")
    if units_per_s is not None:
        require_rate(units_per_s, "units_per_s")
    require_callable(progress, "progress")
    expired = _expired(session)
    scans = [
        {**_scan(session, expired), "Segment": segment, "TotalSegments": segments}
        for segment in range(segments)
    ]
    total = Cleared()
    while scans:
        began_us = session.client.clock.elapsed_us()
        answers = yield Together(tuple(Call("Scan", scan) for scan in scans))
        done = yield from _delete_found(session, expired, answers)
        total = Cleared(total.read + done.read, total.deleted + done.deleted, total.units + done.units)
        if progress is not None:
            progress(total)
        scans = _next_scans(scans, answers)
        spent_s = (session.client.clock.elapsed_us() - began_us) / 1_000_000
        if scans and units_per_s is not None and done.units > spent_s * units_per_s:
            yield Wait(done.units / units_per_s - spent_s)
    return total


def _expired(session: Session) -> Params:
    """Return the condition that an item has expired, with its placeholders."""
    attribute = ttl_attribute(session.catalog)
    if attribute is None:
        raise DeclarationError(
            f"no entity of {session.catalog.name} expires", hint="ttl: Ttl = expires(days=30), in an entity"
        )
    now_s = session.now_s()
    return {
        "condition": "#ttl BETWEEN :oldest AND :now",
        "ExpressionAttributeNames": {"#ttl": attribute},
        "ExpressionAttributeValues": {":oldest": {"N": str(now_s - _OLDEST_S)}, ":now": {"N": str(now_s)}},
    }


def _scan(session: Session, expired: Params) -> Params:
    keys = {f"#key{place}": name for place, name in enumerate(session.catalog.key_names)}
    return {
        "TableName": session.table,
        "FilterExpression": expired["condition"],
        "ProjectionExpression": ", ".join(keys),
        "ExpressionAttributeNames": {**expired["ExpressionAttributeNames"], **keys},
        "ExpressionAttributeValues": expired["ExpressionAttributeValues"],
        "Limit": _PAGE_ITEMS,
        "ReturnConsumedCapacity": "TOTAL",
    }


def _next_scans(scans: list[Params], answers: list[Answer]) -> list[Params]:
    return [
        {**scan, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
        for scan, answer in zip(scans, answers, strict=True)
        if "LastEvaluatedKey" in answer
    ]


def _delete_found(session: Session, expired: Params, answers: list[Answer]) -> Steps[Cleared]:
    deleted = 0
    units = sum(map(read_units, answers))
    for answer in answers:
        for key in answer["Items"]:
            spent = yield from _delete(session, expired, key)
            deleted += spent is not None
            units += spent or 0.0
    return Cleared(sum(answer["ScannedCount"] for answer in answers), deleted, units)


def _delete(session: Session, expired: Params, key: Item) -> Steps[float | None]:
    """Delete an item, unless its expiry was extended since it was read; return the units."""
    params = {
        "TableName": session.table,
        "Key": key,
        "ConditionExpression": expired["condition"],
        "ExpressionAttributeNames": expired["ExpressionAttributeNames"],
        "ExpressionAttributeValues": expired["ExpressionAttributeValues"],
        "ReturnConsumedCapacity": "TOTAL",
    }
    try:
        answer = yield from ask_until_free(Call("DeleteItem", params))
    except ConditionFailedError:
        return None
    finally:
        session.cache.clear()
    return read_units(answer)
