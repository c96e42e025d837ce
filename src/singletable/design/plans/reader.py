"""Carries out plans on an open design, as steps that yield calls and get the answers.

Only this file lists all kinds of plans. The file of each kind says how it is carried out.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar, assert_never

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Steps
from singletable.design.plans.batch_get import BatchGet, BatchGetRun, batch_get_reads
from singletable.design.plans.collect import Collect, CollectRun, collect_reads
from singletable.design.plans.composed import Composed, ComposedRun, composed_reads
from singletable.design.plans.cursors import identity, read_cursor, write_cursor
from singletable.design.plans.followed import Followed, FollowedRun, followed_reads
from singletable.design.plans.get import Get, GetRun, get_reads
from singletable.design.plans.lookup import Lookup, LookupRun, lookup_reads
from singletable.design.plans.merged import Merged, MergedRun, merged_reads
from singletable.design.plans.plan import (
    AtOnceRun,
    E,
    Found,
    Identity,
    InOrderRun,
    Many,
    Page,
    Plan,
    Positions,
    Reading,
    Usage,
)
from singletable.design.plans.query import Query, QueryRun, query_reads
from singletable.design.plans.shape import PatternCalls
from singletable.design.plans.walk import Walk, WalkRun, walk_reads
from singletable.design.session.session import Session
from singletable.design.values.arguments import require_count
from singletable.errors import DeclarationError

T = TypeVar("T")

# All kinds of plans: those with one result, and those that read in an order. A type checker finds the matches
# below that lack one.
AT_ONCE: Final = (Get, Lookup, BatchGet, Collect)
IN_ORDER: Final = (Query, Merged, Walk, Followed, Composed)


class Reader:
    """Runs plans on a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run
        self.arun = session.arun

    def request(self, plan: Plan, limit: int | None = None) -> Any:
        """Return the exact request of a plan; of one that makes several, all that it begins with.

        While keys change (`was=`), it makes several: those under the old keys are among them, in their order.
        """
        if isinstance(plan, Many):
            return self._in_order(plan).request(_least(limit, plan.limited))
        return self._at_once(plan).request()

    def found(self, plan: Plan) -> Steps[Found[Any]]:
        """Read the result of a plan that has one."""
        return self._at_once(plan).found()

    def page(self, plan: Many[E], limit: int, cursor: str | None) -> Steps[Page[E]]:
        """Read a page that starts at a cursor."""
        require_count(limit, "a limit")
        session, usage = self.session, Usage()
        run = self._in_order(plan)
        query = identity([session.catalog.name, run.identity()])
        positions = None if cursor is None else read_cursor(session.cursor_key, query, cursor)
        reading = _limited(run, plan.limited, positions, limit)
        entities = yield from reading.take(limit, usage)
        left = reading.positions
        following = None if left is None else write_cursor(session.cursor_key, query, left)
        return Page(entities, following, usage)

    def identity(self, plan: Plan) -> Identity:
        """Return the identity of a plan that reads in an order, for its cursors."""
        return self._in_order(plan).identity()

    def reading(
        self, plan: Plan, positions: Positions | None = None, *, at_once: int | None = None
    ) -> Reading[Any]:
        """Begin to read a plan, from positions or from the beginning, with this many items in a request."""
        if isinstance(plan, Collect):
            return CollectRun(self, plan).reading(at_once)
        limit = plan.limited if isinstance(plan, Many) else None
        return _limited(self._in_order(plan), limit, positions, at_once)

    def _at_once(self, plan: Plan) -> AtOnceRun[Any]:
        if not isinstance(plan, AT_ONCE):
            raise TypeError(f"{plan!r} is no plan")
        match plan:
            case Get():
                return GetRun(self, plan)
            case Lookup():
                return LookupRun(self, plan)
            case BatchGet():
                return BatchGetRun(self, plan)
            case Collect():
                return CollectRun(self, plan)
            case _:
                assert_never(plan)

    def _in_order(self, plan: Plan) -> InOrderRun[Any]:
        if not isinstance(plan, IN_ORDER):
            raise TypeError(f"{plan!r} is no plan")
        match plan:
            case Query():
                return QueryRun(self, plan)
            case Merged():
                return MergedRun(self, plan)
            case Walk():
                return WalkRun(self, plan)
            case Followed():
                return FollowedRun(self, plan)
            case Composed():
                return ComposedRun(self, plan)
            case _:
                assert_never(plan)


def reads_of(calls: PatternCalls[Any], name: str | None = None) -> tuple[ReadBlueprint, ...]:
    """Return the kinds of requests that a pattern sends, for the blueprint."""
    plan = calls.plans[0]
    if not isinstance(plan, AT_ONCE + IN_ORDER):
        raise DeclarationError(f"{type(plan).__name__} is no plan that reads")
    match plan:
        case Get():
            return get_reads(calls.of_kind(Get), name)
        case Lookup():
            return lookup_reads(calls.of_kind(Lookup), name)
        case BatchGet():
            return batch_get_reads(calls.of_kind(BatchGet), name)
        case Collect():
            return collect_reads(calls.of_kind(Collect), name, reads_of)
        case Query():
            return query_reads(calls.of_kind(Query), name)
        case Merged():
            return merged_reads(calls.of_kind(Merged), name)
        case Walk():
            return walk_reads(calls.of_kind(Walk), name)
        case Followed():
            return followed_reads(calls.of_kind(Followed), name, reads_of)
        case Composed():
            return composed_reads(calls.of_kind(Composed), name, reads_of)
        case _:
            assert_never(plan)


def _limited(
    run: InOrderRun[T], limit: int | None, positions: Positions | None, at_once: int | None
) -> Reading[T]:
    if limit is None:
        return run.reading(positions, at_once)
    inner, given = positions if positions is not None else (None, 0)
    return LimitedReading(run.reading(inner, _least(at_once, limit - given)), limit, given)


class LimitedReading(Generic[T]):
    """Reads at most this many entities of another reading."""

    def __init__(self, reading: Reading[T], limit: int, given: int) -> None:
        self._reading = reading
        self._limit = limit
        self._given = given

    @property
    def positions(self) -> Positions | None:
        inner = self._reading.positions
        return None if inner is None or self._given >= self._limit else [inner, self._given]

    def take(self, count: int | None, usage: Usage) -> Steps[list[T]]:
        """Read the next entities, this many or all up to the limit."""
        entities = yield from self._reading.take(_least(count, self._limit - self._given), usage)
        self._given += len(entities)
        return entities


def _least(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)
