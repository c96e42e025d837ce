"""Several queries of one kind as one, in the order of the sort key: the shards of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Generic, Self

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Params, Steps, Together
from singletable.design.plans.followed import Followable
from singletable.design.plans.plan import E, Identity, Positions, Run, Usage, inherited
from singletable.design.plans.query import (
    START,
    DualQueryPart,
    Query,
    QueryPart,
    fetched,
    part_of,
    query_identity,
    query_reads_of,
    query_requests,
)
from singletable.design.plans.shape import PatternCalls
from singletable.design.session.session import Session
from singletable.design.values.arguments import require_members
from singletable.design.values.condition_values import conditions_on
from singletable.design.values.conditions import Condition
from singletable.errors import DeclarationError


class Merged(Followable[E]):
    """Reads several queries of one kind as one, in the order of the sort key: the shards of a partition."""

    def __init__(self, parts: Sequence[Query[E]]) -> None:
        require_members(parts, Query, "merged are queries")
        if not parts:
            raise DeclarationError("there is nothing to merge")
        kinds = {(part.entity, part.place, part.forward) for part in parts}
        if len(kinds) > 1:
            raise DeclarationError(
                f"queries of different kinds have no common order: {', '.join(map(repr, parts))}",
                hint="merge queries of one entity and one index, all of them newest first or none",
            )
        if any(part.limited is not None for part in parts):
            raise DeclarationError(
                f"a limit of a part of {parts[0]!r} says nothing of the whole", hint="Merged([...]).limit(20)"
            )
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Merged of {len(self.parts)}: {self.parts[0]!r}"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(parts=tuple(part.newest_first() for part in self.parts))

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. This is the default."""
        return self.with_(parts=tuple(part.oldest_first() for part in self.parts))

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Leave out items that do not meet conditions. They are still read, and paid for."""
        more = conditions_on(self.parts[0].entity, conditions, equal)
        parts = [part.with_(conditions=(*part.conditions, *more)) for part in self.parts]
        return self.with_(parts=tuple(parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()


class MergedRun(Run[Merged[E]]):
    """Carries out a merged plan."""

    def request(self, limit: int | None) -> list[Params]:
        session, each = self.session, _share(limit, len(self.plan.parts))
        return [request for part in self._parts() for request in query_requests(session, part, each)]

    def identity(self) -> Identity:
        plan = self.plan
        return ["merged", [query_identity(self.session, part) for part in plan.parts], plan.limited]

    def reading(self, positions: Positions | None, at_once: int | None) -> MergedReading[E]:
        return MergedReading(self.session, self._parts(), positions, at_once)

    def _parts(self) -> list[Query[E]]:
        return [inherited(self.plan, part) for part in self.plan.parts]


def _share(at_once: int | None, parts: int) -> int | None:
    """Return the limit of each part's request, if this many items are wanted of all parts together.

    Each part has about the same share of the next items. A part that has more is read again.
    """
    if at_once is None or parts == 1:
        return at_once
    return min(at_once, 2 * at_once // parts + 1)


class MergedReading(Generic[E]):
    """Reads queries in the order of their sort keys; items of equal keys come in the order of the queries."""

    def __init__(
        self, session: Session, queries: Sequence[Query[E]], positions: Positions | None, at_once: int | None
    ) -> None:
        self._session = session
        standing = positions if positions is not None else [START] * len(queries)
        self._parts = [
            part_of(session, query, position, _share(at_once, len(queries)))
            for query, position in zip(queries, standing, strict=True)
        ]
        self._heads: list[_Head[E]] = []
        self._hungry = [(number, part) for number, part in enumerate(self._parts) if not part.is_read]

    @property
    def positions(self) -> Positions | None:
        standing = [part.position for part in self._parts]
        return None if all(position is None for position in standing) else standing

    def take(self, count: int | None, usage: Usage) -> Steps[list[E]]:
        """Read the next entities, this many or all."""
        entities: list[E] = []
        while count is None or len(entities) < count:
            if self._hungry:
                yield from self._feed(usage)
            if not self._heads:
                break
            head = heappop(self._heads)
            part = head.part
            entities.append(part.pop())
            # If the other parts are at their end, there is nothing to compare with.
            while not self._heads and part.buffer and (count is None or len(entities) < count):
                entities.append(part.pop())
            if part.buffer:
                heappush(self._heads, _Head(head.number, part))
            elif not part.is_read:
                self._hungry.append((head.number, part))
        return entities

    def _feed(self, usage: Usage) -> Steps[None]:
        """Read on in all parts that have no item waiting, at once."""
        if len(self._hungry) > 1 and all(part.query.cache_s is None for _, part in self._hungry):
            answers = yield Together(tuple(part.call() for _, part in self._hungry))
            # The parts are of one kind, so their whole items are fetched in as few requests as possible.
            whole = yield from fetched(self._session, self._hungry[0][1].query, answers, usage)
            for (_, part), answer in zip(self._hungry, answers, strict=True):
                part.take(answer, usage, whole)
        for number, part in self._hungry:
            yield from part.fill(usage)
            if part.buffer:
                heappush(self._heads, _Head(number, part))
        self._hungry = []


class _Head(Generic[E]):
    """The next item of a part, among those of the others."""

    __slots__ = ("forward", "number", "order", "part")

    def __init__(self, number: int, part: QueryPart[E] | DualQueryPart[E]) -> None:
        self.number = number
        self.part = part
        self.order = part.order()
        self.forward = part.query.forward

    def __lt__(self, other: _Head[E]) -> bool:
        if self.order == other.order:
            return self.number < other.number
        return (self.order < other.order) is self.forward


def merged_reads(calls: PatternCalls[Merged[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a merged plan."""
    return query_reads_of(calls, [plan.parts for plan in calls.plans], name)
