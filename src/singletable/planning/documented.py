"""The figures that a document states, beside what its own terms, the plan and today's prices make of them.

Each figure is compared in as many ways as there are:

terms       its formula, with its terms as they are stated: sums with their parts, products with their factors
recomputed  the same, with terms that were wrong put right first
calls       the loads of the design that rest on its line
plan        what the planner computes: units and not requests, storage with indexes, and what these cost at the
            prices that the document states
today       the same at the prices of a table
nothing     there is nothing to compute it from
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from singletable.blueprint import Blueprint, FigureBlueprint
from singletable.planning.figure_plan import FigurePlan
from singletable.planning.figure_values import FigureValues, Prices, is_priced
from singletable.planning.formulas import FormulaError
from singletable.planning.stated_numbers import (
    agrees_with,
    difference_from,
    is_close,
    listed,
    number,
    said_at_first,
    shown_range,
    units_label,
)

By = Literal["terms", "recomputed", "calls", "plan", "today", "nothing"]


@dataclass(frozen=True, slots=True)
class FigureComparison:
    """A figure of a document beside what was computed, and the reason of the difference as a sentence.

    `ids` are those of the fixes that name the figure, where the two differ.
    """

    name: str
    said_at: str
    stated: float
    computed: float | None
    unit: str
    difference: float | None  # computed less stated; of a range, from the nearer end
    reason: str
    ids: tuple[str, ...] = ()
    by: By = "nothing"
    upto: float | None = None  # the end of the stated range
    agrees: bool | None = None  # as far as the digits go that are stated; None where nothing was computed


def compare_documented(
    documented: Blueprint, fixed: Blueprint | None = None, prices: Prices | None = None
) -> tuple[FigureComparison, ...]:
    """Compare every figure that a document states.

    `fixed` is the design as it was built from the document: its loads and fixes are used. Without it, those of the
    document are.
    """
    comparing = _Comparing(documented, fixed, prices)
    return tuple(row for figure in documented.figures for row in comparing.rows(figure))


# --- rows -----------------------------------------------------------------------------------------------


class _Comparing:
    def __init__(self, documented: Blueprint, fixed: Blueprint | None, prices: Prices | None) -> None:
        self._documented = documented
        self._fixes = (*(() if fixed is None else fixed.fixes), *documented.fixes)
        self._plan = FigurePlan(documented, fixed)
        self._values = FigureValues(documented, self._plan, prices)
        self._prices = prices

    def rows(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        found = [*self._by_terms(figure), *self._by_calls(figure), *self._by_plan(figure)]
        found += [*self._by_prices(figure), *self._said_elsewhere(figure)]
        if not found:
            found = [self._row(figure, "nothing", None, self._why_nothing(figure))]
        yield from found

    def _by_terms(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        if not figure.formula:
            return
        try:
            own, shown = self._values.worked_out(figure, "stated")
            right, shown_right = self._values.worked_out(figure, "recomputed")
        except FormulaError as error:
            yield self._row(figure, "terms", None, f"its formula cannot be worked out: {error}")
            return
        sentence = f"{shown} = {number(own)}"
        yield self._row(
            figure, "terms", own, sentence if agrees_with(figure, own) else _not(sentence, figure)
        )
        if not is_close(own, right):
            wrong = self._values.corrected(figure)
            sentence = f"with {wrong} put right, {shown_right} = {number(right)}"
            yield self._row(
                figure,
                "recomputed",
                right,
                sentence if agrees_with(figure, right) else _not(sentence, figure),
            )

    def _by_calls(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        found = self._plan.cited(figure)
        if found is None:
            return
        requests_agree = not agrees_with(figure, found.calls) and agrees_with(figure, found.requests)
        computed, what = (found.requests, "requests") if requests_agree else (found.calls, "calls")
        reason = f"the loads that rest on this line are {number(computed)} {what}: {found.named()}"
        if not agrees_with(figure, computed):
            reason += f" ({found.loads[0].because})"
        yield self._row(figure, "calls", computed, reason)

    def _by_plan(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        if not self._values.depends(figure, self._values.is_planned):
            return
        try:
            computed, reason = self._values.explained(figure, "plan")
        except FormulaError as error:
            yield self._row(figure, "plan", None, f"it is not in the plan: {error}")
            return
        size = self._plan.size(figure)
        agrees = None if size is None else figure.value in size
        yield self._row(figure, "plan", computed, reason, unit=units_label(figure), agrees=agrees)

    def _by_prices(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        if self._prices is None or not self._values.depends(figure, is_priced):
            return
        try:
            computed, reason = self._values.explained(figure, "today")
        except FormulaError as error:
            yield self._row(figure, "today", None, f"it has no price of today: {error}")
            return
        yield self._row(figure, "today", computed, reason)

    def _said_elsewhere(self, figure: FigureBlueprint) -> Iterator[FigureComparison]:
        """Compare the other values that a document states for the same."""
        for said in figure.said:
            if "value" not in said.differs:
                continue
            try:
                value, upto = _stated(said.differs.get("value")), _stated(said.differs.get("upto"))
                if value is None:
                    raise FormulaError("it is no number")
                other = replace(figure, value=value, upto=upto)
                computed = self._values.value(figure, "recomputed")
            except FormulaError as error:
                yield self._row(figure, "recomputed", None, f"{said.at} states something else: {error}")
                continue
            two = f"{said.at} states {shown_range(other)} and {said_at_first(figure)} {shown_range(figure)}"
            reason = f"{two} for the same; by its terms it is {number(computed)}"
            yield replace(self._row(other, "recomputed", computed, reason), said_at=said.at)

    def _row(
        self,
        figure: FigureBlueprint,
        by: By,
        computed: float | None,
        reason: str,
        *,
        unit: str | None = None,
        agrees: bool | None = None,
    ) -> FigureComparison:
        if computed is not None and agrees is None:
            agrees = agrees_with(figure, computed)
        path = f"figures.{figure.name}"
        named = (fix.id for fix in self._fixes if any(part in (path, "figures") for part in fix.parts))
        return FigureComparison(
            figure.name,
            said_at_first(figure),
            figure.value,
            computed,
            figure.unit if unit is None else unit,
            None if computed is None else difference_from(figure, computed),
            reason,
            tuple(dict.fromkeys(named)) if agrees is False else (),
            by,
            figure.upto,
            agrees,
        )

    def _why_nothing(self, figure: FigureBlueprint) -> str:
        following = [each.name for each in self._documented.figures if figure.name in each.terms.values()]
        if following:
            return f"it is given, and not worked out; on it rest {listed(following)}"
        return "it is stated without terms, and nothing in a plan is the same: there is nothing to compare it with"


def _stated(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _not(sentence: str, figure: FigureBlueprint) -> str:
    return f"{sentence}, and not {shown_range(figure)}"
