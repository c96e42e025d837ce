"""Cascading deletes: an item is deleted with the items that it owns, depth first and the owner last. So after an
interruption, deleting the owner again continues the cascade.

A cascade is not a transaction. While the owner exists, others may still add items to it. If nobody may see a
half-deleted owner, mark it first with an update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from singletable.client.calls import Call, Params, Steps, Wait, backoff, read_units
from singletable.design.keys.key import Key
from singletable.design.keys.ranges import sort_range
from singletable.design.model.entity import STORED, Entity, key_values
from singletable.design.model.ownership import OwnedPlace, Values, key_fields, key_objects, owned_places
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get
from singletable.design.rekeying import keys_under_old, move_found_item, move_partition, move_to_new_key
from singletable.design.session.expressions import Placeholders, key_condition
from singletable.design.session.session import Session, waits
from singletable.design.session.stored_items import read_charged, read_stored, refuse_stranger
from singletable.design.values.arguments import require_callable
from singletable.design.values.conditions import holds
from singletable.design.values.items import Item, KeyId, hashable, shown_key
from singletable.design.writes.transaction import prepare, write
from singletable.design.writes.write import Delete, key_of, own_fields, schema_for
from singletable.errors import NotFoundError, TargetError
from singletable.limits import BATCH_GET_ITEMS_MAX, BATCH_WRITE_ITEMS_MAX

PAGE_ITEMS: Final = BATCH_GET_ITEMS_MAX


@dataclass(slots=True)
class Cascade:
    """The progress of a cascading delete: the number of items by the name of their entity, and the units."""

    counts: dict[str, int] = field(default_factory=dict)
    units: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def add(self, schema: EntitySchema, count: int) -> None:
        name = schema.entity.__name__
        self.counts[name] = self.counts.get(name, 0) + count


Progress = Callable[[Cascade], object]


def delete_steps(
    session: Session, wanted: Delete[Any], progress: Progress | None = None
) -> Steps[tuple[Any, float]]:
    """Delete everything that an item owns, then the item itself; report the progress after each page."""
    require_callable(progress, "progress")
    schema = schema_for(session, wanted.target)
    if not schema.entity.entity_options.owns and progress is None:
        return (yield from write(session, wanted))
    yield from move_to_new_key(session, schema, wanted.target)
    deleting = _Deleting(session, progress or (lambda done: None))
    owner, is_there = yield from _owner(session, schema, wanted, deleting.done)
    yield from deleting.owned_by(schema, owner)
    result, units = yield from write(session, wanted)
    deleting.done.units += units
    if is_there:
        yield from deleting.tell(schema, 1)
    return result, deleting.done.units


def plan_steps(session: Session, wanted: Delete[Any]) -> Steps[Cascade]:
    """Count the items that a cascading delete would delete, without deleting any."""
    schema = schema_for(session, wanted.target)
    counting = _Walk(session)
    owner, is_there = yield from _owner(session, schema, wanted, counting.done)
    yield from counting.owned_by(schema, owner)
    if is_there:
        counting.done.add(schema, 1)
    return counting.done


# --- the owner -----------------------------------------------------------------------------------------


def _owner(
    session: Session, schema: EntitySchema, wanted: Delete[Any], done: Cascade
) -> Steps[tuple[Values, bool]]:
    """Return the owner's fields, and whether it exists. A delete that will be refused is refused here, first."""
    key = key_of(schema, wanted.target)
    item, units = yield from _read(session, schema, key)
    done.units += units
    if _is_refused(schema, wanted, item):
        prepared = yield from prepare(session, wanted)
        if prepared.actions:
            raise prepared.actions[0].refused(item)
        raise NotFoundError(f"{schema.entity.__name__} {shown_key(key)} is not there")
    if item is not None:
        return _fields(session, schema, item), True
    if isinstance(wanted.target, Entity):
        return key_values(wanted.target), False
    return key_fields(schema, key), False


def _read(session: Session, schema: EntitySchema, key: Item) -> Steps[tuple[Item | None, float]]:
    item, units = yield from read_charged(session, key)
    if item is not None:
        refuse_stranger(session, schema, item)
    if item is None and schema.key.keys.was is not None:
        old = yield from read_stored(session, schema, key)
        item = None if old is None else {**old.__dict__[STORED], **key}
    return item, units


