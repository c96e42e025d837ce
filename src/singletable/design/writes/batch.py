"""Batch writes: many puts and deletes, in requests as large as the target takes. Unprocessed items are sent again.

A batch has no conditions and no order, and if it fails, a part of it may be written. A write that needs more is
refused before anything is sent: one with unique values, counters, derived items, a version or a condition, the
delete of an item that owns others, and a second write of the same item.

A bulk load writes any number of entities fast, as they are given: for seed data, and for imports. Plain items go
in batches, several at once. Entities with unique values, counters or derived items go in transactions of several
entities; if a transaction is not possible, one by one. Items that were loaded before an error stay. A load is
idempotent: run it again, and existing items are written once more. A `settled` load takes entities that already
agree with each other. It needs no transactions: each entity goes into a batch, with its locks and its derived
items.
"""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from singletable.client.calls import Call, Params, Steps, read_units, side_by_side
from singletable.design.kept.kind import kept_of
from singletable.design.kept.unique import old_locks
from singletable.design.model.entity import Entity, field_values
from singletable.design.model.schema import EntitySchema
from singletable.design.session.action import Action
from singletable.design.session.session import Session, waits
from singletable.design.values.arguments import require_callable, require_kind
from singletable.design.values.items import Item, KeyId, hashable, item_bytes, shown_key
from singletable.design.values.markers import Upkeep
from singletable.design.writes.put import loaded_item, settled_item
from singletable.design.writes.transaction import prepare, write, write_together
from singletable.design.writes.write import Delete, LoadWrite, Put, assign, refuse_owner, schema_for
from singletable.errors import ApiError, InvalidWriteError
from singletable.limits import BATCH_WRITE_ITEMS_MAX, KIB, REQUEST_BYTES_MAX

_REQUEST_BYTES: Final = (
    REQUEST_BYTES_MAX - 64 * KIB
)  # of the items in JSON; the rest is left for the text around them
# An empty text in a list is counted as one byte, and written as {"S": ""} with a comma: no value grows more.
_JSON_GROWTH_MAX: Final = 12


def write_batch(session: Session, writes: Sequence[Put[Any] | Delete[Any]]) -> Steps[float]:
    """Put and delete items, in no order and without conditions; return the units."""
    requests: dict[KeyId, Params] = {}
    finishes: list[Callable[[Item | None], Any]] = []
    for wanted in writes:
        _check(session, wanted)
        prepared = yield from prepare(session, wanted)
        action = prepared.actions[0]
        key = hashable(action.key)
        if key in requests:
            kinds = ("Put" if "PutRequest" in requests[key] else "Delete", type(wanted).__name__)
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
    """Tell whether a write can be part of a batch."""
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


def _schema(session: Session, write: Put[Any] | Delete[Any]) -> EntitySchema:
    return schema_for(session, write.entity if isinstance(write, Put) else write.target)


def _what_it_needs(session: Session, schema: EntitySchema, write: Put[Any] | Delete[Any]) -> str | None:
    """Name a feature that a write needs and a batch does not have; None if a batch has all."""
    if schema.kept.effect_reads:
        return "it has unique values, or others are counted or made from it"
    if isinstance(write, Put) and schema.kept.counted:
        return "others are counted in it"
    if write.when is not None:
        return "it has a condition"
    if schema in session.catalog.overlapping:
        return "another entity can have the same key, so that is a condition"
    if schema.version is not None and (isinstance(write, Put) or isinstance(write.target, Entity)):
        return "its version is a condition"
    return None


def batch_request(action: Action) -> Params:
    """Return an action without conditions as a part of a batch."""
    if action.kind == "Delete":
        return {"DeleteRequest": {"Key": action.key}}
    return {"PutRequest": {"Item": action.params["Item"]}}


# --- sending -------------------------------------------------------------------------------------------


def send_batch(session: Session, requests: Sequence[Params]) -> Steps[float]:
    """Send the requests of a batch until all of them are processed; return the units."""
    units = 0.0
    for chunk in _chunks(requests):
        units += yield from send_chunk(session, chunk)
    return units


def send_chunk(session: Session, chunk: list[Params]) -> Steps[float]:
    """Send the requests that fit into one call; send unprocessed ones again. Return the units."""
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


