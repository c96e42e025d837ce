"""The health check: says what it found and how long it took, and leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable.errors import TargetUnreachableError
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import HealthProbe
from singletable_systems.lunch_cache.services.health import check_health
from singletable_systems.lunch_cache.services.menus import Menus
from support.design_clients import Between, on_client
from support.opened_designs import call, stored_items
from support.targets import TARGETS, opened
from systems.lunch_scrapes import scrape
from systems.lunch_world import NOW


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(NOW.timestamp()) * 1_000_000)


@pytest.fixture(params=TARGETS)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened(request.param, clock=clock) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> LunchCache:
    return on_client(LunchCache, between, environment="test")


def of_index(db: LunchCache) -> list[str]:
    return [item["pk"]["S"] for item in call(db, "Scan", IndexName="RestaurantIndex")["Items"]]


def fail(operation: str, between: Between, *, carried_out: bool = False) -> None:
    """Let an operation fail, before it is carried out or behind it."""

    def refuse(asked: Call) -> None:
        if asked.operation == operation:
            if carried_out:
                between.inner.call(asked.operation, asked.params)
            raise TargetUnreachableError("no answer from there", hint="wait")

    between.before = refuse


def test_healthy_target_is_called_so_and_nothing_is_left(db: LunchCache, between: Between) -> None:
    Menus(db).store(scrape())
    before = stored_items(db)
    between.calls.clear()
    health = check_health(db)
    assert between.operations() == ["PutItem", "GetItem", "DeleteItem"]
    assert health.is_healthy
    assert health.failures == {}
    assert list(health.latency_us) == ["write", "read", "delete"]
    assert str(health).startswith("healthy, write ")
    assert stored_items(db) == before
    assert of_index(db) == ["la-cantina-2033-01"]


def test_probe_is_in_no_index_while_it_is_there(db: LunchCache, between: Between) -> None:
    seen: list[list[str]] = []

    def look(asked: Call) -> None:
        if asked.operation == "GetItem":
            between.before = lambda asked: None
            seen.append(of_index(db))
            assert len(stored_items(db)) == 1

    between.before = look
    assert check_health(db).is_healthy
    assert seen == [[]]


def test_latency_is_that_of_the_clock(db: LunchCache, between: Between, clock: ManualClock) -> None:
    seconds = {"PutItem": 0.005, "GetItem": 0.002, "DeleteItem": 0.001}
    between.before = lambda asked: clock.advance(seconds[asked.operation])
    health = check_health(db)
    assert health.latency_us == {"write": 5000, "read": 2000, "delete": 1000}
    assert str(health) == "healthy, write 5.0 ms, read 2.0 ms, delete 1.0 ms"


def test_failed_read_is_a_result_and_the_probe_is_taken_away(db: LunchCache, between: Between) -> None:
    fail("GetItem", between)
    health = check_health(db)
    assert not health.is_healthy
    assert list(health.failures) == ["read"]
    assert "no answer from there" in health.failures["read"]
    assert str(health).startswith("unhealthy, ")
    between.before = lambda asked: None
    assert stored_items(db) == []


def test_write_whose_answer_is_lost_leaves_no_probe(db: LunchCache, between: Between) -> None:
    fail("PutItem", between, carried_out=True)
    health = check_health(db)
    assert list(health.failures) == ["write"]
    assert list(health.latency_us) == ["write", "delete"]
    between.before = lambda asked: None
    assert stored_items(db) == []


def test_target_that_answers_nothing_is_unhealthy(db: LunchCache, between: Between) -> None:
    def refuse(asked: Call) -> None:
        raise TargetUnreachableError("no answer from there", hint="wait")

    between.before = refuse
    health = check_health(db)
    assert list(health.failures) == ["write", "delete"]
    said = "failed: ST506: no answer from there"
    assert str(health).endswith(f"write {said}, delete {said}")


def test_missing_table_is_unhealthy(clock: ManualClock) -> None:
    with opened("embedded", clock=clock) as client:
        db = on_client(LunchCache, client, makes_table=False, environment="test")
        health = check_health(db)
        assert "lunch-cache-test" in health.failures["write"]


def test_probe_that_could_not_be_deleted_goes_by_its_time_to_live(clock: ManualClock) -> None:
    with opened("embedded", clock=clock) as client:
        between = Between(client)
        db = on_client(LunchCache, between, environment="test")
        fail("DeleteItem", between)
        assert list(check_health(db).failures) == ["delete"]
        (probe,) = stored_items(db)
        assert int(probe["ttl"]["N"]) == int(NOW.timestamp()) + 300
        clock.advance(299)
        assert len(stored_items(db)) == 1
        clock.advance(3)
        assert stored_items(db) == []


def test_probe_that_is_left_over_is_in_nobodys_way(
    db: LunchCache, between: Between, clock: ManualClock
) -> None:
    fail("DeleteItem", between)
    check_health(db, new_probe=lambda: 7)
    between.before = lambda asked: None
    assert check_health(db, new_probe=lambda: 8).is_healthy
    clock.jump(300)
    assert check_health(db, new_probe=lambda: 7).is_healthy


def test_concurrent_checks_do_not_disturb_each_other(db: LunchCache) -> None:
    with ThreadPoolExecutor(8) as threads:
        checks = list(threads.map(lambda _: check_health(db), range(40)))
    assert [str(health) for health in checks if not health.is_healthy] == []
    assert stored_items(db) == []


def test_checks_may_be_numbered(db: LunchCache) -> None:
    numbers = count(1)
    for _ in range(3):
        assert check_health(db, new_probe=lambda: next(numbers)).is_healthy
    assert next(numbers) == 4


def test_check_leaves_fresh_answers_in_the_cache(db: LunchCache) -> None:
    Menus(db).store(scrape())
    assert db.menu("la-cantina", 2033, 1).found().units > 0
    check_health(db)
    assert db.menu("la-cantina", 2033, 1).found().units == 0


def test_probe_is_the_only_thing_under_its_key() -> None:
    assert HealthProbe(probe=1).model_dump(exclude={"created_at", "ttl"}) == {"probe": 1}