def _is_refused(schema: EntitySchema, wanted: Delete[Any], item: Item | None) -> bool:
    if item is None:
        return wanted.when is not None or wanted.as_read
    if wanted.as_read:
        read = wanted.target.__dict__[STORED]
        names = [schema.fields[name].stored for name in own_fields(schema) & schema.fields.keys()]
        if any(item.get(name) != read.get(name) for name in names):
            return True
    version = schema.version
    if version is not None and isinstance(wanted.target, Entity):
        stored = int(item.get(version.stored, {}).get("N", "0"))
        if stored != (getattr(wanted.target, version.name) or 0):
            return True
    return wanted.when is not None and not holds(wanted.when, key_values(schema.to_entity(item)))


def _fields(session: Session, schema: EntitySchema, item: Item) -> Values:
    """Return the fields by which owned items are found: those of the owner's key, or all if these are too few."""
    known = key_fields(schema, item)
    needed = {name for place in owned_places(session.catalog, schema) for name in place.needs()}
    return known if needed <= known.keys() else key_values(schema.to_entity(item))


# --- what it owns ----------------------------------------------------------------------------------------


class _Walk:
    """Reads the items that an item owns, page by page, and counts them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.done = Cascade()

    def owned_by(self, schema: EntitySchema, owner: Values) -> Steps[None]:
        """Take the items that the owner with these fields owns, the deepest first."""
        for place in owned_places(self.session.catalog, schema):
            yield from self.empty(place, owner)

    def empty(self, place: OwnedPlace, owner: Values) -> Steps[None]:
        for pk in place.partitions(owner):
            keys = yield from keys_under_old(self.session, place.schema, place.binding, pk)
            owned = [key for key, item in keys if place.is_owned(item, owner)]
            if owned:
                yield from self.take(place.schema, owned)
        yield from self.once(place, owner, certain=True)

    def once(self, place: OwnedPlace, owner: Values, *, certain: bool) -> Steps[int]:
        """Read a place once; return how many items it held."""
        found = 0
        for pk in place.partitions(owner):
            start: Any = None
            while True:
                answer = yield Call("Query", _query(self.session, place, pk, owner, start))
                self.done.units += read_units(answer)
                keys = self._keys(place, owner, answer["Items"])
                if keys and not certain:
                    keys = yield from self._existing(keys)
                if place.binding.index is not None and place.schema.key.keys.was is not None:
                    keys = yield from self.homes(place.schema, keys)
                if keys:
                    found += len(keys)
                    yield from self.take(place.schema, keys)
                start = answer.get("LastEvaluatedKey")
                if start is None:
                    break
        return found

    def homes(self, schema: EntitySchema, keys: list[Item]) -> Steps[list[Item]]:
        """Return the new keys of items that an index names, as they may still be under old keys."""
        found = []
        for key in keys:
            item, units = yield from read_charged(self.session, key)
            self.done.units += units
            if item is not None:
                found.append((yield from self.home(schema, item)))
        return found

    def home(self, schema: EntitySchema, item: Item) -> Steps[Item]:
        yield from ()
        return schema.primary_key(schema.to_entity(item))

    def take(self, schema: EntitySchema, keys: list[Item]) -> Steps[None]:
        """Count items, after the items that they own."""
        yield from self.below(schema, keys)
        self.done.add(schema, len(keys))

    def below(self, schema: EntitySchema, keys: list[Item]) -> Steps[None]:
        """Take the items that these items own."""
        places = owned_places(self.session.catalog, schema)
        if not places:
            return
        needed = {name for place in places for name in place.needs()}
        for key in keys:
            fields: Mapping[str, object] = key_fields(schema, key)
            if not needed <= fields.keys():
                item, units = yield from _read(self.session, schema, key)
                self.done.units += units
                fields = fields if item is None else key_values(schema.to_entity(item))
            yield from self.owned_by(schema, fields)

    def _keys(self, place: OwnedPlace, owner: Values, items: list[Item]) -> list[Item]:
        catalog = self.session.catalog
        names = catalog.key_names
        return [
            {name: item[name] for name in names}
            for item in items
            if catalog.schema_of(item) is place.schema and place.is_owned(item, owner)
        ]

    def _existing(self, keys: list[Item]) -> Steps[list[Item]]:
        """Return the keys of a page whose items still exist: an index is eventually consistent."""
        found: set[KeyId] = set()
        names = self.session.catalog.key_names
        wanted: Params = {self.session.table: {"Keys": keys, "ConsistentRead": True}}
        pauses = waits(self.session.table)
        while wanted:
            answer = yield Call("BatchGetItem", {"RequestItems": wanted, "ReturnConsumedCapacity": "TOTAL"})
            self.done.units += read_units(answer)
            items = answer.get("Responses", {}).get(self.session.table, [])
            found.update(hashable({name: item[name] for name in names}) for item in items)
            wanted = answer.get("UnprocessedKeys") or {}
            if wanted:
                yield next(pauses)
        return [key for key in keys if hashable(key) in found]


class _Deleting(_Walk):
    """Reads the items that an item owns, and deletes them."""

    def __init__(self, session: Session, progress: Progress) -> None:
        super().__init__(session)
        self._progress = progress

    def empty(self, place: OwnedPlace, owner: Values) -> Steps[None]:
        """Delete the owned items of a place. An index is read again, until it shows no new item."""
        for pk in place.partitions(owner):
            yield from move_partition(self.session, place.schema, place.binding, pk)
        found = yield from self.once(place, owner, certain=True)
        if place.is_consistent:
            return
        for pause in backoff():
            if not found:
                return
            yield Wait(pause.seconds)  # without jitter: the index needs the whole time to catch up
            found = yield from self.once(place, owner, certain=False)
        if found:
            raise TargetError(
                f"{place.binding!r} keeps showing items of {self.session.table} that were deleted",
                hint="somebody else keeps writing them, or the index lags far behind: delete once more later",
            )

    def home(self, schema: EntitySchema, item: Item) -> Steps[Item]:
        yield from move_found_item(self.session, schema, schema.key, item)
        return (yield from super().home(schema, item))

    def take(self, schema: EntitySchema, keys: list[Item]) -> Steps[None]:
        """Delete a page of items, after the items that they own."""
        yield from self.below(schema, keys)
        if schema.kept.effect_reads:
            for key in keys:
                yield from self._with_effects(Delete(Get(schema.entity, *key_objects(schema, key))))
        else:
            yield from self._in_batches(keys)
        yield from self.tell(schema, len(keys))

    def tell(self, schema: EntitySchema, count: int) -> Steps[None]:
        self.done.add(schema, count)
        self._progress(self.done)
        yield from ()

    def _in_batches(self, keys: list[Item]) -> Steps[None]:
        waiting = [{"DeleteRequest": {"Key": key}} for key in keys]
        pauses = waits(self.session.table)
        while waiting:
            chunk, waiting = waiting[:BATCH_WRITE_ITEMS_MAX], waiting[BATCH_WRITE_ITEMS_MAX:]
            params = {"RequestItems": {self.session.table: chunk}, "ReturnConsumedCapacity": "TOTAL"}
            try:
                answer = yield Call("BatchWriteItem", params)
            finally:
                self.session.cache.clear()
            self.done.units += read_units(answer)
            left = answer.get("UnprocessedItems", {}).get(self.session.table, [])
            if left:
                waiting = [*left, *waiting]
                yield next(pauses)

    def _with_effects(self, delete: Delete[Any]) -> Steps[None]:
        """Delete one item with its locks, counters and derived items."""
        _, units = yield from write(self.session, delete)
        self.done.units += units


def _query(session: Session, place: OwnedPlace, pk: Key, owner: Values, start: Any) -> Params:
    """Return the query of a page of owned items. It has no filter: expired items are deleted too."""
    into = Placeholders()
    keys = place.binding.keys
    bounds = sort_range(keys.sk, place.sort_prefix(owner), gt=None, ge=None, lt=None, le=None)
    params: Params = {
        "TableName": session.table,
        "KeyConditionExpression": key_condition(place.binding, pk, bounds, into),
        "Limit": PAGE_ITEMS,
        "ReturnConsumedCapacity": "TOTAL",
    }
    index = place.binding.index
    if index is None:
        params["ConsistentRead"] = True
    else:
        params["IndexName"] = index.name
    if index is None or index.projection == "ALL":
        stored = (place.schema.fields[name].stored for name in place.shared)
        names = (*session.catalog.key_names, session.catalog.discriminator, *stored)
        params["ProjectionExpression"] = ", ".join(into.name(name) for name in dict.fromkeys(names))
    if start is not None:
        params["ExclusiveStartKey"] = start
    return into.add_to(params)
