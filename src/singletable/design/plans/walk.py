"""Plans one after the other, the next when one is at its end: the months of a feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, Self

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Steps
from singletable.design.plans.cursors import identity
from singletable.design.plans.followed import Followable
from singletable.design.plans.merged import Merged
from singletable.design.plans.plan import E, Identity, PlanRunner, Positions, Reading, Run, Usage, inherited
from singletable.design.plans.query import Query, query_identity, query_reads_of
from singletable.design.plans.shape import PatternCalls
from singletable.design.values.arguments import require_members
from singletable.design.values.conditions import Condition
from singletable.errors import CursorMismatchError, DeclarationError


class Walk(Followable[E]):
    """Reads plans one after the other, the next when one is at its end: the months of a feed."""

    def __init__(self, parts: Sequence[Query[E] | Merged[E]]) -> None:
        require_members(parts, Query | Merged, "walked through are queries")
        if not parts:
            raise DeclarationError("there is nothing to walk through")
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Walk of {len(self.parts)}: {self.parts[0]!r}"

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Leave out items that do not meet conditions. They are still read, and paid for."""
        return self.with_(parts=tuple(part.where(*conditions, **equal) for part in self.parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()


class WalkRun(Run[Walk[E]]):
    """Carries out a walk."""

    def request(self, limit: int | None) -> list[Any]:
        return [self.runner.request(part, limit) for part in self._parts()]

    def identity(self) -> Identity:
        # Without the list of parts, so a walk that begins a month later can continue with the same cursor.
        first = next(_queries(self.plan))
        return ["walk", query_identity(self.session, first)[0], self.plan.limited]

    def reading(self, positions: Positions | None, at_once: int | None) -> WalkReading[E]:
        return WalkReading(self.runner, self._parts(), positions, at_once)

    def _parts(self) -> list[Query[E] | Merged[E]]:
        return [inherited(self.plan, part) for part in self.plan.parts]


class WalkReading(Generic[E]):
    """Reads parts one after the other. A position names a part by its query, not by its place in the list.

    As time goes on, the place of a bucket in the list changes.
    """

    def __init__(
        self,
        runner: PlanRunner,
        parts: Sequence[Query[E] | Merged[E]],
        positions: Positions | None,
        at_once: int | None,
    ) -> None:
        self._runner = runner
        self._parts = parts
        self._names = names = [identity(runner.identity(part)).hex() for part in parts]
        self._at_once = at_once
        name, inner = positions if positions is not None else (names[0], None)
        self._inner: Positions | None = inner
        if name not in names:
            raise CursorMismatchError(
                "the cursor is in a part that this walk does not have",
                hint="ask with the arguments and filters of the page that gave it; or begin without a cursor",
            )
        self._at = names.index(name)
        self._reading: Reading[E] | None = None

    @property
    def positions(self) -> Positions | None:
        if self._at == len(self._names):
            return None
        inner = self._inner if self._reading is None else self._reading.positions
        return [self._names[self._at], inner]

    def take(self, count: int | None, usage: Usage) -> Steps[list[E]]:
        """Read the next entities, this many or all."""
        entities: list[E] = []
        while self._at < len(self._names) and (count is None or len(entities) < count):
            wanted = None if count is None else count - len(entities)
            if self._reading is None:
                part = self._parts[self._at]
                self._reading = self._runner.reading(part, self._inner, at_once=self._at_once)
            entities += yield from self._reading.take(wanted, usage)
            if self._reading.positions is None:
                self._at, self._inner, self._reading = self._at + 1, None, None
        return entities


def walk_reads(calls: PatternCalls[Walk[E]], name: str | None) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a walk."""
    return query_reads_of(calls, [[*_queries(plan)] for plan in calls.plans], name)


def _queries(plan: Walk[E]) -> Iterator[Query[E]]:
    for part in plan.parts:
        yield from part.parts if isinstance(part, Merged) else (part,)
