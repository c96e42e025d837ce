"""What plans share that read many items in an order: pages, single items, and going through everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Generic, Self, TypeVar

from pydantic import BaseModel

from singletable.client.calls import Steps, Work
from singletable.design.arguments import require_callable, require_count, require_kind, require_members
from singletable.design.pages import Page, Usage
from singletable.design.plans import Plan
from singletable.errors import (
    ConsistencyError,
    DeclarationError,
    InvalidItemError,
    NotFoundError,
    SeveralFoundError,
)

E = TypeVar("E", bound=BaseModel)

PAGE_LIMIT: Final = 50
_ROWS_AT_ONCE: Final = 250


class Many(Plan, Generic[E]):
    """What plans share that read many items in an order."""

    limited: int | None = None

    def limit(self, count: int) -> Self:
        """Read so many items at most, however they are asked for."""
        require_count(count, "a limit")
        return self.with_(limited=count)

    def setting_aside(self, report: Callable[[InvalidItemError], object]) -> Self:
        """Leave out stored items that are no valid entities, and report the error of each, instead of raising it.

        They count as thrown away. What is read again is reported again.
        """
        if report is None:
            raise TypeError("who is told of invalid items is a function, not None")
        require_callable(report, "who is told of invalid items")
        return self.with_(report=report)

    def request(self, limit: int | None = None) -> Any:
        """Return the exact requests that a page of so many items begins with."""
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

    def _required(self, entity: E | None) -> E:
        if entity is None:
            raise NotFoundError(f"{self!r} finds nothing")
        return entity


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


# --- what a function reads --------------------------------------------------------------------------------


class Composed(Many[E]):
    """Reads pages that a function of the design makes, of several plans: for what no single plan can answer.

    The function is called with how many items are wanted and with the cursor of its own page before, and returns
    a page: of so many items at most, and with a cursor that leads on. `reads` are the plans that it carries out,
    as the blueprint tells of them; cursors and `request()` are about the first. How fresh each of them is, and
    what becomes of invalid items, the function says itself.
    """

    def __init__(
        self,
        entity: type[E],
        function: Callable[[int, str | None], Page[E]],
        *,
        reads: Sequence[Plan],
    ) -> None:
        require_callable(function, "what makes pages")
        require_members(reads, Plan, "what a function reads are plans")
        require_kind(
            next(iter(reads), None), Many, "the first plan that a function reads is one of many items"
        )
        self.entity = entity
        self.function = function
        self.reads = tuple(reads)

    def __repr__(self) -> str:
        return f"{self.entity.__name__} composed of {self.reads[0]!r}"

    def setting_aside(self, report: Callable[[InvalidItemError], object]) -> Self:
        raise DeclarationError(
            f"{self!r} sets invalid items aside itself, or none", hint="say it of the plans that it reads"
        )

    def refuse_consistent_index(self) -> None:
        raise ConsistencyError(
            f"{self!r} says itself how fresh what it reads is", hint="say it of the plans that it reads"
        )


class ComposedReading:
    """Reads the pages of a function one after the other."""

    def __init__(self, plan: Composed[Any], positions: Any) -> None:
        self._plan = plan
        self._positions: Any = positions if positions is not None else [None]

    @property
    def positions(self) -> Any:
        """Where the next page begins, in a list; None behind the last one."""
        return self._positions

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many entities more, or all."""
        entities: list[Any] = []
        while self._positions is not None and (count is None or len(entities) < count):
            wanted = PAGE_LIMIT if count is None else count - len(entities)
            page: Page[Any] = yield Work(partial(self._plan.function, wanted, self._positions[0]))
            self._check(page, wanted)
            usage.add(page.usage)
            entities += page.items
            self._positions = None if page.cursor is None else [page.cursor]
        return entities

    def _check(self, page: Page[Any], wanted: int) -> None:
        """Refuse a page that is too large, and one after which the same would be read for ever."""
        if len(page.items) > wanted:
            raise DeclarationError(
                f"{self._plan!r}: asked for {wanted} items at most, its function returns {len(page.items)}",
                hint="cut the page, and return the cursor of its last item",
            )
        if page.cursor is not None and self._positions == [page.cursor]:
            raise DeclarationError(
                f"{self._plan!r}: its function returns the cursor that it was called with, so it would never end",
                hint="return the cursor of the page's last item, and None when there is nothing behind it",
            )
