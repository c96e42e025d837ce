"""How plans of many items are read in their order: queries merged, parts one after the other, so many at most.

A reading keeps what it has read and not given out, so going on with it reads nothing twice. Its positions are what
a cursor holds: from them another process goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from singletable.client.calls import Steps, Together
from singletable.design.both_keys import BothKeysReader, part_reader
from singletable.design.pages import Usage
from singletable.design.part_reading import START, PartReader, Position, fetched
from singletable.design.plans import Reading
from singletable.design.queries import Query
from singletable.design.session import Session
from singletable.errors import CursorMismatchError


def share(at_once: int | None, parts: int) -> int | None:
    """Return how many items each of several parts is asked for, when so many of all of them are wanted.

    Parts that are merged have about the same number of the next items. A part that has more is asked again.
    """
    if at_once is None or parts == 1:
        return at_once
    return min(at_once, 2 * at_once // parts + 1)


class Merging:
    """Reads queries in the order of their sort keys; items of equal keys come in the order of the queries."""

    def __init__(
        self,
        session: Session,
        queries: Sequence[Query[Any]],
        positions: Sequence[Position] | None,
        at_once: int | None,
    ) -> None:
        self._session = session
        standing = positions if positions is not None else [START] * len(queries)
        self._parts = [
            part_reader(session, query, position, share(at_once, len(queries)))
            for query, position in zip(queries, standing, strict=True)
        ]
        self._heads: list[_Head] = []
        self._hungry = [(number, part) for number, part in enumerate(self._parts) if not part.is_read]

    @property
    def positions(self) -> Any:
        standing = [part.position for part in self._parts]
        return None if all(position is None for position in standing) else standing

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many entities more, or all."""
        entities: list[Any] = []
        while count is None or len(entities) < count:
            if self._hungry:
                yield from self._feed(usage)
            if not self._heads:
                break
            head = heappop(self._heads)
            part = head.part
            entities.append(part.pop())
            # While nobody else has anything left, there is nothing to compare with.
            while not self._heads and part.buffer and (count is None or len(entities) < count):
                entities.append(part.pop())
            if part.buffer:
                heappush(self._heads, _Head(head.number, part))
            elif not part.is_read:
                self._hungry.append((head.number, part))
        return entities

    def _feed(self, usage: Usage) -> Steps[None]:
        """Read on in the parts that have nothing left, all at once."""
        if len(self._hungry) > 1 and all(part.query.cache_s is None for _, part in self._hungry):
            answers = yield Together(tuple(part.call() for _, part in self._hungry))
            # The parts are of one kind, so what they name is fetched in as few requests as possible.
            whole = yield from fetched(self._session, self._hungry[0][1].query, answers, usage)
            for (_, part), answer in zip(self._hungry, answers, strict=True):
                part.take(answer, usage, whole)
        for number, part in self._hungry:
            yield from part.fill(usage)
            if part.buffer:
                heappush(self._heads, _Head(number, part))
        self._hungry = []


class _Head:
    """The next item of a part, among those of the others."""

    __slots__ = ("forward", "number", "order", "part")

    def __init__(self, number: int, part: PartReader | BothKeysReader) -> None:
        self.number = number
        self.part = part
        self.order = part.order()
        self.forward = part.query.forward

    def __lt__(self, other: _Head) -> bool:
        if self.order == other.order:
            return self.number < other.number
        return (self.order < other.order) is self.forward


class Walking:
    """Reads parts one after the other. A part is named by what it reads, not by its place.

    As time goes on, the same bucket stands at another place of the list.
    """

    def __init__(
        self,
        names: Sequence[str],
        begin: Callable[[int, Any, int | None], Reading],
        positions: Any,
        at_once: int | None,
    ) -> None:
        self._names = names
        self._begin = begin
        self._at_once = at_once
        name, inner = positions if positions is not None else (names[0], None)
        self._inner: Any = inner
        if name not in names:
            raise CursorMismatchError(
                "the cursor is in a part that this walk does not have",
                hint="ask with the arguments and filters of the page that gave it; or begin without a cursor",
            )
        self._at = names.index(name)
        self._reading: Reading | None = None

    @property
    def positions(self) -> Any:
        if self._at == len(self._names):
            return None
        inner = self._inner if self._reading is None else self._reading.positions
        return [self._names[self._at], inner]

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many entities more, or all."""
        entities: list[Any] = []
        while self._at < len(self._names) and (count is None or len(entities) < count):
            wanted = None if count is None else count - len(entities)
            if self._reading is None:
                self._reading = self._begin(self._at, self._inner, self._at_once)
            entities += yield from self._reading.take(wanted, usage)
            if self._reading.positions is None:
                self._at, self._inner, self._reading = self._at + 1, None, None
        return entities


class Limited:
    """Reads so many entities of another reading at most."""

    def __init__(self, reading: Reading, limit: int, given: int) -> None:
        self._reading = reading
        self._limit = limit
        self._given = given

    @property
    def positions(self) -> Any:
        inner = self._reading.positions
        return None if inner is None or self._given >= self._limit else [inner, self._given]

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many entities more, or all that the limit leaves."""
        entities = yield from self._reading.take(_least(count, self._limit - self._given), usage)
        self._given += len(entities)
        return entities


def _least(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)
