"""Plans: what a pattern returns. A plan is lazy and never changes; it runs when it is asked for its results.

    db.batches(user_id).newest_first().page(limit=20)

A plan is data. Who carries it out, and how, is the business of its runner (`singletable.design.reading`). Every
method that runs has a twin for asyncio with an `a` before its name. Over boto3, async means threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from pydantic import BaseModel

from singletable.client.calls import Steps
from singletable.design.arguments import require_members, require_seconds
from singletable.design.keys import Key, SortKey
from singletable.design.pages import Found, Page, Usage
from singletable.errors import DeclarationError, InvalidItemError, NotFoundError

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")

Report = Callable[[InvalidItemError], object]


class Reading(Protocol):
    """Reads what a plan finds in its order, some entities at a time."""

    @property
    def positions(self) -> Any:
        """Where the reading stands, as JSON can hold it; None at the end."""
        ...

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many entities more, or all; fewer only at the end."""
        ...


class Runner(Protocol):
    """Carries out plans where a design is open."""

    def run(self, steps: Steps[T]) -> T: ...
    async def arun(self, steps: Steps[T]) -> T: ...
    def request(self, plan: Any, limit: int | None = None) -> Any: ...
    def found(self, plan: Any) -> Steps[Found[Any]]: ...
    def reading(self, plan: Any, positions: Any = None, *, at_once: int | None = None) -> Reading: ...
    def page(self, plan: Any, limit: int, cursor: str | None) -> Steps[Page[Any]]: ...


class Plan:
    """What all plans share: where they run, how fresh what they read must be, and who is told of invalid items."""

    runner: Runner | None = None
    is_consistent: bool = False
    cache_s: float | None = None
    report: Report | None = None

    def on(self, runner: Runner) -> Self:
        """Return the plan, to be run there."""
        return self.with_(runner=runner)

    def cached(self, *, seconds: float) -> Self:
        """Allow answers that are so many seconds old. Writes through the open design forget what they change."""
        require_seconds(seconds, "the age of an answer")
        return self.with_(cache_s=seconds)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units. Global indexes cannot."""
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
    def running(self) -> Runner:
        """Return who carries the plan out."""
        if self.runner is None:
            raise DeclarationError(
                "this plan is not of an open design",
                hint="call the pattern on what open() returns, or db.plan(...) for a plan made by hand",
            )
        return self.runner


class Single(Plan, Generic[T]):
    """What plans share that find one thing, or nothing."""

    def request(self) -> Any:
        """Return the exact request."""
        return self.running.request(self)

    def found(self) -> Found[T | None]:
        """Read it, if it is there, with what that cost."""
        runner = self.running
        return runner.run(runner.found(self))

    def maybe(self) -> T | None:
        """Read it; None if it is not there."""
        return self.found().item

    def one(self) -> T:
        """Read it; raise NotFoundError if it is not there."""
        return self._required(self.found().item)

    async def afound(self) -> Found[T | None]:
        """Read it, if it is there, with what that cost."""
        runner = self.running
        return await runner.arun(runner.found(self))

    async def amaybe(self) -> T | None:
        """Read it; None if it is not there."""
        return (await self.afound()).item

    async def aone(self) -> T:
        """Read it; raise NotFoundError if it is not there."""
        return self._required((await self.afound()).item)

    def _required(self, found: T | None) -> T:
        if found is None:
            raise NotFoundError(f"{self!r} finds nothing")
        return found


class Get(Single[E]):
    """Reads one item by its whole key."""

    def __init__(self, entity: type[E], pk: Key, sk: SortKey | None) -> None:
        self.entity = entity
        self.pk = pk
        self.sk = sk

    def __repr__(self) -> str:
        sk = f", {self.sk!r}" if self.sk is not None else ""
        return f"{self.entity.__name__} of {self.pk!r}{sk}"


class Lookup(Single[E]):
    """Reads the item that has a unique value: the lock of the value first, then the item that the lock names.

    Both are read consistently. A lock whose item is gone, has expired or has another value by now finds nothing.
    `request()` returns the request for the lock, which alone knows the key of the other one.
    """

    is_consistent = True

    def __init__(self, entity: type[E], unique: str, key: Key) -> None:
        self.entity = entity
        self.unique = unique
        self.key = key

    def __repr__(self) -> str:
        return f"{self.entity.__name__} of {self.key!r}"


class BatchGet(Plan, Generic[E]):
    """Reads many items by their whole keys: a hundred in a request, and again what is left unprocessed."""

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
