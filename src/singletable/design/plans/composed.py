"""Pages that a function of the design makes, of several plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Self

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Steps, Work
from singletable.design.plans.plan import (
    PAGE_LIMIT,
    E,
    Identity,
    Many,
    Page,
    Plan,
    Positions,
    Requests,
    Run,
    Usage,
)
from singletable.design.plans.shape import PatternCalls, ReadsOf
from singletable.design.values.arguments import require_callable, require_kind, require_members
from singletable.errors import ConsistencyError, DeclarationError, InvalidItemError


class Composed(Many[E]):
    """Reads pages that a function of the design makes, of several plans: for what no single plan can answer.

    The function takes the number of items that are wanted and the cursor of its own previous page. It returns a
    page with at most that many items, and with the next cursor. `reads` are the plans that it carries out, for the
    blueprint; cursors and `request()` belong to the first of them. The function itself decides how fresh its reads
    are, and how it handles invalid items.
    """

    def __init__(
        self, entity: type[E], function: Callable[[int, str | None], Page[E]], *, reads: Sequence[Plan]
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


class ComposedRun(Run[Composed[E]]):
    """Carries out a composed plan. Its request and its identity are those of the first plan that it reads."""

    def request(self, limit: int | None) -> Requests:
        return self.runner.request(self.plan.reads[0], limit)

    def identity(self) -> Identity:
        plan = self.plan
        return ["composed", self.runner.identity(plan.reads[0]), plan.entity.__name__, plan.limited]

    def reading(self, positions: Positions | None, at_once: int | None) -> ComposedReading[E]:
        return ComposedReading(self.plan, positions)


class ComposedReading(Generic[E]):
    """Reads the pages of a function one after the other."""

    def __init__(self, plan: Composed[E], positions: Positions | None) -> None:
        self._plan = plan
        self._positions: Positions | None = positions if positions is not None else [None]

    @property
    def positions(self) -> Positions | None:
        """Where the next page begins, in a list; None behind the last one."""
        return self._positions

    def take(self, count: int | None, usage: Usage) -> Steps[list[E]]:
        """Read the next entities, this many or all."""
        entities: list[E] = []
        while self._positions is not None and (count is None or len(entities) < count):
            wanted = PAGE_LIMIT if count is None else count - len(entities)
            page: Page[E] = yield Work(partial(self._plan.function, wanted, self._positions[0]))
            self._check(page, wanted)
            usage.add(page.usage)
            entities += page.items
            self._positions = None if page.cursor is None else [page.cursor]
        return entities

    def _check(self, page: Page[E], wanted: int) -> None:
        """Refuse a page that is too large, and a cursor that would repeat the same page for ever."""
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


def composed_reads(
    calls: PatternCalls[Composed[E]], name: str | None, reads_of: ReadsOf
) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a composed plan: those of the plans that it reads."""
    plans = calls.plans
    steps = (calls.of([each.reads[number] for each in plans]) for number in range(len(plans[0].reads)))
    return tuple(read for step in steps for read in reads_of(step, name))
