"""Carries out plans where a design is open: steps that yield calls, and are sent the answers."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

from singletable.client.calls import Call, Steps, Wait
from singletable.design.answers import entity_of, read_units, waits
from singletable.design.arguments import require_count
from singletable.design.collection_reading import CollectionReading
from singletable.design.collections import Collect, Member, members_of
from singletable.design.cursors import identity, read_cursor, write_cursor
from singletable.design.looking_up import look_up, lookup_params
from singletable.design.ordered_reading import Limited, Merging, Walking, share
from singletable.design.pages import Found, Page, Usage
from singletable.design.plans import BatchGet, Get, Lookup, Reading
from singletable.design.queries import Many, Merged, Query, Walk
from singletable.design.requests import (
    changing_queries,
    collection_params,
    get_params,
    old_queries,
    query_identity,
    query_params,
)
from singletable.design.session import Session, ask
from singletable.design.side_by_side import side_by_side
from singletable.design.stored_values import Item
from singletable.errors import SeveralFoundError

T = TypeVar("T")

BATCH_GET_KEYS_MAX: Final = 100


class Reader:
    """Runs plans on a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run
        self.arun = session.arun

    # --- requests ----------------------------------------------------------------------------------

    def request(self, plan: Any, limit: int | None = None) -> Any:
        """Return the exact request of a plan; of one that makes several, all that it begins with.

        While keys change (`was=`), it makes several: those under the old keys are among them, in their order.
        """
        session = self.session
        match plan:
            case Get():
                return _one_or_all(self._get_requests(plan))
            case Lookup():
                return lookup_params(session, plan)
            case Query():
                return _one_or_all(self._query_requests(plan, _within(limit, plan.limited)))
            case Merged():
                each = share(_within(limit, plan.limited), len(plan.parts))
                return [request for part in self._parts(plan) for request in self._query_requests(part, each)]
            case Walk():
                return [self.request(part, _within(limit, plan.limited)) for part in self._parts(plan)]
            case BatchGet():
                keys = [_distinct(session, plan), *([olds] if (olds := _old_distinct(session, plan)) else [])]
                return [_batch_params(session, chunk, plan) for some in keys for chunk in _chunks(some)]
            case Collect(pk=None):
                return {name: self.request(self._inherit(plan, part)) for name, part in plan.parts.items()}
            case Collect():
                changing = changing_queries(session.catalog, plan).values()
                others = [self._query_requests(self._inherit(plan, query), None) for query in changing]
                return _one_or_all([collection_params(session, plan, None), *chain.from_iterable(others)])
            case _:
                raise TypeError(f"{plan!r} is no plan")

    def _get_requests(self, plan: Get[Any]) -> list[dict[str, Any]]:
        """Return the requests of a get: where the item was before only if it is not there, then there again."""
        first = self._get_params(plan)
        olds = self.session.catalog.schema_for(plan.entity).old_primary_keys(plan.pk, plan.sk)
        others = [{**first, "Key": key} for key in olds]
        return [first, *others, first] if others else [first]

    def _query_requests(self, query: Query[Any], limit: int | None) -> list[dict[str, Any]]:
        olds = [query_params(self.session, old, None, None) for old in old_queries(self.session, query)]
        return [*olds, query_params(self.session, query, limit, None)]

    def _get_params(self, plan: Get[Any]) -> dict[str, Any]:
        session = self.session
        key = session.catalog.schema_for(plan.entity).primary_key_of(plan.pk, plan.sk)
        return get_params(session.table, key, consistent=plan.is_consistent)

    # --- one thing -----------------------------------------------------------------------------------

    def found(self, plan: Any) -> Steps[Found[Any]]:
        """Read what a plan finds at once."""
        match plan:
            case Get():
                return self._get(plan)
            case Lookup():
                return look_up(self.session, plan)
            case BatchGet():
                return self._batch_get(plan)
            case _:
                return self._collect(plan)

    def _get(self, plan: Get[Any]) -> Steps[Found[Any]]:
        session = self.session
        call = Call("GetItem", self._get_params(plan))
        answer = (yield call) if plan.cache_s is None else (yield from ask(session, call, plan.cache_s))
        item: Item | None = answer.get("Item")
        if item is None:
            return (yield from self._get_old(plan, Usage(read_units(answer))))
        schema = session.catalog.schemas[plan.entity]
        entity = entity_of(schema, session, item)
        return Found(entity, Usage(read_units(answer), 1, int(entity is None)))

    def _get_old(self, plan: Get[Any], usage: Usage) -> Steps[Found[Any]]:
        """Look where an item was stored before; then once more where it belongs: it may have moved meanwhile."""
        session = self.session
        schema = session.catalog.schema_for(plan.entity)
        home = schema.primary_key_of(plan.pk, plan.sk)
        olds = list(schema.old_primary_keys(plan.pk, plan.sk))
        for key in (*olds, home) if olds else ():
            params = get_params(session.table, key, consistent=plan.is_consistent)
            answer = yield from ask(session, Call("GetItem", params), plan.cache_s)
            item = answer.get("Item")
            entity = None if item is None else entity_of(schema, session, item)
            usage.add(Usage(read_units(answer), int(item is not None), int(item is not None)))
            if entity is not None and schema.primary_key(entity) == home:
                usage.thrown_away -= 1
                return Found(entity, usage)
        return Found(None, usage)

    def _batch_get(self, plan: BatchGet[Any]) -> Steps[Found[list[Any]]]:
        session, usage = self.session, Usage()
        schema = session.catalog.schema_for(plan.entity)
        found: dict[tuple[Any, ...], Any] = {}
        names = session.catalog.table.key_attributes()
        asked = [hashable(schema.primary_key_of(pk, sk)) for pk, sk in plan.keys]

        def read(keys: list[Item]) -> Steps[None]:
            chunks = [_batch_params(session, chunk, plan) for chunk in _chunks(keys)]
            reads = [_read_batch(session, chunk, plan.cache_s, usage) for chunk in chunks]
            for items in (yield from side_by_side(reads)):
                for item in items:
                    entity = entity_of(schema, session, item)
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

    def _collect(self, plan: Collect[Any]) -> Steps[Found[Any]]:
        usage = Usage()
        members = {member.name: member for member in members_of(plan.into)}
        collects = self._gathered if plan.pk is None else self._collected
        values = yield from collects(plan, members, usage)
        if any(member.is_required and values.get(name) is None for name, member in members.items()):
            return Found(None, usage)
        return Found(plan.into(**values), usage)

    def _collected(
        self, plan: Collect[Any], members: dict[str, Member], usage: Usage
    ) -> Steps[dict[str, Any]]:
        # What is under old keys too is read by a query of its own.
        changing = changing_queries(self.session.catalog, plan)
        by_entity = {member.entity: member for member in members.values()}
        values: dict[str, Any] = {name: [] if member.is_list else None for name, member in members.items()}
        reading = CollectionReading(self.session, plan, without=tuple(changing))
        for entity in (yield from reading.take(None, usage)):
            member = by_entity[type(entity)]
            if member.is_list:
                values[member.name].append(entity)
            elif values[member.name] is None:
                values[member.name] = entity
            else:
                raise SeveralFoundError(
                    f"{plan!r} finds several items of {member.entity.__name__}",
                    hint=f"{member.name}: list[{member.entity.__name__}]",
                )
        for name, query in changing.items():
            found = yield from self.reading(self._inherit(plan, query)).take(None, usage)
            values[name] = found if members[name].is_list else next(iter(found), None)
        return values

    def _gathered(
        self, plan: Collect[Any], members: dict[str, Member], usage: Usage
    ) -> Steps[dict[str, Any]]:
        parts = {name: self._inherit(plan, part) for name, part in plan.parts.items()}
        reads = [self._gathered_part(part, members[name], usage) for name, part in parts.items()]
        return dict(zip(parts, (yield from side_by_side(reads)), strict=True))

    def _gathered_part(
        self, part: Get[Any] | Lookup[Any] | Many[Any], member: Member, usage: Usage
    ) -> Steps[Any]:
        if isinstance(part, Get | Lookup):
            found = yield from self.found(part)
            usage.add(found.usage)
            return [found.item] if member.is_list and found.item is not None else found.item
        if member.is_list:
            return (yield from self.reading(part).take(None, usage))
        return next(iter((yield from self.reading(part, at_once=1).take(1, usage))), None)

    # --- many, in order --------------------------------------------------------------------------------

    def page(self, plan: Many[Any], limit: int, cursor: str | None) -> Steps[Page[Any]]:
        """Read a page from where a cursor says."""
        require_count(limit, "a limit")
        session, usage = self.session, Usage()
        query = identity([session.catalog.name, self._identity(plan)])
        positions = None if cursor is None else read_cursor(session.cursor_key, query, cursor)
        reading = self.reading(plan, positions, at_once=limit)
        entities = yield from reading.take(limit, usage)
        left = reading.positions
        following = None if left is None else write_cursor(session.cursor_key, query, left)
        return Page(entities, following, usage)

    def reading(self, plan: Any, positions: Any = None, *, at_once: int | None = None) -> Reading:
        """Begin to read a plan, from positions or from the beginning, with so many items in a request."""
        if isinstance(plan, Collect):
            return self._through(plan, at_once)
        limit = plan.limited
        if limit is None:
            return self._unlimited(plan, positions, at_once)
        inner, given = positions if positions is not None else (None, 0)
        return Limited(self._unlimited(plan, inner, _within(at_once, limit - given)), limit, given)

    def _through(self, plan: Collect[Any], at_once: int | None) -> Reading:
        """Begin to read the items of a collection one by one; those under old keys come last."""
        changing = changing_queries(self.session.catalog, plan)
        others = [self._inherit(plan, query) for query in changing.values()]
        begins = [partial(self.reading, query, at_once=at_once) for query in others]
        return CollectionReading(self.session, plan, without=tuple(changing), others=begins)

    def _unlimited(self, plan: Any, positions: Any, at_once: int | None) -> Reading:
        match plan:
            case Query():
                return Merging(self.session, [plan], positions, at_once)
            case Merged():
                return Merging(self.session, self._parts(plan), positions, at_once)
        parts = self._parts(plan)
        names = [identity(self._identity(part)).hex() for part in parts]

        def begin(at: int, inner: Any, at_once: int | None) -> Reading:
            return self.reading(parts[at], inner, at_once=at_once)

        return Walking(names, begin, positions, at_once)

    def _parts(self, plan: Merged[Any] | Walk[Any]) -> list[Any]:
        return [self._inherit(plan, part) for part in plan.parts]

    def _inherit(self, plan: Any, part: Any) -> Any:
        """Return a part of a plan, as fresh as the whole is to be; invalid items are reported as of the whole."""
        if plan.cache_s is None and not plan.is_consistent and plan.report is None:
            return part
        return part.with_(
            cache_s=part.cache_s if part.cache_s is not None else plan.cache_s,
            is_consistent=part.is_consistent or plan.is_consistent,
            report=part.report if part.report is not None else plan.report,
        )

    def _identity(self, plan: Any) -> Any:
        match plan:
            case Query():
                return query_identity(self.session, plan)
            case Merged():
                return ["merged", [query_identity(self.session, part) for part in plan.parts], plan.limited]
            case _:
                # Not the list of parts: a walk that begins a month later goes on with the same cursor.
                first = plan.parts[0].parts[0] if isinstance(plan.parts[0], Merged) else plan.parts[0]
                return ["walk", query_identity(self.session, first)[0], plan.limited]


