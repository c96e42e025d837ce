"""Loading: any number of entities, fast, as they stand. For made-up data, and for what comes from elsewhere.

What a batch can take goes in batches, several at once. What has unique values, counters or derived items goes in
transactions of several; where that cannot be, one by one. What was loaded before an error stays, so that loading
again goes on: an item that is there is written once more.

Entities that agree with each other (`settled`) need none of that care: each goes into a batch with its locks and
the items that are derived from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from singletable.client.calls import Steps
from singletable.design.arguments import require_callable, require_kind
from singletable.design.batches import fits_always, send_batch, send_chunk
from singletable.design.committing import write, write_together
from singletable.design.effects import effect_reads
from singletable.design.entity import Entity, field_values
from singletable.design.item_sizes import item_bytes
from singletable.design.markers import Upkeep
from singletable.design.preparing import schema_for
from singletable.design.put_planning import loaded_item, settled_item
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.settling import items_beside, refuse_half_averages
from singletable.design.side_by_side import side_by_side
from singletable.design.stored_values import Item
from singletable.design.uniqueness import old_locks
from singletable.design.write_planning import assign
from singletable.design.writes import Load
from singletable.errors import ApiError, InvalidWriteError
from singletable.limits import BATCH_WRITE_ITEMS_MAX

_BATCHES_AT_ONCE: Final = 8
_PLAIN_MAX: Final = _BATCHES_AT_ONCE * BATCH_WRITE_ITEMS_MAX
_SETTLED_MAX: Final = _PLAIN_MAX
_TOGETHER_MAX: Final = 25  # with three actions each, a transaction takes them

Progress = Callable[[int], object]
_Schema = EntitySchema[Any]


@dataclass(slots=True)
class Loaded:
    """What was loaded: how many of each entity, by the entity's name, and the units.

    `items` are those that were put: with the locks of unique values, and with derived items; but what a stream
    consumer derives is put later, unless the entities were settled.
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
    """Write entities as they come; tell after each few hundred how many are written."""
    require_callable(progress, "progress")
    loader = (_SettledLoader if settled else _Loader)(session, progress)
    for entity in entities:
        require_kind(entity, Entity, "what is loaded is an entity")
        yield from loader.add(entity)
    yield from loader.flush()
    return loader.loaded


class _AnyLoader(ABC):
    """Takes entities, and counts those that are written."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        self.loaded = Loaded()
        self._session = session
        self._progress = progress

    @abstractmethod
    def add(self, entity: Entity) -> Steps[None]:
        """Take one more, and send those that wait if they are enough."""

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
    """Collects the items of entities that agree with each other, whatever they are."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        super().__init__(session, progress)
        self._entities: list[tuple[Entity, Entity, Item]] = []
        self._items = _Items(session)

    def add(self, entity: Entity) -> Steps[None]:
        session, schema = self._session, schema_for(self._session, entity)
        after, item, size = settled_item(session, schema, entity)
        refuse_half_averages(session.catalog, schema, item)
        self._items.add(item, size)
        moving = (yield from old_locks(session)) if session.catalog.old_locks else ()
        for beside in items_beside(session, schema, after, get_args(Upkeep), moving):
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
    """Collects entities by what they ask of others, until there are enough of them to be sent."""

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
    """Tell whether an item can be written without looking at others, or at what is stored."""
    catalog = session.catalog
    others = effect_reads(session, schema) or catalog.belonging.kept(schema)
    return not (others or schema in catalog.overlapping or catalog.has_old_keys)


def _sources(session: Session, schema: _Schema) -> frozenset[_Schema]:
    """Return the entities that must be stored before this one is: it copies from them, or counts in them."""
    belonging = session.catalog.belonging
    copied = [each.link for each in belonging.copying(schema)]
    counted = [each.link for each in belonging.counted(schema, "stream")]
    return frozenset(link.parent for link in (*copied, *counted))


# --- what a batch takes -----------------------------------------------------------------------------------


class _Items:
    """Items that are to be put in batches, several at once. Of two with one key the later one stays."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._names = session.catalog.table.key_attributes()
        self._by_key: dict[tuple[Any, ...], Item] = {}
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
        send = send_chunk if fits_always(self._largest) else send_batch  # which measures every item again
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
    """Count the items that are stored with an entity's own, in its transaction."""
    moving = session.known_locks.old or ()
    beside = items_beside(session, schema_for(session, entity), entity, ("transaction",), moving)
    return sum(1 for _ in beside)


def _load_carefully(session: Session, entities: list[Entity]) -> Steps[float]:
    if len(entities) > 1 and session.client.capabilities.transactions:
        try:
            _, units = yield from write_together(session, [Load(entity) for entity in entities])
        except (ApiError, InvalidWriteError):
            pass  # too much for one transaction, or two writes of one item: nothing of it was written
        else:
            return units
    units = 0.0
    for entity in entities:
        _, more = yield from write(session, Load(entity))
        units += more
    return units
