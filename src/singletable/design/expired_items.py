"""Maintenance: delete what has expired and is still there, on any target.

DynamoDB does that by itself, within days, and reads of a design hide such items meanwhile. This is for targets
that do not, and for people who cannot wait. It reads the whole table, several segments of it at once, at a pace
that is given; no access pattern does so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from singletable.client.calls import Call, Steps, Together, Wait
from singletable.design.answers import read_units
from singletable.design.arguments import require_callable, require_count, require_rate
from singletable.design.performing import ask_until_free
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.uniqueness import ttl_attribute
from singletable.errors import ConditionFailedError, DeclarationError

_PAGE_ITEMS: Final = 1_000
# What is older than that is no time to live, and stays (developer guide, "Using time to live").
_OLDEST_S: Final = 5 * 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was done so far: items that were read, those of them that were deleted, and the units of it all."""

    read: int = 0
    deleted: int = 0
    units: float = 0.0


Progress = Callable[[Cleared], object]


def delete_expired(
    session: Session, *, segments: int, units_per_s: float | None, progress: Progress | None
) -> Steps[Cleared]:
    """Delete every item whose time to live is over, as the table's TTL would; return what was done."""
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


def _expired(session: Session) -> dict[str, Any]:
    """Return the condition that an item has expired, with what its text stands for."""
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


def _scan(session: Session, expired: dict[str, Any]) -> dict[str, Any]:
    keys = {f"#key{place}": name for place, name in enumerate(session.catalog.table.key_attributes())}
    return {
        "TableName": session.table,
        "FilterExpression": expired["condition"],
        "ProjectionExpression": ", ".join(keys),
        "ExpressionAttributeNames": {**expired["ExpressionAttributeNames"], **keys},
        "ExpressionAttributeValues": expired["ExpressionAttributeValues"],
        "Limit": _PAGE_ITEMS,
        "ReturnConsumedCapacity": "TOTAL",
    }


def _next_scans(scans: list[dict[str, Any]], answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**scan, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
        for scan, answer in zip(scans, answers, strict=True)
        if "LastEvaluatedKey" in answer
    ]


def _delete_found(session: Session, expired: dict[str, Any], answers: list[dict[str, Any]]) -> Steps[Cleared]:
    deleted = 0
    units = sum(map(read_units, answers))
    for answer in answers:
        for key in answer["Items"]:
            spent = yield from _delete(session, expired, key)
            deleted += spent is not None
            units += spent or 0.0
    return Cleared(sum(answer["ScannedCount"] for answer in answers), deleted, units)


def _delete(session: Session, expired: dict[str, Any], key: Item) -> Steps[float | None]:
    """Delete an item, unless it was given more time since it was read; return the units."""
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
