"""Who lost a race, or was throttled, waits for a random time before the next try: so losers do not meet again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from designs.recipes import MetadataSK, Rating, Recipe, RecipePK, Recipes
from singletable.client import Call, Steps, Wait
from singletable.client.calls import side_by_side
from singletable.clock import ManualClock
from singletable.design import Create
from singletable.design.kept.kind import ChangedMeanwhileError
from singletable.design.session.session import waits
from support.design_clients import Between, on_client, opened_anyhow

CONFLICT_MS = [50, 100, 200, 400, 500, 500]


@contextmanager
def opened_recipes(
    slept: list[float], random: Any, target: str = "embedded"
) -> Iterator[tuple[Recipes, Between]]:
    """Open recipes on a client that writes down how long it should sleep."""
    with opened_anyhow(target, clock=ManualClock(), sleep=slept.append, random=random) as client:
        between = Between(client)
        db = on_client(Recipes, between)
        db.create(Recipe(recipe_id="r", title="Bread", cuisine="French"))
        yield db, between


def rating(number: int) -> Rating:
    return Rating(recipe_id="r", user_id=str(number), stars=Decimal(1))


def lose(db: Recipes, between: Between, times: int) -> None:
    """Let somebody else be faster so many times."""
    others = iter(range(100, 100 + times))
    faster = on_client(Recipes, between.inner, makes_table=False)

    def interfere(call: Call) -> None:
        if "averageSum" in repr(call.params) and (number := next(others, None)) is not None:
            faster.create(rating(number))

    between.before = interfere


def milliseconds(slept: list[float]) -> list[int]:
    return [round(seconds * 1000) for seconds in slept]


@pytest.mark.parametrize("target", ["embedded", "http", "no-transactions"])
def test_loser_of_a_race_tries_at_once_and_then_waits_up_to_half_a_second(target: str) -> None:
    slept: list[float] = []
    with opened_recipes(slept, lambda: 1.0, target) as (db, between):
        lose(db, between, 7)
        db.create(rating(1))
        assert db.plan(Recipe.key.get(RecipePK(recipe_id="r"), MetadataSK())).one().ratings == 8
    assert milliseconds(slept) == CONFLICT_MS


def test_loser_of_a_race_waits_for_any_part_of_that() -> None:
    slept: list[float] = []
    parts = iter([0.5, 0.0, 0.25, 1.0])
    with opened_recipes(slept, lambda: next(parts)) as (db, between):
        lose(db, between, 5)
        db.create(rating(1))
    assert milliseconds(slept) == [25, 0, 50, 400]


def test_losers_of_one_race_do_not_wait_equally_long() -> None:
    first: list[float] = []
    second: list[float] = []
    for slept, seed in ((first, 1), (second, 2)):
        with opened_recipes(slept, Random(seed).random) as (db, between):
            lose(db, between, 6)
            db.create(rating(1))
    assert len(first) == len(second) == 5
    assert not set(first) & set(second)


def test_transaction_that_loses_waits_the_same() -> None:
    slept: list[float] = []
    with opened_recipes(slept, lambda: 1.0) as (db, between):
        lose(db, between, 7)
        db.transaction(Create(rating(1)))
    assert milliseconds(slept) == CONFLICT_MS


def test_who_always_loses_gives_up_after_seconds() -> None:
    slept: list[float] = []
    with opened_recipes(slept, lambda: 0.5) as (db, between):
        lose(db, between, 100)
        with pytest.raises(ChangedMeanwhileError):
            db.create(rating(1))
    assert 5 < sum(slept) < 10


def test_waits_for_a_busy_target_double_up_to_five_seconds() -> None:
    pauses = waits("recipes")
    found = [next(pauses) for _ in range(10)]
    assert [pause.seconds for pause in found] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]
    assert all(pause.is_random for pause in found)


def test_pieces_side_by_side_wait_for_the_longest_random_pause() -> None:
    def piece(seconds: float) -> Steps[None]:
        yield Wait(seconds, is_random=True)

    assert next(side_by_side([piece(1), piece(3), piece(2)])) == Wait(3, is_random=True)
