"""Plans: what a pattern returns. A plan is lazy and never changes; it runs when it is asked for its results.

    db.batches(user_id).newest_first().page(limit=20)

A plan is data. Its runner carries it out (`singletable.design.plans.reader`).
Every method that runs has a twin for asyncio with an `a` before its name. Over boto3, async means threads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar

from pydantic import BaseModel

from singletable.client.calls import Params, Steps
from singletable.design.session.session import Session
from singletable.design.session.stored_items import Report
from singletable.design.values.arguments import require_callable, require_count, require_seconds
from singletable.errors import DeclarationError, InvalidItemError, NotFoundError, SeveralFoundError

E = TypeVar("E", bound=BaseModel)
P = TypeVar("P", bound="Plan")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E_co = TypeVar("E_co", bound=BaseModel, covariant=True)

PAGE_LIMIT: Final = 50
_ROWS_AT_ONCE: Final = 250

Requests: TypeAlias = Params | list[Params]  # also requests by the fields that they are for
Identity: TypeAlias = list[Any]  # identifies a plan for its cursors, as JSON
Positions: TypeAlias = list[Any]  # the positions of a reading, as JSON; each kind has its own form


@dataclass(slots=True)
class Usage:
    """The cost of a read: units, the items that were read, and those of them that were thrown away.

    Thrown away are items that a filter drops, other entities of the partition, items whose time is over, and
    invalid ones that are set aside.
    Merged and followed queries also read a few items ahead, which are neither thrown away nor on the page.
    """

    units: float = 0.0
    read: int = 0
    thrown_away: int = 0

    def add(self, other: Usage) -> None:
        self.units += other.units
        self.read += other.read
        self.thrown_away += other.thrown_away


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of results. The cursor is the start of the next page; None at the end.

    The last page may be followed by an empty one: DynamoDB tells that there is no more only when it is asked.
    """

    items: list[T]
    cursor: str | None = None
    usage: Usage = field(default_factory=Usage)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, number: int) -> T:
        return self.items[number]

    @property
    def units(self) -> float:
        return self.usage.units


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One result with its cost."""

    item: T
    usage: Usage

    @property
    def units(self) -> float:
        return self.usage.units


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """An entity as it is stored now, and the units that its write took."""

    entity: T
    units: float


class Reading(Protocol[T]):
    """Reads the results of a plan in their order, some entities at a time."""

    @property
    def positions(self) -> Positions | None:
        """The position of the reading; None at the end."""
        ...

    def take(self, count: int | None, usage: Usage) -> Steps[list[T]]:
        """Read the next entities, this many or all; fewer only at the end."""
        ...


class PlanRunner(Protocol):
    """Carries out plans where a design is open; kinds of plans read the plans inside them by it."""

    @property
    def session(self) -> Session: ...
    def run(self, steps: Steps[T]) -> T: ...
    async def arun(self, steps: Steps[T]) -> T: ...
    def request(self, plan: Plan, limit: int | None = None) -> Requests: ...
    def found(self, plan: Plan) -> Steps[Found[Any]]: ...
    def page(self, plan: Many[E], limit: int, cursor: str | None) -> Steps[Page[E]]: ...
    def identity(self, plan: Plan) -> Identity: ...
    def reading(
        self, plan: Plan, positions: Positions | None = None, *, at_once: int | None = None
    ) -> Reading[Any]: ...


class Run(Generic[P]):
    """A plan that is carried out. Each kind of plan has a subclass, which is one of the two protocols below."""

    __slots__ = ("plan", "runner", "session")

    def __init__(self, runner: PlanRunner, plan: P) -> None:
        self.runner = runner
        self.session = runner.session
        self.plan = plan


class AtOnceRun(Protocol[T]):
    """Carries out a plan that has its result at once."""

    def request(self) -> Requests: ...
    def found(self) -> Steps[Found[T]]: ...


class InOrderRun(Protocol[T]):
    """Carries out a plan that reads many items in an order. The plan's limit is applied outside of it."""

    def request(self, limit: int | None) -> Requests: ...
    def identity(self) -> Identity: ...
    def reading(self, positions: Positions | None, at_once: int | None) -> Reading[T]: ...


