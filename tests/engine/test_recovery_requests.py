"""UpdateContinuousBackups, DescribeContinuousBackups, RestoreTableToPointInTime: windows, settings, refusals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.past import to_datetime
from support.past_tables import DAY_S, recovery, turn_off, turn_on
from support.sample_tables import (
    all_items,
    attributes,
    create_single,
    finish,
    index,
    item,
    key_schema,
    n,
    open_by_hand,
    refusal,
)

KEY = item("user#1", "profile")
BEGAN = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)  # of a new ManualClock


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def now(clock: ManualClock) -> datetime:
    return to_datetime(clock.now_us())


def put(db: Database, value: int, sk: str = "profile", **more: Any) -> None:
    db.put_item(TableName="single", Item=item("user#1", sk, value=n(value), **more))


def restore(db: Database, **request: Any) -> Any:
    wanted = {"SourceTableName": "single", "TargetTableName": "restored", **request}
    return db.restore_table_to_point_in_time(**wanted)["TableDescription"]


def values(db: Database, table: str = "restored") -> list[str]:
    return [found["value"]["N"] for found in all_items(db, "scan", TableName=table)]


# --- the window ----------------------------------------------------------------------------------------


def test_window_begins_when_recovery_is_turned_on_and_ends_now(db: Database, clock: ManualClock) -> None:
    create_single(db)
    clock.advance(60)
    answer = turn_on(db)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    began = now(clock)
    assert answer == {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": began,
        "LatestRestorableDateTime": began,
    }
    clock.advance(3600)
    assert recovery(db) == {**answer, "LatestRestorableDateTime": now(clock)}


def test_window_moves_on_when_it_is_as_long_as_it_may_be(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db, days=2)
    for days in (1, 2, 3, 4):
        clock.advance(DAY_S)
        earliest = max(BEGAN, now(clock) - timedelta(days=2))
        assert recovery(db)["EarliestRestorableDateTime"] == earliest, days


def test_changing_the_days_keeps_the_history(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1)
    clock.advance(3 * DAY_S)
    put(db, 2)
    turn_on(db, days=7)
    assert recovery(db)["EarliestRestorableDateTime"] == BEGAN
    assert recovery(db)["RecoveryPeriodInDays"] == 7
    assert db.at(BEGAN).get_item(TableName="single", Key=KEY)["Item"]["value"] == n(1)


def test_more_days_do_not_bring_back_what_is_gone(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db, days=1)
    for number in range(4):
        put(db, number)
        clock.advance(DAY_S)
    turn_on(db, days=35)
    earliest = recovery(db)["EarliestRestorableDateTime"]
    # The newest change that one day did not need any more is from two days ago.
    assert earliest == now(clock) - timedelta(days=2)
    assert db.at(earliest).get_item(TableName="single", Key=KEY)["Item"]["value"] == n(2)


def test_off_and_on_again_starts_anew(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    clock.advance(60)
    turn_off(db)
    assert recovery(db) == {"PointInTimeRecoveryStatus": "DISABLED"}
    clock.advance(60)
    turn_on(db)
    assert recovery(db)["EarliestRestorableDateTime"] == now(clock)


def test_earliest_time_as_it_is_told_can_be_asked_for(db: Database, clock: ManualClock) -> None:
    create_single(db)
    put(db, 1)
    clock.advance(0.000001)
    turn_on(db)
    clock.advance(1)
    earliest = recovery(db)["EarliestRestorableDateTime"]
    assert earliest == BEGAN + timedelta(milliseconds=1)
    assert db.at(earliest).get_item(TableName="single", Key=KEY)["Item"]["value"] == n(1)
    # As boto3 sends it: in whole seconds.
    restore(db, RestoreDateTime=int(earliest.timestamp()))
    assert values(db) == ["1"]


def test_log_goes_on_when_a_stream_is_turned_off_and_recovery_stays(db: Database, clock: ManualClock) -> None:
    create_single(db, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    turn_on(db)
    for number in range(3):
        put(db, number)
        clock.advance(1)
        if number == 0:
            db.update_table(TableName="single", StreamSpecification={"StreamEnabled": False})
    read = [
        db.at(BEGAN + timedelta(seconds=seconds)).get_item(TableName="single", Key=KEY)["Item"]["value"]
        for seconds in range(3)
    ]
    assert read == [n(0), n(1), n(2)]


# --- restoring -----------------------------------------------------------------------------------------


def test_restored_table_holds_what_was_there_and_nothing_else(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    for number in range(5):
        put(db, number, sk=str(number), GSI1PK="g", GSI1SK=str(9 - number))
    moment = now(clock)
    clock.advance(60)
    db.delete_item(TableName="single", Key=item("user#1", "0"))
    put(db, -1, sk="1")
    put(db, 5, sk="5")
    description = restore(db, RestoreDateTime=moment)
    assert description["TableStatus"] == "CREATING"
    assert description["RestoreSummary"] == {
        "SourceTableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/single",
        "RestoreDateTime": moment,
        "RestoreInProgress": True,
    }
    assert values(db) == ["0", "1", "2", "3", "4"]
    through_index = all_items(db, "scan", TableName="restored", IndexName="GSI1")
    assert [found["value"]["N"] for found in through_index] == ["4", "3", "2", "1", "0"]
    described = db.describe_table(TableName="restored")["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["ItemCount"] == 5


def test_latest_time_is_now(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1)
    clock.advance(60)
    put(db, 2)
    description = restore(db, UseLatestRestorableTime=True)
    assert description["RestoreSummary"]["RestoreDateTime"] == now(clock)
    assert values(db) == ["2"]


def test_table_can_be_named_by_its_arn(db: Database) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1)
    arn = db.describe_table(TableName="single")["Table"]["TableArn"]
    db.restore_table_to_point_in_time(
        SourceTableArn=arn, TargetTableName="restored", UseLatestRestorableTime=True
    )
    assert values(db) == ["1"]


def test_settings_are_the_current_ones_of_the_source_and_some_are_not_carried_over(
    db: Database, clock: ManualClock
) -> None:
    create_single(db, Tags=[{"Key": "team", "Value": "shop"}])
    turn_on(db)
    put(db, 1, GSI2PK="x")
    moment = now(clock)
    clock.advance(60)
    db.update_table(
        TableName="single",
        AttributeDefinitions=attributes(GSI2PK="S"),
        GlobalSecondaryIndexUpdates=[{"Create": index("GSI2", "GSI2PK")}],
    )
    db.update_table(TableName="single", DeletionProtectionEnabled=True)
    db.update_table(
        TableName="single", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    )
    db.update_time_to_live(
        TableName="single", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
    )
    restore(db, RestoreDateTime=moment)
    table: Any = db.describe_table(TableName="restored")["Table"]
    assert sorted(found["IndexName"] for found in table["GlobalSecondaryIndexes"]) == ["GSI1", "GSI2"]
    assert db.scan(TableName="restored", IndexName="GSI2")["Count"] == 1
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["DeletionProtectionEnabled"] is False
    assert "StreamSpecification" not in table
    assert recovery(db, "restored") == {"PointInTimeRecoveryStatus": "DISABLED"}
    ttl = db.describe_time_to_live(TableName="restored")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "DISABLED"}
    assert db.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == []


def test_settings_can_be_overridden(db: Database) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1, GSI1PK="g", GSI1SK="1")
    restore(
        db,
        UseLatestRestorableTime=True,
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
        GlobalSecondaryIndexOverride=[],
    )
    table: Any = db.describe_table(TableName="restored")["Table"]
    assert "GlobalSecondaryIndexes" not in table
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    assert table["AttributeDefinitions"] == attributes(PK="S", SK="S")
    assert values(db) == ["1"]


def test_restored_table_is_one_of_its_own(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1)
    restore(db, UseLatestRestorableTime=True)
    clock.advance(1)
    db.put_item(TableName="restored", Item={**KEY, "value": n(2)})
    assert (values(db), values(db, "single")) == (["2"], ["1"])
    db.delete_table(TableName="single")
    assert values(db) == ["2"]


def test_writers_go_on_while_a_large_table_is_restored(tmp_path: Any) -> None:
    with open_by_hand(str(tmp_path / "large.db")) as db:
        create_single(db)
        turn_on(db)
        for number in range(1_000):
            put(db, number, sk=f"{number:04}", GSI1PK="g", GSI1SK="1")
        before = next(db.history("single", item("user#1", "0999"))).at
        restore(db, RestoreDateTime=before)
        assert db.describe_table(TableName="restored")["Table"]["TableStatus"] == "CREATING"
        for number in range(0, 1_000, 2):
            db.delete_item(TableName="single", Key=item("user#1", f"{number:04}"))
        put(db, -1, sk="0001")
        code, _ = refusal(db, "scan", TableName="restored")
        assert code == "ResourceNotFoundException"
        assert refusal(
            db,
            "update_continuous_backups",
            TableName="single",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
        ) == (
            "ContinuousBackupsUnavailableException",
            "Another table is being restored from the table: single. Please retry later",
        )
        assert refusal(db, "describe_continuous_backups", TableName="restored") == (
            "TableNotFoundException",
            "Table not found: restored",
        )
        assert finish(db) > 1
        assert values(db) == [str(number) for number in range(1_000)]
        assert db.scan(TableName="restored", IndexName="GSI1", Select="COUNT")["Count"] == 1_000
        turn_off(db)
        assert db.check() == []


# --- refusals --------------------------------------------------------------------------------------------


def test_time_outside_of_the_window_is_refused(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    clock.advance(60)
    for moment in (BEGAN - timedelta(seconds=1), now(clock) + timedelta(microseconds=1), 0, 1e300, -1e300):
        request = {"SourceTableName": "single", "TargetTableName": "restored", "RestoreDateTime": moment}
        code, message = refusal(db, "restore_table_to_point_in_time", **request)
        assert code == "InvalidRestoreTimeException"
        assert message.endswith(
            "must be within EarliestRestorableDateTime '2023-11-14T22:13:20Z' and LatestRestorableDateTime "
            "'2023-11-14T22:14:20Z'"
        )
    assert db.list_tables()["TableNames"] == ["single"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({}, "The parameter 'TableName' is required but was not present in the request"),
        (
            {
                "SourceTableName": "single",
                "SourceTableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/single",
            },
            "Must provide exactly one of: sourceTableArn, sourceTableName",
        ),
        (
            {"SourceTableArn": "arn:aws:dynamodb:us-east-1:000000000000:backup/x"},
            "sourceTableArn is not a valid ARN",
        ),
        ({"SourceTableArn": "single"}, "sourceTableArn is not a valid ARN"),
        (
            {"SourceTableArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/x"},
            "Invalid Request: sseSpecificationOverride must be provided for cross-region restores",
        ),
        (
            {"SourceTableName": "single", "UseLatestRestorableTime": None},
            (
                "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, "
                "but not both"
            ),
        ),
        (
            {"SourceTableName": "single", "RestoreDateTime": 1},
            (
                "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for "
                "point-in-time restore request. Please set only one of them"
            ),
        ),
    ],
    ids=["no source", "two sources", "a backup", "no ARN", "another region", "no time", "two times"],
)
def test_request_that_means_nothing_is_refused(
    calm_db: Database, request_: dict[str, Any], message: str
) -> None:
    wanted = {"TargetTableName": "restored", "UseLatestRestorableTime": True, **request_}
    assert refusal(calm_db, "restore_table_to_point_in_time", **wanted) == ("ValidationException", message)


def test_index_that_the_source_has_not_is_refused(db: Database) -> None:
    create_single(db)
    turn_on(db)
    code, message = refusal(
        db,
        "restore_table_to_point_in_time",
        SourceTableName="single",
        TargetTableName="restored",
        UseLatestRestorableTime=True,
        GlobalSecondaryIndexOverride=[
            {"IndexName": "other", "KeySchema": key_schema("PK"), "Projection": {"ProjectionType": "ALL"}}
        ],
    )
    assert (code, "other" in message) == ("ValidationException", True)


def test_boto3_takes_and_gives_datetimes(db: Database, clock: ManualClock) -> None:
    client = db.client()
    create_single(db)
    client.update_continuous_backups(
        TableName="single", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    client.put_item(TableName="single", Item={**KEY, "value": n(1)})
    clock.advance(60)
    client.put_item(TableName="single", Item={**KEY, "value": n(2)})
    described = client.describe_continuous_backups(TableName="single")["ContinuousBackupsDescription"]
    earliest = described["PointInTimeRecoveryDescription"]["EarliestRestorableDateTime"]
    assert earliest == BEGAN
    client.restore_table_to_point_in_time(
        SourceTableName="single", TargetTableName="restored", RestoreDateTime=earliest
    )
    assert client.get_item(TableName="restored", Key=KEY)["Item"]["value"] == n(1)


def test_time_without_a_zone_is_utc_as_for_boto3(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    put(db, 1)
    moment = now(clock)
    clock.advance(60)
    put(db, 2)
    restore(db, RestoreDateTime=moment.replace(tzinfo=None))
    assert values(db) == ["1"]
