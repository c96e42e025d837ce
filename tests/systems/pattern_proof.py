"""Proves patterns of an open design: what they find, in which order, in pages, by which requests, at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle, groupby
from typing import Any, Generic, TypeVar

import pytest

from singletable import Merged, Query
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Design, Usage
from singletable.errors import NotFoundError
from support.design_clients import Between, on_client
from support.opened_designs import stored_items
from support.targets import opened
from systems.questions import Indexes
from systems.request_costs import Costs, KeyCondition, Place, place_of, shown_condition

LIMIT_MAX = 1000
SMALL = 40  # of so many items at most, every page is read one by one too

D = TypeVar("D", bound=Design)
B = TypeVar("B")
Order = Callable[[Any], Any]


@dataclass(frozen=True)
class PatternProof(Generic[D, B]):
    """An open design with everything in it, who answers by brute force, and who writes the requests down."""

    db: D
    brute: B
    costs: Costs
    between: Between
    knows_filters: bool  # whether the target pays for pages that a filter leaves something of as AWS does
    _ranks: dict[tuple[Any, ...], dict[Place, int]] = field(default_factory=dict)

    @contextmanager
    def recorded(self, index: Indexes) -> Iterator[list[Call]]:
        """Write down the requests of a block. Nothing may scan, nor query another index."""
        indexes = index if isinstance(index, tuple) else (index,)
        calls = self.between.calls = []
        yield calls
        assert {call.operation for call in calls} <= {"GetItem", "BatchGetItem", "Query"}
        queries = [call for call in calls if call.operation == "Query"]
        assert {query.params.get("IndexName") for query in queries} <= set(indexes)

    def costs_that(self, usage: Usage, calls: Sequence[Call]) -> None:
        """Prove that reading has cost what its requests must cost."""
        if self.knows_filters or not any("FilterExpression" in call.params for call in calls):
            cost = self.costs.of(calls, self.ranks_of(calls))
            assert (usage.units, usage.read) == (cost.units, cost.read)

    def ranks_of(self, calls: Sequence[Call]) -> dict[Place, int]:
        """Tell in which order the target gives items out that an index holds under one key."""
        ranks: dict[Place, int] = {}
        for query in calls:
            if "IndexName" in query.params:
                condition, forward = KeyCondition.of(query.params), query.params.get("ScanIndexForward", True)
                name = (query.params["IndexName"], condition.partition, condition.pk, forward)
                if name not in self._ranks:
                    self._ranks[name] = self._ranked(*name)
                ranks |= self._ranks[name]
        return ranks

    def _ranked(self, index: str, attribute: str, pk: str, forward: bool) -> dict[Place, int]:
        params = {
            "TableName": self.db.session.table,
            "IndexName": index,
            "KeyConditionExpression": "#0 = :0",
            "ExpressionAttributeNames": {"#0": attribute},
            "ExpressionAttributeValues": {":0": {"S": pk}},
            "ScanIndexForward": forward,
        }
        places: list[Place] = []
        start: dict[str, Any] = {}
        while True:
            answer = self.between.inner.call("Query", {**params, **start})
            places += map(place_of, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return {place: at if forward else -at for at, place in enumerate(places)}
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    # --- one thing -------------------------------------------------------------------------------

    def finds_one(self, plan: Any, expected: Any, *, index: Indexes = None) -> None:
        """Prove a plan that finds one thing, or nothing."""
        with self.recorded(index) as calls:
            found = plan.found()
        assert found.item == expected
        self.costs_that(found.usage, calls)
        assert plan.maybe() == expected
        if expected is None:
            with pytest.raises(NotFoundError):
                plan.one()
        else:
            assert plan.one() == expected

    def finds_some(self, plan: Any, expected: Sequence[Any]) -> None:
        """Prove a plan that gets things by their keys, with None for what is not there."""
        with self.recorded(None) as calls:
            found = plan.found()
        assert found.item == list(expected)
        self.costs_that(found.usage, calls)
        assert plan.all() == [entity for entity in expected if entity is not None]

    # --- many, in order --------------------------------------------------------------------------

    def finds_many(
        self, plan: Any, expected: Sequence[Any], *, index: Indexes = None, ties: Order | None = None
    ) -> None:
        """Prove a plan that finds many things, forward and backward, whole and in pages of many sizes.

        `ties` tells which of them may come in any order, because the index holds them under one key.
        """
        total = len(expected)
        mixed = [2, 1, 5] if total <= SMALL else [30, 1, 20]
        pages = [[1], [3], [total], [total + 1]] if total <= SMALL else [[9], [total], [LIMIT_MAX]]
        found = self._whole(plan, list(expected), index, ties)
        for sizes in (*pages, mixed):
            self._paged(plan, found, sizes, index)
        backward = turned(plan)
        if backward is not None:
            found = self._whole(backward, list(expected)[::-1], index, ties)
            self._paged(backward, found, mixed, index)
        if index is None:
            self._whole(plan.consistent(), list(expected), index, ties)

    def _whole(self, plan: Any, wanted: list[Any], index: Indexes, ties: Order | None) -> list[Any]:
        with self.recorded(index) as calls:
            rows = plan.all()
            found = list(rows)
        assert_same(found, wanted, ties)
        self.costs_that(rows.usage, calls)
        if not any(call.operation == "BatchGetItem" for call in calls):
            assert rows.usage.thrown_away == rows.usage.read - len(found)
        return found

    def _paged(self, plan: Any, found: list[Any], sizes: list[int], index: Indexes) -> None:
        """Go from cursor to cursor. Every page is full but the last, behind which there is no cursor."""
        rows: list[Any] = []
        cursor: str | None = None
        for size in cycle(max(1, size) for size in sizes):
            with self.recorded(index) as calls:
                page = plan.page(size, cursor)
            self.costs_that(page.usage, calls)
            rows += page
            cursor = page.cursor
            if cursor is None:
                break
            assert len(page) == size
            assert len(rows) <= len(found)
        assert rows == found


def turned(plan: Any) -> Any:
    """Return the plan in the other direction; None if it has but one."""
    if plan.limited is not None:
        return None
    if isinstance(plan, Query):
        return plan.newest_first() if plan.forward else plan.oldest_first()
    if isinstance(plan, Merged):
        return plan.newest_first() if plan.parts[0].forward else plan.oldest_first()
    return None


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


def shown(call: Call) -> str:
    """Write a request in a line: operation, index, keys, and what else is asked for."""
    params = call.params
    if call.operation == "GetItem":
        words = ["GetItem", *(value["S"] for value in params["Key"].values())]
    elif call.operation == "BatchGetItem":
        (asked,) = params["RequestItems"].values()
        words = ["BatchGetItem", *(" ".join(place_of(key)) for key in asked["Keys"])]
        params = asked
    else:
        words = ["Query", params.get("IndexName", "table"), shown_condition(params)]
        words += ["filtered"] if "FilterExpression" in params else []
        words += ["backward"] if not params.get("ScanIndexForward", True) else []
        words += [f"limit {params['Limit']}"] if "Limit" in params else []
    words += ["consistent"] if params.get("ConsistentRead") else []
    return ", ".join(words)


@contextmanager
def proved(
    design: type[D], target: str, now: datetime, fill: Callable[[D], B], **environment: Any
) -> Iterator[PatternProof[D, B]]:
    """Open a design on a fresh target by a clock that stands still; `fill` fills it, and returns who answers."""
    clock = ManualClock(int(now.timestamp()) * 1_000_000)
    with opened(target, clock=clock) as client:
        between = Between(client)
        db = on_client(design, between, **environment)
        brute = fill(db)
        # DynamoDB Local asks nothing for a page without items, and fills pages with what their filters leave.
        costs = Costs(stored_items(db), is_local=target == "aws-local")
        yield PatternProof(db, brute, costs, between, knows_filters=target != "aws-local")