class Plan:
    """The base of all plans: their runner, how fresh their reads must be, and the report of invalid items."""

    runner: PlanRunner | None = None
    is_consistent: bool = False
    cache_s: float | None = None
    report: Report | None = None

    def on(self, runner: PlanRunner) -> Self:
        """Return the same plan, bound to a runner."""
        return self.with_(runner=runner)

    def cached(self, *, seconds: float) -> Self:
        """Allow cached answers up to this many seconds old. Writes through the open design clear stale ones."""
        require_seconds(seconds, "the age of an answer")
        return self.with_(cache_s=seconds)

    def consistent(self) -> Self:
        """Read strongly consistent, at twice the units. Global indexes cannot."""
        self.refuse_consistent_index()
        return self.with_(is_consistent=True)

    def refuse_consistent_index(self) -> None:
        """Refuse, where the plan reads an index, which is eventually consistent."""

    def with_(self, **changes: Any) -> Self:
        """Return the plan with other values."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    @property
    def running(self) -> PlanRunner:
        """Return the runner of the plan."""
        if self.runner is None:
            raise DeclarationError(
                "this plan is not of an open design",
                hint="call the pattern on what open() returns, or db.plan(...) for a plan made by hand",
            )
        return self.runner

    def _required(self, found: T | None) -> T:
        if found is None:
            raise NotFoundError(f"{self!r} finds nothing")
        return found


class Single(Plan, Generic[T_co]):
    """The base of plans that find one item, or none."""

    def request(self) -> Any:
        """Return the exact request."""
        return self.running.request(self)

    def found(self) -> Found[T_co | None]:
        """Read it, if it is there, with what that cost."""
        runner = self.running
        return runner.run(runner.found(self))

    def maybe(self) -> T_co | None:
        """Read it; None if it is not there."""
        return self.found().item

    def one(self) -> T_co:
        """Read it; raise NotFoundError if it is not there."""
        return self._required(self.found().item)

    async def afound(self) -> Found[T_co | None]:
        """Read it, if it is there, with what that cost."""
        runner = self.running
        return await runner.arun(runner.found(self))

    async def amaybe(self) -> T_co | None:
        """Read it; None if it is not there."""
        return (await self.afound()).item

    async def aone(self) -> T_co:
        """Read it; raise NotFoundError if it is not there."""
        return self._required((await self.afound()).item)


class Many(Plan, Generic[E]):
    """The base of plans that read many items in an order."""

    limited: int | None = None

    def limit(self, count: int) -> Self:
        """Read at most this many items, in pages or all at once."""
        require_count(count, "a limit")
        return self.with_(limited=count)

    def setting_aside(self, report: Callable[[InvalidItemError], object]) -> Self:
        """Leave out stored items that are no valid entities, and report the error of each, instead of raising it.

        They count as thrown away. An item that is read again is reported again.
        """
        if report is None:
            raise TypeError("who is told of invalid items is a function, not None")
        require_callable(report, "who is told of invalid items")
        return self.with_(report=report)

    def request(self, limit: int | None = None) -> Any:
        """Return the exact first requests of a page of this many items."""
        if limit is not None:
            require_count(limit, "a limit")
        return self.running.request(self, limit)

    def page(self, limit: int = PAGE_LIMIT, cursor: str | None = None) -> Page[E]:
        """Read a page, from the beginning or from where a cursor says."""
        runner = self.running
        return runner.run(runner.page(self, limit, cursor))

    async def apage(self, limit: int = PAGE_LIMIT, cursor: str | None = None) -> Page[E]:
        """Read a page, from the beginning or from where a cursor says."""
        runner = self.running
        return await runner.arun(runner.page(self, limit, cursor))

    def all(self) -> Rows[E]:
        """Read everything, as it is iterated over."""
        return Rows(self)

    def aall(self) -> AsyncRows[E]:
        """Read everything, as it is iterated over with `async for`."""
        return AsyncRows(self)

    def first(self) -> E | None:
        """Read the first item; None if there is none."""
        return next(iter(self.running.run(self._some(1))), None)

    async def afirst(self) -> E | None:
        """Read the first item; None if there is none."""
        return next(iter(await self.running.arun(self._some(1))), None)

    def maybe(self) -> E | None:
        """Read the only item; None if there is none, an error if there are several."""
        return self._single(self.running.run(self._some(2)))

    async def amaybe(self) -> E | None:
        """Read the only item; None if there is none, an error if there are several."""
        return self._single(await self.running.arun(self._some(2)))

    def one(self) -> E:
        """Read the only item; raise NotFoundError if there is none."""
        return self._required(self.maybe())

    async def aone(self) -> E:
        """Read the only item; raise NotFoundError if there is none."""
        return self._required(await self.amaybe())

    def _some(self, count: int) -> Steps[list[E]]:
        return self.running.reading(self, at_once=count).take(count, Usage())

    def _single(self, entities: list[E]) -> E | None:
        if len(entities) > 1:
            raise SeveralFoundError(f"{self!r} finds several items", hint="first(), page() or all()")
        return entities[0] if entities else None


# --- going through everything -----------------------------------------------------------------------------


class Rows(Generic[E]):
    """Goes through everything that a plan reads. `usage` is what that has cost so far."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.usage = Usage()

    def __iter__(self) -> Iterator[E]:
        runner = self._plan.running
        reading = runner.reading(self._plan, at_once=_ROWS_AT_ONCE)
        while reading.positions is not None:
            yield from runner.run(reading.take(_ROWS_AT_ONCE, self.usage))


class AsyncRows(Generic[E]):
    """Goes through everything that a plan reads, with `async for`. `usage` is what that has cost so far."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.usage = Usage()

    async def __aiter__(self) -> AsyncIterator[E]:
        runner = self._plan.running
        reading = runner.reading(self._plan, at_once=_ROWS_AT_ONCE)
        while reading.positions is not None:
            for entity in await runner.arun(reading.take(_ROWS_AT_ONCE, self.usage)):
                yield entity


def inherited(plan: Plan, part: P) -> P:
    """Return a part of a plan, with the freshness and the report of invalid items that the whole plan has."""
    if plan.cache_s is None and not plan.is_consistent and plan.report is None:
        return part
    return part.with_(
        cache_s=part.cache_s if part.cache_s is not None else plan.cache_s,
        is_consistent=part.is_consistent or plan.is_consistent,
        report=part.report if part.report is not None else plan.report,
    )


def one_or_all(requests: list[Params]) -> Requests:
    """Return the request itself, if a plan makes one; all of them, if it makes several."""
    return requests[0] if len(requests) == 1 else requests
