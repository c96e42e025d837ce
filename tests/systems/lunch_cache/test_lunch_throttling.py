"""A table with provisioned throughput: what is throttled is tried again by the client, and counted (LC-16)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import botocore.endpoint
import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import TargetThrottledError, ThrottledError, ThroughputExceededError
from singletable.server import BackgroundServer
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.services.menus import Menus, Stored, menu_of
from support.targets import no_aws_settings
from systems.lunch_scrapes import lunch, scrape
from systems.lunch_world import NOW

TABLE = "lunch-cache-test"
PAUSE_S = 300.0  # long enough for any debt of these tests to be paid
LARGE = [
    lunch("Pytt i panna", description="x" * 2000)
] * 30  # 64 KB: 64 units of writing, and 64 of the index


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(NOW.timestamp()) * 1_000_000)


@pytest.fixture
def database(clock: ManualClock) -> Iterator[Database]:
    """A database that throttles, with a table of one unit a second."""
    with Database.open(":memory:", throttling=True, clock=clock) as opened:
        with LunchCache.open(opened, environment="test"):
            pass
        throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        index = {"IndexName": "RestaurantIndex", "ProvisionedThroughput": throughput}
        settings: dict[str, Any] = {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": throughput,
            "GlobalSecondaryIndexUpdates": [{"Update": index}],
        }
        opened.call("UpdateTable", {"TableName": TABLE, **settings})
        yield opened


@contextmanager
def over_http(database: Database, clock: ManualClock) -> Iterator[LunchCache]:
    with (
        BackgroundServer(database) as address,
        no_aws_settings(),
        LunchCache.open(address.url, clock=clock, environment="test") as db,
    ):
        yield db


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> list[float]:
    """Let time pass where botocore sleeps, and nobody wait for it."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(PAUSE_S)

    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=sleep))
    return slept


def test_throttled_write_is_tried_again_by_the_client_and_counted(
    database: Database, clock: ManualClock, pauses: list[float]
) -> None:
    with over_http(database, clock) as db:
        assert isinstance(Menus(db).store(scrape(lunches=LARGE)), Stored)
        assert (pauses, database.metrics().throttled_requests(TABLE)) == ([], 0)
        assert isinstance(Menus(db).store(scrape(place="Niagara")), Stored)
        assert len(pauses) == 1
        metrics = database.metrics()
        assert metrics.throttled_requests(TABLE, "PutItem") == 1
        assert metrics.write_throttle_events(TABLE) == 1
        assert db.menu("niagara", 2033, 1).maybe() is not None


def test_throttled_history_is_tried_again_by_the_client_and_counted(
    database: Database, clock: ManualClock, pauses: list[float]
) -> None:
    with over_http(database, clock) as db:
        Menus(db).store(scrape(lunches=LARGE))
        for _ in range(2):
            assert len(Menus(db).history("La Cantina", page_size=5)) == 1
        assert len(pauses) == 1
        assert database.metrics().throttled_requests(TABLE, "Query") == 1
        assert database.metrics().read_throttle_events(TABLE, "RestaurantIndex") == 1


def test_menus_that_a_batch_leaves_unprocessed_are_asked_for_again(
    database: Database, clock: ManualClock
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(PAUSE_S)

    with LunchCache.open(database, environment="test", sleep=sleep) as db:
        # 8 units each, and no more than 300 are ever saved up.
        places = [f"Restaurang {number}" for number in range(45)]
        for place in places:
            Menus(db).store(scrape(place=place, lunches=LARGE))
            clock.advance(PAUSE_S)
        found = Menus(db).all_this_week(places)
        assert [menu.restaurant for menu in found.menus] == [f"restaurang-{number}" for number in range(45)]
        assert len(slept) == 1
        assert database.metrics().read_throttle_events(TABLE) > 0


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_call_that_stays_throttled_says_which_limit_it_met(
    target: str, database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=lambda seconds: None))
    embedded = LunchCache.open(database, environment="test")
    with embedded if target == "embedded" else over_http(database, clock) as db:
        Menus(db).store(scrape(lunches=LARGE))
        with pytest.raises(TargetThrottledError) as caught:
            Menus(db).store(scrape(place="Niagara"))
        with pytest.raises(TargetThrottledError):
            asyncio.run(db.acreate(menu_of(scrape(place="Niagara"))))
    error = caught.value
    tries = "" if target == "embedded" else r", \d times in a row"  # botocore tries, and the process does not
    limits = (
        f"TableWriteProvisionedThroughputExceeded of table/{TABLE}, "
        f"IndexWriteProvisionedThroughputExceeded of table/{TABLE}/index/RestaurantIndex"
    )
    assert re.match(rf"the table {TABLE} is throttled{tries} \({limits}\): The level of", error.message)
    assert [reason.resource.rpartition("/")[2] for reason in error.reasons] == [TABLE, "RestaurantIndex"]
    assert "raise the capacity of the table and its indexes" in error.hint
    assert (error.number, error.code) == ("ST513", "ProvisionedThroughputExceededException")
    # Who knows the error of the API catches this one too.
    assert isinstance(error, ThrottledError)
    assert isinstance(error.__cause__, ThroughputExceededError)


def test_table_stays_on_demand_as_the_document_says() -> None:
    with Database.open(":memory:") as database, LunchCache.open(database, environment="dev"):
        table = database.describe_table(TableName="lunch-cache-dev")["Table"]
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"  # 004:11
