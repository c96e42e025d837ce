"""Figures of a document, worked out: by their terms, by terms put right, by the plan, and at today's prices."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final, Literal, Protocol

from singletable.blueprint import Blueprint, FigureBlueprint
from singletable.planning.figure_plan import INDEX_COST, FigurePlan
from singletable.planning.formulas import FormulaError, evaluate, names_of, with_values
from singletable.planning.stated_numbers import agrees_with, is_close, listed, number, usd

Mode = Literal["stated", "recomputed", "plan", "today"]

# What prices are called as terms and figures, and in a table of prices.
PRICES: Final = {
    "write_price": "write_request",
    "read_price": "read_request",
    "storage_price": "storage",
    "recovery_price": "pitr",
    "backup_price": "backup",
}
_MILLION: Final = 1_000_000
_CHAIN_MAX: Final = 100


class DatedPrice(Protocol):
    """A price with its source and date."""

    @property
    def usd(self) -> float: ...

    @property
    def source(self) -> str: ...

    @property
    def date(self) -> datetime.date: ...


class Prices(Protocol):
    """The prices of a region, by their names in `PRICES`."""

    @property
    def code(self) -> str: ...

    def find(self, name: str, /) -> DatedPrice | None:
        """Return a price; None if there is none."""
        ...


class FigureValues:
    """Works figures out: as they are stated, with wrong terms put right, by the plan, and at today's prices."""

    def __init__(self, documented: Blueprint, plan: FigurePlan, prices: Prices | None) -> None:
        self._figures = {figure.name: figure for figure in documented.figures}
        self._plan = plan
        self._prices = prices
        self._found: dict[tuple[str, Mode], float | FormulaError] = {}
        self._path: list[tuple[str, Mode]] = []

    def value(self, figure: FigureBlueprint, mode: Mode) -> float:
        """Return what a figure is in a mode. What cannot be worked out is an error."""
        key = (figure.name, mode)
        if key in self._path:
            raise FormulaError(f"the terms of {figure.name} lead back to it")
        if len(self._path) >= _CHAIN_MAX:
            raise FormulaError(f"its terms are more than {_CHAIN_MAX} figures deep")
        if key not in self._found:
            self._path.append(key)
            try:
                self._found[key] = self._resolved(figure, mode)
            except FormulaError as error:
                self._found[key] = error
            finally:
                self._path.pop()
        found = self._found[key]
        if isinstance(found, FormulaError):
            raise found
        return found

    def _resolved(self, figure: FigureBlueprint, mode: Mode) -> float:
        if mode == "stated":
            return figure.value
        if mode == "today" and figure.name in PRICES:
            return self._today(figure.name)
        if mode in ("plan", "today"):
            if figure.measures == INDEX_COST:
                return self._index_cost(figure, mode)[0]
            if (measured := self._plan.measured(figure)) is not None:
                return measured[0]
        if not figure.formula:
            return figure.value
        found = self.worked_out(figure, mode)[0]
        is_rounded = mode == "recomputed" and agrees_with(figure, found)
        return figure.value if is_rounded else found

    def worked_out(self, figure: FigureBlueprint, mode: Mode) -> tuple[float, str]:
        """Return what the formula of a figure comes to, and the formula with its values."""
        terms = {name: self._term(figure, name, mode) for name in names_of(figure.formula)}
        found = evaluate(figure.formula, terms)
        return found, with_values(figure.formula, terms, number)

    def _term(self, figure: FigureBlueprint, name: str, mode: Mode) -> float:
        if name not in figure.terms:
            raise FormulaError(f"{name!r} is none of its terms")
        term = figure.terms[name]
        if isinstance(term, str):
            if term not in self._figures:
                raise FormulaError(f"its term {name} is {term!r}, which is no figure")
            return self.value(self._figures[term], mode)
        return self._today(name) if mode == "today" and name in PRICES else float(term)

    def _today(self, name: str) -> float:
        found = None if self._prices is None else self._prices.find(PRICES[name])
        if found is None:
            raise FormulaError(f"the price {PRICES[name]} is not in the table")
        return found.usd

    def corrected(self, figure: FigureBlueprint) -> str:
        """Name the terms of a figure that their own terms do not bear out."""
        terms = [self._figures[term] for term in figure.terms.values() if term in self._figures]
        wrong = [each for each in terms if not is_close(each.value, self.value(each, "recomputed"))]
        return listed(
            [
                f"{each.name} ({number(self.value(each, 'recomputed'))}, not {number(each.value)})"
                for each in wrong
            ]
        )

    # --- what a figure rests on

    def depends(self, figure: FigureBlueprint, has: Callable[[FigureBlueprint], bool]) -> bool:
        """Tell whether a figure, or one that it follows from, has something."""
        seen, open_ones = {figure.name}, [figure]
        while open_ones:
            each = open_ones.pop()
            if has(each):
                return True
            for term in each.terms.values():
                if isinstance(term, str) and term in self._figures and term not in seen:
                    seen.add(term)
                    open_ones.append(self._figures[term])
        return False

    def is_planned(self, figure: FigureBlueprint) -> bool:
        """Tell whether the plan has what a figure states."""
        return figure.measures == INDEX_COST or self._plan.measured(figure) is not None

    # --- sentences

    def explained(self, figure: FigureBlueprint, mode: Mode) -> tuple[float, str]:
        """Return what a figure is by the plan, and why."""
        computed = self.value(figure, mode)
        if mode == "today" and figure.name in PRICES:
            return (
                computed,
                f"that is another price: it is {usd(computed)} by those {self._dated(figure.name)}",
            )
        if figure.measures == INDEX_COST:
            reason = self._index_cost(figure, mode)[1]
        elif (measured := self._plan.measured(figure)) is not None:
            reason = measured[1]
        else:
            reason = f"{self.worked_out(figure, mode)[1]} = {number(computed)}, {self._sources(figure)}"
        if mode == "today":
            reason += f"; at the prices {self._dated(*PRICES)}"
        return computed, reason

    def _sources(self, figure: FigureBlueprint) -> str:
        by_plan = self.depends(figure, self.is_planned)
        return "with what the plan has for its terms" if by_plan else "by its own terms"

    def _dated(self, *names: str) -> str:
        assert self._prices is not None
        found = [each for name in names if (each := self._prices.find(PRICES[name])) is not None]
        newest = max(found, key=lambda each: each.date)
        return f"of {self._prices.code} of {newest.date.isoformat()} ({newest.source})"

    def _index_cost(self, figure: FigureBlueprint, mode: Mode) -> tuple[float, str]:
        units, size = self._plan.index_units_month(), self._plan.index_gb()
        write = self._term(figure, "write_price", mode)
        storage = self._term(figure, "storage_price", mode)
        found = units / _MILLION * write + size * storage
        return found, (
            f"entries of indexes take {number(units)} write units a month at {usd(write)} a million, and "
            f"{number(size)} GB at {usd(storage)}: {usd(found)}"
        )


def is_priced(figure: FigureBlueprint) -> bool:
    return figure.name in PRICES or bool(PRICES.keys() & figure.terms.keys())