def _chunks(requests: Sequence[Params]) -> Iterator[list[Params]]:
    """Divide requests into chunks: by their number, and for large items also by their length in JSON."""
    chunk: list[Params] = []
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
    """Tell whether the largest number of items of this size always fits into one request, whatever they hold."""
    return size * _JSON_GROWTH_MAX * BATCH_WRITE_ITEMS_MAX < _REQUEST_BYTES


def _bytes(request: Params) -> int:
    """Return an upper bound of a request's length in JSON; the exact length if 25 of them might be too long."""
    item: Item = request.get("PutRequest", {}).get("Item", {})
    size = item_bytes(item)
    if fits_always(size):
        return size * _JSON_GROWTH_MAX
    return len(json.dumps(item, default=lambda value: base64.b64encode(value).decode()))


# --- bulk loads ------------------------------------------------------------------------------------------

_BATCHES_AT_ONCE: Final = 8
_PLAIN_MAX: Final = _BATCHES_AT_ONCE * BATCH_WRITE_ITEMS_MAX
_SETTLED_MAX: Final = _PLAIN_MAX
_TOGETHER_MAX: Final = 25  # with three actions each, they fit into a transaction

Progress = Callable[[int], object]
_Schema = EntitySchema


@dataclass(slots=True)
class Loaded:
    """The result of a load: the number of entities by the name of their entity, and the units.

    `items` counts all items that were put, with the locks of unique values and derived items. Items that a stream
    consumer derives are put later and not counted, unless the load is settled.
    """

    counts: dict[str, int] = field(default_factory=dict)
    units: float = 0.0
    items: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def add(self, entities: Iterable[Entity]) -> None:
        for kind, count in Counter(map(type, entities)).items():
            self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + count


def load_steps(
    session: Session, entities: Iterable[Entity], progress: Progress | None, *, settled: bool = False
) -> Steps[Loaded]:
    """Write entities as they come; report the progress after every few hundred."""
    require_callable(progress, "progress")
    loader = (_SettledLoader if settled else _Loader)(session, progress)
    for entity in entities:
        require_kind(entity, Entity, "what is loaded is an entity")
        yield from loader.add(entity)
    yield from loader.flush()
    return loader.loaded


class _AnyLoader(ABC):
    """Takes entities, writes them, and counts them."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        self.loaded = Loaded()
        self._session = session
        self._progress = progress

    @abstractmethod
    def add(self, entity: Entity) -> Steps[None]:
        """Take one more entity. Send those that wait, if there are enough."""

    @abstractmethod
    def flush(self) -> Steps[None]:
        """Send all that wait."""

    def _count(self, entities: Sequence[Entity], sending: Steps[float], *, items: int) -> Steps[None]:
        self.loaded.units += yield from sending
        self.loaded.items += items
        self.loaded.add(entities)
        if self._progress is not None:
            self._progress(self.loaded.total)


class _SettledLoader(_AnyLoader):
    """Collects the items of a settled load."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        super().__init__(session, progress)
        self._entities: list[tuple[Entity, Entity, Item]] = []
        self._items = _Items(session)

    def add(self, entity: Entity) -> Steps[None]:
        session, schema = self._session, schema_for(self._session, entity)
        after, item, size = settled_item(session, schema, entity)
        kept = kept_of(session.catalog)
        for kind in kept.kinds_in(schema):
            kind.refuse_settled(session.catalog, schema, item)
        self._items.add(item, size)
        if session.catalog.old_locks:
            yield from old_locks(session)
        for beside in kept.beside(session, schema, after, get_args(Upkeep)):
            self._items.add(beside, item_bytes(beside))
        self._entities.append((entity, after, item))
        if len(self._items) >= _SETTLED_MAX:
            yield from self.flush()

    def flush(self) -> Steps[None]:
        entities, self._entities = self._entities, []
        items, self._items = self._items, _Items(self._session)
        if entities:
            yield from self._count([each[0] for each in entities], items.send(), items=len(items))
            for entity, after, item in entities:
                assign(entity, field_values(after), item)


