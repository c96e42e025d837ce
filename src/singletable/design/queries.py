"""Plans that read many items in an order: of one partition, of several at once, or of one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, Generic, Self, TypeVar

from pydantic import BaseModel

from singletable.client.calls import Steps
from singletable.design.arguments import require_callable, require_count, require_field, require_members
from singletable.design.conditions import Condition, Eq, fields_of, require_condition
from singletable.design.keys import Key
from singletable.design.pages import Page, Usage
from singletable.design.plans import Plan
from singletable.design.ranges import SortRange
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


class Query(Many[E]):
    """Reads the items of one partition, in the order of the sort key.

    `place` is the name under which the entity has bound its keys; `index` that of the index, None for the table.
    """

    def __init__(self, entity: type[E], place: str, index: str | None, pk: Key, bounds: SortRange) -> None:
        self.entity = entity
        self.place = place
        self.index = index
        self.pk = pk
        self.bounds = bounds
        self.forward = True
        self.conditions: tuple[Condition, ...] = ()

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.place}.query({self.pk!r})"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(forward=False)

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. That is the way it is read if nothing is said."""
        return self.with_(forward=True)

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        for condition in conditions:
            require_condition(condition)
        more = (*conditions, *(Eq(name, value) for name, value in equal.items()))
        for condition in more:
            for name in fields_of(condition):
                require_field(self.entity, name)
        return self.with_(conditions=(*self.conditions, *more))

    def refuse_consistent_index(self) -> None:
        if self.index is not None:
            raise ConsistencyError(
                f"{self.entity.__name__}.{self.place} is in index {self.index}, which is eventually consistent",
                hint="read the table by its key where the last write must be seen",
            )


class Merged(Many[E]):
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
                f"a limit of a part of {parts[0]!r} says nothing of the whole",
                hint="Merged([...]).limit(20)",
            )
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Merged of {len(self.parts)}: {self.parts[0]!r}"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(parts=tuple(part.newest_first() for part in self.parts))

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. That is the way it is read if nothing is said."""
        return self.with_(parts=tuple(part.oldest_first() for part in self.parts))

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        return self.with_(parts=tuple(part.where(*conditions, **equal) for part in self.parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()


class Walk(Many[E]):
    """Reads plans one after the other, the next when one is at its end: the months of a feed."""

    def __init__(self, parts: Sequence[Query[E] | Merged[E]]) -> None:
        require_members(parts, Query | Merged, "walked through are queries")
        if not parts:
            raise DeclarationError("there is nothing to walk through")
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Walk of {len(self.parts)}: {self.parts[0]!r}"

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        return self.with_(parts=tuple(part.where(*conditions, **equal) for part in self.parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()


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