# --- many keys ----------------------------------------------------------------------------------------


def _distinct(session: Session, plan: BatchGet[Any]) -> list[Item]:
    schema = session.catalog.schema_for(plan.entity)
    keys = [schema.primary_key_of(pk, sk) for pk, sk in plan.keys]
    return list({hashable(key): key for key in keys}.values())


def _old_distinct(session: Session, plan: BatchGet[Any]) -> list[Item]:
    schema = session.catalog.schema_for(plan.entity)
    keys = [key for pk, sk in plan.keys for key in schema.old_primary_keys(pk, sk)]
    return list({hashable(key): key for key in keys}.values())


def _one_or_all(requests: list[dict[str, Any]]) -> Any:
    return requests[0] if len(requests) == 1 else requests


def _chunks(keys: list[Item]) -> list[list[Item]]:
    return [keys[at : at + BATCH_GET_KEYS_MAX] for at in range(0, len(keys), BATCH_GET_KEYS_MAX)]


def _batch_params(session: Session, keys: list[Item], plan: BatchGet[Any]) -> dict[str, Any]:
    wanted: dict[str, Any] = {"Keys": keys}
    if plan.is_consistent:
        wanted["ConsistentRead"] = True
    return {"RequestItems": {session.table: wanted}, "ReturnConsumedCapacity": "TOTAL"}


def _read_batch(
    session: Session, params: dict[str, Any], cache_s: float | None, usage: Usage
) -> Steps[list[Item]]:
    """Read items by their keys; ask again, more and more slowly, for what the target leaves unprocessed."""
    found: list[Item] = []
    pauses = waits()
    while True:
        answer = yield from ask(session, Call("BatchGetItem", params), cache_s)
        items = answer.get("Responses", {}).get(session.table, [])
        usage.add(Usage(read_units(answer), len(items), 0))
        found += items
        left = answer.get("UnprocessedKeys")
        if not left:
            return found
        params = {**params, "RequestItems": left}
        yield Wait(next(pauses))


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


def _within(limit: int | None, other: int | None) -> int | None:
    return other if limit is None else limit if other is None else min(limit, other)
