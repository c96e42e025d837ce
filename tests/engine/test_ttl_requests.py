"""UpdateTimeToLive and DescribeTimeToLive: what they answer, what they refuse, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from singletable.storage.definitions import RestoreDefinition
from support.expiring import ATTRIBUTE, NOW_S, described, disable, enable, names, put
from support.sample_tables import create_plain, create_single, finish, invalid, n, open_by_hand, refusal, s

HOUR_S = 3600
ENABLED = {"TimeToLiveStatus": "ENABLED", "AttributeName": ATTRIBUTE}
DISABLED = {"TimeToLiveStatus": "DISABLED"}
TOO_OFTEN = invalid("Time to live has been modified multiple times within a fixed interval")


def update(db: Database, *, attribute: str = ATTRIBUTE, enabled: bool = True) -> tuple[str, str]:
    """Return what a change is refused with."""
    wanted = {"AttributeName": attribute, "Enabled": enabled}
    return refusal(db, "update_time_to_live", TableName="single", TimeToLiveSpecification=wanted)


# --- answers -------------------------------------------------------------------------------------


def test_a_new_table_has_no_time_to_live(db: Database) -> None:
    create_single(db)
    assert described(db) == DISABLED


def test_the_answer_is_what_was_asked_for(db: Database) -> None:
    create_single(db)
    assert enable(db) == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": ATTRIBUTE}}
    assert described(db) == ENABLED


def test_a_table_that_no_longer_expires_names_no_attribute(db: Database, clock: ManualClock) -> None:
    create_single(db)
    enable(db)
    clock.advance(HOUR_S)
    assert disable(db) == {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": ATTRIBUTE}}
    assert described(db) == DISABLED


def test_describe_table_says_nothing_of_it(db: Database) -> None:
    create_single(db)
    before = db.describe_table(TableName="single")
    enable(db)
    assert db.describe_table(TableName="single") == before


def test_a_table_may_be_named_by_its_arn(db: Database) -> None:
    create_single(db)
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/single"
    enable(db, table=arn)
    assert described(db, table=arn) == ENABLED


def test_it_survives_closing(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, clock=clock) as db:
        create_single(db)
        enable(db)
    with Database.open(path, clock=clock) as db:
        assert described(db) == ENABLED
        assert update(db, enabled=False) == TOO_OFTEN


def test_a_table_made_again_has_no_time_to_live(db: Database, clock: ManualClock) -> None:
    create_single(db)
    put(db, "old", NOW_S + 10)
    enable(db)
    db.delete_table(TableName="single")
    create_single(db)
    assert described(db) == DISABLED
    put(db, "kept", NOW_S + 10)
    clock.advance(20)
    assert names(db) == ["kept"]
    enable(db)  # the hour of the table before does not count


# --- what is refused -------------------------------------------------------------------------------


def test_it_cannot_be_enabled_twice(db: Database, clock: ManualClock) -> None:
    create_single(db)
    enable(db)
    already = invalid("TimeToLive is already enabled")
    assert update(db) == already
    clock.advance(HOUR_S)
    assert update(db) == already


def test_it_cannot_be_disabled_twice(db: Database, clock: ManualClock) -> None:
    create_single(db)
    already = invalid("TimeToLive is already disabled")
    assert update(db, enabled=False) == already
    enable(db)
    clock.advance(HOUR_S)
    disable(db)
    assert update(db, enabled=False) == already
    assert update(db, attribute="other", enabled=False) == already


@pytest.mark.parametrize("enabled", [True, False])
def test_the_attribute_cannot_be_another_while_it_is_enabled(db: Database, enabled: bool) -> None:
    create_single(db)
    enable(db)
    assert update(db, attribute="other", enabled=enabled) == invalid(
        f"TimeToLive is active on a different AttributeName: current AttributeName is {ATTRIBUTE}"
    )
    assert described(db) == ENABLED


def test_a_change_has_to_wait_for_an_hour(db: Database, clock: ManualClock) -> None:
    create_single(db)
    enable(db)
    clock.advance(HOUR_S - 1)
    assert update(db, enabled=False) == TOO_OFTEN
    clock.advance(1)
    disable(db)
    assert update(db) == TOO_OFTEN
    clock.advance(HOUR_S)
    enable(db, attribute="other")
    assert described(db)["AttributeName"] == "other"


def test_what_was_refused_does_not_prolong_the_wait(db: Database, clock: ManualClock) -> None:
    create_single(db)
    enable(db)
    clock.advance(HOUR_S / 2)
    assert update(db, enabled=False) == TOO_OFTEN
    clock.advance(HOUR_S / 2)
    disable(db)


def test_a_clock_that_was_put_back_does_not_prolong_the_wait(db: Database, clock: ManualClock) -> None:
    clock.jump(10 * HOUR_S)
    create_single(db)
    enable(db)
    clock.jump(-10 * HOUR_S)
    disable(db)


def test_each_table_has_an_hour_of_its_own(db: Database) -> None:
    create_single(db)
    create_plain(db)
    enable(db)
    enable(db, table="plain")


@pytest.mark.parametrize("operation", ["update_time_to_live", "describe_time_to_live"])
def test_a_missing_table_is_not_found(db: Database, operation: str) -> None:
    more: dict[str, Any] = {}
    if operation == "update_time_to_live":
        more = {"TimeToLiveSpecification": {"AttributeName": ATTRIBUTE, "Enabled": True}}
    assert refusal(db, operation, TableName="nothing", **more) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: nothing not found",
    )


def test_a_table_that_is_being_restored_has_to_be_waited_for() -> None:
    with open_by_hand(":memory:") as db:
        create_single(db)
        store = db._session.store
        table = store.catalog.named("single")
        assert table is not None
        restoring = RestoreDefinition(source_table="other", backup_arn=None, at_us=0, in_progress=True)
        changed = replace(table.definition, restore=restoring)
        store.write(lambda transaction: transaction.alter_table(changed))
        # ack-api-quirks, DDB-TABLE-217
        missing = ("ResourceNotFoundException", "Requested resource not found: Table: single not found")
        assert update(db) == missing
        assert refusal(db, "describe_time_to_live", TableName="single") == missing


# --- large tables -----------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "file"])
def enabling(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A table of 200 items of which the first 64 stand in the order of their times."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        create_single(db)
        for number in range(200):
            put(db, f"{number:03}", NOW_S + 1_000_000 + number)
        enable(db)
        yield db
        assert db.check() == []
    if path != ":memory:":
        assert check_file(path) == []


def test_a_large_table_is_enabling_until_its_items_are_ordered(enabling: Database) -> None:
    assert described(enabling) == {"TimeToLiveStatus": "ENABLING", "AttributeName": ATTRIBUTE}
    assert enabling.check() == []
    finish(enabling)
    assert described(enabling) == ENABLED


def test_it_cannot_be_changed_while_it_is_enabling(enabling: Database) -> None:
    assert update(enabling) == invalid("TimeToLive is already enabled")
    assert update(enabling, enabled=False) == TOO_OFTEN


@pytest.mark.parametrize("number", [10, 150], ids=["behind", "ahead"])
def test_writes_go_on_while_it_is_enabling(enabling: Database, number: int) -> None:
    put(enabling, f"{number:03}", NOW_S + 5_000_000)
    put(enabling, f"{number + 1:03}", None)
    enabling.delete_item(TableName="single", Key={"PK": s(f"{number + 2:03}"), "SK": s("1")})
    put(enabling, "new", NOW_S + 2_000_000)
    put(enabling, f"{number + 3:03}", {"S": "never"})
    assert enabling.check() == []
    finish(enabling)
    assert enabling.check() == []


def test_a_table_that_is_enabling_can_be_deleted(enabling: Database) -> None:
    enabling.delete_table(TableName="single")
    finish(enabling)
    assert enabling.list_tables()["TableNames"] == []


def test_an_index_may_be_added_while_it_is_enabling(enabling: Database) -> None:
    enabling.update_table(
        TableName="single",
        AttributeDefinitions=[{"AttributeName": ATTRIBUTE, "AttributeType": "N"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by-time",
                    "KeySchema": [{"AttributeName": ATTRIBUTE, "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            }
        ],
    )
    finish(enabling)
    assert described(enabling) == ENABLED
    found = enabling.query(
        TableName="single",
        IndexName="by-time",
        KeyConditionExpression="expires = :at",
        ExpressionAttributeValues={":at": n(NOW_S + 1_000_150)},
    )
    assert [item["PK"]["S"] for item in found["Items"]] == ["150"]


def test_enabling_goes_on_with_the_next_open(tmp_path: Path) -> None:
    path = str(tmp_path / "test.db")
    with open_by_hand(path) as db:
        create_single(db)
        for number in range(200):
            put(db, f"{number:03}", NOW_S + 1_000_000)
        enable(db)
    assert check_file(path) == []
    with open_by_hand(path) as db:
        finish(db)
        assert described(db) == ENABLED
    assert check_file(path) == []
