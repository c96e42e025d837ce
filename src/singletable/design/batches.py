"""Many puts and deletes at once: in requests that the target takes, and again what it leaves unprocessed.

A batch knows no conditions and no order, and when it fails, some of it may be written. What needs more is refused
before anything is sent: unique values, counters and derived items, versions, conditions, deletes of items that own
others, and two writes of the same item.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.answers import read_units, waits
from singletable.design.batch_reading import hashable
from singletable.design.effects import effect_reads
from singletable.design.entity import Entity
from singletable.design.item_sizes import item_bytes
from singletable.design.preparing import prepare, schema_for
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item, shown_key
from singletable.design.write_planning import refuse_owner
from singletable.design.writes import Delete, Put
from singletable.errors import InvalidWriteError
from singletable.limits import BATCH_WRITE_ITEMS_MAX, KIB, REQUEST_BYTES_MAX

_REQUEST_BYTES: Final = (
    REQUEST_BYTES_MAX - 64 * KIB
)  # of the items, in JSON; the rest is for what stands around them
# An empty text in a list is counted as one byte, and written as {"S": ""} with a comma: no value grows more.
_JSON_GROWTH_MAX: Final = 12

Request = dict[str, Any]


def write_batch(session: Session, writes: Sequence[Put[Any] | Delete[Any]]) -> Steps[float]:
    """Put and delete items, in no order and without conditions; return the units."""
    requests: dict[tuple[Any, ...], Request] = {}
    finishes: list[Callable[[Item | None], Any]] = []
    for write in writes:
        _check(session, write)
        prepared = yield from prepare(session, write)
        action = prepared.actions[0]
        key = hashable(action.key)
        if key in requests:
            kinds = ("Put" if "PutRequest" in requests[key] else "Delete", type(write).__name__)
            which = f"two {kinds[0]}s" if kinds[0] == kinds[1] else f"{kinds[0]} and {kinds[1]}"
            raise InvalidWriteError(
                f"{which} of one batch are about the same item, {shown_key(action.key)}",
                hint="a batch has no order, so leave one of them out",
            )
        requests[key] = batch_request(action)
        finishes.append(prepared.finish)
    try:
        units = yield from send_batch(session, list(requests.values()))
    finally:
        session.cache.clear()
    for finish in finishes:
        finish(None)
    return units


def is_taken(session: Session, write: Put[Any] | Delete[Any]) -> bool:
    """Tell whether a batch takes a write."""
    schema = _schema(session, write)
    leaves_behind = isinstance(write, Delete) and schema.entity.entity_options.owns
    return not leaves_behind and _what_it_needs(session, schema, write) is None


def _check(session: Session, write: Put[Any] | Delete[Any]) -> None:
    if not isinstance(write, Put | Delete):
        raise InvalidWriteError(
            f"a batch puts and deletes, and {type(write).__name__} is neither",
            hint="db.transaction(...), or one write at a time",
        )
    schema = _schema(session, write)
    need = _what_it_needs(session, schema, write)
    if need is not None:
        raise InvalidWriteError(
            f"{schema.entity.__name__} cannot be written in a batch, which knows no conditions and no "
            f"transactions: {need}",
            hint="db.transaction(...), or one write at a time; Delete(SomeEntity.key.get(...)) deletes any "
            "version",
        )
    if isinstance(write, Delete):
        refuse_owner(schema, "a batch")


def _schema(session: Session, write: Put[Any] | Delete[Any]) -> EntitySchema[Any]:
    return schema_for(session, write.entity if isinstance(write, Put) else write.target)


def _what_it_needs(session: Session, schema: EntitySchema[Any], write: Put[Any] | Delete[Any]) -> str | None:
    """Say what a write needs that a batch does not have; None if it is nothing."""
    if effect_reads(session, schema):
        return "it has unique values, or others are counted or made from it"
    if isinstance(write, Put) and session.catalog.belonging.kept(schema):
        return "others are counted in it"
    if write.when is not None:
        return "it has a condition"
    if schema in session.catalog.overlapping:
        return "another entity can have the same key, so that is a condition"
    if schema.version is not None and (isinstance(write, Put) or isinstance(write.target, Entity)):
        return "its version is a condition"
    return None


def batch_request(action: Action) -> Request:
    """Return an action without conditions as a part of a batch."""
    if action.kind == "Delete":
        return {"DeleteRequest": {"Key": action.key}}
    return {"PutRequest": {"Item": action.params["Item"]}}


# --- sending -------------------------------------------------------------------------------------------


def send_batch(session: Session, requests: Sequence[Request]) -> Steps[float]:
    """Send the requests of a batch until all of them are processed; return the units."""
    units = 0.0
    for chunk in _chunks(requests):
        units += yield from send_chunk(session, chunk)
    return units


def send_chunk(session: Session, chunk: list[Request]) -> Steps[float]:
    """Send what one request takes, and again what is left unprocessed; return the units."""
    units = 0.0
    pauses = waits(session.table)
    left = chunk
    while left:
        answer = yield Call(
            "BatchWriteItem", {"RequestItems": {session.table: left}, "ReturnConsumedCapacity": "TOTAL"}
        )
        units += read_units(answer)
        left = answer.get("UnprocessedItems", {}).get(session.table, [])
        if left:
            yield next(pauses)
    return units


def _chunks(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """Divide requests: by their number, and where items are large, by how long they are in JSON."""
    chunk: list[Request] = []
    chunk_bytes = 0
    for request in requests:
        size = _bytes(request)
        if len(chunk) == BATCH_WRITE_ITEMS_MAX or (chunk and chunk_bytes + size > _REQUEST_BYTES):
            yield chunk
            chunk, chunk_bytes = [], 0
        chunk.append(request)
        chunk_bytes += size
    if chunk:
        yield chunk


def fits_always(size: int) -> bool:
    """Tell whether a request takes as many items of a size as it may have, whatever is in them."""
    return size * _JSON_GROWTH_MAX * BATCH_WRITE_ITEMS_MAX < _REQUEST_BYTES


def _bytes(request: Request) -> int:
    """Return how long a request is in JSON, at most; exactly where that could be too long for 25 of them."""
    item: Item = request.get("PutRequest", {}).get("Item", {})
    size = item_bytes(item)
    if fits_always(size):
        return size * _JSON_GROWTH_MAX
    return len(json.dumps(item, default=lambda value: base64.b64encode(value).decode()))
