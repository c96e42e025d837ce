"""Many items by their whole keys: a hundred in a request, and a dual read of new and old keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeAlias

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Call, Params, Steps, read_units, side_by_side
from singletable.design.keys.key import Key, SortKey
from singletable.design.keys.texts import template_of
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.plan import E, Found, Plan, Run, Usage
from singletable.design.plans.shape import PatternCalls, equal_sort
from singletable.design.session.session import Session, ask, waits
from singletable.design.session.stored_items import reporting
from singletable.design.values.arguments import require_members
from singletable.design.values.items import Item, hashable
from singletable.errors import DeclarationError
from singletable.limits import BATCH_GET_ITEMS_MAX

# Whole items by their table keys, fetched for items of an index.
Whole: TypeAlias = Mapping[Hashable, Item]


class BatchGet(Plan, Generic[E]):
    """Reads many items by their whole keys: a hundred in a request. Unprocessed keys are sent again."""

    def __init__(self, entity: type[E], keys: Sequence[tuple[Key, SortKey | None]]) -> None:
        require_members(keys, tuple, "items are read by pairs of keys, (pk, sk)")
        for pair in keys:
            require_members(pair, Key | None, "items are read by pairs of keys, (pk, sk)")
        self.entity = entity
        self.keys = tuple(keys)

    def request(self) -> Any:
        """Return the exact requests."""
        return self.running.request(self)

    def found(self) -> Found[list[E | None]]:
        """Read the items in the order of the keys, None where there is none, with what they cost."""
        runner = self.running
        return runner.run(runner.found(self))

    def all(self) -> list[E]:
        """Read the items that are there, in the order of the keys."""
        return [entity for entity in self.found().item if entity is not None]

    async def afound(self) -> Found[list[E | None]]:
        """Read the items in the order of the keys, None where there is none, with what they cost."""
        runner = self.running
        return await runner.arun(runner.found(self))

    async def aall(self) -> list[E]:
        """Read the items that are there, in the order of the keys."""
        return [entity for entity in (await self.afound()).item if entity is not None]


class BatchGetRun(Run[BatchGet[E]]):
    """Carries out a batch of gets. While keys change (`was=`) it is a dual read, as a single get is."""

    @property
    def _schema(self) -> EntitySchema:
        return self.session.catalog.schema_for(self.plan.entity)

    def request(self) -> list[Params]:
        plan, session = self.plan, self.session
        return [
            _batch_params(session, chunk, consistent=plan.is_consistent)
            for keys in (self._keys(plan.keys), self._old_keys(plan.keys))
            for chunk in _chunks(keys)
        ]

    def found(self) -> Steps[Found[list[E | None]]]:
        usage, plan, schema = Usage(), self.plan, self._schema
        found: dict[Hashable, E | None] = {}
        asked = [hashable(schema.primary_key_of(pk, sk)) for pk, sk in plan.keys]
        yield from self._read(self._keys(plan.keys), found, usage)
        missing = [pair for key, pair in zip(asked, plan.keys, strict=True) if key not in found]
        if missing and schema.key.keys.was is not None:
            # Read the old keys; then the new keys once more, as items may have moved meanwhile.
            yield from self._read(self._old_keys(missing), found, usage)
            left = [key for key in self._keys(missing) if hashable(key) not in found]
            yield from self._read(left, found, usage)
        return Found([found.get(key) for key in asked], usage)

    def _read(self, keys: list[Item], found: dict[Hashable, E | None], usage: Usage) -> Steps[None]:
        session, plan, schema = self.session, self.plan, self._schema
        entity_or_none = reporting(plan.report)
        items = yield from _read_all(session, keys, plan.cache_s, usage, consistent=plan.is_consistent)
        for item in items:
            entity = entity_or_none(schema, session, item, None)
            usage.thrown_away += entity is None
            is_old = entity is not None and schema.key.keys.was is not None
            found.setdefault(
                hashable(schema.primary_key(entity)) if is_old else _key_of(session, item), entity
            )

    def _keys(self, pairs: Sequence[tuple[Key, SortKey | None]]) -> list[Item]:
        return _distinct(self._schema.primary_key_of(pk, sk) for pk, sk in pairs)

    def _old_keys(self, pairs: Sequence[tuple[Key, SortKey | None]]) -> list[Item]:
        return _distinct(key for pk, sk in pairs for key in self._schema.old_primary_keys(pk, sk))


def read_whole(session: Session, items: Iterable[Item], cache_s: float | None, usage: Usage) -> Steps[Whole]:
    """Fetch the table items of items of an index; return those that exist, by their keys."""
    keys = _distinct(map(session.catalog.key_in, items))
    found = yield from _read_all(session, keys, cache_s, usage, consistent=False)
    return {_key_of(session, item): item for item in found}


def whole_item(session: Session, item: Item, whole: Whole) -> Item | None:
    """Return the whole item of an item of an index; None if it is gone."""
    return whole.get(_key_of(session, item))


def _key_of(session: Session, item: Item) -> Hashable:
    return hashable(session.catalog.key_in(item))


def _distinct(keys: Iterable[Item]) -> list[Item]:
    return list({hashable(key): key for key in keys}.values())


def _chunks(keys: list[Item]) -> list[list[Item]]:
    return [keys[at : at + BATCH_GET_ITEMS_MAX] for at in range(0, len(keys), BATCH_GET_ITEMS_MAX)]


def _batch_params(session: Session, keys: list[Item], *, consistent: bool) -> Params:
    wanted: Params = {"Keys": keys}
    if consistent:
        wanted["ConsistentRead"] = True
    return {"RequestItems": {session.table: wanted}, "ReturnConsumedCapacity": "TOTAL"}


def _read_all(
    session: Session, keys: list[Item], cache_s: float | None, usage: Usage, *, consistent: bool
) -> Steps[list[Item]]:
    chunks = [_batch_params(session, chunk, consistent=consistent) for chunk in _chunks(keys)]
    reads = [_read_batch(session, chunk, cache_s, usage) for chunk in chunks]
    return [item for items in (yield from side_by_side(reads)) for item in items]


def _read_batch(session: Session, params: Params, cache_s: float | None, usage: Usage) -> Steps[list[Item]]:
    """Read items by their keys; send unprocessed keys again, with back-off."""
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


def batch_get_reads(calls: PatternCalls[BatchGet[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a batch of gets."""
    plan, *_ = plans = calls.plans
    keys = [key for each in plans for key in each.keys]
    if not keys:
        raise DeclarationError("its sample values ask for no keys")
    read = ReadBlueprint(
        "BatchGetItem",
        (plan.entity.__name__,),
        template_of([pk for pk, _ in keys], calls.same),
        sort=equal_sort([sk for _, sk in keys], calls),
        is_consistent=plan.is_consistent,
        count=len(plan.keys),
        name=name,
    )
    return (read,)
