"""Patterns that write: a method returns the write, and it is carried out when it is run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from designs.lunch import LunchCache, MenuPK, WeeklyMenu
from singletable.client import Client
from singletable.design import Create, Delete, Eq, Exists, Get, Put, Update, pattern
from singletable.errors import AlreadyExistsError, DeclarationError
from support.targets import TARGETS, opened, target_of

NOON = datetime(2100, 1, 20, 12, tzinfo=UTC)  # nothing expires here


class Lunches(LunchCache):
    @pattern("1b Store a menu that is not there yet")
    def add(self, menu: WeeklyMenu) -> Create[WeeklyMenu]:
        return Create(menu)

    @pattern("9 Correct the count")
    def correct(self, restaurant: str, count: int) -> Update[WeeklyMenu]:
        return Update(menu_of(restaurant), when=Exists("cached_at"), lunch_count=count)

    @pattern("10 Forget a menu")
    def forget(self, restaurant: str) -> Delete[WeeklyMenu]:
        return Delete(menu_of(restaurant))


def menu_of(restaurant: str) -> Get[WeeklyMenu]:
    return WeeklyMenu.key.get(MenuPK(restaurant=restaurant, year=2025, week=3))


def menu(restaurant: str = "niagara", **fields: Any) -> WeeklyMenu:
    values = {"lunch_count": 1, "average_price": Decimal(125), **fields}
    return WeeklyMenu(restaurant=restaurant, year=2025, week=3, cached_at=NOON, **values)


@pytest.fixture(params=TARGETS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with opened(request.param) as client:
        yield client


@pytest.fixture
def db(client: Client) -> Lunches:
    return Lunches.open(target_of(client), create=True, environment="test")


def test_write_of_a_pattern_is_carried_out_when_it_is_run(db: Lunches) -> None:
    stored = menu()
    write = db.store(stored)
    assert db.menu("niagara", 2025, 3).maybe() is None
    written = write.run()
    assert written.entity is stored
    assert written.units > 0
    assert db.menu("niagara", 2025, 3).one() == stored


def test_every_kind_of_write_can_be_a_pattern(db: Lunches) -> None:
    db.add(menu()).run()
    with pytest.raises(AlreadyExistsError):
        db.add(menu()).run()
    assert db.correct("niagara", 7).run().entity.lunch_count == 7
    asyncio.run(db.forget("niagara").arun())
    assert db.menu("niagara", 2025, 3).maybe() is None


def test_request_of_a_write_is_the_one_that_is_sent(db: Lunches) -> None:
    request = db.forget("niagara").request()
    assert request["Key"] == {"pk": {"S": "niagara-2025-03"}}
    assert request["TableName"] == "lunch-cache-test"
    assert db.store(menu()).request()["Item"]["lunchCount"] == {"N": "1"}
    assert db.menu("niagara", 2025, 3).maybe() is None


def test_writes_of_patterns_go_into_a_transaction() -> None:
    with Lunches.open(":memory:") as db:
        db.transaction(db.add(menu("niagara")), db.add(menu("la-cantina")))
        assert len(db.this_week(["niagara", "la-cantina"], 2025, 3).all()) == 2


def test_write_that_is_not_of_an_open_design_says_so() -> None:
    with pytest.raises(DeclarationError, match="not of an open design"):
        Put(menu()).run()
    with pytest.raises(DeclarationError, match="not of an open design"):
        Lunches().store(menu()).run()


def test_one_write_can_be_run_in_two_designs() -> None:
    shared = Put(menu())

    class Shared(Lunches):
        @pattern("11 Store what everybody stores")
        def store_shared(self) -> Put[WeeklyMenu]:
            return shared

    with Shared.open(":memory:") as first, Shared.open(":memory:") as second:
        first.store_shared().run()
        assert second.menu("niagara", 2025, 3).maybe() is None
        assert shared.runner is None


def test_blueprint_says_what_patterns_write() -> None:
    patterns = {each.method: each for each in Lunches.blueprint().patterns}
    (store,) = patterns["store"].writes
    assert (patterns["store"].operation, store.operation, store.entity) == ("Put", "PutItem", "WeeklyMenu")
    (correct,) = patterns["correct"].writes
    assert (correct.operation, correct.fields) == ("UpdateItem", ("lunch_count",))
    assert correct.condition is not None
    assert patterns["forget"].entities == ("WeeklyMenu",)
    assert "PutItem WeeklyMenu" in Lunches.blueprint().text()
    assert type(Lunches.blueprint()).from_json(Lunches.blueprint().to_json()) == Lunches.blueprint()


def test_check_is_no_pattern() -> None:
    class Checking(LunchCache):
        @pattern("12 Look")
        def look(self) -> Any:
            return Eq("week", 3)

    with Checking.open(":memory:") as db, pytest.raises(DeclarationError, match="a pattern returns a plan"):
        db.look()
