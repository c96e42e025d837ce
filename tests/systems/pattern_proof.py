"""Proves a pattern on an open Kefir: what it finds, in which order, in pages, by which requests, at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, groupby
from typing import Any

import pytest

from design_clients import Between, on_client
from opened_designs import store, stored_items
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Usage
from singletable.errors import NotFoundError
from singletable_systems.kefir.design import Kefir
from systems.brute_force import BruteForce
from systems.kefir_world import NOW, as_stored, make_world
from systems.request_costs import Costs, Place, shown_condition
from targets import opened

LIMIT_MAX = 1000
SMALL = 40  # of so many items at most, every page is read one by one too

Order = Callable[[Any], Any]


@dataclass(frozen=True)
class Proof:
    """An open Kefir with everything in it, who answers by brute force, and who writes the requests down."""

    db: Kefir
    brute: BruteForce
    costs: Costs
    between: Between
    knows_filters: bool  # whether the target pays for pages that a filter leaves something of as AWS does

    @contextmanager
    def recorded(self, index: str | None) -> Iterator[list[Call]]:
        """Write down the requests of a block. Nothing may scan, nor read another index."""
        calls = self.between.calls = []
        yield calls
        assert {call.operation for call in calls} <= {"GetItem", "Query"}
        assert {call.params.get("IndexName") for call in calls} <= {index}

    def costs_that(self, usage: Usage, calls: Sequence[Call], ranks: Mapping[Place, int]) -> None:
        """Prove that reading has cost what its requests must cost."""
        if self.knows_filters or not any("FilterExpression" in call.params for call in calls):
            cost = self.costs.of(calls, ranks)
            assert (usage.units, usage.read) == (cost.units, cost.read)

    # --- one thing -------------------------------------------------------------------------------

    def finds_one(self, plan: Any, expected: Any, *, index: str | None = None) -> None:
        """Prove a plan that finds one thing, or nothing."""
        with self.recorded(index) as calls:
            found = plan.found()
        assert found.item == expected
        self.costs_that(found.usage, calls, {})
        assert plan.maybe() == expected
        if expected is None:
            with pytest.raises(NotFoundError):
                plan.one()
        else:
            assert plan.one() == expected

    # --- many, in order --------------------------------------------------------------------------

    def finds_many(
        self, plan: Any, expected: Sequence[Any], *, index: str | None = None, ties: Order | None = None
    ) -> None:
        """Prove a plan that finds many things, forward and backward, whole and in pages of many sizes.

        `ties` tells which of them may come in any order, because the index holds them under one key.
        """
        total = len(expected)
        mixed = [2, 1, 5] if total <= SMALL else [30, 1, 20]
        pages = [[1], [3], [total], [total + 1]] if total <= SMALL else [[9], [total], [LIMIT_MAX]]
        found = self._whole(plan, list(expected), index, ties)
        for sizes in (*pages, mixed):
            self._paged(plan, found, sizes, index, forward=True)
        found = self._whole(plan.newest_first(), list(expected)[::-1], index, ties)
        self._paged(plan.newest_first(), found, mixed, index, forward=False)
        if index is None:
            self._whole(plan.consistent(), list(expected), index, ties)

    def _whole(self, plan: Any, wanted: list[Any], index: str | None, ties: Order | None) -> list[Any]:
        with self.recorded(index) as calls:
            rows = plan.all()
            found = list(rows)
        assert_same(found, wanted, ties)
        self.costs_that(rows.usage, calls, {})
        assert rows.usage.thrown_away == rows.usage.read - len(found)
        return found

    def _paged(
        self, plan: Any, found: list[Any], sizes: list[int], index: str | None, *, forward: bool
    ) -> None:
        """Go from cursor to cursor. Every page is full but the last, behind which there is no cursor."""
        ranks = ranks_of(found, forward=forward)
        rows: list[Any] = []
        cursor: str | None = None
        for size in cycle(max(1, size) for size in sizes):
            with self.recorded(index) as calls:
                page = plan.page(size, cursor)
            self.costs_that(page.usage, calls, ranks)
            rows += page
            cursor = page.cursor
            if cursor is None:
                break
            assert len(page) == size
            assert len(rows) <= len(found)
        assert rows == found


def assert_same(found: list[Any], wanted: list[Any], ties: Order | None) -> None:
    if ties is None:
        assert found == wanted
    else:
        assert _grouped(found, ties) == _grouped(wanted, ties)


def _grouped(rows: list[Any], ties: Order) -> list[list[Any]]:
    return [sorted(group, key=_place) for _, group in groupby(rows, ties)]


def _place(entity: Any) -> Place:
    pk, sk = entity.key
    return pk.render(), sk.render()


def ranks_of(found: list[Any], *, forward: bool) -> dict[Place, int]:
    """Tell in which order a target has given entities out: of those that tie, nobody else knows."""
    return {_place(entity): at if forward else -at for at, entity in enumerate(found)}


def shown(call: Call) -> str:
    """Write a request in a line: operation, index, keys, and what else is asked for."""
    params = call.params
    if call.operation == "GetItem":
        words = ["GetItem", *(value["S"] for value in params["Key"].values())]
    else:
        words = ["Query", params.get("IndexName", "table"), shown_condition(params)]
        words += ["filtered"] if "FilterExpression" in params else []
        words += ["backward"] if not params.get("ScanIndexForward", True) else []
        words += [f"limit {params['Limit']}"] if "Limit" in params else []
    words += ["consistent"] if params.get("ConsistentRead") else []
    return ", ".join(words)


@contextmanager
def opened_proof(target: str) -> Iterator[Proof]:
    """Open a Kefir on a fresh target, and fill it."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock) as client:
        between = Between(client)
        db = on_client(Kefir, between, stage="test")
        world = make_world()
        for entity in world.entities:
            db.create(entity)
        for item in world.strangers:
            store(db, item)
        brute = BruteForce(map(as_stored, world.entities), NOW)
        # DynamoDB Local asks nothing for a page without items, and fills pages with what their filters leave.
        costs = Costs(stored_items(db), empty_page_units=0.0 if target == "aws-local" else 0.5)
        yield Proof(db, brute, costs, between, knows_filters=target != "aws-local")
