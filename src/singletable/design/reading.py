"""Carries out plans where a design is open: steps that yield calls, and are sent the answers."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

from singletable.client.calls import Call, Steps
from singletable.design.answers import entity_of, read_units
from singletable.design.arguments import require_count
from singletable.design.batch_reading import batch_get, batch_requests
from singletable.design.collection_reading import CollectionReading
from singletable.design.collections import Collect, Member, members_of
from singletable.design.cursors import identity, read_cursor, write_cursor
from singletable.design.entity import entity_type
from singletable.design.expressions import condition_data
from singletable.design.followed_reading import FollowedReading
from singletable.design.following import Followed
from singletable.design.looking_up import look_up, lookup_params
from singletable.design.many import Composed, ComposedReading, Many
from singletable.design.ordered_reading import Limited, Merging, Walking, share
from singletable.design.pages import Found, Page, Usage
from singletable.design.plans import BatchGet, Get, Lookup, Reading
from singletable.design.queries import Merged, Query, Walk
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
            case Followed():
                return self.request(self._source(plan), _within(limit, plan.limited))
            case Composed():
                return self.request(plan.reads[0], _within(limit, plan.limited))
            case BatchGet():
                return batch_requests(session, plan)
            case Collect(pk=None):
                return {name: self.request(self._inherit(plan, part)) for name, part in plan.parts.items()}
            case Collect():
                changing = changing_queries(session.catalog, plan).values()
                others = [
                    self._query_requests(self._inherit(plan, query), query.limited) for query in changing
                ]
                return _one_or_all(
                    [collection_params(session, plan, plan.limited, None), *chain.from_iterable(others)]
                )
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
                return batch_get(self.session, plan)
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
        by_entity = {member.entity: member for member in members.values()}
        values: dict[str, Any] = {name: [] if member.is_list else None for name, member in members.items()}
        for entity in (yield from self._through(plan, None).take(None, usage)):
            member = by_entity.get(type(entity)) or by_entity[entity_type(entity)]
            if member.is_list:
                values[member.name].append(entity)
            elif values[member.name] is None:
                values[member.name] = entity
            else:
                raise SeveralFoundError(
                    f"{plan!r} finds several items of {member.entity.__name__}",
                    hint=f"{member.name}: list[{member.entity.__name__}]",
                )
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
        """Begin to read the items of a collection; those under old keys have their own queries, and come last."""
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
            case Followed():
                return self._following(plan, positions, at_once)
            case Composed():
                return ComposedReading(plan, positions)
        parts = self._parts(plan)
        names = [identity(self._identity(part)).hex() for part in parts]

        def begin(at: int, inner: Any, at_once: int | None) -> Reading:
            return self.reading(parts[at], inner, at_once=at_once)

        return Walking(names, begin, positions, at_once)

    def _following(self, plan: Followed[Any], positions: Any, at_once: int | None) -> Reading:
        source = self._source(plan)

        def begin(inner: Any, at_once: int | None) -> Reading:
            return self.reading(source, inner, at_once=at_once)

        def fetch(batch: BatchGet[Any]) -> Steps[Found[list[Any]]]:
            return batch_get(self.session, self._inherit(plan, batch))

        return FollowedReading(plan, begin, fetch, positions, at_once)

    def _source(self, plan: Followed[Any]) -> Any:
        """Return what points to the items of a plan; how fresh those are to be says nothing of it."""
        return self._inherit(plan.with_(is_consistent=False), plan.source)

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
            case Followed():
                schema = self.session.catalog.schema_for(plan.entity)
                conditions = [condition_data(condition, schema) for condition in plan.conditions]
                return ["followed", self._identity(plan.source), schema.name, conditions, plan.limited]
            case Composed():
                return ["composed", self._identity(plan.reads[0]), plan.entity.__name__, plan.limited]
            case _:
                # Not the list of parts: a walk that begins a month later goes on with the same cursor.
                first = plan.parts[0].parts[0] if isinstance(plan.parts[0], Merged) else plan.parts[0]
                return ["walk", query_identity(self.session, first)[0], plan.limited]


def _one_or_all(requests: list[dict[str, Any]]) -> Any:
    return requests[0] if len(requests) == 1 else requests


def _within(limit: int | None, other: int | None) -> int | None:
    return other if limit is None else limit if other is None else min(limit, other)