class _Loader(_AnyLoader):
    """Collects entities until there are enough to send: plain ones, and those with effects on other items."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        super().__init__(session, progress)
        self._plain: list[Entity] = []
        self._careful: list[Entity] = []
        self._waiting: set[_Schema] = set()
        self._rules: dict[_Schema, tuple[bool, frozenset[_Schema]]] = {}

    def add(self, entity: Entity) -> Steps[None]:
        schema = schema_for(self._session, entity)
        if schema not in self._rules:
            self._rules[schema] = (_is_plain(self._session, schema), _sources(self._session, schema))
        is_plain, sources = self._rules[schema]
        if not sources.isdisjoint(self._waiting):
            yield from self.flush()
        self._waiting.add(schema)
        if is_plain:
            self._plain.append(entity)
            if len(self._plain) == _PLAIN_MAX:
                yield from self._flush_plain()
        else:
            self._careful.append(entity)
            if len(self._careful) == _TOGETHER_MAX:
                yield from self._flush_careful()

    def flush(self) -> Steps[None]:
        yield from self._flush_careful()
        yield from self._flush_plain()
        self._waiting.clear()

    def _flush_plain(self) -> Steps[None]:
        entities, self._plain = self._plain, []
        if entities:
            sending = _load_batches(self._session, entities)
            yield from self._count(entities, sending, items=len(entities))

    def _flush_careful(self) -> Steps[None]:
        entities, self._careful = self._careful, []
        if entities:
            if self._session.catalog.old_locks:
                yield from old_locks(self._session)
            items = sum(1 + _beside(self._session, entity) for entity in entities)
            yield from self._count(entities, _load_carefully(self._session, entities), items=items)


def _is_plain(session: Session, schema: _Schema) -> bool:
    """Tell whether an item can be written without reading it, or any other item."""
    catalog = session.catalog
    others = schema.kept.effect_reads or schema.kept.counted
    return not (others or schema in catalog.overlapping or catalog.has_old_keys)


def _sources(session: Session, schema: _Schema) -> frozenset[_Schema]:
    """Return the entities that must be stored first: this one copies from them, or they count it."""
    kinds = kept_of(session.catalog).kinds
    return frozenset(source for kind in kinds for source in kind.sources(schema))


# --- what a batch takes -----------------------------------------------------------------------------------


class _Items:
    """Items that wait for a batch. Of two items with one key, the later one wins."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._names = session.catalog.key_names
        self._by_key: dict[KeyId, Item] = {}
        self._largest = 0

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, item: Item, size: int) -> None:
        self._largest = max(self._largest, size)
        self._by_key[tuple([next(iter(item[name].values())) for name in self._names])] = item

    def send(self) -> Steps[float]:
        """Put all of them; return the units."""
        session = self._session
        requests = [{"PutRequest": {"Item": item}} for item in self._by_key.values()]
        chunks = [
            requests[start : start + BATCH_WRITE_ITEMS_MAX]
            for start in range(0, len(requests), BATCH_WRITE_ITEMS_MAX)
        ]
        send = (
            send_chunk if fits_always(self._largest) else send_batch
        )  # send_batch measures every item again
        try:
            units = yield from side_by_side([send(session, chunk) for chunk in chunks])
        finally:
            session.cache.clear()
        return sum(units)


def _load_batches(session: Session, entities: list[Entity]) -> Steps[float]:
    items = _Items(session)
    loaded: list[tuple[Entity, Entity, Item]] = []
    for entity in entities:
        after, item, size = yield from loaded_item(session, schema_for(session, entity), entity)
        items.add(item, size)
        loaded.append((entity, after, item))
    units = yield from items.send()
    for entity, after, item in loaded:
        assign(entity, field_values(after), item)
    return units


# --- what follows from it, too ------------------------------------------------------------------------------


def _beside(session: Session, entity: Entity) -> int:
    """Count the items that are stored beside an entity's own item, in its transaction."""
    beside = kept_of(session.catalog).beside(session, schema_for(session, entity), entity, ("transaction",))
    return sum(1 for _ in beside)


def _load_carefully(session: Session, entities: list[Entity]) -> Steps[float]:
    if len(entities) > 1 and session.client.capabilities.transactions:
        try:
            _, units = yield from write_together(session, [LoadWrite(entity) for entity in entities])
        except (ApiError, InvalidWriteError):
            pass  # too much for one transaction, or two writes of one item: nothing of it was written
        else:
            return units
    units = 0.0
    for entity in entities:
        _, more = yield from write(session, LoadWrite(entity))
        units += more
    return units
